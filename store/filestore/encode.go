package filestore

import (
	"encoding/binary"

	"claimdlq"
	"claimdlq/store"
)

// rowChange is what a record's new revision is in the index.
type rowChange struct {
	cause  causeKey
	age    age
	claims uint32
	key    uint64
	refs   [3]uint64
	nrefs  int
}

func rowOf(r *claimdlq.Record) (c rowChange) {
	c = rowChange{cause: causeOf(r), age: ageOf(r.CreatedAt, r.FirstFailedAt), claims: r.Claims, key: hashKey(r.Key)}
	return c
}

func (c *rowChange) setRefs(r *claimdlq.Record) {
	for _, ref := range r.Refs() {
		c.refs[c.nrefs] = hashRef(ref)
		c.nrefs++
	}
}

// patch is a place in a frame where an id belongs that only the writer knows.
type patch struct {
	at  int
	add uint64 // to the first id of the batch
	sub bool   // a submission's
}

// encoded is a plan as a frame with room for its header.
type encoded struct {
	frame   []byte
	patches []patch
	sums    []int // where items begin
}

func (e *encoded) reset() {
	e.frame, e.patches, e.sums = append(e.frame[:0], zeros[:frameHeader]...), e.patches[:0], e.sums[:0]
}

func (e *encoded) open(kind byte) int {
	off := len(e.frame)
	e.frame = openItem(e.frame, kind)
	e.sums = append(e.sums, off)
	return off
}

func (e *encoded) close(off int) { e.frame = closeItem(e.frame, off) }

// encode writes the plan as items, in the order in which they apply.
func (e *encoded) encode(p *plan) {
	e.reset()
	for i := range p.records {
		e.record(p, i)
	}
	for i := range p.subs {
		e.submission(p, i)
	}
	for i := range p.releases {
		e.release(p, i)
	}
	for i := range p.entries {
		off := e.open(itemEntry)
		at := len(e.frame) + 1
		e.frame = appendEntry(e.frame, &p.entries[i])
		e.relative(at, p.entries[i].Record)
		e.close(off)
	}
	if len(p.prints) > 0 {
		off := e.open(itemFingerprints)
		for _, f := range p.prints {
			e.frame = append(e.frame, f.Key[:]...)
			e.relative(len(e.frame), f.Record)
			e.frame = put64(e.frame, uint64(f.Record))
		}
		e.close(off)
	}
}

// relative asks the writer to fill in id at a place, if it is a placeholder.
func (e *encoded) relative(at int, id claimdlq.ID) {
	if i, ok := store.IsParentIndex(id); ok {
		e.patches = append(e.patches, patch{at: at, add: uint64(i)})
	}
}

func (e *encoded) record(p *plan, i int) {
	c := &p.records[i]
	if c.revived {
		off := e.open(itemRevived)
		e.frame = c.previous.append(e.frame)
		e.close(off)
	}
	c.off = e.open(itemRecord)
	at := len(e.frame) + 1
	if i < p.inserts {
		e.patches = append(e.patches, patch{at: at, add: uint64(i)})
	}
	var parentAt int
	if e.frame, parentAt = appendRecord(e.frame, &c.record); parentAt > 0 {
		e.relative(parentAt, c.record.Parent)
	}
	e.close(c.off)
	c.rowChange = rowOf(&c.record)
	if _, later := store.IsParentIndex(c.record.Parent); c.newRefs && !later {
		c.setRefs(&c.record)
	}
}

func (e *encoded) submission(p *plan, i int) {
	c := &p.subs[i]
	c.off = e.open(itemSubmission)
	if i < p.newSubs {
		e.patches = append(e.patches, patch{at: len(e.frame) + 1, add: uint64(i), sub: true})
	}
	e.frame = appendSubmission(e.frame, &c.sub, func(at, index int) {
		e.patches = append(e.patches, patch{at: at, add: uint64(index)})
	})
	e.close(c.off)
	c.due = dueOf(&c.sub)
	for _, r := range store.SubmissionRefs(c.sub) {
		c.refs = append(c.refs, hashRef(r))
	}
}

// fill puts the ids in, which begin at the given ones, and the items' checksums.
// frame is a copy of e.frame.
func (e *encoded) fill(frame []byte, id claimdlq.ID, sub claimdlq.SubmissionID) {
	for _, p := range e.patches {
		v := uint64(id) + p.add
		if p.sub {
			v = uint64(sub) + p.add
		}
		binary.LittleEndian.PutUint64(frame[p.at:], v)
	}
	for _, off := range e.sums {
		sumItem(frame[off:])
	}
}

// gonePart is what a record that leaves memory, or comes back, is in the figures.
type gonePart struct {
	state    claimdlq.State
	reason   claimdlq.Reason
	format   claimdlq.Format
	rejected bool
	slot     streamSlot
	claims   uint32
}

func goneOf(r *claimdlq.Record) gonePart {
	k := causeOf(r)
	return gonePart{k.state, k.reason, k.format, k.rejected, slotOf(k.stream), r.Claims}
}

func (g gonePart) key() *causeKey {
	return &causeKey{state: g.state, reason: g.reason, format: g.format, rejected: g.rejected, stream: slotNames[g.slot]}
}

func (g gonePart) append(b []byte) []byte {
	flags := byte(g.slot+1) << 1 // the first stores wrote 0: one stream, and acknowledgments
	if g.rejected {
		flags |= 1
	}
	b = append(b, byte(g.state), byte(g.reason), byte(g.format), flags)
	return putUint(b, uint64(g.claims))
}

func (d *decoder) gonePart() (g gonePart) {
	g.state = claimdlq.State(d.byte())
	if int(g.state) >= stateCount {
		d.fail()
		g.state = 0
	}
	g.reason, g.format = claimdlq.Reason(d.byte()), claimdlq.Format(d.byte())
	flags := d.upTo(uint64(streamSlots)<<1 | 1)
	g.rejected, g.claims = flags&1 == 1, d.u32()
	switch slot := streamSlot(flags >> 1); {
	case slot > 0:
		g.slot = slot - 1
	case g.format == claimdlq.FormatAck:
		g.slot = slotOther
	}
	return g
}
