package storetest

import (
	"context"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
)

var insertRules = []rule{
	{"ids are given in order from 1", func(t *testing.T, s store.Store) {
		equal(t, "ids", ids(insert(t, s, set(1), set(2), set(3))), []claimdlq.ID{1, 2, 3})
	}},
	{"consecutive inserts of one batch get consecutive ids", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		var b store.Batch
		for n := range 100 {
			b.Insert = append(b.Insert, set(n+2))
		}
		for i, r := range commit(t, s, b).Inserted {
			equal(t, "result", r, store.InsertResult{ID: claimdlq.ID(i + 2), Status: store.Inserted})
		}
	}},
	{"what is inserted reads back whole with revision 1", func(t *testing.T, s store.Store) {
		want := whole(1) // two of its claims have parted
		commit(t, s, store.Batch{Insert: []claimdlq.Record{want, childOf(store.ParentIndex(0), 2), childOf(store.ParentIndex(0), 3)}})
		want.ID, want.Revision = 1, 1
		equal(t, "record", get(t, s, 1), want)
		child := childOf(1, 3)
		child.ID, child.Revision = 3, 1
		equal(t, "child", get(t, s, 3), child)
	}},
	{"times are kept to the millisecond in UTC", func(t *testing.T, s store.Store) {
		r := set(1)
		r.CreatedAt = epoch.Add(1_999_999)
		r.UpdatedAt = r.CreatedAt.Local()
		got := insert(t, s, r)[0]
		for _, kept := range []time.Time{got.CreatedAt, got.UpdatedAt} {
			if want := epoch.Add(time.Millisecond); !kept.Equal(want) || kept.Location() != time.UTC {
				t.Fatalf("time is %v, want %v", kept, want)
			}
		}
	}},
	{"a parent index stands for the id of that insert", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		parent, child := set(2), childOf(store.ParentIndex(1), 3)
		parent.Parted = 1
		got := commit(t, s, store.Batch{
			Insert: []claimdlq.Record{set(9), parent, child},
			Entries: []claimdlq.Entry{
				entry(claimdlq.ActEnqueue, store.ParentIndex(2)), entry(claimdlq.ActReceive, store.ParentIndex(1)),
			},
			Fingerprints: []store.Fingerprint{{Key: testKey(1000), Record: store.ParentIndex(2)}},
		})
		equal(t, "parent", get(t, s, got.Inserted[2].ID).Parent, claimdlq.ID(3))
		es := entriesFrom(t, s, 1)
		equal(t, "entries", []claimdlq.ID{es[0].Record, es[1].Record}, []claimdlq.ID{4, 3})
		seen, err := s.Seen(context.Background(), []claimdlq.Key{testKey(1000)})
		if err != nil || seen[0] != 4 {
			t.Fatalf("seen %v, %v, want record 4", seen, err)
		}
	}},
	{"a parent index of a later insert is refused", func(t *testing.T, s store.Store) {
		for _, i := range []int{0, 1, 2} {
			refused(t, s, store.Batch{Insert: []claimdlq.Record{childOf(store.ParentIndex(i), 1), set(2)}}, claimdlq.Refused)
		}
		empty(t, s)
	}},
	{"an index beyond the inserts is refused", func(t *testing.T, s store.Store) {
		past := store.ParentIndex(1)
		for _, b := range []store.Batch{
			{Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, past)}},
			{Fingerprints: []store.Fingerprint{{Key: testKey(2), Record: past}}},
			{NewSubmissions: []claimdlq.Submission{submission(1, claimdlq.IDRange{First: store.ParentIndex(0), Last: past})}},
		} {
			b.Insert = []claimdlq.Record{set(1)}
			refused(t, s, b, claimdlq.Refused)
		}
		empty(t, s)
	}},
	{"an insert with an id or a revision is refused", func(t *testing.T, s store.Store) {
		withID, withRevision := set(1), set(1)
		withID.ID, withRevision.Revision = 1, 1
		refused(t, s, store.Batch{Insert: []claimdlq.Record{withID}}, claimdlq.Refused)
		refused(t, s, store.Batch{Insert: []claimdlq.Record{withRevision}}, claimdlq.Refused)
		empty(t, s)
	}},
	{"a first state outside the table is refused", func(t *testing.T, s store.Store) {
		for n, state := range claimdlq.States {
			r := set(n)
			r.State = state
			b := store.Batch{Insert: []claimdlq.Record{r}}
			if claimdlq.CanMove(0, state) {
				commit(t, s, b)
			} else {
				refused(t, s, b, claimdlq.Refused)
			}
		}
	}},
	{"a refused batch leaves nothing behind", func(t *testing.T, s store.Store) {
		r := insert(t, s, set(1))[0]
		before := stats(t, s)
		stale := r
		stale.Revision = 9
		good, err := r.Held(claimdlq.HoldTarget, at(5))
		if err != nil {
			t.Fatal(err)
		}
		refused(t, s, store.Batch{
			Insert: []claimdlq.Record{set(2)}, NewSubmissions: []claimdlq.Submission{submission(1, one(r.ID))},
			Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, r.ID)},
			Update:  []claimdlq.Record{good, stale}, Fingerprints: []store.Fingerprint{{Key: testKey(3), Record: r.ID}},
		}, claimdlq.Conflict)
		equal(t, "record", get(t, s, r.ID), r)
		equal(t, "stats", stats(t, s), before)
		equal(t, "ids", ids(list(t, s, store.Filter{}, 0, 10)), []claimdlq.ID{r.ID})
		equal(t, "entries", entriesFrom(t, s, 1), []claimdlq.Entry(nil))
		_, err = s.Find(context.Background(), testKey(2))
		wantCode(t, err, claimdlq.NotFound)
		_, err = s.Submission(context.Background(), 1)
		wantCode(t, err, claimdlq.NotFound)
		seen, err := s.Seen(context.Background(), []claimdlq.Key{testKey(3)})
		equal(t, "seen", seen, []claimdlq.ID{0})
		equal(t, "error", err, nil)
	}},
	{"a commit whose context has ended is whole or nothing", func(t *testing.T, s store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Commit(ctx, store.Batch{
			Insert: []claimdlq.Record{set(1)}, Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, store.ParentIndex(0))},
		})
		if err != nil {
			wantCode(t, err, claimdlq.Unavailable)
			empty(t, s)
			return
		}
		equal(t, "records", len(list(t, s, store.Filter{}, 0, 10)), 1)
		equal(t, "entries", len(entriesFrom(t, s, 1)), 1)
	}},
	{"five thousand records, entries and fingerprints are one batch", func(t *testing.T, s store.Store) {
		const n = 5000
		var b store.Batch
		var fps []claimdlq.Key
		for i := range n {
			b.Insert = append(b.Insert, set(i))
			b.Entries = append(b.Entries, entry(claimdlq.ActReceive, store.ParentIndex(i)))
			fps = append(fps, testKey(n+i))
			b.Fingerprints = append(b.Fingerprints, store.Fingerprint{Key: fps[i], Record: store.ParentIndex(i)})
		}
		b.NewSubmissions = []claimdlq.Submission{submission(1, claimdlq.IDRange{First: store.ParentIndex(0), Last: store.ParentIndex(n - 1)})}
		got := commit(t, s, b)
		equal(t, "proof", got.Proof, claimdlq.NewProof(1, n))
		equal(t, "members", members(t, s, 1), []claimdlq.IDRange{{First: 1, Last: n}})
		equal(t, "received", stats(t, s).Received, int64(n))
		equal(t, "entries", len(entriesFrom(t, s, 1)), n)
		seen, err := s.Seen(t.Context(), fps)
		equal(t, "error", err, nil)
		for i, id := range seen {
			equal(t, "seen", id, claimdlq.ID(i+1))
		}
		r, err := s.Find(t.Context(), testKey(n-1))
		equal(t, "error", err, nil)
		equal(t, "last", r.ID, claimdlq.ID(n))
	}},
	{"an empty batch changes nothing", func(t *testing.T, s store.Store) {
		equal(t, "receipt", commit(t, s, store.Batch{}), store.Receipt{})
		empty(t, s)
	}},
}

// childOf is the nth test record as a claim that parted from its set.
func childOf(parent claimdlq.ID, n int) claimdlq.Record {
	r := bad(n)
	r.Scope, r.Parent, r.Ordinal = claimdlq.ScopeClaim, parent, 1
	return r
}

func empty(t tb, s store.Store) {
	t.Helper()
	equal(t, "records", list(t, s, store.Filter{}, 0, 10), []claimdlq.Record(nil))
	equal(t, "entries", entriesFrom(t, s, 1), []claimdlq.Entry(nil))
	equal(t, "received", stats(t, s).Received, int64(0))
}
