package attempt

import (
	"context"
	"errors"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// Recover takes back what a dead process left: leases that nothing came of are
// queued again, their deliveries counted; what may have been sent is in doubt, or
// is sent again identically where its target allows that. It is for the start of
// a process, before the first Drain: it takes leases whether they have lapsed or
// not.
func (a *Attempt) Recover(ctx context.Context) error { return a.recover(ctx, a.now().Add(farAhead)) }

// recover takes back leases that lapsed by the given time.
func (a *Attempt) recover(ctx context.Context, by time.Time) error {
	for _, state := range []claimdlq.SubmissionState{claimdlq.SubmissionLeased, claimdlq.SubmissionSending} {
		for {
			lapsed, err := a.o.Store.Due(ctx, store.DueQuery{State: state, Now: by, Limit: round})
			if err != nil {
				return err
			}
			for _, s := range lapsed {
				if err := a.takeBack(ctx, s); err != nil {
					return err
				}
			}
			if len(lapsed) < round {
				break
			}
		}
	}
	return nil
}

func (a *Attempt) takeBack(ctx context.Context, s claimdlq.Submission) error {
	err := a.unlease(ctx, s)
	if s.State == claimdlq.SubmissionSending {
		err = a.interrupted(ctx, s)
	}
	if errors.Is(err, claimdlq.Conflict) {
		return nil // its own process ended it after all
	}
	return err
}

// unlease queues the members again. The delivery stays counted.
func (a *Attempt) unlease(ctx context.Context, s claimdlq.Submission) error {
	if s.State != claimdlq.SubmissionLeased {
		return nil
	}
	now := a.now()
	members, err := a.members(ctx, s, leasedBy(s))
	if err != nil {
		return err
	}
	var b store.Batch
	for _, m := range members {
		n, err := m.Held(claimdlq.HoldNone, now)
		if err != nil {
			return err
		}
		b.Update = append(b.Update, n)
		b.Entries = append(b.Entries, entry(claimdlq.ActRestart, s.ID, m, n, now))
	}
	s.State, s.LeaseUntil = claimdlq.SubmissionReady, time.Time{}
	b.Submissions = []claimdlq.Submission{s}
	_, err = a.o.Store.Commit(ctx, b)
	return err
}

// interrupted ends a delivery whose process died after its intent.
func (a *Attempt) interrupted(ctx context.Context, s claimdlq.Submission) error {
	idempotent := false
	if route, ok := a.o.Routes(s.Stream, s.Partner); ok {
		idempotent = route.IdempotentResend
	}
	o := claimdlq.Outcome{Kind: claimdlq.OutcomeUnknownKind, Code: claimdlq.NewDetail("INTERRUPTED"), Ambiguous: true}
	return a.finish(ctx, s, o, true, idempotent, &Summary{})
}
