package x12

import (
	"bytes"
)

// Segments iterates over the segments of bytes in memory, without copying. The
// Raw slices joined are the input to the byte. CR and LF after a terminator
// belong to the segment before them; blanks before a segment id, to that
// segment. An empty segment (a doubled terminator) is returned with an empty ID
// and has no position of its own.
type Segments struct {
	b   []byte
	d   Delims
	off int // of the next segment
	at  int // of the current segment
	pos int
	raw []byte
	seg []byte // raw without leading blanks, terminator and suffix
}

// NewSegments returns an iterator over b, which must start at a segment.
func NewSegments(b []byte, d Delims) *Segments { return &Segments{b: b, d: d} }

// Next moves to the next segment and reports whether there is one.
func (s *Segments) Next() bool {
	if s.off >= len(s.b) {
		s.raw, s.seg = nil, nil
		return false
	}
	s.at = s.off
	rest := s.b[s.off:]
	end := bytes.IndexByte(rest, s.d.Segment)
	stop := end + 1
	if end < 0 {
		end, stop = len(rest), len(rest)
	}
	for stop < len(rest) && rest[stop] <= '\r' && isBreak(rest[stop], s.d) {
		stop++
	}
	s.raw, s.seg = rest[:stop:stop], trimIndent(rest[:end:end], s.d)
	s.off += stop
	if len(s.seg) > 0 {
		s.pos++
	}
	return true
}

// ID returns the segment id, such as CLM; empty for an empty segment.
func (s *Segments) ID() string { return idOfSegment(s.seg, s.d) }

// Raw returns the segment with its terminator and what follows that.
func (s *Segments) Raw() []byte { return s.raw }

// Offset returns where the segment starts in the input.
func (s *Segments) Offset() int { return s.at }

// Pos returns the segment's position, from 1 since construction or ResetPos;
// empty segments are not counted.
func (s *Segments) Pos() int { return s.pos }

// ResetPos makes the current segment number 1, which an ST is.
func (s *Segments) ResetPos() { s.pos = 1 }

// Elements returns how many elements follow the segment id.
func (s *Segments) Elements() int {
	return bytes.Count(s.seg, []byte{s.d.Element})
}

// Element returns the nth element after the id, from 1; nil if there is none.
// Line breaks that a hard wrap put inside an element are taken out, the only
// case in which the bytes are copied.
func (s *Segments) Element(n int) []byte { return nthElement(s.seg, s.d, n) }

// Component returns the cth component, from 1, of the nth element; nil if there
// is none. The component of an element that is not composite is the element.
func (s *Segments) Component(n, c int) []byte {
	return nthComponent(s.Element(n), s.d, c)
}

func nthComponent(e []byte, d Delims, c int) []byte {
	if d.Component == 0 { // the ISA declares none that could be one
		if c > 1 {
			return nil
		}
		return e
	}
	for ; c > 1; c-- {
		i := bytes.IndexByte(e, d.Component)
		if i < 0 {
			return nil
		}
		e = e[i+1:]
	}
	if i := bytes.IndexByte(e, d.Component); i >= 0 {
		e = e[:i]
	}
	return e
}

// nthElement returns the nth element of a segment without its terminator; n 0 is
// the segment id.
func nthElement(seg []byte, d Delims, n int) []byte {
	for ; n > 0; n-- {
		i := bytes.IndexByte(seg, d.Element)
		if i < 0 {
			return nil
		}
		seg = seg[i+1:]
	}
	if i := bytes.IndexByte(seg, d.Element); i >= 0 {
		seg = seg[:i]
	}
	return withoutWrap(seg, d)
}

// isBreak reports whether c is a line break that is no delimiter.
func isBreak(c byte, d Delims) bool {
	return (c == '\r' || c == '\n') && !isDelimiter(c, d)
}

func isDelimiter(c byte, d Delims) bool {
	return c == d.Segment || c == d.Element || c == d.Component && d.Component != 0 || c == d.Repetition && d.Repetition != 0
}

// withoutWrap takes out the line breaks of a hard wrap; without any, it returns b.
func withoutWrap(b []byte, d Delims) []byte {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if !isBreak(c, d) {
			out = append(out, c)
		}
	}
	return out
}

// trimIndent takes blanks off the front of a segment: indentation and blank lines
// are outside the standard and carry nothing.
func trimIndent(seg []byte, d Delims) []byte {
	for len(seg) > 0 && (seg[0] == ' ' || seg[0] == '\t' || seg[0] == '\r' || seg[0] == '\n') && !isDelimiter(seg[0], d) {
		seg = seg[1:]
	}
	return seg
}

// idOfSegment returns the id of a segment without leading blanks. The ids that
// occur in every file are not allocated anew.
func idOfSegment(seg []byte, d Delims) string {
	id := nthElement(seg, d, 0)
	if i := bytes.IndexByte(id, d.Segment); i >= 0 {
		id = id[:i]
	}
	switch string(id) {
	case "ISA":
		return "ISA"
	case "GS":
		return "GS"
	case "ST":
		return "ST"
	case "SE":
		return "SE"
	case "GE":
		return "GE"
	case "IEA":
		return "IEA"
	case "HL":
		return "HL"
	case "CLM":
		return "CLM"
	case "BHT":
		return "BHT"
	case "NM1":
		return "NM1"
	case "REF":
		return "REF"
	case "DTP":
		return "DTP"
	}
	if len(id) > 3 {
		return "?" // no segment id is longer: this is data out of place
	}
	return string(id)
}
