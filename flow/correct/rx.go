package correct

import (
	"bytes"
	"slices"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/flow/filing"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
)

// draftRx judges a corrected pharmacy transaction, which stands alone in its
// message.
func draftRx(r claimdlq.Record, present, doc phi.Bytes) (Draft, error) {
	d := Draft{Proposal: Proposal{ID: r.ID, Revision: r.Revision, RuleVersion: envelope.RxRules, doc: doc}}
	p := &d.Proposal
	var err error
	if d.RxPlaces, err = ncpdp.Differences(present.Reveal(), doc.Reveal()); err != nil {
		return Draft{}, err
	}
	for i := range d.RxPlaces {
		p.RxChanges = append(p.RxChanges, d.RxPlaces[i].Change)
	}
	was, is := ncpdp.Parse(present.Reveal()), ncpdp.Parse(doc.Reveal())
	p.Codes, p.RxFaults = faultsRx(is)
	if !sameFill(was, is) {
		p.Codes = append(p.Codes, claimdlq.NewDetail("RULE:IDENTITY_LOCKED"))
	}
	p.partner = partnerOf(is)
	p.basis.Add(0, filing.ParseDay(is.ServiceDate()))
	if cents, ok := is.AmountOf(1, ncpdp.IDOf("DU")); ok {
		p.AmountCents = cents.Units
	}
	p.Clean = len(p.Codes) == 0
	return d, nil
}

// faultsRx returns what stands in the way of sending the message: its codes, each once,
// and the faults that have a place in it.
func faultsRx(m *ncpdp.Message) (codes []claimdlq.Detail, faults []ncpdp.Fault) {
	add := func(d claimdlq.Detail) {
		if !slices.Contains(codes, d) {
			codes = append(codes, d)
		}
	}
	if m.Kind() != ncpdp.KindRequest || m.Version() != ncpdp.VersionD0 {
		add(claimdlq.NewDetail("RULE:NOT_A_CLAIM"))
		return codes, nil
	}
	for _, f := range m.Validate() {
		if f.Severity == ncpdp.Error {
			add(f.Detail())
			faults = append(faults, f)
		}
	}
	if m.Groups() > 1 {
		add(claimdlq.NewDetail("RULE:CLAIM_COUNT"))
	}
	if _, f := m.Claim(min(1, m.Groups())); f != nil {
		if !slices.Contains(codes, f.Detail()) {
			faults = append(faults, *f)
		}
		add(f.Detail())
	}
	return codes, faults
}

// sameFill reports whether both messages are about the same fill by the same
// pharmacy: what answers and reversals find it by. Spelling that means the same is
// no difference. Where it is sent, and for whom, may be corrected.
func sameFill(a, b *ncpdp.Message) bool {
	if !bytes.Equal(a.TransactionCode(), b.TransactionCode()) {
		return false
	}
	x, xf := a.Claim(min(1, a.Groups()))
	y, yf := b.Claim(min(1, b.Groups()))
	if xf == nil && yf == nil {
		return bytes.Equal(x.Provider, y.Provider) && bytes.Equal(x.ProviderQualifier, y.ProviderQualifier) &&
			bytes.Equal(x.RxQualifier, y.RxQualifier) && bytes.Equal(x.Rx, y.Rx) && bytes.Equal(x.Date, y.Date)
	}
	if !bytes.Equal(a.Provider(), b.Provider()) || !bytes.Equal(a.ProviderQualifier(), b.ProviderQualifier()) ||
		!bytes.Equal(a.ServiceDate(), b.ServiceDate()) {
		return false
	}
	for _, field := range [...]string{"EM", "D2"} {
		v, had := a.Get(1, ncpdp.IDOf("07"), ncpdp.IDOf(field))
		w, has := b.Get(1, ncpdp.IDOf("07"), ncpdp.IDOf(field))
		if had != has || !bytes.Equal(v, w) {
			return false
		}
	}
	return true
}

// partnerOf returns who must act on the message, as a record keeps it.
func partnerOf(m *ncpdp.Message) string {
	partner := string(m.BIN()) + ":" + string(m.PCN())
	for i := range len(partner) {
		if c := partner[i]; c <= ' ' || c > '~' || c == '|' {
			return "INVALID"
		}
	}
	return partner
}

// isRx reports whether the record is a pharmacy claim.
func isRx(r claimdlq.Record) bool { return r.Format == claimdlq.FormatNCPDP }

// alone returns the transaction of the record alone in its message; what is no
// transaction, as it was received.
func alone(raw phi.Bytes, r claimdlq.Record) (phi.Bytes, error) {
	if r.Scope > claimdlq.ScopeClaim {
		return raw, nil
	}
	return envelope.RxDocument(raw, r)
}
