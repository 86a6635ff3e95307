package ncpdp

import "claimdlq"

// Reversal says what a payer wants in a B2 beyond the least.
type Reversal struct {
	// Segments are segments of the paid claim that are copied whole beside 07,
	// such as 05, 08 or 11. Default: none.
	Segments []string
	// Fields are further fields of segment 07 to copy, such as D5. Default: none.
	Fields []string
	// Insurance are the fields of segment 04 to copy. Default: C2, C1, C3.
	Insurance []string
}

var (
	insuranceKept = []string{"C2", "C1", "C3"}
	claimKept     = []string{"EM", "D2", "E1", "D7", "D3", "HD"}
)

// BuildReversal builds the B2 of a transaction of a paid B1 or B3, from the
// request as it was paid: BIN, PCN, vendor, pharmacy and date of service from the
// header, and the fields that say which claim is meant, as they were written.
// One reversal travels alone. Errors: Invalid.
func BuildReversal(paid *Message, transaction int, o Reversal) ([]byte, error) {
	c, ok := paid.Segment(transaction, segClaim)
	if !paid.isBilling() || !ok || transaction < 1 {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "build reversal", Hint: "it needs a transaction of a paid B1 or B3, version D0"}
	}
	if o.Insurance == nil {
		o.Insurance = insuranceKept
	}
	b := NewRequest(paid.headerAs("B2"))
	if s, ok := paid.Segment(0, segInsurance); ok {
		b.copyFields(paid, s, o.Insurance)
	}
	b.Transaction().copyFields(paid, c, append(append([]string(nil), claimKept...), o.Fields...))
	for _, id := range o.Segments {
		if s, ok := paid.Segment(transaction, IDOf(id)); ok && s.ID != segClaim {
			b.b = append(b.b, paid.raw[s.Start:s.End]...)
		}
	}
	return b.Bytes()
}

// BuildRebill builds the B3 of one transaction: the claim alone, under the code
// of a rebill. Many payers refuse it (1S) and want a B2 and then a B1.
func BuildRebill(m *Message, transaction int) ([]byte, error) {
	if !m.isBilling() {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "build rebill", Hint: "it needs a B1 or B3, version D0"}
	}
	one, err := Cut(m, transaction)
	if err != nil {
		return nil, err
	}
	return SetHeader(one, "A3", "B3")
}

// isBilling reports whether it is a readable B1 or B3 of the version that is built.
func (m *Message) isBilling() bool {
	code := string(m.TransactionCode())
	return !m.faulted && m.kind == KindRequest && m.version == VersionD0 && (code == "B1" || code == "B3")
}

func (m *Message) headerAs(code string) Header {
	return Header{
		BIN: string(m.BIN()), Code: code, PCN: string(m.PCN()),
		ProviderQualifier: string(m.ProviderQualifier()), Provider: string(m.Provider()), Date: string(m.ServiceDate()),
		Vendor: string(m.Vendor()),
	}
}

// copyFields begins the segment and copies the fields in the order in which they
// stand in it, with their padding.
func (b *Builder) copyFields(m *Message, s Segment, keep []string) {
	b.Segment(string(s.ID[:]))
	for _, f := range m.Fields(s) {
		for _, k := range keep {
			if IDOf(k) == f.ID {
				b.b = append(b.b, m.raw[f.Start:f.End]...)
				break
			}
		}
	}
}
