package intake

import (
	"time"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/store"
	"claimdlq/wire/x12"
)

// endInterchange finishes the interchange: what was queued goes out if it was
// judged good to its end, and is quarantined if not.
func (f *file) endInterchange(e *x12.InterchangeEnd) error {
	x := f.x
	if x == nil {
		return nil
	}
	defer func() { f.x = nil; x.leave() }()
	if err := f.flush(); err != nil {
		return err
	}
	if x.acks > 0 && len(x.groups) == 0 && f.result.TransactionSets == 0 {
		x.loose.abort()
		return f.ackFile()
	}
	bad := claimdlq.Detail{}
	if e.TA1 == "R" {
		bad = claimdlq.NewDetail("TA1:" + e.Note)
		f.fault("interchange %s is rejected: %s", tidy(x.start.ISA13, 9), bad)
	}
	if err := f.keepRest(x, bad); err != nil {
		return err
	}
	if f.dead != nil {
		return f.releaseDoubt(x)
	}
	if bad.IsZero() {
		return f.release(x)
	}
	for _, g := range x.groups {
		if err := f.refuse(g, bad); err != nil {
			return err
		}
	}
	return nil
}

// keepRest keeps what is in no transaction set: stray segments, and a broken
// interchange or group that has no set at all.
func (f *file) keepRest(x *interchange, bad claimdlq.Detail) error {
	k := x.loose
	x.loose = nil
	r := f.blank(claimdlq.ScopeInterchange, claimdlq.FormatX12)
	r.Claims = 1
	why := claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: bad}
	switch {
	case k != nil && x.acks > 0 && bad.IsZero():
		// Acknowledgments among claims: kept and alarmed about as one that answers nothing.
		r.Format, r.Stream, r.Claims = claimdlq.FormatAck, "acks", 0
		why.Class, why.Detail = claimdlq.Terminal, claimdlq.NewDetail("TA1:AMONG_CLAIMS")
	case k != nil && bad.IsZero():
		why.Detail = claimdlq.NewDetail("TA1:024")
	case k != nil:
	case bad.IsZero() || x.sets() > 0:
		return nil
	default:
		k = &kept{digests: newDigests(f.ids)}
		if err := k.add(f, x.isa); err != nil {
			return err
		}
		for _, g := range x.groups {
			if err := k.add(f, g.raw); err != nil {
				return err
			}
		}
	}
	x.stamp(&r)
	env := x.start.Envelope
	id := f.identify("x12/interchange", k.digests.sums(), []byte(env.Lane()), []byte(x.start.ISA13), []byte(env.Date), []byte(env.Time))
	return f.keep(&k.unit, r, f.apart(id), why)
}

func (x *interchange) sets() (n int) {
	for _, g := range x.groups {
		n += g.sets
	}
	return n
}

// abort gives up what was gathered.
func (k *kept) abort() {
	if k != nil {
		k.unit.abort()
	}
}

// step is how many records one commit moves.
const step = 1000

// refuse quarantines the queued sets of the group for what is wrong outside of
// them, and forgets them.
func (f *file) refuse(g *group, why claimdlq.Detail) error {
	if f.dead != nil {
		return nil // nothing of it goes out anyway
	}
	fault := claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: why, RuleVersion: f.o.Rules.Version()}
	moved, err := f.each(g.ids, func(r claimdlq.Record) (claimdlq.Record, claimdlq.Action, error) {
		if !interrupted(r) {
			return r, "", nil
		}
		n, err := r.Quarantine(fault, f.now())
		return n, claimdlq.ActEnqueue, err
	})
	for _, r := range moved {
		f.result.Quarantined += int64(r.Claims)
		f.result.hold(&r, Quarantined)
		dlqlog.Enqueued(f.ctx, f.o.Log, r)
	}
	f.result.Duplicates += g.revivedClaims // still where they were
	g.ids, g.revived, g.revivedClaims, g.claims = nil, nil, 0, 0
	return err
}

// revive queues again what was held back for an interchange or group that was
// broken, now that the same set came in a good one.
func (f *file) revive(g *group) error {
	_, err := f.each(g.revived, func(r claimdlq.Record) (claimdlq.Record, claimdlq.Action, error) {
		if !brokenOutside(r) {
			return r, "", nil
		}
		n, err := r.Requeue(claimdlq.Detail{}, time.Time{}, f.now())
		n.Hold, n.Class, n.Reason = claimdlq.HoldIntake, claimdlq.ClassNone, claimdlq.ReasonNone
		return n, claimdlq.ActReceive, err
	})
	return err
}

// each moves the records of the runs in commits of a thousand, and returns those
// that were moved. An action of "" leaves a record alone.
func (f *file) each(runs []claimdlq.IDRange, move func(claimdlq.Record) (claimdlq.Record, claimdlq.Action, error)) (moved []claimdlq.Record, err error) {
	var b store.Batch
	commit := func() error {
		if len(b.Update) == 0 {
			return nil
		}
		if _, err := f.o.Store.Commit(f.ctx, b); err != nil {
			return err
		}
		moved = append(moved, b.Update...)
		b = store.Batch{}
		return nil
	}
	for _, run := range runs {
		for id := run.First; id <= run.Last; id++ {
			r, err := f.o.Store.Get(f.ctx, id)
			if err != nil {
				return moved, err
			}
			n, action, err := move(r)
			if err != nil {
				return moved, err
			}
			if action == "" {
				continue
			}
			b.Update = append(b.Update, n)
			b.Entries = append(b.Entries, claimdlq.Entry{
				At: n.UpdatedAt, Actor: f.by.Actor, Action: action, Record: n.ID,
				PayloadRevision: n.PayloadRevision, Detail: n.Detail, From: r.State, To: n.State,
			})
			if len(b.Update) >= step {
				if err := commit(); err != nil {
					return moved, err
				}
			}
		}
	}
	return moved, commit()
}
