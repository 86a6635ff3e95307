package ncpdp

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Parse cuts a message into its parts. It copies nothing: b must not change while
// the Message is used. A message that cannot be cut has a Fault and whatever
// could be read.
func Parse(b []byte) *Message {
	m := &Message{
		fields:   make([]Field, 0, 64),
		segments: make([]Segment, 0, 12),
	}
	m.Reset(b)
	return m
}

// classes of bytes, for the scan of the body.
const (
	plain = iota
	control
	separator
)

var classOf = func() (t [256]uint8) {
	for c := range t {
		if c < 0x20 || c > 0x7e {
			t[c] = control
		}
	}
	t[fieldSeparator], t[groupSeparator], t[segmentSeparator] = separator, separator, separator
	return t
}()

// Reset parses b in place of what the message held.
func (m *Message) Reset(b []byte) {
	*m = Message{raw: b, end: len(b), fields: m.fields[:0], segments: m.segments[:0], notes: m.notes[:0]}
	if len(b) > MaxMessage {
		m.raw, m.end = b[:0], 0
		m.fail(Fault{Code: CodeTooLarge})
		return
	}
	for m.start < m.end && b[m.start] == stx {
		m.start++
	}
	m.body = m.start
	if m.start == len(b) {
		m.fail(Fault{Code: CodeEmpty})
		return
	}
	m.kind, m.version = sense(b[m.start:])
	m.frame()
	switch {
	case m.kind == KindUnknown:
		m.fail(Fault{Code: CodeVersion, Offset: m.start, Hint: hintFor(b)})
	case m.version == VersionF6:
		m.body = m.end
	case m.header():
		m.cut()
	}
}

// frame finds the ETX. More of them, or a payer's own mark after it, is kept and
// said; a second message after it would be lost, and is a fault.
func (m *Message) frame() {
	rest := m.raw[m.start:]
	i := bytes.IndexByte(rest, etx)
	if i < 0 {
		return
	}
	m.end = m.start + i
	at := m.end
	for at < len(m.raw) && m.raw[at] == etx {
		at++
	}
	switch {
	case at == len(m.raw):
	case bytes.ContainsAny(m.raw[at:], "\x02\x1c\x1d\x1e"):
		m.fail(Fault{Code: CodeStray, Offset: at})
	default:
		m.notes = append(m.notes, Fault{Code: CodeTrailing, Severity: Note, Offset: at})
	}
}

// header judges the fixed part as far as it is needed to go on.
func (m *Message) header() bool {
	size := RequestHeader
	if m.kind == KindResponse {
		size = ResponseHeader
	}
	got := separatorIn(m.raw[m.start:min(m.end, m.start+size)])
	switch {
	case got >= 0:
		m.fail(Fault{Code: CodeHeaderShort, Offset: m.start + got, Hint: HintUnpadded})
		return false
	case m.end-m.start < size:
		m.fail(Fault{Code: CodeHeaderShort, Offset: m.end, Hint: hintFor(m.raw[m.start:m.end])})
		return false
	}
	m.body = m.start + size
	code, at := m.TransactionCode(), 8
	if m.kind == KindResponse {
		at = 2
	}
	if !KnownTransaction(code) {
		m.fail(Fault{Code: CodeTransactionCode, Offset: m.start + at, Field: "A3", Hint: hintFor(code)})
		return false
	}
	return m.separated(size)
}

// separated looks at the start of the body. A response may end with its header.
func (m *Message) separated(size int) bool {
	body := m.raw[m.body:m.end]
	if m.kind == KindResponse && len(body) == 0 {
		return true
	}
	if bytes.IndexByte(body, segmentSeparator) < 0 {
		m.fail(Fault{Code: CodeNoSeparators, Offset: m.start + size, Hint: hintFor(body)})
		return false
	}
	return true
}

// separatorIn returns where the first separator is; -1 if there is none.
func separatorIn(b []byte) int {
	for i, c := range b {
		if classOf[c] == separator {
			return i
		}
	}
	return -1
}

// cut finds the segments and fields of the body.
func (m *Message) cut() {
	b := m.raw[:m.end]
	open := false // a segment separator was seen, and its AM not yet
	cur := -1     // the current segment
	fields := m.fields
	for i := m.body; i < len(b); {
		j := i + 1
		if classOf[b[i]] != separator {
			m.fail(m.here(Fault{Code: CodeStray, Offset: i}, cur))
			j = i
		}
		for ; ; j++ {
			j = printableEnd(b, j)
			if j == len(b) || classOf[b[j]] == separator {
				break
			}
			m.failControl(j, cur)
		}
		switch b[i] {
		case fieldSeparator:
			if cur >= 0 && j-i >= 3 && (b[i+1] != 'A' || b[i+2] != 'M') {
				// Written in place: a Field made first and copied then costs as much as
				// finding it.
				if len(fields) == cap(fields) {
					fields = slices.Grow(fields, 1)
				}
				fields = fields[:len(fields)+1]
				f := &fields[len(fields)-1]
				f.ID[0], f.ID[1], f.Start, f.End = b[i+1], b[i+2], int32(i), int32(j)
				break
			}
			m.fields = fields
			cur = m.field(Field{Start: int32(i), End: int32(j)}, cur, open)
			fields, open = m.fields, false
		case segmentSeparator, groupSeparator:
			m.fields = fields
			m.turn(b[i], i, j, cur, open)
			cur, open = -1, b[i] == segmentSeparator
		}
		i = j
	}
	m.fields = fields
	if open {
		m.fail(Fault{Code: CodeSegmentID, Offset: m.end, Transaction: m.groups})
	}
	m.close(cur, m.end)
}

// printableEnd returns where the first byte from j on is that is not printable
// ASCII, eight bytes at a time: subtracting 0x20 from a byte below it, and adding 1
// to one above 0x7e, sets its high bit. What such a byte borrows or carries only
// touches bytes behind it.
func printableEnd(b []byte, j int) int {
	const ones, spaces, highs = 0x0101010101010101, 0x2020202020202020, 0x8080808080808080
	for j+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[j:])
		if hit := ((x - spaces) | (x + ones)) & highs; hit != 0 {
			return j + bits.TrailingZeros64(hit)>>3
		}
		j += 8
	}
	for j < len(b) && b[j]-0x20 <= 0x7e-0x20 {
		j++
	}
	return j
}

// turn ends the current segment, at a separator that nothing may follow directly.
func (m *Message) turn(c byte, i, j, cur int, open bool) {
	if open {
		m.fail(Fault{Code: CodeSegmentID, Offset: i, Transaction: m.groups})
	}
	m.close(cur, i)
	if c == groupSeparator {
		if m.groups++; m.groups > MaxTransactions {
			m.fail(Fault{Code: CodeTransactionCount, Offset: i, Transaction: m.groups})
		}
	}
	if j > i+1 {
		m.fail(Fault{Code: CodeStray, Offset: i + 1, Transaction: m.groups})
	}
}

// field adds a field that begins a segment, or should not be there, and returns
// the current segment.
func (m *Message) field(f Field, cur int, open bool) int {
	i, n := int(f.Start), int(f.End-f.Start)
	if n >= 3 {
		f.ID = ID{m.raw[i+1], m.raw[i+2]}
	}
	switch {
	case cur < 0:
		s := Segment{Transaction: uint8(min(m.groups, 255)), Start: f.Start, First: int32(len(m.fields))}
		if open {
			s.Start-- // at its separator
		}
		if open && f.ID == idAM && n == 5 {
			s.ID = ID{m.raw[i+3], m.raw[i+4]}
		} else {
			m.fail(Fault{Code: CodeSegmentID, Offset: i, Transaction: m.groups})
			m.fields = append(m.fields, f)
		}
		m.segments = append(m.segments, s)
		return len(m.segments) - 1
	case f.ID == idAM:
		m.fail(m.here(Fault{Code: CodeAMInside, Offset: i, Field: "AM"}, cur))
	default:
		m.fail(m.here(Fault{Code: CodeShortField, Offset: i}, cur))
	}
	m.fields = append(m.fields, f)
	return cur
}

// failControl looks for the cause once, not for every byte.
func (m *Message) failControl(at, cur int) {
	if !m.faulted {
		m.fail(m.here(Fault{Code: CodeControlChar, Offset: at, Hint: hintFor(m.raw[m.body:m.end])}, cur))
	}
}

func (m *Message) close(cur, at int) {
	if cur >= 0 {
		m.segments[cur].End, m.segments[cur].Last = int32(at), int32(len(m.fields))
	}
}

// here places a fault in the current segment.
func (m *Message) here(f Fault, cur int) Fault {
	f.Transaction = m.groups
	if cur >= 0 {
		f.Segment = m.segments[cur].String()
	}
	return f
}

// fail keeps the first fault.
func (m *Message) fail(f Fault) {
	if !m.faulted {
		m.fault, m.faulted = f, true
	}
}
