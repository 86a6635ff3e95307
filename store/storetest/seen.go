package storetest

import (
	"testing"

	"claimdlq"
	"claimdlq/store"
)

var seenRules = []rule{
	{"a fingerprint is answered with a record that carried it, or 0", func(t *testing.T, s store.Store) {
		insert(t, s, set(1), set(2))
		commit(t, s, store.Batch{Fingerprints: []store.Fingerprint{{Key: testKey(51), Record: 1}, {Key: testKey(52), Record: 2}, {Key: testKey(53), Record: 1}}})
		got, err := s.Seen(t.Context(), []claimdlq.Key{testKey(52), testKey(99), testKey(51), testKey(52), testKey(53)})
		equal(t, "error", err, nil)
		equal(t, "seen", got, []claimdlq.ID{2, 0, 1, 2, 1})
	}},
	{"a fingerprint carried by two records is answered with either", func(t *testing.T, s store.Store) {
		insert(t, s, set(1), set(2))
		for _, id := range []claimdlq.ID{1, 2} {
			commit(t, s, store.Batch{Fingerprints: []store.Fingerprint{{Key: testKey(51), Record: id}}})
		}
		got, err := s.Seen(t.Context(), []claimdlq.Key{testKey(51)})
		equal(t, "error", err, nil)
		if got[0] != 1 && got[0] != 2 {
			t.Fatalf("seen in record %d", got[0])
		}
	}},
	{"a fingerprint outlives its record's unresolved life", func(t *testing.T, s store.Store) {
		r := placed(t, s, 1, claimdlq.StateSettled)
		commit(t, s, store.Batch{Fingerprints: []store.Fingerprint{{Key: testKey(51), Record: r.ID}}})
		got, err := s.Seen(t.Context(), []claimdlq.Key{testKey(51)})
		equal(t, "error", err, nil)
		equal(t, "seen", got, []claimdlq.ID{r.ID})
	}},
	{"asking for none is answered with none", func(t *testing.T, s store.Store) {
		got, err := s.Seen(t.Context(), nil)
		equal(t, "error", err, nil)
		equal(t, "seen", len(got), 0)
	}},
}
