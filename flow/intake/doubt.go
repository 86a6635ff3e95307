package intake

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/store"
)

// What another pipeline may have sent comes in in doubt, in a submission in doubt by
// which an acknowledgment or an inquiry finds it. The store gives a submission its id
// in the commit that inserts it, so that its records learn it in two commits more:
// through submitted, which names their submission, back to in doubt. A crash between
// leaves an answer that was never given; the redelivery that follows finishes it.

// unfinished reports whether the record was left by such a crash: in doubt without a
// submission, or on its way back. One that was answered since is not.
func unfinished(ctx context.Context, s store.Store, r claimdlq.Record, as claimdlq.Detail) (bool, error) {
	switch {
	case r.State == claimdlq.StateInDoubt, r.State == claimdlq.StateParked && r.FateUnknown: // since
		return r.Submission == 0, nil
	case r.State != claimdlq.StateSubmitted || r.Reason != claimdlq.OutcomeUnknown || r.Detail != as || r.Submission == 0:
		return false, nil
	}
	sub, err := s.Submission(ctx, r.Submission)
	return doubtedElsewhere(sub), err
}

// linked returns the record as it names the submission that carries it.
func linked(r claimdlq.Record, id claimdlq.SubmissionID, now time.Time) (claimdlq.Record, error) {
	n, err := r.Sent(now)
	n.Submission, n.Detail = id, r.Detail
	return n, err
}

// carried is a record in doubt and the submission that carries it.
type carried struct {
	id  claimdlq.ID
	sub claimdlq.SubmissionID
}

// carry tells records which submission carries them, and returns those that it left in
// doubt by that. What somebody else moves meanwhile, such as a person who writes it off,
// goes its own way; what was parked is told too, for it will be in doubt again.
func carry(ctx context.Context, s store.Store, cs []carried, now time.Time) ([]claimdlq.Record, error) {
	_, err := stepped(ctx, s, cs, func(r claimdlq.Record, sub claimdlq.Submission) (claimdlq.Record, bool, error) {
		switch {
		case r.Submission != 0:
		case r.State == claimdlq.StateParked && r.FateUnknown:
			n, err := r.Park(r.Reason, now)
			n.Submission = sub.ID
			return n, true, err
		case r.State == claimdlq.StateInDoubt:
			n, err := linked(r, sub.ID, now)
			return n, true, err
		}
		return r, false, nil
	})
	if err != nil {
		return nil, err
	}
	return stepped(ctx, s, cs, func(r claimdlq.Record, sub claimdlq.Submission) (claimdlq.Record, bool, error) {
		if r.State != claimdlq.StateSubmitted || r.Submission != sub.ID || sub.State != claimdlq.SubmissionInDoubt {
			return r, false, nil
		}
		n, err := r.Doubt(r.Detail, now)
		return n, true, err
	})
}

// stepped commits one step of those of the records that take it.
func stepped(ctx context.Context, s store.Store, cs []carried, step func(claimdlq.Record, claimdlq.Submission) (claimdlq.Record, bool, error)) (done []claimdlq.Record, err error) {
	err = settled(func() error {
		done = nil
		var sub claimdlq.Submission
		for _, c := range cs {
			r, err := s.Get(ctx, c.id)
			if err == nil && sub.ID != c.sub {
				sub, err = s.Submission(ctx, c.sub)
			}
			if err != nil {
				return err
			}
			n, ok, err := step(r, sub)
			if err != nil {
				return err
			}
			if ok {
				done = append(done, n)
			}
		}
		if len(done) == 0 {
			return nil
		}
		_, err := s.Commit(ctx, store.Batch{Update: done})
		return err
	})
	return done, err
}

// doubt tells the records that came in in doubt which submission carries them.
func (d *desk) doubt(receipt store.Receipt) error {
	var cs []carried
	for n, sub := range d.batch.NewSubmissions {
		for _, run := range sub.Members {
			first, ok := store.IsParentIndex(run.First)
			last, _ := store.IsParentIndex(run.Last)
			for i := first; ok && i <= last; i++ {
				cs = append(cs, carried{d.done[i].ID, receipt.Submissions[n]})
			}
		}
	}
	_, err := carry(d.ctx, d.o.Store, cs, d.now)
	return err
}

// mend finishes the records that a crash left: the submission that carries each is
// among those in doubt.
func mend(ctx context.Context, s store.Store, rs []claimdlq.Record, now time.Time) error {
	if len(rs) == 0 {
		return nil
	}
	slices.SortFunc(rs, byID)
	rs = slices.CompactFunc(rs, func(a, b claimdlq.Record) bool { return a.ID == b.ID })
	if err := carriers(ctx, s, rs, now); err != nil {
		return err
	}
	var cs []carried
	for _, r := range rs {
		if r.Submission != 0 {
			cs = append(cs, carried{r.ID, r.Submission})
		}
	}
	_, err := carry(ctx, s, cs, now)
	return err
}

// Recover finishes what a crash left of ambiguous dead letters, as their redelivery
// would: that may find the same claim in another record by now. It is for the start of a
// process. Errors: those of the store.
func (in *Intake) Recover(ctx context.Context) error {
	now := in.o.Now().UTC()
	q := store.DueQuery{State: claimdlq.SubmissionInDoubt, Now: now, Limit: step}
	for {
		subs, err := in.o.Store.Due(ctx, q)
		if err != nil {
			return err
		}
		var cs []carried
		for _, s := range subs {
			q.After = s.ID
			for _, run := range s.Members {
				for id := run.First; s.Receives == 0 && id <= run.Last; id++ { // we have never delivered it
					cs = append(cs, carried{id, s.ID})
				}
			}
		}
		if _, err := carry(ctx, in.o.Store, cs, now); err != nil {
			return err
		}
		if len(subs) < q.Limit {
			return nil
		}
	}
}

func byID(a, b claimdlq.Record) int { return cmp.Compare(a.ID, b.ID) }

// carriers gives each of the records, which are in order, that has no submission the
// latest one in doubt that carries it. There is no look-up by member: it reads the whole
// worklist.
func carriers(ctx context.Context, s store.Store, rs []claimdlq.Record, now time.Time) error {
	known := make([]bool, len(rs))
	for i := range rs {
		known[i] = rs[i].Submission != 0
	}
	q := store.DueQuery{State: claimdlq.SubmissionInDoubt, Now: now, Limit: step}
	for {
		subs, err := s.Due(ctx, q)
		if err != nil {
			return err
		}
		for _, sub := range subs {
			for _, m := range sub.Members {
				i, _ := slices.BinarySearchFunc(rs, claimdlq.Record{ID: m.First}, byID)
				for ; i < len(rs) && rs[i].ID <= m.Last; i++ {
					if !known[i] {
						rs[i].Submission = sub.ID
					}
				}
			}
			q.After = sub.ID
		}
		if len(subs) < q.Limit {
			return nil
		}
	}
}

// releaseDoubt puts the sets in doubt into the submission that the other pipeline has
// made of the interchange, so that its acknowledgments are matched.
func (f *file) releaseDoubt(x *interchange) error {
	if err := f.sentTwice(x.sentToo); err != nil {
		return err
	}
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
	sub, err := x.carrier(f, members[0].First, doubtedElsewhere) // an interrupted delivery may have made it
	if err != nil {
		return err
	}
	if sub.ID == 0 {
		sub = f.submission(x, parcel{own: true, groups: groups, members: members})
		sub.State, sub.SentAt, sub.Last = claimdlq.SubmissionInDoubt, sub.CreatedAt, f.dead.Detail
		receipt, err := f.o.Store.Commit(f.ctx, store.Batch{NewSubmissions: []claimdlq.Submission{sub}})
		if err != nil {
			return err
		}
		sub.ID = receipt.Submissions[0]
	}
	return f.link(members, sub.ID)
}

// doubtedElsewhere reports that another pipeline alone may have sent the submission.
func doubtedElsewhere(s claimdlq.Submission) bool {
	return s.State == claimdlq.SubmissionInDoubt && s.Receives == 0
}

// link tells the members which submission carries them, a thousand at a time.
func (f *file) link(members []claimdlq.IDRange, sub claimdlq.SubmissionID) error {
	for _, run := range members {
		for id := run.First; id <= run.Last; {
			var cs []carried
			for ; id <= run.Last && len(cs) < step; id++ {
				cs = append(cs, carried{id, sub})
			}
			done, err := carry(f.ctx, f.o.Store, cs, f.now())
			if err != nil {
				return err
			}
			for i := range done {
				f.result.hold(&done[i], Quarantined)
				dlqlog.Doubt(f.ctx, f.o.Log, done[i])
			}
		}
	}
	return nil
}
