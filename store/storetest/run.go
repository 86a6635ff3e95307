package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimdlq"
	"claimdlq/store"
)

// rule is one sentence of the contract and the test of it.
type rule struct {
	name string
	run  func(*testing.T, store.Store)
}

// Run tests the contract of package store against the stores that open returns:
// each call must give an empty one, which the suite closes.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, part := range []struct {
		name  string
		rules []rule
	}{
		{"insert", insertRules}, {"duplicate", duplicateRules}, {"update", updateRules},
		{"submission", submissionRules}, {"due", dueRules}, {"read", readRules}, {"list", listRules},
		{"groups", groupRules}, {"stats", statsRules}, {"conservation", conservationRules},
		{"entries", entryRules}, {"control", controlRules}, {"seen", seenRules}, {"race", raceRules},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, r := range part.rules {
				t.Run(r.name, func(t *testing.T) {
					t.Parallel()
					s := open(t)
					t.Cleanup(func() {
						if err := s.Close(); err != nil {
							t.Errorf("close: %v", err)
						}
					})
					r.run(t, s)
				})
			}
		})
	}
}

// same compares what a store returned with what it should have.
var same = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.EquateComparable(claimdlq.Detail{}, claimdlq.Proof{}),
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, same); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func commit(t testing.TB, s store.Store, b store.Batch) store.Receipt {
	t.Helper()
	r, err := s.Commit(context.Background(), b)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return r
}

// refused commits what must fail with the given code.
func refused(t testing.TB, s store.Store, b store.Batch, code claimdlq.Code) {
	t.Helper()
	_, err := s.Commit(context.Background(), b)
	wantCode(t, err, code)
}

func wantCode(t testing.TB, err error, code claimdlq.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("error is %v, want code %q", err, code)
	}
}

// insert commits records, each in a batch of its own, and returns them as stored.
func insert(t testing.TB, s store.Store, rs ...claimdlq.Record) []claimdlq.Record {
	t.Helper()
	out := make([]claimdlq.Record, len(rs))
	for i, r := range rs {
		out[i] = get(t, s, commit(t, s, store.Batch{Insert: []claimdlq.Record{r}}).Inserted[0].ID)
	}
	return out
}

// update commits one step and returns the record as stored.
func update(t testing.TB, s store.Store, r claimdlq.Record, err error) claimdlq.Record {
	t.Helper()
	if err != nil {
		t.Fatalf("step: %v", err)
	}
	commit(t, s, store.Batch{Update: []claimdlq.Record{r}})
	return get(t, s, r.ID)
}

func get(t testing.TB, s store.Store, id claimdlq.ID) claimdlq.Record {
	t.Helper()
	r, err := s.Get(context.Background(), id)
	if err != nil {
		t.Fatalf("get %d: %v", id, err)
	}
	return r
}

func list(t testing.TB, s store.Store, f store.Filter, before claimdlq.ID, limit int) []claimdlq.Record {
	t.Helper()
	rs, err := s.List(context.Background(), f, before, limit)
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return rs
}

func ids(rs []claimdlq.Record) []claimdlq.ID {
	out := make([]claimdlq.ID, len(rs))
	for i, r := range rs {
		out[i] = r.ID
	}
	return out
}

func stats(t testing.TB, s store.Store) store.Stats {
	t.Helper()
	st, err := s.Stats(context.Background())
	if err != nil {
		t.Fatalf("stats: %v", err)
	}
	return st
}

func entriesFrom(t testing.TB, s store.Store, from uint64) []claimdlq.Entry {
	t.Helper()
	var out []claimdlq.Entry
	if err := s.Entries(context.Background(), from, func(e claimdlq.Entry) bool {
		out = append(out, e)
		return true
	}); err != nil {
		t.Fatalf("entries: %v", err)
	}
	return out
}
