package ncpdp

import "strings"

// Block is the header or one segment of a message as a person reads it. Its values are
// PHI.
type Block struct {
	Number      int     `json:"segment_number"` // in the message, from 1; 0 is the header
	Transaction int     `json:"transaction"`    // from 1; 0 before the first
	Segment     string  `json:"segment"`        // such as 07; empty for the header, ?? for a private one
	Name        string  `json:"name,omitempty"`
	Offset      int     `json:"offset"` // in the message, bytes from 0
	Fields      []Entry `json:"fields"`
}

// Entry is one field of a Block.
type Entry struct {
	Field      string `json:"field"`      // such as D7; ?? for one that the dictionary has not
	Occurrence int    `json:"occurrence"` // from 1, in its segment
	Name       string `json:"name,omitempty"`
	Value      string `json:"value"`             // as written, header fields without their padding
	Meaning    string `json:"meaning,omitempty"` // of a number: with its sign and decimals; of a date: CCYY-MM-DD
	Offset     int    `json:"offset"`
	Locked     bool   `json:"locked"` // says which fill it is, or is written by the system
}

// headerOrder are the header's fields in the order of a request, then what a response
// has beside them.
var headerOrder = [...]string{"A1", "A2", "A3", "A4", "A9", "B2", "B1", "D1", "AK", "F1"}

// maxEntries is how many fields a View shows; the longest legal message has far fewer.
const maxEntries = 5000

// View returns the header and the segments of the message, 5,000 fields at most; cut
// says that there are more. Errors: Invalid, where its header cannot be read.
func (m *Message) View() (out []Block, cut bool, err error) {
	if m.faulted && m.body == m.start {
		return nil, false, m.Err()
	}
	head := Block{Name: "Header", Fields: []Entry{}}
	for _, id := range headerOrder {
		s := m.span(headerFields[id])
		if s.n == 0 {
			continue
		}
		v := trim(m.raw[s.at : s.at+s.n])
		head.Fields = append(head.Fields, Entry{
			Field: id, Occurrence: 1, Name: FieldTitle(id), Value: text(v), Meaning: meaning(IDOf(id), v), Offset: s.at, Locked: Locked("", id),
		})
	}
	out = []Block{head}
	n := 0
	for i, s := range m.segments {
		b := Block{
			Number: i + 1, Transaction: int(s.Transaction), Segment: segmentName(s.ID), Offset: int(s.Start), Fields: []Entry{},
		}
		b.Name = SegmentTitle(b.Segment)
		seen := map[ID]int{}
		for _, f := range m.Fields(s) {
			if n++; n > maxEntries {
				return append(out, b), true, nil
			}
			seen[f.ID]++
			v := m.Value(f)
			id := f.ID.String()
			b.Fields = append(b.Fields, Entry{
				Field: id, Occurrence: seen[f.ID], Name: FieldTitle(id), Value: text(v), Meaning: meaning(f.ID, trim(v)), Offset: int(f.Start),
				Locked: id == "??" || Locked(b.Segment, id),
			})
		}
		out = append(out, b)
	}
	return out, false, nil
}

// Locked reports whether a correction may not change the field: it says which fill the
// message is about, or the system writes it. segment is empty for the header.
func Locked(segment, field string) bool {
	switch segment {
	case "":
		switch field {
		case "A2", "A3", "A9", "B1", "B2", "D1", "F1":
			return true
		}
	case "07":
		return field == "EM" || field == "D2"
	}
	return false
}

// meaning says a number as people write it, with its sign and its decimals, and a date
// with its parts apart; empty for what says it by itself, or cannot be read.
func meaning(id ID, v []byte) string {
	d, ok := Lookup(id)
	if !ok {
		return ""
	}
	switch d.Kind {
	case Amount, Rate:
		if n, _, ok := ParseAmount(v, d.Kind.Scale()); ok {
			return n.String()
		}
	case Quantity:
		if n, ok := ParseQuantity(v, d.Kind.Scale()); ok {
			return n.String()
		}
	case Date:
		if len(v) == 8 && allDigits(v) {
			return string(v[:4]) + "-" + string(v[4:6]) + "-" + string(v[6:])
		}
	case Text, Number:
	}
	return ""
}

// text returns bytes for people.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
