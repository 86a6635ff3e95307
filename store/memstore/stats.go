package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// Groups implements store.Store. Groups of one size come in the order of state,
// reason, detail, partner and stream.
func (s *Store) Groups(_ context.Context, f store.Filter, limit int) ([]store.Group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[store.Group]*store.Group{} // by what its records share
	for _, r := range s.records {
		if !r.State.Unresolved() || !matches(f, r) {
			continue
		}
		cause := store.Group{State: r.State, Reason: r.Reason, Detail: r.Detail, Partner: r.Partner, Stream: r.Stream}
		g := found[cause]
		if g == nil {
			g = &store.Group{State: r.State, Reason: r.Reason, Detail: r.Detail, Partner: r.Partner, Stream: r.Stream}
			found[cause] = g
		}
		g.Records++
		g.Claims += int64(r.Claims)
		g.OldestAt = earlier(g.OldestAt, since(r))
	}
	var out []store.Group
	for _, g := range found {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b store.Group) int {
		return cmp.Or(
			cmp.Compare(b.Records, a.Records), cmp.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.Detail.String(), b.Detail.String()), cmp.Compare(a.Partner, b.Partner), cmp.Compare(a.Stream, b.Stream))
	})
	return out[:min(len(out), max(0, limit))], nil
}

// Stats implements store.Store.
func (s *Store) Stats(context.Context) (store.Stats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := store.Stats{
		Received:    s.received,
		ByState:     map[claimdlq.State]int64{},
		Records:     map[claimdlq.State]int64{},
		Quarantined: map[claimdlq.Reason]int64{},
		Streams:     map[string]store.StreamStats{},
	}
	for _, state := range claimdlq.States {
		st.ByState[state], st.Records[state] = 0, 0
	}
	for _, reason := range claimdlq.Reasons {
		st.Quarantined[reason] = 0
	}
	for _, r := range s.records {
		st.ByState[r.State] += int64(r.Claims)
		if r.Disposition == claimdlq.Rejected && r.State == claimdlq.StateSettled {
			st.Rejected += int64(r.Claims)
		}
		switch {
		case r.Format != claimdlq.FormatAck:
			st.Records[r.State]++
		case r.State != claimdlq.StateSettled:
			st.Orphans++
		}
		if r.State == claimdlq.StateQuarantined {
			st.Quarantined[r.Reason]++
			st.OldestAt = earlier(st.OldestAt, r.FirstFailedAt)
		}
		if r.State == claimdlq.StateParked {
			st.OldestParkedAt = earlier(st.OldestParkedAt, r.FirstFailedAt)
		}
		if r.Stream != claimdlq.StreamAcks && slices.Contains(claimdlq.Streams, r.Stream) {
			st.Streams[r.Stream] = withRecord(st.Streams[r.Stream], r)
		}
	}
	return st, nil
}

// withRecord counts one more record of a stream, which may be its first.
func withRecord(st store.StreamStats, r claimdlq.Record) store.StreamStats {
	if st.Records == nil {
		st.Records, st.Quarantined = map[claimdlq.State]int64{}, map[claimdlq.Reason]int64{}
		for _, state := range claimdlq.States {
			st.Records[state] = 0
		}
		for _, reason := range claimdlq.Reasons {
			st.Quarantined[reason] = 0
		}
	}
	st.Records[r.State]++
	switch r.State {
	case claimdlq.StateQuarantined:
		st.Quarantined[r.Reason]++
		st.OldestAt = earlier(st.OldestAt, since(r))
	case claimdlq.StateParked:
		st.OldestParkedAt = earlier(st.OldestParkedAt, since(r))
	case claimdlq.StateInDoubt:
		st.OldestInDoubtAt = earlier(st.OldestInDoubtAt, since(r))
	case claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateSettled, claimdlq.StateWithdrawn:
	}
	return st
}

// earlier returns the earlier time; zero is no time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
