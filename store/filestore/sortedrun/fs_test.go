package sortedrun_test

import (
	"os"
	"sync/atomic"
	"testing"

	"claimdlq/store/filestore/sortedrun"
)

// osFS is the operating system's file system, as far as a Set needs it.
type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm os.FileMode) (sortedrun.File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error                { return os.Rename(from, to) }
func (osFS) Remove(name string) error                    { return os.Remove(name) }
func (osFS) MkdirAll(dir string, perm os.FileMode) error { return os.MkdirAll(dir, perm) }
func (osFS) SyncDir(string) error                        { return nil }

func (osFS) Names(dir string) (names []string, err error) {
	es, err := os.ReadDir(dir)
	for _, e := range es {
		names = append(names, e.Name())
	}
	return names, err
}

type osFile struct{ *os.File }

func (osFile) Sync() error { return nil }

func (f osFile) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	ns, err := osFS{}.Names(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// countingFS counts the bytes written.
type countingFS struct {
	osFS
	written atomic.Int64
}

func (c *countingFS) OpenFile(name string, flag int, perm os.FileMode) (sortedrun.File, error) {
	f, err := c.osFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return countingFile{f, c}, nil
}

type countingFile struct {
	sortedrun.File
	fs *countingFS
}

func (f countingFile) WriteAt(b []byte, at int64) (int, error) {
	f.fs.written.Add(int64(len(b)))
	return f.File.WriteAt(b, at)
}
