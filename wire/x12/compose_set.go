package x12

import (
	"bytes"
	"strconv"
)

// maxContext bounds what is held back of a set until it is known whether it
// stays: the loops above the first kept claim.
const maxContext = 32 << 20

// openLoop is a loop that is open: the set itself, and the HL loops from the
// outermost in.
//
// A loop is held back until a claim below it is kept. One that says that it has
// dependents (HL04) and keeps claims of its own is held back further, until a
// dependent's loop is kept or the loop ends: only then its HL04 is known.
type openLoop struct {
	hl      []byte // the HL as read; nil for the set itself
	number  []byte // HL01 as read
	written []byte // HL01 as written, once it is
	level   string // HL03
	dangles bool   // HL02 does not name a loop that is open

	out      bool // written: what follows goes through
	held     []byte
	segments int // in held
	kept     int // claims of its own
	dropped  int // claims in it and below it
	children int // loops directly below it
}

// setCutter writes one transaction set without the claims that are dropped.
type setCutter struct {
	a        *adder
	drop     func(int) bool
	nodes    []openLoop // the open loops; nodes[0] is the set
	holding  int        // bytes held in all nodes
	removed  bool       // some loop has gone: what follows is renumbered
	last     int        // HL01 written last
	dropping bool       // in a dropped claim
	dropped  int
	written  int // segments
}

func (s *setCutter) top() *openLoop { return &s.nodes[len(s.nodes)-1] }

// put writes bytes of the current loop, or holds them back.
// count is how many segments end with them.
func (s *setCutter) put(raw []byte, count int) error {
	if s.dropping {
		return nil
	}
	n := s.top()
	if s.drop == nil && !n.out {
		s.writeLoop(0, false) // nothing can be dropped: nothing is held back
	}
	if n.out {
		s.written += count
		s.a.c.write(raw)
		return nil
	}
	if s.holding += len(raw); s.holding > maxContext {
		return composeError("a loop is too large to cut claims out of it", "HL")
	}
	n.held = append(n.held, raw...)
	n.segments += count
	return nil
}

// startClaim begins a claim, and asks whether it stays.
func (s *setCutter) startClaim(p piece) error {
	st := &s.a.stats
	s.dropping = s.drop != nil && s.drop(st.Claims+st.Dropped+1)
	if s.dropping {
		st.Dropped++
		s.dropped++
		s.top().dropped++
		return nil
	}
	st.Claims++
	st.AmountCents += clm02(p.seg, s.a.u.d)
	n := s.top()
	n.kept++
	s.keepAbove(len(s.nodes) - 1)
	if !n.out && !s.mayLoseChildren(n) {
		s.writeLoop(len(s.nodes)-1, false)
	}
	return s.put(p.raw, p.segments())
}

// mayLoseChildren reports whether the loop says that it has dependents, which
// may all be dropped.
func (s *setCutter) mayLoseChildren(n *openLoop) bool {
	return n.hl != nil && string(s.element(n.hl, 4)) == "1"
}

// startLoop begins an HL loop below the loop that HL02 names.
func (s *setCutter) startLoop(p piece) error {
	raw := p.raw
	s.dropping = false
	if s.drop == nil {
		return s.put(raw, 1)
	}
	n := openLoop{
		hl: bytes.Clone(raw), number: bytes.Clone(s.element(raw, 1)), level: string(s.element(raw, 3)),
	}
	parent := s.parentOf(s.element(raw, 2), n.level, &n)
	for len(s.nodes) > parent+1 {
		s.endLoop()
	}
	s.top().children++
	if s.holding += len(raw); s.holding > maxContext {
		return composeError("a loop is too large to cut claims out of it", "HL")
	}
	s.nodes = append(s.nodes, n)
	return nil
}

// parentOf returns the index of the open loop that HL02 names. Where it names
// none the loop stands below the innermost of a higher level, so that a claim is
// still shown with its context, but the fault stays: HL02 is written empty, for
// a number could by now be that of another loop.
func (s *setCutter) parentOf(hl02 []byte, level string, n *openLoop) int {
	if len(hl02) == 0 && level == "20" {
		return 0
	}
	for i := len(s.nodes) - 1; i > 0; i-- {
		if len(hl02) > 0 && sameHL(s.nodes[i].number, hl02) {
			return i
		}
	}
	n.dangles = true
	for i := len(s.nodes) - 1; i > 0; i-- {
		if s.nodes[i].level < level {
			return i
		}
	}
	return 0
}

func sameHL(a, b []byte) bool {
	return bytes.Equal(bytes.TrimLeft(a, "0"), bytes.TrimLeft(b, "0"))
}

// endLoop ends the innermost loop and decides about it.
func (s *setCutter) endLoop() {
	i := len(s.nodes) - 1
	n := &s.nodes[i]
	switch {
	case n.out:
	case n.kept > 0:
		s.writeLoop(i, n.children > 0) // held back for dependents, none of which stays
	case n.dropped == 0 && !s.a.strict:
		s.keepAbove(i) // it never had a claim: that is not ours to repair
		s.writeLoop(i, false)
	default:
		s.removed = true
		s.holding -= len(n.held) + len(n.hl)
	}
	s.nodes[i-1].dropped += n.dropped
	s.nodes = s.nodes[:i]
}

// keepAbove writes the loops above loop i, outermost first.
func (s *setCutter) keepAbove(i int) {
	for k := range i {
		if !s.nodes[k].out {
			s.writeLoop(k, false)
		}
	}
}

// writeLoop writes what is held of loop i; from now on it goes through.
func (s *setCutter) writeLoop(i int, childless bool) {
	n, c := &s.nodes[i], s.a.c
	if i == 0 && !n.out {
		c.open(s.a.isa, s.a.gs, s.a.u.d, s.a.wrapped)
		c.sets++
		c.totals.Sets++
	}
	if n.hl != nil {
		c.write(s.renumbered(i, childless))
		s.written++
	}
	c.write(n.held)
	s.written += n.segments
	s.holding -= len(n.held) + len(n.hl)
	n.out, n.held, n.segments = true, nil, 0
}

// renumbered returns the HL of loop i as it must be written.
func (s *setCutter) renumbered(i int, childless bool) []byte {
	n, d := &s.nodes[i], s.a.u.d
	hl := n.hl
	n.written = n.number
	if s.removed {
		n.written = strconv.AppendInt(nil, int64(s.last)+1, 10)
		hl = setElement(hl, d, 1, 0, n.written)
	}
	s.last, _ = strconv.Atoi(string(n.written))
	up := []byte(nil)
	if !n.dangles {
		up = s.nodes[i-1].written
	}
	if was := s.element(hl, 2); (s.removed || n.dangles && s.a.strict) && !sameHL(was, up) {
		hl = setElement(hl, d, 2, 0, up)
	}
	if childless {
		hl = setElement(hl, d, 4, 0, []byte("0"))
	}
	return hl
}

// element returns the nth element of a whole segment.
func (s *setCutter) element(raw []byte, n int) []byte {
	d := s.a.u.d
	seg := trimIndent(raw, d)
	return bytes.TrimSpace(nthElement(seg[:lenOfSegment(seg, d)], d, n))
}

// end writes the SE, if anything of the set stays.
func (s *setCutter) end(raw []byte) error {
	s.dropping = false
	for len(s.nodes) > 1 {
		s.endLoop()
	}
	root, d := &s.nodes[0], s.a.u.d
	if !root.out && s.dropped > 0 {
		return nil
	}
	if !root.out {
		s.writeLoop(0, false)
	}
	if s.dropped > 0 {
		raw = setElement(raw, d, 1, 0, strconv.AppendInt(nil, int64(s.written)+1, 10))
	}
	if v := s.a.o.Numbers.ST02; v != "" {
		raw = setElement(raw, d, 2, 0, []byte(v))
	}
	if bytes.IndexByte(raw, d.Segment) < 0 {
		raw = append(append(bytes.Clone(raw), d.Segment), d.Suffix...)
	}
	s.a.c.write(raw)
	return nil
}
