package intake

import (
	"context"
	"io"
	"time"

	"claimdlq"
	"claimdlq/wire/x12"
)

// DeadLetter says why another pipeline gives a claim up.
type DeadLetter struct {
	// Reason is required, unless the failure is ambiguous.
	Reason claimdlq.Reason
	// Class and Detail are the last failure's. Detail is de-identified: a code.
	Class  claimdlq.Class
	Detail claimdlq.Detail
	// Attempts is how many deliveries the other pipeline has made.
	Attempts uint32
	// Ambiguous: the payer may have acted on one of them. The claims are in doubt: an
	// acknowledgment, an inquiry or a person says what became of them first.
	Ambiguous bool
}

// DeadLetter takes in what another pipeline gives up: 837 or pharmacy claims, as
// File does, but nothing goes out. Every claim is quarantined for the given reason, or
// in doubt where the failure was ambiguous. What our own rules refuse is quarantined for
// that, unless it is in doubt. Errors: Invalid without a reason; those of File.
func (in *Intake) DeadLetter(ctx context.Context, by claimdlq.By, r io.Reader, d DeadLetter) (Result, error) {
	if d.Reason == claimdlq.ReasonNone && !d.Ambiguous {
		return Result{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: "take in dead letter", On: "without a reason", Hint: "say why it was given up, such as RETRIES_EXHAUSTED"}
	}
	f := in.open(ctx, by, "")
	f.dead = &d
	err := f.any(r)
	return f.result, err
}

// doubts reports that what is taken in may be with the payer; a nil DeadLetter is a claim
// that nobody has sent.
func (x *DeadLetter) doubts() bool { return x != nil && x.Ambiguous }

// stamp returns the new pharmacy record as given up.
func (x *DeadLetter) stamp(r claimdlq.Record, it *item, now time.Time) claimdlq.Record {
	if it.bad && !x.Ambiguous {
		r = dead(r, it.fault, now)
		r.AttemptCount, r.ReceiveCount = x.Attempts, x.Attempts
		return r
	}
	return x.given(r, now)
}

// given returns the new record as given up for the pipeline's reason.
func (x *DeadLetter) given(r claimdlq.Record, now time.Time) claimdlq.Record {
	r.State, r.Hold, r.FirstFailedAt = claimdlq.StateQuarantined, claimdlq.HoldNone, now
	r.Reason, r.Class, r.Detail = x.Reason, x.Class, x.Detail
	r.AttemptCount, r.ReceiveCount = x.Attempts, x.Attempts
	switch {
	case x.Ambiguous:
		r.State, r.Reason, r.FateUnknown = claimdlq.StateInDoubt, claimdlq.OutcomeUnknown, true
	case x.Reason != claimdlq.RetriesExhausted && x.Reason != claimdlq.Overflow:
		r.RefusedRevision = r.PayloadRevision
	}
	return r
}

// give puts the set into the batch as another pipeline gives it up: whole, and for its
// reason unless our own rules refuse all of it.
func (f *file) give(e *x12.Set, r claimdlq.Record, d owned) {
	if v := judge(e, nil); v.whole != nil && !f.dead.Ambiguous {
		r = dead(r, *v.whole, f.now())
		r.AttemptCount, r.ReceiveCount = f.dead.Attempts, f.dead.Attempts
	} else {
		r = f.dead.given(r, f.now())
	}
	p := pending{record: r, action: claimdlq.ActEnqueue, group: f.x.group}
	if r.State != claimdlq.StateInDoubt {
		f.o.Guard.Free(d.held) // it does not go out: it stands in nobody's way
		f.batch.add(p, 0)
		return
	}
	f.batch.held = append(f.batch.held, d.held...)
	p.fingerprints = d.register
	f.batch.add(p, 0)
}
