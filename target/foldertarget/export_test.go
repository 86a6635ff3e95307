package foldertarget

import (
	"io/fs"
)

// Broken is a disk on which one step fails. A step that is done and then fails
// stands for a network file system that lost the answer.
type Broken struct {
	Create, Write, Sync, Close, Rename, SyncDir error
	RenameDone                                  bool
}

// Break gives t a broken disk.
func (t *Target) Break(b Broken) { t.disk = b }

func (b Broken) create(dir, name string, perm fs.FileMode) (file, error) {
	if b.Create != nil {
		return nil, b.Create
	}
	f, err := osDisk{}.create(dir, name, perm)
	return brokenFile{f, b}, err
}

func (b Broken) rename(from, to string) error {
	if b.Rename == nil || b.RenameDone {
		if err := (osDisk{}).rename(from, to); err != nil {
			return err
		}
	}
	return b.Rename
}

func (b Broken) syncDir(dir string) error {
	if b.SyncDir != nil {
		return b.SyncDir
	}
	return osDisk{}.syncDir(dir)
}

type brokenFile struct {
	file
	b Broken
}

func (f brokenFile) Write(p []byte) (int, error) {
	if f.b.Write != nil {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, f.b.Write
	}
	return f.file.Write(p)
}

func (f brokenFile) Sync() error {
	if f.b.Sync != nil {
		return f.b.Sync
	}
	return f.file.Sync()
}

func (f brokenFile) Close() error {
	err := f.file.Close()
	if f.b.Close != nil {
		return f.b.Close
	}
	return err
}
