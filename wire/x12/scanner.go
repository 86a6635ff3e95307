package x12

import (
	"bytes"
	"io"
)

// Scanner reads a file of any number of interchanges as Events. It is not safe
// for concurrent use.
type Scanner struct {
	o     Options
	rules *Rules
	in    input
	where place
	any   bool // an interchange has begun
	final error

	seg  segment
	long bool // inside a segment that is longer than MaxSegment

	ic    interchange
	gp    group
	set   setState
	j     judge
	sent  map[string]*numberSet // ISA13 of accepted interchanges, by ISA05-ISA08
	notes noteSet
}

type place uint8

const (
	outside place = iota
	inInterchange
	inGroup
	inSet
)

// NewScanner returns a Scanner that reads from r. It reads ahead of the events it
// returns by at most Options.PartSize, Options.MaxSegment and its buffer.
func NewScanner(r io.Reader, o Options) *Scanner {
	if o.PartSize <= 0 {
		o.PartSize = 8 << 20
	}
	if o.MaxSegment <= 0 {
		o.MaxSegment = 1 << 20
	}
	if o.MaxFaults <= 0 {
		o.MaxFaults = 1000
	}
	if o.Rules == nil && !o.EnvelopeOnly {
		o.Rules = LatestRules()
	}
	return &Scanner{o: o, rules: o.Rules, in: newInput(r), sent: map[string]*numberSet{}}
}

// Next returns the next Event, io.EOF after the last, or an error of the reader,
// which is then returned by every later call too.
func (s *Scanner) Next() (Event, error) {
	if s.final != nil {
		return nil, s.final
	}
	s.in.from = s.in.pos
	ev := s.next()
	switch {
	case s.in.err != nil:
		s.final = s.in.err
		return nil, s.final
	case ev == nil:
		s.final = io.EOF
		return nil, s.final
	}
	return ev, nil
}

func (s *Scanner) next() Event {
	switch s.where {
	case inInterchange:
		return s.nextInInterchange()
	case inGroup:
		return s.nextInGroup()
	case inSet:
		return s.nextInSet()
	}
	return s.nextOutside()
}

const junkPiece = 64 << 10

// nextOutside reads what stands between interchanges, up to the next ISA.
func (s *Scanner) nextOutside() Event {
	in := &s.in
	in.ensure(isaWindow)
	if in.pos == in.end {
		return nil
	}
	off := in.offset()
	if n := s.harmless(); n > 0 {
		in.pos += n
		return &Junk{Raw: in.raw(), Offset: off, Harmless: true}
	}
	ta1 := ""
	if b := in.rest(); len(b) > 0 && len(b) >= 3 && string(b[:3]) == "ISA" || len(b) < 3 && string(b) == "ISA"[:len(b)] {
		h, code := ParseISA(b)
		if code == "" {
			return s.startInterchange(h)
		}
		if len(b) < 4 || !alnum(b[3]) {
			ta1 = code
		}
	}
	whole := s.junk()
	j := &Junk{Raw: in.raw(), Offset: off, TA1: ta1}
	j.Poison = ta1 != "" || whole && !s.any
	return j
}

// harmless returns the length of the blanks, line breaks, Ctrl-Z or byte order
// mark at pos, as far as they are in the window.
func (s *Scanner) harmless() (n int) {
	b := s.in.rest()
	if s.in.offset() == 0 && bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		n = 3
	}
	for n < len(b) && (blank(b[n]) || b[n] == 0x1a) {
		n++
	}
	return n
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// junk moves pos over what is no interchange: to a readable ISA, to the end, or
// over one piece. It reports whether it reached the end of the file.
func (s *Scanner) junk() (atEnd bool) {
	in := &s.in
	at := 1 // of the search, from pos
	for {
		b := in.rest()
		if i := bytes.Index(b[min(at, len(b)):], []byte("ISA")); i >= 0 {
			i += at
			if len(b)-i < isaWindow && in.fill() {
				continue
			}
			if code := s.isaAt(in.rest()[i:]); code {
				in.pos += i
				return false
			}
			at = i + 3
			continue
		}
		at = max(1, len(b)-2)
		if len(b) > junkPiece {
			in.pos += at
			return false
		}
		if !in.fill() {
			in.pos = in.end
			return true
		}
	}
}

// isaAt reports whether a readable ISA begins b.
func (s *Scanner) isaAt(b []byte) bool {
	if len(b) < 4 || alnum(b[3]) || b[3] == ' ' {
		return false
	}
	_, code := ParseISA(b)
	return code == ""
}
