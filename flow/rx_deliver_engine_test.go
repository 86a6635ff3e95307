package flow_test

import (
	"bytes"
	"context"
	"fmt"
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

// A kill wastes no more deliveries than there are workers.
func TestRx_NoMoreIsLeasedThanThereAreFreeWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const workers = 5
		c := newCounter(t, func(o *attempt.Options) { o.Workers = workers })
		release := make(chan struct{})
		c.till.say = func(int, []byte) (target.Delivery, bool) {
			<-release
			return target.Delivery{}, false
		}
		c.queue(100, plainRx)
		stop := c.serve()
		for done := int64(0); done < 100; done++ {
			synctest.Wait()
			got := c.states()
			if under := got[claimdlq.StateLeased]; under != min(workers, 100-done) || got[claimdlq.StateSettled] != done {
				t.Fatalf("%d are leased, %d settled, want %d and %d", under, got[claimdlq.StateSettled], workers, done)
			}
			release <- struct{}{}
		}
		stop()
	})
}

func TestRx_APartnersOwnWidthIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.o.Routes = func(string, string) (target.Route, bool) { return target.Route{Target: c.till, Workers: 3}, true }
		c.a = attempt.New(c.o)
		var under, most atomic.Int64
		c.till.say = func(int, []byte) (target.Delivery, bool) {
			n := under.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			under.Add(-1)
			return target.Delivery{}, false
		}
		c.queue(30, plainRx)
		began := time.Now()
		c.drain()
		if most.Load() != 3 || time.Since(began) != 10*time.Second {
			t.Errorf("%d at the same time, %v in all", most.Load(), time.Since(began))
		}
	})
}

func TestRx_OnePartnersDeadOrBusyQueueStopsNobodyElse(t *testing.T) { // promise 6, 51
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		dead, hanging := &till{payer: c.till.payer}, &till{payer: c.till.payer}
		dead.say = func(int, []byte) (target.Delivery, bool) { return busy503, true }
		forever := make(chan struct{})
		hanging.say = func(int, []byte) (target.Delivery, bool) { <-forever; return busy503, true }
		c.o.Routes = func(_, partner string) (target.Route, bool) {
			switch partner {
			case "999999:DEAD":
				return target.Route{Target: dead}, true
			case "999999:HANGS":
				return target.Route{Target: hanging, Workers: 8}, true
			}
			return target.Route{Target: c.till, IdempotentResend: true}, true
		}
		c.a = attempt.New(c.o)
		for _, pcn := range []string{"DEAD", "HANGS", "NOBODY", "GOOD"} {
			o := plainRx
			o.PCN = pcn
			c.queue(2000, o)
		}
		stop := c.serve()
		time.Sleep(time.Minute)
		if got := c.states(); got[claimdlq.StateSettled] != 4000 {
			t.Errorf("%v", got)
		}
		close(forever)
		stop()
	})
}

func TestRx_UrgentClaimsPassBulkAndBulkDoesNotStarve(t *testing.T) { // 51
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) { o.Workers = 1 })
		var raws [][]byte
		for range 400 {
			raws = append(raws, c.oneRaw(plainRx))
		}
		c.put(raws[:200], func(b *store.Batch) {
			for i := range b.NewSubmissions {
				b.NewSubmissions[i].Bulk = true
			}
		})
		c.put(raws[200:], nil)
		c.till.keep = true
		c.drain()
		bulk := 0
		for _, sent := range c.till.sent[:200] {
			if slices.ContainsFunc(raws[:200], func(b []byte) bool { return bytes.Equal(b, sent) }) {
				bulk++
			}
		}
		if bulk < 10 || bulk > 14 || len(c.till.sent) != 400 {
			t.Errorf("%d of the first 200 deliveries are bulk, of %d", bulk, len(c.till.sent))
		}
	})
}

func TestRx_ManyPartnersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) { o.Workers = 1 })
		for i := range 20 { // the first has a backlog
			o := plainRx
			o.PCN = fmt.Sprintf("P%d", i)
			c.queue(1+1000*max(0, 1-i), o)
		}
		c.till.keep = true
		c.drain()
		seen := map[string]bool{}
		for _, b := range c.till.sent[:80] {
			seen[string(ncpdp.Parse(b).PCN())] = true
		}
		if len(seen) != 20 || len(c.till.sent) != 1020 {
			t.Errorf("%d of 20 partners had a turn among the first 80 of %d", len(seen), len(c.till.sent))
		}
	})
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

func TestRx_AReversalWaitsForItsBillingAndABillingForItsReversal(t *testing.T) { // F18
	t.Parallel()
	for _, reversed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, nil)
			c.till.keep = true
			if !reversed {
				c.script("claim code=B2 reject 70")
			}
			var ids []claimdlq.ID
			for i, code := range []string{"B1", "B2", "B1"} {
				o := plainRx
				o.Code, c.next = code, 1
				ids = append(ids, c.put([][]byte{c.oneRaw(o)}, func(b *store.Batch) {
					b.Insert[0].Key[0] += byte(i) // the next generation
					if i > 0 {
						b.Insert[0].Hold, b.Insert[0].GroupID = claimdlq.HoldLineage, ids[0].String()
						b.NewSubmissions[0].NotBefore, b.NewSubmissions[0].Last = time.Now().Add(5*time.Second), claimdlq.NewDetail("LINEAGE")
					}
				})...)
			}
			c.till.say = func(n int, _ []byte) (target.Delivery, bool) { return busy503, n <= 2 }
			stop := c.serve()
			time.Sleep(10 * time.Minute)
			stop()
			var codes []string
			for _, b := range c.till.sent {
				codes = append(codes, string(ncpdp.Parse(b).TransactionCode()))
			}
			last, want := c.get(ids[2]), []string{"B1", "B1", "B1", "B2", "B1"}
			if !reversed { // what it should have replaced stands
				want = want[:4]
				if last.State != claimdlq.StateQuarantined || last.Reason != claimdlq.SemanticReject || last.Detail.String() != "LINEAGE:NOT_REVERSED" || last.AttemptCount != 0 {
					t.Errorf("the second billing is %s %s %s", last.State, last.Reason, last.Detail)
				}
			} else if last.Disposition != claimdlq.Paid || c.get(ids[1]).Disposition != claimdlq.Reversed {
				t.Errorf("the second billing is %s %s", last.State, last.Disposition)
			}
			if !slices.Equal(codes, want) {
				t.Errorf("sent %v, want %v", codes, want)
			}
		})
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
