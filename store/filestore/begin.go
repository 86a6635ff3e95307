package filestore

import (
	"maps"
	"slices"

	"claimdlq"
)

// begin appends what starts a chunk: the header, and a frame with the totals and
// lanes, so that the chunks before it may go.
func (w *writer) begin(next *state) {
	c := w.chunk
	c.head = chunkHead{num: c.num, base: c.base, group: w.state.group, lastSeq: next.totals.lastSeq, chain: next.last}
	w.buf = append(w.buf, c.head.encode()...)
	next.end = c.base + chunkHeader
	at := w.openFrame()
	w.put(itemBase, func(b []byte) []byte { return appendBase(b, next) })
	for _, lane := range slices.Sorted(maps.Keys(w.lanes)) {
		w.put(itemControl, func(b []byte) []byte { return appendLane(b, lane, w.lanes[lane]) })
	}
	w.seal(next, at, next.totals.lastSeq+1)
}

// baseBytes is how much begin appends at most.
func (w *writer) baseBytes() (n int64) {
	for lane := range w.lanes {
		n += int64(len(lane)) + itemHeader + 16
	}
	return n + chunkHeader + 2048
}

// baseFormat is the version of the totals. Version 1 did not tell streams apart:
// there was one, and acknowledgments.
const baseFormat = 2

func appendBase(b []byte, s *state) []byte {
	b = append(b, baseFormat)
	b = putInt(b, s.totals.received)
	b = putUint(b, uint64(s.totals.lastID))
	b = putUint(b, uint64(s.totals.lastSub))
	b = putUint(b, s.totals.audited)
	return appendCounts(b, &s.gone)
}

func appendCounts(b []byte, c *counts) []byte {
	for i := range c.claims {
		b = putInt(putInt(b, c.claims[i]), c.records[i])
	}
	for i := range c.quarantined {
		b = putInt(b, c.quarantined[i])
	}
	b = putInt(putInt(putInt(b, c.rejected), c.orphans), c.all)
	for i := range c.streams {
		b = c.streams[i].append(b)
	}
	return b
}

func (d *decoder) counts(version byte) (c counts) {
	for i := range c.claims {
		c.claims[i], c.records[i] = d.int(), d.int()
	}
	for i := range c.quarantined {
		c.quarantined[i] = d.int()
	}
	c.rejected, c.orphans, c.all = d.int(), d.int(), d.int()
	if version == 1 {
		c.streams[slotX12] = streamCounts{records: c.records}
		return c
	}
	for i := range c.streams {
		c.streams[i] = d.streamCounts()
	}
	return c
}

// decodeBase reads totals, without lastSeq, which the frame's header has.
func decodeBase(b []byte) (t totals, gone counts, err error) {
	d := newDecoder(b)
	t, gone = d.base()
	return t, gone, d.end()
}

func (d *decoder) base() (t totals, gone counts) {
	version := d.byte()
	if version == 0 || version > baseFormat {
		d.fail()
		return t, gone
	}
	t.received = d.int()
	t.lastID = claimdlq.ID(d.upTo(maxRows))
	t.lastSub = claimdlq.SubmissionID(d.upTo(maxRows))
	t.audited = d.uint()
	return t, d.counts(version)
}
