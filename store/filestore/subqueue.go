package filestore

import (
	"math"
	"slices"
	"strings"

	"claimdlq"
)

// queues numbers the queues in which submissions wait, from 1, so that a row of the
// index can name its own. Numbers are never given back.
type queues struct {
	list []claimdlq.Queue // by number; the first is nobody's. Entries never change
	ids  map[claimdlq.Queue]uint16
}

// noQueue is the number of a queue that is not known by number: there are more than
// a row can name. Whose it is, is in the journal.
const noQueue = 0

func newQueues() queues {
	return queues{list: make([]claimdlq.Queue, 1), ids: map[claimdlq.Queue]uint16{}}
}

// id returns the number of the queue, which gets one if it has none.
func (q *queues) id(k claimdlq.Queue) uint16 {
	if n, ok := q.ids[k]; ok {
		return n
	}
	if len(q.list) > math.MaxUint16 {
		return noQueue
	}
	n := uint16(len(q.list))
	k.Stream, k.Partner = strings.Clone(k.Stream), strings.Clone(k.Partner) // not the submission they are part of
	q.list = append(q.list, k)
	q.ids[k] = n
	return n
}

// append encodes the table as a snapshot has it.
func (q *queues) append(b []byte) []byte {
	b = putUint(b, uint64(len(q.list)-1))
	for _, k := range q.list[1:] {
		b = putBool(putString(putString(b, k.Stream), k.Partner), k.Bulk)
	}
	return b
}

func (q *queues) decode(d *decoder) error {
	for range d.upTo(math.MaxUint16) {
		q.id(claimdlq.Queue{Stream: d.string(), Partner: d.string(), Bulk: d.bool()})
	}
	return d.end()
}

// queued reports whether submissions of a state are kept apart by queue. In the
// other states nothing waits for its turn.
func queued(s claimdlq.SubmissionState) bool {
	switch s {
	case claimdlq.SubmissionReady, claimdlq.SubmissionLeased, claimdlq.SubmissionSending, claimdlq.SubmissionInDoubt:
		return true
	case claimdlq.SubmissionSent, claimdlq.SubmissionAnswered, claimdlq.SubmissionDead:
	}
	return false
}

// set returns the bitmap that a submission of the state and queue is in.
func (x *subIndex) set(state claimdlq.SubmissionState, queue uint16) *bitmap {
	if !queued(state) {
		queue = noQueue
	}
	for int(queue) >= len(x.sets[state]) {
		x.sets[state] = append(x.sets[state], nil)
	}
	if x.sets[state][queue] == nil {
		x.sets[state][queue] = &bitmap{}
	}
	return x.sets[state][queue]
}

// dueScan looks for what is due, one block of ids at a time, so that the writer
// does not wait for all of it.
type dueScan struct {
	state claimdlq.SubmissionState
	now   int64
	skip  []bool // by queue; nil: none is left out
	next  uint64 // the first id that has not been looked at
}

// skips reports whether the queue is left out. One that came after the caller was
// asked about it is.
func (d *dueScan) skips(queue uint16) bool {
	if d.skip == nil || queue == noQueue {
		return false
	}
	return int(queue) >= len(d.skip) || d.skip[queue]
}

// dueRow is a submission that is due.
type dueRow struct {
	id    uint32
	queue uint16
}

// due returns the oldest rows, at most limit, of the next block that has any, and
// moves on; more is false when there is none.
func (x *subIndex) due(d *dueScan, limit int) (rows []dueRow, more bool) {
	sets, block := x.dueSets(d)
	if len(sets) == 0 {
		return nil, false
	}
	w := walk{x: x, d: d, first: uint32(block) << blockBits}
	from := max(d.next, block<<blockBits)
	d.next = (block + 1) << blockBits
	for _, b := range sets {
		if c := b.set(uint32(block)); c != nil {
			w.start(c, uint16(from))
		}
	}
	rows = make([]dueRow, 0, min(limit, 1024))
	for len(w.heads) > 0 && len(rows) < limit {
		rows = append(rows, w.pop())
	}
	if len(w.heads) > 0 {
		d.next = uint64(rows[limit-1].id) + 1
	}
	return rows, true
}

// walk merges what is due in the containers of one block, in order of the ids.
type walk struct {
	x     *subIndex
	d     *dueScan
	first uint32 // id of the block
	heads []head // a heap by id
}

// head is a container and its next row that is due.
type head struct {
	dueRow
	c *container
}

// start adds what a container has from a row on. One in which nothing is due yet is not
// looked at a second time.
func (w *walk) start(c *container, from uint16) {
	if c.soonest.Load() > w.d.now {
		return
	}
	h := head{c: c}
	if soonest, ok := w.find(&h, int(from)); !ok {
		if w.first|uint32(from) <= max(w.first, 1) { // ids begin at 1: it has seen all
			c.soonest.Store(soonest)
		}
		return
	}
	w.heads = append(w.heads, h)
	for i := len(w.heads) - 1; i > 0 && w.heads[i].id < w.heads[(i-1)/2].id; i = (i - 1) / 2 {
		w.heads[i], w.heads[(i-1)/2] = w.heads[(i-1)/2], w.heads[i]
	}
}

// find moves a head to its first due row that is not below from. ok is false if there is
// none; then soonest is when the first that it saw is due.
func (w *walk) find(h *head, from int) (soonest int64, ok bool) {
	soonest = math.MaxInt64
	if from >= blockRows {
		return soonest, false
	}
	h.c.ascend(uint16(from), func(off uint16) bool {
		h.id = w.first | uint32(off)
		b, i := w.x.blocks[h.id/subRows], h.id%subRows
		h.queue = b.queue[i]
		soonest = min(soonest, b.due[i])
		ok = b.due[i] <= w.d.now && !w.d.skips(h.queue)
		return !ok
	})
	return soonest, ok
}

// pop returns the lowest row and moves its head on.
func (w *walk) pop() dueRow {
	row := w.heads[0].dueRow
	last := len(w.heads) - 1
	if _, ok := w.find(&w.heads[0], int(uint16(row.id))+1); !ok {
		w.heads[0] = w.heads[last]
		w.heads = w.heads[:last]
	}
	for i := 0; ; {
		least := i
		for _, j := range [...]int{2*i + 1, 2*i + 2} {
			if j < len(w.heads) && w.heads[j].id < w.heads[least].id {
				least = j
			}
		}
		if least == i {
			return row
		}
		w.heads[i], w.heads[least] = w.heads[least], w.heads[i]
		i = least
	}
}

// dueSets returns the bitmaps to look at, and the next block that one of them has; no
// bitmap where there is none.
func (x *subIndex) dueSets(d *dueScan) (sets []*bitmap, block uint64) {
	block = math.MaxUint64
	for queue, b := range x.sets[d.state] {
		if b == nil || (queued(d.state) && d.skips(uint16(queue))) {
			continue
		}
		if i, _ := slices.BinarySearch(b.blocks, uint32(d.next>>blockBits)); i < len(b.blocks) {
			block = min(block, uint64(b.blocks[i]))
			sets = append(sets, b)
		}
	}
	return sets, block
}

// has reports whether a submission is in the bitmap of its state and queue.
func (x *subIndex) has(r *subRow, id uint32) bool {
	queue := r.queue
	if !queued(r.state) {
		queue = noQueue
	}
	list := x.sets[r.state]
	if int(queue) >= len(list) || list[queue] == nil {
		return false
	}
	c := list[queue].set(id >> blockBits)
	return c != nil && c.has(uint16(id))
}

// known returns the queues that may have submissions in the state, by number.
func (x *subIndex) known(state claimdlq.SubmissionState) (list []claimdlq.Queue, some []bool) {
	list = x.queues.list
	if !queued(state) {
		return list, nil
	}
	some = make([]bool, len(list))
	for queue, b := range x.sets[state] {
		some[queue] = b != nil && len(b.blocks) > 0
	}
	return list, some
}
