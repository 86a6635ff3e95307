package x12

import (
	"bytes"
	"strconv"
	"strings"

	"claimdlq"
)

// interchange is what is known of the interchange being read.
type interchange struct {
	delims Delims
	lane   string // ISA05-ISA08, the scope of ISA13
	isa13  []byte
	date   int    // ISA09 as CCYYMMDD; 0 if it is no date
	note   string // TA105 that its header deserves
	groups int
	ta1s   int
	bad    bool // content that does not belong where it stands
	gs06   numberSet
}

// group is what is known of the functional group being read.
type group struct {
	gs01, gs08 string
	gs06       []byte
	ak905      []string
	bad        bool // its GS is wrong in a way that AK905 has no code for
	received   int
	accepted   int
	st02       numberSet
}

func (s *Scanner) startInterchange(h Header) Event {
	in := &s.in
	off := in.offset()
	in.ensure(h.Len)
	in.pos += min(h.Len, in.end-in.pos)
	s.where, s.any, s.long, s.notes = inInterchange, true, false, 0
	gs06 := s.ic.gs06
	gs06.reset()
	s.ic = interchange{delims: h.Delims, lane: h.Envelope.Lane(), isa13: []byte(h.ISA13), note: h.Note, gs06: gs06}
	if d := h.Envelope.Date; len(d) == 6 && allDigits([]byte(d)) {
		n, _ := digits([]byte(d))
		s.ic.date = 20000000 + int(n)
	}
	if h.ZeroNumber {
		s.notes.add(noteZeroNumber)
	}
	if h.LetterRepetition {
		s.notes.add(noteLetterRepetition)
	}
	if h.Wrapped {
		s.notes.add(noteWrapped)
	}
	if seen := s.sent[s.ic.lane]; s.ic.note == "" && seen != nil && seen.contains(s.ic.isa13) {
		s.ic.note = "025"
	}
	return &InterchangeStart{
		Raw: in.raw(), Offset: off, Delims: h.Delims, Envelope: h.Envelope,
		ISA13: h.ISA13, Number: h.Number, AckWanted: h.AckWanted,
	}
}

func (s *Scanner) nextInInterchange() Event {
	switch s.segmentAt() {
	case foundEnd:
		return s.endInterchange("023")
	case foundFull:
		return s.loose()
	}
	switch {
	case s.isID("GS"):
		return s.startGroup()
	case s.isID("IEA"):
		return s.trailer()
	case s.isISA():
		return s.endInterchange("023")
	case s.isID("TA1"):
		s.ic.ta1s++
		return s.ta1()
	}
	s.ic.bad = true
	return s.loose()
}

// loose hands out the segment, or what is left of one, as it is.
func (s *Scanner) loose() Event {
	if s.in.pos == s.in.from {
		s.take()
	}
	return &Loose{Raw: s.in.raw(), ID: segmentID(s.in.raw(), s.ic.delims.Element)}
}

// segmentID returns the id that begins b if it looks like one.
func segmentID(b []byte, sep byte) string {
	i := bytes.IndexByte(b[:min(len(b), 4)], sep)
	if i < 2 {
		return ""
	}
	return safeID(b[:i])
}

// unreadableID stands for a segment id that may not be shown.
const unreadableID = "???"

// safeID returns the id if it is two or three capitals or digits, else unreadableID:
// a segment that is none may begin with anything, a name included.
func safeID(b []byte) string {
	if len(b) < 2 || len(b) > 3 {
		return unreadableID
	}
	for i, c := range b {
		if (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return unreadableID
		}
	}
	return string(b)
}

func (s *Scanner) ta1() Event {
	parts := bytes.Split(unwrapped(s.bytes()), []byte{s.ic.delims.Element})
	l := &Loose{ID: "TA1", Elements: make([]string, 0, len(parts)-1)}
	for _, p := range parts[1:] {
		l.Elements = append(l.Elements, string(p))
	}
	if len(l.Elements) > 0 && len(l.Elements[0]) < 9 && allDigits(parts[1]) {
		s.notes.add(noteTA1Unpadded)
	}
	s.take()
	l.Raw = s.in.raw()
	return l
}

// trailer reads an IEA.
func (s *Scanner) trailer() Event {
	n, ok := digits(s.field(1))
	padded := ok && len(s.field(1)) > 1 && s.field(1)[0] == '0'
	number := s.field(2)
	note := ""
	switch {
	case !sameNumber(number, s.ic.isa13):
		note = "001"
		if s.seg.open {
			note = "023" // cut off inside its last segment
		}
	case ok && s.ic.groups == 0 && s.ic.ta1s > 0 && n <= 1:
		if n == 1 {
			s.notes.add(noteTA1Counted)
		}
	case s.ic.bad:
		note = "024"
	case !ok || int(n) != s.ic.groups:
		note = "021"
	}
	if note == "" && padded {
		s.notes.add(notePaddedCount)
	}
	if note == "" && !bytes.Equal(number, s.ic.isa13) {
		s.notes.add(notePaddedNumber)
	}
	if note == "" && s.fields() > 2 && len(bytes.Join([][]byte{s.field(3), s.field(4)}, nil)) > 0 {
		note = "022"
	}
	if note == "" && s.seg.open {
		s.notes.add(noteLastTerminator)
	}
	s.take()
	return s.endInterchange(note)
}

// sameNumber compares control numbers that are numeric: leading zeros do not
// count (X12 RFI 1750).
func sameNumber(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	n, ok := digits(a)
	m, ok2 := digits(b)
	return ok && ok2 && n == m
}

// endInterchange closes the interchange. note is what its end deserves; what its
// header deserves comes first.
func (s *Scanner) endInterchange(note string) Event {
	s.where, s.long = outside, false
	if s.ic.note != "" {
		note = s.ic.note
	}
	if note == "" && (s.ic.bad || s.ic.groups == 0 && s.ic.ta1s == 0) {
		note = "024"
	}
	e := &InterchangeEnd{Raw: s.in.raw(), TA1: "A", Note: "000", Notes: s.notes.names()}
	if note != "" {
		e.TA1, e.Note = "R", note
		return e
	}
	seen := s.sent[s.ic.lane]
	if seen == nil {
		seen = &numberSet{}
		s.sent[s.ic.lane] = seen
	}
	seen.add(s.ic.isa13)
	return e
}

func (s *Scanner) startGroup() Event {
	str := func(n int) string { return string(s.field(n)) }
	g := &GroupStart{
		GS01: str(1), Sender: strings.TrimRight(str(2), " "), Receiver: strings.TrimRight(str(3), " "),
		Date: str(4), Time: str(5), Control: str(6), Version: str(8),
	}
	fields := s.fields()
	st02 := s.gp.st02
	st02.reset()
	s.gp = group{gs01: g.GS01, gs08: g.Version, gs06: []byte(g.Control), st02: st02}
	s.ic.groups++
	s.where = inGroup
	if !supportedGroup(g.GS01) {
		s.gp.ak905 = append(s.gp.ak905, "1")
	} else if !s.supportedVersion(g.GS01, g.Version) {
		s.gp.ak905 = append(s.gp.ak905, "2")
	}
	n, ok := digits(s.gp.gs06)
	switch {
	case !ok || n == 0 || len(s.gp.gs06) > 9:
		s.gp.ak905 = append(s.gp.ak905, "6")
	case s.ic.gs06.add([]byte(strconv.FormatInt(n, 10))):
		s.gp.ak905 = append(s.gp.ak905, "19")
	}
	if ok && len(s.gp.gs06) <= 9 {
		g.Number = uint32(n)
	}
	s.gp.bad = fields != 8 || !goodApplication(g.Sender) || !goodApplication(g.Receiver) ||
		!goodDT([]byte(g.Date)) || !goodTM([]byte(g.Time)) || !oneOf(str(7), "X", "T")
	if s.gp.bad {
		s.ic.bad = true
	}
	s.take()
	g.Raw = s.in.raw()
	return g
}

func goodApplication(id string) bool {
	if len(id) < 2 || len(id) > 15 {
		return false
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

func supportedGroup(gs01 string) bool { return oneOf(gs01, "HC", "FA", "HN") }

func (s *Scanner) supportedVersion(gs01, gs08 string) bool {
	switch gs01 {
	case "FA":
		return strings.HasPrefix(gs08, "005010X231")
	case "HN":
		return strings.HasPrefix(gs08, "005010X214")
	}
	return knownGuide(s.rules, gs08)
}

// knownGuide reports whether ref names an 837 guide; without rules, any of the
// three names will do.
func knownGuide(r *Rules, ref string) bool {
	if r == nil {
		return formatOf(ref) != claimdlq.FormatX12
	}
	return r.guideFor(ref) != nil
}

// formatOf returns the format that an implementation reference of an 837 names.
func formatOf(ref string) claimdlq.Format {
	switch {
	case len(ref) != 10 && len(ref) != 12:
	case strings.HasPrefix(ref, "005010X222"):
		return claimdlq.Format837P
	case strings.HasPrefix(ref, "005010X223"):
		return claimdlq.Format837I
	case strings.HasPrefix(ref, "005010X224"):
		return claimdlq.Format837D
	}
	return claimdlq.FormatX12
}

func (s *Scanner) nextInGroup() Event {
	switch s.segmentAt() {
	case foundEnd:
		return s.endGroup(nil, true)
	case foundFull:
		return s.loose()
	}
	switch {
	case s.isID("ST"):
		s.startSet()
		return s.nextInSet()
	case s.isID("GE"):
		ge01, ge02 := s.field(1), s.field(2)
		e := s.endGroup(ge01, false)
		if !sameNumber(ge02, s.gp.gs06) {
			e.reject("4")
		} else if !bytes.Equal(ge02, s.gp.gs06) {
			s.notes.add(notePaddedNumber)
		}
		s.take()
		e.Raw = s.in.raw()
		return e
	case s.isID("GS"), s.isID("IEA"), s.isISA():
		return s.endGroup(nil, true)
	}
	s.ic.bad = true
	return s.loose()
}

// endGroup closes the group; missing says that it has no GE.
func (s *Scanner) endGroup(ge01 []byte, missing bool) *GroupEnd {
	s.where = inInterchange
	e := &GroupEnd{Included: -1, Received: s.gp.received, Accepted: s.gp.accepted, Raw: s.in.raw()}
	n, ok := digits(ge01)
	if ok {
		e.Included = int(n)
	}
	switch {
	case s.gp.accepted == s.gp.received:
		e.AK9 = "A"
	case s.gp.accepted == 0:
		e.AK9 = "R"
	default:
		e.AK9 = "P"
	}
	if s.gp.bad {
		e.AK9, e.Accepted = "R", 0
	}
	for _, code := range s.gp.ak905 {
		e.reject(code)
	}
	switch {
	case missing:
		e.reject("3")
	case !ok || int(n) != s.gp.received || n == 0:
		e.reject("5")
	case len(ge01) > 1 && ge01[0] == '0':
		s.notes.add(notePaddedCount)
	}
	return e
}

// reject turns the group down; AK9 has room for five codes.
func (e *GroupEnd) reject(code string) {
	e.AK9, e.Accepted = "R", 0
	if len(e.AK905) < 5 {
		e.AK905 = append(e.AK905, code)
	}
}
