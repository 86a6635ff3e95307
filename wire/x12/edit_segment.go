package x12

import (
	"bytes"
	"strconv"
	"strings"

	"claimdlq"
)

// Place names one segment of a document.
type Place struct {
	Segment string // such as HI
	// Occurrence counts the segments of that id in the document, from 1. 0 means
	// that the id must occur once only.
	Occurrence int
}

// String returns the place as it is written.
func (p Place) String() string {
	if p.Occurrence == 0 {
		return p.Segment
	}
	return p.Segment + "[" + strconv.Itoa(p.Occurrence) + "]"
}

// Insertion is a segment to be put behind another.
type Insertion struct {
	After Place
	// Text is the segment with * between elements, : between components and ^
	// between repetitions, whatever the document uses; a ~ at the end may be left out.
	Text []byte
}

// ParsePlace reads a place such as HI or NM1[3]. Errors: Invalid.
func ParsePlace(s string) (Place, error) {
	bad := &claimdlq.Error{Code: claimdlq.Invalid, Op: "read place", Hint: "write SEGMENT or SEGMENT[n], such as HI or NM1[3]"}
	id, after, bracket := strings.Cut(strings.ToUpper(strings.TrimSpace(s)), "[")
	p := Place{Segment: id}
	if !validID(id) {
		return p, bad
	}
	if bracket {
		n, rest, closed := strings.Cut(after, "]")
		var ok bool
		if p.Occurrence, ok = positionNumber(n, 9_999_999); !ok || !closed || rest != "" {
			return p, bad
		}
	}
	return p, nil
}

// ParseInsertion reads an insertion such as CLM=HI*ABK:J069: behind which segment,
// and what. Errors: Invalid, never with the text in it.
func ParseInsertion(s string) (Insertion, error) {
	where, text, ok := strings.Cut(s, "=")
	p, err := ParsePlace(where)
	id, _, _ := strings.Cut(text, "*")
	if err != nil || !ok || !validID(id) {
		return Insertion{}, &claimdlq.Error{
			Code: claimdlq.Invalid, Op: "read insertion",
			Hint: "write AFTER=SEGMENT with * and : between its parts, such as CLM=HI*ABK:J069 or NM1[5]=N3*1 TEST WAY",
		}
	}
	return Insertion{After: p, Text: []byte(text)}, nil
}

// Insert returns a copy of doc with the segment put in, in the document's own
// delimiters. Errors as for Edit.
func Insert(doc []byte, in Insertion) ([]byte, error) {
	h, raw, at, err := segmentAt(doc, "insert segment", in.After)
	if err != nil {
		return nil, err
	}
	bad := func(hint string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "insert segment", On: "after " + in.After.String(), Hint: hint}
	}
	text := bytes.TrimSuffix(in.Text, []byte("~"))
	id, _, _ := bytes.Cut(text, []byte("*"))
	switch {
	case !validID(string(id)):
		return nil, bad("that is no segment")
	case locked(string(id)):
		return nil, bad("envelope segments are written by the system")
	case len(text) > maxValue:
		return nil, bad("the segment is too long")
	}
	text, why := translate(text, h.Delims)
	if why != "" {
		return nil, bad(why)
	}
	end := at + len(raw)
	out := make([]byte, 0, len(doc)+len(text)+4)
	out = append(out, doc[:end]...)
	out = append(append(out, text...), h.Delims.Segment)
	out = append(out, h.Delims.Suffix...)
	return append(out, doc[end:]...), nil
}

// Delete returns a copy of doc without the segment. Errors as for Edit.
func Delete(doc []byte, p Place) ([]byte, error) {
	_, raw, at, err := segmentAt(doc, "delete segment", p)
	if err != nil {
		return nil, err
	}
	if locked(p.Segment) {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "delete segment", On: p.String(), Hint: "envelope segments are written by the system"}
	}
	out := make([]byte, 0, len(doc)-len(raw))
	return append(append(out, doc[:at]...), doc[at+len(raw):]...), nil
}

func locked(id string) bool { return strings.Contains(" "+envelopeSegments+" ", " "+id+" ") }

// segmentAt finds the segment that p names, with its terminator and suffix.
func segmentAt(doc []byte, op string, p Place) (Header, []byte, int, error) {
	h, start, err := documentHeader(doc, op)
	if err != nil {
		return h, nil, 0, err
	}
	bad := func(hint string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: p.String(), Hint: hint}
	}
	at, raw, found := 0, []byte(nil), 0
	for s := NewSegments(doc[start:], h.Delims); s.Next(); {
		if s.ID() != p.Segment {
			continue
		}
		if found++; found == max(1, p.Occurrence) {
			at, raw = start+s.Offset(), s.Raw()
		}
	}
	n := strconv.Itoa(found)
	switch {
	case raw == nil && found == 0:
		return h, nil, 0, bad("the document has no such segment")
	case raw == nil:
		return h, nil, 0, bad("the document has " + n + " of them")
	case p.Occurrence == 0 && found > 1:
		return h, nil, 0, bad("the document has " + n + " of them: name one, " + p.Segment + "[1] to " + p.Segment + "[" + n + "]")
	}
	return h, raw, at, nil
}

// translate writes text, in the customary delimiters, in those of a document. It
// says why it cannot.
func translate(text []byte, d Delims) (out []byte, why string) {
	out = make([]byte, len(text))
	for i, c := range text {
		switch {
		case c == '*':
			c = d.Element
		case c == ':' && d.Component != 0:
			c = d.Component
		case c == '^' && d.Repetition != 0:
			c = d.Repetition
		case isDelimiter(c, d), c == '~':
			return nil, "a value holds a delimiter of the interchange"
		case c < ' ' || c == 0x7f:
			return nil, "a value holds a control character"
		}
		out[i] = c
	}
	return out, ""
}
