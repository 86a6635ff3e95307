package ncpdp

// RuleVersion names the rules of Validate and the canonical form of Claim, for a
// record's rule version.
const RuleVersion = "ncpdp-d0-2026.1"

// MaxFaults is how many errors Validate lists, and how many notes.
const MaxFaults = 100

// Validate judges the message and returns its faults, the errors of the structure
// first and then by place; none with Severity Error means that it may be sent, or
// believed. A request is judged strictly, a response as far as it is used: payers
// pad, overrun and miscount. An F6 message has no faults, for it is not decoded.
func (m *Message) Validate() []Fault { return m.ValidateInto(nil) }

// ValidateInto is Validate with memory that is used again: the faults are appended
// to faults. Nothing is allocated for a message without a fault.
func (m *Message) ValidateInto(faults []Fault) []Fault {
	if m.faulted && m.body == m.start { // the header could not be read
		return append(faults, m.fault)
	}
	j := judge{m: m, strict: m.kind == KindRequest, faults: faults}
	if m.faulted {
		j.add(m.fault)
	}
	if m.version == VersionF6 || m.kind == KindUnknown {
		return j.faults
	}
	if m.fault.Code != CodeTransactionCode && m.fault.Code != CodeNoSeparators {
		j.header()
		j.segments()
		if j.strict {
			j.required()
		}
	}
	return append(j.faults, m.notes...)
}

// OK reports whether no fault of the list is an error.
func OK(faults []Fault) bool {
	_, bad := Worst(faults)
	return !bad
}

// Worst returns the first fault with Severity Error, and whether there is one.
func Worst(faults []Fault) (Fault, bool) {
	for _, f := range faults {
		if f.Severity == Error {
			return f, true
		}
	}
	return Fault{}, false
}

type judge struct {
	m             *Message
	strict        bool
	faults        []Fault
	errors, notes int
	seen          [(slots + 63) / 64]uint64 // fields of the segment in hand, a bit for each slot
}

// add keeps so many errors and so many notes: no number of notes hides an error.
func (j *judge) add(f Fault) {
	n := &j.errors
	if f.Severity == Note {
		n = &j.notes
	}
	if *n < MaxFaults {
		*n++
		j.faults = append(j.faults, f)
	}
}

// tolerate adds a fault that is an error in a request and a note in a response.
func (j *judge) tolerate(f Fault) {
	if !j.strict {
		f.Severity = Note
	}
	j.add(f)
}

// note adds a fault that is none anywhere.
func (j *judge) note(f Fault) {
	f.Severity = Note
	j.add(f)
}

func (j *judge) header() {
	m := j.m
	place := func(c Code, h headerField, id string) {
		j.add(Fault{Code: c, Offset: m.span(h).at, Field: id})
	}
	if j.strict && !allDigits(m.BIN()) {
		place(CodeBIN, hA1, "A1")
	}
	n := m.Count()
	switch {
	case n < 1 || n > MaxTransactions:
		place(CodeTransactionCount, hA9, "A9")
	case m.groups == 0 && (!j.strict || !needsClaim(m.TransactionCode())):
	case n != m.groups:
		h := HintNone
		if _, loose := m.Segment(0, segClaim); loose {
			h = HintNoGroup
		}
		j.add(Fault{Code: CodeTransactionCount, Offset: m.span(hA9).at, Field: "A9", Hint: h})
	}
	if m.kind == KindResponse {
		if s := m.HeaderStatus(); s != 'A' && s != 'R' {
			place(CodeFieldMissing, hF1, "F1")
		}
		return
	}
	if m.TransactionCode()[0] == 'F' { // these have other fields here
		return
	}
	if len(m.Provider()) == 0 || len(m.ProviderQualifier()) == 0 {
		place(CodeProvider, hB1, "B1")
	}
	if !isDate(m.ServiceDate()) {
		place(CodeDate, hD1, "D1")
	}
	for i := m.start; i < m.body; i++ {
		if classOf[m.raw[i]] == control {
			j.add(Fault{Code: CodeControlChar, Offset: i, Hint: hintFor(m.raw[m.start:m.body])})
			return
		}
	}
}

// needsClaim reports whether transactions of this code stand after a group
// separator: all but eligibility and financial ones.
func needsClaim(code []byte) bool { return code[0] != 'E' && code[0] != 'F' }

func (j *judge) segments() {
	m := j.m
	var seen uint64 // segments of the transaction in hand, a bit for each id
	transaction := uint8(0)
	for _, s := range m.segments {
		if j.errors == MaxFaults {
			return
		}
		at := Fault{Offset: int(s.Start), Transaction: int(s.Transaction), Segment: s.String()}
		if at.Segment != "??" {
			if s.Transaction != transaction { // they stand one after the other
				transaction, seen = s.Transaction, 0
			}
			bit := uint64(1) << segmentNumber(s.ID)
			if seen&bit != 0 {
				j.tolerate(at.as(CodeSegmentTwice))
			}
			seen |= bit
			if wrongLevel(s, m.kind) {
				f := at.as(CodeSegmentLevel)
				if s.Transaction == 0 && s.ID == segClaim {
					f.Hint = HintNoGroup
				}
				j.tolerate(f)
			}
		}
		j.fields(s, at)
	}
}

// wrongLevel reports whether a segment of a request is on the wrong side of the
// first group separator: 01 and 04 belong to all transactions, the others to one.
// The segments of later versions and those of payers may be on either side.
func wrongLevel(s Segment, k Kind) bool {
	if n := segmentNumber(s.ID); k != KindRequest || n == 0 || n > 16 {
		return false
	}
	shared := s.ID == segPatient || s.ID == segInsurance
	return shared == (s.Transaction > 0)
}

// need is a segment that a transaction must have, and fields in it.
type need struct {
	segment ID
	fields  []ID
}

var (
	needsInsurance = []need{{segInsurance, ids("C2")}}
	needsRx        = []need{{segClaim, ids("EM D2 E1 D7")}}
	needsFill      = []need{{segClaim, ids("EM D2 E1 D7 E7 D3")}, {segPricing, nil}}
)

// requiredOf are the segments and fields that a transaction needs, by its code: the
// first list once for all transactions, the second in each.
func requiredOf(code []byte) (shared, each []need) {
	switch string(code) {
	case "B1", "B3":
		return needsInsurance, needsFill
	case "E1":
		return needsInsurance, nil
	case "D1", "N1", "N3", "C1", "C3":
		return needsInsurance, needsRx
	case "B2", "N2", "C2":
		return nil, needsRx
	}
	return nil, nil
}

func (j *judge) required() {
	shared, each := requiredOf(j.m.TransactionCode())
	for _, n := range shared {
		j.need(0, n)
	}
	for t := 1; t <= min(j.m.groups, MaxTransactions); t++ {
		for _, n := range each {
			j.need(t, n)
		}
	}
}

func (j *judge) need(transaction int, n need) {
	f := Fault{Code: CodeSegmentMissing, Offset: j.m.end, Transaction: transaction, Segment: segmentName(n.segment)}
	s, ok := j.m.Segment(transaction, n.segment)
	if !ok {
		j.add(f)
		return
	}
	for _, id := range n.fields {
		if v, ok := j.m.In(s, id); !ok || len(v) == 0 {
			f.Code, f.Offset, f.Field = CodeFieldMissing, int(s.Start), id.String()
			j.add(f)
		}
	}
}
