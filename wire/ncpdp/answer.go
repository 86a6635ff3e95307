package ncpdp

import "bytes"

// Reply is what a response says of one transaction. Its slices are PHI and point
// into the response; Rejects and Texts are as received.
type Reply struct {
	Header byte // 501-F1
	// Found says that there is a status segment (21).
	Found bool
	// Status is 112-AN; 0 if it is missing, '?' if it is longer than one character.
	Status  byte
	Rejects [][]byte // every 511-FB in order; 510-FA is not believed
	Texts   [][]byte // every 504-F4 and 526-FQ of the transmission and the transaction
}

// Reply returns what the response says of a transaction, from 1. A response
// without any transaction, which refuses the whole transmission, says the same
// of each. The slices of to are used again; to may be nil.
func (m *Message) Reply(transaction int, to *Reply) Reply {
	r := Reply{Header: m.HeaderStatus()}
	if to != nil {
		r.Rejects, r.Texts = to.Rejects[:0], to.Texts[:0]
	}
	for _, s := range m.segments {
		shared := s.Transaction == 0
		if !shared && int(s.Transaction) != transaction || s.ID != segStatus && s.ID != segMessage {
			continue
		}
		if s.ID == segStatus {
			r.Found = true
		}
		for _, f := range m.Fields(s) {
			r.field(f.ID, trim(m.Value(f)))
		}
	}
	return r
}

func (r *Reply) field(id ID, v []byte) {
	switch id {
	case ID{'A', 'N'}:
		switch len(v) {
		case 0:
		case 1:
			if r.Status != 0 && r.Status != v[0] {
				r.Status = '?' // two that differ
				return
			}
			r.Status = v[0]
		default:
			r.Status = '?'
		}
	case ID{'F', 'B'}:
		r.Rejects = append(r.Rejects, v)
	case ID{'F', '4'}, ID{'F', 'Q'}:
		if len(v) > 0 {
			r.Texts = append(r.Texts, v)
		}
	}
}

// AmountOf returns an amount of a transaction's pricing segment (23 in a
// response, 11 in a request), such as F9, and whether it is there and readable.
func (m *Message) AmountOf(transaction int, field ID) (Decimal, bool) {
	segment := segPaid
	if m.kind == KindRequest {
		segment = segPricing
	}
	d, known := Lookup(field)
	v, ok := m.Get(transaction, segment, field)
	if !ok || !known {
		return Decimal{}, false
	}
	n, _, ok := ParseAmount(v, d.Kind.Scale())
	return n, ok
}

// QuantityOf returns 442-E7 of a transaction, and whether it is there and readable.
func (m *Message) QuantityOf(transaction int) (Decimal, bool) {
	v, ok := m.Get(transaction, segClaim, ID{'E', '7'})
	if !ok {
		return Decimal{}, false
	}
	return ParseQuantity(v, Quantity.Scale())
}

// RxOf returns 402-D2 of a transaction as received, trimmed; nil if there is none.
func (m *Message) RxOf(transaction int) []byte {
	segment := segAnswered
	if m.kind == KindRequest {
		segment = segClaim
	}
	v, _ := m.Get(transaction, segment, ID{'D', '2'})
	return v
}

// Mismatch names the field in which a response contradicts its request: A3, A9,
// B1, D1 or D2; the segment, 22 or 23, without which what it says cannot be believed;
// or FB where its last reject code may have been cut off. Empty if there is none.
type Mismatch string

// Correlate compares a response with the request that it should answer, for one
// transaction. Crossed and late answers happen where a connection is used again.
// A switch that invents an answer after a time-out (85 with NN) dates it with
// its own day, so that the date proves nothing then. The prescription number may
// be absent, as it is where a whole transmission is refused; 0 compares only
// the headers. A request that came back as its own answer contradicts in A3.
func Correlate(request, response *Message, transaction int) Mismatch {
	switch {
	case response.kind != KindResponse, !bytes.Equal(request.TransactionCode(), response.TransactionCode()):
		return "A3"
	case request.Count() != response.Count():
		return "A9"
	case !bytes.Equal(request.Provider(), response.Provider()):
		return "B1"
	case !bytes.Equal(request.ServiceDate(), response.ServiceDate()) && !response.synthetic(transaction):
		return "D1"
	case transaction == 0:
		return ""
	}
	want, got := unpad(request.RxOf(transaction)), unpad(response.RxOf(transaction))
	if len(got) > 0 && !bytes.Equal(want, got) {
		return "D2"
	}
	if lost, ok := response.cutOff(transaction); ok {
		return Mismatch(segmentName(lost))
	}
	if response.cutInCode(transaction) {
		return "FB"
	}
	return ""
}

// cutInCode reports whether the message ends, without an ETX, in a reject code of one
// character of the transaction: 8 may be what is left of 85, which means another thing.
func (m *Message) cutInCode(transaction int) bool {
	if len(m.segments) == 0 {
		return false
	}
	s := m.segments[len(m.segments)-1]
	fields := m.Fields(s)
	if s.ID != segStatus || int(s.Transaction) != transaction && s.Transaction != 0 || len(fields) == 0 {
		return false
	}
	last := fields[len(fields)-1]
	return last.ID == ID{'F', 'B'} && int(last.End) == len(m.raw) && len(trim(m.Value(last))) == 1
}

// cutOff returns the segment that the standard wants with what a response says of
// a transaction and that is not there: a billing that was paid (P) has 22 and 23.
// Of other answers less is read, and nothing is missed.
func (m *Message) cutOff(transaction int) (lost ID, ok bool) {
	if !isPriced(m.TransactionCode()) {
		return ID{}, false
	}
	status, found := m.either(transaction, segStatus)
	if !found {
		return ID{}, false
	}
	if an, _ := m.In(status, ID{'A', 'N'}); len(an) != 1 || an[0] != 'P' {
		return ID{}, false
	}
	for _, id := range [...]ID{segAnswered, segPaid} {
		if _, found := m.either(transaction, id); !found {
			return id, true
		}
	}
	return ID{}, false
}

// isPriced reports whether a transaction of this code is paid in money.
func isPriced(code []byte) bool {
	switch string(code) {
	case "B1", "B3", "S1", "S3":
		return true
	}
	return false
}

// either returns the segment of the transaction, or that of all.
func (m *Message) either(transaction int, id ID) (Segment, bool) {
	if s, ok := m.Segment(transaction, id); ok {
		return s, true
	}
	return m.Segment(0, id)
}

// synthetic sees the answer that a switch makes up: 85 and NN and no other code.
func (m *Message) synthetic(transaction int) bool {
	var saw85, sawNN bool
	for _, v := range m.Reply(max(1, transaction), nil).Rejects {
		switch string(v) {
		case "85":
			saw85 = true
		case "NN":
			sawNN = true
		default:
			return false
		}
	}
	return saw85 && sawNN
}
