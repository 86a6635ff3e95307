package storetest

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
)

var updateRules = []rule{
	{"an update is stored whole and raises the revision by one", func(t *testing.T, s store.Store) {
		r := insert(t, s, bad(1))[0]
		next := whole(1)
		next.ID, next.Revision, next.CreatedAt, next.FirstFailedAt = r.ID, r.Revision, r.CreatedAt, r.FirstFailedAt
		next.Claims, next.State = r.Claims, claimdlq.StateParked
		next.AttemptCount, next.ReceiveCount, next.ReplayCount = 0, 0, 0 // parking counts nothing
		commit(t, s, store.Batch{Update: []claimdlq.Record{next}})
		next.Revision = 2
		equal(t, "record", get(t, s, r.ID), next)
	}},
	{"a record that has moved on is a conflict", func(t *testing.T, s store.Store) {
		r := insert(t, s, bad(1))[0]
		a, err := r.Replay("v1", at(2))
		moved := update(t, s, a, err)
		for _, revision := range []uint32{0, 1, 3} {
			stale := moved
			stale.Revision = revision
			refused(t, s, store.Batch{Update: []claimdlq.Record{stale}}, claimdlq.Conflict)
		}
		equal(t, "record", get(t, s, r.ID), moved)
	}},
	{"an update of an unknown record is not found", func(t *testing.T, s store.Store) {
		insert(t, s, set(1))
		for _, id := range []claimdlq.ID{0, 2, 1 << 40, store.ParentIndex(0)} {
			r := set(1)
			r.ID, r.Revision = id, 1
			refused(t, s, store.Batch{Update: []claimdlq.Record{r}}, claimdlq.NotFound)
		}
	}},
	{"no record is updated twice in one batch", func(t *testing.T, s store.Store) {
		r := insert(t, s, bad(1))[0]
		next := r
		next.Revision = 2
		refused(t, s, store.Batch{Update: []claimdlq.Record{r, next}}, claimdlq.Conflict)
		refused(t, s, store.Batch{Update: []claimdlq.Record{r, r}}, claimdlq.Conflict)
		equal(t, "record", get(t, s, r.ID), r)
	}},
	{"one bad update fails the whole batch", func(t *testing.T, s store.Store) {
		rs := insert(t, s, bad(1), bad(2), bad(3))
		b := store.Batch{Update: []claimdlq.Record{rs[0], rs[1], rs[2]}}
		b.Update[1].Revision = 7
		refused(t, s, b, claimdlq.Conflict)
		for _, r := range rs {
			equal(t, "record", get(t, s, r.ID), r)
		}
	}},
	{"the table of moves is enforced for every pair of states", func(t *testing.T, s store.Store) {
		n := 0
		for _, from := range claimdlq.States {
			for _, to := range claimdlq.States {
				n++
				next := into(placed(t, s, n, from), to)
				b := store.Batch{Update: []claimdlq.Record{next}}
				if claimdlq.CanMove(from, to) {
					commit(t, s, b)
					equal(t, "state", get(t, s, next.ID).State, to)
				} else {
					refused(t, s, b, claimdlq.Refused)
					equal(t, "state", get(t, s, next.ID).State, from)
				}
			}
		}
	}},
	{"a step that check forbids is refused", func(t *testing.T, s store.Store) {
		from := bad(1)
		from.AttemptCount, from.ReceiveCount, from.ReplayCount, from.Unparked, from.PayloadRevision = 5, 5, 2, 1, 2
		r := insert(t, s, from)[0]
		for name, change := range map[string]func(*claimdlq.Record){
			"key":              func(r *claimdlq.Record) { r.Key[0]++ },
			"digest":           func(r *claimdlq.Record) { r.Digest[0]++ },
			"scope":            func(r *claimdlq.Record) { r.Scope++ },
			"parent":           func(r *claimdlq.Record) { r.Parent++ },
			"created_at":       func(r *claimdlq.Record) { r.CreatedAt = r.CreatedAt.Add(time.Millisecond) },
			"attempt_count":    func(r *claimdlq.Record) { r.AttemptCount-- },
			"replay_count":     func(r *claimdlq.Record) { r.ReplayCount-- },
			"receive_count":    func(r *claimdlq.Record) { r.ReceiveCount-- },
			"unparked":         func(r *claimdlq.Record) { r.Unparked-- },
			"uncounted":        func(r *claimdlq.Record) { r.State = claimdlq.StateQueued },
			"payload_revision": func(r *claimdlq.Record) { r.PayloadRevision-- },
			"refused_revision": func(r *claimdlq.Record) { r.RefusedRevision-- },
			"first_failed_at":  func(r *claimdlq.Record) { r.FirstFailedAt = r.FirstFailedAt.Add(time.Millisecond) },
			"forgotten":        func(r *claimdlq.Record) { r.FirstFailedAt = time.Time{} },
		} {
			next := r
			change(&next)
			_, err := s.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{next}})
			if err == nil {
				t.Fatalf("a step that changes %s was allowed", name)
			}
			wantCode(t, err, claimdlq.Refused)
		}
		equal(t, "record", get(t, s, r.ID), r)
	}},
}
