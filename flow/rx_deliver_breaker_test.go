package flow_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/target"
	"claimdlq/vault/memvault"
)

// counting counts commits, submissions among them.
type counting struct {
	store.Store
	commits, submissions, records atomic.Int64
}

func (c *counting) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	c.commits.Add(1)
	c.submissions.Add(int64(len(b.Submissions)))
	c.records.Add(int64(len(b.Update)))
	return c.Store.Commit(ctx, b)
}

// The longest outage of a clearinghouse so far took 58 days. No claim pays for it.
func TestRx_AnOutageOf58DaysSpendsNoBudgetAndDeadLettersNothing(t *testing.T) { // promise 5, F29; 23, 49
	t.Parallel()
	for name, down := range map[string]target.Delivery{
		"refused": transient("CONNECT_REFUSED", false), "silent": transient("TIMEOUT", true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCounter(t, func(o *attempt.Options) { o.Workers = 4 })
				began := time.Now()
				const outage = 58 * 24 * time.Hour
				c.till.say = func(int, []byte) (target.Delivery, bool) { return down, time.Since(began) < outage }
				ids := c.queue(40, plainRx)
				stop := c.serve()
				time.Sleep(outage / 2)
				ids = append(ids, c.queue(40, plainRx)...)
				c.a.Wake()
				time.Sleep(outage / 2)
				if calls := c.till.deliveries(); calls > 58*24*12+50 {
					t.Errorf("%d calls of a dead payer", calls)
				}
				before := map[claimdlq.ID]uint32{}
				for _, id := range ids {
					r := c.get(id)
					before[id] = r.ReceiveCount
					if r.State != claimdlq.StateQueued || r.ReceiveCount > 2 {
						t.Errorf("record %s is %s, %d receives of its budget are spent", id, r.State, r.ReceiveCount)
					}
				}
				time.Sleep(time.Hour)
				stop()
				if got := c.states(); got[claimdlq.StateSettled] != 80 || len(got) != 1 {
					t.Errorf("afterwards %v", got)
				}
				for _, id := range ids {
					if r := c.get(id); r.ReceiveCount != before[id]+1 {
						t.Errorf("record %s was delivered %d times afterwards", id, r.ReceiveCount-before[id])
					}
				}
				if f := c.a.Figures()[0]; f.DeadLettered != 0 || f.InDoubt != 0 {
					t.Errorf("figures: %+v", f)
				}
				if s := c.till.payer.Stats().Pharmacy; s.DoublePaid != 0 || s.Paid != 80 {
					t.Errorf("the payer paid %d", s.Paid)
				}
			})
		})
	}
}

// A claim that kills its payer must not be the only one that is asked with.
func TestRx_ProbesRotateSoThatOneClaimStopsNothing(t *testing.T) { // promise 6
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) {
			o.Workers = 1
		})
		killer := c.oneRaw(plainRx)
		id := c.put([][]byte{killer}, nil)[0]
		var mu sync.Mutex
		down := true
		c.till.say = func(_ int, b []byte) (target.Delivery, bool) {
			mu.Lock()
			defer mu.Unlock()
			return busy503, down || string(b) == string(killer)
		}
		c.queue(30, plainRx)
		stop := c.serve()
		time.Sleep(time.Minute)
		mu.Lock()
		down = false
		mu.Unlock()
		time.Sleep(2 * time.Hour)
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 30 {
			t.Errorf("%v, want all but the killer settled", got)
		}
		if r := c.get(id); r.State != claimdlq.StateQuarantined {
			t.Errorf("the killer is %s", r.State)
		}
	})
}

func TestRx_WhatWaitsForABreakerIsNotWrittenAgainAndAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &counting{Store: memstore.New()}
		c := counterOn(t, st, memvault.New(), nil)
		c.always(&busy503)
		ids := c.queue(3000, plainRx)
		stop := c.serve()
		time.Sleep(10 * time.Minute)
		commits, submissions := st.commits.Load(), st.submissions.Load()
		held := 0
		for _, id := range ids {
			if r := c.get(id); r.Hold == claimdlq.HoldBreaker {
				held++
			}
		}
		if held < 150 || held > 512 {
			t.Errorf("%d of 3000 claims show that the breaker holds them, want the next 256 or so", held)
		}
		time.Sleep(24 * time.Hour) // 288 probes: a lease, an outcome, and perhaps a hold each
		stop()
		commits, submissions = st.commits.Load()-commits, st.submissions.Load()-submissions
		if commits > 4*300 || submissions > 4*300 {
			t.Errorf("a day of an outage took %d commits of %d submissions", commits, submissions)
		}
		if got := c.states(); got[claimdlq.StateQueued] != 3000 {
			t.Errorf("%v", got)
		}
	})
}

// 49, F32: the place of a probe whose owner died is given to another.
func TestRx_AProbeThatNeverEndsFreesItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) {
			o.Workers, o.Timeout, o.Breaker = 4, time.Minute, retry.Options{Consecutive: 4}
		})
		forever := make(chan struct{})
		c.till.say = func(n int, _ []byte) (target.Delivery, bool) {
			if n == 5 { // the probe: its target hangs and heeds nobody
				<-forever
			}
			return busy503, n <= 5
		}
		c.queue(20, plainRx)
		stop := c.serve()
		time.Sleep(time.Hour)
		if got := c.states(); got[claimdlq.StateSettled] != 19 {
			t.Errorf("%v after an hour, want 19 settled", got)
		}
		close(forever)
		time.Sleep(time.Hour)
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 20 {
			t.Errorf("%v afterwards", got)
		}
		if s := c.till.payer.Stats().Pharmacy; s.DoublePaid != 0 {
			t.Errorf("%d paid twice", s.DoublePaid)
		}
	})
}

// A probe that cannot even be sent gives its place to the next at once.
func TestRx_AProbeWithoutAPayloadGivesItsPlaceBack(t *testing.T) { // F32
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) { o.Workers, o.Breaker = 1, retry.Options{Consecutive: 3} })
		c.apart = true
		c.till.say = func(n int, _ []byte) (target.Delivery, bool) { return busy503, n <= 3 }
		ids := c.queue(10, plainRx)
		stop := c.serve()
		time.Sleep(time.Second)
		for _, id := range ids[3:6] { // the next ones, delivered least
			c.must(c.v.Shred(t.Context(), c.get(id).Payload))
		}
		time.Sleep(35 * time.Second) // it opens for 30 s
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 7 || got[claimdlq.StateQuarantined] != 3 {
			t.Errorf("%v", got)
		}
	})
}

func TestRx_AnOpenBreakerUsesTheFallbackForWhatWasNeverSent(t *testing.T) { // 23
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var spare till
		c := newCounter(t, func(o *attempt.Options) { o.Workers, o.Breaker = 1, retry.Options{Consecutive: 3} })
		spare.payer, spare.keep = c.till.payer, true
		c.o.Routes = func(string, string) (target.Route, bool) {
			return target.Route{Target: c.till, Fallback: &spare, IdempotentResend: true}, true
		}
		c.a = attempt.New(c.o)
		began := time.Now()
		c.till.keep = true
		c.till.say = func(n int, b []byte) (target.Delivery, bool) {
			if time.Since(began) > time.Hour {
				return target.Delivery{}, false
			}
			if n == 1 { // it may have arrived: it must not go to anybody else
				return transient("TIMEOUT", true), true
			}
			return busy503, true
		}
		ids := c.queue(20, plainRx)
		stop := c.serve()
		time.Sleep(50 * time.Minute)
		doubted := c.get(ids[0])
		if got := c.states(); got[claimdlq.StateSettled] != 19 || doubted.State != claimdlq.StateQueued || doubted.Hold != claimdlq.HoldBreaker {
			t.Errorf("%v; the doubted one is %s, held by %q", got, doubted.State, doubted.Hold)
		}
		for _, b := range spare.sent {
			if string(b) == string(c.till.sent[0]) {
				t.Error("what may have arrived went to the fallback")
			}
		}
		s, err := c.st.Submission(t.Context(), c.get(ids[19]).Submission)
		c.must(err)
		if !s.Fallback || len(spare.sent) != 19 {
			t.Errorf("%d went to the fallback, marked %t", len(spare.sent), s.Fallback)
		}
		time.Sleep(2 * time.Hour)
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 20 {
			t.Errorf("afterwards %v", got)
		}
		if s, err := c.st.Submission(t.Context(), 1); err != nil || s.Fallback {
			t.Errorf("the doubted one went to the fallback: %v", err)
		}
		if d := c.till.payer.Stats().Pharmacy.DoublePaid; d != 0 {
			t.Errorf("%d paid twice", d)
		}
	})
}

// What may be with the fallback must not go to the first target, though it is back.
func TestRx_WhatMayBeWithTheFallbackGoesThereAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var spare till
		c := newCounter(t, func(o *attempt.Options) { o.Workers, o.Breaker = 1, retry.Options{Consecutive: 1} })
		spare.payer, spare.keep = c.till.payer, true
		spare.say = func(n int, b []byte) (target.Delivery, bool) {
			if n > 1 {
				return target.Delivery{}, false
			}
			spare.payer.Adjudicate(b)
			return transient("TIMEOUT", true), true
		}
		c.o.Routes = func(string, string) (target.Route, bool) {
			return target.Route{Target: c.till, Fallback: &spare, IdempotentResend: true}, true
		}
		c.a = attempt.New(c.o)
		c.till.say = func(n int, _ []byte) (target.Delivery, bool) { return busy503, n == 1 }
		ids := c.queue(2, plainRx)
		stop := c.serve()
		time.Sleep(time.Hour)
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 2 || len(spare.sent) < 2 {
			t.Errorf("%v, %d to the fallback", got, len(spare.sent))
		}
		recovered := 0
		for _, id := range ids {
			if c.get(id).Disposition == claimdlq.DuplicateOfPaid {
				recovered++
			}
		}
		if recovered != 1 || c.till.payer.Stats().Pharmacy.DoublePaid != 0 {
			t.Errorf("%d recovered", recovered)
		}
	})
}

func TestRx_AStopWorksAtOnceAndSpendsNothing(t *testing.T) {
	t.Parallel()
	for _, partner := range []string{"", "999999:TESTPCN", "999999"} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, func(o *attempt.Options) { o.Workers = 2 })
			c.till.say = func(int, []byte) (target.Delivery, bool) {
				time.Sleep(time.Second)
				return target.Delivery{}, false
			}
			ids := c.queue(100, plainRx)
			stop := c.serve()
			time.Sleep(10*time.Second + 500*time.Millisecond)
			c.a.Stop(claimdlq.StreamNCPDP, partner)
			under := c.till.deliveries()
			time.Sleep(time.Hour)
			if n := c.till.deliveries(); n != under || under != 22 {
				t.Errorf("%d deliveries when it was stopped, %d afterwards", under, n)
			}
			if got := c.states(); got[claimdlq.StateSettled] != 22 || got[claimdlq.StateQueued] != 78 {
				t.Errorf("stopped: %v", got)
			}
			if r := c.get(ids[50]); r.Hold != claimdlq.HoldStopped || r.AttemptCount != 0 {
				t.Errorf("what waits is held by %q, %d attempts", r.Hold, r.AttemptCount)
			}
			if s := c.a.Stopped(); len(s) != 1 || s[0] != (attempt.Switch{Stream: claimdlq.StreamNCPDP, Partner: partner}) {
				t.Errorf("stopped: %v", s)
			}
			if f := c.a.Figures()[0]; f.Stopped != (partner == "") {
				t.Errorf("figures: %+v", f)
			}
			c.a.Start(claimdlq.StreamNCPDP, partner)
			time.Sleep(time.Hour)
			stop()
			if got := c.states(); got[claimdlq.StateSettled] != 100 || len(c.a.Stopped()) != 0 {
				t.Errorf("started again: %v", got)
			}
		})
	}
}

func TestRx_AStopOfAnotherStopsNothingHere(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	c.a.Stop(claimdlq.StreamX12, "")
	c.a.Stop(claimdlq.StreamNCPDP, "999999:OTHER")
	c.a.Stop(claimdlq.StreamNCPDP, "TESTPCN") // the PCN names nobody alone
	c.a.Stop(claimdlq.StreamX12, "999999:TESTPCN")
	c.queue(3, plainRx)
	c.drain()
	if got := c.states(); got[claimdlq.StateSettled] != 3 {
		t.Errorf("%v", got)
	}
}

func TestRx_NoTargetHoldsUntilThereIsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		var there atomic.Bool
		c.o.Routes = func(string, string) (target.Route, bool) { return target.Route{Target: c.till}, there.Load() }
		c.a = attempt.New(c.o)
		ids := c.queue(10, plainRx)
		stop := c.serve()
		time.Sleep(10 * time.Hour)
		if r := c.get(ids[9]); r.Hold != claimdlq.HoldTarget || r.AttemptCount != 0 || r.State != claimdlq.StateQueued {
			t.Errorf("%s, held by %q", r.State, r.Hold)
		}
		there.Store(true)
		time.Sleep(2 * time.Minute)
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 10 {
			t.Errorf("%v", got)
		}
	})
}
