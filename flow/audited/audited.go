// Package audited writes the audit entries of the stages that people drive, and
// makes opening a payload impossible without one (45 CFR 164.312(b)).
package audited

import (
	"context"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// Named returns an error with code Refused unless the act has a person's or a
// stage's name and a reason.
func Named(by claimdlq.By, op string) error {
	switch {
	case by.Actor == "":
		return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "nobody's name", Hint: "say who you are"}
	case by.Reason == "":
		return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "without a reason", Hint: "give a reason; it is kept in the audit log and must name no patient"}
	}
	return nil
}

// Entry returns the audit entry of a step from one state of a record to the next.
func Entry(by claimdlq.By, a claimdlq.Action, from, to claimdlq.Record, now time.Time) claimdlq.Entry {
	return claimdlq.Entry{
		At: now, Actor: by.Actor, Action: a, Record: to.ID, Submission: to.Submission, PayloadRevision: to.PayloadRevision,
		Detail: to.Detail, From: from.State, To: to.State, Note: Note(by.Reason),
	}
}

// Note returns the reason as an entry keeps it: at most 200 bytes.
func Note(reason string) string {
	if len(reason) <= maxNote {
		return reason
	}
	n := maxNote
	for n > 0 && reason[n]&0xC0 == 0x80 { // not inside a rune
		n--
	}
	return reason[:n]
}

const maxNote = 200

// Open makes durable that the records' payloads are about to be opened, by whom
// and why, and returns the proof of it.
func Open(ctx context.Context, s store.Store, by claimdlq.By, a claimdlq.Action, now time.Time, rs ...claimdlq.Record) (claimdlq.Proof, error) {
	var b store.Batch
	for _, r := range rs {
		b.Entries = append(b.Entries, Entry(by, a, r, r, now))
	}
	receipt, err := s.Commit(ctx, b)
	return receipt.Proof, err
}
