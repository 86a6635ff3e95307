package storetest

import (
	"context"
	"testing"

	"claimdlq"
	"claimdlq/store"
)

var readRules = []rule{
	{"an unknown record is not found", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		for _, id := range []claimdlq.ID{0, 2, 1 << 40, store.ParentIndex(0)} {
			_, err := s.Get(context.Background(), id)
			wantCode(t, err, claimdlq.NotFound)
		}
		_, err := s.Find(context.Background(), testKey(2))
		wantCode(t, err, claimdlq.NotFound)
	}},
	{"a record is found by its key, as it is now", func(t *testing.T, s store.Store) {
		rs := insert(t, s, bad(1), bad(2))
		n, err := rs[1].Replay("v2", at(5))
		moved := update(t, s, n, err)
		got, err := s.Find(context.Background(), testKey(2))
		equal(t, "error", err, nil)
		equal(t, "record", got, moved)
	}},
	{"look-up finds a display key, oldest first, at most limit", func(t *testing.T, s store.Store) {
		var same []claimdlq.Record
		for n := range 5 {
			r := set(n + 1) // two partners sent the same ISA13 and ST02
			r.InterchangeID = "000000001"
			same = append(same, r)
		}
		insert(t, s, set(9))
		insert(t, s, same...)
		ref := claimdlq.DisplayRef("000000001:0001")
		lookup(t, s, ref, 10, 2, 3, 4, 5, 6)
		lookup(t, s, ref, 2, 2, 3)
		lookup(t, s, ref, 0)
		lookup(t, s, claimdlq.DisplayRef("000000002:0001"), 10)
	}},
	{"look-up finds a batch number and the claims of a set", func(t *testing.T, s store.Store) {
		a, b := set(1), set(2)
		a.Batch, b.Batch = 500, 500
		a.Parted = 2
		insert(t, s, b)
		commit(t, s, store.Batch{Insert: []claimdlq.Record{a, childOf(store.ParentIndex(0), 3), childOf(store.ParentIndex(0), 4)}})
		lookup(t, s, 500, 10, 1, 2)
		lookup(t, s, claimdlq.ParentRef(2), 10, 3, 4)
		lookup(t, s, claimdlq.ParentRef(1), 10)
	}},
	{"look-up finds final records too", func(t *testing.T, s store.Store) {
		for n, state := range claimdlq.States {
			r := placed(t, s, n, state)
			lookup(t, s, claimdlq.DisplayRef(r.DisplayKey()), 10, r.ID)
		}
	}},
	{"look-up goes by what the record holds now", func(t *testing.T, s store.Store) {
		r := insert(t, s, bad(1))[0]
		next := r
		next.Batch = 900
		moved := update(t, s, next, nil)
		lookup(t, s, 900, 10, r.ID)
		moved.Batch = 901
		update(t, s, moved, nil)
		lookup(t, s, 900, 10)
		lookup(t, s, 901, 10, r.ID)
	}},
}

func lookup(t tb, s store.Store, ref claimdlq.Ref, limit int, want ...claimdlq.ID) {
	t.Helper()
	rs, err := s.Lookup(context.Background(), ref, limit)
	equal(t, "error", err, nil)
	equal(t, "found", ids(rs), want)
	for _, r := range rs {
		equal(t, "record", r, get(t, s, r.ID))
	}
}
