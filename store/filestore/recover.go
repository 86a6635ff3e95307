package filestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"claimdlq"
)

// recover brings the index to what the journal says, and the writer to its end.
// Only what a crash leaves behind is changed on disk: the last group, where it was
// not written whole, is taken off; nobody was told that it was durable.
func (s *Store) recover(w *writer) error {
	if err := s.o.FS.MkdirAll(s.dir, 0o700); err != nil {
		return unavailable("create store", err)
	}
	err := s.openChunks()
	if err != nil {
		return err
	}
	r := &replay{x: s.index, chain: newChainer(), lanes: w.lanes}
	w.chunk, err = s.replayAll(r)
	if err != nil {
		return err
	}
	s.room.active = w.chunk
	w.state = r.state
	s.index.totals, s.index.gone = r.totals, r.gone
	if err := r.check(); err != nil {
		return err
	}
	for _, b := range s.index.blocks {
		if b != nil {
			b.thin()
		}
	}
	return nil
}

// replayAll applies every chunk and returns the one to go on with.
func (s *Store) replayAll(r *replay) (*chunk, error) {
	all := s.index.chunks
	for i, c := range all {
		s.index.chunks = all[:i+1] // frames count in the chunks up to their own
		err := s.replayChunk(r, c, all[i+1:])
		if err != nil {
			s.index.chunks = all
			return nil, err
		}
		if c.started {
			continue
		}
		if s.index.chunks = all[:i]; len(all) > i+1 {
			s.index.chunks = all
			return nil, corruptChunk(c, 0, "header")
		}
		return c, nil // made, but nothing in it is durable
	}
	if c := s.index.lastChunk(); c != nil {
		return c, nil
	}
	return s.firstChunk()
}

func (x *index) lastChunk() *chunk {
	if n := len(x.chunks); n > 0 {
		return x.chunks[n-1]
	}
	return nil
}

func unavailable(op string, err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: err}
}

// firstChunk makes the file that an empty store begins with.
func (s *Store) firstChunk() (*chunk, error) {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	f, ready, err := s.room.take(1, min(64<<10, s.room.segment))
	if err != nil {
		return nil, unavailable("create store", err)
	}
	c := &chunk{num: 1, f: f}
	c.size.Store(ready)
	return c, nil
}

// openChunks opens the chunk files, which must be numbered without a gap.
func (s *Store) openChunks() error {
	names, err := s.o.FS.Names(s.dir)
	if err != nil {
		return unavailable("open store", err)
	}
	for _, name := range names {
		num, ok := chunkNumber(name)
		if !ok {
			continue
		}
		if last := s.index.lastChunk(); last != nil && last.num+1 != num {
			return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open store", On: fmt.Sprintf("chunk %d is missing", last.num+1)}
		}
		f, err := s.o.FS.OpenFile(filepath.Join(s.dir, name), os.O_RDWR, filePerm)
		if err != nil {
			return unavailable("open store", err)
		}
		c := &chunk{num: num, f: f}
		s.index.chunks = append(s.index.chunks, c)
		size, err := f.Size()
		if err != nil {
			return unavailable("open store", err)
		}
		c.size.Store(size)
		if err := s.readHead(c); err != nil {
			return err
		}
	}
	if slices.Contains(names, spareName) {
		if err := s.o.FS.Remove(filepath.Join(s.dir, spareName)); err != nil {
			return unavailable("open store", err)
		}
	}
	return nil
}

// readHead reads a chunk's header. A header of zeros is a chunk never written to.
func (s *Store) readHead(c *chunk) error {
	b := make([]byte, min(chunkHeader, c.size.Load()))
	if _, err := c.f.ReadAt(b, 0); err != nil && len(b) > 0 {
		return unavailable("open store", err)
	}
	if allZero(b) {
		return nil
	}
	h, ok := decodeChunkHead(b)
	if !ok || h.num != c.num {
		return corruptChunk(c, 0, "header")
	}
	c.head, c.base, c.started = h, h.base, true
	return nil
}

func corruptChunk(c *chunk, off int64, what string) error {
	return &claimdlq.Error{
		Code: claimdlq.Corrupt, Op: "open store", On: fmt.Sprintf("chunk %d offset %d: %s", c.num, off, what),
		Hint: "restore this file from a backup; nothing was changed",
	}
}

// replayChunk applies a chunk's frames. rest is the chunks behind it.
func (s *Store) replayChunk(r *replay, c *chunk, rest []*chunk) error {
	if !c.started {
		c.base = r.end
		return s.wipe(c, 0)
	}
	if err := r.begin(c); err != nil {
		return err
	}
	fr := frameReader{f: c.f, base: c.base, off: chunkHeader, end: c.size.Load()}
	for {
		at := fr.off
		h, frame, err := fr.next()
		if err != nil && !errors.Is(err, claimdlq.Corrupt) && !isEOF(err) {
			return err
		}
		if err != nil {
			if err := s.endOfChunk(r, c, at, rest); err != nil {
				return err
			}
			break
		}
		if err := r.frame(c, h, frame); err != nil {
			return err
		}
	}
	if c.started {
		c.end, c.lastSeq = r.end-c.base, r.totals.lastSeq
		c.used.Store(c.end)
	}
	return nil
}

// endOfChunk is called at the first bytes of a chunk that are no frame. They are
// its end if the next chunk agrees, or if it is the last and nothing that was
// durable can be missing.
func (s *Store) endOfChunk(r *replay, c *chunk, at int64, rest []*chunk) error {
	if len(rest) > 0 && rest[0].started {
		if rest[0].base != c.base+at {
			return corruptChunk(c, at, "frame")
		}
		return nil
	}
	tail, err := readTail(c, at)
	if err != nil {
		return err
	}
	if allZero(tail) && at > chunkHeader {
		return nil
	}
	if why := judgeTail(tail, c.base+at, at, r.group); why != "" {
		return corruptChunk(c, at, why)
	}
	if at == chunkHeader { // what begins the chunk is missing too
		c.started, r.end, at = false, c.base, 0
	}
	return s.wipe(c, at)
}

func readTail(c *chunk, at int64) ([]byte, error) {
	tail := make([]byte, max(0, c.size.Load()-at))
	if _, err := c.f.ReadAt(tail, at); err != nil && !isEOF(err) {
		return nil, unavailable("open store", err)
	}
	return tail, nil
}

// wipe makes everything from off on zeros again, durably.
func (s *Store) wipe(c *chunk, off int64) error {
	tail, err := readTail(c, off)
	if err != nil {
		return err
	}
	if allZero(tail) {
		return nil
	}
	if err := fill(c.f, off, c.size.Load()); err != nil {
		return unavailable("take off what a crash left", err)
	}
	if err := c.f.Sync(); err != nil {
		s.fatal(err)
		return unavailable("take off what a crash left", err)
	}
	return nil
}
