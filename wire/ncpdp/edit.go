package ncpdp

import (
	"strconv"
	"strings"

	"claimdlq"
)

// Assignment sets one field: 07-D7=99999000102, 05-7C[2]=999997, or a header
// field, A4=TESTPCN. An empty value takes the field out.
type Assignment struct {
	Segment    string // empty for the header
	Field      string
	Occurrence int // from 1, of the field in its segment
	Value      []byte
}

func badEdit(on, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "edit ncpdp message", On: on, Hint: hint}
}

// ParseAssignment reads an Assignment as people write it.
func ParseAssignment(s string) (Assignment, error) {
	left, value, ok := strings.Cut(s, "=")
	a := Assignment{Occurrence: 1, Value: []byte(value)}
	if head, tail, found := strings.Cut(left, "["); found {
		n, err := strconv.Atoi(strings.TrimSuffix(tail, "]"))
		if err != nil || n < 1 || n > 99 || !strings.HasSuffix(tail, "]") {
			ok = false
		}
		left, a.Occurrence = head, n
	}
	if segment, field, found := strings.Cut(left, "-"); found {
		a.Segment, a.Field = segment, field
		ok = ok && len(segment) == 2
	} else {
		a.Field = left
	}
	if !ok || len(a.Field) != 2 {
		return Assignment{}, badEdit("assignment", "write SEGMENT-FIELD=VALUE, such as 07-D7=99999000102, or FIELD=VALUE for the header")
	}
	return a, nil
}

// Edit returns a copy of the message with the fields of one transaction set, in
// order. A field of segments 01 and 04 belongs to all transactions. A field that is
// not there is added at the end of its segment; a segment that is not there is
// refused, and so is an edit after which the message could not be read. Every other
// byte stays as it is. Errors: Invalid, never with a value.
func Edit(doc []byte, transaction int, as []Assignment) ([]byte, error) {
	for _, a := range as {
		var err error
		if a.Segment == "" {
			doc, err = SetHeader(doc, a.Field, string(a.Value))
		} else {
			doc, err = Set(doc, transaction, a)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := Parse(doc).Err(); err != nil {
		return nil, badEdit(err.Error(), "the message could not be read any more")
	}
	return doc, nil
}

// Set returns a copy of the message with one field set.
func Set(doc []byte, transaction int, a Assignment) ([]byte, error) {
	m := Parse(doc)
	id := IDOf(a.Field)
	on := "field " + id.String()
	switch {
	case m.Err() != nil:
		return nil, m.Err()
	case id == idAM || id == ID{} || !printable(a.Field) || a.Occurrence < 1:
		return nil, badEdit(on, "no such field can be set")
	case !printable(a.Value):
		return nil, badEdit(on, "values are printable ASCII")
	}
	s, ok := m.Segment(transaction, IDOf(a.Segment))
	if !ok {
		s, ok = m.Segment(0, IDOf(a.Segment))
	}
	if !ok {
		return nil, badEdit(on, "the transaction has no such segment")
	}
	from, to, seen := int(s.End), int(s.End), 0
	for _, f := range m.Fields(s) {
		if f.ID == id {
			if seen++; seen == a.Occurrence {
				from, to = int(f.Start), int(f.End)
				break
			}
		}
	}
	if seen < a.Occurrence-1 {
		return nil, badEdit(on, "there are fewer of this field")
	}
	out := append(make([]byte, 0, len(doc)+len(a.Value)+3), doc[:from]...)
	if len(a.Value) > 0 {
		out = append(append(out, fieldSeparator, id[0], id[1]), a.Value...)
	}
	return append(out, doc[to:]...), nil
}

// SetHeader returns a copy of the message with a header field set, filled with
// blanks to its width. 109-A9 is what the message holds and cannot be set.
func SetHeader(doc []byte, field, value string) ([]byte, error) {
	m := Parse(doc)
	h, ok := headerFields[field]
	at := m.span(h)
	switch {
	case !ok || at.n == 0 || field == "A9" || field == "A2":
		return nil, badEdit("header", "no such field can be set")
	case len(value) > at.n || !printable(value):
		return nil, badEdit("field "+field, "longer than the header has room for, or not printable")
	}
	out := append([]byte(nil), doc...)
	copy(out[at.at:at.at+at.n], value+strings.Repeat(" ", at.n-len(value)))
	return out, nil
}

// has reports whether the transaction has a segment.
func (m *Message) has(transaction int) bool {
	for _, s := range m.segments {
		if int(s.Transaction) == transaction {
			return true
		}
	}
	return false
}

// Cut returns one transaction of a transmission alone: the header with a count of
// 1, the segments that belong to all, and its own, every byte as it was. It is
// how an unsettled claim is sent again without those that came with it.
func Cut(m *Message, transaction int) ([]byte, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if transaction < 1 || !m.has(transaction) {
		return nil, badEdit("transaction "+strconv.Itoa(transaction), "the transmission has no such transaction")
	}
	first, start, end := m.end, m.end, m.end // the first group separator, and the two of this one
	n := 0
	for i := m.body; i < m.end; i++ {
		if m.raw[i] != groupSeparator {
			continue
		}
		n++
		switch n {
		case 1:
			first = i
		case transaction + 1:
			end = i
		}
		if n == transaction {
			start = i
		}
	}
	out := append(make([]byte, 0, len(m.raw)), m.raw[:first]...)
	out = append(append(out, m.raw[start:end]...), m.raw[m.end:]...)
	out[m.span(hA9).at] = '1'
	return out, nil
}
