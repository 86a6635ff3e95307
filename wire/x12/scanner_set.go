package x12

import (
	"bytes"
	"encoding/binary"

	"claimdlq"
)

// setState is the transaction set being read.
type setState struct {
	off      int64
	size     int64 // handed out in parts so far
	segments int
	st01     string
	st02     string
	st03     string
	format   claimdlq.Format
	codes    []string // IK502 that its header deserves
	judged   bool

	bht03 []byte
	bht04 string

	claims int // counted without a judge
	cents  int64
	last   Claim // the claim being counted without a judge
	clm01  []byte
	open   bool
}

// startSet looks at the ST, which stands at pos, without taking it.
func (s *Scanner) startSet() {
	bht := s.set.bht03[:0]
	clm := s.set.clm01[:0]
	s.set = setState{off: s.in.offset(), bht03: bht, clm01: clm}
	t := &s.set
	st02 := s.field(2)
	t.st01, t.st02, t.st03 = string(s.field(1)), string(st02), string(s.field(3))
	s.where = inSet
	s.gp.received++
	code := func(c string) { t.codes = append(t.codes, c) }
	switch {
	case t.st01 == expectedSet(s.gp.gs01):
	case len(t.st01) != 3 || !allDigits([]byte(t.st01)) || !knownSet(t.st01):
		code("6")
		code("1")
	case supportedGroup(s.gp.gs01):
		code("18")
		code("1")
	}
	if len(st02) < 4 || len(st02) > 9 || !printableAll(st02) {
		code("7")
	} else if s.gp.st02.add(st02) {
		code("23")
	}
	t.format = claimdlq.FormatX12
	switch t.st01 {
	case "999", "997", "277", "824":
		t.format = claimdlq.FormatAck
	case "837":
		ref := t.st03
		known := knownGuide(s.rules, s.gp.gs08)
		switch {
		case ref == "" && known:
			code("19")
			ref = s.gp.gs08
		case known && ref != s.gp.gs08:
			code("19")
		case !knownGuide(s.rules, ref):
			code("I6")
		}
		t.format = formatOf(ref)
		if s.rules != nil && !s.o.EnvelopeOnly && (!known || ref == s.gp.gs08) {
			if g := s.rules.guideFor(ref); g != nil {
				t.judged = true
				s.j.start(s, g)
			}
		}
	}
}

// expectedSet returns the transaction set that belongs to a functional group.
func expectedSet(gs01 string) string {
	switch gs01 {
	case "HC":
		return "837"
	case "FA":
		return "999"
	case "HN":
		return "277"
	}
	return ""
}

// knownSet reports whether X12 has such a health care or control transaction set.
func knownSet(st01 string) bool {
	return oneOf(st01, "837", "835", "834", "820", "270", "271", "275", "276", "277", "278", "824", "997", "999")
}

func printableAll(b []byte) bool {
	for _, c := range b {
		if !printable(c) {
			return false
		}
	}
	return true
}

// nextInSet reads on in a set: to its end, or to the next part of a large one.
func (s *Scanner) nextInSet() Event {
	for {
		if s.set.segments >= 2 && !s.long {
			s.ordinary()
		}
		switch s.segmentAt() {
		case foundEnd:
			return s.endSet("2")
		case foundFull:
			p := &SetPart{Raw: s.in.raw()}
			s.set.size += int64(len(p.Raw))
			return p
		}
		if s.boundary() {
			if s.isID("SE") {
				s.set.segments++
				return s.endSet(s.setTrailer())
			}
			if s.set.segments > 0 {
				return s.endSet("2")
			}
		}
		s.set.segments++
		if s.set.judged {
			s.j.segment(s.bytes(), s.in.offset())
		} else {
			s.countOnly()
		}
		s.take()
	}
}

// ordinary takes the segments that stand whole in the window and are followed by
// the line break that all have: nearly all do. It stops before anything else, and
// before what may end the set.
func (s *Scanner) ordinary() {
	in := &s.in
	t := &s.set
	b := in.b[:in.end]
	pos, segments := in.pos, t.segments
	limit := min(in.from+s.o.PartSize, in.end-slack)
	d := &s.ic.delims
	term, broken := d.Segment, len(d.Suffix)
	var br0, br1 byte
	if broken > 0 {
		br0, br1 = d.Suffix[0], d.Suffix[broken-1]
	}
	ends := boundaryIDs(d.Element)
	clm := uint32('C') | 'L'<<8 | 'M'<<16 | uint32(d.Element)<<24
	if t.st01 != "837" {
		clm = 0
	}
	for pos < limit {
		n := bytes.IndexByte(b[pos:], term)
		next := pos + n + 1 + broken
		// A bare id of three letters (CLM~) is left to the careful way.
		if n < 4 || n >= isaLen || next >= len(b) || b[next] <= ' ' {
			break
		}
		if broken > 0 && (b[pos+n+1] != br0 || b[next-1] != br1) {
			break
		}
		id := binary.LittleEndian.Uint32(b[pos:])
		if wrapped(id) {
			break
		}
		if c := byte(id); c == 'S' || c == 'G' || c == 'I' || c <= ' ' {
			if w := id & 0xffffff; w == ends[0] || w == ends[1] || w == ends[2] || w == ends[3] || w == ends[4] || w == ends[5] || c <= ' ' {
				break
			}
		}
		segments++
		switch {
		case t.judged:
			s.j.segment(b[pos:pos+n], in.base+int64(pos))
		case id == clm:
			s.countClaim(b[pos : pos+n])
		}
		pos = next
	}
	in.pos, t.segments = pos, segments
}

// wrapped reports whether one of the four bytes of w is a line break.
func wrapped(w uint32) bool {
	const lows, highs = 0x01010101, 0x80808080
	x, y := w^'\n'*lows, w^'\r'*lows
	return ((x-lows)&^x|(y-lows)&^y)&highs != 0
}

// boundaryIDs returns how the segments begin that may end a set.
func boundaryIDs(sep byte) [6]uint32 {
	two := func(a, b byte) uint32 { return uint32(a) | uint32(b)<<8 | uint32(sep)<<16 }
	return [6]uint32{
		two('S', 'E'), two('S', 'T'), two('G', 'S'), two('G', 'E'),
		'I' | 'S'<<8 | 'A'<<16, 'I' | 'E'<<8 | 'A'<<16,
	}
}

// boundary reports whether the segment ends the set or cannot be inside one.
func (s *Scanner) boundary() bool {
	switch s.in.b[s.in.pos] { // a segment has at least a byte
	case 'S':
		return s.isID("SE") || s.isID("ST")
	case 'G':
		return s.isID("GE") || s.isID("GS")
	case 'I':
		return s.isID("IEA") || s.isISA()
	}
	return false
}

// setTrailer judges the SE and takes it. It returns the IK502 code it deserves.
func (s *Scanner) setTrailer() (code string) {
	n, ok := digits(s.field(1))
	switch {
	case string(s.field(2)) != s.set.st02:
		code = "3"
	case !ok || int(n) != s.set.segments:
		code = "4"
	case len(s.field(1)) > 1 && s.field(1)[0] == '0':
		s.notes.add(notePaddedCount)
	}
	if s.set.judged {
		s.j.segment(s.bytes(), s.in.offset())
	}
	s.take()
	return code
}

// endSet closes the set. code is the IK502 code of its end, if any.
func (s *Scanner) endSet(code string) Event {
	s.where = inGroup
	t := &s.set
	e := &Set{
		Raw: s.in.raw(), Offset: t.off, Size: t.size + int64(s.in.pos-s.in.from),
		ST01: t.st01, ST02: t.st02, ST03: t.st03, Format: t.format, Segments: t.segments,
	}
	codes := t.codes
	if code != "" {
		codes = append(codes, code)
	}
	e.Whole = len(codes) > 0
	wrong := false
	if t.judged {
		wrong = s.j.finish(e, code == "2")
	} else {
		s.endCounted()
		e.Claims, e.AmountCents = t.claims, t.cents
	}
	e.BHT03, e.BHT04 = t.bht03, t.bht04
	if wrong {
		codes = append(codes, "5")
	}
	e.IK5 = "A"
	if len(codes) > 0 {
		e.IK5, e.IK502 = "R", codes[:min(len(codes), 5)]
	} else {
		s.gp.accepted++
	}
	if e.Whole {
		e.BadClaims = nil
	}
	return e
}

// countOnly does for a segment what is done without a guide: the batch number and
// the claims.
func (s *Scanner) countOnly() {
	switch {
	case s.set.st01 != "837":
	case s.isID("CLM"):
		s.countClaim(unwrapped(s.bytes()))
	case s.set.segments == 2 && s.isID("BHT"):
		s.set.bht03 = append(s.set.bht03[:0], s.field(3)...)
		s.set.bht04 = string(s.field(4))
	}
}

// countClaim reads CLM01, CLM02 and CLM05-3.
func (s *Scanner) countClaim(b []byte) {
	s.endCounted()
	t := &s.set
	t.claims++
	t.open = true
	sep := s.ic.delims.Element
	rest := b[min(4, len(b)):]
	var el [6][]byte
	for i := 1; i <= 5; i++ {
		k := bytes.IndexByte(rest, sep)
		if k < 0 {
			el[i] = rest
			break
		}
		el[i], rest = rest[:k], rest[k+1:]
	}
	t.clm01 = append(t.clm01[:0], unwrapped(el[1])...)
	c := Claim{Ordinal: t.claims, CLM01: t.clm01}
	c.AmountCents, _ = cents(unwrapped(el[2]))
	if sub := elementOf(el[5], s.ic.delims.Component, 2); len(sub) > 0 && s.ic.delims.Component != 0 {
		c.Frequency = sub[0]
	}
	t.cents += c.AmountCents
	t.last = c
}

func (s *Scanner) endCounted() {
	if s.set.open && s.o.OnClaim != nil {
		s.o.OnClaim(&s.set.last)
	}
	s.set.open = false
}

// cents returns a decimal amount in exact cents. It is not ok where b is no
// decimal number, has parts of a cent, or is beyond eighteen digits.
func cents(b []byte) (v int64, ok bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	frac := -1
	any := false
	for _, c := range b {
		switch {
		case c == '.' && frac < 0:
			frac = 0
		case c < '0' || c > '9':
			return 0, false
		case frac >= 2:
			if c != '0' {
				return 0, false
			}
			any = true
		default:
			if v > (1<<62)/10-10 {
				return 0, false
			}
			v = v*10 + int64(c-'0')
			any = true
			if frac >= 0 {
				frac++
			}
		}
	}
	for i := max(frac, 0); i < 2; i++ {
		if v > (1<<62)/10 {
			return 0, false
		}
		v *= 10
	}
	if neg {
		v = -v
	}
	return v, any
}
