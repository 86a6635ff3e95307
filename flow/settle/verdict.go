package settle

import (
	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/x12ack"
)

// conclusive reports whether an answer about a batch or provider says something
// about every claim of it: a reject or "not now" does, an acceptance does not.
func conclusive(a x12ack.Answer) bool {
	switch a.Result {
	case classify.Rejected, classify.Duplicate, classify.TryLater:
		return true
	case classify.Accepted, classify.AcceptedWithErrors, classify.Pending, classify.AlreadyReceived:
	}
	return false
}

// fate is what an answer makes of one claim.
type fate uint8

const (
	fateWait     fate = iota // it is with the payer, and undecided
	fateAccepted             // in adjudication
	fateRejected             // must be corrected
	fateFinal                // settled as a duplicate
	fateTryLater             // not taken in now
)

func fateOf(a x12ack.Answer) fate {
	switch a.Result {
	case classify.Accepted:
		return fateAccepted
	case classify.Rejected:
		return fateRejected
	case classify.Duplicate, classify.AlreadyReceived:
		return fateFinal
	case classify.TryLater:
		return fateTryLater
	case classify.AcceptedWithErrors, classify.Pending:
	}
	return fateWait
}

// standing is what a record's state lets an answer do to it.
type standing uint8

const (
	standsWaiting standing = iota // it waits for this answer: anything
	standsHeld                    // an acceptance settles it after all: we hold it back, or have sent it again since
	standsSettled                 // accepted: a later and more specific reject reopens it
	standsClosed                  // nothing
)

// wentOut reports that the record may have been sent, from here or by another pipeline.
func wentOut(r claimdlq.Record) bool { return r.AttemptCount > 0 || r.Submission != 0 }

// standingOf says what an answer may do to a record. stale answers are for an
// earlier sending of a record that has been sent again since. It is pure.
func standingOf(r claimdlq.Record, stale bool) standing {
	if !wentOut(r) {
		return standsClosed // it was never sent: the answer is about something else
	}
	switch r.State {
	case claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateInDoubt:
		if stale {
			return standsHeld // the newer sending will be answered too; but the payer has the claim
		}
		return standsWaiting
	case claimdlq.StateQueued:
		if r.FateUnknown && !stale {
			return standsWaiting
		}
		return standsHeld
	case claimdlq.StateParked:
		if r.FateUnknown && !stale {
			return standsWaiting
		}
		return standsHeld
	case claimdlq.StateQuarantined:
		return standsHeld
	case claimdlq.StateSettled:
		if r.Disposition == claimdlq.Accepted && !stale {
			return standsSettled
		}
	case claimdlq.StateWithdrawn:
	}
	return standsClosed
}

// acts reports whether a fate changes anything for a record of that standing.
func (s standing) acts(f fate) bool {
	switch s {
	case standsWaiting:
		return true
	case standsHeld:
		return f == fateAccepted
	case standsSettled:
		return f == fateRejected
	case standsClosed:
	}
	return false
}

// doubted reports that the record's arrival was once unknown: a duplicate then is
// a recovered acceptance.
func doubted(r claimdlq.Record) bool {
	return r.State == claimdlq.StateInDoubt || r.Reason == claimdlq.OutcomeUnknown
}

// final returns how a claim ends that the payer calls a duplicate.
func final(r claimdlq.Record) claimdlq.Disposition {
	if doubted(r) {
		return claimdlq.DuplicateOfPaid
	}
	return claimdlq.Rejected
}
