package retain

import (
	"context"
	"errors"
	"time"

	"claimdlq"
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
	err = t.each(ctx, f, func(r claimdlq.Record) error {
		if r.Reason == claimdlq.Expired && r.UpdatedAt.After(f.Older) {
			return nil // un-parked, and somebody is working on it
		}
		done, err := t.expire(ctx, r)
		if done {
			parked++
		}
		return err
	})
	return parked, err
}

func (t *Retain) expire(ctx context.Context, r claimdlq.Record) (bool, error) {
	n, err := t.commit(ctx, claimdlq.System("retain"), claimdlq.ActPark, r, func(r claimdlq.Record, now time.Time) (claimdlq.Record, error) {
		return r.Park(claimdlq.Expired, now)
	})
	if errors.Is(err, claimdlq.Conflict) {
		return false, nil // it moves after all
	}
	if err == nil {
		dlqlog.Alarm(ctx, t.o.Log, dlqlog.AlarmExpired, n)
	}
	return err == nil, err
}

// each calls f for every record that matches, page by page, newest first.
func (t *Retain) each(ctx context.Context, f store.Filter, do func(claimdlq.Record) error) error {
	for before := claimdlq.ID(0); ; {
		rs, err := t.o.Store.List(ctx, f, before, page)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if err := do(r); err != nil {
				return err
			}
		}
		if len(rs) < page {
			return nil
		}
		before = rs[len(rs)-1].ID
	}
}
