package x12ack

import (
	"bytes"
	"strings"

	"claimdlq/classify"
	"claimdlq/phi"
	"claimdlq/wire/x12"
)

// The levels of a 277CA (HL03): source of the information, receiver (batch),
// billing provider, patient.
const (
	levelBatch    = "21"
	levelProvider = "19"
	levelPatient  = "PT"
)

// status277 collects the statuses of a batch, a provider or a claim.
type status277 struct {
	answer Answer
	stc    []classify.Status
	line   []classify.Status // of its service lines (2220D)
	inLine bool
	at     int // position of its TRN or HL
}

// batch277 is one 2000B loop with what is below it.
type batch277 struct {
	batch     *status277
	providers []*status277
	claims    []Answer
}

// reader277 reads one 277CA.
type reader277 struct {
	p     *reader
	base  Answer
	level string
	b     *batch277
	claim *status277
}

// read277CA reads 005010X214: what the payer says about a batch (2200B), about
// each billing provider (2200C) and about each claim (2200D).
func (p *reader) read277CA(s *x12.Segments) {
	r := reader277{p: p, base: Answer{Envelope: p.original, GroupSender: p.groupSender, GroupReceiver: p.groupReceiver}}
	for s.Next() {
		switch s.ID() {
		case "HL":
			r.hl(s)
		case "NM1":
			if r.level == levelProvider && string(s.Element(1)) == "85" {
				r.provider().answer.Provider = held(s.Element(9), 80)
			}
		case "TRN":
			r.trn(s)
		case "STC":
			r.stc(s)
		case "SVC":
			if r.claim != nil {
				r.claim.inLine = true
			}
		case "REF":
			if r.claim != nil && !r.claim.inLine && string(s.Element(1)) == "1K" {
				r.claim.answer.PayerControl = held(s.Element(2), 80)
			}
		}
	}
	r.endBatch()
}

func (r *reader277) hl(s *x12.Segments) {
	r.endClaim()
	r.level = text(s, 3)
	switch {
	case r.level == levelBatch, r.level == "20":
		r.endBatch()
		if r.level == levelBatch {
			a := r.base
			a.Kind = KindBatch
			r.b = &batch277{batch: &status277{answer: a, at: s.Pos()}}
		}
	case r.b == nil:
	case r.level == levelProvider:
		a := r.b.batch.answer
		a.Kind, a.Ordinal, a.Claims = KindProvider, len(r.b.providers)+1, 0
		r.b.providers = append(r.b.providers, &status277{answer: a, at: s.Pos()})
	}
}

// provider returns the provider that is open; there is one at its level.
func (r *reader277) provider() *status277 {
	if r.b == nil || len(r.b.providers) == 0 {
		return &status277{}
	}
	return r.b.providers[len(r.b.providers)-1]
}

func (r *reader277) trn(s *x12.Segments) {
	if r.b == nil {
		return
	}
	switch r.level {
	case levelBatch:
		r.b.batch.answer.BHT03 = held(s.Element(2), 50)
	case levelPatient:
		r.endClaim()
		a := r.b.batch.answer
		a.Kind, a.CLM01, a.Claims = KindClaim, held(s.Element(2), 80), 0
		r.claim = &status277{answer: a, at: s.Pos()}
	}
}

func (r *reader277) stc(s *x12.Segments) {
	var to *status277
	switch {
	case r.claim != nil:
		to = r.claim
	case r.b != nil && r.level == levelBatch:
		to = r.b.batch
	case r.b != nil && r.level == levelProvider:
		to = r.provider()
	default:
		r.p.fault("STC", s.Pos(), "STC_PLACE")
		return
	}
	list := &to.stc
	if to.inLine {
		list = &to.line
	}
	for _, n := range []int{1, 10, 11} { // STC10 and STC11 add statuses to STC01
		st := classify.Status{
			Category: part(s, n, 1), Code: part(s, n, 2), Entity: part(s, n, 3), Action: text(s, 3),
		}
		if st.Category != "" && len(*list) < MaxCodes {
			*list = append(*list, st)
		}
	}
}

// finish classifies what was collected. The claim's own statuses decide; those
// of its lines only where it has none.
func (x *status277) finish() (Answer, bool) {
	decide := x.stc
	if len(decide) == 0 {
		decide = x.line
	}
	ack, ok := classify.Statuses(decide)
	x.answer.Ack = ack
	for _, st := range append(x.stc, x.line...) {
		if len(x.answer.Codes) < MaxCodes {
			x.answer.Codes = append(x.answer.Codes, st.Detail())
		}
	}
	return x.answer, ok
}

func (r *reader277) endClaim() {
	if r.claim == nil {
		return
	}
	a, ok := r.claim.finish()
	switch {
	case !ok || a.CLM01.Len() == 0:
		r.p.fault("TRN", r.claim.at, "CLAIM")
	case r.p.total+len(r.b.claims) < maxAnswers:
		r.b.batch.answer.Claims++
		r.provider().answer.Claims++
		a.Ordinal = len(r.b.claims) + 1
		r.b.claims = append(r.b.claims, a)
	default:
		r.p.fault("TRN", r.claim.at, "TOO_MANY_ANSWERS")
	}
	r.claim = nil
}

func (r *reader277) endBatch() {
	r.endClaim()
	if r.b == nil {
		return
	}
	b := r.b
	r.b = nil
	batch, ok := b.batch.finish()
	var providers []Answer
	for _, x := range b.providers {
		a, has := x.finish()
		if has {
			providers = append(providers, a)
		}
	}
	if whole, is := allProviders(providers, len(b.providers)); is && batch.Claims == 0 && (!ok || weak(batch.Result)) {
		batch.Ack, ok = whole.Ack, true
		batch.Codes = append(batch.Codes, whole.Codes...)
	}
	if batch.BHT03.Len() == 0 {
		r.p.fault("TRN", b.batch.at, "NO_BATCH_NUMBER")
	}
	if ok {
		r.p.add(batch)
	}
	if !ok && len(providers) == 0 && len(b.claims) == 0 {
		r.p.fault("HL", b.batch.at, "NO_STATUS")
	}
	for _, a := range append(providers, b.claims...) {
		r.p.add(a)
	}
}

// allProviders returns the first provider's answer if every provider of the
// batch was refused: then no claim of it entered adjudication.
func allProviders(all []Answer, loops int) (Answer, bool) {
	if len(all) == 0 || len(all) < loops {
		return Answer{}, false
	}
	for _, a := range all {
		if weak(a.Result) {
			return Answer{}, false
		}
	}
	return all[0], true
}

// weak reports whether a result leaves claims a chance.
func weak(r classify.Result) bool {
	return r == classify.Accepted || r == classify.AcceptedWithErrors || r == classify.Pending
}

// part returns a component that is a code, or "".
func part(s *x12.Segments, n, c int) string {
	v := strings.TrimSpace(string(s.Component(n, c)))
	if !code(v, 4) {
		return ""
	}
	return v
}

// held returns a copy of an identifier, or nothing if it is longer than most.
func held(e []byte, most int) phi.Bytes {
	e = bytes.TrimSpace(e)
	if len(e) == 0 || len(e) > most {
		return phi.Bytes{}
	}
	return phi.Wrap(bytes.Clone(e))
}
