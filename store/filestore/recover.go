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
	chunks, err := s.openChunks()
	s.index.chunks = chunks // to be closed in any case
	if err != nil {
		return err
	}
	l, _ := s.loadSnapshot()
	var r *replay
	if l != nil {
		if r, err = s.recoverFrom(w, l, chunks); err != nil {
			s.index.free()
			s.index = newIndex()
		}
	}
	if r == nil || err != nil {
		r, err = s.recoverWhole(w, l, chunks)
	}
	if err != nil {
		s.index.chunks = chunks
		return err
	}
	s.room.active = w.chunk
	w.state, w.lanes = r.state, r.lanes
	s.index.totals, s.index.gone = r.totals, r.gone
	s.live.Store(s.index.live)
	s.changes.Store(r.items)
	s.journal.Store(r.end - r.from)
	for i, b := range s.index.blocks {
		switch newest := i == len(s.index.blocks)-1; {
		case b == nil:
		case newest:
			b.widen() // it will grow
		default:
			b.thin()
		}
	}
	return nil
}

// recoverFrom applies what the journal has behind a snapshot. An error may be the
// snapshot's fault: then the whole journal decides.
func (s *Store) recoverFrom(w *writer, l *loaded, chunks []*chunk) (*replay, error) {
	s.index = l.x
	r := &replay{x: l.x, chain: newChainer(), state: l.meta.state, lanes: l.meta.lanes, begun: true, durable: l.end, from: l.meta.end}
	known := map[uint64]chunkInfo{}
	for _, c := range l.meta.chunks {
		known[c.num] = c
	}
	var before, later []*chunk
	for i, c := range chunks {
		if k, ok := known[c.num]; ok && c.num <= l.meta.num {
			if k.base != c.base {
				return nil, errSnapshot
			}
			c.lastSeq, c.items, c.prints, c.marks = k.lastSeq, k.items, k.prints, k.marks
		}
		if c.num >= l.meta.num {
			later = append(later, c)
			continue
		}
		next := l.meta.end // where its frames, which are in the snapshot, end
		if i+1 < len(chunks) && chunks[i+1].started {
			next = chunks[i+1].base
		}
		c.end = next - c.base
		c.used.Store(c.end)
		before = append(before, c)
	}
	if len(later) == 0 || later[0].num != l.meta.num {
		return nil, errSnapshot
	}
	err := s.takeSteps(l, chunks)
	if err != nil {
		return nil, err
	}
	if w.chunk, err = s.replayAll(r, before, later); err != nil {
		return nil, err
	}
	if r.end < l.end || !l.x.recount() {
		return nil, errSnapshot
	}
	s.snapshotFrom = l.meta.end
	return r, r.check()
}

// takeSteps finds the records of a snapshot that need a step. A release that has gone
// with its chunk is of no use: what needed it was written again, behind the snapshot.
func (s *Store) takeSteps(l *loaded, chunks []*chunk) error {
	w := s.openWindow()
	defer w.close()
	for _, loc := range l.meta.steps {
		if loc >= l.meta.end {
			return errSnapshot
		}
		var in *chunk
		for _, c := range chunks {
			if c.started && c.base <= loc {
				in = c
			}
		}
		if in == nil {
			continue
		}
		b, err := w.alone(&place{loc: loc, base: in.base, f: in.f}, []byte{itemRelease})
		if err != nil {
			return err
		}
		r, err := decodeRelease(b)
		if err != nil {
			return err
		}
		l.x.needed(&r, loc)
	}
	return nil
}

// recoverWhole replays the journal from its beginning. l may tell how long it must
// be at least.
func (s *Store) recoverWhole(w *writer, l *loaded, chunks []*chunk) (*replay, error) {
	r := &replay{x: s.index, chain: newChainer(), lanes: map[string]uint32{}}
	if l != nil {
		r.durable = l.end
	}
	for _, c := range chunks {
		c.live, c.items, c.prints, c.marks = 0, 0, false, nil
	}
	var err error
	if w.chunk, err = s.replayAll(r, nil, chunks); err != nil {
		return nil, err
	}
	if r.end < r.durable {
		return nil, &claimdlq.Error{
			Code: claimdlq.Corrupt, Op: "open store", On: "the journal ends before what was durable",
			Hint: "restore the journal from a backup; or, to go on without what is missing, remove the file snapshot",
		}
	}
	s.index.recount()
	return r, r.check()
}

// replayAll applies the chunks, which follow those before, and returns the one to
// go on with.
func (s *Store) replayAll(r *replay, before, chunks []*chunk) (*chunk, error) {
	s.index.chunks = slices.Clone(before)
	for i, c := range chunks {
		s.index.chunks = append(s.index.chunks, c)
		if err := s.replayChunk(r, c, chunks[i+1:]); err != nil {
			return nil, err
		}
		if c.started {
			continue
		}
		if len(chunks) > i+1 {
			return nil, corruptChunk(c, 0, "header")
		}
		s.index.chunks = s.index.chunks[:len(s.index.chunks)-1]
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
func (s *Store) openChunks() (chunks []*chunk, err error) {
	names, err := s.o.FS.Names(s.dir)
	if err != nil {
		return nil, unavailable("open store", err)
	}
	for _, name := range names {
		if name == spareName || name == snapshotTemp {
			if err := s.o.FS.Remove(filepath.Join(s.dir, name)); err != nil {
				return chunks, unavailable("open store", err)
			}
		}
		num, ok := chunkNumber(name)
		if !ok {
			continue
		}
		if n := len(chunks); n > 0 && chunks[n-1].num+1 != num {
			return chunks, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open store", On: fmt.Sprintf("chunk %d is missing", chunks[n-1].num+1)}
		}
		f, err := s.o.FS.OpenFile(filepath.Join(s.dir, name), os.O_RDWR, filePerm)
		if err != nil {
			return chunks, unavailable("open store", err)
		}
		c := &chunk{num: num, f: f}
		chunks = append(chunks, c)
		size, err := f.Size()
		if err != nil {
			return chunks, unavailable("open store", err)
		}
		c.size.Store(size)
		if err := s.readHead(c); err != nil {
			return chunks, err
		}
	}
	return chunks, nil
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
	from := int64(chunkHeader)
	if r.begun && r.end > c.base { // the snapshot was begun in the middle of this chunk
		from = r.end - c.base
	} else if err := r.begin(c); err != nil {
		return err
	}
	fr := frameReader{f: c.f, base: c.base, off: from, end: c.size.Load()}
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
	if c.base+at < r.durable {
		return corruptChunk(c, at, "the end is missing")
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
