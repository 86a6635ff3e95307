package flow_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/internal/testclaims"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

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
		c := newCounter(t, func(o *attempt.Options) { o.Workers = 1 })
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

func TestRx_AnAnswerIsSealedAndTheRecordPointsAtIt(t *testing.T) {
	t.Parallel()
	c := newCounter(t, nil)
	ids := c.queue(40, plainRx)
	c.drain()
	units := map[string]bool{}
	for i, id := range ids {
		r := c.get(id)
		units[r.Response.Unit] = true
		b, err := c.v.Open(t.Context(), r.Response, proof(c))
		c.must(err)
		if rx := string(ncpdp.Parse(b.Reveal()).RxOf(1)); strings.TrimLeft(rx, "0") != strconv.Itoa(i+1) {
			t.Errorf("the answer to claim %d is that of another", i+1)
		}
	}
	if len(units) >= len(ids) {
		t.Errorf("%d units for %d answers", len(units), len(ids))
	}
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

// "Nothing to reverse" is the end of a reversal, unless we know of a payment that stands.
func TestRx_AnOrphanedReversalIsDoneOnlyWhereNothingStands(t *testing.T) { // F23
	t.Parallel()
	for _, standing := range []bool{false, true} {
		c := newCounter(t, nil)
		c.script("claim code=B2 reject 84")
		first := claimdlq.ID(1)
		if standing {
			first = c.queue(1, plainRx)[0]
			c.drain()
			c.next = 1
		}
		o := plainRx
		o.Code = "B2"
		second := c.put([][]byte{c.oneRaw(o)}, func(b *store.Batch) { b.Insert[0].GroupID = first.String() })[0]
		c.drain()
		want := claimdlq.Reversed
		if standing {
			want = claimdlq.Rejected
		}
		if r := c.get(second); r.State != claimdlq.StateSettled || r.Disposition != want || r.Detail.String() != "FB_84" {
			t.Errorf("standing %t: %s %s %s", standing, r.State, r.Disposition, r.Detail)
		}
	}
}

// A crossed or contradictory answer is a failure of the payer, not of one claim.
func TestRx_SuspectAnswersOpenTheBreaker(t *testing.T) {
	t.Parallel()
	c := newCounter(t, func(o *attempt.Options) { o.Workers = 1 })
	c.script("transmission all other B1")
	c.queue(30, plainRx)
	c.drain()
	if got := c.states(); got[claimdlq.StateInDoubt] != 10 || got[claimdlq.StateQueued] != 20 {
		t.Errorf("%v", got)
	}
}

// The payer asks to be left alone (793): its breaker opens at once, and the claim that it
// refused is refused.
func TestRx_APayerThatWantsNoMoreIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, func(o *attempt.Options) { o.Workers = 1 })
		c.script("claim 1 reject 793")
		c.queue(3, plainRx)
		stop := c.serve()
		time.Sleep(59 * time.Minute)
		if n := c.till.deliveries(); n != 1 || c.a.Breakers()[0].State != retry.Open {
			t.Errorf("%d deliveries, the breaker is %s", n, c.a.Breakers()[0].State)
		}
		time.Sleep(time.Hour)
		stop()
		if n := c.till.deliveries(); n < 3 {
			t.Errorf("%d deliveries after an hour", n)
		}
	})
}
