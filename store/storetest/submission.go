package storetest

import (
	"context"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
)

var submissionRules = []rule{
	{"a submission reads back whole with an id from 1 and revision 1", func(t *testing.T, s store.Store) {
		insert(t, s, set(1), set(2))
		want := submission(5, one(1), one(2))
		want.Replay, want.Bulk, want.Fallback = true, true, true
		want.Digest, want.Receives, want.Last = claimdlq.Digest{1, 2}, 3, detail("HTTP_503")
		want.NotBefore, want.LeaseUntil, want.SentAt = at(1), at(2), at(3)
		want.Groups = append(want.Groups, claimdlq.GroupControl{Sender: "TESTAPP2", Receiver: "PAYERAPP", Number: 999_999_999})
		got := commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{want, submission(6, one(1))}})
		equal(t, "ids", got.Submissions, []claimdlq.SubmissionID{1, 2})
		want.ID, want.Revision, want.Members = 1, 1, []claimdlq.IDRange{{First: 1, Last: 2}}
		equal(t, "submission", sub(t, s, 1), want)
	}},
	{"a member range of indexes stands for the inserted ids", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		got := commit(t, s, store.Batch{
			Insert:         []claimdlq.Record{set(2), set(3), set(4)},
			NewSubmissions: []claimdlq.Submission{submission(1, claimdlq.IDRange{First: store.ParentIndex(0), Last: store.ParentIndex(2)}, one(1))},
		})
		equal(t, "members", members(t, s, got.Submissions[0]), []claimdlq.IDRange{{First: 2, Last: 4}, {First: 1, Last: 1}})
	}},
	{"a submission of many runs and groups reads back whole", func(t *testing.T, s store.Store) {
		var b store.Batch
		want := submission(1)
		want.Groups = nil
		for i := range 4000 {
			b.Insert = append(b.Insert, set(i))
			if i%2 == 0 {
				want.Members = append(want.Members, one(claimdlq.ID(i+1)))
			}
		}
		for i := range 500 {
			want.Groups = append(want.Groups, claimdlq.GroupControl{Sender: "TESTAPP", Receiver: "PAYERAPP", Number: uint32(i + 1)})
		}
		commit(t, s, b)
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{want}})
		want.ID, want.Revision = 1, 1
		equal(t, "submission", sub(t, s, 1), want)
		subs, err := s.FindSubmissions(t.Context(), store.GroupRef("TESTAPP", "PAYERAPP", 500), 10)
		equal(t, "error", err, nil)
		equal(t, "found", submissionIDs(subs), []claimdlq.SubmissionID{1})
	}},
	{"a member range that is none is refused", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		for _, m := range []claimdlq.IDRange{{}, {First: 2, Last: 1}, {First: 1, Last: store.ParentIndex(0)}} {
			refused(t, s, store.Batch{Insert: []claimdlq.Record{set(2)}, NewSubmissions: []claimdlq.Submission{submission(1, m)}}, claimdlq.Refused)
		}
	}},
	{"a submission's times are kept to the millisecond in UTC", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		n := submission(1, one(1))
		n.NotBefore, n.CreatedAt = epoch.Add(1_999_999), epoch.Add(1_000_001).Local()
		n.LeaseUntil, n.SentAt = n.NotBefore, n.CreatedAt
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{n}})
		got := sub(t, s, 1)
		for _, kept := range []time.Time{got.NotBefore, got.LeaseUntil, got.CreatedAt, got.SentAt} {
			if want := epoch.Add(time.Millisecond); !kept.Equal(want) || kept.Location() != time.UTC {
				t.Fatalf("time is %v, want %v", kept, want)
			}
		}
	}},
	{"a submission changes by compare-and-set", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{submission(1, one(1))}})
		next := sub(t, s, 1)
		next.State, next.Receives, next.LeaseUntil = claimdlq.SubmissionLeased, 1, at(60)
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{next}})
		stale := next
		next.Revision = 2
		equal(t, "submission", sub(t, s, 1), next)
		refused(t, s, store.Batch{Submissions: []claimdlq.Submission{stale}}, claimdlq.Conflict)
		refused(t, s, store.Batch{Submissions: []claimdlq.Submission{next, next}}, claimdlq.Conflict)
		equal(t, "submission", sub(t, s, 1), next)
	}},
	{"a finished submission is found, due, and may go on", func(t *testing.T, s store.Store) {
		putIn(t, s, "ZZ:A", false, 3)
		for id, state := range map[claimdlq.SubmissionID]claimdlq.SubmissionState{1: claimdlq.SubmissionAnswered, 2: claimdlq.SubmissionDead, 3: claimdlq.SubmissionAnswered} {
			n := sub(t, s, id)
			n.State, n.Last = state, detail("NCPDP:P")
			commit(t, s, store.Batch{Submissions: []claimdlq.Submission{n}})
			n.Revision++
			equal(t, "finished", sub(t, s, id), n)
		}
		answered := func(want ...claimdlq.SubmissionID) {
			t.Helper()
			q := store.DueQuery{State: claimdlq.SubmissionAnswered, Now: at(1), Limit: 10}
			equal(t, "answered", dueBy(t, s, q), want)
			q.Skip = func(q claimdlq.Queue) bool { return q.Partner == "ZZ:A" }
			equal(t, "answered of others", len(dueBy(t, s, q)), 0)
			if q.Skip, q.Limit = nil, 1; len(want) > 0 {
				equal(t, "the first", dueBy(t, s, q), want[:1])
				q.After = want[0]
				equal(t, "the next", dueBy(t, s, q), want[1:])
			}
		}
		answered(1, 3)
		stale := sub(t, s, 3)
		stale.Revision = 1
		refused(t, s, store.Batch{Submissions: []claimdlq.Submission{stale}}, claimdlq.Conflict)
		back := sub(t, s, 1)
		back.State = claimdlq.SubmissionReady
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{back}})
		back.Revision++
		equal(t, "back", sub(t, s, 1), back)
		answered(3)
		due(t, s, claimdlq.SubmissionReady, at(1), 10, 1)
		back.State = claimdlq.SubmissionAnswered
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{back}})
		answered(1, 3)
	}},
	{"an unknown submission is not found", func(t *testing.T, s store.Store) {
		for _, id := range []claimdlq.SubmissionID{0, 1, 1 << 63} {
			_, err := s.Submission(context.Background(), id)
			wantCode(t, err, claimdlq.NotFound)
			refused(t, s, store.Batch{Submissions: []claimdlq.Submission{{ID: id, Revision: 1}}}, claimdlq.NotFound)
		}
	}},
	{"an insert with an id or a revision is refused", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		withID, withRevision := submission(1, one(1)), submission(1, one(1))
		withID.ID, withRevision.Revision = 1, 1
		refused(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{withID}}, claimdlq.Refused)
		refused(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{withRevision}}, claimdlq.Refused)
	}},
	{"a conflicting submission fails the whole batch", func(t *testing.T, s store.Store) {
		r := insert(t, s, set(1))[0]
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{submission(1, one(1))}})
		stale := sub(t, s, 1)
		stale.Revision = 3
		next, err := r.Lease(1, at(1))
		equal(t, "error", err, nil)
		refused(t, s, store.Batch{Update: []claimdlq.Record{next}, Submissions: []claimdlq.Submission{stale}}, claimdlq.Conflict)
		equal(t, "record", get(t, s, 1), r)
	}},
	{"submissions are found by interchange and by group, newest first", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		b := submission(7, one(1))
		b.Groups = append(b.Groups, claimdlq.GroupControl{Sender: "TESTAPP", Receiver: "PAYERAPP", Number: 8})
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{submission(7, one(1)), submission(8, one(1)), b}})
		env := b.Envelope
		found := func(ref claimdlq.Ref, limit int, want ...claimdlq.SubmissionID) {
			t.Helper()
			subs, err := s.FindSubmissions(context.Background(), ref, limit)
			equal(t, "error", err, nil)
			equal(t, "found", submissionIDs(subs), want)
		}
		found(store.InterchangeRef(env, 7), 10, 3, 1)
		found(store.InterchangeRef(env, 7), 1, 3)
		found(store.InterchangeRef(env, 8), 10, 2)
		found(store.InterchangeRef(env, 9), 10)
		found(store.GroupRef("TESTAPP", "PAYERAPP", 8), 10, 3, 2)
		found(store.GroupRef("PAYERAPP", "TESTAPP", 8), 10)
		env.Sender = "TESTSENDER2"
		found(store.InterchangeRef(env, 7), 10)
	}},
	{"a submission is found by the numbers it went out under last", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{submission(7, one(1))}})
		next := sub(t, s, 1)
		next.ISA13 = 9
		commit(t, s, store.Batch{Submissions: []claimdlq.Submission{next}})
		for number, want := range map[uint32]int{7: 0, 9: 1} {
			subs, err := s.FindSubmissions(context.Background(), store.InterchangeRef(next.Envelope, number), 10)
			if err != nil || len(subs) != want {
				t.Fatalf("number %d finds %d submissions, %v, want %d", number, len(subs), err, want)
			}
		}
	}},
	{"a caller may change what it was given", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		given := submission(7, one(1))
		commit(t, s, store.Batch{NewSubmissions: []claimdlq.Submission{given}})
		given.Members[0].First, given.Groups[0].Number = 99, 99
		got := sub(t, s, 1)
		got.Members[0].First, got.Groups[0].Number = 99, 99
		equal(t, "members", members(t, s, 1), []claimdlq.IDRange{{First: 1, Last: 1}})
		equal(t, "group", sub(t, s, 1).Groups[0].Number, uint32(7))
	}},
}

func sub(t tb, s store.Store, id claimdlq.SubmissionID) claimdlq.Submission {
	t.Helper()
	got, err := s.Submission(context.Background(), id)
	if err != nil {
		t.Fatalf("submission %d: %v", id, err)
	}
	return got
}

func submissionIDs(subs []claimdlq.Submission) []claimdlq.SubmissionID {
	var out []claimdlq.SubmissionID
	for _, s := range subs {
		out = append(out, s.ID)
	}
	return out
}
