package filestore

import (
	"time"

	"claimdlq"
)

// A step is what a release did to its records. While the index points at the state
// before it, readers apply it.
type step struct {
	loc  int64 // of its item
	at   time.Time
	rule string
	rows int // that need it
}

// steps are the steps that records need, and which record needs which.
type steps struct {
	list   []step       // by number, from 1; the first is none
	free   []int32      // numbers that can be given again
	blocks []*stepBlock // by id / stepRows; nil where no record needs one
	rows   int64
}

// stepRows is how many records have a stepBlock together: few, so that a release of
// records that lie far apart costs little.
const stepRows = 1024

// stepBlock says which step each record needs.
type stepBlock struct {
	step [stepRows]int32  // 0: the journal has the whole state
	due  *[stepRows]int64 // milliseconds since 1970; always is none. Nil: none of them
	rows int
}

// addStep returns the number of a new step; dropStep must follow, when it is known
// which records need it.
func (x *index) addStep(s step) int32 {
	t := &x.steps
	if len(t.list) == 0 {
		t.list = make([]step, 1)
	}
	s.rows = 1 // the caller's
	if n := len(t.free); n > 0 {
		i := t.free[n-1]
		t.free, t.list[i] = t.free[:n-1], s
		return i
	}
	t.list = append(t.list, s)
	return int32(len(t.list) - 1)
}

// dropStep says that one needs the step no longer.
func (x *index) dropStep(i int32) {
	t := &x.steps
	if t.list[i].rows--; t.list[i].rows == 0 {
		t.list[i] = step{}
		t.free = append(t.free, i)
	}
}

// release takes a record, as it was at the revision, into the queue by a step. One
// that is there already, because a snapshot or a later copy has it, stays as it is.
func (x *index) release(id, rev uint32, loc int64, s int32, notBefore time.Time) {
	b, i := x.slot(id)
	if i < 0 {
		return // what the journal has of it comes later
	}
	old := b.get(i)
	switch {
	case old.rev == rev:
		n := old
		n.rev++
		n.cause = x.causes.released(old.cause)
		b.put(i, n)
		from, to := x.causes.list[old.cause], x.causes.list[n.cause]
		x.leave(b, id, &old, to)
		x.join(b, id, &n, from)
	case old.rev != rev+1 || old.loc > loc:
		return // it is further, or whole
	default:
		if has, _ := x.steps.of(id); has != 0 {
			return
		}
	}
	x.steps.set(id, s, dueFrom(notBefore))
}

func (t *steps) set(id uint32, s int32, due int64) {
	n, off := int(id/stepRows), id%stepRows
	if n >= len(t.blocks) {
		t.blocks = append(t.blocks, make([]*stepBlock, n+1-len(t.blocks))...)
	}
	b := t.blocks[n]
	if b == nil {
		b = &stepBlock{}
		t.blocks[n] = b
	}
	if b.due == nil && due != always {
		b.due = new([stepRows]int64)
		for i := range b.due {
			b.due[i] = always
		}
	}
	if b.step[off] = s; b.due != nil {
		b.due[off] = due
	}
	b.rows++
	t.rows++
	t.list[s].rows++
}

// of returns the number of the step that the record needs, or 0, and when it is due.
func (t *steps) of(id uint32) (s int32, due int64) {
	n, off := int(id/stepRows), id%stepRows
	if n >= len(t.blocks) || t.blocks[n] == nil {
		return 0, always
	}
	b := t.blocks[n]
	if b.due == nil {
		return b.step[off], always
	}
	return b.step[off], b.due[off]
}

// unstep says that the journal has the record whole.
func (x *index) unstep(id uint32) {
	t := &x.steps
	if t.rows == 0 {
		return
	}
	s, _ := t.of(id)
	if s == 0 {
		return
	}
	x.dropStep(s)
	b := t.blocks[id/stepRows]
	b.step[id%stepRows] = 0
	t.rows--
	if b.rows--; b.rows == 0 {
		t.blocks[id/stepRows] = nil
	}
}

// stepAt is the step that a record needs, as a reader takes it along.
type stepAt struct {
	loc  int64
	at   time.Time
	due  int64
	rule string
}

// need returns the step that the record needs; nil if it needs none, as most do.
func (x *index) need(id uint32) *stepAt {
	if x.steps.rows == 0 {
		return nil
	}
	n, due := x.steps.of(id)
	if n == 0 {
		return nil
	}
	t := &x.steps.list[n]
	return &stepAt{t.loc, t.at, due, t.rule}
}

// apply returns the record after the step.
func (s *stepAt) apply(r claimdlq.Record) (claimdlq.Record, error) {
	n, err := r.Replay(s.rule, s.at)
	if err != nil {
		return r, errCodec
	}
	n.NotBefore = dueTime(s.due)
	n.Revision++
	return n, nil
}

// released returns the number of the cause that a release takes records of a cause to.
func (c *causes) released(from uint32) uint32 {
	f := c.list[from]
	if f.released == 0 {
		k := f.causeKey
		k.state, k.rejected = claimdlq.StateQueued, false
		f.released = c.id(k) + 1
	}
	return f.released - 1
}

// stepLocs returns where the steps are that records need.
func (x *index) stepLocs() (locs []int64) {
	for i := range x.steps.list {
		if s := &x.steps.list[i]; s.rows > 0 {
			locs = append(locs, s.loc)
		}
	}
	return locs
}
