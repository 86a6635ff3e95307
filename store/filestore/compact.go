package filestore

import (
	"context"
	"errors"
	"io"
	"os"

	"claimdlq"
)

// The journal is compacted from its oldest end: what is still the newest of its
// record or submission is written again at the newest end, and the chunk goes. So
// the journal is always one unbroken chain. Garbage may be as much as what is of
// use, and Options.GarbageBytes more; each byte is then copied about once.

// Compact lets go what memory need not hold, writes a snapshot, and removes chunks
// that are mostly garbage. It runs by itself unless Options.Manual is set.
func (s *Store) Compact(ctx context.Context) error {
	s.maintenance.Lock()
	defer s.maintenance.Unlock()
	if err := s.evictAll(ctx, 1); err != nil {
		return err
	}
	if err := s.evictSubs(ctx, 1); err != nil {
		return err
	}
	if err := s.printsToRun(s.o.KeepFingerprints); err != nil {
		return err
	}
	if err := s.mergeRuns(ctx); err != nil {
		return err
	}
	if s.changes.Load() > 0 || s.journal.Load() > 0 {
		if err := s.snapshot(ctx); err != nil {
			return err
		}
	}
	return s.compactAll(ctx)
}

// compactAll removes chunks while there is too much garbage.
func (s *Store) compactAll(ctx context.Context) error {
	for {
		if err := s.removeDoomed(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return unavailable("compact journal", err)
		}
		c := s.compactable()
		if c == nil {
			return nil
		}
		if err := s.compact(ctx, c); err != nil {
			return err
		}
	}
}

// compactable returns the oldest chunk, if it may and should go: it is not written
// to, the snapshot does not need it, the audit log has its entries.
func (s *Store) compactable() *chunk {
	x := s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.chunks) < 2 {
		return nil
	}
	head := x.chunks[0]
	if head.base+head.end > s.snapshotFrom || head.lastSeq > x.totals.audited {
		return nil
	}
	all, used := int64(0), int64(0)
	for _, c := range x.chunks {
		all += c.end
		used += c.end * c.live / max(c.items, 1)
	}
	if head.live > 0 && s.o.GarbageBytes > 0 && all-used <= used+s.o.GarbageBytes {
		return nil
	}
	return head
}

// moveBytes is how much one frame of a compaction carries.
const moveBytes = 1 << 20

// compact copies what is of use in a chunk, and removes it.
func (s *Store) compact(ctx context.Context, c *chunk) error {
	for c.prints && c.base+c.end > s.printsTo {
		if err := s.printsToRun(0); err != nil {
			return err
		}
	}
	removed, err := false, error(nil)
	for try := 0; err == nil && !removed && try < moveTries; try++ {
		if err = s.moveAll(ctx, c); err == nil {
			removed, err = s.removeFirst(ctx, c)
		}
	}
	if err != nil {
		return err
	}
	if !removed {
		return failure(claimdlq.Internal, "compact journal", "something in the chunk was not copied")
	}
	s.doomed = append(s.doomed, c.num)
	err = s.removeDoomed()
	if cerr := c.f.Close(); err == nil && cerr != nil {
		err = unavailable("compact journal", cerr)
	}
	return err
}

// moveTries is how often a chunk is copied: a record that is released in the group that
// would have copied it stays where it is.
const moveTries = 16

// removeFirst takes the first chunk out of the journal, unless something in it is of use.
func (s *Store) removeFirst(ctx context.Context, c *chunk) (removed bool, err error) {
	r := newRequest()
	defer r.release()
	r.look = func(w *writer) {
		x := s.index
		x.mu.Lock()
		defer x.mu.Unlock()
		if removed = x.chunks[0] == c && c.live == 0; removed {
			x.chunks = x.chunks[1:]
		}
	}
	err = s.do(ctx, r)
	return removed, err
}

// removeDoomed removes the files of chunks that nothing needs, one name at a time
// and the oldest first: a gap in the numbers is a missing chunk.
func (s *Store) removeDoomed() error {
	for len(s.doomed) > 0 {
		if err := s.o.FS.Remove(chunkName(s.dir, s.doomed[0])); err != nil && !errors.Is(err, os.ErrNotExist) {
			return unavailable("compact journal", err)
		}
		if err := s.o.FS.SyncDir(s.dir); err != nil {
			s.fatal(err)
			return unavailable("compact journal", err)
		}
		s.doomed = s.doomed[1:]
	}
	return nil
}

// moveAll copies what is of use in a chunk to the end of the journal.
func (s *Store) moveAll(ctx context.Context, c *chunk) error {
	fr := frameReader{f: c.f, base: c.base, off: chunkHeader, end: c.end}
	work, size := &moveWork{}, 0
	flush := func() error {
		if size == 0 {
			return nil
		}
		r := newRequest()
		defer r.release()
		r.move = work
		err := s.do(ctx, r)
		work, size = &moveWork{}, 0
		return err
	}
	for {
		h, frame, err := fr.next()
		if errors.Is(err, io.EOF) {
			return flush()
		}
		if err != nil {
			return err
		}
		s.index.mu.RLock()
		err = eachItem(frame, func(it item) error {
			if it.kind == itemRelease {
				n, err := s.index.movingRelease(it, h.position, work)
				size += n
				return err
			}
			if m, list := s.index.moving(it, h.position, work); list != nil {
				*list = append(*list, m)
				size += len(m.content)
			}
			return nil
		})
		s.index.mu.RUnlock()
		if err != nil {
			return corrupt("compact journal", h.position)
		}
		if size >= moveBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
}

// moving returns a copy of the item, and the list of work it belongs to, if the
// item is the newest of its record or submission.
func (x *index) moving(it item, pos int64, work *moveWork) (m moved, list *[]moved) {
	if len(it.content) < 9 {
		return m, nil
	}
	d := decoder{b: it.content, off: 1}
	id := d.fixed64()
	if id > maxRows {
		return m, nil
	}
	m = moved{id: uint32(id), loc: pos + int64(it.off)}
	switch it.kind {
	case itemRecord, itemMovedRecord:
		if row, ok := x.at(m.id); ok && row.loc == m.loc {
			list = &work.records
		}
	case itemSubmission, itemMovedSub:
		if row, ok := x.subs.at(m.id); ok && row.loc == m.loc {
			list = &work.subs
		}
	}
	if list != nil {
		m.content = append([]byte(nil), it.content...)
	}
	return m, list
}

// movingRelease adds to work the submissions whose newest state is in the item, and
// returns how many bytes they are. Its records are whole elsewhere: what the item says of
// them has been written with them, for their states before lie no later than it.
func (x *index) movingRelease(it item, pos int64, work *moveWork) (n int, err error) {
	loc := pos + int64(it.off)
	r, err := decodeRelease(it.content)
	if err != nil {
		return 0, err
	}
	for i := range r.len() {
		id := uint32(r.sub) + uint32(i)
		if row, ok := x.subs.at(id); !ok || row.loc != loc {
			continue
		}
		sub := r.submission(i)
		m := moved{id: id, loc: loc, content: appendSubmission(nil, &sub, nil)}
		n += len(m.content)
		work.subs = append(work.subs, m)
	}
	return n, nil
}
