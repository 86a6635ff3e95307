// Package atomicfile writes files that are there whole or not at all: temporary
// file in the same directory, write, fsync, close, rename, fsync of the directory.
//
// After WriteFile or File.Commit returns nil the new content survives a power
// loss; after an error, or a crash before that, the old content (or the absence)
// does. A crash can leave a temporary file behind; Sweep removes those.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrSync marks the failure of an fsync. The kernel may have dropped the data and
// marked its pages clean, so a second fsync proves nothing: the caller must stop
// the process and never retry.
var ErrSync = errors.New("fsync failed")

// tempMark is in the name of every temporary file. The leading dot keeps folder
// watchers from picking it up.
const tempMark = ".tmp-"

// File is a file in the making. It is for one goroutine.
type File struct {
	f    *os.File
	path string
	done bool
}

// Create starts a file that will be at path with the given permissions (before
// umask) once it is committed. The caller ends it with Commit or Abort.
func Create(path string, perm fs.FileMode) (*File, error) {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, "."+base+tempMark+strings.ToLower(rand.Text()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return &File{f: f, path: path}, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) { return f.f.Write(p) }

// Commit makes what was written durable under the file's path, in place of what
// was there. After an error the file is gone and the old content is in place,
// unless the error is ErrSync: then only a restart tells.
func (f *File) Commit() error {
	if f.done {
		return fs.ErrClosed
	}
	if err := f.f.Sync(); err != nil {
		f.Abort()
		return fmt.Errorf("%w: %w", ErrSync, err)
	}
	f.done = true
	if err := f.f.Close(); err != nil {
		_ = os.Remove(f.f.Name())
		return err
	}
	if err := os.Rename(f.f.Name(), f.path); err != nil {
		_ = os.Remove(f.f.Name())
		return err
	}
	return SyncDir(filepath.Dir(f.path))
}

// Abort gives the file up and removes its temporary file. After Commit it does
// nothing, so that it can be deferred.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	_ = f.f.Close()
	_ = os.Remove(f.f.Name())
}

// WriteFile makes data durable under path, in place of what was there.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// SyncDir makes the entries of a directory durable: files created in it, renamed
// into it or removed from it.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrSync, err)
	}
	return nil
}

// MkdirAll makes a directory and its missing parents, durably: each new entry is
// fsynced in its parent.
func MkdirAll(dir string, perm fs.FileMode) error {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("exists and is no directory")}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := MkdirAll(parent, perm); err != nil {
		return err
	}
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// Sweep removes the temporary files that crashes left in dir. Only the owner of
// the directory may call it, while nothing is being written there.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || !strings.HasPrefix(name, ".") || !strings.Contains(name, tempMark) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
