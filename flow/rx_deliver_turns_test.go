package flow_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

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
		for _, pcn := range []string{"A", "B"} { // one partner alone has no more workers either
			o := plainRx
			o.PCN = pcn
			c.queue(50, o)
		}
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
		const half, whole = 400, 3*120 + 48 // of 120, seven turns of 16 are urgent and one of 8 is bulk
		for range 2 * half {
			raws = append(raws, c.oneRaw(plainRx))
		}
		c.put(raws[:half], func(b *store.Batch) {
			for i := range b.NewSubmissions {
				b.NewSubmissions[i].Bulk = true
			}
		})
		c.put(raws[half:], nil)
		c.till.keep = true
		c.drain()
		bulk := 0
		for _, sent := range c.till.sent[:whole] {
			if slices.ContainsFunc(raws[:half], func(b []byte) bool { return bytes.Equal(b, sent) }) {
				bulk++
			}
		}
		if bulk < 20 || bulk > 28 || len(c.till.sent) != 2*half {
			t.Errorf("%d of the first %d deliveries are bulk, of %d", bulk, whole, len(c.till.sent))
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

// The hold for its lineage is all that remembers what a claim waits for.
func TestRx_AStopDoesNotMakeAReversalForgetWhatItWaitsFor(t *testing.T) { // F18
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.till.keep = true
		c.till.say = func(n int, _ []byte) (target.Delivery, bool) { return busy503, n <= 3 }
		first := c.queue(1, plainRx)[0]
		o := plainRx
		o.Code, c.next = "B2", 1
		second := c.put([][]byte{c.oneRaw(o)}, func(b *store.Batch) {
			b.Insert[0].Hold, b.Insert[0].GroupID = claimdlq.HoldLineage, first.String()
			b.NewSubmissions[0].Last = claimdlq.NewDetail("LINEAGE")
		})[0]
		c.a.Stop(claimdlq.StreamNCPDP, "")
		stop := c.serve()
		time.Sleep(time.Minute)
		if a, b := c.get(first).Hold, c.get(second).Hold; a != claimdlq.HoldStopped || b != claimdlq.HoldLineage {
			t.Errorf("held by %q and %q", a, b)
		}
		c.a.Start(claimdlq.StreamNCPDP, "")
		time.Sleep(time.Hour)
		stop()
		if n := len(c.till.sent); n != 5 || string(ncpdp.Parse(c.till.sent[4]).TransactionCode()) != "B2" || c.get(second).Disposition != claimdlq.Reversed {
			t.Errorf("%d deliveries, the reversal is %s", n, c.get(second).State)
		}
	})
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

// A late answer that is faster than the outcome of its delivery wins, and is told once.
func TestRx_AnAnswerThatWasFasterIsNotUndone(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	c.till.say = func(n int, _ []byte) (target.Delivery, bool) {
		r, err := c.st.Get(t.Context(), claimdlq.ID(n))
		c.must(err)
		s, err := c.st.Submission(t.Context(), r.Submission)
		c.must(err)
		r, err = r.Settle(claimdlq.Accepted, claimdlq.NewDetail("TEST"), time.Now().UTC())
		c.must(err)
		s.State = claimdlq.SubmissionAnswered
		_, err = c.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{r}, Submissions: []claimdlq.Submission{s}})
		c.must(err)
		return busy503, true
	}
	id := c.queue(1, plainRx)[0]
	if sum := c.drain(); sum != (attempt.Summary{}) {
		t.Errorf("got %+v", sum)
	}
	r := c.get(id)
	if r.Disposition != claimdlq.Accepted || r.Detail.String() != "TEST" || len(c.said()) != 0 || c.a.Figures()[0].Retries != 0 {
		t.Errorf("%s %s, told %v", r.State, r.Detail, c.said())
	}
}

// Of one transmission one claim may be in doubt, and another not.
func TestRx_EachTransactionHasItsOwnDoubt(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	c.always(&target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeRejected, Code: claimdlq.NewDetail("HTTP_404")}})
	o := plainRx
	o.TransactionsPer = 2
	ids := c.put([][]byte{c.oneRaw(o)}, func(b *store.Batch) { b.Insert[1].FateUnknown = true })
	c.drain()
	if a, b := c.get(ids[0]), c.get(ids[1]); a.State != claimdlq.StateQuarantined || b.State != claimdlq.StateInDoubt {
		t.Errorf("%s and %s", a.State, b.State)
	}
}
