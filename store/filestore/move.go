package filestore

import (
	"encoding/binary"

	"claimdlq"
	"claimdlq/store"
)

// moveWork is what a compaction writes again at the end of the journal, because
// the chunk that holds it will go. What has changed since it was read stays out.
type moveWork struct {
	records, subs []moved
}

// moved is one record or submission as the journal has it.
type moved struct {
	id      uint32
	loc     int64 // where it was read
	content []byte
	off     int // in the frame; 0 if it had moved on
}

// stepGrowth is more than a step adds to a record as a rule.
const stepGrowth = 64

func (m *moveWork) size() int {
	n := frameHeader + 64
	for _, list := range [...][]moved{m.records, m.subs} {
		for i := range list {
			n += itemHeader + len(list[i].content) + stepGrowth
		}
	}
	return n
}

func (w *writer) acceptMove(r *request) error {
	at := w.openFrame()
	m, x := r.move, w.s.index
	for i := range m.records {
		c := &m.records[i]
		if row, ok := x.at(c.id); !ok || row.loc != c.loc || w.touched[c.id] {
			continue
		}
		content := c.content
		if s := x.need(c.id); s != nil {
			var err error
			if content, err = s.whole(content); err != nil {
				return corrupt("compact journal", c.loc)
			}
		}
		c.off = len(w.buf) - at
		w.put(itemMovedRecord, func(b []byte) []byte { return append(b, content...) })
	}
	for i := range m.subs {
		c := &m.subs[i]
		if row, ok := x.subs.at(c.id); !ok || row.loc != c.loc || w.subs[c.id] {
			continue
		}
		c.off = len(w.buf) - at
		w.put(itemMovedSub, func(b []byte) []byte { return append(b, c.content...) })
	}
	if len(w.buf) == at+frameHeader {
		w.buf = w.buf[:at]
	}
	return nil
}

// whole returns the content of a record's item after the step.
func (s *stepAt) whole(content []byte) ([]byte, error) {
	r, err := decodeRecord(content)
	if err == nil {
		r, err = s.apply(r)
	}
	if err != nil {
		return nil, err
	}
	b, _ := appendRecord(nil, &r)
	return b, nil
}

const printBytes = 24

func decodePrints(b []byte) (out []store.Fingerprint, err error) {
	if len(b)%printBytes != 0 {
		return nil, errCodec
	}
	for ; len(b) > 0; b = b[printBytes:] {
		f := store.Fingerprint{Record: claimdlq.ID(binary.LittleEndian.Uint64(b[16:]))}
		copy(f.Key[:], b)
		out = append(out, f)
	}
	return out, nil
}

// applyMove points the index at the copies; it returns how many there are.
func (x *index) applyMove(m *moveWork, pos int64) (n int64) {
	for i := range m.records {
		if c := &m.records[i]; c.off > 0 {
			row, _ := x.at(c.id)
			row.loc = pos + int64(c.off)
			x.put(c.id, row)
			n++
		}
	}
	for i := range m.subs {
		if c := &m.subs[i]; c.off > 0 {
			row, _ := x.subs.at(c.id)
			row.loc = pos + int64(c.off)
			x.putSub(c.id, row)
			n++
		}
	}
	return n
}
