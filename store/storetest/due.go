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
