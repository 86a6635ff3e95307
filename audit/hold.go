package audit

import (
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"
)

// Held is the log as it was at one moment, for a copy of it.
type Held struct {
	// Size is how many entries it held.
	Size uint64
	// Checkpoint is the newest one; nil if nothing was signed yet.
	Checkpoint []byte
	// Files are the names of its files and how many bytes of each belong to it: they
	// only grow.
	Files map[string]int64
}

// Hold calls f while nothing is appended. The error is f's, or Unavailable.
func (l *Log) Hold(f func(Held) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead != nil {
		return unavailable("hold audit log", l.dead)
	}
	h := Held{Size: uint64(l.tree.n), Checkpoint: l.last, Files: map[string]int64{
		hashesFile: tlog.StoredHashCount(l.tree.n) * tlog.HashSize, checkpointsFile: l.noteEnd,
	}}
	segs, err := segments(l.dir)
	if err != nil {
		return err
	}
	for i, s := range segs {
		if i == len(segs)-1 && l.f != nil {
			h.Files[filepath.Base(s.path)] = l.offset
			continue
		}
		info, err := os.Stat(s.path)
		if err != nil {
			return unavailable("hold audit log", err)
		}
		h.Files[filepath.Base(s.path)] = info.Size()
	}
	return f(h)
}
