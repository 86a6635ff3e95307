package filestore

import (
	"math"
	"time"

	"claimdlq"
)

// subIndex is what the index knows of submissions: 23 bytes each, bitmaps of those in
// each state, and the table of their refs.
type subIndex struct {
	blocks   []*subBlock // by id / subRows; nil where none is in memory
	rows     []int32     // how many are, by block
	live     int64       // all of them
	finished int64       // those that may leave
	queues   queues
	sets     [subStates][]*bitmap // by queue where queued, else all in the first; nil where there is none
	refs     hashtab
}

const (
	subRows   = 4096
	subStates = int(claimdlq.SubmissionDead) + 1
)

// subBlock is 4,096 submissions.
type subBlock struct {
	loc   [subRows]int64
	due   [subRows]int64 // milliseconds since 1970; always is never waiting
	rev   [subRows]uint32
	queue [subRows]uint16
	state [subRows]uint8
}

// subRow is one submission's part of the index.
type subRow struct {
	loc   int64
	due   int64
	rev   uint32
	queue uint16
	state claimdlq.SubmissionState
}

const always = math.MinInt64

// dueOf is from when the submission is due: its back-off is over and, where a
// worker has it, its lease has lapsed.
func dueOf(s *claimdlq.Submission) int64 {
	due := dueFrom(s.NotBefore)
	if s.State == claimdlq.SubmissionLeased || s.State == claimdlq.SubmissionSending {
		due = max(due, dueFrom(s.LeaseUntil))
	}
	return due
}

// dueFrom is a time in milliseconds since 1970; always is none.
func dueFrom(t time.Time) int64 {
	if t.IsZero() {
		return always
	}
	return t.UnixMilli()
}

func dueTime(ms int64) time.Time {
	if ms == always {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func (x *subIndex) at(id uint32) (r subRow, ok bool) {
	n := int(id / subRows)
	if n >= len(x.blocks) || x.blocks[n] == nil {
		return subRow{}, false
	}
	b, i := x.blocks[n], id%subRows
	if b.rev[i] == 0 {
		return subRow{}, false
	}
	return subRow{b.loc[i], b.due[i], b.rev[i], b.queue[i], claimdlq.SubmissionState(b.state[i])}, true
}

// queueOf returns the number of the queue that a submission waits in. It hardly ever
// goes to another.
func (x *subIndex) queueOf(id uint32, s *claimdlq.Submission) uint16 {
	q := s.Queue()
	if r, ok := x.at(id); ok && r.queue != noQueue && x.queues.list[r.queue] == q {
		return r.queue
	}
	return x.queues.id(q)
}

// putSub sets a submission's row; an older revision than what is known changes
// nothing.
func (x *index) putSub(id uint32, r subRow) {
	n := int(id / subRows)
	for n >= len(x.subs.blocks) {
		x.subs.blocks, x.subs.rows = append(x.subs.blocks, nil), append(x.subs.rows, 0)
	}
	if x.subs.blocks[n] == nil {
		x.subs.blocks[n] = &subBlock{}
	}
	old, ok := x.subs.at(id)
	if ok {
		if r.rev < old.rev {
			return
		}
		x.owns(old.loc, -1)
		x.subs.count(n, &old, -1)
	}
	b, i := x.subs.blocks[n], id%subRows
	b.loc[i], b.due[i], b.rev[i], b.queue[i], b.state[i] = r.loc, r.due, r.rev, r.queue, uint8(r.state)
	x.owns(r.loc, 1)
	x.subs.count(n, &r, 1)
	set := x.subs.set(r.state, r.queue)
	if !ok || old.state != r.state || old.queue != r.queue {
		if ok {
			x.subs.set(old.state, old.queue).remove(id)
		}
		set.add(id)
	}
	if c := set.set(id >> blockBits); r.due < c.soonest.Load() {
		c.soonest.Store(r.due)
	}
}
