package storetest

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
)

var statsRules = []rule{
	{"every reason is present from the start", func(t *testing.T, s store.Store) {
		st := stats(t, s)
		for _, r := range claimdlq.Reasons {
			if n, ok := st.Quarantined[r]; !ok || n != 0 {
				t.Fatalf("%s is %d, present %t", r, n, ok)
			}
		}
		if st.Received != 0 || !st.OldestAt.IsZero() || !st.OldestParkedAt.IsZero() || st.Orphans != 0 || st.Rejected != 0 {
			t.Fatalf("an empty store counts %+v", st)
		}
	}},
	{"records and claims are counted by state", func(t *testing.T, s store.Store) {
		for n, state := range claimdlq.States {
			for i := range n + 1 {
				placed(t, s, 100*n+i, state)
			}
		}
		st := stats(t, s)
		for n, state := range claimdlq.States {
			equal(t, state.String(), [2]int64{st.Records[state], st.ByState[state]}, [2]int64{int64(n + 1), int64(n + 1)})
		}
		equal(t, "received", st.Received, int64(36))
	}},
	{"quarantined records are counted by reason and leave no residue", func(t *testing.T, s store.Store) {
		for i, reason := range claimdlq.Reasons {
			for n := range i + 1 {
				r := bad(10*i + n)
				r.Reason = reason
				insert(t, s, r)
			}
		}
		for i, reason := range claimdlq.Reasons {
			equal(t, reason.String(), stats(t, s).Quarantined[reason], int64(i+1))
		}
		for _, r := range list(t, s, store.Filter{}, 0, 99) {
			n, err := r.Withdraw(at(99))
			update(t, s, n, err)
		}
		for _, reason := range claimdlq.Reasons {
			n, ok := stats(t, s).Quarantined[reason]
			equal(t, reason.String(), [2]any{n, ok}, [2]any{int64(0), true})
		}
		equal(t, "oldest", stats(t, s).OldestAt, time.Time{})
	}},
	{"the oldest is the earliest first failure among the quarantined", func(t *testing.T, s store.Store) {
		rs := insert(t, s, bad(30), bad(10), bad(20))
		for _, step := range []struct {
			leaves claimdlq.Record
			oldest time.Time
		}{{rs[1], at(20)}, {rs[0], at(20)}, {rs[2], time.Time{}}} {
			n, err := step.leaves.Replay("v2", at(99))
			update(t, s, n, err)
			equal(t, "oldest", stats(t, s).OldestAt, step.oldest)
		}
		back := get(t, s, rs[1].ID)
		n, err := back.Quarantine(claimdlq.Fault{Reason: claimdlq.FatalSyntax}, at(200))
		update(t, s, n, err)
		equal(t, "oldest keeps the first failure", stats(t, s).OldestAt, at(10))
	}},
	{"parked records have an oldest of their own", func(t *testing.T, s store.Store) {
		rs := insert(t, s, bad(5), bad(6), bad(7))
		for _, r := range rs[:2] {
			n, err := r.Park(claimdlq.ReasonNone, at(50))
			update(t, s, n, err)
		}
		st := stats(t, s)
		equal(t, "oldest", [2]time.Time{st.OldestAt, st.OldestParkedAt}, [2]time.Time{at(7), at(5)})
		n, err := get(t, s, rs[0].ID).Unpark(testPolicy, at(60))
		update(t, s, n, err)
		st = stats(t, s)
		equal(t, "oldest", [2]time.Time{st.OldestAt, st.OldestParkedAt}, [2]time.Time{at(5), at(6)})
	}},
	{"rejected claims are counted among the settled", func(t *testing.T, s store.Store) {
		accepted := set(2)
		accepted.State, accepted.Disposition = claimdlq.StateSettled, claimdlq.Accepted
		r := set(1)
		r.Claims = 7
		r = insert(t, s, r, accepted)[0]
		for _, step := range []func(claimdlq.Record) (claimdlq.Record, error){
			func(r claimdlq.Record) (claimdlq.Record, error) { return r.Lease(0, at(2)) },
			func(r claimdlq.Record) (claimdlq.Record, error) { return r.Sent(at(3)) },
			func(r claimdlq.Record) (claimdlq.Record, error) {
				return r.Settle(claimdlq.Rejected, detail("STC:A3:54"), at(4))
			},
		} {
			n, err := step(r)
			r = update(t, s, n, err)
		}
		equal(t, "rejected", stats(t, s).Rejected, int64(7))
		equal(t, "settled", stats(t, s).ByState[claimdlq.StateSettled], int64(8))
		n, err := r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject}, at(5))
		update(t, s, n, err)
		equal(t, "rejected once reopened", stats(t, s).Rejected, int64(0))
	}},
	{"acknowledgment files are counted apart, as orphans until settled", func(t *testing.T, s store.Store) {
		orphan := ack(2)
		orphan.State, orphan.Reason, orphan.Disposition = claimdlq.StateQuarantined, claimdlq.SemanticReject, claimdlq.DispositionNone
		orphan.FirstFailedAt = at(2)
		rs := insert(t, s, ack(1), orphan)
		st := stats(t, s)
		equal(t, "orphans", st.Orphans, int64(1))
		for _, state := range claimdlq.States {
			equal(t, state.String(), st.Records[state], int64(0))
		}
		n, err := rs[1].Settle(claimdlq.Processed, claimdlq.Detail{}, at(3))
		update(t, s, n, err)
		equal(t, "orphans", stats(t, s).Orphans, int64(0))
	}},
}
