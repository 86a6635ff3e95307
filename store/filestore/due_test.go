package filestore_test

import (
	"fmt"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// waiting stores n ready submissions of a partner each that name gives.
func waiting(tb testing.TB, s store.Store, n int, name func(int) string) {
	tb.Helper()
	for i := 0; i < n; {
		var b store.Batch
		for ; i < n && len(b.NewSubmissions) < 50_000; i++ {
			b.NewSubmissions = append(b.NewSubmissions, claimdlq.Submission{
				State: claimdlq.SubmissionReady, Stream: claimdlq.StreamNCPDP, Partner: name(i), Members: []claimdlq.IDRange{{First: 1, Last: 1}}, CreatedAt: epoch,
			})
		}
		if _, err := s.Commit(tb.Context(), b); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestDue_MoreQueuesThanHaveNumbers pins that queues beyond those that a row can
// name are told apart all the same, also after opening.
func TestDue_MoreQueuesThanHaveNumbers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := filestore.Options{Manual: true}
	s := openStore(t, dir, o)
	insert(t, s, 1)
	waiting(t, s, 65_540, func(i int) string { return fmt.Sprintf("610%03d:%d", i%1000, i) })
	for _, what := range []string{"new", "from a snapshot", "replayed"} {
		for _, i := range []int{3, 65_534, 65_535, 65_539} {
			name := fmt.Sprintf("610%03d:%d", i%1000, i)
			got, err := s.Due(t.Context(), store.DueQuery{
				State: claimdlq.SubmissionReady, Now: epoch, Limit: 5, Skip: func(q claimdlq.Queue) bool { return q.Partner != name },
			})
			if err != nil || len(got) != 1 || got[0].ID != claimdlq.SubmissionID(i+1) {
				t.Fatalf("%s: %d submissions of queue %d are due, %v", what, len(got), i, err)
			}
		}
		if what == "new" {
			sound(t, s)
			if err := s.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if what == "replayed" {
			break
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if what == "from a snapshot" {
			removeSnapshot(t, dir)
		}
		s = openStore(t, dir, o)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDue_WhatBecomesDueEarlierIsFound pins that a look at what is not due yet, which is
// remembered, hides nothing that becomes due before: by its own change, or because another
// comes to the queue.
func TestDue_WhatBecomesDueEarlierIsFound(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), filestore.Options{Manual: true})
	defer s.Close()
	insert(t, s, 1)
	sub := func(after time.Duration) claimdlq.Submission {
		return claimdlq.Submission{
			State: claimdlq.SubmissionReady, Stream: claimdlq.StreamNCPDP, Partner: "610000:A", Members: []claimdlq.IDRange{{First: 1, Last: 1}},
			CreatedAt: epoch, NotBefore: epoch.Add(after),
		}
	}
	commit := func(b store.Batch) {
		t.Helper()
		if _, err := s.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	due := func(at time.Duration, want ...claimdlq.SubmissionID) (got []claimdlq.Submission) {
		t.Helper()
		got, err := s.Due(t.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: epoch.Add(at), Limit: 9})
		if err != nil || len(got) != len(want) {
			t.Fatalf("after %v %d are due, %v, want %v", at, len(got), err, want)
		}
		for i, id := range want {
			if got[i].ID != id {
				t.Fatalf("after %v submission %d is due, want %d", at, got[i].ID, id)
			}
		}
		return got
	}
	commit(store.Batch{NewSubmissions: []claimdlq.Submission{sub(time.Hour), sub(2 * time.Hour)}})
	due(time.Minute)
	two, err := s.Submission(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	two.NotBefore = epoch.Add(time.Minute)
	commit(store.Batch{Submissions: []claimdlq.Submission{two}})
	two = due(time.Minute, 2)[0]
	two.State, two.LeaseUntil = claimdlq.SubmissionLeased, epoch.Add(2*time.Minute)
	commit(store.Batch{Submissions: []claimdlq.Submission{two}})
	due(time.Minute)
	two.Revision++
	two.State, two.LeaseUntil, two.NotBefore = claimdlq.SubmissionReady, time.Time{}, epoch.Add(3*time.Minute)
	commit(store.Batch{Submissions: []claimdlq.Submission{two}})
	due(2 * time.Minute)
	commit(store.Batch{NewSubmissions: []claimdlq.Submission{sub(0)}})
	due(2*time.Minute, 3)
	due(3*time.Minute, 2, 3)
	due(time.Hour, 1, 2, 3)
}

// BenchmarkDue takes 64 submissions where a million of another queue wait.
func BenchmarkDue(b *testing.B) {
	s := openStore(b, b.TempDir(), filestore.Options{Manual: true})
	defer s.Close()
	insert(b, s, 1)
	waiting(b, s, benchRows(1_000_000), func(int) string { return "610000:BUSY" })
	waiting(b, s, 1, func(int) string { return "610001:QUIET" })
	busy := func(q claimdlq.Queue) bool { return q.Partner == "610000:BUSY" }
	for name, q := range map[string]store.DueQuery{
		"a million are skipped":     {Skip: busy},
		"all are skipped":           {Skip: func(claimdlq.Queue) bool { return true }},
		"none is skipped":           {},
		"a cursor behind a million": {After: claimdlq.SubmissionID(benchRows(1_000_000) - 1)},
	} {
		q.State, q.Now, q.Limit = claimdlq.SubmissionReady, epoch.Add(time.Hour), 64
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			found := 0
			each(b, func(int) {
				subs, err := s.Due(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				found += len(subs)
			})
			b.ReportMetric(float64(found)/float64(b.N), "submissions")
		})
	}
}

// BenchmarkDue_BackOff looks for what is due where a million wait for their back-off, of a
// thousand queues.
func BenchmarkDue_BackOff(b *testing.B) {
	s := openStore(b, b.TempDir(), filestore.Options{Manual: true})
	defer s.Close()
	insert(b, s, 1)
	n := benchRows(1_000_000)
	for i := 0; i < n; {
		var batch store.Batch
		for ; i < n && len(batch.NewSubmissions) < 50_000; i++ {
			batch.NewSubmissions = append(batch.NewSubmissions, claimdlq.Submission{
				State: claimdlq.SubmissionReady, Stream: claimdlq.StreamNCPDP, Partner: fmt.Sprintf("610000:%d", i%1000),
				Members: []claimdlq.IDRange{{First: 1, Last: 1}}, CreatedAt: epoch, NotBefore: epoch.Add(time.Hour),
			})
		}
		if _, err := s.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	each(b, func(int) {
		if subs, err := s.Due(b.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: epoch, Limit: 64}); err != nil || len(subs) > 0 {
			b.Fatal(len(subs), err)
		}
	})
}
