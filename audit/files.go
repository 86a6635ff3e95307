package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"claimdlq"
)

const (
	entriesExt = ".jsonl"
	asideExt   = ".damaged"
	hashesFile = "hashes"
	filePerm   = 0o600
	dirPerm    = 0o700
)

// segment is one file of entries.
type segment struct {
	path  string
	first uint64 // sequence number by its name
}

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, entriesExt))
}

// segments returns the files of entries in order.
func segments(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, unavailable("read audit log", err)
	}
	var out []segment
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), entriesExt)
		if first, err := strconv.ParseUint(digits, 10, 64); ok && err == nil {
			out = append(out, segment{filepath.Join(dir, e.Name()), first})
		}
	}
	return out, nil
}

// storedHashes reads the hashes file.
type storedHashes struct{ f *os.File }

// ReadHashes implements tlog.HashReader.
func (s storedHashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if _, err := s.f.ReadAt(out[i][:], index*tlog.HashSize); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unavailable keeps the cause of a failed system call but not its path.
func unavailable(op string, err error) error {
	code := claimdlq.Unavailable
	if errors.Is(err, fs.ErrNotExist) {
		code = claimdlq.NotFound
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return &claimdlq.Error{Code: code, Op: op, On: filepath.Base(pe.Path), Err: pe.Err}
	}
	return &claimdlq.Error{Code: code, Op: op, Err: err}
}
