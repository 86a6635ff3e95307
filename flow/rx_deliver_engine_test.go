package flow_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/target"
	"claimdlq/vault/memvault"
	"claimdlq/wire/ncpdp"
)

// tally counts deliveries by claim.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (y *tally) add(request []byte) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.n == nil {
		y.n = map[string]int{}
	}
	rx := string(ncpdp.Parse(request).RxOf(1))
	y.n[rx]++
	return y.n[rx]
}

// The budget is exact under any number of workers; and no kill adds a delivery.
func TestRx_TheBudgetIsExactUnderWorkersFailuresAndKills(t *testing.T) { // promise 3; 3, 17, F30
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		budget := rapid.Uint32Range(1, 20).Draw(rt, "max_receive")
		workers := rapid.IntRange(1, 16).Draw(rt, "workers")
		claims := rapid.IntRange(1, 30).Draw(rt, "claims")
		failing := rapid.IntRange(0, 100).Draw(rt, "failing in a hundred")
		ambiguous := rapid.Bool().Draw(rt, "ambiguous")
		kills := rapid.SliceOfN(rapid.IntRange(1, 60), 0, 6).Draw(rt, "kills after commits")
		seed := rapid.Uint64().Draw(rt, "seed")

		st := &dying{Store: memstore.New(), left: 1 << 30}
		c := counterOn(t, &locked{Store: st}, memvault.New(), func(o *attempt.Options) {
			never(o)
			o.Workers = workers
			o.Policies = policies(func(p *claimdlq.Policy) { p.MaxReceive, p.Base, p.Cap = budget, 0, 0 })
		})
		var seen tally
		c.till.say = func(_ int, b []byte) (target.Delivery, bool) {
			n := seen.add(b)
			if int((seed^uint64(n)*0x9e3779b97f4a7c15^uint64(len(b)))%100) < failing {
				return transient("TEST", ambiguous), true
			}
			return target.Delivery{}, false
		}
		ids := c.queue(claims, plainRx)
		killed := c.untilDone(st, kills)
		c.judgeBudgets(rt, ids, &seen, budget, killed)
	})
}

// locked makes the dying store safe for many workers.
type locked struct {
	store.Store
	mu sync.Mutex
}

func (l *locked) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Store.Commit(ctx, b)
}

// untilDone drains, dies after so many commits each time, and starts again, until
// nothing is left to do. It reports whether it ever died.
func (c *counter) untilDone(st *dying, kills []int) (killed bool) {
	c.tb.Helper()
	for round := 0; ; round++ {
		if round < len(kills) {
			st.left = kills[round]
		}
		_, err := c.a.Drain(context.Background())
		if !st.dead {
			st.left = 1 << 30
			c.must(err)
			return killed
		}
		killed = true
		st.dead, st.left = false, 1<<30
		c.a = attempt.New(c.o)
		c.must(c.a.Recover(context.Background()))
	}
}

func (c *counter) judgeBudgets(rt *rapid.T, ids []claimdlq.ID, seen *tally, budget uint32, killed bool) {
	for _, id := range ids {
		r := c.get(id)
		raw, err := c.v.Open(context.Background(), r.Payload, proof(c))
		c.must(err)
		n := uint32(seen.n[string(ncpdp.Parse(raw.Reveal()).RxOf(1))])
		switch {
		case n > budget || r.ReceiveCount > budget || n > r.ReceiveCount:
			rt.Fatalf("record %s: %d deliveries, %d counted, of a budget of %d", id, n, r.ReceiveCount, budget)
		case !killed && n != r.ReceiveCount:
			rt.Fatalf("record %s: %d deliveries, %d counted", id, n, r.ReceiveCount)
		case !killed && r.State != claimdlq.StateSettled && n != budget:
			rt.Fatalf("record %s is %s after %d deliveries of %d", id, r.State, n, budget)
		case r.State != claimdlq.StateSettled && r.State != claimdlq.StateQuarantined && r.State != claimdlq.StateInDoubt:
			rt.Fatalf("record %s is %s", id, r.State)
		}
	}
	if d := c.till.payer.Stats().Pharmacy.DoublePaid; d != 0 {
		rt.Fatalf("%d claims were paid twice", d)
	}
}

func TestRx_ADeathAtAnyCommitLosesNothingAndPaysNothingTwice(t *testing.T) { // promises 1, 2, 9; F13, F44
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			st := &dying{Store: memstore.New(), left: 1 << 30, after: after}
			c := counterOn(t, &locked{Store: st}, memvault.New(), func(o *attempt.Options) {
				o.Workers = 3
				o.Policies = policies(func(p *claimdlq.Policy) { p.Base, p.Cap = 0, 0 })
			})
			c.script("claim rx=2 reject 92 tries 2\nclaim rx=3 reject 70\nclaim rx=6 reject 92 tries 1")
			c.queue(5, plainRx)
			o := plainRx
			o.TransactionsPer = 3
			c.queue(1, o)
			st.left = n
			c.a = attempt.New(c.o)
			if !c.untilDone(st, []int{n}) {
				if n < 6 {
					t.Errorf("only %d points", n)
				}
				break
			}
			if got := c.states(); got[claimdlq.StateSettled] != 8 || len(got) != 1 {
				t.Errorf("death at commit %d (after %t): %v", n, after, got)
			}
			if s := c.till.payer.Stats().Pharmacy; s.DoublePaid != 0 || s.Paid != 7 {
				t.Errorf("death at commit %d (after %t): %d paid, %d twice", n, after, s.Paid, s.DoublePaid)
			}
		}
	}
}

func TestRx_AClockThatJumpsEndsNoDeliveryAndLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var jump atomic.Int64
		c := newCounter(t, func(o *attempt.Options) {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(jump.Load())).Round(0) }
		})
		var seen tally
		c.till.say = func(_ int, b []byte) (target.Delivery, bool) {
			if seen.add(b) == 1 {
				time.Sleep(3 * time.Minute)
				return busy503, true
			}
			time.Sleep(30 * time.Second)
			return target.Delivery{}, false
		}
		ids := c.queue(5, plainRx)
		stop := c.serve()
		time.Sleep(time.Minute)
		jump.Store(int64(48 * time.Hour)) // every lease seems to have lapsed
		time.Sleep(2*time.Minute + time.Second)
		jump.Store(int64(-time.Hour)) // what waits seems to wait for two days
		time.Sleep(time.Minute)
		jump.Store(0)
		time.Sleep(49 * time.Hour)
		stop()
		for _, id := range ids {
			if r := c.get(id); r.Disposition != claimdlq.Paid || r.ReceiveCount != 2 || r.AttemptCount != 2 {
				t.Errorf("record %s: %s %s after %d", id, r.State, r.Disposition, r.ReceiveCount)
			}
		}
		c.must(c.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
			if e.Detail.String() == "INTERRUPTED" {
				t.Errorf("the delivery of record %s was taken for dead while it was under way", e.Record)
			}
			return true
		}))
	})
}

func TestRx_ARunWaitsOutAStoreThatCannotBeUsed(t *testing.T) { // promise 8
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &full{Store: memstore.New()}
		c := counterOn(t, st, memvault.New(), nil)
		c.till.say = func(int, []byte) (target.Delivery, bool) {
			time.Sleep(time.Second)
			st.full.Store(true) // while it is under way
			return target.Delivery{}, false
		}
		c.queue(10, plainRx)
		stop := c.serve()
		time.Sleep(time.Hour)
		st.full.Store(false)
		c.till.mu.Lock()
		c.till.say = nil
		c.till.mu.Unlock()
		c.queue(10, plainRx)
		time.Sleep(2 * time.Minute) // nobody wakes it
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 20 || c.till.deliveries() != 20 {
			t.Errorf("%v after %d deliveries", got, c.till.deliveries())
		}
	})
}

// full is a store on a disk that may be full.
type full struct {
	store.Store
	full atomic.Bool
}

func (f *full) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if f.full.Load() {
		return store.Receipt{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "TEST full disk"}
	}
	return f.Store.Commit(ctx, b)
}

func TestRx_AStopOfTheRunLetsWhatIsUnderWayEndForAWhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		takes, waits time.Duration
		settled      int64
	}{{3 * time.Second, 2 * time.Second, 1}, {time.Hour, 5 * time.Second, 0}} {
		synctest.Test(t, func(t *testing.T) {
			k := newCounter(t, func(o *attempt.Options) { o.Workers = 1 })
			k.o.Routes = func(string, string) (target.Route, bool) {
				return target.Route{Target: patient{k.till, c.takes}, IdempotentResend: true}, true
			}
			k.a = attempt.New(k.o)
			k.queue(2, plainRx)
			stop := k.serve()
			time.Sleep(time.Second)
			began := time.Now()
			stop()
			if got := time.Since(began); got != c.waits {
				t.Errorf("it ended after %v, want %v", got, c.waits)
			}
			if got := k.states(); got[claimdlq.StateSettled] != c.settled || got[claimdlq.StateQueued] != 2-c.settled {
				t.Errorf("%v", got)
			}
		})
	}
}

// patient takes its time, unless it is cut off.
type patient struct {
	*till
	takes time.Duration
}

func (p patient) Deliver(ctx context.Context, parcel target.Parcel) target.Delivery {
	select {
	case <-time.After(p.takes):
		return p.till.Deliver(ctx, parcel)
	case <-ctx.Done():
		return transient("CANCELLED", true)
	}
}

func TestRx_TheLeaseAndTheIntentAreAuditedBeforeThePayloadIsOpened(t *testing.T) { // promise 10
	t.Parallel()
	c := newCounter(t, nil)
	var before []claimdlq.Action
	c.till.say = func(int, []byte) (target.Delivery, bool) {
		before = c.actions()
		return target.Delivery{}, false
	}
	c.queue(1, plainRx)
	c.drain()
	if want := []claimdlq.Action{claimdlq.ActLease, claimdlq.ActIntent}; !slices.Equal(before, want) {
		t.Errorf("before the delivery: %v, want %v", before, want)
	}
	if want := []claimdlq.Action{claimdlq.ActLease, claimdlq.ActIntent, claimdlq.ActOutcome}; !slices.Equal(c.actions(), want) {
		t.Errorf("afterwards: %v, want %v", c.actions(), want)
	}
}

func (c *counter) actions() (out []claimdlq.Action) {
	c.tb.Helper()
	c.must(c.st.Entries(context.Background(), 1, func(e claimdlq.Entry) bool {
		out = append(out, e.Action)
		return true
	}))
	return out
}
