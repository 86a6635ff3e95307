package backup

import (
	"context"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/store"
)

// Fenced counts what Fence did, in records.
type Fenced struct {
	InDoubt int `json:"in_doubt"`
	Parked  int `json:"parked"`
	Lanes   int `json:"lanes"` // of control numbers that were moved on
}

// codeRestored is the detail of what a restore put into doubt.
var codeRestored = claimdlq.NewDetail("RESTORED")

const (
	page    = 500
	farAway = 50 * 365 * 24 * time.Hour // everything that waits is due by then
)

// Fence makes sure that nothing of a restored copy goes out before an answer or a
// person has said what became of it since the copy was made: the copy cannot know, and
// a guess would bill twice.
//
//	queued, leased   in_doubt: it may have been delivered since. An inquiry, an
//	                 acknowledgment or a person says which
//	submitted        in_doubt: its answer may have come since
//	queued, not yet in a submission, and quarantined
//	                 parked: it may have been finished, or corrected and replayed, since.
//	                 A named person gives it back
//	in_doubt, parked as they are: they need the same
//
// Control numbers that were given since are passed over: skip of them in each lane that
// a record has. Nothing else may use the store meanwhile, and nothing may be leased in
// it. Every record that moves has an audit entry.
func Fence(ctx context.Context, s store.Store, p claimdlq.Policies, by claimdlq.By, now time.Time, skip int) (Fenced, error) {
	f := &fence{s: s, p: p, by: by, now: now}
	for _, step := range []func(context.Context) error{f.ready, f.sent, f.alone} {
		if err := step(ctx); err != nil {
			return f.done, err
		}
	}
	return f.done, f.numbers(ctx, skip)
}

type fence struct {
	s    store.Store
	p    claimdlq.Policies
	by   claimdlq.By
	now  time.Time
	done Fenced
}

func (f *fence) entry(from, to claimdlq.Record) claimdlq.Entry {
	e := audited.Entry(f.by, claimdlq.ActRestore, from, to, f.now)
	e.Detail = codeRestored
	return e
}

// codeOf returns the detail of what is parked: why it failed, where it did.
func codeOf(r claimdlq.Record) claimdlq.Detail {
	if r.Detail.IsZero() {
		return codeRestored
	}
	return r.Detail
}

// each calls do with the submissions in the state, some at a time.
func (f *fence) each(ctx context.Context, state claimdlq.SubmissionState, do func([]claimdlq.Submission) error) error {
	q := store.DueQuery{State: state, Now: f.now.Add(farAway), Limit: page}
	for {
		subs, err := f.s.Due(ctx, q)
		if err != nil || len(subs) == 0 {
			return err
		}
		q.After = subs[len(subs)-1].ID
		if err := do(subs); err != nil {
			return err
		}
	}
}

// members returns the records of the submission for which is holds.
func (f *fence) members(ctx context.Context, sub claimdlq.Submission, is func(claimdlq.Record) bool) (out []claimdlq.Record, err error) {
	for _, run := range sub.Members {
		for id := run.First; id <= run.Last; id++ {
			r, err := f.s.Get(ctx, id)
			if err != nil {
				return nil, err
			}
			if is(r) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// ready doubts what waits for delivery. It takes the way that a delivery takes: leased,
// and then its outcome unknown.
func (f *fence) ready(ctx context.Context) error {
	return f.each(ctx, claimdlq.SubmissionReady, func(subs []claimdlq.Submission) error {
		var lease, doubt store.Batch
		taken := map[claimdlq.ID]bool{}
		for _, sub := range subs {
			members, err := f.members(ctx, sub, func(r claimdlq.Record) bool { return r.State == claimdlq.StateQueued && !taken[r.ID] })
			if err != nil {
				return err
			}
			if err := f.doubtful(sub, members, taken, &lease, &doubt); err != nil {
				return err
			}
		}
		return f.commit(ctx, lease, doubt)
	})
}

// doubtful adds the two steps of one submission to the batches.
func (f *fence) doubtful(sub claimdlq.Submission, members []claimdlq.Record, taken map[claimdlq.ID]bool, lease, doubt *store.Batch) error {
	sending := false
	for _, r := range members {
		taken[r.ID] = true
		if r.ReceiveCount >= f.p.For(r.Stream).MaxReceive { // no delivery is left to be counted
			r2 := r
			r2.FateUnknown = true
			n, err := r2.Park(claimdlq.OutcomeUnknown, f.now)
			if err != nil {
				return err
			}
			n.Detail = codeOf(n)
			lease.Update, lease.Entries = append(lease.Update, n), append(lease.Entries, f.entry(r, n))
			f.done.Parked++
			continue
		}
		n, err := r.Lease(sub.ID, f.now)
		if err != nil {
			return err
		}
		lease.Update = append(lease.Update, n)
		n.Revision++
		d, err := n.Doubt(codeRestored, f.now)
		if err != nil {
			return err
		}
		doubt.Update, doubt.Entries = append(doubt.Update, d), append(doubt.Entries, f.entry(r, d))
		sending = true
		f.done.InDoubt++
	}
	if !sending {
		sub.State = claimdlq.SubmissionDead // nothing of it is left to be delivered
		lease.Submissions = append(lease.Submissions, sub)
		return nil
	}
	sub.State, sub.Receives = claimdlq.SubmissionSending, sub.Receives+1
	sub.LeaseUntil = f.now
	lease.Submissions = append(lease.Submissions, sub)
	sub.Revision++
	sub.State, sub.LeaseUntil, sub.Last, sub.SentAt = claimdlq.SubmissionInDoubt, time.Time{}, codeRestored, f.now
	doubt.Submissions = append(doubt.Submissions, sub)
	return nil
}

// sent doubts what waits for an answer.
func (f *fence) sent(ctx context.Context) error {
	return f.each(ctx, claimdlq.SubmissionSent, func(subs []claimdlq.Submission) error {
		var b store.Batch
		for _, sub := range subs {
			members, err := f.members(ctx, sub, func(r claimdlq.Record) bool {
				return r.State == claimdlq.StateSubmitted && r.Submission == sub.ID
			})
			if err != nil {
				return err
			}
			for _, r := range members {
				n, err := r.Doubt(codeRestored, f.now)
				if err != nil {
					return err
				}
				b.Update, b.Entries = append(b.Update, n), append(b.Entries, f.entry(r, n))
			}
			if len(members) == 0 {
				continue
			}
			f.done.InDoubt += len(members)
			sub.State, sub.Last = claimdlq.SubmissionInDoubt, codeRestored
			b.Submissions = append(b.Submissions, sub)
		}
		return f.commit(ctx, b)
	})
}

// alone parks what is in no submission and could get into one: an interchange that was
// being taken in, and what waits for a correction or a replay.
func (f *fence) alone(ctx context.Context) error {
	for _, state := range []claimdlq.State{claimdlq.StateQueued, claimdlq.StateQuarantined} {
		err := f.list(ctx, store.Filter{State: state}, func(rs []claimdlq.Record) error {
			var b store.Batch
			for _, r := range rs {
				if r.Format == claimdlq.FormatAck {
					continue // there is nothing to send in it
				}
				n, err := r.Park(claimdlq.OutcomeUnknown, f.now)
				if err != nil {
					return err
				}
				n.Detail = codeOf(n)
				b.Update, b.Entries = append(b.Update, n), append(b.Entries, f.entry(r, n))
			}
			f.done.Parked += len(b.Update)
			return f.commit(ctx, b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *fence) list(ctx context.Context, filter store.Filter, do func([]claimdlq.Record) error) error {
	for before := claimdlq.ID(0); ; {
		rs, err := f.s.List(ctx, filter, before, page)
		if err != nil || len(rs) == 0 {
			return err
		}
		before = rs[len(rs)-1].ID
		if err := do(rs); err != nil {
			return err
		}
	}
}

func (f *fence) commit(ctx context.Context, bs ...store.Batch) error {
	for _, b := range bs {
		if len(b.Update)+len(b.Submissions) == 0 {
			continue
		}
		if _, err := f.s.Commit(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// numbers passes control numbers over in every lane that a replay could use. Lanes are
// of addresses, which a record has too.
func (f *fence) numbers(ctx context.Context, skip int) error {
	lanes := map[string]bool{}
	err := f.list(ctx, store.Filter{Stream: claimdlq.StreamX12}, func(rs []claimdlq.Record) error {
		for _, r := range rs {
			if r.Sender != "" && r.Partner != "" {
				lanes[r.Sender+">"+r.Partner] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for lane := range lanes {
		if _, err := f.s.NextControl(ctx, lane, skip); err != nil {
			return err
		}
	}
	f.done.Lanes = len(lanes)
	return nil
}
