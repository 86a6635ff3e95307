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
//
// What is within a fifth of its filing window's end is not parked: parked, nothing
// delivers it, and each day counts. An alarm says so, once for each record, and it is
// parked when the window has passed.
func (t *Retain) Expire(ctx context.Context) (int, error) {
	parked, now, look := 0, t.o.Now().UTC(), t.looker(claimdlq.System("retain"), claimdlq.ActOpen)
	for _, stream := range claimdlq.Streams {
		older := now.Add(-t.o.Policies.For(stream).Retention)
		for _, state := range expires {
			n, err := t.expireAll(ctx, look, store.Filter{Stream: stream, State: state, Older: older})
			parked += n
			if err != nil {
				return parked, err
			}
		}
	}
	return parked, nil
}

func (t *Retain) expireAll(ctx context.Context, look *looker, f store.Filter) (parked int, err error) {
	err = t.pages(ctx, f, func(rs []claimdlq.Record) error {
		rs = slices.DeleteFunc(rs, func(r claimdlq.Record) bool {
			return r.Reason == claimdlq.Expired && r.UpdatedAt.After(f.Older) // un-parked, and somebody is working on it
		})
		rs, err := t.spare(ctx, look, rs)
		if err != nil {
			return err
		}
		n, err := t.expire(ctx, rs)
		parked += n
		return err
	})
	return parked, err
}

// spare returns the records without those whose filing window is about to end.
func (t *Retain) spare(ctx context.Context, look *looker, rs []claimdlq.Record) ([]claimdlq.Record, error) {
	out, now := rs[:0], t.o.Now().UTC()
	for _, r := range rs {
		w := t.o.Windows.For(r.Stream, r.Partner)
		d, err := look.day(ctx, r, w)
		if err != nil {
			return nil, err
		}
		if !w.Stage(d, now).Near() {
			out = append(out, r)
			continue
		}
		t.mu.Lock()
		said := t.warned[r.ID]
		t.warned[r.ID] = true
		t.mu.Unlock()
		if !said {
			dlqlog.Alarm(ctx, t.o.Log, dlqlog.AlarmNotParked, r)
		}
	}
	return out, nil
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
	t.mu.Lock()
	for _, n := range b.Update {
		t.expired[n.Stream]++
	}
	t.mu.Unlock()
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
