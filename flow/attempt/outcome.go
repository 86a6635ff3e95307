package attempt

import (
	"context"
	"errors"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// finish makes the outcome of the delivery durable: submission, members and audit
// in one commit. An acknowledgment that came faster has moved members already:
// then they are read again.
func (r *run) finish(o claimdlq.Outcome) error {
	for {
		err := r.a.finish(r.ctx, r.s, o, r.doubted, r.idempotent, &r.done)
		if !errors.Is(err, claimdlq.Conflict) {
			return err
		}
		if r.s, err = r.a.o.Store.Submission(r.ctx, r.s.ID); err != nil {
			return err
		}
		switch r.s.State {
		case claimdlq.SubmissionLeased, claimdlq.SubmissionSending:
		default:
			return nil // an answer has closed it
		}
	}
}

func (a *Attempt) finish(ctx context.Context, s claimdlq.Submission, o claimdlq.Outcome, doubted, idempotent bool, done *Summary) error {
	now := a.now()
	members, err := a.members(ctx, s, leasedBy(s))
	if err != nil {
		return err
	}
	v := decide(delivery{outcome: o, doubted: doubted, idempotent: idempotent}, a.o.Policies.For(s.Stream))
	ends := map[end]bool{}
	var b store.Batch
	var dead []claimdlq.Record
	for _, m := range members {
		v = decide(delivery{o, m.ReceiveCount, doubted, idempotent}, a.o.Policies.For(s.Stream))
		n, err := v.step(m, now)
		if err != nil {
			return err
		}
		ends[v.end] = true
		b.Update = append(b.Update, n)
		if n.State == claimdlq.StateQuarantined {
			dead = append(dead, n)
			b.Entries = append(b.Entries, entry(claimdlq.ActEnqueue, s.ID, m, n, now))
		}
	}
	if len(members) == 0 { // answered before the outcome was known: it arrived
		ends[endSent] = true
	}
	s = v.submission(s, ends, a.o.Policies.For(s.Stream), now)
	b.Submissions = []claimdlq.Submission{s}
	b.Entries = append(b.Entries, claimdlq.Entry{At: now, Actor: actor, Action: claimdlq.ActOutcome, Submission: s.ID, Detail: v.code})
	if _, err := a.o.Store.Commit(ctx, b); err != nil {
		return err
	}
	a.enqueued(ctx, dead)
	done.count(s)
	return nil
}

func (s *Summary) count(sub claimdlq.Submission) {
	switch sub.State {
	case claimdlq.SubmissionReady:
		s.Requeued++
	case claimdlq.SubmissionInDoubt:
		s.InDoubt++
	case claimdlq.SubmissionDead:
		s.Dead++
	default:
		s.Sent++
	}
}

// close ends a submission that has no member left to deliver.
func (a *Attempt) close(ctx context.Context, s claimdlq.Submission) error {
	s.State, s.LeaseUntil = claimdlq.SubmissionDead, time.Time{}
	_, err := a.o.Store.Commit(ctx, store.Batch{Submissions: []claimdlq.Submission{s}})
	return err
}
