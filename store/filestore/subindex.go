package filestore

import (
	"math"
	"time"

	"claimdlq"
)

// subIndex is what the index knows of submissions: 21 bytes each, a bitmap per
// state, and the table of their refs.
type subIndex struct {
	blocks []*subBlock // by id / subRows
	states [subStates]*bitmap
	refs   hashtab
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
	state [subRows]uint8
}

// subRow is one submission's part of the index.
type subRow struct {
	loc   int64
	due   int64
	rev   uint32
	state claimdlq.SubmissionState
}

const always = math.MinInt64

// dueOf is from when the submission is due: its back-off is over and, where a
// worker has it, its lease has lapsed.
func dueOf(s *claimdlq.Submission) int64 {
	due := int64(always)
	later := func(t time.Time) {
		if !t.IsZero() {
			due = max(due, t.UnixMilli())
		}
	}
	later(s.NotBefore)
	if s.State == claimdlq.SubmissionLeased || s.State == claimdlq.SubmissionSending {
		later(s.LeaseUntil)
	}
	return due
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
	return subRow{b.loc[i], b.due[i], b.rev[i], claimdlq.SubmissionState(b.state[i])}, true
}

// putSub sets a submission's row; an older revision than what is known changes
// nothing.
func (x *index) putSub(id uint32, r subRow) {
	n := int(id / subRows)
	for n >= len(x.subs.blocks) {
		x.subs.blocks = append(x.subs.blocks, nil)
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
		if old.state != r.state {
			x.subs.states[old.state].remove(id)
		}
	}
	b, i := x.subs.blocks[n], id%subRows
	b.loc[i], b.due[i], b.rev[i], b.state[i] = r.loc, r.due, r.rev, uint8(r.state)
	x.owns(r.loc, 1)
	if !ok || old.state != r.state {
		x.subs.states[r.state].add(id)
	}
}
