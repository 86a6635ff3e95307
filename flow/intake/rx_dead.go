package intake

import (
	"context"
	"io"
	"time"

	"claimdlq"
	"claimdlq/store"
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

// releaseDoubt puts the sets in doubt into the submission that the other pipeline has
// made of the interchange, so that its acknowledgments are matched.
func (f *file) releaseDoubt(x *interchange) error {
	var members []claimdlq.IDRange
	var groups []claimdlq.GroupControl
	for _, g := range x.groups {
		g.order()
		if len(g.ids) > 0 {
			members, groups = append(members, g.ids...), append(groups, g.control())
			f.result.InDoubt += g.claims
		}
	}
	if len(members) == 0 {
		return nil
	}
	s := f.submission(x, parcel{own: true, groups: groups, members: members})
	s.State, s.SentAt, s.Last = claimdlq.SubmissionInDoubt, s.CreatedAt, f.dead.Detail
	receipt, err := f.o.Store.Commit(f.ctx, store.Batch{NewSubmissions: []claimdlq.Submission{s}})
	if err != nil {
		return err
	}
	for _, run := range members {
		for id := run.First; id <= run.Last; {
			var b store.Batch
			for ; id <= run.Last && len(b.Update) < step; id++ {
				r, err := f.o.Store.Get(f.ctx, id)
				if err != nil {
					return err
				}
				detail := r.Detail
				if r, err = r.Sent(f.now()); err != nil {
					return err
				}
				r.Submission, r.Detail = receipt.Submissions[0], detail
				b.Update = append(b.Update, r)
			}
			if err := doubtAgain(f.ctx, f.o.Store, b, f.now()); err != nil {
				return err
			}
		}
	}
	return nil
}

// doubt tells the records that came in in doubt which submission carries them, so
// that an inquiry finds it. A crash before it leaves them in doubt and unsent; a
// person then resolves them.
func (d *desk) doubt(receipt store.Receipt) error {
	return linkDoubt(d.ctx, d.o.Store, d.batch.NewSubmissions, receipt, d.done, d.now)
}

// linkDoubt moves the records of each submission in doubt through submitted, which
// names their submission, back to in doubt: the store knows a submission's id only
// once it is there.
func linkDoubt(ctx context.Context, s store.Store, subs []claimdlq.Submission, receipt store.Receipt, inserted []claimdlq.Record, now time.Time) error {
	var b store.Batch
	for n, sub := range subs {
		for _, run := range sub.Members {
			first, ok := store.IsParentIndex(run.First)
			last, _ := store.IsParentIndex(run.Last)
			for i := first; ok && i <= last; i++ {
				r, err := s.Get(ctx, inserted[i].ID)
				if err != nil {
					return err
				}
				detail := r.Detail
				if r, err = r.Sent(now); err != nil {
					return err
				}
				r.Submission, r.Detail = receipt.Submissions[n], detail
				b.Update = append(b.Update, r)
			}
		}
	}
	return doubtAgain(ctx, s, b, now)
}

// doubtAgain commits the records as submitted and then as in doubt.
func doubtAgain(ctx context.Context, s store.Store, b store.Batch, now time.Time) error {
	if len(b.Update) == 0 {
		return nil
	}
	if _, err := s.Commit(ctx, b); err != nil {
		return err
	}
	for i, r := range b.Update {
		r.Revision++
		n, err := r.Doubt(r.Detail, now)
		if err != nil {
			return err
		}
		b.Update[i] = n
	}
	_, err := s.Commit(ctx, b)
	return err
}
