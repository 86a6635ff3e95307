package filestore

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"claimdlq"
)

// Entries implements store.Store. It reads the journal from the nearest mark on.
func (s *Store) Entries(ctx context.Context, from uint64, f func(claimdlq.Entry) bool) error {
	for {
		if err := ctx.Err(); err != nil {
			return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read entries", Err: err}
		}
		s.index.mu.RLock()
		from = max(from, s.index.totals.audited+1)
		part, ok := s.index.entriesFrom(from)
		s.index.mu.RUnlock()
		if !ok {
			return s.answer(nil)
		}
		next, more, err := s.entriesIn(part, from, f)
		if errors.Is(err, errMoved) {
			from = next
			continue // the chunk went, so its entries are in the audit log
		}
		if err != nil || !more {
			return err
		}
		from = max(next, part.last+1)
	}
}

// stretch is a part of a chunk that may hold audit entries up to last.
type stretch struct {
	f        File
	base     int64
	off, end int64
	last     uint64
}

// entriesFrom returns where to look for the entry with the given number.
func (x *index) entriesFrom(seq uint64) (p stretch, ok bool) {
	if seq > x.totals.lastSeq {
		return p, false
	}
	for _, c := range x.chunks {
		if c.lastSeq < seq || c.end == 0 {
			continue
		}
		p = stretch{f: c.f, base: c.base, off: chunkHeader, end: c.end, last: c.lastSeq}
		i, _ := slices.BinarySearchFunc(c.marks, seq, func(m mark, seq uint64) int {
			if m.seq <= seq {
				return -1
			}
			return 1
		})
		if i > 0 {
			p.off = c.marks[i-1].off
		}
		return p, true
	}
	return p, false
}

// entriesIn calls f for the entries of a stretch from the given number on. next is
// the number to go on with; more is false when f has enough.
func (s *Store) entriesIn(p stretch, from uint64, f func(claimdlq.Entry) bool) (next uint64, more bool, err error) {
	r := frameReader{f: p.f, base: p.base, off: p.off, end: p.end}
	next = from
	for {
		h, frame, err := r.next()
		if errors.Is(err, io.EOF) {
			return next, true, nil
		}
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				err = errMoved
			}
			return next, false, err
		}
		seq, enough := h.firstSeq, false
		err = eachItem(frame, func(it item) error {
			if it.kind != itemEntry || enough {
				return nil
			}
			seq++
			if seq-1 < from {
				return nil
			}
			e, err := decodeEntry(it.content)
			if err != nil {
				return err
			}
			e.Seq = seq - 1
			next = seq
			enough = !f(e)
			return nil
		})
		if err != nil {
			return next, false, corrupt("read entries", h.position)
		}
		if enough {
			return next, false, nil
		}
	}
}

// frameReader reads frames of a chunk one after the other.
type frameReader struct {
	f        File
	base     int64
	off, end int64
	buf      []byte
	have     []byte // part of buf not used yet, at off
}

// next returns the next frame, valid until the next call, and io.EOF at the end.
// A frame that does not hold together is a corrupt error.
func (r *frameReader) next() (h header, frame []byte, err error) {
	if r.off >= r.end {
		return h, nil, io.EOF
	}
	if err := r.want(frameHeader); err != nil {
		return h, nil, err
	}
	h, ok := parseHeader(r.have, r.base+r.off)
	if !ok {
		return h, nil, corrupt("read journal", r.base+r.off)
	}
	if err := r.want(padded(h.length)); err != nil {
		return h, nil, err
	}
	frame = r.have[:h.length]
	if frameCRC(frame) != binary.LittleEndian.Uint32(frame[offCRC:]) {
		return h, nil, corrupt("read journal", h.position)
	}
	r.off += int64(padded(h.length))
	r.have = r.have[padded(h.length):]
	return h, frame, nil
}

// want makes n bytes available in have.
func (r *frameReader) want(n int) error {
	if len(r.have) >= n {
		return nil
	}
	if int64(n) > r.end-r.off {
		return corrupt("read journal", r.base+r.off)
	}
	size := int(min(int64(max(n, readBuffer)), r.end-r.off))
	if cap(r.buf) < size {
		r.buf = make([]byte, size)
	}
	have := copy(r.buf[:size], r.have)
	m, err := r.f.ReadAt(r.buf[have:size], r.off+int64(have))
	if have+m < n {
		if err == nil || errors.Is(err, io.EOF) {
			return corrupt("read journal", r.base+r.off)
		}
		if errors.Is(err, os.ErrClosed) {
			return errMoved
		}
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read journal", Err: err}
	}
	r.have = r.buf[:have+m]
	return nil
}

// readBuffer is how much of a chunk is read at a time.
const readBuffer = 256 << 10
