package storetest

import (
	"context"
	"testing"

	"claimdlq"
	"claimdlq/store"
)

// altered is the nth test record with other bytes under the same identity.
func altered(n int) claimdlq.Record {
	r := set(n)
	r.Digest = claimdlq.Digest{0xff, byte(n)}
	return r
}

var duplicateRules = []rule{
	{"the same key and digest is a duplicate of the first", func(t *testing.T, s store.Store) {
		first := insert(t, s, set(1))[0]
		again := set(1)
		again.Claims, again.Stream = 5, "other"
		got := commit(t, s, store.Batch{Insert: []claimdlq.Record{again}})
		equal(t, "results", got.Inserted, []store.InsertResult{{ID: first.ID, Status: store.Duplicate}})
		equal(t, "record", get(t, s, first.ID), first)
		equal(t, "received", stats(t, s).Received, int64(1))
	}},
	{"the same key with another digest is a conflict", func(t *testing.T, s store.Store) {
		first := insert(t, s, set(1))[0]
		got := commit(t, s, store.Batch{Insert: []claimdlq.Record{altered(1)}})
		equal(t, "results", got.Inserted, []store.InsertResult{{ID: first.ID, Status: store.Conflict}})
		equal(t, "record", get(t, s, first.ID), first)
	}},
	{"a record is found by its key for ever, settled too", func(t *testing.T, s store.Store) {
		r := placed(t, s, 1, claimdlq.StateSettled)
		got := commit(t, s, store.Batch{Insert: []claimdlq.Record{set(1)}})
		equal(t, "results", got.Inserted, []store.InsertResult{{ID: r.ID, Status: store.Duplicate}})
	}},
	{"a key twice in one batch is a duplicate or conflict of the first", func(t *testing.T, s store.Store) {
		got := commit(t, s, store.Batch{Insert: []claimdlq.Record{set(1), set(1), altered(1), set(2)}})
		equal(t, "results", got.Inserted, []store.InsertResult{{ID: 1, Status: store.Inserted}, {ID: 1, Status: store.Duplicate}, {ID: 1, Status: store.Conflict}, {ID: 2, Status: store.Inserted}})
	}},
	{"ids of a batch have no gap where a duplicate was", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		got := commit(t, s, store.Batch{Insert: []claimdlq.Record{set(2), set(1), set(3)}})
		equal(t, "results", got.Inserted, []store.InsertResult{{ID: 2, Status: store.Inserted}, {ID: 1, Status: store.Duplicate}, {ID: 3, Status: store.Inserted}})
	}},
	{"a duplicate's entries and fingerprints are dropped", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		got := commit(t, s, store.Batch{
			Insert: []claimdlq.Record{set(1), set(2)},
			Entries: []claimdlq.Entry{
				entry(claimdlq.ActReceive, store.ParentIndex(0)), entry(claimdlq.ActReceive, store.ParentIndex(1)), entry(claimdlq.ActDuplicate, 1),
			},
			Fingerprints: []store.Fingerprint{{Key: testKey(10), Record: store.ParentIndex(0)}, {Key: testKey(11), Record: store.ParentIndex(1)}},
		})
		es := entriesFrom(t, s, 1)
		if len(es) != 2 || es[0].Record != 2 || es[1].Record != 1 || es[1].Action != claimdlq.ActDuplicate {
			t.Fatalf("entries are %v", es)
		}
		equal(t, "proof", got.Proof, claimdlq.NewProof(1, 2))
		seen, err := s.Seen(context.Background(), []claimdlq.Key{testKey(10), testKey(11)})
		equal(t, "error", err, nil)
		equal(t, "seen", seen, []claimdlq.ID{0, 2})
	}},
	{"a proof is zero where every entry was dropped", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		got := commit(t, s, store.Batch{
			Insert: []claimdlq.Record{set(1)}, Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, store.ParentIndex(0))},
		})
		equal(t, "valid", got.Proof.Valid(), false)
	}},
	{"a duplicate's children are dropped with its status and id 0", func(t *testing.T, s store.Store) {
		parent := set(1)
		parent.Parted = 1
		b := store.Batch{
			Insert:  []claimdlq.Record{parent, childOf(store.ParentIndex(0), 2)},
			Entries: []claimdlq.Entry{entry(claimdlq.ActEnqueue, store.ParentIndex(1))},
		}
		commit(t, s, b)
		equal(t, "redelivered", commit(t, s, b).Inserted, []store.InsertResult{{ID: 1, Status: store.Duplicate}, {ID: 0, Status: store.Duplicate}})
		b.Insert = []claimdlq.Record{altered(1), childOf(store.ParentIndex(0), 3), childOf(store.ParentIndex(1), 4)}
		equal(t, "conflicting", commit(t, s, b).Inserted, []store.InsertResult{{ID: 1, Status: store.Conflict}, {ID: 0, Status: store.Conflict}, {ID: 0, Status: store.Conflict}})
		equal(t, "records", ids(list(t, s, store.Filter{}, 0, 10)), []claimdlq.ID{2, 1})
		equal(t, "entries", len(entriesFrom(t, s, 1)), 1)
	}},
	{"a submission keeps its other members", func(t *testing.T, s store.Store) {
		insert(t, s, set(1), set(3))
		got := commit(t, s, store.Batch{
			Insert: []claimdlq.Record{set(2), set(3), set(4), set(1), set(5)},
			NewSubmissions: []claimdlq.Submission{
				submission(7, claimdlq.IDRange{First: store.ParentIndex(0), Last: store.ParentIndex(4)}),
				submission(8, one(store.ParentIndex(1)), one(store.ParentIndex(4))),
			},
		})
		equal(t, "results", got.Inserted, []store.InsertResult{
			{ID: 3, Status: store.Inserted}, {ID: 2, Status: store.Duplicate}, {ID: 4, Status: store.Inserted}, {ID: 1, Status: store.Duplicate}, {ID: 5, Status: store.Inserted},
		})
		equal(t, "members", members(t, s, got.Submissions[0]), []claimdlq.IDRange{{First: 3, Last: 5}})
		equal(t, "members", members(t, s, got.Submissions[1]), []claimdlq.IDRange{{First: 5, Last: 5}})
	}},
	{"a submission without members left is not made", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		got := commit(t, s, store.Batch{
			Insert:         []claimdlq.Record{set(1), set(2)},
			NewSubmissions: []claimdlq.Submission{submission(7, one(store.ParentIndex(0))), submission(8, one(store.ParentIndex(1)))},
		})
		equal(t, "submissions", got.Submissions, []claimdlq.SubmissionID{0, 1})
		equal(t, "members", members(t, s, 1), []claimdlq.IDRange{{First: 2, Last: 2}})
	}},
}

func members(t tb, s store.Store, id claimdlq.SubmissionID) []claimdlq.IDRange {
	t.Helper()
	sub, err := s.Submission(context.Background(), id)
	if err != nil {
		t.Fatalf("submission %d: %v", id, err)
	}
	return sub.Members
}
