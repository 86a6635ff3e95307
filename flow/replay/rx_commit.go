package replay

import (
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
func (j *job) rxCommit(items []rxItem) error {
	if j.o.DryRun || len(items) == 0 {
		return nil
	}
	now := j.Now().UTC()
	b := store.Batch{
		Update:         make([]claimdlq.Record, 0, len(items)),
		NewSubmissions: make([]claimdlq.Submission, 0, len(items)),
		Entries:        make([]claimdlq.Entry, 0, len(items)),
	}
	members := make([]claimdlq.IDRange, len(items)) // one allocation for all
	for i := range items {
		if err := j.rxDecide(&b, &items[i], members[i:i+1:i+1], now); err != nil {
			return err
		}
	}
	if _, err := j.Store.Commit(j.ctx, b); err != nil {
		return err
	}
	for i := range items {
		j.rxSay(&items[i])
	}
	return nil
}

// rxDecide adds one decision to the batch.
func (j *job) rxDecide(b *store.Batch, it *rxItem, member []claimdlq.IDRange, now time.Time) error {
	it.next = it.r
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
	it.next = n
	b.Update = append(b.Update, n)
	b.NewSubmissions = append(b.NewSubmissions, s)
	b.Entries = append(b.Entries, audited.Entry(j.by, claimdlq.ActReplay, it.r, n, now))
	return nil
}

func (j *job) rxRefuse(b *store.Batch, it *rxItem, now time.Time) error {
	action := claimdlq.ActSuppress
	if it.result == claimdlq.ParkedAtCap && it.r.State != claimdlq.StateParked {
		var err error
		if it.next, err = it.r.Park(claimdlq.ReasonNone, now); err != nil {
			return err
		}
		action = claimdlq.ActPark
		b.Update = append(b.Update, it.next)
	}
	e := audited.Entry(j.by, action, it.r, it.next, now)
	e.Detail = claimdlq.NewDetail("REPLAY:" + upper(it.result))
	if it.why != "" {
		e.Detail = claimdlq.NewDetail("REPLAY:" + it.why)
	}
	b.Entries = append(b.Entries, e)
	return nil
}

// rxSay logs a decision that is durable, and counts the record's new revision.
func (j *job) rxSay(it *rxItem) {
	if it.next.State != it.r.State {
		it.next.Revision++
	}
	j.say(it.r, it.next, it.result)
}

// say logs what became of a record.
func (j *job) say(r, next claimdlq.Record, result claimdlq.ReplayResult) {
	switch {
	case result == claimdlq.Replayed:
		dlqlog.Replayed(j.ctx, j.Log, next)
	case result == claimdlq.DuplicateSuppressed:
		dlqlog.Suppressed(j.ctx, j.Log, r)
	case result == claimdlq.ParkedAtCap && r.ReplayCount >= j.Policies.For(r.Stream).ReplayCap+r.Unparked:
		dlqlog.CapHit(j.ctx, j.Log, r)
	}
}
