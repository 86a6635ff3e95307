package filestore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore/sortedrun"
)

// List implements store.Store. Records that have left memory are settled or
// withdrawn; where the filter lets those through, they are read in order of their
// ids, which takes longer the fewer of them match.
func (s *Store) List(_ context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error) {
	if limit <= 0 {
		return nil, nil
	}
	for {
		epoch := s.epoch.Load()
		out, err := s.listMemory(&f, before, limit)
		if err != nil {
			return nil, err
		}
		if out, err = s.listRuns(&f, before, limit, out); err != nil {
			return nil, err
		}
		if epoch == s.epoch.Load() { // else a record may have come or gone between the two
			return out, s.answer(nil)
		}
	}
}

func (s *Store) listMemory(f *store.Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error) {
	var out []claimdlq.Record
	top := uint32(maxRows)
	if before > 0 && before <= maxRows {
		top = uint32(before)
	}
	w := s.openWindow()
	defer w.close()
	for len(out) < limit && top > 0 {
		s.index.mu.RLock()
		places := s.index.list(f, top, limit-len(out))
		s.index.mu.RUnlock()
		all := len(places) < limit-len(out)
		out = slices.Grow(out, len(places))
		for i, p := range places {
			r, err := w.record(places[i:])
			if errors.Is(err, errMoved) { // compaction came in between: look again from here
				all = false
				break
			}
			if err != nil {
				return nil, err
			}
			out = append(out, r)
			top = p.id
		}
		if all {
			break
		}
	}
	return out, nil
}

// listRuns adds records that have left memory to a page, where they belong on it.
func (s *Store) listRuns(f *store.Filter, before claimdlq.ID, limit int, page []claimdlq.Record) ([]claimdlq.Record, error) {
	runs := s.runs.Load()
	if runs == nil || (f.State != 0 && f.State.Unresolved()) {
		return page, nil
	}
	if before == 0 {
		before = maxRows + 1
	}
	var wrong error
	n := len(page)
	err := runs.byID.Descend(pair(0, uint64(before)), func(k sortedrun.Key, v []byte) bool {
		id := uint32(binary.BigEndian.Uint64(k[8:]))
		if len(page)-n >= limit || (n >= limit && claimdlq.ID(id) < page[n-1].ID) {
			return false
		}
		s.index.mu.RLock()
		_, ram := s.index.at(id)
		s.index.mu.RUnlock()
		if ram {
			return true
		}
		r, err := decodeRecord(v)
		if err != nil {
			wrong = failure(claimdlq.Corrupt, "read run of records", decimal(uint64(id)))
			return false
		}
		if k := causeOf(&r); k.matches(f) && (f.Older.IsZero() || ageOf(r.CreatedAt, r.FirstFailedAt) < olderThan(f.Older)) {
			page = append(page, r)
		}
		return true
	})
	if err == nil {
		err = wrong
	}
	slices.SortFunc(page, func(a, b claimdlq.Record) int { return cmp.Compare(b.ID, a.ID) })
	return page[:min(limit, len(page))], err
}

// IDs implements store.Store. It reads no record that is in memory.
func (s *Store) IDs(ctx context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.ID, error) {
	final := f.State == 0 || !f.State.Unresolved()
	if !final || s.runs.Load() == nil {
		out := s.idsInMemory(&f, before, limit)
		if !final || s.runs.Load() == nil { // else some may have left meanwhile
			return out, s.answer(nil)
		}
	}
	rs, err := s.List(ctx, f, before, limit)
	out := make([]claimdlq.ID, 0, len(rs))
	for i := range rs {
		out = append(out, rs[i].ID)
	}
	return out, err
}

func (s *Store) idsInMemory(f *store.Filter, before claimdlq.ID, limit int) (out []claimdlq.ID) {
	top := uint32(maxRows)
	if before > 0 && before <= maxRows {
		top = uint32(before)
	}
	for len(out) < limit && top > 0 {
		n := min(limit-len(out), idsAtOnce)
		had := len(out)
		s.index.mu.RLock()
		s.index.find(f, top, func(id uint32) bool {
			out = append(out, claimdlq.ID(id))
			return len(out)-had < n
		})
		s.index.mu.RUnlock()
		if len(out)-had < n {
			break
		}
		top = uint32(out[len(out)-1])
	}
	return out
}

// idsAtOnce is how many ids are found while the writer waits.
const idsAtOnce = 8192

// list returns the places of up to limit records below top that pass the filter,
// newest first.
func (x *index) list(f *store.Filter, top uint32, limit int) []place {
	out := make([]place, 0, min(limit, 1024))
	x.find(f, top, func(id uint32) bool {
		if p, ok := x.place(id); ok {
			out = append(out, p)
		}
		return len(out) < limit
	})
	return out
}

// find calls f for the ids of the records below top that pass the filter, newest first,
// until f returns false.
func (x *index) find(f *store.Filter, top uint32, each func(id uint32) bool) {
	sets, ok := x.causes.wanted(f)
	if !ok {
		return
	}
	older := age(0)
	if !f.Older.IsZero() {
		older = olderThan(f.Older)
	}
	found := func(id uint32) bool {
		if older > 0 {
			if r, _ := x.at(id); r.age >= older {
				return true
			}
		}
		return each(id)
	}
	in := make([]*container, len(sets))
	for n := min(len(x.blocks)-1, int((top-1)>>blockBits)); n >= 0; n-- {
		b := x.blocks[n]
		if b == nil || !collect(sets, uint32(n), in) {
			continue
		}
		most := blockRows
		if rest := int(top) - n<<blockBits; rest < most {
			most = rest
		}
		var zone func(int) bool
		if older > 0 {
			if !b.mayHold(older) {
				continue
			}
			zone = func(w int) bool { since := b.zone[w*64/zoneRows].since; return since > 0 && since < older }
		}
		row := func(off uint16) bool { return found(uint32(n)<<blockBits | uint32(off)) }
		if len(sets) == 0 {
			if !b.descend(most, zone, row) {
				break
			}
		} else if !descend(in, most, zone, row) {
			break
		}
	}
}

// collect fetches each set's container of the block; it reports false if one has none.
func collect(sets []*bitmap, block uint32, in []*container) bool {
	for i, s := range sets {
		if in[i] = s.set(block); in[i] == nil {
			return false
		}
	}
	return true
}

// mayHold reports whether a row of the block may be older than the age given.
func (b *block) mayHold(older age) bool {
	for i := range b.zone {
		if since := b.zone[i].since; since > 0 && since < older {
			return true
		}
	}
	return false
}

// descend calls f for every row below most, from the highest downwards.
func (b *block) descend(most int, zone func(int) bool, f func(uint16) bool) bool {
	for i, rev := range slices.Backward(b.rev) {
		off := int(b.off(i))
		if off >= most || rev == 0 || (zone != nil && !zone(off/64)) {
			continue
		}
		if !f(uint16(off)) {
			return false
		}
	}
	return true
}
