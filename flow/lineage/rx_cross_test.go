package lineage_test

import (
	"testing"

	"claimdlq"
	"claimdlq/flow/lineage"
)

func withdraw(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(r.UpdatedAt) }

func leased(r claimdlq.Record) (claimdlq.Record, error) { return r.Lease(1, r.UpdatedAt) }

// An earlier reversal that is in doubt may yet take back what is billed after it,
// whatever came between: no reversal goes beside it, and no billing.
func TestRx_NothingGoesBesideAReversalThatIsUnderWay(t *testing.T) { // F18
	t.Parallel()
	f := newFill(t)
	f.come(claimOf("B1", ""), "a", paid)
	first := f.come(claimOf("B2", ""), "b", claimdlq.Record{State: claimdlq.StateInDoubt, FateUnknown: true})
	between := f.come(claimOf("B1", ""), "a", queued)
	f.end(between, withdraw)
	if p := f.place(claimOf("B2", ""), "b"); p.Standing != lineage.Fresh || !p.Waits {
		t.Errorf("the next reversal: %+v", p)
	}
	second := f.come(claimOf("B2", ""), "b", queued)
	if v := f.wait(second); v.Move != lineage.Waits || v.For != first {
		t.Errorf("the next reversal: %+v", v)
	}
	bill := f.come(claimOf("B1", ""), "a", queued)
	f.end(second, settle(claimdlq.Reversed))
	if p := f.place(claimOf("B3", ""), "a"); !p.Waits {
		t.Errorf("a rebill: %+v", p)
	}
	if v := f.wait(bill); v.Move != lineage.Waits || v.For != first {
		t.Errorf("what is billed next: %+v", v)
	}
	f.end(bill, withdraw)
	if p := f.place(claimOf("B1", ""), "a"); !p.Waits {
		t.Errorf("it comes again: %+v", p)
	}
	f.end(first, settle(claimdlq.Reversed))
	if p := f.place(claimOf("B1", ""), "a"); p.Waits {
		t.Errorf("once it is decided: %+v", p)
	}
}

func TestRx_WhatIsReleasedCrossesNothingThatDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	doubt := claimdlq.Record{State: claimdlq.StateInDoubt, FateUnknown: true}
	inBatch := func(d claimdlq.Detail) func(claimdlq.Record) (claimdlq.Record, error) {
		return func(r claimdlq.Record) (claimdlq.Record, error) {
			r, err := r.Held(claimdlq.HoldIntake, r.UpdatedAt)
			r.Detail = d
			return r, err
		}
	}
	for _, tt := range []struct {
		name string
		code string
		next claimdlq.Record
		then func(claimdlq.Record) (claimdlq.Record, error)
		want lineage.Obstacle
	}{
		{"a reversal that waits", "B2", queued, nil, lineage.NoObstacle},
		{"a reversal that was sent", "B2", queued, leased, lineage.Crossed},
		{"a reversal in doubt", "B2", doubt, nil, lineage.Crossed},
		{"a reversal of a batch that will wait", "B2", queued, inBatch(claimdlq.NewDetail("LINEAGE")), lineage.NoObstacle},
		{"a reversal of a batch that will not", "B2", queued, inBatch(claimdlq.Detail{}), lineage.Crossed},
		{"a reversal that waits for a person", "B2", quarantined, nil, lineage.NoObstacle},
		{"a reversal that was refused", "B2", rejected, nil, lineage.NoObstacle},
		{"a reversal that was accepted", "B2", reversed, nil, lineage.Overtaken},
		{"a rebill that was sent", "B3", queued, leased, lineage.Crossed},
		{"a rebill that was accepted", "B3", paid, nil, lineage.Overtaken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFill(t)
			bill := f.come(claimOf("B1", ""), "a", quarantined)
			next := f.come(claimOf(tt.code, ""), "b", tt.next)
			if tt.then != nil {
				f.end(next, tt.then)
			}
			if got := f.replay(bill); got.Obstacle != tt.want {
				t.Errorf("got %+v, want %d", got, tt.want)
			}
		})
	}
}

func TestRx_AReversalIsOvertakenByWhatIsBilledAfterIt(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	old := f.come(claimOf("B2", ""), "b", quarantined)
	bill := f.come(claimOf("B1", ""), "a", queued)
	f.end(bill, leased)
	if got := f.replay(old); got.Obstacle != lineage.Crossed || got.By != bill {
		t.Errorf("while it is under way: %+v", got)
	}
	f.end(bill, settle(claimdlq.Paid))
	if got := f.replay(old); got.Obstacle != lineage.Overtaken || got.By != bill {
		t.Errorf("once it is paid: %+v", got)
	}
}
