package lineage_test

import (
	"math/rand/v2"
	"testing"

	"claimdlq"
	"claimdlq/flow/lineage"
)

func (f *fill) apart(id claimdlq.ID) bool {
	f.t.Helper()
	r := f.get(id)
	mates, err := f.st.Lookup(f.t.Context(), r.Batch, lineage.MaxApart+1)
	if err != nil {
		f.t.Fatal(err)
	}
	return lineage.Apart(r, mates)
}

func TestApart_APartialFillAndItsCompletion(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	part := f.come(claimOf("B1", "P"), "a", quarantined)
	rest := f.come(claimOf("B1", "C"), "b", paid)
	if !f.apart(part) || !f.apart(rest) {
		t.Error("two claims that keys tell apart are not apart")
	}
	back := f.come(claimOf("B2", "P"), "c", queued)
	if f.apart(part) || f.apart(rest) || f.apart(back) {
		t.Error("a reversal of the fill may mean either")
	}
}

func TestApart_NotWhereAKeyDoesNotTell(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		come func(f *fill) claimdlq.ID
	}{
		{"the same claim again", func(f *fill) claimdlq.ID {
			return f.come(claimOf("B1", "P"), "again", rejected)
		}},
		{"a rebill", func(f *fill) claimdlq.ID { return f.come(claimOf("B3", "C"), "a", queued) }},
		{"corrected", func(f *fill) claimdlq.ID {
			return f.come(claimOf("B1", "C"), "c", claimdlq.Record{State: claimdlq.StateQuarantined, PayloadRevision: 2})
		}},
		{"under another term", func(f *fill) claimdlq.ID {
			f.ids = []*claimdlq.Identity{identity(2), identity(1)}
			return f.come(claimOf("B1", "C"), "c", queued)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFill(t)
			first := f.come(claimOf("B1", "P"), "a", quarantined)
			if other := tt.come(f); f.apart(first) || f.apart(other) {
				t.Errorf("apart: %v, %v", f.apart(first), f.apart(other))
			}
		})
	}
}

// Whatever a fill has come to, what is apart has no obstacle by a look at everything, and
// does not wait.
func TestApart_ALookAtEverythingFindsNoObstacle(t *testing.T) {
	t.Parallel()
	apart, others, obstacles := 0, 0, 0
	for seed := range uint64(2000) {
		f, r := newFill(t), rand.New(rand.NewPCG(1, seed))
		for range 2 + r.IntN(4) {
			f.comeAny(r)
		}
		for id := range f.claims {
			rec := f.get(id)
			if rec.State != claimdlq.StateQuarantined {
				continue
			}
			f.partner = rec.Partner
			got := f.replay(id)
			switch free := got.Obstacle == lineage.NoObstacle && !got.Waits; {
			case !f.apart(id):
				others++
			case !free:
				t.Fatalf("seed %d, record %d is apart and %+v", seed, id, got)
			default:
				apart++
			}
			if got.Obstacle != lineage.NoObstacle {
				obstacles++
			}
		}
	}
	if apart < 100 || others < 100 || obstacles < 100 {
		t.Errorf("%d are apart, %d are not, %d have an obstacle", apart, others, obstacles)
	}
}

// comeAny takes in any claim of the fill, in any state, which a person may have made
// another one.
func (f *fill) comeAny(r *rand.Rand) {
	codes, statuses := []string{"B1", "B1", "B1", "B1", "B1", "B1", "B2", "B3"}, []string{"", "P", "C"}
	states := []claimdlq.Record{queued, quarantined, quarantined, paid, rejected, reversed, {State: claimdlq.StateInDoubt, FateUnknown: true}}
	any := func() (string, string) { return codes[r.IntN(len(codes))], statuses[r.IntN(len(statuses))] }
	code, status := any()
	if r.IntN(12) == 0 {
		f.ids = []*claimdlq.Identity{identity(2), identity(1)}
	}
	c, as := claimOf(code, status), states[r.IntN(len(states))]
	if f.partner = "999999:TESTPCN"; r.IntN(6) == 0 {
		f.partner, c.PCN = "999999:OTHER", []byte("OTHER")
	}
	if f.place(c, status).Key == (claimdlq.Key{}) { // it is there already
		return
	}
	if r.IntN(8) == 0 {
		as.PayloadRevision = 2
	}
	id := f.come(c, status, as)
	if as.PayloadRevision > 1 {
		_, status = any()
		n := claimOf(code, status)
		n.PCN = c.PCN
		f.claims[id] = *n
	}
}
