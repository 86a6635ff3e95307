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
	{"a stream without records has no figures, and acknowledgments never have", func(t *testing.T, s store.Store) {
		equal(t, "streams", len(stats(t, s).Streams), 0)
		insert(t, s, ack(1))
		equal(t, "streams", len(stats(t, s).Streams), 0)
		insert(t, s, pharmacy(set(2)))
		st := stats(t, s).Streams
		equal(t, "streams", len(st), 1)
		for _, state := range claimdlq.States {
			if n, ok := st[claimdlq.StreamNCPDP].Records[state]; !ok || (n == 1) != (state == claimdlq.StateQueued) {
				t.Fatalf("%s is %d, present %t", state, n, ok)
			}
		}
		for _, r := range claimdlq.Reasons {
			if n, ok := st[claimdlq.StreamNCPDP].Quarantined[r]; !ok || n != 0 {
				t.Fatalf("%s is %d, present %t", r, n, ok)
			}
		}
	}},
	{"streams are counted apart, whatever becomes of their records", func(t *testing.T, s store.Store) {
		for n, state := range claimdlq.States {
			for i := range n + 1 {
				placed(t, s, 100*n+i, state)
			}
			placedAs(t, s, pharmacy(set(5000+n)), state)
		}
		st := stats(t, s).Streams
		for n, state := range claimdlq.States {
			equal(t, state.String(), [2]int64{st[claimdlq.StreamX12].Records[state], st[claimdlq.StreamNCPDP].Records[state]}, [2]int64{int64(n + 1), 1})
		}
		n, err := list(t, s, store.Filter{Stream: claimdlq.StreamNCPDP, State: claimdlq.StateQuarantined}, 0, 1)[0].Withdraw(at(99))
		update(t, s, n, err)
		st = stats(t, s).Streams
		equal(t, "withdrawn", [2]int64{st[claimdlq.StreamX12].Records[claimdlq.StateWithdrawn], st[claimdlq.StreamNCPDP].Records[claimdlq.StateWithdrawn]}, [2]int64{8, 2})
	}},
	{"quarantined records of a stream are counted by reason", func(t *testing.T, s store.Store) {
		poison := pharmacy(bad(2))
		poison.Reason = claimdlq.RetriesExhausted
		rs := insert(t, s, bad(1), poison, pharmacy(bad(3)))
		quarantined := func(want map[string][2]int64) {
			t.Helper()
			for name, st := range stats(t, s).Streams {
				equal(t, name, [2]int64{st.Quarantined[claimdlq.FatalSyntax], st.Quarantined[claimdlq.RetriesExhausted]}, want[name])
			}
		}
		quarantined(map[string][2]int64{claimdlq.StreamX12: {1, 0}, claimdlq.StreamNCPDP: {1, 1}})
		n, err := rs[1].Park(claimdlq.ReasonNone, at(9))
		update(t, s, n, err)
		quarantined(map[string][2]int64{claimdlq.StreamX12: {1, 0}, claimdlq.StreamNCPDP: {1, 0}})
	}},
	{"each stream has its oldest in quarantine, parked and in doubt", func(t *testing.T, s store.Store) {
		oldest := func(quarantined, parked, doubt time.Time) {
			t.Helper()
			st := stats(t, s).Streams[claimdlq.StreamNCPDP]
			equal(t, "oldest", [3]time.Time{st.OldestAt, st.OldestParkedAt, st.OldestInDoubtAt}, [3]time.Time{quarantined, parked, doubt})
		}
		insert(t, s, bad(1)) // another stream's is older
		rs := insert(t, s, pharmacy(bad(10)), pharmacy(bad(20)), pharmacy(bad(30)))
		oldest(at(10), time.Time{}, time.Time{})
		n, err := rs[0].Park(claimdlq.ReasonNone, at(50))
		parked := update(t, s, n, err)
		oldest(at(20), at(10), time.Time{})
		first := placedAs(t, s, pharmacy(set(40)), claimdlq.StateInDoubt) // never failed: since it came
		second := placedAs(t, s, pharmacy(set(45)), claimdlq.StateInDoubt)
		oldest(at(20), at(10), at(40))
		n, err = first.Settle(claimdlq.Accepted, claimdlq.Detail{}, at(60))
		update(t, s, n, err)
		oldest(at(20), at(10), at(45))
		n, err = second.Settle(claimdlq.Accepted, claimdlq.Detail{}, at(60))
		update(t, s, n, err)
		n, err = parked.Unpark(testPolicy, at(61))
		update(t, s, n, err)
		oldest(at(10), time.Time{}, time.Time{})
		equal(t, "of another stream", stats(t, s).Streams[claimdlq.StreamX12].OldestAt, at(1))
		equal(t, "of all", stats(t, s).OldestAt, at(1))
	}},
	{"a record that goes to another partner stays counted once", func(t *testing.T, s store.Store) {
		r := insert(t, s, pharmacy(bad(1)))[0]
		r.Partner = "610000:OTHER"
		update(t, s, r, nil)
		equal(t, "quarantined", stats(t, s).Streams[claimdlq.StreamNCPDP].Records[claimdlq.StateQuarantined], int64(1))
	}},
}
