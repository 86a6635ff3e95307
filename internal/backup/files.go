package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

const (
	filePerm = 0o600
	dirPerm  = 0o700
)

func pathError(err error) *fs.PathError {
	pe, _ := errors.AsType[*fs.PathError](err)
	return pe
}

// copied is what a copy of a file is.
type copied struct {
	size     int64
	sum      string
	modified time.Time
}

// copyFile copies the first most bytes of a file (all of it where most is negative) to
// a new one, durably but for its name.
func copyFile(ctx context.Context, from, to string, most int64) (c copied, err error) {
	in, err := os.Open(from)
	if err != nil {
		return c, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return c, err
	}
	c.modified = info.ModTime()
	if most < 0 {
		most = info.Size()
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return c, err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	h := newSum()
	c.size, err = io.Copy(io.MultiWriter(out, h), &reader{ctx, io.LimitReader(in, most)})
	if err != nil {
		return c, err
	}
	c.sum = h.hex()
	return c, out.Sync()
}

// sum is a SHA-256 in the making.
type sum struct{ hash.Hash }

func newSum() sum { return sum{sha256.New()} }

func (s sum) hex() string { return hex.EncodeToString(s.Sum(nil)) }

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// syncTree makes every name under dir durable.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return atomicfile.SyncDir(path)
	})
}

// Empty refuses a directory that has anything in it: nothing is restored over what is
// there. One that is not there is empty. Errors: Refused, Unavailable.
func Empty(dir string) error {
	es, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return ioError(restoring, err)
	}
	for _, e := range es {
		if e.Name() != "lost+found" {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: restoring, On: "the directory is not empty", Hint: "name a new or an empty one: nothing is ever restored over what is there"}
		}
	}
	return nil
}
