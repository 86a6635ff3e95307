package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/internal/testclaims"
	"claimdlq/retry"
	"claimdlq/target"
)

var plainRx = testclaims.RxOptions{CompoundEvery: -1, COBEvery: -1, PartialEvery: -1}

func TestRx_ABudgetOfThreeIsTwoRequeuesAndADeadLetter(t *testing.T) { // 3, 4, 9, F31
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) {
			o.Policies = policies(func(p *claimdlq.Policy) { p.MaxReceive = 3 })
		})
		c.always(&busy503)
		id := c.queue(1, plainRx)[0]
		stop := c.serve()
		time.Sleep(time.Hour)
		stop()
		if got, want := c.said(), []attempt.Result{attempt.Requeued, attempt.Requeued, attempt.DLQExhausted}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		r := c.get(id)
		if r.State != claimdlq.StateQuarantined || r.ReceiveCount != 3 || r.AttemptCount != 3 || c.till.deliveries() != 3 {
			t.Errorf("%s after %d receives, %d deliveries", r.State, r.ReceiveCount, c.till.deliveries())
		}
		// 13, F26: the class and the code of the last failure.
		if r.Reason != claimdlq.RetriesExhausted || r.Class != claimdlq.Transient || r.Detail.String() != "HTTP_503" {
			t.Errorf("got %s %s %s", r.Reason, r.Class, r.Detail)
		}
		if got := c.states(); len(got) != 1 || got[claimdlq.StateQuarantined] != 1 {
			t.Errorf("the dead-letter queue does not hold 1: %v", got)
		}
	})
}

func TestRx_ATerminalRejectIsResolvedAtOnce(t *testing.T) { // 6, 7, F23, F25
	t.Parallel()
	for _, code := range []string{"70", "75", "76", "79", "XYZ"} {
		c := newCounter(t, nil)
		c.script("claim all reject " + code)
		id := c.queue(1, plainRx)[0]
		c.drain()
		c.drain()
		if got := c.said(); !slices.Equal(got, []attempt.Result{attempt.Terminal}) {
			t.Errorf("%s: %v", code, got)
		}
		r := c.get(id)
		if r.State != claimdlq.StateSettled || r.Disposition != claimdlq.Rejected || c.till.deliveries() != 1 {
			t.Errorf("%s: %s %s after %d deliveries", code, r.State, r.Disposition, c.till.deliveries())
		}
		unknown := int64(0)
		if code == "XYZ" {
			unknown = 1
		}
		if f := c.a.Figures()[0]; f.DeadLettered != 0 || f.Retries != 0 || f.UnknownCodes != unknown {
			t.Errorf("%s: %+v", code, f)
		}
	}
}

func TestRx_PoisonIsDeadLetteredOnFirstSight(t *testing.T) { // 8, 9
	t.Parallel()
	c := newCounter(t, nil)
	c.script("claim all reject R8")
	id := c.queue(1, plainRx)[0]
	c.drain()
	if got := c.said(); !slices.Equal(got, []attempt.Result{attempt.DLQPoison}) {
		t.Errorf("got %v", got)
	}
	r := c.get(id)
	if r.State != claimdlq.StateQuarantined || r.Reason != claimdlq.FatalSyntax || r.Class != claimdlq.Poison || r.Detail.String() != "FB_R8" {
		t.Errorf("got %s %s %s %s", r.State, r.Reason, r.Class, r.Detail)
	}
}

// The closed set of outcomes: what is paid is never retried (F22).
func TestRx_EachAnswerEndsWhereItBelongs(t *testing.T) { // F22, F23, F24
	t.Parallel()
	for script, want := range map[string]struct {
		state  claimdlq.State
		disp   claimdlq.Disposition
		detail string
	}{
		"claim all pay":             {claimdlq.StateSettled, claimdlq.Paid, "AN_P"},
		"claim all capture":         {claimdlq.StateSubmitted, claimdlq.DispositionNone, ""},
		"claim all defer":           {claimdlq.StateSubmitted, claimdlq.DispositionNone, ""},
		"claim all reject 83":       {claimdlq.StateSettled, claimdlq.Rejected, "FB_83"},
		"claim all status D":        {claimdlq.StateSettled, claimdlq.DuplicateOfPaid, "AN_D"},
		"claim all reject 92,70":    {claimdlq.StateSettled, claimdlq.Rejected, "FB_70"},
		"claim all clash":           {claimdlq.StateInDoubt, claimdlq.DispositionNone, "ANSWER_CONTRADICTS_ITSELF"},
		"transmission all echo":     {claimdlq.StateInDoubt, claimdlq.DispositionNone, "ECHO_A3"},
		"transmission all other D2": {claimdlq.StateInDoubt, claimdlq.DispositionNone, "ECHO_D2"},
	} {
		c := newCounter(t, nil)
		c.script(script)
		id := c.queue(1, plainRx)[0]
		c.drain()
		c.drain()
		r := c.get(id)
		if r.State != want.state || r.Disposition != want.disp || r.Detail.String() != want.detail || c.till.deliveries() != 1 {
			t.Errorf("%s: %s %s %s after %d deliveries", script, r.State, r.Disposition, r.Detail, c.till.deliveries())
		}
	}
}

// deliveredAt returns when each delivery happened, from the start.
func (c *counter) deliveredAt(say func(n int) (target.Delivery, bool)) func() []time.Duration {
	began := time.Now()
	var mu sync.Mutex
	var at []time.Duration
	c.till.say = func(n int, _ []byte) (target.Delivery, bool) {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Since(began))
		return say(n)
	}
	return func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(at)
	}
}

func TestRx_TheDelaysAre4_8_16_32SecondsReallyAppliedAndLogged(t *testing.T) { // 10, 11, 12, F27, F28
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		at := c.deliveredAt(func(int) (target.Delivery, bool) { return busy503, true })
		c.queue(1, plainRx)
		stop := c.serve()
		time.Sleep(time.Hour)
		stop()
		const s = time.Second
		if got, want := at(), []time.Duration{0, 4 * s, 12 * s, 28 * s, 60 * s}; !slices.Equal(got, want) {
			t.Errorf("delivered at %v, want %v", got, want)
		}
		for _, delay := range []string{"4", "8", "16", "32"} {
			if n := strings.Count(c.log.String(), "msg=requeue logger=pbm.dlq"); n != 4 || !strings.Contains(c.log.String(), "delay_s="+delay+"\n") {
				t.Errorf("%d requeues are logged, delay_s=%s wanted\n%s", n, delay, c.log)
			}
		}
	})
}

func TestRx_TheLogLinesAreThoseOfTheField(t *testing.T) { // 9, 25
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) {
			o.Policies = policies(func(p *claimdlq.Policy) { p.MaxReceive = 2 })
		})
		c.script("claim rx=1 reject 70\nclaim rx=2 reject R8\nclaim rx=3 reject 92")
		ids := c.queue(3, plainRx)
		stop := c.serve()
		time.Sleep(time.Minute)
		stop()
		for i, want := range [][]string{
			{"level=INFO msg=terminal logger=pbm.dlq key=%s code=FB_70\n"},
			{"level=WARN msg=poison_dlq logger=pbm.dlq key=%s\n"},
			{
				"level=INFO msg=requeue logger=pbm.dlq key=%s delay_s=4\n",
				"level=WARN msg=budget_exhausted_dlq logger=pbm.dlq key=%s receives=2\n",
			},
		} {
			key := c.get(ids[i]).DisplayKey()
			if n := strings.Count(c.log.String(), key); n != len(want) || len(key) != 24 {
				t.Errorf("claim %d has %d lines, want %d\n%s", i+1, n, len(want), c.log)
			}
			for _, line := range want {
				if !strings.Contains(c.log.String(), fmt.Sprintf(line, key)) {
					t.Errorf("claim %d has no line %q\n%s", i+1, line, c.log)
				}
			}
		}
	})
}

func TestRx_AnAnnouncedOutageSpendsNothingAndHoldsThePartner(t *testing.T) { // 93 and 96
	t.Parallel()
	for _, code := range []string{"93", "96"} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, func(o *attempt.Options) {
				o.Policies = policies(func(p *claimdlq.Policy) { p.MaxReceive = 1 })
			})
			at := c.deliveredAt(func(int) (target.Delivery, bool) { return target.Delivery{}, false })
			c.script("time 0s-10h reject " + code)
			ids := c.queue(1, plainRx)
			stop := c.serve()
			time.Sleep(30 * time.Minute)
			c.queue(20, plainRx)
			c.a.Wake()
			time.Sleep(9 * time.Hour)
			if got := c.states(); got[claimdlq.StateQueued] != 21 {
				t.Errorf("%s: %v", code, got)
			}
			if r := c.get(ids[0]); r.ReceiveCount != 0 || r.AttemptCount == 0 || r.Class != claimdlq.Transient || r.Detail.String() != "FB_"+code {
				t.Errorf("%s: received %d of %d, %s", code, r.ReceiveCount, r.AttemptCount, r.Detail)
			}
			calls := at()
			if len(calls) > 12 || len(calls) < 9 {
				t.Errorf("%s: %d calls in 9.5 h of an outage: %v", code, len(calls), calls)
			}
			time.Sleep(3 * time.Hour)
			stop()
			if got := c.states(); got[claimdlq.StateSettled] != 21 {
				t.Errorf("%s: afterwards %v", code, got)
			}
		})
	}
}

func TestRx_AFailureThatSeldomPassesHasALowBudget(t *testing.T) { // F23: 99
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.script("claim all reject 99")
		id := c.queue(1, plainRx)[0]
		stop := c.serve()
		time.Sleep(time.Hour)
		stop()
		if r := c.get(id); r.ReceiveCount != 2 || r.State != claimdlq.StateQuarantined && r.State != claimdlq.StateInDoubt {
			t.Errorf("%s after %d receives", r.State, r.ReceiveCount)
		}
	})
}

func TestRx_JitterAndRetryAfterStayWithinTheCap(t *testing.T) { // F28
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) {
			never(o)
			o.Policies = policies(func(p *claimdlq.Policy) { p.MaxReceive, p.Jitter = 12, true })
		})
		ids := c.queue(20, plainRx)
		c.till.say = func(int, []byte) (target.Delivery, bool) { return busy503, true }
		for range 11 {
			c.drain()
			for _, id := range ids {
				if w := time.Until(c.get(id).NotBefore); w > time.Minute || w < -time.Millisecond {
					t.Errorf("waits %v", w)
				}
			}
			time.Sleep(time.Minute)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		slow := busy503
		slow.Outcome.RetryAfter = 20 * time.Minute
		at := c.deliveredAt(func(n int) (target.Delivery, bool) { return slow, n == 1 })
		id := c.queue(2, plainRx)[1]
		stop := c.serve()
		time.Sleep(10 * time.Minute)
		// The claim itself waits no longer than the cap; its partner does.
		if w := time.Until(c.get(id).NotBefore); w > 0 {
			t.Errorf("the claim waits another %v for itself", w)
		}
		time.Sleep(time.Hour)
		stop()
		if got := at(); got[len(got)-1] != 20*time.Minute || c.states()[claimdlq.StateSettled] != 2 {
			t.Errorf("delivered at %v", got)
		}
	})
}

func TestRx_ASlowAnswerOpensTheBreakerAndIsTakenAllTheSame(t *testing.T) { // 49
	t.Parallel()
	for _, c := range []struct {
		limit, took time.Duration
		open        bool
	}{
		{retry.SlowRetail, 800 * time.Millisecond, false},
		{retry.SlowRetail, 801 * time.Millisecond, true},
		{retry.SlowSpecialty, 1200 * time.Millisecond, false},
		{retry.SlowSpecialty, 1201 * time.Millisecond, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := newCounter(t, func(o *attempt.Options) {
				o.Workers = 1
				o.Breakers = func(stream, partner string) retry.Options {
					if stream != claimdlq.StreamNCPDP || partner != "999999:TESTPCN" {
						t.Errorf("asked for %s %s", stream, partner)
					}
					return retry.Options{Consecutive: 5, SlowAfter: c.limit}
				}
			})
			k.till.say = func(int, []byte) (target.Delivery, bool) {
				time.Sleep(c.took)
				return target.Delivery{}, false
			}
			k.queue(10, plainRx)
			k.drain()
			want, settled := retry.Closed, int64(10)
			if c.open {
				want, settled = retry.Open, 5
			}
			b := k.a.Breakers()
			if len(b) != 1 || b[0].State != want || b[0].Since.IsZero() == c.open || k.states()[claimdlq.StateSettled] != settled {
				t.Errorf("%v of %v: %+v, %v", c.took, c.limit, b, k.states())
			}
		})
	}
}
