package filestore

import (
	"claimdlq"
)

// evictWork is records that a sorted run holds durably and memory can let go. What
// has changed since it was written there stays.
type evictWork struct{ records []evicted }

// evicted is one record on its way out of memory.
type evicted struct {
	id, rev uint32
	part    gonePart
	key     uint64
	refs    []uint64
	gone    bool // the writer let it go
}

func (e *evictWork) size() int {
	n := frameHeader + itemHeader + 64
	for i := range e.records {
		n += 32 + 8*len(e.records[i].refs)
	}
	return n
}

func (w *writer) acceptEvict(next *state, r *request) {
	any := false
	for i := range r.evict.records {
		e := &r.evict.records[i]
		row, ok := w.s.index.at(e.id)
		if e.gone = ok && row.rev == e.rev && !w.touched[e.id]; e.gone {
			next.gone.add(e.part.key(), 1, int64(e.part.claims))
			any = true
		}
	}
	if !any {
		return
	}
	w.openFrame()
	w.put(itemEvicted, r.evict.append)
}

// append encodes the records that go.
func (e *evictWork) append(b []byte) []byte {
	for i := range e.records {
		r := &e.records[i]
		if !r.gone {
			continue
		}
		b = put32(b, r.id)
		b = r.part.append(b)
		b = put64(b, r.key)
		b = putUint(b, uint64(len(r.refs)))
		for _, h := range r.refs {
			b = put64(b, h)
		}
	}
	return b
}

func decodeEvicted(b []byte) (*evictWork, error) {
	d, w := newDecoder(b), &evictWork{}
	for d.off < len(d.b) {
		e := evicted{id: d.fixed32(), part: d.gonePart(), key: d.fixed64(), gone: true}
		for range d.upTo(8) {
			e.refs = append(e.refs, d.fixed64())
		}
		w.records = append(w.records, e)
	}
	return w, d.end()
}

// applyEvict lets the records go.
func (x *index) applyEvict(w *evictWork) {
	for i := range w.records {
		e := &w.records[i]
		if !e.gone {
			continue
		}
		x.drop(e.id)
		x.keys.remove(e.key, e.id)
		for _, h := range e.refs {
			x.refs.remove(h, e.id)
		}
	}
}

func decimal(n uint64) string { return claimdlq.ID(n).String() }
