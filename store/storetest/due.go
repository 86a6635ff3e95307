package storetest

import (
	"context"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
)

var dueRules = []rule{
	{"what waits for its back-off is due at that very time", func(t *testing.T, s store.Store) {
		put(t, s, claimdlq.SubmissionReady, at(10), time.Time{})
		due(t, s, claimdlq.SubmissionReady, at(10).Add(-time.Millisecond), 10)
		due(t, s, claimdlq.SubmissionReady, at(10), 10, 1)
		due(t, s, claimdlq.SubmissionReady, at(11), 10, 1)
	}},
	{"what is leased or being sent is due when its lease lapses", func(t *testing.T, s store.Store) {
		put(t, s, claimdlq.SubmissionLeased, time.Time{}, at(10))
		put(t, s, claimdlq.SubmissionSending, time.Time{}, at(10))
		for id, state := range map[claimdlq.SubmissionID]claimdlq.SubmissionState{1: claimdlq.SubmissionLeased, 2: claimdlq.SubmissionSending} {
			due(t, s, state, at(10).Add(-time.Millisecond), 10)
			due(t, s, state, at(10), 10, id)
		}
	}},
	{"a lease is nothing to the other states", func(t *testing.T, s store.Store) {
		for i, state := range []claimdlq.SubmissionState{
			claimdlq.SubmissionReady, claimdlq.SubmissionSent, claimdlq.SubmissionInDoubt, claimdlq.SubmissionAnswered, claimdlq.SubmissionDead,
		} {
			put(t, s, state, time.Time{}, at(1000))
			due(t, s, state, at(10), 10, claimdlq.SubmissionID(i+1))
		}
	}},
	{"the oldest come first, at most limit, of the state asked for", func(t *testing.T, s store.Store) {
		put(t, s, claimdlq.SubmissionReady, at(3), time.Time{})
		put(t, s, claimdlq.SubmissionSent, time.Time{}, time.Time{})
		put(t, s, claimdlq.SubmissionReady, at(1), time.Time{})
		put(t, s, claimdlq.SubmissionReady, at(9), time.Time{})
		put(t, s, claimdlq.SubmissionReady, time.Time{}, time.Time{})
		due(t, s, claimdlq.SubmissionReady, at(5), 10, 1, 3, 5)
		due(t, s, claimdlq.SubmissionReady, at(5), 2, 1, 3)
		due(t, s, claimdlq.SubmissionReady, at(9), 10, 1, 3, 4, 5)
		due(t, s, claimdlq.SubmissionReady, at(5), 0)
	}},
	{"a submission that moves on is no longer due where it was", func(t *testing.T, s store.Store) {
		put(t, s, claimdlq.SubmissionReady, time.Time{}, time.Time{})
		next := sub(t, s, 1)
		next.State, next.LeaseUntil = claimdlq.SubmissionLeased, at(10)
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{next}})
		due(t, s, claimdlq.SubmissionReady, at(100), 10)
		due(t, s, claimdlq.SubmissionLeased, at(100), 10, 1)
		next.Revision, next.State, next.NotBefore = 2, claimdlq.SubmissionReady, at(200)
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{next}})
		due(t, s, claimdlq.SubmissionReady, at(199), 10)
		due(t, s, claimdlq.SubmissionReady, at(200), 10, 1)
	}},
	{"after leaves out the ids up to it, as a cursor", func(t *testing.T, s store.Store) {
		for range 7 {
			put(t, s, claimdlq.SubmissionReady, time.Time{}, time.Time{})
		}
		put(t, s, claimdlq.SubmissionReady, at(9), time.Time{})
		q := store.DueQuery{State: claimdlq.SubmissionReady, Now: at(1), Limit: 3}
		for _, want := range [][]claimdlq.SubmissionID{{1, 2, 3}, {4, 5, 6}, {7}, nil} {
			got := dueBy(t, s, q)
			equal(t, "page", got, want)
			if len(got) > 0 {
				q.After = got[len(got)-1]
			}
		}
		for _, after := range []claimdlq.SubmissionID{8, 9, 1 << 40, 1<<64 - 1} {
			q.After = after
			equal(t, "past the last", len(dueBy(t, s, q)), 0)
		}
	}},
	{"skip leaves out whole queues: stream, partner and urgency tell them apart", func(t *testing.T, s store.Store) {
		putIn(t, s, "ZZ:A", false, 2)
		putIn(t, s, "ZZ:B", false, 1)
		putIn(t, s, "ZZ:A", true, 2)
		putIn(t, s, "ZZ:C", false, 1)
		q := store.DueQuery{State: claimdlq.SubmissionReady, Now: at(1), Limit: 10}
		for _, c := range []struct {
			name string
			skip func(claimdlq.Queue) bool
			want []claimdlq.SubmissionID
		}{
			{"none", nil, []claimdlq.SubmissionID{1, 2, 3, 4, 5, 6}},
			{"never", func(claimdlq.Queue) bool { return false }, []claimdlq.SubmissionID{1, 2, 3, 4, 5, 6}},
			{"all", func(claimdlq.Queue) bool { return true }, nil},
			{"bulk", func(q claimdlq.Queue) bool { return q.Bulk }, []claimdlq.SubmissionID{1, 2, 3, 6}},
			{"urgent", func(q claimdlq.Queue) bool { return !q.Bulk }, []claimdlq.SubmissionID{4, 5}},
			{"a partner", func(q claimdlq.Queue) bool { return q.Partner == "ZZ:A" }, []claimdlq.SubmissionID{3, 6}},
			{"a queue", func(q claimdlq.Queue) bool { return q == claimdlq.Queue{Stream: "ncpdp", Partner: "ZZ:A", Bulk: true} }, []claimdlq.SubmissionID{1, 2, 3, 6}},
			{"a stream", func(q claimdlq.Queue) bool { return q.Stream == "837" }, []claimdlq.SubmissionID{1, 2, 3, 4, 5, 6}},
		} {
			q.Skip = c.skip
			equal(t, c.name, dueBy(t, s, q), c.want)
		}
		q.Skip, q.Limit = func(q claimdlq.Queue) bool { return q.Partner == "ZZ:A" }, 1
		equal(t, "first", dueBy(t, s, q), []claimdlq.SubmissionID{3})
		q.After = 3
		equal(t, "next", dueBy(t, s, q), []claimdlq.SubmissionID{6})
	}},
	{"skip goes by the state asked for, whichever it is", func(t *testing.T, s store.Store) {
		for state := claimdlq.SubmissionDead; state >= claimdlq.SubmissionReady; state-- { // what is ready moves on to the state
			putIn(t, s, "ZZ:A", false, 1)
			putIn(t, s, "ZZ:B", false, 1)
			ready := dueBy(t, s, store.DueQuery{State: claimdlq.SubmissionReady, Now: at(1), Limit: 10})
			for _, id := range ready {
				moved := sub(t, s, id)
				moved.State = state
				commit(t, s, store.Batch{Submissions: []claimdlq.Submission{moved}})
			}
			q := store.DueQuery{State: state, Now: at(1), Limit: 10}
			equal(t, state.String(), dueBy(t, s, q), ready)
			q.Skip = func(q claimdlq.Queue) bool { return q.Partner == "ZZ:A" }
			equal(t, "some "+state.String(), dueBy(t, s, q), ready[1:])
		}
	}},
	{"a submission that goes to another partner waits in that partner's queue", func(t *testing.T, s store.Store) {
		putIn(t, s, "ZZ:A", false, 1)
		moved := sub(t, s, 1)
		moved.Partner = "ZZ:B"
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{moved}})
		for partner, want := range map[string]int{"ZZ:A": 1, "ZZ:B": 0} {
			got := dueBy(t, s, store.DueQuery{State: claimdlq.SubmissionReady, Now: at(1), Limit: 10, Skip: func(q claimdlq.Queue) bool { return q.Partner == partner }})
			equal(t, "without "+partner, len(got), want)
		}
	}},
	{"one partner's backlog does not stand in another's way", func(t *testing.T, s store.Store) {
		putIn(t, s, "ZZ:BUSY", true, 10_000)
		putIn(t, s, "ZZ:QUIET", false, 1)
		q := store.DueQuery{State: claimdlq.SubmissionReady, Now: at(1), Limit: 64}
		equal(t, "the oldest", len(dueBy(t, s, q)), 64)
		q.Skip = func(q claimdlq.Queue) bool { return q.Partner == "ZZ:BUSY" }
		equal(t, "of the others", dueBy(t, s, q), []claimdlq.SubmissionID{10_001})
		q.Skip, q.After = nil, 9_990
		equal(t, "the last of both", len(dueBy(t, s, q)), 11)
	}},
}

// putIn stores n ready pharmacy submissions of a partner.
func putIn(t tb, s store.Store, partner string, bulk bool, n int) {
	t.Helper()
	if len(list(t, s, store.Filter{}, 0, 1)) == 0 {
		insert(t, s, set(1))
	}
	var b store.Batch
	for range n {
		b.NewSubmissions = append(b.NewSubmissions, claimdlq.Submission{
			State: claimdlq.SubmissionReady, Stream: claimdlq.StreamNCPDP, Partner: partner, Bulk: bulk,
			Members: []claimdlq.IDRange{one(1)}, Digest: claimdlq.Digest{1}, Bytes: 300, CreatedAt: epoch,
		})
	}
	commit(t, s, b)
}

func dueBy(t tb, s store.Store, q store.DueQuery) []claimdlq.SubmissionID {
	t.Helper()
	subs, err := s.Due(context.Background(), q)
	equal(t, "error", err, nil)
	for _, got := range subs {
		equal(t, "submission", got, sub(t, s, got.ID))
	}
	return submissionIDs(subs)
}

func put(t tb, s store.Store, state claimdlq.SubmissionState, notBefore, leaseUntil time.Time) {
	t.Helper()
	if len(list(t, s, store.Filter{}, 0, 1)) == 0 {
		insert(t, s, set(1))
	}
	n := submission(1, one(1))
	n.State, n.NotBefore, n.LeaseUntil = state, notBefore, leaseUntil
	commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{n}})
}

func due(t tb, s store.Store, state claimdlq.SubmissionState, now time.Time, limit int, want ...claimdlq.SubmissionID) {
	t.Helper()
	subs, err := s.Due(context.Background(), store.DueQuery{State: state, Now: now, Limit: limit})
	equal(t, "error", err, nil)
	equal(t, "due", submissionIDs(subs), want)
}
