package filestore

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"claimdlq"
	"claimdlq/store"
)

// window reads items of the journal, and those that are near each other in one go:
// the page of a list, or what was taken in together. It is for one goroutine.
type window struct {
	s    *Store
	base int64 // of the chunk
	at   int64 // position of buf in the journal
	buf  []byte
	one  []byte // an item that was read alone

	ahead []place // of what is read together
	words words   // of the records read by the page
	kind  byte    // of the item returned last

	release   release // read last, for the next of its submissions
	releaseAt int64   // 0: none
	room      []byte  // of its records
}

const (
	// readAhead is how much one read takes: most records and submissions are smaller.
	readAhead   = 512
	windowBytes = 64 << 10
	// windowSparse is how many bytes of a window each item it is read for may cost;
	// where they are farther apart, each is read alone.
	windowSparse = 8 << 10
)

var windows = sync.Pool{New: func() any { return &window{} }}

func (s *Store) openWindow() *window {
	w := windows.Get().(*window)
	w.s, w.buf, w.ahead, w.releaseAt = s, w.buf[:0], w.ahead[:0], 0
	return w
}

// close gives the window's memory back; what it returned is no longer valid.
func (w *window) close() {
	w.s = nil
	clear(w.ahead)
	if cap(w.one) <= windowBytes {
		windows.Put(w)
	}
}

// content returns the content of the item at the first of the places, valid until
// the next call; the others are those that will be wanted next. A chunk that was
// compacted away in between gives errMoved.
func (w *window) content(places []place, kinds ...byte) ([]byte, error) {
	p := &places[0]
	if p.f == nil {
		return nil, errMoved
	}
	if c, ok := w.have(p, kinds); ok {
		return c, nil
	}
	low, high, n := p.loc, p.loc, 1
	for _, q := range places[1:] {
		l, h := min(low, q.loc), max(high, q.loc)
		if q.base != p.base || h-l > windowBytes {
			break
		}
		low, high = l, h
		n++
	}
	if n == 1 || (high-low)/int64(n) > windowSparse {
		return w.alone(p, kinds)
	}
	w.buf = slices.Grow(w.buf[:0], windowBytes+readAhead)
	size, err := p.f.ReadAt(w.buf[:high-low+readAhead], low-p.base)
	if err != nil && !isEOF(err) {
		w.buf = w.buf[:0]
		return w.alone(p, kinds) // which says what is wrong
	}
	w.base, w.at, w.buf = p.base, low, w.buf[:size]
	if c, ok := w.have(p, kinds); ok {
		return c, nil
	}
	return w.alone(p, kinds)
}

// have returns the item if the window holds it whole and sound.
func (w *window) have(p *place, kinds []byte) ([]byte, bool) {
	off := p.loc - w.at
	if w.base != p.base || off < 0 || off >= int64(len(w.buf)) {
		return nil, false
	}
	it, ok := parseItem(w.buf[off:])
	w.kind = it.kind
	return it.content, ok && slices.Contains(kinds, it.kind)
}

// alone reads one item.
func (w *window) alone(p *place, kinds []byte) ([]byte, error) {
	w.one = slices.Grow(w.one[:0], readAhead)[:readAhead]
	n, err := p.f.ReadAt(w.one, p.loc-p.base)
	if n >= itemHeader {
		if want := itemHeader + int(binary.LittleEndian.Uint32(w.one[1:])); want > n && want <= frameMost {
			w.one = slices.Grow(w.one[:n], want-n)[:want]
			var m int
			m, err = p.f.ReadAt(w.one[n:], p.loc-p.base+int64(n))
			n += m
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if errors.Is(err, os.ErrClosed) {
			return nil, errMoved
		}
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read journal", On: decimal(uint64(p.loc)), Err: err}
	}
	it, ok := parseItem(w.one[:n])
	if !ok || !slices.Contains(kinds, it.kind) {
		return nil, corrupt("read journal", p.loc)
	}
	w.kind = it.kind
	return it.content, nil
}

// record returns the record at the first of the places.
func (w *window) record(places []place) (r claimdlq.Record, err error) {
	p := &places[0]
	if r, ok := w.s.records.get(p.id, p.key()); ok {
		return r, nil
	}
	if r, err = w.old(places); err == nil {
		w.s.records.put(p.id, p.key(), &r)
	}
	return r, err
}

// old is record for what will not be asked for again soon.
func (w *window) old(places []place) (r claimdlq.Record, err error) {
	b, err := w.content(places, recordKinds...)
	if err != nil {
		return r, err
	}
	if r, err = places[0].decode(b); err != nil {
		return r, corrupt("read record", places[0].loc)
	}
	return r, nil
}

// page reads the record at the first of the places into r. It is mostly like another.
func (w *window) page(places []place, r, like *claimdlq.Record) error {
	p := &places[0]
	b, err := w.content(places, recordKinds...)
	if err != nil {
		return err
	}
	*r = claimdlq.Record{}
	d := decoder{b: b, words: &w.words}
	if err := p.into(&d, r, like); err != nil {
		return corrupt("read record", p.loc)
	}
	w.s.records.put(p.id, p.key(), r)
	return nil
}

// rest keeps the other records of ahead, as far as the window has them.
func (w *window) rest() {
	for i := range w.ahead {
		p := &w.ahead[i]
		b, ok := w.have(p, recordKinds)
		if !ok || i == 0 {
			continue
		}
		if r, err := p.decode(b); err == nil {
			w.s.records.put(p.id, p.key(), &r)
		}
	}
}

var recordKinds = []byte{itemRecord, itemMovedRecord}

// sending returns what the submission at the first of the places sends.
func (w *window) sending(places []place) (o store.Sending, err error) {
	p := &places[0]
	if sub, ok := w.again(p); ok {
		return store.SendingOf(&sub), nil
	}
	b, err := w.content(places, itemSubmission, itemMovedSub, itemRelease)
	if err != nil {
		return o, err
	}
	if w.kind == itemRelease {
		sub, err := w.released(p, b)
		return store.SendingOf(&sub), err
	}
	if o, err = decodeSending(b, claimdlq.SubmissionID(p.id)); err != nil {
		return o, corrupt("read submission", p.loc)
	}
	return o, nil
}

// submission returns the submission at the first of the places.
func (w *window) submission(places []place) (sub claimdlq.Submission, err error) {
	p := &places[0]
	if sub, ok := w.s.submission(p); ok {
		return sub, nil
	}
	if sub, ok := w.again(p); ok {
		return sub, nil
	}
	b, err := w.content(places, itemSubmission, itemMovedSub, itemRelease)
	if err != nil {
		return sub, err
	}
	if w.kind == itemRelease {
		return w.released(p, b)
	}
	if sub, err = decodeSubmission(b); err != nil || sub.ID != claimdlq.SubmissionID(p.id) {
		return sub, corrupt("read submission", p.loc)
	}
	return sub, nil
}

// again returns the submission at a place if the release read last made it.
func (w *window) again(p *place) (sub claimdlq.Submission, ok bool) {
	if w.releaseAt != p.loc {
		return sub, false
	}
	i, ok := w.release.of(claimdlq.SubmissionID(p.id))
	if ok {
		sub = w.release.submission(i)
	}
	return sub, ok
}

// released returns the submission at a place that a release made, and keeps the release
// for the others.
func (w *window) released(p *place, b []byte) (claimdlq.Submission, error) {
	r, err := decodeRelease(b)
	i, ok := r.of(claimdlq.SubmissionID(p.id))
	if err != nil || !ok {
		return claimdlq.Submission{}, corrupt("read submission", p.loc)
	}
	w.room = append(w.room[:0], r.records...)
	r.records = w.room
	w.release, w.releaseAt = r, p.loc
	return r.submission(i), nil
}
