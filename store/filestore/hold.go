package filestore

import (
	"context"
	"path/filepath"
)

// Held is the journal as it was between two commits, for a copy of it.
type Held struct {
	// Position is where it ended, in bytes ever written.
	Position int64
	// LastEntry is the number of the newest audit entry, Audited that of the newest
	// one that the audit log has.
	LastEntry, Audited uint64
	// Chunks are the names of its files and how many bytes of each belong to it.
	// Whatever else has a chunk's name does not.
	Chunks map[string]int64
}

// Hold calls f while no file of the store is removed, replaced or merged: they only
// grow, and commits go on. at takes the moment; the chunks cut to it, with all other
// files of the directory, are the store as it was then. f must not call Snapshot,
// Compact, Verify or Close. The error is f's.
func (s *Store) Hold(ctx context.Context, f func(at func() (Held, error)) error) error {
	s.maintenance.Lock()
	defer s.maintenance.Unlock()
	return f(func() (Held, error) {
		h := Held{Chunks: map[string]int64{}}
		r := newRequest()
		defer r.release()
		r.look = func(w *writer) {
			h.Position, h.LastEntry, h.Audited = w.end, w.totals.lastSeq, s.index.totals.audited
			for _, c := range s.index.chunks {
				h.Chunks[filepath.Base(chunkName("", c.num))] = c.used.Load()
			}
			if !w.chunk.started { // the empty file that the next commit goes to
				h.Chunks[filepath.Base(chunkName("", w.chunk.num))] = 0
			}
		}
		err := s.do(ctx, r)
		return h, err
	})
}

// OfStore reports whether the file, by its path in the store's directory, is one that
// a copy needs: what is being made ready is not.
func (h Held) OfStore(path string) bool {
	if _, chunk := chunkNumber(path); chunk {
		_, ok := h.Chunks[path]
		return ok
	}
	return path != spareName && filepath.Ext(path) != filepath.Ext(snapshotTemp)
}
