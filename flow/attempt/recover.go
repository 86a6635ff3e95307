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

// recover takes back leases that lapsed by the given time, but for what is under way
// here: a clock that jumps ends no delivery.
func (a *Attempt) recover(ctx context.Context, by time.Time) error {
	for _, state := range []claimdlq.SubmissionState{claimdlq.SubmissionLeased, claimdlq.SubmissionSending} {
		q := store.DueQuery{State: state, Now: by, Limit: page}
		for {
			lapsed, err := a.o.Store.Due(ctx, q)
			if err != nil {
				return err
			}
			for _, s := range lapsed {
				if a.flies(s.ID) {
					continue
				}
				if err := a.takeBack(ctx, s); err != nil {
					return err
				}
			}
			if len(lapsed) < page {
				break
			}
			q.After = lapsed[len(lapsed)-1].ID
		}
	}
	return nil
}

func (a *Attempt) flies(id claimdlq.SubmissionID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.flying[id]
	return ok
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
	members, _, err := a.members(ctx, s, leasedBy(s), nil)
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
		b.Entries = append(b.Entries, entry(claimdlq.ActRestart, s.ID, &m, &n, now))
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
	members, _, err := a.members(ctx, s, leasedBy(s), nil)
	if err != nil {
		return err
	}
	out := claimdlq.Outcome{Kind: claimdlq.OutcomeUnknownKind, Code: claimdlq.NewDetail("INTERRUPTED"), Ambiguous: true}
	policy := a.o.Policies.For(s.Stream)
	o := &outcome{sub: s, code: out.Code}
	for _, m := range members {
		o.ends = append(o.ends, ended{id: m.ID, v: decide(delivery{outcome: out, receives: m.ReceiveCount, doubted: true, idempotent: idempotent}, policy)})
	}
	if err := o.apply(members, policy, a.now()); err != nil {
		return err
	}
	var b store.Batch
	o.addTo(&b)
	// Not finish: one that has been ended meanwhile may be under way again.
	if _, err := a.o.Store.Commit(ctx, b); err != nil {
		return err
	}
	a.soon(o.waits)
	a.tell(ctx, o)
	return nil
}

// close ends a submission that has no member left to deliver.
func (a *Attempt) close(ctx context.Context, s claimdlq.Submission) error {
	s.State, s.LeaseUntil = claimdlq.SubmissionDead, time.Time{}
	_, err := a.o.Store.Commit(ctx, store.Batch{Submissions: []claimdlq.Submission{s}})
	return err
}
