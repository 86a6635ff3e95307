package claimdlq

import "time"

// OutcomeKind is how one delivery ended. The set is closed.
type OutcomeKind uint8

// The outcomes of a delivery.
const (
	// OutcomeUnknownKind: nobody can tell whether it arrived. Zero on purpose: an
	// outcome that nobody filled in is in doubt, never a success.
	OutcomeUnknownKind OutcomeKind = iota
	// OutcomeSubmitted: the target has it; the payer's acknowledgment will follow.
	OutcomeSubmitted
	// OutcomePaid: adjudicated and paid.
	OutcomePaid
	// OutcomeAccepted: accepted into adjudication.
	OutcomeAccepted
	// OutcomeDuplicate: the payer had it already.
	OutcomeDuplicate
	// OutcomeReversed: the reversal was accepted.
	OutcomeReversed
	// OutcomeRejected: refused for what it says; TERMINAL.
	OutcomeRejected
	// OutcomePoison: refused for its form.
	OutcomePoison
	// OutcomeTransient: not accepted now; it may be later.
	OutcomeTransient
)

var outcomeNames = [...]string{
	"UNKNOWN", "SUBMITTED", "PAID", "ACCEPTED", "DUPLICATE", "REVERSED", "REJECTED", "POISON", "TRANSIENT",
}

// String returns the outcome's name.
func (k OutcomeKind) String() string { return nameOf(outcomeNames[:], int(k), "outcome") }

// Outcome is how one delivery, or the acknowledgment of one, ended.
type Outcome struct {
	Kind OutcomeKind
	// Code says why, de-identified: HTTP_503, TIMEOUT, TA1:006, STC:A7:562.
	Code Detail
	// Ambiguous marks a failure after which the payer may have acted. An
	// ambiguous failure is in doubt unless the target may re-send identically.
	Ambiguous bool
	// RetryAfter is the wait the other side asked for; 0 if it did not.
	RetryAfter time.Duration
}
