package storetest

import (
	"testing"

	"claimdlq"
	"claimdlq/store"
)

var conservationRules = []rule{
	{"received is claims and parted of what has no parent", func(t *testing.T, s store.Store) {
		parent := set(1)
		parent.Claims, parent.Parted = 4998, 2
		commit(t, s, store.Batch{Insert: []claimdlq.Record{parent, childOf(store.ParentIndex(0), 2), childOf(store.ParentIndex(0), 3)}})
		equal(t, "received", stats(t, s).Received, int64(5000))
		conserved(t, s)
	}},
	{"a claim parts from its set in one commit", func(t *testing.T, s store.Store) {
		parent := set(1)
		parent.Claims = 3
		r := insert(t, s, parent)[0]
		for n := range 3 {
			next, err := r.Part(1, 100, at(n+5))
			if err != nil {
				t.Fatal(err)
			}
			commit(t, s, store.Batch{Insert: []claimdlq.Record{childOf(r.ID, n+10)}, Update: []claimdlq.Record{next}})
			r = get(t, s, r.ID)
			equal(t, "claims and parted", [2]uint32{r.Claims, r.Parted}, [2]uint32{uint32(2 - n), uint32(n + 1)})
			equal(t, "received", stats(t, s).Received, int64(3))
			conserved(t, s)
		}
	}},
	{"a batch that makes claims appear or vanish is refused", func(t *testing.T, s store.Store) {
		parent := set(1)
		parent.Claims = 3
		r := insert(t, s, parent)[0]
		parted, err := r.Part(1, 100, at(5))
		if err != nil {
			t.Fatal(err)
		}
		more := r
		more.Claims++
		missing := set(2)
		missing.Parted = 1
		for _, b := range []store.Batch{
			{Update: []claimdlq.Record{parted}},
			{Update: []claimdlq.Record{more}},
			{Insert: []claimdlq.Record{childOf(r.ID, 3)}},
			{Insert: []claimdlq.Record{missing}},
			{Insert: []claimdlq.Record{childOf(r.ID, 3), childOf(r.ID, 4)}, Update: []claimdlq.Record{parted}},
		} {
			refused(t, s, b, claimdlq.Refused)
		}
		equal(t, "record", get(t, s, r.ID), r)
		conserved(t, s)
	}},
	{"a claim that has parted before cannot part again", func(t *testing.T, s store.Store) {
		parent := set(1)
		parent.Claims = 3
		r := insert(t, s, parent)[0]
		next, _ := r.Part(1, 100, at(5))
		commit(t, s, store.Batch{Insert: []claimdlq.Record{childOf(r.ID, 3)}, Update: []claimdlq.Record{next}})
		r = get(t, s, r.ID)
		again, _ := r.Part(1, 100, at(6))
		refused(t, s, store.Batch{Insert: []claimdlq.Record{childOf(r.ID, 3)}, Update: []claimdlq.Record{again}}, claimdlq.Refused)
		equal(t, "record", get(t, s, r.ID), r)
		conserved(t, s)
	}},
	{"every step of a record's life conserves claims", func(t *testing.T, s store.Store) {
		first := set(1)
		first.Claims = 20
		r := insert(t, s, first)[0]
		fault := claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison}
		for _, step := range []func() (claimdlq.Record, error){
			func() (claimdlq.Record, error) { return r.Held(claimdlq.HoldIntake, at(1)) },
			func() (claimdlq.Record, error) { return r.Lease(1, at(2)) },
			func() (claimdlq.Record, error) { return r.Requeue(detail("HTTP_503"), at(9), at(3)) },
			func() (claimdlq.Record, error) { return r.Lease(1, at(4)) },
			func() (claimdlq.Record, error) { return r.Doubt(detail("TIMEOUT"), at(5)) },
			func() (claimdlq.Record, error) { return r.Sent(at(6)) },
			func() (claimdlq.Record, error) { return r.Answer([]uint32{1, 2}, detail("STC:A2:20"), at(7)) },
			func() (claimdlq.Record, error) { return r.Quarantine(fault, at(8)) },
			func() (claimdlq.Record, error) {
				return r.Correct(claimdlq.PayloadRef{Unit: "testunit2"}, 7, "v2", at(9))
			},
			func() (claimdlq.Record, error) { return r.Park(claimdlq.Expired, at(10)) },
			func() (claimdlq.Record, error) { return r.Unpark(testPolicy, at(11)) },
			func() (claimdlq.Record, error) { return r.Replay("v2", at(12)) },
			func() (claimdlq.Record, error) { return r.Settle(claimdlq.Accepted, detail("STC:A2:20"), at(13)) },
			func() (claimdlq.Record, error) { return r.Quarantine(fault, at(14)) },
			func() (claimdlq.Record, error) { return r.Withdraw(at(15)) },
		} {
			n, err := step()
			r = update(t, s, n, err)
			st := stats(t, s)
			equal(t, r.State.String(), [2]int64{st.Received, st.ByState[r.State]}, [2]int64{20, 20})
			conserved(t, s)
		}
	}},
}

// conserved checks DESIGN promise 9.
func conserved(t tb, s store.Store) {
	t.Helper()
	st := stats(t, s)
	var sum int64
	for _, n := range st.ByState {
		sum += n
	}
	if sum != st.Received {
		t.Fatalf("received %d claims, records answer for %d", st.Received, sum)
	}
}
