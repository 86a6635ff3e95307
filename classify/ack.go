package classify

import (
	"cmp"

	"claimdlq"
)

// Result is what an acknowledgment says about what it answers, in the words
// people and JSON use. The set is closed.
type Result string

// The results.
const (
	Accepted           Result = "accepted"
	AcceptedWithErrors Result = "accepted with errors" // the sender must not resend
	Rejected           Result = "rejected"
	Pending            Result = "pending"
	TryLater           Result = "transient"
	Duplicate          Result = "duplicate"
	AlreadyReceived    Result = "already received"
)

// Ack is the meaning of one acknowledgment.
type Ack struct {
	Result  Result
	Class   claimdlq.Class
	Reason  claimdlq.Reason
	Outcome claimdlq.Outcome
	// Unknown: a code is not in the table. It was judged by the code above it, or
	// as TERMINAL; it should be counted and looked at.
	Unknown bool
}

// Verdict returns the class in the vocabulary of validation: OK, FATAL_SYNTAX,
// TERMINAL or TRANSIENT.
func (a Ack) Verdict() string {
	switch a.Class {
	case claimdlq.Poison:
		return "FATAL_SYNTAX"
	case claimdlq.Terminal:
		return "TERMINAL"
	case claimdlq.Transient:
		return "TRANSIENT"
	case claimdlq.ClassNone:
	}
	return "OK"
}

// TA1 classifies TA104 (A, E or R) with note TA105. The status decides whether
// it was received: an accepted interchange stays accepted whatever the note, and
// with E the sender must not resend. ok is false where TA104 is none of them:
// then nothing may be concluded. A note may lack its leading zeros; where there is
// none, the code names the status.
func TA1(status, note string) (a Ack, ok bool) {
	if n := len(note); n > 0 && n < 3 {
		note = "000"[n:] + note
	}
	code := claimdlq.NewDetail("TA1:" + cmp.Or(note, status))
	switch status {
	case "A":
		return submitted(Accepted, code), true
	case "E":
		return submitted(AcceptedWithErrors, code), true
	case "R":
	default:
		return Ack{}, false
	}
	r, known := Lookup("TA1", note)
	if !known || note == "000" { // rejected for no reason that we know: trying again cannot help
		r = Rule{Result: Rejected, Class: claimdlq.Terminal, Reason: claimdlq.FatalSyntax}
	}
	return ackOf(r, code, !known), true
}

// Set classifies IK501 with the IK502 codes of one transaction set. A code that
// names configuration or security is TERMINAL, whatever else is listed: no
// correction of the claim can help.
func Set(ik501 string, ik502 []string) (a Ack, ok bool) { return verdict("IK5", ik501, ik502) }

// Group classifies AK901 with the AK905 codes of one functional group. P is
// accepted with errors: the rejected sets have verdicts of their own.
func Group(ak901 string, ak905 []string) (a Ack, ok bool) { return verdict("AK9", ak901, ak905) }

func verdict(scope, code string, why []string) (Ack, bool) {
	head, tail := "IK501", "IK502"
	if scope == "AK9" {
		head, tail = "AK901", "AK905"
	}
	r, ok := Lookup(head, code)
	if !ok {
		return Ack{}, false
	}
	detail := scope + ":" + code
	if r.Class == claimdlq.ClassNone {
		return submitted(r.Result, claimdlq.NewDetail(detail)), true
	}
	unknown := false
	for i, c := range why {
		w, known := Lookup(tail, c)
		unknown = unknown || !known
		if i == 0 {
			detail += ":" + c
		}
		if w.Class == claimdlq.Terminal && r.Class != claimdlq.Terminal {
			r.Class, detail = claimdlq.Terminal, scope+":"+code+":"+c
		}
	}
	return ackOf(r, claimdlq.NewDetail(detail), unknown), true
}

// Status is one status of a 277CA: STC01, STC10 or STC11, and STC03.
type Status struct {
	Category, Code, Entity string
	Action                 string // STC03: WQ accepted, U rejected
}

// Detail returns the status as STC:A7:562:85.
func (s Status) Detail() claimdlq.Detail {
	d := "STC:" + s.Category
	if s.Code != "" {
		d += ":" + s.Code
	}
	if s.Entity != "" {
		d += ":" + s.Entity
	}
	return claimdlq.NewDetail(d)
}

// Statuses classifies all statuses that a 277CA gives for one claim, provider or
// batch. A reject beats everything, for a claim is not half accepted; then
// "accepted", because what is in adjudication must not be sent again; then
// "transient", then "pending". A reject with status 54 or 78 is
// a duplicate. A category that is not in the table is a reject if STC03 says so,
// and otherwise pending: nothing may be concluded. ok is false where there is
// no status at all.
func Statuses(all []Status) (a Ack, ok bool) {
	for i, s := range all {
		r, known := Lookup("STC", s.Category)
		if !known {
			r = Rule{Result: Pending}
			if s.Action == "U" {
				r = Rule{Result: Rejected, Class: claimdlq.Terminal, Reason: claimdlq.SemanticReject}
			}
		}
		if r.Result == Rejected {
			if d, is := Lookup("STATUS", s.Code); is {
				r = d
			}
		}
		unknown := a.Unknown || !known
		if i == 0 || weight(r.Result) > weight(a.Result) {
			a = ackOf(r, s.Detail(), unknown)
		}
		a.Unknown = unknown
	}
	return a, len(all) > 0
}

func weight(r Result) int {
	switch r {
	case Duplicate, AlreadyReceived:
		return 5
	case Rejected:
		return 4
	case AcceptedWithErrors, Accepted:
		return 3
	case TryLater:
		return 2
	case Pending:
	}
	return 1
}

func submitted(r Result, code claimdlq.Detail) Ack {
	return Ack{Result: r, Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: code}}
}

func ackOf(r Rule, code claimdlq.Detail, unknown bool) Ack {
	a := Ack{Result: r.Result, Class: r.Class, Reason: r.Reason, Unknown: unknown}
	a.Outcome = claimdlq.Outcome{Kind: outcomeOf(r), Code: code}
	return a
}

func outcomeOf(r Rule) claimdlq.OutcomeKind {
	switch r.Result {
	case Accepted:
		return claimdlq.OutcomeAccepted
	case Duplicate, AlreadyReceived:
		return claimdlq.OutcomeDuplicate
	case TryLater:
		return claimdlq.OutcomeTransient
	case Rejected:
		if r.Class == claimdlq.Poison {
			return claimdlq.OutcomePoison
		}
		return claimdlq.OutcomeRejected
	case AcceptedWithErrors, Pending:
	}
	return claimdlq.OutcomeSubmitted
}
