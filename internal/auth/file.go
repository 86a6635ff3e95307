package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

const (
	filePerm = 0o600
	dirPerm  = 0o700
	// maxFile bounds what is read: ten thousand accounts take about 5 MiB.
	maxFile = 32 << 20
)

// file is a JSON file in memory that is replaced whole. Reading takes no lock and what
// is read must not be changed; it is safe for concurrent use.
type file[T any] struct {
	path string
	name string // for errors

	now  atomic.Pointer[T]
	mu   sync.Mutex // one change at a time, and its write
	dead error      // an fsync failed: what is on the disk is unknown
}

// openFile reads the file, which may be missing, and has check judge it. Errors:
// Corrupt, Refused (others can read it), Unavailable.
func openFile[T any](path, name string, check func(*T) error) (*file[T], error) {
	f := &file[T]{path: path, name: name}
	v := new(T)
	b, err := readOwn(path, "open "+name)
	if err != nil {
		return nil, err
	}
	if b != nil {
		if err := decode(b, v); err != nil {
			return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read " + name, Err: err, Hint: "restore it from its backup"}
		}
	}
	if err := check(v); err != nil {
		return nil, err
	}
	f.now.Store(v)
	return f, nil
}

// readOwn reads a file of ours; a missing one is nil.
func readOwn(path, op string) ([]byte, error) {
	h, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: cause(err)}
	}
	defer h.Close()
	info, err := h.Stat()
	switch {
	case err != nil:
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: cause(err)}
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: op, Hint: "it is no file of ours: restore it from its backup"}
	case info.Mode().Perm()&0o077 != 0:
		return nil, refuse(op, "", errors.New("others can read it"), "chmod 600 it, and change what was in it")
	}
	b, err := io.ReadAll(io.LimitReader(h, maxFile))
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: cause(err)}
	}
	return b, nil
}

// decode is strict: an unknown field may be a limit that this version does not keep.
// Its errors name no value.
func decode(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return errors.New("no JSON of this version")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON")
	}
	return nil
}

// get returns what the file holds. It must not be changed.
func (f *file[T]) get() *T { return f.now.Load() }

// try returns what fn says of a change, which is thrown away.
func (f *file[T]) try(fn func(*T) error) error {
	v, err := f.copy()
	if err != nil {
		return err
	}
	return fn(v)
}

// change has fn change a copy and makes it durable in place of what was there. Errors:
// those of fn, then nothing has changed; Unavailable; with atomicfile.ErrSync the
// process must end.
func (f *file[T]) change(fn func(*T) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "write " + f.name, Err: f.dead, Hint: "restart"}
	}
	v, err := f.copy()
	if err != nil {
		return err
	}
	if err := fn(v); err != nil {
		return err
	}
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "write " + f.name}
	}
	if len(b) >= maxFile {
		return refuse("write "+f.name, "", errors.New("too large"), "")
	}
	if err := atomicfile.WriteFile(f.path, append(b, '\n'), filePerm); err != nil {
		if errors.Is(err, atomicfile.ErrSync) {
			f.dead = err
		}
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "write " + f.name, Err: cause(err)}
	}
	f.now.Store(v)
	return nil
}

// copy returns a copy that shares nothing with what others read.
func (f *file[T]) copy() (*T, error) {
	v := new(T)
	b, err := json.Marshal(f.get())
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "copy " + f.name}
	}
	return v, nil
}

// cause takes the path out of an error: data directories are named after people.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, atomicfile.ErrSync) {
		return p.Err
	}
	return err
}
