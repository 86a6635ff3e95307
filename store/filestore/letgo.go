package filestore

import (
	"context"
	"encoding/binary"
	"errors"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore/sortedrun"
)

// Records that are settled or withdrawn leave memory, the oldest first, when there
// are more of them than Options.KeepSettled: they are written to sorted runs, and
// when those are durable a frame of the journal says that they have left. A record
// that is written to a run and changes before that frame stays in memory, whose
// word counts before a run's. Unresolved records never leave.

// evictMost is how many records one round lets go: it bounds what a round holds.
const evictMost = 20_000

// evictAll lets go what is too many, if it is at least the given number.
func (s *Store) evictAll(ctx context.Context, least int) error {
	for {
		ids := s.evictable(least)
		if len(ids) == 0 {
			return nil
		}
		if n, err := s.evict(ctx, ids); err != nil || n == 0 {
			return err
		}
		least = 1
	}
}

// evictable returns the oldest records that may go.
func (s *Store) evictable(least int) (ids []uint32) {
	x := s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := int(x.final) - max(0, s.o.KeepSettled)
	if n < max(least, 1) {
		return nil
	}
	var sets []*bitmap
	for _, state := range [...]claimdlq.State{claimdlq.StateSettled, claimdlq.StateWithdrawn} {
		if b := x.causes.dims[dimState][state]; b != nil {
			sets = append(sets, b)
		}
	}
	n = min(n, evictMost)
	for block := uint32(0); int(block) < len(x.blocks) && len(ids) < n; block++ {
		for _, b := range sets {
			if c := b.set(block); c != nil {
				c.ascend(0, func(off uint16) bool {
					ids = append(ids, block<<blockBits|uint32(off))
					return len(ids) < n
				})
			}
		}
	}
	return ids
}

// evict writes records to sorted runs and lets them go. It returns how many could.
func (s *Store) evict(ctx context.Context, ids []uint32) (n int, err error) {
	runs, err := s.needRuns()
	if err != nil {
		return 0, err
	}
	work := &evictWork{records: make([]evicted, 0, len(ids))}
	var byID, byKey, byRef []runEntry
	w := s.openWindow()
	defer w.close()
	places := s.places(ids, s.index.place)
	for i, id := range ids {
		r, err := w.old(places[i:])
		if errors.Is(err, errMoved) {
			continue // it has moved on
		}
		if err != nil {
			return 0, err
		}
		if r.State.Unresolved() {
			continue // it has moved on
		}
		content, _ := appendRecord(nil, &r)
		if len(content) > sortedrun.MaxValue {
			continue // stays in memory; only a set of half a million answered claims is so large
		}
		e := evicted{id: id, rev: r.Revision, part: goneOf(&r), key: hashKey(r.Key)}
		byID = append(byID, runEntry{pair(0, uint64(id)), content})
		byKey = append(byKey, runEntry{sortedrun.Key(r.Key), idValue(r.ID)})
		for _, ref := range r.Refs() {
			e.refs = append(e.refs, hashRef(ref))
			byRef = append(byRef, runEntry{pair(uint64(ref), uint64(id)), nil})
		}
		work.records = append(work.records, e)
	}
	for _, run := range []struct {
		set     *sortedrun.Set
		entries []runEntry
	}{{runs.byID, byID}, {runs.byKey, byKey}, {runs.byRef, byRef}} {
		if err := s.addRun(run.set, run.entries); err != nil {
			return 0, err
		}
	}
	r := newRequest()
	defer r.release()
	r.evict = work
	if err := s.do(ctx, r); err != nil {
		return 0, err
	}
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	for n := int(ids[0] >> blockBits); n <= int(ids[len(ids)-1]>>blockBits) && n < len(s.index.blocks); n++ {
		if b := s.index.blocks[n]; b != nil && n+1 < len(s.index.blocks) {
			b.thin()
		}
	}
	return len(work.records), nil
}

// printsToRun moves fingerprints to a sorted run, if there are more than most in
// memory. A fingerprint that a run has keeps the record it has there: the first.
func (s *Store) printsToRun(most int) error {
	x := s.index
	x.mu.Lock()
	if x.seen.n <= max(0, most) && x.seen.old == nil {
		x.mu.Unlock()
		return nil
	}
	if x.seen.old == nil { // else the last try failed
		old := x.seen.fingerprints
		x.seen.old, x.seen.fingerprints = &old, fingerprints{}
		if c := x.lastChunk(); c != nil {
			s.printsEnd = c.base + c.end
		}
	}
	old := x.seen.old
	x.mu.Unlock()
	runs, err := s.needRuns()
	if err != nil {
		return err
	}
	entries := make([]runEntry, 0, old.n)
	values := make([]byte, 0, 8*old.n)
	old.each(func(f store.Fingerprint) {
		var id claimdlq.ID
		if err == nil {
			id, err = find(runs.prints, f.Key)
		}
		if id == 0 {
			values = binary.LittleEndian.AppendUint64(values, uint64(f.Record))
			entries = append(entries, runEntry{sortedrun.Key(f.Key), values[len(values)-8:]})
		}
	})
	if err != nil {
		return err
	}
	if err := s.addRun(runs.prints, entries); err != nil {
		return err
	}
	x.mu.Lock()
	x.seen.old = nil
	x.mu.Unlock()
	s.printsTo = s.printsEnd
	return nil
}

// mergeRuns merges runs while there are too many of a size.
func (s *Store) mergeRuns(ctx context.Context) error {
	runs := s.runs.Load()
	if runs == nil {
		return nil
	}
	for _, set := range runs.sets() {
		for more := true; more; {
			var err error
			if more, err = set.Merge(ctx); err != nil {
				if errors.Is(err, sortedrun.ErrSync) {
					s.fatal(err)
				}
				return err
			}
		}
	}
	return nil
}
