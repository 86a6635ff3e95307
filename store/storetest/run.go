package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimdlq"
	"claimdlq/store"
)

// tb is what *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// rule is one sentence of the contract and the test of it.
type rule struct {
	name string
	run  func(*testing.T, store.Store)
}

// part is the rules about one thing.
type part struct {
	name  string
	rules []rule
}

// sequential are the rules that one caller at a time can test.
var sequential = []part{
	{"insert", insertRules},
	{"duplicate", duplicateRules},
	{"update", updateRules},
	{"submission", submissionRules},
	{"release", releaseRules},
	{"due", dueRules},
	{"read", readRules},
	{"list", listRules},
	{"groups", groupRules},
	{"stats", statsRules},
	{"conservation", conservationRules},
	{"entries", entryRules},
	{"control", controlRules},
	{"seen", seenRules},
}

// Run tests the contract of package store against the stores that open returns:
// each call must give an empty one, which the suite closes.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	run(t, append(slices.Clone(sequential), part{"race", raceRules}), open)
}

func run(t *testing.T, parts []part, open func(t *testing.T) store.Store) {
	for _, part := range parts {
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

func equal(t tb, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) { // nearly always, and much faster
		return
	}
	if d := cmp.Diff(want, got, same); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func commit(t tb, s store.Store, b store.Batch) store.Receipt {
	t.Helper()
	r, err := s.Commit(context.Background(), b)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return r
}

// refused commits what must fail with the given code.
func refused(t tb, s store.Store, b store.Batch, code claimdlq.Code) {
	t.Helper()
	_, err := s.Commit(context.Background(), b)
	wantCode(t, err, code)
}

func wantCode(t tb, err error, code claimdlq.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("error is %v, want code %q", err, code)
	}
}

// insert commits records, each in a batch of its own, and returns them as stored.
func insert(t tb, s store.Store, rs ...claimdlq.Record) []claimdlq.Record {
	t.Helper()
	out := make([]claimdlq.Record, len(rs))
	for i, r := range rs {
		out[i] = get(t, s, commit(t, s, store.Batch{Insert: []claimdlq.Record{r}}).Inserted[0].ID)
	}
	return out
}

// update commits one step and returns the record as stored.
func update(t tb, s store.Store, r claimdlq.Record, err error) claimdlq.Record {
	t.Helper()
	if err != nil {
		t.Fatalf("step: %v", err)
	}
	commit(t, s, store.Batch{Update: []claimdlq.Record{r}})
	return get(t, s, r.ID)
}

func get(t tb, s store.Store, id claimdlq.ID) claimdlq.Record {
	t.Helper()
	r, err := s.Get(context.Background(), id)
	if err != nil {
		t.Fatalf("get %d: %v", id, err)
	}
	return r
}

func list(t tb, s store.Store, f store.Filter, before claimdlq.ID, limit int) []claimdlq.Record {
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

func stats(t tb, s store.Store) store.Stats {
	t.Helper()
	st, err := s.Stats(context.Background())
	if err != nil {
		t.Fatalf("stats: %v", err)
	}
	return st
}

func entriesFrom(t tb, s store.Store, from uint64) []claimdlq.Entry {
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
