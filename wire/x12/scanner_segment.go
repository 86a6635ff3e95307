package x12

import "bytes"

// segment is the segment at pos. Lengths count from pos.
type segment struct {
	len  int // without the terminator
	all  int // with the terminator and the line break after it
	open bool
}

type found uint8

const (
	foundSegment found = iota
	foundEnd           // of the file
	foundFull          // the event must be handed out first: it is as large as it may be
)

// segmentAt finds the segment at pos. It does not move pos past it: take does.
func (s *Scanner) segmentAt() found {
	in := &s.in
	term := s.ic.delims.Segment
	for {
		if in.pos-in.from >= s.o.PartSize {
			return foundFull
		}
		if s.long {
			if f := s.skipLong(term); f != foundSegment {
				return f
			}
			continue
		}
		n := bytes.IndexByte(in.b[in.pos:in.end], term)
		if n < 0 {
			if n = s.seek(term); n < 0 {
				return foundEnd
			}
			if n >= s.o.MaxSegment {
				s.seg = segment{len: s.o.MaxSegment, all: s.o.MaxSegment}
				s.long = true
				return foundSegment
			}
		}
		if n > 0 && !blank(in.b[in.pos]) {
			s.seg.len, s.seg.open = n, in.pos+n == in.end
			s.breakAfter()
			if n >= isaLen {
				s.hiddenISA()
			}
			return foundSegment
		}
		if n > 0 && s.skipBlanks() {
			continue
		}
		s.notes.add(noteEmptySegment)
		in.pos++
	}
}

// seek reads on until a terminator, MaxSegment bytes or the end. It returns the
// length of the segment, or -1 where the file ends at pos.
func (s *Scanner) seek(term byte) int {
	in := &s.in
	for {
		have := in.end - in.pos
		if have >= s.o.MaxSegment {
			return have
		}
		if !in.fill() {
			if have == 0 {
				return -1
			}
			return have
		}
		if n := bytes.IndexByte(in.b[in.pos+have:in.end], term); n >= 0 {
			return have + n
		}
	}
}

// skipLong moves pos to the end of an overlong segment, as far as it can.
func (s *Scanner) skipLong(term byte) found {
	in := &s.in
	n := bytes.IndexByte(in.b[in.pos:in.end], term)
	if n >= 0 {
		s.long = false
		in.pos += n + 1
		return foundSegment
	}
	in.pos = in.end
	if in.end-in.from >= s.o.PartSize {
		return foundFull
	}
	if !in.fill() {
		s.long = false
		return foundEnd
	}
	return foundSegment
}

// skipBlanks moves pos over blanks before a segment.
func (s *Scanner) skipBlanks() bool {
	in := &s.in
	n := 0
	for in.pos+n < in.end && blank(in.b[in.pos+n]) && in.b[in.pos+n] != s.ic.delims.Segment {
		n++
	}
	if n > 0 {
		s.notes.add(noteIndented)
		in.pos += n
	}
	return n > 0
}

// breakAfter finds the line break after the terminator. It must be what followed
// the ISA; anything else is tolerated and noted.
func (s *Scanner) breakAfter() {
	in := &s.in
	if s.seg.open {
		s.seg.all = s.seg.len
		return
	}
	s.seg.all = s.seg.len + 1
	p := in.pos + s.seg.all
	sfx := s.ic.delims.Suffix
	if p+2 < in.end {
		switch c := in.b[p]; {
		case c > ' ' && sfx == "":
			return
		case c == '\n' && sfx == "\n" && in.b[p+1] > ' ':
			s.seg.all++
			return
		case c == '\r' && sfx == "\r\n" && in.b[p+1] == '\n' && in.b[p+2] > ' ':
			s.seg.all += 2
			return
		}
	}
	s.slowBreak(sfx)
}

const longestBreak = 4096

func (s *Scanner) slowBreak(sfx string) {
	in := &s.in
	n := 0
	for n < longestBreak {
		if in.pos+s.seg.all+n == in.end && !in.fill() {
			break
		}
		c := in.b[in.pos+s.seg.all+n]
		if !blank(c) || c == s.ic.delims.Segment {
			break
		}
		n++
	}
	at := in.pos + s.seg.all
	run := in.b[at : at+n]
	if s.isID("IEA") {
		// What follows the last segment is outside the interchange.
		if bytes.HasPrefix(run, []byte(sfx)) {
			s.seg.all += len(sfx)
		}
		return
	}
	switch {
	case string(run) == sfx, at+n == in.end && in.eof && n == 0:
	case bytes.ContainsAny(run, " \t"):
		s.notes.add(noteIndented)
	default:
		s.notes.add(noteLineBreaks)
	}
	s.seg.all += n
}

// hiddenISA ends the segment where an interchange begins inside it: the one
// before was cut off. Sixteen separators at their places are no accident.
func (s *Scanner) hiddenISA() {
	b := s.in.b[s.in.pos : s.in.pos+s.seg.len]
	for i := 1; ; {
		k := bytes.Index(b[i:], []byte("ISA"))
		if k < 0 || i+k+isaLen-1 > len(b) {
			return
		}
		i += k
		isa := s.in.b[s.in.pos+i : s.in.end]
		if !alnum(isa[3]) && fixedShape(isa[:isaLen-1], isa[3]) && s.isaAt(isa) {
			s.seg = segment{len: i, all: i, open: true}
			return
		}
		i += 3
	}
}

// bytes returns the segment without its terminator.
func (s *Scanner) bytes() []byte { return s.in.b[s.in.pos : s.in.pos+s.seg.len] }

// take moves pos past the segment.
func (s *Scanner) take() { s.in.pos += s.seg.all }

// isID reports whether the segment has the id, a hard wrap inside it or not.
func (s *Scanner) isID(id string) bool {
	b := s.bytes()
	if head := b[:min(len(b), 4)]; bytes.IndexByte(head, '\n') >= 0 || bytes.IndexByte(head, '\r') >= 0 {
		b = unwrapped(b[:min(len(b), 16)])
	}
	if len(b) < len(id) || string(b[:len(id)]) != id {
		return false
	}
	return len(b) == len(id) || b[len(id)] == s.ic.delims.Element
}

// isISA reports whether a new interchange begins at pos.
func (s *Scanner) isISA() bool {
	if b := s.bytes(); len(b) < 3 || string(b[:3]) != "ISA" {
		return false
	}
	s.in.ensure(isaWindow)
	return s.isaAt(s.in.rest())
}

// field returns element n of the segment without line breaks inside; nil if it
// has none.
func (s *Scanner) field(n int) []byte {
	return elementOf(s.bytes(), s.ic.delims.Element, n)
}

func elementOf(b []byte, sep byte, n int) []byte {
	for ; n > 0; n-- {
		i := bytes.IndexByte(b, sep)
		if i < 0 {
			return nil
		}
		b = b[i+1:]
	}
	if i := bytes.IndexByte(b, sep); i >= 0 {
		b = b[:i]
	}
	return unwrapped(b)
}

// unwrapped returns b without the line breaks of a hard wrap.
func unwrapped(b []byte) []byte {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c != '\n' && c != '\r' {
			out = append(out, c)
		}
	}
	return out
}

// fields returns how many elements the segment has.
func (s *Scanner) fields() int { return bytes.Count(s.bytes(), []byte{s.ic.delims.Element}) }
