package storetest

import (
	"context"
	"testing"

	"claimdlq"
	"claimdlq/store"
)

var groupRules = []rule{
	{"records of one cause are one group, largest first", func(t *testing.T, s store.Store) {
		a, b, c, d := bad(4), bad(5), bad(6), bad(7)
		b.Claims, c.Claims = 10, 100
		d.Detail = detail("IK3:HI:3")
		e, f := bad(8), bad(9)
		e.Reason, f.Reason = claimdlq.RetriesExhausted, claimdlq.RetriesExhausted
		insert(t, s, d, e, f, c, b, a)
		equal(t, "groups", groups(t, s, store.Filter{}, 10), []store.Group{
			{State: claimdlq.StateQuarantined, Reason: claimdlq.FatalSyntax, Detail: detail("IK4:SV102:2"), Partner: "ZZ:TESTPAYER", Stream: "837", Records: 3, Claims: 111, OldestAt: at(4)},
			{State: claimdlq.StateQuarantined, Reason: claimdlq.RetriesExhausted, Detail: detail("IK4:SV102:2"), Partner: "ZZ:TESTPAYER", Stream: "837", Records: 2, Claims: 2, OldestAt: at(8)},
			{State: claimdlq.StateQuarantined, Reason: claimdlq.FatalSyntax, Detail: detail("IK3:HI:3"), Partner: "ZZ:TESTPAYER", Stream: "837", Records: 1, Claims: 1, OldestAt: at(7)},
		})
		equal(t, "limited", len(groups(t, s, store.Filter{}, 2)), 2)
		equal(t, "none", len(groups(t, s, store.Filter{}, 0)), 0)
	}},
	{"state, partner and stream part groups, and a filter selects", func(t *testing.T, s store.Store) {
		mixed(t, s)
		equal(t, "all", len(groups(t, s, store.Filter{}, 99)), 6)
		equal(t, "queued", groups(t, s, store.Filter{State: claimdlq.StateQueued}, 9), []store.Group{
			{State: claimdlq.StateQueued, Partner: "ZZ:TESTPAYER", Stream: "837", Records: 2, Claims: 2, OldestAt: at(1)},
		})
		equal(t, "stream", len(groups(t, s, store.Filter{Stream: "ncpdp"}, 9)), 1)
		equal(t, "partner and state", len(groups(t, s, store.Filter{Partner: "ZZ:TESTPAYER", State: claimdlq.StateQuarantined}, 9)), 4)
		format := claimdlq.FormatNCPDP
		equal(t, "format", len(groups(t, s, store.Filter{Format: &format}, 9)), 1)
	}},
	{"older restricts the records of a group", func(t *testing.T, s store.Store) {
		insert(t, s, bad(1), bad(5), bad(9))
		gs := groups(t, s, store.Filter{Older: at(9)}, 9)
		if len(gs) != 1 || gs[0].Records != 2 || !gs[0].OldestAt.Equal(at(1)) {
			t.Fatalf("groups are %v", gs)
		}
	}},
	{"settled and withdrawn records are not grouped", func(t *testing.T, s store.Store) {
		for n, state := range claimdlq.States {
			r := placed(t, s, n, state)
			want := 1
			if !r.State.Unresolved() {
				want = 0
			}
			equal(t, state.String(), len(groups(t, s, store.Filter{State: state}, 9)), want)
		}
	}},
	{"a record that moves on leaves its group", func(t *testing.T, s store.Store) {
		rs := insert(t, s, bad(1), bad(2))
		n, err := rs[0].Replay("v2", at(5))
		update(t, s, n, err)
		gs := groups(t, s, store.Filter{State: claimdlq.StateQuarantined}, 9)
		if len(gs) != 1 || gs[0].Records != 1 || !gs[0].OldestAt.Equal(at(2)) {
			t.Fatalf("groups are %v", gs)
		}
	}},
}

func groups(t tb, s store.Store, f store.Filter, limit int) []store.Group {
	t.Helper()
	gs, err := s.Groups(context.Background(), f, limit)
	if err != nil {
		t.Fatalf("groups: %v", err)
	}
	return gs
}
