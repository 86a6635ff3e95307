package storetest

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"claimdlq"
	"claimdlq/store"
)

// together runs f in n goroutines and waits for all.
func together(n int, f func(worker int)) {
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { f(w) })
	}
	wg.Wait()
}

var raceRules = []rule{
	{"of many commits on one revision exactly one wins", func(t *testing.T, s store.Store) {
		r := insert(t, s, bad(1))[0]
		for range 20 {
			var won, conflicts atomic.Int32
			together(8, func(w int) {
				next := r
				next.Stream = string(rune('a' + w))
				switch _, err := s.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{next}}); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, claimdlq.Conflict):
					conflicts.Add(1)
				}
			})
			equal(t, "won and conflicts", [2]int32{won.Load(), conflicts.Load()}, [2]int32{1, 7})
			r = get(t, s, r.ID)
		}
		equal(t, "revision", r.Revision, uint32(21))
	}},
	{"a replay released by many at once is released once", func(t *testing.T, s store.Store) {
		r := insert(t, s, bad(1))[0]
		var released atomic.Int32
		together(8, func(int) {
			now := get(t, s, r.ID)
			if now.GuardReplay(testPolicy, true) != claimdlq.Replayed {
				return
			}
			next, err := now.Replay("v2", at(5))
			if err != nil {
				return
			}
			if _, err := s.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{next}}); err == nil {
				released.Add(1)
			}
		})
		equal(t, "released", released.Load(), int32(1))
		equal(t, "replay_count", get(t, s, r.ID).ReplayCount, uint32(1))
	}},
	{"commits on one record are linearizable", linearizable},
	{"a batch is seen whole or not at all", func(t *testing.T, s store.Store) {
		rs := insert(t, s, bad(1), bad(2))
		var done atomic.Bool
		together(4, func(w int) {
			if w > 0 {
				for !done.Load() {
					// Read in the order in which a torn batch would show: if the second
					// record has a revision, the first had it before.
					second := get(t, s, rs[1].ID).Revision
					if first := get(t, s, rs[0].ID).Revision; first < second {
						t.Errorf("record 1 is at revision %d when record 2 was at %d", first, second)
						return
					}
					if l := list(t, s, store.Filter{}, 0, 2); l[0].Revision != l[1].Revision {
						t.Errorf("a list shows revisions %d and %d", l[1].Revision, l[0].Revision)
						return
					}
				}
				return
			}
			defer done.Store(true)
			for range 200 {
				b := store.Batch{Update: []claimdlq.Record{get(t, s, rs[0].ID), get(t, s, rs[1].ID)}}
				commit(t, s, b)
			}
		})
	}},
	{"of many inserts of one key exactly one is inserted", func(t *testing.T, s store.Store) {
		for n := range 10 {
			var inserted, duplicates atomic.Int32
			together(8, func(int) {
				switch commit(t, s, store.Batch{Insert: []claimdlq.Record{set(n)}}).Inserted[0] {
				case store.InsertResult{ID: claimdlq.ID(n + 1), Status: store.Inserted}:
					inserted.Add(1)
				case store.InsertResult{ID: claimdlq.ID(n + 1), Status: store.Duplicate}:
					duplicates.Add(1)
				}
			})
			equal(t, "inserted and duplicates", [2]int32{inserted.Load(), duplicates.Load()}, [2]int32{1, 7})
		}
	}},
	{"concurrent commits lose nothing and number entries without a gap", func(t *testing.T, s store.Store) {
		const workers, each = 8, 25
		var mu sync.Mutex
		proofs := map[uint64]bool{}
		together(workers, func(w int) {
			for i := range each {
				got := commit(t, s, store.Batch{
					Insert:  []claimdlq.Record{set(w*each + i)},
					Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, store.ParentIndex(0))},
				})
				first, _ := got.Proof.Range()
				mu.Lock()
				proofs[first] = true
				mu.Unlock()
			}
		})
		equal(t, "distinct proofs", len(proofs), workers*each)
		equal(t, "received", stats(t, s).Received, int64(workers*each))
		records := map[claimdlq.ID]bool{}
		for i, e := range entriesFrom(t, s, 1) {
			equal(t, "number", e.Seq, uint64(i+1))
			records[e.Record] = true
		}
		equal(t, "records with an entry", len(records), workers*each)
		conserved(t, s)
	}},
	{"concurrent allocations never give a number twice", func(t *testing.T, s store.Store) {
		var mu sync.Mutex
		var given []uint32
		together(8, func(w int) {
			for i := range 25 {
				n := (w+i)%3 + 1
				first, err := s.NextControl(t.Context(), "lane", n)
				if err != nil {
					t.Errorf("allocate: %v", err)
					return
				}
				mu.Lock()
				for k := range n {
					given = append(given, first+uint32(k))
				}
				mu.Unlock()
			}
		})
		slices.Sort(given)
		equal(t, "distinct numbers", len(slices.Compact(slices.Clone(given))), len(given))
	}},
}

// linearizable has workers read and step one record, and checks the history: the
// steps that won form one chain of revisions, and nobody reads a revision older
// than one that was committed before the read began.
func linearizable(t *testing.T, s store.Store) {
	r := insert(t, s, bad(1))[0]
	const workers, each = 6, 30
	var committed atomic.Uint32 // highest revision known to be durable
	committed.Store(r.Revision)
	wins := make([][]uint32, workers)
	together(workers, func(w int) {
		for range each {
			floor := committed.Load()
			now := get(t, s, r.ID)
			if now.Revision < floor {
				t.Errorf("read revision %d after %d was committed", now.Revision, floor)
				return
			}
			_, err := s.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{now}})
			switch {
			case err == nil:
				wins[w] = append(wins[w], now.Revision)
				for old := committed.Load(); old <= now.Revision && !committed.CompareAndSwap(old, now.Revision+1); {
					old = committed.Load()
				}
			case !errors.Is(err, claimdlq.Conflict):
				t.Errorf("commit: %v", err)
				return
			}
		}
	})
	var chain []uint32
	for _, w := range wins {
		if !slices.IsSorted(w) {
			t.Fatalf("a worker's wins went back: %v", w)
		}
		chain = append(chain, w...)
	}
	slices.Sort(chain)
	for i, revision := range chain {
		equal(t, "revision won from", revision, uint32(i+1))
	}
	equal(t, "last revision", get(t, s, r.ID).Revision, uint32(len(chain)+1))
}
