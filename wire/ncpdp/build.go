package ncpdp

import (
	"slices"

	"claimdlq"
)

// Header is what goes into the header of a request.
type Header struct {
	BIN               string // 101-A1, six digits
	Version           string // 102-A2; empty means D0, the only one that is built
	Code              string // 103-A3
	PCN               string // 104-A4
	ProviderQualifier string // 202-B2; empty means 01, a national provider id
	Provider          string // 201-B1
	Date              string // 401-D1, CCYYMMDD
	Vendor            string // 110-AK
}

// Builder writes a message field by field. It keeps the first mistake for Bytes.
type Builder struct {
	b       []byte
	count   int // where 109-A9 stands
	groups  int
	segment string
	err     error
	framed  bool
}

// NewRequest begins a request. 109-A9 is written by Bytes.
func NewRequest(h Header) *Builder {
	b := &Builder{count: hA9.request.at}
	if h.Version == "" {
		h.Version = "D0"
	}
	if h.ProviderQualifier == "" {
		h.ProviderQualifier = "01"
	}
	if h.Version != "D0" {
		b.fail("A2", "only version D0 is built")
	}
	for _, f := range []struct {
		id, value string
		h         headerField
	}{
		{"A1", h.BIN, hA1},
		{"A2", h.Version, hA2},
		{"A3", h.Code, hA3},
		{"A4", h.PCN, hA4},
		{"A9", "1", hA9},
		{"B2", h.ProviderQualifier, hB2},
		{"B1", h.Provider, hB1},
		{"D1", h.Date, hD1},
		{"AK", h.Vendor, hAK},
	} {
		b.fixed(f.id, f.value, f.h.request.n)
	}
	return b
}

// newResponse begins a response to a request; status is 501-F1.
func newResponse(code, count, status, qualifier, provider, date string) *Builder {
	b := &Builder{b: make([]byte, 0, usualResponse), count: -1}
	for _, f := range []struct {
		id, value string
		h         headerField
	}{
		{"A2", "D0", hA2},
		{"A3", code, hA3},
		{"A9", count, hA9},
		{"F1", status, hF1},
		{"B2", qualifier, hB2},
		{"B1", provider, hB1},
		{"D1", date, hD1},
	} {
		b.fixed(f.id, f.value, f.h.response.n)
	}
	return b
}

// usualResponse is more than most responses have: a header, a status and what was billed.
const usualResponse = 256

func (b *Builder) fail(id, hint string) {
	if b.err == nil {
		b.err = &claimdlq.Error{Code: claimdlq.Invalid, Op: "build ncpdp message", On: "field " + id, Hint: hint}
	}
}

// fixed writes a header field, filled with blanks to its width.
func (b *Builder) fixed(id, v string, width int) {
	if len(v) > width || !printable(v) {
		b.fail(id, "longer than the header has room for, or with characters that are not printable")
		v = ""
	}
	b.b = append(b.b, v...)
	for range width - len(v) {
		b.b = append(b.b, ' ')
	}
}

func printable[T string | []byte](v T) bool {
	for i := range len(v) {
		if v[i] < 0x20 || v[i] > 0x7e {
			return false
		}
	}
	return true
}

// Transaction begins the next transaction.
func (b *Builder) Transaction() *Builder {
	if b.groups++; b.groups > MaxTransactions {
		b.fail("A9", "at most four transactions")
	}
	b.b = append(b.b, groupSeparator)
	b.segment = ""
	return b
}

// Segment begins a segment, such as 07.
func (b *Builder) Segment(id string) *Builder {
	if len(id) != 2 || !printable(id) {
		b.fail("AM", "a segment id has two characters")
		id = "??"
	}
	b.segment = id
	b.b = append(append(b.b, segmentSeparator, fieldSeparator, 'A', 'M'), id...)
	return b
}

// Field writes a field as it stands; an empty value is left out, as the standard
// wants it.
func (b *Builder) Field(id, value string) *Builder {
	if value == "" {
		return b
	}
	switch d, known := Lookup(IDOf(id)); {
	case b.segment == "":
		b.fail(id, "a field needs a segment")
	case len(id) != 2 || !printable(id) || !printable(value):
		b.fail("??", "an id has two characters, and values are printable ASCII")
	case id == "AM":
		b.fail(id, "begin a segment instead")
	case known && d.LenD0 > 0 && len(value) > d.LenD0 && d.Kind != Text:
		b.fail(id, "longer than the standard allows")
	default:
		b.b = append(append(append(b.b, fieldSeparator), id...), value...)
	}
	return b
}

// Amount writes a signed amount in minor units: cents, or for a rate ten
// thousandths.
func (b *Builder) Amount(id string, units int64) *Builder {
	v, ok := AppendAmount(nil, units, widthOf(id, 8))
	if !ok {
		b.fail(id, "the amount has too many digits")
		return b
	}
	return b.Field(id, string(v))
}

// Quantity writes a quantity in thousandths.
func (b *Builder) Quantity(id string, thousandths int64) *Builder {
	v, ok := AppendQuantity(nil, thousandths, widthOf(id, 10))
	if !ok {
		b.fail(id, "the quantity is negative or has too many digits")
		return b
	}
	return b.Field(id, string(v))
}

func widthOf(id string, otherwise int) int {
	if d, ok := Lookup(IDOf(id)); ok && d.LenD0 > 0 {
		return d.LenD0
	}
	return otherwise
}

// Framed puts STX before and ETX after the message.
func (b *Builder) Framed() *Builder {
	b.framed = true
	return b
}

// Bytes returns the message, or the first mistake. What it returns has the header
// of its kind to the byte.
func (b *Builder) Bytes() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.count < 0 && !b.framed { // nothing is put into it
		return slices.Clip(b.b), nil
	}
	out := append([]byte(nil), b.b...)
	if b.count >= 0 {
		out[b.count] = '0' + byte(max(1, b.groups))
	}
	if b.framed {
		out = append(append([]byte{stx}, out...), etx)
	}
	return out, nil
}
