package foldertarget

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claimdlq/internal/atomicfile"
	"claimdlq/target"
)

// disk is the part of the file system that delivery depends on, so that tests
// can make each step of it fail.
type disk interface {
	create(dir, name string, perm fs.FileMode) (file, error)
	rename(from, to string) error
	syncDir(dir string) error
}

type file interface {
	io.WriteCloser
	Sync() error
	Name() string
}

type osDisk struct{}

// create makes a temporary file that folder watchers skip and atomicfile.Sweep finds.
func (osDisk) create(dir, name string, perm fs.FileMode) (file, error) {
	temp := filepath.Join(dir, "."+name+".tmp-"+strings.ToLower(rand.Text()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) syncDir(dir string) error     { return atomicfile.SyncDir(dir) }

// writerOnly hides ReadFrom, so that io.Copy reads through source.
type writerOnly struct{ io.Writer }

// source reads until its context ends and keeps its own error apart from the disk's.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// equal compares a file with a parcel's bytes. A parcel that cannot be read is an
// error, not a difference.
func equal(path string, p target.Parcel) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || p.Size > 0 && info.Size() != p.Size {
		return false, nil
	}
	content, err := p.Content()
	if err != nil {
		return false, err
	}
	defer func() { _ = content.Close() }()
	return sameBytes(f, content)
}

func sameBytes(a, b io.Reader) (bool, error) {
	ra, rb := bufio.NewReaderSize(a, 1<<16), bufio.NewReaderSize(b, 1<<16)
	x, y := make([]byte, 1<<15), make([]byte, 1<<15)
	for {
		n, errA := io.ReadFull(ra, x)
		m, errB := io.ReadFull(rb, y)
		if err := errors.Join(failure(errA), failure(errB)); err != nil {
			return false, err
		}
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		if n < len(x) { // both ended
			return true, nil
		}
	}
}

// failure drops the errors that only say that the end was reached.
func failure(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
