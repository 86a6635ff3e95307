package replay

import (
	"cmp"
	"log/slog"
	"math"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/store"
)

// rxRelease adds to the batch what of a bulk can be released together: of one partner by
// one store.Release, and under one audit entry what had the same cause too. An entry names
// every record, and says of all of them what an entry of its own would say of each.
func (j *job) rxRelease(b *store.Batch, items []*rxItem, now time.Time) {
	many := j.many[:0]
	for _, it := range items {
		if it.result == claimdlq.Replayed && !it.waits && it.bytes > 0 && it.bytes <= math.MaxUint32 {
			it.many, it.due = true, j.pace.next()
			many = append(many, it)
		}
	}
	j.many = many
	slices.SortFunc(many, func(a, b *rxItem) int {
		return cmp.Or(cmp.Compare(a.r.Stream, b.r.Stream), cmp.Compare(a.r.Partner, b.r.Partner), cmp.Compare(a.r.ID, b.r.ID))
	})
	for len(many) > 0 {
		first, n := many[0].r, 1
		for n < min(len(many), store.MaxReleased) && many[n].r.Partner == first.Partner && many[n].r.Stream == first.Stream {
			n++
		}
		b.Releases = append(b.Releases, releaseOf(many[:n], now))
		b.Entries = j.releaseEntries(b.Entries, many[:n], now)
		many = many[n:]
	}
}

func releaseOf(items []*rxItem, now time.Time) store.Release {
	l := store.Release{
		At: now, RuleVersion: envelope.RxRules, Partner: items[0].r.Partner, Stream: items[0].r.Stream, Bulk: true,
		Records: make([]store.Released, len(items)),
	}
	for i, it := range items {
		l.Records[i] = store.Released{ID: it.r.ID, Revision: it.r.Revision, Bytes: uint32(it.bytes), Digest: it.digest, NotBefore: it.due}
	}
	return l
}

// releaseEntries adds one entry for all that were dead-lettered for the same.
func (j *job) releaseEntries(es []claimdlq.Entry, items []*rxItem, now time.Time) []claimdlq.Entry {
	same := func(a, b *rxItem) int {
		return cmp.Or(cmp.Compare(a.r.Detail.String(), b.r.Detail.String()), cmp.Compare(a.r.PayloadRevision, b.r.PayloadRevision))
	}
	if slices.ContainsFunc(items, func(it *rxItem) bool { return same(it, items[0]) != 0 }) {
		items = slices.Clone(items)
		slices.SortStableFunc(items, same) // the ids of each ascend
	}
	for len(items) > 0 {
		n, first := 1, items[0].r
		for n < len(items) && same(items[n], items[0]) == 0 {
			n++
		}
		ids := claimdlq.NewIDSet(func(yield func(claimdlq.ID) bool) {
			for _, it := range items[:n] {
				if !yield(it.r.ID) {
					return
				}
			}
		})
		es = append(es, claimdlq.Entry{
			At: now, Actor: j.by.Actor, Action: claimdlq.ActReplay, Records: ids, PayloadRevision: first.PayloadRevision,
			Detail: first.Detail, From: claimdlq.StateQuarantined, To: claimdlq.StateQueued, Note: audited.Note(j.by.Reason),
		})
		items = items[n:]
	}
	return es
}

// sayReleased logs a record that was released with others. A line's text costs as much
// as the rest of a release.
func (j *job) sayReleased(it *rxItem, now time.Time) {
	if !j.RxLog.Enabled(j.ctx, slog.LevelInfo) {
		return
	}
	n, err := it.r.Replay(envelope.RxRules, now)
	if err != nil {
		return // the store has done it
	}
	n.NotBefore = it.due
	n.Revision++
	dlqlog.Replayed(j.ctx, j.RxLog, n)
}
