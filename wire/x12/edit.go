package x12

import (
	"bytes"
	"strconv"
	"strings"

	"claimdlq"
)

// Assignment sets one element, or one component of it, of one segment.
type Assignment struct {
	Segment string // such as CLM
	// Occurrence counts the segments of that id in the document, from 1. 0 means
	// that the id must occur once only.
	Occurrence int
	Element    int // from 1
	Component  int // from 1; 0 for the whole element
	Value      []byte
}

// envelopeSegments cannot be edited: their numbers and counts are given by the
// system.
const envelopeSegments = "ISA GS ST SE GE IEA"

const (
	maxElement   = 99
	maxComponent = 99
	maxValue     = 10_000
)

// String returns the assignment as it is written, without its value.
func (a Assignment) String() string {
	s := a.Segment
	if a.Occurrence > 0 {
		s += "[" + strconv.Itoa(a.Occurrence) + "]"
	}
	return s + "-" + a.position()
}

// position returns the element and component as faults name them: 05 or 05-3.
func (a Assignment) position() string {
	if a.Component > 0 {
		return twoDigits(a.Element) + "-" + strconv.Itoa(a.Component)
	}
	return twoDigits(a.Element)
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// ParseAssignment reads an assignment such as CLM05-3=7, CLM-05-3=7, NM1[3]-09=X,
// HI01-2=J45 or REF[2]02=ABC: segment id, occurrence in brackets, element of two
// digits, component, value. The value may be empty, which clears the element.
// Errors: Invalid, never with the value in it.
func ParseAssignment(s string) (Assignment, error) {
	bad := func() (Assignment, error) {
		return Assignment{}, &claimdlq.Error{
			Code: claimdlq.Invalid, Op: "read assignment",
			Hint: "write SEGMENT[n]ELEMENT-COMPONENT=VALUE, such as CLM05-3=7 or NM1[3]-09=TEST",
		}
	}
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return bad()
	}
	a := Assignment{Value: []byte(value)}
	name = strings.ToUpper(strings.TrimSpace(name))
	var rest string
	if id, after, bracket := strings.Cut(name, "["); bracket {
		n, tail, closed := strings.Cut(after, "]")
		if a.Occurrence, ok = positionNumber(n, 9_999_999); !ok || !closed {
			return bad()
		}
		a.Segment, rest = id, tail
	} else {
		a.Segment, rest = splitID(name)
	}
	element, comp, composite := strings.Cut(strings.TrimPrefix(rest, "-"), "-")
	if a.Element, ok = positionNumber(element, maxElement); !ok || len(element) > 2 || !validID(a.Segment) {
		return bad()
	}
	if composite {
		if a.Component, ok = positionNumber(comp, maxComponent); !ok {
			return bad()
		}
	}
	return a, nil
}

// splitID splits NM109 into NM1 and 09, REF02 into REF and 02, N301 into N3 and
// 01, CLM-05-3 into CLM and -05-3: an element has two digits, or follows a dash.
func splitID(s string) (id, rest string) {
	head, tail, dash := strings.Cut(s, "-")
	if dash {
		tail = "-" + tail
	}
	switch {
	case dash && validID(head):
		return head, tail
	case len(head) < 4:
		return "", ""
	}
	return head[:len(head)-2], head[len(head)-2:] + tail
}

func validID(id string) bool {
	return (len(id) == 2 || len(id) == 3) && id[0] >= 'A' && id[0] <= 'Z' && allAlnum(id)
}

func positionNumber(s string, most int) (int, bool) {
	n, ok := digits([]byte(s))
	return int(n), ok && n >= 1 && n <= int64(most)
}

// Edit returns a copy of doc, an interchange in memory, with the assignments
// applied in order. An element beyond the last of its segment is added, with the
// separators before it. Nothing else changes. Errors: Invalid, with the segment
// and element but never a value: a document whose ISA cannot be read, an envelope
// segment, a segment that does not occur, one that occurs several times and is
// not numbered, a value with a delimiter or a control character. Only the component
// separator may stand in the value of a whole element.
func Edit(doc []byte, as []Assignment) ([]byte, error) {
	h, _, err := documentHeader(doc, "edit document")
	if err != nil {
		return nil, err
	}
	for _, a := range as {
		if doc, err = assign(doc, h.Delims, a); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(doc), nil
}

// documentHeader returns the header of a document and where its body starts.
func documentHeader(doc []byte, op string) (Header, int, error) {
	h, ta1 := ParseISA(doc)
	if ta1 != "" || h.Len > len(doc) {
		return h, 0, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: "TA1:" + ta1, Hint: "the document must start with a readable ISA"}
	}
	return h, h.Len, nil
}

func assign(doc []byte, d Delims, a Assignment) ([]byte, error) {
	bad := func(hint string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "edit document", On: a.String(), Hint: hint}
	}
	switch {
	case !validID(a.Segment), a.Element < 1, a.Element > maxElement, a.Component < 0, a.Component > maxComponent:
		return nil, bad("no such position")
	case locked(a.Segment):
		return nil, bad("envelope segments are written by the system")
	case a.Component > 0 && d.Component == 0:
		return nil, bad("the interchange has no component separator")
	case len(a.Value) > maxValue:
		return nil, bad("the value is too long")
	}
	if why := checkValue(a.Value, d, a.Component == 0); why != "" {
		return nil, bad(why)
	}
	_, raw, at, err := segmentAt(doc, "edit document", Place{a.Segment, a.Occurrence})
	if err != nil {
		return nil, err
	}
	edited := setElement(raw, d, a.Element, a.Component, a.Value)
	out := make([]byte, 0, len(doc)+len(edited)-len(raw))
	out = append(append(out, doc[:at]...), edited...)
	return append(out, doc[at+len(raw):]...), nil
}

// checkValue says why a value cannot stand in a document; "" if it can.
func checkValue(v []byte, d Delims, composite bool) string {
	for _, c := range v {
		switch {
		case composite && c == d.Component:
		case isDelimiter(c, d):
			return "the value holds a delimiter of the interchange"
		case c < ' ' || c == 0x7f:
			return "the value holds a control character"
		}
	}
	return ""
}
