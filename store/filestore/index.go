package filestore

import (
	"slices"
	"sync"

	"claimdlq"
)

// maxRows is the largest record id the index can hold.
const maxRows = listFlag - 1

// index is what a Store knows without reading its journal. It says what is
// durable, nothing else: the writer changes it after the flush. mu guards all of
// it but the exactness of zones and causes, see lazy.
type index struct {
	mu sync.RWMutex

	blocks []*block // by id >> blockBits; nil where no record is in memory
	live   int64    // records in memory
	final  int64    // of those, settled and withdrawn ones
	keys   hashtab
	refs   hashtab
	causes causes
	counts counts // of the records in memory
	gone   counts // of those that only sorted runs hold
	totals totals

	subs  subIndex
	steps steps
	seen  seen

	chunks []*chunk // ascending; the last is written to

	// lazy guards the recomputing of stale minima by readers, who hold mu for
	// reading only.
	lazy sync.Mutex
}

// totals are the numbers that only grow.
type totals struct {
	received int64 // claims ever taken in
	lastID   claimdlq.ID
	lastSub  claimdlq.SubmissionID
	lastSeq  uint64 // of the newest audit entry
	audited  uint64 // entries up to it are in the audit log
}

// counts are the figures of store.Stats.
type counts struct {
	claims      [stateCount]int64
	records     [stateCount]int64 // acknowledgment files not included
	quarantined [reasonCount]int64
	rejected    int64
	orphans     int64
	all         int64 // records, acknowledgment files included
	streams     [len(countedStreams)]streamCounts
}

const (
	stateCount  = int(claimdlq.StateWithdrawn) + 1
	reasonCount = int(claimdlq.Expired) + 1
)

// add counts records and claims of the cause, or takes them back.
func (c *counts) add(k *causeKey, records, claims int64) {
	c.claims[k.state] += claims
	c.all += records
	if k.rejected {
		c.rejected += claims
	}
	switch {
	case k.format != claimdlq.FormatAck:
		c.records[k.state] += records
	case k.state != claimdlq.StateSettled:
		c.orphans += records
	}
	if k.state == claimdlq.StateQuarantined && int(k.reason) < reasonCount {
		c.quarantined[k.reason] += records
	}
	if s := slotOf(k.stream); int(s) < len(c.streams) {
		c.streams[s].add(k, records)
	}
}

func (c *counts) plus(o counts) counts {
	s := *c
	for i := range s.claims {
		s.claims[i] += o.claims[i]
		s.records[i] += o.records[i]
	}
	for i := range s.quarantined {
		s.quarantined[i] += o.quarantined[i]
	}
	s.rejected += o.rejected
	s.orphans += o.orphans
	s.all += o.all
	for i := range s.streams {
		s.streams[i].plus(&o.streams[i])
	}
	return s
}

func newIndex() *index {
	x := &index{causes: newCauses()}
	x.subs.queues = newQueues()
	return x
}

// at returns the row of the record; ok is false if it is not in memory.
func (x *index) at(id uint32) (r row, ok bool) {
	b, i := x.slot(id)
	if i < 0 {
		return row{}, false
	}
	return b.get(i), true
}

func (x *index) slot(id uint32) (*block, int) {
	n := int(id >> blockBits)
	if n >= len(x.blocks) || x.blocks[n] == nil {
		return nil, -1
	}
	b := x.blocks[n]
	return b, b.slot(uint16(id))
}

// put sets the row of a record, which may be new. A revision older than what is
// known changes nothing: so a journal can be replayed over a newer image.
func (x *index) put(id uint32, n row) {
	bn := int(id >> blockBits)
	if bn >= len(x.blocks) {
		x.blocks = append(x.blocks, make([]*block, bn+1-len(x.blocks))...)
	}
	if x.blocks[bn] == nil {
		x.blocks[bn] = newBlock()
	}
	b, off := x.blocks[bn], uint16(id)
	i := b.slot(off)
	if i < 0 {
		i = b.make(off)
		b.put(i, n)
		b.n++
		x.live++
		x.owns(n.loc, 1)
		x.join(b, id, &n, nil)
		return
	}
	old := b.get(i)
	if n.rev < old.rev {
		return
	}
	b.put(i, n)
	x.unstep(id)
	if old.loc != n.loc {
		x.owns(old.loc, -1)
		x.owns(n.loc, 1)
	}
	if old.cause == n.cause && old.age == n.age && old.claims == n.claims {
		return
	}
	from, to := x.causes.list[old.cause], x.causes.list[n.cause]
	x.leave(b, id, &old, to)
	x.join(b, id, &n, from)
}

// drop forgets a record that a sorted run holds.
func (x *index) drop(id uint32) {
	b, i := x.slot(id)
	if i < 0 {
		return
	}
	r := b.get(i)
	x.unstep(id)
	x.leave(b, id, &r, nil)
	x.owns(r.loc, -1)
	b.rev[i] = 0
	b.n--
	x.live--
	if b.n == 0 {
		b.mem.free()
		x.blocks[id>>blockBits] = nil
	}
}

// join counts a row in its cause; from is the cause it comes from, whose bitmaps
// it may stay in.
func (x *index) join(b *block, id uint32, r *row, from *cause) {
	c := x.causes.list[r.cause]
	for d, set := range c.dims {
		if set != nil && (from == nil || from.dims[d] != set) {
			set.add(id)
		}
	}
	x.counts.add(&c.causeKey, 1, int64(r.claims))
	if !c.state.Unresolved() {
		x.final++
	}
	c.records++
	c.claims += int64(r.claims)
	c.changes++
	c.oldest.join(r.age)
	z := &b.zone[uint16(id)/zoneRows]
	if z.since == 0 || r.age < z.since {
		z.since = max(r.age, 1)
	}
	z.join(c, r.age)
}

// leave is the reverse of join; to is the cause the row goes to, if any.
func (x *index) leave(b *block, id uint32, r *row, to *cause) {
	c := x.causes.list[r.cause]
	for d, set := range c.dims {
		if set != nil && (to == nil || to.dims[d] != set) {
			set.remove(id)
		}
	}
	x.counts.add(&c.causeKey, -1, -int64(r.claims))
	if !c.state.Unresolved() {
		x.final--
	}
	c.records--
	c.claims -= int64(r.claims)
	c.changes++
	c.oldest.leave(r.age)
	b.zone[uint16(id)/zoneRows].leave(c, r.age)
}

// owns counts items of a chunk that are the newest of their kind.
func (x *index) owns(loc int64, n int64) {
	if c := x.chunkOf(loc); c != nil {
		c.live += n
	}
}

// chunkOf returns the chunk that holds a position, or nil.
func (x *index) chunkOf(loc int64) *chunk {
	if n := len(x.chunks); n > 0 && loc >= x.chunks[n-1].base {
		return x.chunks[n-1]
	}
	i, found := slices.BinarySearchFunc(x.chunks, loc, func(c *chunk, loc int64) int {
		switch {
		case c.base > loc:
			return 1
		case c.base < loc:
			return -1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	return x.chunks[i]
}

// free gives the index's memory back. Nothing may use it afterwards.
func (x *index) free() {
	for _, b := range x.blocks {
		if b != nil {
			b.mem.free()
		}
	}
	x.blocks, x.subs.blocks = nil, nil
	x.keys.free()
	x.refs.free()
	x.subs.refs.free()
	x.totals = totals{}
}
