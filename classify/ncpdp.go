package classify

import (
	"maps"

	"claimdlq"
)

// NCPDPClass is what the answer to a pharmacy transaction means. The set is closed.
type NCPDPClass uint8

// The classes.
const (
	NCPDPNone NCPDPClass = iota
	// NCPDPSettled: paid, or approved.
	NCPDPSettled
	// NCPDPAlreadyPaid: the payer has paid this claim before. After an ambiguous
	// failure of ours it is the payment that went missing.
	NCPDPAlreadyPaid
	// NCPDPCaptured: kept for later; nothing is decided. Wait, and do not send again.
	NCPDPCaptured
	// NCPDPDeferred: a prior authorisation is being decided. Wait.
	NCPDPDeferred
	// NCPDPAlreadyReversed: the reversal had been accepted before.
	NCPDPAlreadyReversed
	// NCPDPNothingToReverse: the payer has no paid claim to take back.
	NCPDPNothingToReverse
	// NCPDPTerminal: refused for good.
	NCPDPTerminal
	// NCPDPPoison: refused for its form; a correction may help, trying again cannot.
	NCPDPPoison
	// NCPDPTransient: not adjudicated now; the same bytes may pass later.
	NCPDPTransient
	// NCPDPSuspect: the answer contradicts itself or the request. A person decides.
	NCPDPSuspect
)

var ncpdpClassNames = [...]string{
	"", "SETTLED", "ALREADY_PAID", "CAPTURED", "DEFERRED", "ALREADY_REVERSED", "NOTHING_TO_REVERSE",
	"TERMINAL", "POISON", "TRANSIENT", "SUSPECT",
}

// String returns the class as it is spelled in JSON.
func (c NCPDPClass) String() string {
	if int(c) < len(ncpdpClassNames) {
		return ncpdpClassNames[c]
	}
	return ""
}

// MarshalText implements encoding.TextMarshaler.
func (c NCPDPClass) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// NCPDPAnswer is what a response says of one transaction, and what is known
// about it here. Its slices are PHI and are not kept.
type NCPDPAnswer struct {
	Code   [2]byte // 103-A3 of the request
	Header byte    // 501-F1; 0 if there is none
	Found  bool    // there is a status segment
	Status byte    // 112-AN; 0 if it is missing
	// Rejects are the 511-FB as received, Texts the 504-F4 and 526-FQ.
	Rejects, Texts [][]byte
	// BIN and PCN choose the overrides.
	BIN, PCN []byte
	// Mismatch is the field in which it contradicts the request, or the segment
	// without which it was cut off (ncpdp.Correlate); empty if it is whole and fits.
	Mismatch string
	// AfterAmbiguous: an earlier delivery of this claim ended without a known fate.
	AfterAmbiguous bool
}

// NCPDPResult is the meaning of an answer.
type NCPDPResult struct {
	Class NCPDPClass
	// Ambiguous: the payer may have adjudicated although it did not say so.
	Ambiguous bool
	Budget    Budget
	// Code says which part of the answer decided: FB_92, AN_D, F1_R, ECHO_D2, CUT_23.
	Code claimdlq.Detail
	// Recovered: a payment, or a reversal, of an earlier delivery with unknown fate.
	Recovered bool
	// Verify: the payer may mean another pharmacy's claim, or have none: compare the
	// key before the claim is taken as settled.
	Verify bool
	// Unknown: a reject code that is in no table. It was taken as TERMINAL; count it.
	Unknown bool
	// Split: the payer wants the transactions one by one.
	Split bool
	// Config: our set-up at the payer is wrong, not the claim.
	Config bool
	// Stop: the payer asks not to be tried again; open its breaker.
	Stop bool
	// Overridden: a partner's own rule decided.
	Overridden bool

	outcome claimdlq.OutcomeKind // of Settled, which may be one of three
}

// Outcome returns the outcome on which the flow acts. An answer that waits for
// another (captured, deferred) is submitted; a suspect one is unknown.
func (r NCPDPResult) Outcome() claimdlq.Outcome {
	o := claimdlq.Outcome{Code: r.Code, Ambiguous: r.Ambiguous}
	switch r.Class {
	case NCPDPSettled:
		o.Kind = r.outcome
	case NCPDPAlreadyPaid:
		o.Kind = claimdlq.OutcomeDuplicate
	case NCPDPCaptured, NCPDPDeferred:
		o.Kind = claimdlq.OutcomeSubmitted
	case NCPDPAlreadyReversed, NCPDPNothingToReverse:
		o.Kind = claimdlq.OutcomeReversed
	case NCPDPTerminal:
		o.Kind = claimdlq.OutcomeRejected
	case NCPDPPoison:
		o.Kind = claimdlq.OutcomePoison
	case NCPDPTransient:
		o.Kind = claimdlq.OutcomeTransient
	case NCPDPSuspect, NCPDPNone:
		o.Kind = claimdlq.OutcomeUnknownKind
	}
	return o
}

// FailureClass returns the class for the retry policy; none if nothing failed.
func (r NCPDPResult) FailureClass() claimdlq.Class {
	switch r.Class {
	case NCPDPTerminal:
		return claimdlq.Terminal
	case NCPDPPoison:
		return claimdlq.Poison
	case NCPDPTransient:
		return claimdlq.Transient
	case NCPDPNone, NCPDPSettled, NCPDPAlreadyPaid, NCPDPCaptured, NCPDPDeferred, NCPDPAlreadyReversed,
		NCPDPNothingToReverse, NCPDPSuspect:
	}
	return claimdlq.ClassNone
}

// Reason returns why a claim with this answer is dead-lettered; none if it is not.
func (r NCPDPResult) Reason() claimdlq.Reason {
	switch r.Class {
	case NCPDPTerminal:
		return claimdlq.SemanticReject
	case NCPDPPoison:
		return claimdlq.FatalSyntax
	case NCPDPTransient:
		return claimdlq.RetriesExhausted
	case NCPDPSuspect:
		return claimdlq.OutcomeUnknown
	case NCPDPNone, NCPDPSettled, NCPDPAlreadyPaid, NCPDPCaptured, NCPDPDeferred, NCPDPAlreadyReversed,
		NCPDPNothingToReverse:
	}
	return claimdlq.ReasonNone
}

// Says reports whether the status, 112-AN, decided and was this one: D and not 83, which
// both say that a claim was paid before.
func (r NCPDPResult) Says(status byte) bool {
	return r.Code == codeStatus[string([]byte{status})] && !r.Code.IsZero()
}

// Waits reports whether the claim stays with the payer until it answers again.
func (r NCPDPResult) Waits() bool { return r.Class == NCPDPCaptured || r.Class == NCPDPDeferred }

// codes of answers that need no table, made once.
var (
	codeEcho     = mismatches()
	codeStatus   = detailsOf("AN_", "A", "B", "C", "D", "F", "P", "Q", "S")
	codeHeaderR  = claimdlq.NewDetail("F1_R")
	codeNoStatus = claimdlq.NewDetail("NO_STATUS")
	codeNoCodes  = claimdlq.NewDetail("AN_R_WITHOUT_CODES")
	codeClash    = claimdlq.NewDetail("ANSWER_CONTRADICTS_ITSELF")
	codeStatusX  = claimdlq.NewDetail("AN_UNKNOWN")
	codeText     = claimdlq.NewDetail("TEXT_RULE")
)

func mismatches() map[string]claimdlq.Detail {
	m := detailsOf("ECHO_", "A3", "A9", "B1", "D1", "D2")
	maps.Copy(m, detailsOf("CUT_", "22", "23", "FB"))
	return m
}

func detailsOf(prefix string, names ...string) map[string]claimdlq.Detail {
	m := make(map[string]claimdlq.Detail, len(names))
	for _, n := range names {
		m[n] = claimdlq.NewDetail(prefix + n)
	}
	return m
}

// NCPDP classifies an answer by the table alone; see NCPDPRules.Classify.
func NCPDP(a NCPDPAnswer) NCPDPResult { return (*NCPDPRules)(nil).Classify(a) }

// Classify says what an answer means:
//
//   - an answer that contradicts the request is suspect, whatever it says, and so is
//     a payment whose claim or price was cut off;
//   - 112-AN decides; where it is missing, 501-F1 does; a yes with reject codes,
//     a yes under a refused header, and a status that does not fit the
//     transaction are suspect;
//   - of several reject codes a deterministic one beats a transient one, for it
//     proves that the claim was looked at; so 99 and 85 count alone only. The
//     one exception is NN beside 85: a switch made the answer up after a time-out;
//   - an override for the partner stands in place of the table's class for a code,
//     and one for a text in place of all codes of a reject.
func (rules *NCPDPRules) Classify(a NCPDPAnswer) NCPDPResult {
	if a.Mismatch != "" {
		r := suspect(codeEcho[a.Mismatch])
		if r.Code.IsZero() {
			r.Code = codeClash
		}
		return r
	}
	switch a.Status {
	case 'R':
		return rules.rejected(a)
	case 0:
		return rules.silent(a)
	}
	if a.Header == 'R' || hasCodes(a.Rejects) {
		return suspect(codeClash)
	}
	return affirmed(a)
}

func suspect(code claimdlq.Detail) NCPDPResult {
	return NCPDPResult{Class: NCPDPSuspect, Ambiguous: true, Code: code}
}

func hasCodes(rejects [][]byte) bool {
	for _, b := range rejects {
		if _, ok := NormalReject(b); ok {
			return true
		}
	}
	return false
}

// silent judges an answer without 112-AN. A refused header without any code
// refuses the whole transmission for its form.
func (rules *NCPDPRules) silent(a NCPDPAnswer) NCPDPResult {
	switch {
	case a.Header != 'R':
		return suspect(codeNoStatus)
	case hasCodes(a.Rejects):
		return rules.rejected(a)
	}
	if r, ok := rules.byText(a); ok {
		return r
	}
	if a.Found {
		return suspect(codeNoCodes)
	}
	return NCPDPResult{Class: NCPDPPoison, Code: codeHeaderR}
}

// affirmed judges every status but R.
func affirmed(a NCPDPAnswer) NCPDPResult {
	r := NCPDPResult{Code: codeStatus[string([]byte{a.Status})]}
	reversal, billing := isReversal(a.Code), isBilling(a.Code)
	switch a.Status {
	case 'P':
		r.Class, r.outcome = NCPDPSettled, claimdlq.OutcomePaid
	case 'A':
		r.Class, r.outcome = NCPDPSettled, claimdlq.OutcomeAccepted
		if reversal {
			r.outcome = claimdlq.OutcomeReversed
		}
	case 'B': // a benefit, told of a claim that is not billed
		r.Class, r.outcome = NCPDPSettled, claimdlq.OutcomeAccepted
	case 'D':
		r.Class, r.Recovered = NCPDPAlreadyPaid, a.AfterAmbiguous
	case 'C', 'Q':
		r.Class = NCPDPCaptured
	case 'F':
		r.Class = NCPDPDeferred
	case 'S':
		r.Class, r.outcome = NCPDPSettled, claimdlq.OutcomeAccepted
		if reversal {
			r.Class, r.Recovered = NCPDPAlreadyReversed, a.AfterAmbiguous
		}
	default:
		return suspect(codeStatusX)
	}
	paid := a.Status == 'P' || a.Status == 'D'
	if reversal && paid || billing && (a.Status == 'S' || a.Status == 'B') {
		return suspect(codeClash)
	}
	return r
}

func isReversal(code [2]byte) bool {
	return code[1] == '2' && (code[0] == 'B' || code[0] == 'C' || code[0] == 'N' || code[0] == 'P' || code[0] == 'S')
}

func isBilling(code [2]byte) bool {
	return code[0] == 'B' && !isReversal(code)
}
