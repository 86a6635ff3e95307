package storetest

import (
	"context"
	"testing"

	"claimdlq"
	"claimdlq/store"
)

var entryRules = []rule{
	{"entries are numbered from 1 in commit order and read back whole", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		want := claimdlq.Entry{
			At: at(3), Actor: "TEST.ANALYST", Action: claimdlq.ActCorrect, Record: 1, Submission: 9, PayloadRevision: 300,
			Detail: detail("IK4:CLM01:1"), From: claimdlq.StateQuarantined, To: claimdlq.StateQuarantined, Note: "a test",
		}
		given := want
		given.Seq = 77
		commit(t, s, store.Batch{Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, 1), given}})
		commit(t, s, store.Batch{Entries: []claimdlq.Entry{entry(claimdlq.ActReplay, 1)}})
		es := entriesFrom(t, s, 1)
		equal(t, "actions", actions(es), []claimdlq.Action{claimdlq.ActReceive, claimdlq.ActCorrect, claimdlq.ActReplay})
		want.Seq = 2
		equal(t, "entry", es[1], want)
	}},
	{"entries need no record and no change", func(t *testing.T, s store.Store) {
		commit(t, s, store.Batch{Entries: []claimdlq.Entry{entry(claimdlq.ActKeyRotate, 0)}})
		equal(t, "actions", actions(entriesFrom(t, s, 1)), []claimdlq.Action{claimdlq.ActKeyRotate})
	}},
	{"reading starts where it is told and stops when told", func(t *testing.T, s store.Store) {
		for range 10 {
			commit(t, s, store.Batch{Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, 0)}})
		}
		for from, want := range map[uint64][2]uint64{0: {1, 10}, 1: {1, 10}, 4: {4, 10}, 10: {10, 10}} {
			es := entriesFrom(t, s, from)
			if es[0].Seq != want[0] || es[len(es)-1].Seq != want[1] {
				t.Fatalf("from %d: %d to %d, want %v", from, es[0].Seq, es[len(es)-1].Seq, want)
			}
		}
		equal(t, "past the end", len(entriesFrom(t, s, 11)), 0)
		calls := 0
		err := s.Entries(context.Background(), 3, func(e claimdlq.Entry) bool {
			calls++
			return e.Seq < 5
		})
		equal(t, "error", err, nil)
		equal(t, "calls", calls, 3)
	}},
	{"a proof is the range of the batch's entries", func(t *testing.T, s store.Store) {
		equal(t, "none", commit(t, s, store.Batch{Insert: []claimdlq.Record{set(1)}}).Proof.Valid(), false)
		e := entry(claimdlq.ActOpen, 1)
		equal(t, "one", commit(t, s, store.Batch{Entries: []claimdlq.Entry{e}}).Proof, claimdlq.NewProof(1, 1))
		equal(t, "three", commit(t, s, store.Batch{Entries: []claimdlq.Entry{e, e, e}}).Proof, claimdlq.NewProof(2, 4))
	}},
	{"what is not audited yet is held, and numbers never start again", func(t *testing.T, s store.Store) {
		e := entry(claimdlq.ActOpen, 0)
		commit(t, s, store.Batch{Entries: []claimdlq.Entry{e, e, e, e}})
		for _, to := range []uint64{2, 1, 2} { // telling it twice, or an older number, is harmless
			if err := s.AuditedTo(context.Background(), to); err != nil {
				t.Fatal(err)
			}
			es := entriesFrom(t, s, 3)
			equal(t, "held", []uint64{es[0].Seq, es[1].Seq}, []uint64{3, 4})
		}
		if err := s.AuditedTo(context.Background(), 4); err != nil {
			t.Fatal(err)
		}
		equal(t, "proof", commit(t, s, store.Batch{Entries: []claimdlq.Entry{e}}).Proof, claimdlq.NewProof(5, 5))
		equal(t, "held", entriesFrom(t, s, 5)[0].Seq, uint64(5))
	}},
	{"a reader of entries may use the store", func(t *testing.T, s store.Store) {
		commit(t, s, store.Batch{Insert: []claimdlq.Record{set(1)}, Entries: []claimdlq.Entry{entry(claimdlq.ActReceive, store.ParentIndex(0))}})
		err := s.Entries(context.Background(), 1, func(e claimdlq.Entry) bool {
			get(t, s, e.Record)
			return true
		})
		equal(t, "error", err, nil)
	}},
}

func actions(es []claimdlq.Entry) []claimdlq.Action {
	var out []claimdlq.Action
	for _, e := range es {
		out = append(out, e.Action)
	}
	return out
}
