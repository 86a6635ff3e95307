package retain

import (
	"context"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/store"
)

const page = 1000

// expires are the states that retention looks at. What is leased ends by itself,
// and what is parked waits for a person already.
var expires = []claimdlq.State{
	claimdlq.StateQueued, claimdlq.StateSubmitted, claimdlq.StateInDoubt, claimdlq.StateQuarantined,
}

// Expire parks, with an alarm each, the records that have been unresolved for
// longer than the retention, counted from their first failure or, where they never
// failed, from their intake. It returns how many. Nothing is ever evicted.
func (t *Retain) Expire(ctx context.Context) (int, error) {
	parked, now := 0, t.o.Now().UTC()
	for _, stream := range claimdlq.Streams {
		older := now.Add(-t.o.Policies.For(stream).Retention)
		for _, state := range expires {
			n, err := t.expireAll(ctx, store.Filter{Stream: stream, State: state, Older: older})
			parked += n
			if err != nil {
				return parked, err
			}
		}
	}
	return parked, nil
}

func (t *Retain) expireAll(ctx context.Context, f store.Filter) (parked int, err error) {
	err = t.pages(ctx, f, func(rs []claimdlq.Record) error {
		rs = slices.DeleteFunc(rs, func(r claimdlq.Record) bool {
			return r.Reason == claimdlq.Expired && r.UpdatedAt.After(f.Older) // un-parked, and somebody is working on it
		})
		n, err := t.expire(ctx, rs)
		parked += n
		return err
	})
	return parked, err
}

// expire parks records in one commit or, where one of them moves meanwhile, one by
// one: that one is left.
func (t *Retain) expire(ctx context.Context, rs []claimdlq.Record) (int, error) {
	by, now, b := claimdlq.System("retain"), t.o.Now().UTC(), store.Batch{}
	for _, r := range rs {
		n, err := r.Park(claimdlq.Expired, now)
		if err != nil {
			return 0, err
		}
		b.Update = append(b.Update, n)
		b.Entries = append(b.Entries, audited.Entry(by, claimdlq.ActPark, r, n, now))
	}
	if len(rs) == 0 {
		return 0, nil
	}
	_, err := t.o.Store.Commit(ctx, b)
	if errors.Is(err, claimdlq.Conflict) {
		return t.expireEach(ctx, rs)
	}
	if err != nil {
		return 0, err
	}
	for _, n := range b.Update {
		dlqlog.Alarm(ctx, t.o.Log, dlqlog.AlarmExpired, n)
	}
	return len(rs), nil
}

func (t *Retain) expireEach(ctx context.Context, rs []claimdlq.Record) (parked int, err error) {
	if len(rs) == 1 {
		return 0, nil // it moves after all
	}
	for i := range rs {
		n, err := t.expire(ctx, rs[i:i+1])
		parked += n
		if err != nil {
			return parked, err
		}
	}
	return parked, nil
}

// each calls do for every record that matches, newest first.
func (t *Retain) each(ctx context.Context, f store.Filter, do func(claimdlq.Record) error) error {
	return t.pages(ctx, f, func(rs []claimdlq.Record) error {
		for _, r := range rs {
			if err := do(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// pages calls do for every page of records that match, newest first. do may change
// the page.
func (t *Retain) pages(ctx context.Context, f store.Filter, do func([]claimdlq.Record) error) error {
	for before := claimdlq.ID(0); ; {
		rs, err := t.o.Store.List(ctx, f, before, page)
		if err != nil || len(rs) == 0 {
			return err
		}
		before = rs[len(rs)-1].ID
		full := len(rs) == page
		if err := do(rs); err != nil || !full {
			return err
		}
	}
}
