package flow_test

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/target"
)

func always(m mode) *mode { return &m }

// drainFor drains and lets time pass until nothing is due within the horizon.
func (b *bench) drainFor(d time.Duration) (waits []time.Duration) {
	b.t.Helper()
	end := b.clock.now().Add(d)
	for {
		b.drain()
		next, ok := b.f.Attempt.NextDue(b.t.Context())
		if !ok || next.After(end) {
			return waits
		}
		wait := max(next.Sub(b.clock.now()), 0)
		waits = append(waits, wait)
		b.clock.pass(wait)
	}
}

func TestBudget_FiveMeansTheFirstDeliveryAndFourMore(t *testing.T) { // promise 3; 3, 4, 10, 11
	t.Parallel()
	for _, budget := range []uint32{1, 3, 5} {
		b := setup(t, "")
		b.policy(func(p *claimdlq.Policy) { p.MaxReceive = budget })
		b.assemble()
		b.target.always = always(busy)
		b.ingest(generate(t, testclaims.Options{Claims: 1}))
		waits := b.drainFor(time.Hour)
		if got := len(b.target.sent); got != int(budget) {
			t.Fatalf("budget %d: %d deliveries", budget, got)
		}
		r := b.only(claimdlq.StateQuarantined)
		if r.Reason != claimdlq.RetriesExhausted || r.Detail.String() != "HTTP_503" || r.ReceiveCount != budget || r.AttemptCount != budget {
			t.Errorf("got %s %s received %d of %d", r.Reason, r.Detail, r.ReceiveCount, r.AttemptCount)
		}
		want := []time.Duration{4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second}[:budget-1]
		if len(waits) != len(want) {
			t.Fatalf("waited %v, want %v", waits, want)
		}
		for i := range want {
			if waits[i] != want[i] {
				t.Errorf("waited %v, want %v", waits, want)
			}
		}
	}
}

func TestBudget_AReplayGetsANewOneAndMayGoUnchanged(t *testing.T) { // F19
	t.Parallel()
	b := setup(t, "")
	b.target.always = always(refused)
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drainFor(time.Hour)
	r := b.only(claimdlq.StateQuarantined)
	b.target.always = nil
	if got := b.replay(r.ID, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("got %s", got)
	}
	if r = b.record(r.ID); r.ReceiveCount != 0 || r.AttemptCount != 5 || r.ReplayCount != 1 {
		t.Errorf("received %d of %d, replay %d", r.ReceiveCount, r.AttemptCount, r.ReplayCount)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1})
}

func TestBudget_NoCrashAddsADelivery(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	for range 20 { // die after each lease, before the intent
		b.leaseOnly()
		b.restart()
	}
	b.drainFor(time.Hour)
	r := b.list(store.Filter{Stream: "837"})[0]
	if r.ReceiveCount != 5 || len(b.target.sent) != 0 {
		t.Fatalf("received %d, sent %d\n%s", r.ReceiveCount, len(b.target.sent), b.dump())
	}
	if r.State != claimdlq.StateQuarantined || r.Reason != claimdlq.RetriesExhausted || r.Detail.String() != "LEASE_LAPSED" {
		t.Errorf("got %s %s %s", r.State, r.Reason, r.Detail)
	}
}

// leaseOnly does what a worker does before it dies: the lease.
func (b *bench) leaseOnly() {
	b.t.Helper()
	due, err := b.st.Due(b.t.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: b.clock.now(), Limit: 1})
	b.must(err)
	if len(due) == 0 {
		return
	}
	s := due[0]
	r := b.record(s.Members[0].First)
	if r.ReceiveCount >= b.deps.Policies.For(r.Stream).MaxReceive {
		return
	}
	n, err := r.Lease(s.ID, b.clock.now())
	b.must(err)
	s.State, s.LeaseUntil, s.Receives = claimdlq.SubmissionLeased, b.clock.now().Add(time.Minute), s.Receives+1
	_, err = b.st.Commit(b.t.Context(), store.Batch{Update: []claimdlq.Record{n}, Submissions: []claimdlq.Submission{s}})
	b.must(err)
}

func TestDoubt_AnOutcomeThatIsNotKnownIsNeverSentAgain(t *testing.T) { // promise 2, F13
	t.Parallel()
	for _, m := range []mode{drop, lost} {
		b := setup(t, "")
		b.target.plan = []mode{m}
		b.ingest(generate(t, testclaims.Options{Claims: 2}))
		if s := b.drain(); s.InDoubt != 1 {
			t.Fatalf("got %+v", s)
		}
		b.drainFor(240 * time.Hour)
		b.restart()
		b.drainFor(240 * time.Hour)
		r := b.only(claimdlq.StateInDoubt)
		if len(b.target.sent) != 1 || r.Detail.String() != "TIMEOUT" || r.Reason != claimdlq.OutcomeUnknown {
			t.Fatalf("sent %d times, %s", len(b.target.sent), b.dump())
		}
		if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
			t.Errorf("replay in doubt: %s", got)
		}
		b.noDouble()
	}
}

func TestDoubt_AnAcknowledgmentResolvesIt(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.target.plan = []mode{drop}
	b.ingest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 2}))
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateInDoubt: 4})
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4})
	b.noDouble()
}

func TestDoubt_ACrashAfterTheIntentIsInDoubt(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 2}))
	b.leaseOnly()
	s, err := b.st.Submission(t.Context(), 1)
	b.must(err)
	s.State, s.Digest = claimdlq.SubmissionSending, claimdlq.Digest{1}
	_, err = b.st.Commit(t.Context(), store.Batch{Submissions: []claimdlq.Submission{s}})
	b.must(err)
	b.restart()
	b.drainFor(240 * time.Hour)
	if r := b.only(claimdlq.StateInDoubt); r.Detail.String() != "INTERRUPTED" || len(b.target.sent) != 0 {
		t.Errorf("got %s", b.dump())
	}
}

func TestDoubt_APersonSaysThatItDidNotArriveAndItIsReplayedAsItIs(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.target.plan = []mode{lost}
	b.ingest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 2}))
	b.drain()
	first := b.list(store.Filter{State: claimdlq.StateInDoubt})[0]
	if _, err := b.f.Settle.Resolve(t.Context(), claimdlq.System("settle"), first.ID, false); err == nil {
		t.Fatal("a stage resolved a doubt")
	}
	if _, err := b.f.Settle.Resolve(t.Context(), ana, first.ID, false); err != nil {
		t.Fatal(err)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQuarantined: 4}) // the interchange arrives whole or not at all
	sum, err := b.f.Replay.Select(t.Context(), ana, store.Filter{State: claimdlq.StateQuarantined}, replay.Options{})
	b.must(err)
	if sum.Requeued != 2 {
		t.Fatalf("got %+v", sum)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4})
	b.noDouble()
}

func TestDoubt_APersonSaysThatItArrivedAndItWaitsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.target.plan = []mode{drop}
	b.ingest(generate(t, testclaims.Options{Claims: 2}))
	b.drain()
	r, err := b.f.Settle.Resolve(t.Context(), ana, b.only(claimdlq.StateInDoubt).ID, true)
	b.must(err)
	if r.State != claimdlq.StateSubmitted {
		t.Fatalf("got %s", r.State)
	}
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 2})
}

func TestDoubt_AnInquiryIsActedOn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		outcome claimdlq.Outcome
		known   bool
		want    claimdlq.State
	}{
		"arrived":         {claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted}, true, claimdlq.StateSubmitted},
		"refused":         {claimdlq.Outcome{Kind: claimdlq.OutcomeRejected}, true, claimdlq.StateQuarantined},
		"not arrived":     {claimdlq.Outcome{Kind: claimdlq.OutcomeTransient}, true, claimdlq.StateQueued},
		"cannot tell":     {claimdlq.Outcome{}, false, claimdlq.StateInDoubt},
		"says unknown":    {claimdlq.Outcome{}, true, claimdlq.StateInDoubt},
		"may be on a way": {claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Ambiguous: true}, true, claimdlq.StateInDoubt},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "")
			b.target.plan = []mode{lost}
			b.target.inquiry = func(p target.Parcel) (claimdlq.Outcome, bool) {
				if p.Name != b.target.names[0] || p.ISA13 != 1 {
					t.Errorf("asked for %s", p.Name)
				}
				return c.outcome, c.known
			}
			b.ingest(generate(t, testclaims.Options{Claims: 1}))
			b.drain()
			r, _, err := b.f.Settle.Inquire(t.Context(), ana, b.only(claimdlq.StateInDoubt).ID)
			b.must(err)
			if r.State != c.want {
				t.Fatalf("got %s, want %s", r.State, c.want)
			}
			if c.want == claimdlq.StateQueued { // the same bytes under the same numbers
				b.drainFor(time.Hour)
				b.acks()
				b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1})
				if string(b.target.sent[0]) != string(b.target.sent[1]) || b.target.names[0] != b.target.names[1] {
					t.Error("another parcel went out")
				}
			}
		})
	}
}

func TestDoubt_AnIdempotentTargetIsSentTheIdenticalBytesAsAnInquiry(t *testing.T) {
	t.Parallel()
	b := setup(t, "interchanges any\ndedupe on\nanswer body")
	b.target.idempotent = true
	b.target.plan = []mode{lost, refused, drop}
	b.ingest(generate(t, testclaims.Options{Claims: 2}))
	b.drainFor(time.Hour)
	if len(b.target.sent) != 4 {
		t.Fatalf("sent %d times\n%s", len(b.target.sent), b.dump())
	}
	for _, s := range b.target.sent {
		if string(s) != string(b.target.sent[0]) {
			t.Error("other bytes went out under the same numbers")
		}
	}
	if r := b.only(claimdlq.StateSubmitted); r.ReceiveCount != 4 {
		t.Errorf("got %s", b.dump())
	}
}

func TestDoubt_AnIdempotentTargetThatStaysDumbEndsInDoubt(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.target.idempotent, b.target.always = true, always(lost)
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drainFor(time.Hour)
	if r := b.only(claimdlq.StateInDoubt); r.ReceiveCount != 5 || len(b.target.sent) != 5 {
		t.Errorf("got %s", b.dump())
	}
}

func TestBreaker_ADeadDependencyDoesNotBurnTheBudget(t *testing.T) { // promise 5, F29
	t.Parallel()
	b := setup(t, "")
	b.target.always = always(busy)
	for i := range 30 {
		b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: uint32(i + 1), FirstClaim: i + 1, Seed: uint64(i)}))
	}
	b.drainFor(30 * time.Minute)
	if got := len(b.target.sent); got > 10+64 {
		t.Errorf("%d calls of a dead target in half an hour", got)
	}
	if n := b.states()[claimdlq.StateQueued]; n != 30 {
		t.Fatalf("%d of 30 claims still wait: %v\n%s", n, b.states(), b.dump())
	}
	held := 0
	for _, r := range b.list(store.Filter{State: claimdlq.StateQueued}) {
		if r.Hold == claimdlq.HoldBreaker {
			held++
		}
	}
	if held == 0 {
		t.Error("nothing says that the breaker holds it")
	}
	b.target.always = nil
	b.drainFor(time.Hour)
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 30})
	b.noDouble()
}

func TestBreaker_OnePartnersDeadTargetStopsNobodyElse(t *testing.T) { // promise 6
	t.Parallel()
	b := setup(t, "")
	dead := &fake{payer: b.payer, always: always(refused)}
	b.deps.Routes = func(_, partner string) (target.Route, bool) {
		switch partner {
		case "ZZ:DEADPAYER":
			return target.Route{Target: dead}, true
		case "ZZ:TESTPAYER":
			return target.Route{Target: b.target}, true
		}
		return target.Route{}, false
	}
	b.deps.Breaker = retry.Options{Consecutive: 2}
	b.assemble()
	for i := range 6 {
		to := []string{"DEADPAYER", "TESTPAYER", "NOBODY"}[i%3]
		b.ingest(generate(t, testclaims.Options{Claims: 1, Receiver: to, ISA13: uint32(i + 1), FirstClaim: i + 1, Seed: uint64(i)}))
	}
	sum := b.drain()
	if sum.Sent != 2 || sum.Held < 2 {
		t.Fatalf("got %+v\n%s", sum, b.dump())
	}
	for _, r := range b.list(store.Filter{Partner: "ZZ:NOBODY"}) {
		if r.Hold != claimdlq.HoldTarget || r.ReceiveCount != 0 {
			t.Errorf("got %s with %d deliveries", r.Hold, r.ReceiveCount)
		}
	}
}

func TestDeliver_APayloadThatIsGoneIsHeldAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 6, ClaimsPerSet: 2}))
	second := b.list(store.Filter{})[1]
	b.must(b.v.Shred(t.Context(), second.Payload))
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4, claimdlq.StateQuarantined: 2})
	if r := b.only(claimdlq.StateQuarantined); r.ID != second.ID || r.Detail.String() != "PAYLOAD:NOT_FOUND" {
		t.Errorf("got %s", b.dump())
	}
}

func TestDeliver_WhatWasWithdrawnMeanwhileIsLeftOut(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 2}))
	_, err := b.f.Retain.Withdraw(t.Context(), ana, b.list(store.Filter{})[0].ID)
	b.must(err)
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 2, claimdlq.StateWithdrawn: 2})
	if b.accepted() != 2 {
		t.Errorf("the payer has %d", b.accepted())
	}
}

func TestDeliver_A404IsNeverRetried(t *testing.T) { // 50
	t.Parallel()
	b := setup(t, "")
	b.target.always = always(notFound)
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drainFor(time.Hour)
	r := b.only(claimdlq.StateQuarantined)
	if len(b.target.sent) != 1 || r.Class != claimdlq.Terminal || r.Detail.String() != "HTTP_404" {
		t.Errorf("got %s", b.dump())
	}
	if got := b.replay(r.ID, replay.Options{}); got != claimdlq.NotCorrected {
		t.Errorf("got %s", got)
	}
	b.target.always = nil // the address was fixed
	if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.Replayed {
		t.Errorf("got %s", got)
	}
}

func TestDeliver_AnswersThatComeWithTheDeliverySettleAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.target.sync = true
	b.ingest(generate(t, testclaims.Options{Claims: 6, ClaimsPerSet: 2}))
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 6})
}

func TestDeliver_TheLeaseIsAuditedBeforeThePayloadIsOpened(t *testing.T) { // promise 10
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	got := b.audited(1)
	if len(got) < 2 || got[0] != claimdlq.ActReceive || got[1] != claimdlq.ActLease {
		t.Errorf("audited %v", got)
	}
}

func TestDeliver_WhileOneTargetHangsOthersAreDeliveredTo(t *testing.T) { // promise 6
	t.Parallel()
	b := setup(t, "")
	hanging, release := make(chan struct{}), make(chan struct{})
	slow := &fake{payer: b.payer, early: func([]byte) { close(hanging); <-release }}
	b.deps.Routes = func(_, partner string) (target.Route, bool) {
		if partner == "ZZ:SLOWPAYER" {
			return target.Route{Target: slow}, true
		}
		return target.Route{Target: b.target}, true
	}
	b.assemble()
	b.ingest(generate(t, testclaims.Options{Claims: 1, Receiver: "SLOWPAYER"}))
	done := make(chan attempt.Summary)
	go func() {
		sum, err := b.f.Attempt.Drain(t.Context())
		if err != nil {
			t.Error(err)
		}
		done <- sum
	}()
	<-hanging
	b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 2, FirstClaim: 2, Seed: 2}))
	b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 3, FirstClaim: 3, Seed: 3, Receiver: "SLOWPAYER"}))
	if s := b.drain(); s.Sent != 1 || len(b.target.sent) != 1 {
		t.Errorf("got %+v", s)
	}
	slow.early = nil
	close(release)
	if s := <-done; s.Sent != 2 {
		t.Errorf("got %+v", s)
	}
}
