package attempt

import (
	"errors"
	"time"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
)

// maxMarked is how many submissions of a queue show why they wait: the next ones in
// turn. Those behind them wait for the same reason, and are not read for it.
const maxMarked = 256

// holdCodes are the submissions' codes of the holds.
var holdCodes = map[claimdlq.Hold]claimdlq.Detail{
	claimdlq.HoldTarget: claimdlq.NewDetail("NO_TARGET"), claimdlq.HoldBreaker: claimdlq.NewDetail("BREAKER_OPEN"),
	claimdlq.HoldStopped: claimdlq.NewDetail("STOPPED"), claimdlq.HoldLineage: claimdlq.NewDetail("LINEAGE"),
}

// mark says on the records why their queue is held back, once for each reason. It is
// for people: the queue is held back whether it says so or not, so that somebody
// else's step in between is no matter.
func (s *session) mark(back []held, now time.Time) error {
	for _, h := range back {
		s.mu.Lock()
		s.total.Held += len(h.items)
		s.mu.Unlock()
		var b store.Batch
		for _, sub := range h.items[:min(len(h.items), maxMarked)] {
			if sub.Last == holdCodes[h.no.hold] {
				continue
			}
			members, _, err := s.a.members(s.ctx, sub, deliverable, nil)
			if err == nil {
				err = s.show(sub, members, h.no.hold, now, &b)
			}
			if err != nil {
				return err
			}
		}
		if len(b.Submissions) == 0 {
			continue
		}
		if _, err := s.a.o.Store.Commit(s.ctx, b); err != nil && !errors.Is(err, claimdlq.Conflict) {
			return err
		}
	}
	return nil
}

// show adds the hold of a submission and its members. One that is held for its lineage
// stays so: the hold is what remembers that there is something to wait for.
func (s *session) show(sub claimdlq.Submission, members []claimdlq.Record, h claimdlq.Hold, now time.Time, b *store.Batch) error {
	for _, m := range members {
		if m.Hold == claimdlq.HoldLineage || m.Hold == h {
			continue
		}
		n, err := m.Held(h, now)
		if err != nil {
			return err
		}
		b.Update = append(b.Update, n)
	}
	sub.Last = holdCodes[h]
	b.Submissions = append(b.Submissions, sub)
	return nil
}

// setAside holds one submission back whose queue goes on.
func (s *session) setAside(sub claimdlq.Submission, members []claimdlq.Record, no *refusal, b *store.Batch) error {
	sub.NotBefore = no.until
	s.a.soon(no.until)
	return s.show(sub, members, no.hold, s.a.now(), b)
}

// How long a claim that waits for another waits until it is looked at again: half as
// long as it has waited, within these bounds.
const (
	lineageLeast = 5 * time.Second
	lineageMost  = time.Minute
)

// lineage says whether all members may go. One that waits for another travels alone.
func (s *session) lineage(t *plan, members []claimdlq.Record) (lineage.Verdict, error) {
	if t.sub.Stream != claimdlq.StreamNCPDP {
		return lineage.Verdict{}, nil
	}
	for i := range members {
		if members[i].Hold != claimdlq.HoldLineage {
			continue
		}
		if v, err := lineage.Wait(s.ctx, s.a.o.Store, members[i]); err != nil || v.Move != lineage.Goes {
			return v, err
		}
	}
	return lineage.Verdict{}, nil
}

// stay keeps a submission back that waits for its lineage, or dead-letters it where what
// it waited for did not come about.
func (s *session) stay(t *plan, members []claimdlq.Record, v lineage.Verdict, now time.Time, b *store.Batch) error {
	s.a.leave(t.permit)
	if v.Move == lineage.Waits {
		wait := min(max(now.Sub(t.sub.CreatedAt)/2, lineageLeast), lineageMost)
		t.done.Held++
		return s.setAside(t.sub, members, &refusal{claimdlq.HoldLineage, now.Add(wait)}, b)
	}
	t.done.Dead++
	for _, m := range members {
		n, err := m.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: v.Code}, now)
		if err != nil {
			return err
		}
		t.dead = append(t.dead, n)
		b.Update = append(b.Update, n)
		b.Entries = append(b.Entries, entry(claimdlq.ActEnqueue, t.sub.ID, &m, &n, now))
	}
	t.sub.State, t.sub.Last = claimdlq.SubmissionDead, v.Code
	b.Submissions = append(b.Submissions, t.sub)
	return nil
}
