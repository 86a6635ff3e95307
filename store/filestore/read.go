package filestore

import (
	"context"
	"errors"
	"slices"

	"claimdlq"
)

// errMoved says that a chunk went while it was read: what was there is elsewhere.
var errMoved = errors.New("moved")

func corrupt(op string, loc int64) error {
	return &claimdlq.Error{
		Code: claimdlq.Corrupt, Op: op, On: "position " + decimal(uint64(loc)), Hint: "run claimdlq fsck",
	}
}

// place is a record or submission and the file that holds it.
type place struct {
	id   uint32
	loc  int64
	base int64
	rev  uint32 // of a record
	f    File
	step *stepAt // that is not in the journal's state of a record
}

// key tells this revision of the record from others at the same place.
func (p *place) key() int64 {
	if p.step != nil {
		return p.step.loc
	}
	return p.loc
}

// decode reads the record whose item's content is b.
func (p *place) decode(b []byte) (r claimdlq.Record, err error) {
	err = p.into(newDecoder(b), &r, &claimdlq.Record{})
	return r, err
}

// into decodes the record into r, which is zero.
func (p *place) into(d *decoder, r, like *claimdlq.Record) error {
	err := d.record(r, like)
	if err == nil && p.step != nil {
		*r, err = p.step.apply(*r)
	}
	if err == nil && (r.ID != claimdlq.ID(p.id) || r.Revision != p.rev) {
		err = errCodec
	}
	return err
}

// place looks a record's place up; ok is false if it is not in memory.
func (x *index) place(id uint32) (p place, ok bool) {
	r, ok := x.at(id)
	if !ok {
		return p, false
	}
	if p, ok = x.placeAt(id, r.loc); ok {
		p.rev = r.rev
		p.step = x.need(id)
	}
	return p, ok
}

// placeAt finds the chunk of a position in the journal.
func (x *index) placeAt(id uint32, loc int64) (p place, ok bool) {
	c := x.chunkOf(loc)
	if c == nil {
		return p, false
	}
	return place{id: id, loc: loc, base: c.base, f: c.f}, true
}

// read returns the newest revision of a record, and whether it is in memory.
func (s *Store) read(id claimdlq.ID) (r claimdlq.Record, ram bool, err error) {
	for range readTries {
		if id == 0 || id > maxRows {
			break
		}
		s.index.mu.RLock()
		p, ok := s.index.place(uint32(id))
		s.index.mu.RUnlock()
		if !ok {
			return s.readRun(id)
		}
		if r, ok = s.records.get(p.id, p.key()); ok {
			return r, true, nil
		}
		w := s.openWindow()
		w.ahead = s.withNext(w.ahead[:0], p)
		r, err = w.record(w.ahead)
		if err == nil {
			w.rest()
		}
		if w.close(); !errors.Is(err, errMoved) {
			return r, true, err
		}
	}
	return r, false, failure(claimdlq.NotFound, "get record", id.String())
}

// withNext appends the place of a record and, where the record before it was read
// lately, of those that will be read next, if that goes on.
func (s *Store) withNext(list []place, p place) []place {
	list = append(list, p)
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	before, ok := s.index.place(p.id - 1)
	if !ok || !s.records.has(before.id, before.key()) {
		return list
	}
	for id := p.id + 1; id < p.id+recordsAhead; id++ {
		next, ok := s.index.place(id)
		if !ok || next.base != p.base || s.records.has(next.id, next.key()) {
			break
		}
		list = append(list, next)
	}
	return list
}

// recordsAhead is how many records are read together where they are read in order.
const recordsAhead = 16

// placesOf appends the places of records, in their order; one that is not in memory
// has the zero place.
func (s *Store) placesOf(places []place, rs []claimdlq.Record) []place {
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	for i := range rs {
		var p place
		if id := rs[i].ID; id > 0 && id <= maxRows {
			p, _ = s.index.place(uint32(id))
		}
		places = append(places, p)
	}
	return places
}

// places returns where records or submissions are in the journal, as at finds them.
func (s *Store) places(ids []uint32, at func(uint32) (place, bool)) []place {
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	places := make([]place, len(ids))
	for i, id := range ids {
		places[i], _ = at(id)
	}
	return places
}

// newest is read, for the record at the first of the places that were looked up for
// it and those that follow.
func (s *Store) newest(w *window, places []place, id claimdlq.ID) (r claimdlq.Record, ram bool, err error) {
	if places[0].f != nil {
		if r, err = w.record(places); !errors.Is(err, errMoved) {
			return r, true, err
		}
	}
	return s.read(id)
}

// readRun returns a record that has left memory.
func (s *Store) readRun(id claimdlq.ID) (r claimdlq.Record, ram bool, err error) {
	ok := false
	if runs := s.runs.Load(); runs != nil {
		r, ok, err = runs.record(id)
	}
	if err == nil && !ok {
		err = failure(claimdlq.NotFound, "get record", id.String())
	}
	return r, false, err
}

// readTries is how often a read follows a record that compaction moves.
const readTries = 100

// find returns the record that has the key; ok is false if there is none.
func (s *Store) find(k claimdlq.Key) (r claimdlq.Record, ok bool, err error) {
	var buf [4]uint32
	s.index.mu.RLock()
	rows := s.index.keys.rows(hashKey(k), buf[:0])
	s.index.mu.RUnlock()
	for _, id := range rows {
		r, _, err := s.read(claimdlq.ID(id))
		if errors.Is(err, claimdlq.NotFound) {
			continue
		}
		if err != nil {
			return r, false, err
		}
		if r.Key == k {
			return r, true, nil
		}
	}
	runs := s.runs.Load()
	if runs == nil {
		return r, false, nil
	}
	id, err := find(runs.byKey, k)
	if err != nil || id == 0 {
		return r, false, err
	}
	r, _, err = s.read(id)
	return r, err == nil, err
}

// Get implements store.Store.
func (s *Store) Get(_ context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	r, _, err := s.read(id)
	return r, s.answer(err)
}

// Records implements store.Store. Neighbours in the journal are read together.
func (s *Store) Records(_ context.Context, ids []claimdlq.ID, out []claimdlq.Record) ([]claimdlq.Record, error) {
	w := s.openWindow()
	defer w.close()
	s.index.mu.RLock()
	for _, id := range ids {
		var p place
		if id <= maxRows {
			p, _ = s.index.place(uint32(id))
		}
		w.ahead = append(w.ahead, p)
	}
	s.index.mu.RUnlock()
	n, like := len(out), &claimdlq.Record{}
	out = slices.Grow(out, len(ids))[:n+len(ids)]
	for i, id := range ids {
		r := &out[n+i]
		err := w.page(w.ahead[i:], r, like)
		if errors.Is(err, errMoved) {
			*r, _, err = s.read(id)
		}
		if err != nil {
			return nil, s.answer(err)
		}
		like = r
	}
	return out, s.answer(nil)
}

// Find implements store.Store.
func (s *Store) Find(_ context.Context, k claimdlq.Key) (claimdlq.Record, error) {
	r, ok, err := s.find(k)
	if err == nil && !ok {
		err = failure(claimdlq.NotFound, "find record", "by key")
	}
	return r, s.answer(err)
}

// Sole implements store.Store, by what the index and the runs know: no record is read.
func (s *Store) Sole(_ context.Context, refs []claimdlq.Ref) ([]claimdlq.ID, error) {
	out := make([]claimdlq.ID, len(refs))
	var buf [8]uint32
	for n := 0; n < len(refs); n += refsAtOnce { // so that the writer waits for a part of them at most
		some := refs[n:min(len(refs), n+refsAtOnce)]
		s.index.mu.RLock()
		s.index.refs.fetch(some)
		for i, ref := range some {
			if rows := s.index.refs.rows(hashRef(ref), buf[:0]); len(rows) == 1 && ref != 0 {
				out[n+i] = claimdlq.ID(rows[0])
			}
		}
		s.index.mu.RUnlock()
	}
	runs := s.runs.Load()
	if runs == nil {
		return out, s.answer(nil)
	}
	for i, ref := range refs {
		if out[i] == 0 {
			continue
		}
		rows, err := runs.withRef(ref, append(buf[:0], uint32(out[i])))
		if err != nil {
			return nil, err
		}
		for _, id := range rows {
			if id != uint32(out[i]) {
				out[i] = 0
				break
			}
		}
	}
	return out, s.answer(nil)
}

const refsAtOnce = 256

// Lookup implements store.Store.
func (s *Store) Lookup(_ context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Record, error) {
	var buf [8]uint32
	s.index.mu.RLock()
	rows := s.index.refs.rows(hashRef(ref), buf[:0])
	s.index.mu.RUnlock()
	if runs := s.runs.Load(); runs != nil {
		var err error
		if rows, err = runs.withRef(ref, rows); err != nil {
			return nil, err
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
	}
	var out []claimdlq.Record
	for _, id := range rows {
		if len(out) >= limit {
			break
		}
		r, _, err := s.read(claimdlq.ID(id))
		if errors.Is(err, claimdlq.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if (ref != 0 && r.Batch == ref) || slices.Contains(r.Refs(), ref) { // a display key costs a hash
			out = append(out, r)
		}
	}
	return out, s.answer(nil)
}
