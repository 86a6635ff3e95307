package replay

import (
	"log/slog"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/store"
)

// recheck is how long a record that is held for its lineage waits until it is looked
// at again.
const recheck = 5 * time.Second

var waitsForLineage = claimdlq.NewDetail("LINEAGE")

// rxCommit makes decisions durable together: releases with their submissions,
// refusals with what they park. A dry run makes nothing durable.
func (j *job) rxCommit(items []*rxItem) error {
	if len(items) == 0 {
		return nil
	}
	if !j.o.DryRun {
		if err := j.rxWrite(items); err != nil {
			return err
		}
	}
	for _, it := range items {
		it.done = true
	}
	return nil
}

func (j *job) rxWrite(items []*rxItem) error {
	now, b := j.Now().UTC(), &j.batch
	b.Update, b.NewSubmissions, b.Entries, b.Releases = b.Update[:0], b.NewSubmissions[:0], b.Entries[:0], b.Releases[:0]
	if j.pace != nil {
		j.rxRelease(b, items, now)
	}
	b.Update = slices.Grow(b.Update, len(items))
	members := make([]claimdlq.IDRange, len(items)) // one allocation for all; a store may keep them
	for i, it := range items {
		if it.many {
			continue
		}
		if err := j.rxDecide(b, it, members[i:i+1:i+1], now); err != nil {
			return err
		}
	}
	if _, err := j.Store.Commit(j.ctx, *b); err != nil {
		return err
	}
	for _, it := range items {
		switch {
		case it.many:
			j.sayReleased(it, now)
			continue
		case it.next != it.r:
			it.next.Revision++
		}
		j.say(it.r, it.next, it.result)
	}
	return nil
}

// rxDecide adds one decision to the batch.
func (j *job) rxDecide(b *store.Batch, it *rxItem, member []claimdlq.IDRange, now time.Time) error {
	if it.result != claimdlq.Replayed {
		return j.rxRefuse(b, it, now)
	}
	n, err := it.r.Replay(envelope.RxRules, now)
	if err != nil {
		return err
	}
	member[0] = claimdlq.IDRange{First: it.r.ID, Last: it.r.ID}
	s := claimdlq.Submission{
		State: claimdlq.SubmissionReady, Replay: true, Bulk: j.pace != nil, Partner: it.r.Partner, Stream: it.r.Stream,
		Members: member, Digest: it.digest, Bytes: it.bytes, CreatedAt: now, NotBefore: j.pace.next(),
	}
	if it.waits {
		n.Hold, s.Last = claimdlq.HoldLineage, waitsForLineage
		if at := now.Add(recheck); s.NotBefore.Before(at) {
			s.NotBefore = at
		}
	}
	n.NotBefore = s.NotBefore
	b.NewSubmissions = append(b.NewSubmissions, s)
	b.Entries = append(b.Entries, audited.Entry(j.by, claimdlq.ActReplay, *it.r, n, now))
	it.moves(b, n)
	return nil
}

// moves adds the record's step to the batch, which has room for it.
func (it *rxItem) moves(b *store.Batch, n claimdlq.Record) {
	b.Update = append(b.Update, n)
	it.next = &b.Update[len(b.Update)-1]
}

func (j *job) rxRefuse(b *store.Batch, it *rxItem, now time.Time) error {
	action, n := claimdlq.ActSuppress, *it.r
	if it.result == claimdlq.ParkedAtCap && it.r.State != claimdlq.StateParked {
		var err error
		if n, err = it.r.Park(claimdlq.ReasonNone, now); err != nil {
			return err
		}
		action = claimdlq.ActPark
		it.moves(b, n)
	}
	e := audited.Entry(j.by, action, *it.r, n, now)
	e.Detail = claimdlq.NewDetail("REPLAY:" + upper(it.result))
	if it.why != "" {
		e.Detail = claimdlq.NewDetail("REPLAY:" + it.why)
	}
	b.Entries = append(b.Entries, e)
	return nil
}

// say logs what became of a record, under its stream's logger.
func (j *job) say(r, next *claimdlq.Record, result claimdlq.ReplayResult) {
	l := j.Log
	if isRx(r) {
		l = j.RxLog
	}
	switch {
	case result == claimdlq.Replayed:
		if !l.Enabled(j.ctx, slog.LevelInfo) {
			return // a line's text costs as much as the rest of a release
		}
		dlqlog.Replayed(j.ctx, l, *next)
	case result == claimdlq.DuplicateSuppressed:
		dlqlog.Suppressed(j.ctx, l, *r)
	case result == claimdlq.ParkedAtCap && r.ReplayCount >= j.Policies.For(r.Stream).ReplayCap+r.Unparked:
		dlqlog.CapHit(j.ctx, l, *r)
	}
}
