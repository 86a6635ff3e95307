package filestore

import (
	"os"
	"path/filepath"

	"claimdlq/internal/atomicfile"
)

// OS returns the operating system's file system.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm os.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }
func (osFS) Remove(name string) error             { return os.Remove(name) }

func (osFS) Names(dir string) ([]string, error) {
	es, err := os.ReadDir(dir)
	names := make([]string, 0, len(es))
	for _, e := range es {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (s osFS) MkdirAll(dir string, perm os.FileMode) error {
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := s.MkdirAll(parent, perm); err != nil {
			return err
		}
		if err := os.Mkdir(dir, perm); err != nil && !os.IsExist(err) {
			return err
		}
		return s.SyncDir(parent)
	}
	return nil
}

func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

type osFile struct{ *os.File }

func (f osFile) Sync() error { return atomicfile.DataSync(f.File) }

func (f osFile) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}
