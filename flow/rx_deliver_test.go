package flow_test

import (
	"bytes"
	"context"
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
	"claimdlq/store"
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

// lose makes the payer take what comes and lose the first n answers.
func (c *counter) lose(n int) {
	c.till.keep = true
	c.till.say = func(i int, b []byte) (target.Delivery, bool) {
		if i > n {
			return target.Delivery{}, false
		}
		c.till.payer.Adjudicate(b)
		return transient("TIMEOUT", true), true
	}
}

func TestRx_AYesThatWasLostIsARecoveredPaymentAndIsNotPaidTwice(t *testing.T) { // promise 2, F13
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.lose(2)
		id := c.queue(1, plainRx)[0]
		stop := c.serve()
		time.Sleep(time.Minute)
		stop()
		r := c.get(id)
		if r.State != claimdlq.StateSettled || r.Disposition != claimdlq.DuplicateOfPaid || r.ReceiveCount != 3 || r.FateUnknown {
			t.Errorf("%s %s after %d receives", r.State, r.Disposition, r.ReceiveCount)
		}
		if len(c.till.sent) != 3 || !bytes.Equal(c.till.sent[0], c.till.sent[1]) || !bytes.Equal(c.till.sent[0], c.till.sent[2]) {
			t.Error("the inquiry is not the identical bytes")
		}
		if f := c.a.Figures()[0]; f.Recovered != 1 || f.Failures != 2 || f.Deliveries != 3 || f.Retries != 2 {
			t.Errorf("figures: %+v", f)
		}
		if s := c.till.payer.Stats().Pharmacy; s.Paid != 1 || s.DoublePaid != 0 {
			t.Errorf("the payer paid %d times", s.Paid)
		}
	})
}

func TestRx_WithoutIdempotentResendADoubtIsNeverSentAgain(t *testing.T) { // promise 2
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.till.idempotent = false
		c.lose(1)
		id := c.queue(1, plainRx)[0]
		stop := c.serve()
		time.Sleep(100 * time.Hour)
		stop()
		if r := c.get(id); r.State != claimdlq.StateInDoubt || !r.FateUnknown || c.till.deliveries() != 1 {
			t.Errorf("%s after %d deliveries", r.State, c.till.deliveries())
		}
	})
}

func TestRx_ABudgetSpentInDoubtGoesToTheWorklistAndNotToTheDeadLetters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.lose(100)
		id := c.queue(1, plainRx)[0]
		stop := c.serve()
		time.Sleep(time.Hour)
		stop()
		if r := c.get(id); r.State != claimdlq.StateInDoubt || r.ReceiveCount != 5 || c.till.deliveries() != 5 {
			t.Errorf("%s after %d receives, %d deliveries", r.State, r.ReceiveCount, c.till.deliveries())
		}
		if f := c.a.Figures()[0]; f.InDoubt != 1 || f.DeadLettered != 0 {
			t.Errorf("figures: %+v", f)
		}
	})
}

// "You have paid this already" without a lost delivery of ours: only a payment that we
// know of makes it one.
func TestRx_An83IsAPaymentOnlyWhereOneStands(t *testing.T) { // F23
	t.Parallel()
	for _, standing := range []bool{false, true} {
		c := newCounter(t, nil)
		c.script("claim 2 reject 83")
		first := c.queue(1, plainRx)[0]
		c.drain()
		// The same fill as another record, such as a rebill that intake let through.
		c.next = 1
		if !standing {
			c.next = 50
		}
		raw := c.oneRaw(plainRx)
		second := c.put([][]byte{raw}, func(b *store.Batch) {
			b.Insert[0].Key[0]++
			b.Insert[0].GroupID = first.String()
		})[0]
		c.drain()
		want := claimdlq.Rejected
		if standing {
			want = claimdlq.DuplicateOfPaid
		}
		if r := c.get(second); r.Disposition != want || c.get(first).Disposition != claimdlq.Paid {
			t.Errorf("standing %t: %s %s", standing, r.State, r.Disposition)
		}
	}
}

// oneRaw makes the next transmission.
func (c *counter) oneRaw(o testclaims.RxOptions) (raw []byte) {
	c.tb.Helper()
	o.FirstClaim = c.next
	c.next += max(1, o.TransactionsPer)
	if o.Claims == 0 {
		o.Claims = max(1, o.TransactionsPer)
	}
	_, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		raw = bytes.Clone(b)
		return nil
	})
	c.must(err)
	return raw
}

func TestRx_TheTransactionsOfATransmissionPart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.till.keep = true
		c.script("claim rx=2 reject 70\nclaim rx=3 reject 92 tries 1\nclaim rx=4 capture")
		o := plainRx
		o.TransactionsPer = 4
		ids := c.queue(1, o)
		stop := c.serve()
		time.Sleep(time.Minute)
		stop()
		want := []struct {
			s claimdlq.State
			d claimdlq.Disposition
			n uint32
		}{
			{claimdlq.StateSettled, claimdlq.Paid, 1},
			{claimdlq.StateSettled, claimdlq.Rejected, 1},
			{claimdlq.StateSettled, claimdlq.Paid, 2},
			{claimdlq.StateSubmitted, claimdlq.DispositionNone, 1},
		}
		for i, w := range want {
			if r := c.get(ids[i]); r.State != w.s || r.Disposition != w.d || r.ReceiveCount != w.n {
				t.Errorf("transaction %d: %s %s after %d receives", i+1, r.State, r.Disposition, r.ReceiveCount)
			}
		}
		if len(c.till.sent) != 2 || bytes.Count(c.till.sent[0], []byte{0x1d}) != 4 || bytes.Count(c.till.sent[1], []byte{0x1d}) != 1 {
			t.Errorf("%d transmissions went out", len(c.till.sent))
		}
		first, err := c.st.Submission(t.Context(), 1)
		c.must(err)
		second, err := c.st.Submission(t.Context(), 2)
		c.must(err)
		if first.State != claimdlq.SubmissionSent || second.State != claimdlq.SubmissionAnswered || c.get(ids[2]).Submission != 2 {
			t.Errorf("submissions are %s and %s", first.State, second.State)
		}
	})
}

func TestRx_ATransmissionThatFailedWholeGoesAgainWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, nil)
		c.till.keep = true
		c.till.say = func(n int, _ []byte) (target.Delivery, bool) { return busy503, n == 1 }
		o := plainRx
		o.TransactionsPer = 3
		c.queue(1, o)
		stop := c.serve()
		time.Sleep(time.Minute)
		stop()
		if got := c.states(); got[claimdlq.StateSettled] != 3 || len(c.till.sent) != 2 || !bytes.Equal(c.till.sent[0], c.till.sent[1]) {
			t.Errorf("%v after %d deliveries", got, len(c.till.sent))
		}
	})
}

func TestRx_WhatWasWithdrawnMeanwhileIsCutOutOfItsTransmission(t *testing.T) {
	t.Parallel()
	for _, per := range []int{2, 3} {
		c := newCounter(t, nil)
		c.till.keep = true
		o := plainRx
		o.TransactionsPer = per
		ids := c.queue(1, o)
		n, err := c.get(ids[0]).Withdraw(time.Now().UTC())
		c.must(err)
		_, err = c.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{n}})
		c.must(err)
		c.drain()
		if got := c.states(); got[claimdlq.StateSettled] != int64(per-1) || len(c.till.sent) != per-1 {
			t.Errorf("of %d: %v after %d deliveries", per, got, len(c.till.sent))
		}
		for _, b := range c.till.sent {
			if bytes.Count(b, []byte{0x1d}) != 1 {
				t.Error("it went out with others")
			}
		}
	}
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

func TestRx_AnAnswerIsSealedAndTheRecordPointsAtIt(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	var mu sync.Mutex
	answers := map[string]bool{}
	c.till.say = func(_ int, b []byte) (target.Delivery, bool) {
		a := c.till.payer.Adjudicate(b)
		mu.Lock()
		defer mu.Unlock()
		answers[string(a)] = true
		return paid(a), true
	}
	units := map[string]bool{}
	for _, id := range c.queue(40, plainRx) {
		defer func() {
			r := c.get(id)
			b, err := c.v.Open(context.Background(), r.Response, proof(c))
			if err != nil || !answers[string(b.Reveal())] {
				t.Errorf("record %s: %v", id, err)
			}
			units[r.Response.Unit] = true
		}()
	}
	c.drain()
}

// proof returns a proof that something was audited.
func proof(c *counter) claimdlq.Proof {
	receipt, err := c.st.Commit(context.Background(), store.Batch{Entries: []claimdlq.Entry{{At: time.Now(), Actor: "TEST", Action: claimdlq.ActOpen}}})
	c.must(err)
	return receipt.Proof
}

func TestRx_AnAnswerThatBrokeOffIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"HTTP_ANSWER_CUT", "HTTP_200"} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, nil)
			c.till.say = func(n int, b []byte) (target.Delivery, bool) {
				c.till.payer.Adjudicate(b)
				return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: claimdlq.NewDetail(code)}}, n == 1
			}
			id := c.queue(1, plainRx)[0]
			stop := c.serve()
			time.Sleep(time.Minute)
			stop()
			if r := c.get(id); r.Disposition != claimdlq.DuplicateOfPaid || r.ReceiveCount != 2 {
				t.Errorf("%s: %s %s after %d", code, r.State, r.Disposition, r.ReceiveCount)
			}
		})
	}
}

// A folder, or a service that says 202, answers later.
func TestRx_ATargetThatHandsOnLeavesTheClaimWaitingForItsAnswer(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"FOLDER_WRITTEN", "HTTP_202", ""} {
		c := newCounter(t, nil)
		c.always(&target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: claimdlq.NewDetail(code)}})
		id := c.queue(1, plainRx)[0]
		c.drain()
		if r := c.get(id); r.State != claimdlq.StateSubmitted || !r.FateUnknown {
			t.Errorf("%q: %s", code, r.State)
		}
	}
}

func TestRx_A404IsNobodysVerdictOnTheClaim(t *testing.T) { // 50
	t.Parallel()
	notThere := target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeRejected, Code: claimdlq.NewDetail("HTTP_404")}}
	c := newCounter(t, nil)
	c.always(&notThere)
	id := c.queue(1, plainRx)[0]
	c.drain()
	if r := c.get(id); r.State != claimdlq.StateQuarantined || r.Class != claimdlq.Terminal || r.Detail.String() != "HTTP_404" || c.till.deliveries() != 1 {
		t.Errorf("%s %s %s", r.State, r.Class, r.Detail)
	}
	synctest.Test(t, func(t *testing.T) { // after a delivery that may have arrived it says nothing of that one
		c := newCounter(t, nil)
		c.till.say = func(n int, b []byte) (target.Delivery, bool) {
			if n > 1 {
				return notThere, true
			}
			return transient("TIMEOUT", true), true
		}
		id := c.queue(1, plainRx)[0]
		stop := c.serve()
		time.Sleep(time.Minute)
		stop()
		if r := c.get(id); r.State != claimdlq.StateInDoubt || c.till.deliveries() != 2 {
			t.Errorf("%s after %d deliveries", r.State, c.till.deliveries())
		}
	})
}

func TestRx_APayloadThatIsGoneIsDeadLetteredAndTheRestGoesOn(t *testing.T) { // promise 6
	t.Parallel()
	c := newCounter(t, nil)
	c.apart = true
	ids := c.queue(3, plainRx)
	c.must(c.v.Shred(t.Context(), c.get(ids[1]).Payload))
	c.drain()
	if r := c.get(ids[1]); r.State != claimdlq.StateQuarantined || r.Detail.String() != "PAYLOAD:NOT_FOUND" {
		t.Errorf("got %s %s", r.State, r.Detail)
	}
	if got := c.states(); got[claimdlq.StateSettled] != 2 || c.till.deliveries() != 2 {
		t.Errorf("got %v", got)
	}
}

func TestRx_OtherBytesThanThosePromisedNeverGoOut(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	raw := c.oneRaw(plainRx)
	id := c.put([][]byte{raw}, func(b *store.Batch) { b.NewSubmissions[0].Digest[0]++ })[0]
	c.drain()
	if r := c.get(id); r.State != claimdlq.StateQuarantined || r.Detail.String() != "DIGEST_MISMATCH" || c.till.deliveries() != 0 {
		t.Errorf("%s %s after %d deliveries", r.State, r.Detail, c.till.deliveries())
	}
}

func TestRx_ADigestOfAnEarlierTermIsKnown(t *testing.T) {
	t.Parallel()
	c := newCounter(t, func(o *attempt.Options) {
		o.Identities = []*claimdlq.Identity{identity(2), identity(1)}
	})
	c.queue(2, plainRx) // digested under term 1
	c.drain()
	if got := c.states(); got[claimdlq.StateSettled] != 2 {
		t.Errorf("got %v", got)
	}
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
