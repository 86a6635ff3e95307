package ncpdp

import (
	"bytes"
	"strconv"

	"claimdlq"
)

// Claim is what identifies one transaction, in canonical form. Its slices are PHI.
//
// Canonical means: the blanks of padding are taken off, letters are capitals;
// numbers (402-D2, 403-D3) lose leading zeros, which senders may leave out; so
// does a product id made of digits, after the hyphens of an NDC have been taken
// out by its pattern, so that 00012-0345-06, 00012034506 and 12034506 are one NDC-11
// and a compound's 0 is its own. Ids of people, groups and pharmacies keep their
// zeros: they are text, and two of them may differ in nothing else. Quantities
// and prices are no part: a claim that was corrected is the same claim.
type Claim struct {
	Code              [2]byte // 103-A3
	BIN, PCN          []byte  // 101-A1, 104-A4
	ProviderQualifier []byte  // 202-B2
	Provider          []byte  // 201-B1
	RxQualifier       []byte  // 455-EM
	Rx                []byte  // 402-D2
	Fill              []byte  // 403-D3
	Date              []byte  // 401-D1
	Group             []byte  // 301-C1
	Cardholder        []byte  // 302-C2
	Person            []byte  // 303-C3
	// COB is how many payers came before: the repeats of 338-5C to 340-7C.
	COB              int
	ProductQualifier []byte // 436-E1
	Product          []byte // 407-D7
	FillStatus       []byte // 343-HD: P, C, or empty for a complete fill
}

// Claim returns the identity of a transaction, from 1, of a request. A part that
// the transaction needs and has not is a fault: the claim cannot be told from
// others, which is POISON. Needed are 101-A1, 201-B1, 202-B2, 401-D1, and of the
// claim 455-EM, 402-D2, 436-E1 and 407-D7; for all but reversals 302-C2 too, and
// for B1 and B3 403-D3. E1 has no claim segment: of it, 302-C2 is needed only.
func (m *Message) Claim(transaction int) (Claim, *Fault) {
	c := Claim{
		BIN: m.BIN(), PCN: canonical(m.PCN()), ProviderQualifier: canonical(m.ProviderQualifier()),
		Provider: canonical(m.Provider()), Date: m.ServiceDate(),
	}
	code := m.TransactionCode()
	if m.kind != KindRequest || len(code) != 2 || code[0] == 'F' || m.version == VersionF6 {
		return Claim{}, m.lacks("", "A3", 0)
	}
	copy(c.Code[:], code)
	switch {
	case !allDigits(c.BIN):
		return Claim{}, m.lacks("", "A1", 0)
	case len(c.Provider) == 0:
		return Claim{}, m.lacks("", "B1", 0)
	case len(c.ProviderQualifier) == 0:
		return Claim{}, m.lacks("", "B2", 0)
	case !isDate(c.Date):
		return Claim{}, m.lacks("", "D1", 0)
	}
	if s, ok := m.Segment(0, segInsurance); ok {
		m.insurance(&c, s)
	}
	if len(c.Cardholder) == 0 && !IsReversal(code) {
		return Claim{}, m.lacks("04", "C2", 0)
	}
	if !needsClaim(code) && transaction == 0 {
		return c, nil
	}
	s, ok := m.Segment(transaction, segClaim)
	if !ok || transaction < 1 {
		return Claim{}, m.lacks("07", "", transaction)
	}
	m.fill(&c, s)
	c.COB = m.cobPosition(transaction)
	if id := c.missing(); id != "" {
		return Claim{}, m.lacks("07", id, transaction)
	}
	return c, nil
}

func (m *Message) lacks(segment, field string, transaction int) *Fault {
	code := CodeFieldMissing
	if field == "" {
		code = CodeSegmentMissing
	}
	return &Fault{Code: code, Offset: m.body, Transaction: transaction, Segment: segment, Field: field}
}

func (m *Message) insurance(c *Claim, s Segment) {
	for _, f := range m.Fields(s) {
		switch f.ID {
		case ID{'C', '1'}:
			m.first(&c.Group, f)
		case ID{'C', '2'}:
			m.first(&c.Cardholder, f)
		case ID{'C', '3'}:
			m.first(&c.Person, f)
		}
	}
}

func (m *Message) fill(c *Claim, s Segment) {
	for _, f := range m.Fields(s) {
		switch f.ID {
		case ID{'E', 'M'}:
			m.first(&c.RxQualifier, f)
		case ID{'D', '2'}:
			m.first(&c.Rx, f)
		case ID{'D', '3'}:
			m.first(&c.Fill, f)
		case ID{'E', '1'}:
			m.first(&c.ProductQualifier, f)
		case ID{'D', '7'}:
			m.first(&c.Product, f)
		case ID{'H', 'D'}:
			m.first(&c.FillStatus, f)
		}
	}
	c.Rx, c.Fill, c.Product = unpad(c.Rx), unpad(c.Fill), product(c.Product)
}

// first keeps the first value of a field that stands twice by mistake.
func (m *Message) first(to *[]byte, f Field) {
	if *to == nil {
		*to = canonical(m.Value(f))
	}
}

// missing returns the id of a part of the claim segment that is needed and not there.
func (c *Claim) missing() string {
	switch {
	case len(c.RxQualifier) == 0:
		return "EM"
	case len(c.Rx) == 0:
		return "D2"
	case len(c.Fill) == 0 && (c.Code == [2]byte{'B', '1'} || c.Code == [2]byte{'B', '3'}):
		return "D3"
	case len(c.ProductQualifier) == 0:
		return "E1"
	case len(c.Product) == 0:
		return "D7"
	}
	return ""
}

// cobPosition counts the other payers; 337-4C is believed only where none follow.
func (m *Message) cobPosition(transaction int) int {
	s, ok := m.Segment(transaction, segCOB)
	if !ok {
		return 0
	}
	var n [3]int
	count := 0
	for _, f := range m.Fields(s) {
		switch f.ID {
		case ID{'5', 'C'}:
			n[0]++
		case ID{'6', 'C'}:
			n[1]++
		case ID{'7', 'C'}:
			n[2]++
		case ID{'4', 'C'}:
			if v, ok := digits(trim(m.Value(f))); ok && v < 10 {
				count = int(v)
			}
		}
	}
	if most := max(n[0], n[1], n[2]); most > 0 {
		return most
	}
	return count
}

// canonical trims padding and makes letters capitals.
func canonical(b []byte) []byte {
	b = trim(b)
	if hasLower(b) {
		return bytes.ToUpper(b)
	}
	return b
}

// unpad takes the leading zeros off a number; all zeros are one.
func unpad(b []byte) []byte {
	if !allDigits(b) {
		return b
	}
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return b
}

// product makes the spellings of one NDC the same.
func product(b []byte) []byte {
	if bytes.IndexByte(b, '-') < 0 {
		return unpad(b)
	}
	parts := bytes.Split(b, []byte("-"))
	widths := [...]int{5, 4, 2}
	if len(parts) != len(widths) {
		return b
	}
	var out []byte
	for i, p := range parts {
		if !allDigits(p) || len(p) > widths[i] {
			return b
		}
		for range widths[i] - len(p) {
			out = append(out, '0')
		}
		out = append(out, p...)
	}
	return unpad(out)
}

// Key returns the claim key under one term of the secret: the HMAC over every
// part, each with its length, so that no two lists of parts run together. What
// is absent has length 0. generation counts the accepted reversals of the claim:
// a B1, its B2, and the B1 billed again after it are three keys.
func (c *Claim) Key(id *claimdlq.Identity, generation uint32) claimdlq.Key {
	var cob, gen [20]byte
	return id.Key("ncpdp",
		c.Code[:], c.BIN, c.PCN, c.ProviderQualifier, c.Provider, c.RxQualifier, c.Rx, c.Fill, c.Date,
		c.Group, c.Cardholder, c.Person, strconv.AppendInt(cob[:0], int64(c.COB), 10),
		c.Product, c.ProductQualifier, c.FillStatus, strconv.AppendUint(gen[:0], uint64(generation), 10))
}

// Display returns what people and logs see of a key: its first 24 hex characters.
func Display(k claimdlq.Key) string { return k.String()[:24] }

// Lineage returns the look-up value shared by all transactions of one fill: its
// billing, its reversals, what was billed again, and its answers. It uses only
// what a reversal and a response always carry, so different fills may share it, and
// one fill billed to several payers does: check with Concerns.
func (c *Claim) Lineage(id *claimdlq.Identity) claimdlq.Ref {
	return id.Ref("ncpdp/fill", c.ProviderQualifier, c.Provider, c.RxQualifier, c.Rx, c.Date)
}

// ResponseLineage returns the Lineage of the claim that a response answers in a
// transaction, from 1: the look-up value by which a late answer finds its record.
// It is false where the response does not say which claim it means: it refuses the
// whole transmission, or has no segment 22 with 455-EM and 402-D2, or no date. Fills
// may share it: compare what is found with Correlate.
func ResponseLineage(id *claimdlq.Identity, m *Message, transaction int) (claimdlq.Ref, bool) {
	if m.kind != KindResponse || transaction < 1 {
		return 0, false
	}
	s, ok := m.Segment(transaction, segAnswered)
	if !ok {
		return 0, false
	}
	c := Claim{ProviderQualifier: canonical(m.ProviderQualifier()), Provider: canonical(m.Provider()), Date: m.ServiceDate()}
	m.fill(&c, s)
	if len(c.ProviderQualifier) == 0 || len(c.Provider) == 0 || len(c.RxQualifier) == 0 || len(c.Rx) == 0 || !isDate(c.Date) {
		return 0, false
	}
	return c.Lineage(id), true
}

// Concerns reports whether c, such as a reversal, is about the same fill for the
// same payer as o. Parts that one of them does not carry are not compared.
func (c *Claim) Concerns(o *Claim) bool {
	for _, p := range [...][2][]byte{
		{c.BIN, o.BIN},
		{c.PCN, o.PCN},
		{c.ProviderQualifier, o.ProviderQualifier},
		{c.Provider, o.Provider},
		{c.RxQualifier, o.RxQualifier},
		{c.Rx, o.Rx},
		{c.Date, o.Date},
	} {
		if !bytes.Equal(p[0], p[1]) {
			return false
		}
	}
	for _, p := range [...][2][]byte{
		{c.Fill, o.Fill},
		{c.Group, o.Group},
		{c.Cardholder, o.Cardholder},
		{c.Person, o.Person},
		{c.Product, o.Product},
		{c.FillStatus, o.FillStatus},
	} {
		if len(p[0]) > 0 && len(p[1]) > 0 && !bytes.Equal(p[0], p[1]) {
			return false
		}
	}
	return c.COB == o.COB || c.COB == 0 && IsReversal(c.Code[:]) || o.COB == 0 && IsReversal(o.Code[:])
}

// IsReversal reports whether a transaction code takes back an earlier one.
func IsReversal(code []byte) bool {
	switch string(code) {
	case "B2", "C2", "N2", "P2", "S2":
		return true
	}
	return false
}

// RaisesGeneration reports whether a transaction of this code, once accepted,
// makes the next billing of the claim another claim: a reversal does, and a
// rebill, which reverses first.
func RaisesGeneration(code []byte) bool {
	switch string(code) {
	case "B3", "C3", "N3", "S3":
		return true
	}
	return IsReversal(code)
}
