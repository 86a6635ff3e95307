package sortedrun

import (
	"io"
	"os"
)

// FS is what a Set needs of a file system. Tests put one in its place that fails
// and stops half way.
type FS interface {
	// OpenFile opens a file; flag is as in os.OpenFile.
	OpenFile(name string, flag int, perm os.FileMode) (File, error)
	// Rename replaces newName; it is durable after SyncDir.
	Rename(oldName, newName string) error
	// Remove removes a file; it is durable after SyncDir.
	Remove(name string) error
	// Names returns the names of the files in a directory, sorted.
	Names(dir string) ([]string, error)
	// MkdirAll creates a directory and its parents, and flushes each parent.
	MkdirAll(dir string, perm os.FileMode) error
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
}

// File is an open file of an FS.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes the content durable.
	Sync() error
	// Size returns the size in bytes.
	Size() (int64, error)
}
