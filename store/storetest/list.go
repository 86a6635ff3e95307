package storetest

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// mixed stores records that differ in each thing a Filter knows.
func mixed(t tb, s store.Store) {
	t.Helper()
	rs := []claimdlq.Record{set(1), bad(2), bad(3), bad(4), bad(5), bad(6), ack(7), set(8)}
	rs[2].Reason = claimdlq.SemanticReject
	rs[3].Detail = detail("IK3:HI:3")
	rs[4].Partner = "ZZ:OTHERPAYER"
	rs[5].Stream, rs[5].Format = "ncpdp", claimdlq.FormatNCPDP
	insert(t, s, rs...)
}

var listRules = []rule{
	{"the newest come first, below before, at most limit", func(t *testing.T, s store.Store) {
		mixed(t, s)
		listed(t, s, store.Filter{}, 0, 100, 8, 7, 6, 5, 4, 3, 2, 1)
		listed(t, s, store.Filter{}, 0, 3, 8, 7, 6)
		listed(t, s, store.Filter{}, 6, 3, 5, 4, 3)
		listed(t, s, store.Filter{}, 2, 3, 1)
		listed(t, s, store.Filter{}, 1, 3)
		listed(t, s, store.Filter{}, 1<<50, 2, 8, 7)
		listed(t, s, store.Filter{}, 0, 0)
	}},
	{"each field of a filter restricts", func(t *testing.T, s store.Store) {
		mixed(t, s)
		p, x := claimdlq.Format837P, claimdlq.FormatUnreadable
		listed(t, s, store.Filter{State: claimdlq.StateQueued}, 0, 9, 8, 1)
		listed(t, s, store.Filter{Reason: claimdlq.FatalSyntax}, 0, 9, 6, 5, 4, 2)
		listed(t, s, store.Filter{Detail: detail("IK3:HI:3")}, 0, 9, 4)
		listed(t, s, store.Filter{Partner: "ZZ:OTHERPAYER"}, 0, 9, 5)
		listed(t, s, store.Filter{Stream: "acks"}, 0, 9, 7)
		listed(t, s, store.Filter{Format: &p}, 0, 9, 8, 5, 4, 3, 2, 1)
		listed(t, s, store.Filter{Format: &x}, 0, 9)
		listed(t, s, store.Filter{Partner: "ZZ:OTHER"}, 0, 9)
	}},
	{"the fields of a filter restrict together, and page", func(t *testing.T, s store.Store) {
		mixed(t, s)
		f := store.Filter{State: claimdlq.StateQuarantined, Stream: "837", Partner: "ZZ:TESTPAYER"}
		listed(t, s, f, 0, 9, 4, 3, 2)
		listed(t, s, f, 0, 2, 4, 3)
		listed(t, s, f, 3, 2, 2)
		f.Reason, f.Detail = claimdlq.SemanticReject, detail("IK4:SV102:2")
		listed(t, s, f, 0, 9, 3)
	}},
	{"older goes by the first failure, to the millisecond", func(t *testing.T, s store.Store) {
		r := set(1) // created at 1 s, failed at 50 s
		r.State, r.Reason, r.FirstFailedAt = claimdlq.StateQuarantined, claimdlq.FatalSyntax, at(50)
		insert(t, s, r)
		listed(t, s, store.Filter{Older: at(50)}, 0, 9)
		listed(t, s, store.Filter{Older: at(50).Add(time.Millisecond)}, 0, 9, 1)
	}},
	{"older goes by the creation of what never failed", func(t *testing.T, s store.Store) {
		insert(t, s, set(10))
		listed(t, s, store.Filter{Older: at(10)}, 0, 9)
		listed(t, s, store.Filter{Older: at(10).Add(time.Millisecond)}, 0, 9, 1)
	}},
	{"records of every state are listed, by the state they are in now", func(t *testing.T, s store.Store) {
		for n, state := range claimdlq.States {
			r := placed(t, s, n, state)
			listed(t, s, store.Filter{State: state}, 0, 9, r.ID)
		}
		listed(t, s, store.Filter{}, 0, 99, 8, 7, 6, 5, 4, 3, 2, 1)
	}},
}

func listed(t tb, s store.Store, f store.Filter, before claimdlq.ID, limit int, want ...claimdlq.ID) {
	t.Helper()
	rs := list(t, s, f, before, limit)
	equal(t, "listed", ids(rs), want)
	for _, r := range rs {
		equal(t, "record", r, get(t, s, r.ID))
	}
}
