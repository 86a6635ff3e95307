package x12

import (
	"encoding/binary"
	"slices"
)

// judge walks one set along its guide: it finds the loop of every segment, checks
// its elements, and attributes every fault to the claims that it spoils.
type judge struct {
	s *Scanner
	r *Rules
	g *guide
	splitter

	b    []byte // the segment, without line breaks; eight more bytes can be read
	seg  []byte // where a segment with line breaks is put together
	qual uint64 // its qualifier, packed
	pos  int    // of the segment, ST is 1
	off  int64  // of the segment in the file
	at   uint16 // the node of the last segment that was in place
	skip uint16 // the opener of a misplaced loop whose segments are passed over; 0 if none

	depth int
	stack [maxDepth]frame
	late  []lateNeed

	faults   []Fault
	count    int
	errors   int
	unsorted bool
	whole    bool
	scopes   [scopeClaim + 1]scopeState
	spoilers []Fault // the first faults of claims, see claimState.spoiler

	claims []claimState
	claim  claimBuilder
	cents  int64
	hl     levels
	lx     int
	self   bool   // the subscriber is the patient (SBR02 18)
	since  uint64 // the first day that is not late, CCYYMMDD as eight characters
}

// frame is an open loop.
type frame struct {
	loop   uint16
	seen   uint64 // bits of its required children that came
	passed uint64 // bits of those that were passed over without coming
	counts [maxChildren]uint16
}

// lateNeed is a required segment that was passed over. It may still come, out of
// order; if it does not, the place where it was missed is where it is missing.
type lateNeed struct {
	depth int
	bit   uint64
	pos   int
	off   int64
}

// scopeState is an open provider, subscriber, patient or header.
type scopeState struct {
	first   int // ordinal of the first claim in it
	spoiler int // of all its claims, in spoilers, from 1; 0 if there is none
}

type claimState struct {
	cents   int64
	spoiler int32
}

// start begins a set. The ST comes as its first segment.
func (j *judge) start(s *Scanner, g *guide) {
	j.s, j.r, j.g = s, s.rules, g
	j.splitter = newSplitter(s.ic.delims)
	j.since = 0
	if s.ic.date > 0 && j.r.timelyYears > 0 {
		j.since = dayWord(s.ic.date - j.r.timelyYears*10000)
	}
	j.pos, j.at, j.skip, j.depth = 0, 0, 0, 0
	j.late, j.faults, j.spoilers, j.claims = j.late[:0], nil, j.spoilers[:0], j.claims[:0]
	j.count, j.errors, j.unsorted, j.whole, j.cents, j.lx, j.self = 0, 0, false, false, 0, 0, false
	j.scopes = [scopeClaim + 1]scopeState{}
	j.hl = levels{}
	j.claim.reset()
	j.claim.clearParties()
	f := &j.stack[0]
	f.loop, f.seen, f.passed = 0, 0, 0
	clear(f.counts[:g.loops[0].children])
}

// segment judges one segment of the set.
func (j *judge) segment(b []byte, off int64) {
	j.pos++
	j.off = off
	j.b = b
	j.split(b)
	if j.bad {
		j.withoutBreaks()
	}
	idLen := int(j.ends[0])
	var idx uint8
	if idLen == 2 || idLen == 3 {
		w := binary.LittleEndian.Uint64(j.b[:slack:cap(j.b)])
		idx = j.r.segIDs.find(uint32(w & masks[idLen]))
	}
	if idx == 0 || int(idx) >= j.g.segments {
		j.unknown()
		return
	}
	if j.pos == 1 {
		j.opening()
		return
	}
	j.qual = j.qualifier(idx)
	if j.skip != 0 && j.skipped(idx) {
		return
	}
	sp := j.g.steps[int(j.at)*j.g.segments+int(idx)]
	full := -1
	for i := range j.g.cands[sp.at : sp.at+sp.n] {
		c := &j.g.cands[int(sp.at)+i]
		if c.code != j.qual && !c.free && !c.also {
			continue
		}
		n := &j.g.nodes[c.node]
		if c.code != j.qual && !j.qualifies(n) {
			continue
		}
		if j.room(c, n) {
			j.enter(c, n)
			return
		}
		if full < 0 {
			full = int(sp.at) + i
		}
	}
	j.misplaced(idx, sp, full)
}

// opening judges the ST.
func (j *judge) opening() {
	n := &j.g.nodes[0]
	j.stack[0].counts[0] = 1
	j.stack[0].seen |= n.bit
	j.elements(n)
}

// qualifies reports whether the segment has a qualifier of the node.
func (j *judge) qualifies(n *guideNode) bool {
	return !n.qualified || j.listed(n.quals, j.qual)
}

// qualifier returns the packed element that tells the uses of the segment apart.
func (j *judge) qualifier(idx uint8) uint64 {
	q := j.g.quals[idx]
	k := int(q.el)
	if k == 0 || k > j.n {
		return 0
	}
	from, to := int(j.ends[k-1])+1, int(j.ends[k])
	if q.comp {
		to = indexIn(j.b, from, to, j.compB)
	}
	return j.pack(from, to)
}

// pack returns up to eight bytes of the segment as a number; what is longer is
// equal to no code.
func (j *judge) pack(from, to int) uint64 {
	n := to - from
	if n > 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(j.b[from : from+slack : cap(j.b)][:slack]) & masks[n]
}

// count notes that a child came once more. It stops below anyNumber, so that there is
// always room for what may come any number of times.
func (f *frame) count(child uint8) {
	if f.counts[child] < anyNumber-1 {
		f.counts[child]++
	}
}

// room reports whether the candidate may come once more.
func (j *judge) room(c *cand, n *guideNode) bool {
	f := &j.stack[j.depth-int(c.up)]
	if n.opens {
		l := &j.g.loops[n.loop]
		return f.counts[l.child] < l.max
	}
	return f.counts[n.child] < n.max
}

// enter steps to the candidate: it closes the loops that end before it, opens the
// one that begins with it, and judges the segment.
func (j *judge) enter(c *cand, n *guideNode) {
	for up := c.up; up > 0; up-- {
		j.closeLoop()
	}
	f := &j.stack[j.depth]
	if n.opens {
		l := &j.g.loops[n.loop]
		if missed := l.before &^ (f.seen | f.passed); missed != 0 {
			j.passOver(f, missed)
		}
		f.count(l.child)
		f.seen |= l.bit
		j.open(n.loop)
		f = &j.stack[j.depth]
	} else if missed := n.before &^ (f.seen | f.passed); missed != 0 {
		j.passOver(f, missed)
	}
	f.count(n.child)
	f.seen |= n.bit
	j.at = c.node
	if n.act != actNone {
		j.before(n)
	}
	j.elements(n)
	if n.act != actNone {
		j.act(n)
	}
}

func (j *judge) open(loop uint16) {
	j.depth++
	f := &j.stack[j.depth]
	f.loop, f.seen, f.passed = loop, 0, 0
	clear(f.counts[:j.g.loops[loop].children])
}

// passOver remembers required segments that should have come by now.
func (j *judge) passOver(f *frame, missed uint64) {
	f.passed |= missed
	for m := missed; m != 0; m &= m - 1 {
		j.late = append(j.late, lateNeed{j.depth, m & -m, j.pos, j.off})
	}
}

// closeLoop ends the innermost loop. What it needed and did not get is missing.
func (j *judge) closeLoop() {
	f := &j.stack[j.depth]
	l := &j.g.loops[f.loop]
	if missing := l.needs &^ f.seen; missing != 0 {
		j.missing(f, missing, "3")
	}
	if missing := l.self &^ f.seen; missing != 0 && j.self {
		j.missing(f, missing, "I6")
	}
	if l.first != 0 && j.g.nodes[l.first].act == actClaim {
		j.endClaim()
	}
	j.depth--
}

func (j *judge) missing(f *frame, missing uint64, ik304 string) {
	for m := missing; m != 0; m &= m - 1 {
		bit := m & -m
		pos, off := j.pos, j.off
		if i := slices.IndexFunc(j.late, func(l lateNeed) bool { return l.depth == j.depth && l.bit == bit }); i >= 0 {
			pos, off = j.late[i].pos, j.late[i].off
		}
		n, loop := j.childOf(f.loop, bit)
		j.report(Fault{
			Segment: j.r.segIDs.names[n.seg], Position: pos, Offset: off, Loop: j.g.loops[loop].id,
			IK304: ik304, Rule: "SEGMENT_MISSING", Severity: Error,
		}, j.g.loops[f.loop].scope)
	}
	j.late = slices.DeleteFunc(j.late, func(l lateNeed) bool { return l.depth >= j.depth })
}

// childOf returns the required child of a loop that has the bit, and the loop to
// name for it: its own where it opens one.
func (j *judge) childOf(loop uint16, bit uint64) (n *guideNode, in uint16) {
	for i := range j.g.loops {
		l := &j.g.loops[i]
		if i > 0 && l.parent == loop && l.bit == bit {
			return &j.g.nodes[l.first], uint16(i)
		}
	}
	for i := range j.g.nodes {
		n := &j.g.nodes[i]
		if n.loop == loop && n.bit == bit {
			return n, loop
		}
	}
	return &j.g.nodes[0], loop
}

// finish closes the set and moves the findings into it. It reports whether some
// segment is in error.
func (j *judge) finish(e *Set, noTrailer bool) (wrong bool) {
	if noTrailer {
		j.stack[0].seen |= j.g.nodes[j.g.footer].bit // IK502 2 says it
	}
	for j.depth > 0 {
		j.closeLoop()
	}
	f := &j.stack[0]
	if missing := j.g.loops[0].needs &^ f.seen; missing != 0 {
		j.missing(f, missing, "3")
	}
	j.endClaim()
	j.endLevels()
	for sc := scopeProvider; sc <= scopePatient; sc++ {
		j.leaveScope(sc)
	}
	e.Claims, e.AmountCents = len(j.claims), j.cents
	if j.unsorted {
		slices.SortStableFunc(j.faults, func(a, b Fault) int { return a.Position - b.Position })
	}
	e.Faults, e.FaultCount = j.faults, j.count
	if j.whole {
		e.Whole = true
	}
	if !e.Whole {
		e.BadClaims = j.badClaims()
	}
	return j.errors > 0
}

func (j *judge) badClaims() (bad []BadClaim) {
	for i, c := range j.claims {
		if c.spoiler > 0 {
			bad = append(bad, BadClaim{Ordinal: i + 1, AmountCents: c.cents, Fault: j.spoilers[c.spoiler-1]})
		}
	}
	return bad
}
