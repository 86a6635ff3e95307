package flow_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// What another pipeline gives up in doubt was sent at some time before, and nobody knows
// whether that was before or after what came to us of the same fill. These are the cases
// that the walk of rx_world_test.go has found, each by itself.

// gaveUp hands a transmission over as ambiguous and returns its only new record.
func (b *rxBench) gaveUp(raw []byte) claimdlq.ID {
	b.t.Helper()
	res := b.deadLetter(raw, timedOut)
	if len(res.Held) != 1 || res.Held[0].State != claimdlq.StateInDoubt {
		b.t.Fatalf("got %+v", res)
	}
	return res.Held[0].ID
}

func (b *rxBench) isNow(id claimdlq.ID, s claimdlq.State, d claimdlq.Disposition) {
	b.t.Helper()
	if r := b.record(id); r.State != s || r.Disposition != d {
		b.t.Errorf("record %d is %s %s %s, want %s %s\n%s", id, r.State, r.Disposition, r.Detail, s, d, b.dump())
	}
}

// billedAndReversed leaves a claim that was paid and taken back.
func billedAndReversed(t *testing.T) (b *rxBench, b1, b2 []byte) {
	t.Helper()
	b, b1, b2 = rxSetup(t, ""), rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	b.takes(b1, in)
	b.takes(b2, in)
	b.drain()
	b.clock.pass(heldLong)
	b.drain()
	return b, b1, b2
}

const heldLong = day

// "Paid" may be older than the reversal that came here before the claim was given up: only
// the answer to an inquiry, or a person, says what stands now. Promise 2.
func TestRxOrder_ALateYesThatMayBeOlderThanAReversalSettlesNothing(t *testing.T) {
	t.Parallel()
	b, b1, _ := billedAndReversed(t)
	id := b.gaveUp(b1)
	b.ack(answerTo(t, b1, ncpdp.Verdict{Status: "P", Auth: "OLD"}))
	b.isNow(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	if _, known, err := b.f.Settle.Inquire(t.Context(), ana, id); err != nil || !known {
		t.Errorf("asked: %t, %v", known, err)
	}
	b.isNow(id, claimdlq.StateSettled, claimdlq.Paid)
	if d := b.payer.DoubleFills(); len(d) > 0 {
		t.Errorf("paid twice: %+v", d)
	}
}

func TestRxOrder_APersonsWordLetsALateYesSettle(t *testing.T) {
	t.Parallel()
	b, b1, _ := billedAndReversed(t)
	id := b.gaveUp(b1)
	_, err := b.f.Settle.Resolve(t.Context(), ana, id, true)
	b.must(err)
	b.ack(answerTo(t, b1, ncpdp.Verdict{Status: "P", Auth: "OLD"}))
	b.isNow(id, claimdlq.StateSettled, claimdlq.Paid)
}

// Without anything before it, the late answer is about what was sent.
func TestRxOrder_ALateYesOfAClaimGivenUpAloneSettlesIt(t *testing.T) {
	t.Parallel()
	b, b1 := rxSetup(t, ""), rxOne(t, "B1", 1)
	id := b.gaveUp(b1)
	b.ack(answerTo(t, b1, ncpdp.Verdict{Status: "P", Auth: "A1"}))
	b.isNow(id, claimdlq.StateSettled, claimdlq.Paid)
	b, b2 := rxSetup(t, ""), rxOne(t, "B2", 1)
	id = b.gaveUp(b2)
	b.ack(answerTo(t, b2, ncpdp.Verdict{Status: "A", Auth: "A2"}))
	b.isNow(id, claimdlq.StateSettled, claimdlq.Reversed)
}

// What was sent from here went after what was before it.
func TestRxOrder_ALateYesToAClaimOfOursSettlesItWhateverWasBefore(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	b1, b2 := transmission(t, testclaims.RxOptions{}, 1), transmission(t, testclaims.RxOptions{Code: "B2"}, 1)
	bench := &rxBench{l.bench}
	bench.takes(b1, in)
	bench.takes(b2, in)
	l.drain()
	l.clock.pass(heldLong)
	l.drain()
	again := bench.takes(b1, in).Records[0].ID
	answer := l.doubtful(again, true)
	l.ack(answer)
	l.is(again, claimdlq.StateSettled, claimdlq.Paid)
}

// A reversal of what was billed before the last one takes back nothing of now.
func TestRxOrder_ALateReversalMayBeOfAnEarlierBilling(t *testing.T) {
	t.Parallel()
	b, b1, b2 := billedAndReversed(t)
	b.takes(b1, in)
	b.drain()
	id := b.gaveUp(b2)
	b.ack(answerTo(t, b2, ncpdp.Verdict{Status: "A", Auth: "OLD"}))
	b.isNow(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
}

// That there was nothing to reverse is older than the payment that stands, or that may be
// made any moment.
func TestRxOrder_ALateNothingToReverseIsOlderThanAPayment(t *testing.T) {
	t.Parallel()
	for _, delivered := range []bool{true, false} {
		b, b1, b2 := rxSetup(t, ""), rxOne(t, "B1", 1), rxOne(t, "B2", 1)
		b.takes(b1, in)
		if delivered {
			b.drain()
		}
		id := b.gaveUp(b2)
		b.ack(answerTo(t, b2, ncpdp.Verdict{Status: "R", Rejects: []string{"84"}}))
		b.isNow(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	}
}

// A person who sees the claim paid cannot know which sending was, while a reversal that
// came before is on its way.
func TestRxOrder_NobodyCanSayThatItArrivedBeforeWhatIsBeforeItIsDecided(t *testing.T) {
	t.Parallel()
	b, b1, b2 := rxSetup(t, ""), rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	b.takes(b1, in)
	b.takes(b2, in)
	id := b.gaveUp(b1)
	if _, err := b.f.Settle.Resolve(t.Context(), ana, id, true); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("got %v", err)
	}
	if _, err := b.f.Settle.Resolve(t.Context(), ana, id, false); err != nil {
		t.Errorf("that it did not arrive: %v", err)
	}
}

// What another pipeline may have sent is in doubt, although the same claim is here and
// was certainly not sent from here: else the doubt would be forgotten, and writing that
// record off would lose a payment. Promise 2.
func TestRxOrder_ADoubtIsNotForgottenForARecordThatWasNotSent(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(b *rxBench, raw []byte){
		"a dead letter": func(b *rxBench, raw []byte) { b.deadLetter(raw, givenUp) },
		"parked": func(b *rxBench, raw []byte) {
			b.deadLetter(raw, givenUp)
			_, err := b.f.Retain.Park(b.t.Context(), ana, 1)
			b.must(err)
		},
		"queued": func(b *rxBench, raw []byte) { b.takes(raw, in) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, raw := rxSetup(t, ""), rxOne(t, "B1", 1)
			before(b, raw)
			id := b.gaveUp(raw)
			if id == 1 {
				t.Fatal("it has no record of its own")
			}
			if again := b.deadLetter(raw, timedOut); again.Duplicates != 1 || again.Held[0].ID != id {
				t.Errorf("again: %+v", again)
			}
			_, err := b.f.Retain.Withdraw(t.Context(), ana, 1)
			b.must(err)
			b.payer.Adjudicate(raw)
			_, _, err = b.f.Settle.Inquire(t.Context(), ana, id)
			b.must(err)
			b.isNow(id, claimdlq.StateSettled, claimdlq.DuplicateOfPaid)
		})
	}
}

// Of an 837 the record is the same one: it is in doubt from now on, and no replay sends it.
func TestOrder_ASetThatAnotherPipelineMayHaveSentIsInDoubtAlthoughItIsHere(t *testing.T) {
	t.Parallel()
	for _, parked := range []bool{false, true} {
		b, file := rxSetup(t, ""), generate(t, testclaims.Options{Claims: 2})
		b.deadLetter(file, givenUp)
		if parked {
			_, err := b.f.Retain.Park(t.Context(), ana, 1)
			b.must(err)
		}
		res := b.deadLetter(file, timedOut)
		if res.InDoubt != 2 || len(res.Held) != 1 {
			t.Errorf("got %+v", res)
		}
		b.inquirable()
		if got := b.replay(1, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
			t.Errorf("a replay is %s", got)
		}
		if again := b.deadLetter(file, timedOut); again.Duplicates != 2 {
			t.Errorf("again: %+v", again)
		}
	}
}

// The redelivery of an ambiguous dead letter whose intake a crash has ended may find the
// same claim in another record: the start of the process finishes it all the same.
func TestRxOrder_ARestartFinishesWhatACrashLeftOfADeadLetter(t *testing.T) { // F38
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 2; n <= 3; n++ {
			b, raw := rxSetup(t, ""), rxOne(t, "B1", 1)
			d := &dying{Store: b.st, left: n, after: after}
			b.deps.Store = d
			b.assemble()
			if _, err := b.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(raw), timedOut); err == nil {
				t.Fatal("it did not die")
			}
			b.deps.Store = b.st
			b.restart()
			b.inquirable()
		}
	}
}

// What a person moves while a dead letter is being taken in goes its own way, and the rest
// does not wait for it.
func TestRxOrder_APersonMayWriteOffWhatIsBeingTakenIn(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	good := b.st
	b.deps.Store = &racing{
		Store: good, when: func(c store.Batch) bool { return len(c.Update) == 4 && c.Update[0].State == claimdlq.StateInDoubt },
		before: func() {
			_, err := b.f.Retain.Withdraw(context.Background(), ana, 2)
			b.must(err)
		},
	}
	b.assemble()
	b.deadLetter(rxMessages(t, testclaims.RxOptions{Claims: 4, TransactionsPer: 4})[0], timedOut)
	b.isNow(2, claimdlq.StateWithdrawn, claimdlq.DispositionNone)
	for _, id := range []claimdlq.ID{1, 3, 4} {
		if r := b.record(id); r.State != claimdlq.StateInDoubt || r.Submission == 0 {
			t.Errorf("record %d is %s, submission %d", id, r.State, r.Submission)
		}
	}
}

// "Captured" of what is being taken in waits for its submission, which looks after the
// deadline.
func TestRxOrder_ALateCaptureOfWhatIsBeingTakenInIsNotForgotten(t *testing.T) {
	t.Parallel()
	b, raw := rxSetup(t, ""), rxOne(t, "B1", 1)
	b.deps.Store = &racing{
		Store: b.st, when: func(c store.Batch) bool { return len(c.Update) == 1 && c.Update[0].State == claimdlq.StateSubmitted },
		before: func() { b.ack(answerTo(t, raw, ncpdp.Verdict{Status: "C", Auth: "A1"})) },
	}
	b.assemble()
	id := b.gaveUp(raw)
	if r := b.record(id); r.State != claimdlq.StateInDoubt || r.Submission == 0 {
		t.Errorf("record %d is %s, submission %d", id, r.State, r.Submission)
	}
}

// One of a transmission that the payer has captured keeps its deadline, although another
// of it did not arrive.
func TestRxOrder_WhatIsCapturedKeepsItsDeadlineWhenItsNeighbourDidNotArrive(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	both := testclaims.RxOptions{Claims: 2, TransactionsPer: 2, PartialEvery: -1}
	b.deadLetter(rxMessages(t, both)[0], timedOut)
	b.ack(answerTo(t, rxMessages(t, both)[0], ncpdp.Verdict{Status: "C", Auth: "A1"}))
	b.isNow(1, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	_, err := b.f.Settle.Resolve(t.Context(), ana, 2, false)
	b.must(err)
	b.clock.pass(3 * day)
	if n, err := b.f.Settle.Overdue(t.Context()); n != 1 || err != nil {
		t.Errorf("%d overdue, %v", n, err)
	}
	b.isNow(1, claimdlq.StateInDoubt, claimdlq.DispositionNone)
}

// An answer does not say whether it means a partial fill or its completion, and the other
// may be with another pipeline: it settles neither.
func TestRxOrder_ALateAnswerDoesNotTellAPartialFillFromItsCompletion(t *testing.T) {
	t.Parallel()
	b, raw := rxSetup(t, ""), rxSet(t, rxOne(t, "B1", 1), "07-HD=P")
	id := b.gaveUp(raw)
	b.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "A1"}))
	b.isNow(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	_, _, err := b.f.Settle.Inquire(t.Context(), ana, id)
	b.must(err)
	b.isNow(id, claimdlq.StateSettled, claimdlq.Paid)
}

// A refusal that comes late may be the answer to an earlier record of the same claim, of
// which not every answer came.
func TestRxOrder_ALateRefusalOfAnEarlierTryEndsNoDoubt(t *testing.T) {
	t.Parallel()
	for _, earlier := range []bool{false, true} {
		b, raw := rxSetup(t, ""), rxOne(t, "B1", 1)
		if earlier {
			b.exhausted(b.takes(raw, in).Records[0].ID)
			_, err := b.f.Retain.Withdraw(t.Context(), ana, 1)
			b.must(err)
		}
		once := timedOut
		once.Attempts = 1
		id := b.deadLetter(raw, once).Held[0].ID
		b.ack(answerTo(t, raw, ncpdp.Verdict{Status: "R", Rejects: []string{"70"}}))
		if earlier {
			b.isNow(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
		} else {
			b.isNow(id, claimdlq.StateSettled, claimdlq.Rejected)
		}
	}
}

// exhausted leaves the record dead-lettered after two deliveries that certainly failed.
func (b *rxBench) exhausted(id claimdlq.ID) {
	b.t.Helper()
	lease := func(r claimdlq.Record) (claimdlq.Record, error) { return r.Lease(1, b.clock.now()) }
	b.step(id, lease, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Requeue(claimdlq.NewDetail("HTTP_503"), b.clock.now(), b.clock.now())
	}, lease, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail("HTTP_503")}, b.clock.now())
	})
}

// A claim that was captured and written off has an answer to come still: it is not taken
// for that of a claim of another payer.
func TestRxOrder_WhatWasCapturedHasAnAnswerToCome(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim bin=999999 capture")
	raw := rxOne(t, "B1", 1)
	kept := b.takes(raw, in).Records[0].ID
	b.drain()
	_, err := b.f.Retain.Withdraw(t.Context(), ana, kept)
	b.must(err)
	other := rxMessages(t, testclaims.RxOptions{Seed: 1, BIN: "888888", CompoundEvery: -1, COBEvery: -1, PartialEvery: -1})[0]
	held := b.takes(other, in).Records[0].ID
	b.exhausted(held)
	if got := b.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "LATER"})); got.Orphans != 1 {
		t.Errorf("got %+v", got)
	}
	b.isNow(held, claimdlq.StateQuarantined, claimdlq.DispositionNone)
}

// A refusal is no answer to what a person has seen with the payer, nor surely to a claim
// that was captured when it came again.
func TestRxOrder_ALateRefusalEndsNothingThatThePayerHas(t *testing.T) {
	t.Parallel()
	for name, has := range map[string]func(b *rxBench, id claimdlq.ID){
		"a person says so": func(b *rxBench, id claimdlq.ID) {
			_, err := b.f.Settle.Resolve(b.t.Context(), ana, id, true)
			b.must(err)
		},
		"captured when asked": func(b *rxBench, id claimdlq.ID) {
			_, _, err := b.f.Settle.Inquire(b.t.Context(), ana, id)
			b.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, raw := rxSetup(t, "claim 1 capture"), rxOne(t, "B1", 1)
			once := timedOut
			once.Attempts = 1
			id := b.deadLetter(raw, once).Held[0].ID
			has(b, id)
			b.ack(answerTo(t, raw, ncpdp.Verdict{Status: "R", Rejects: []string{"70"}}))
			b.isNow(id, claimdlq.StateSubmitted, claimdlq.DispositionNone)
			b.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "A1"}))
			b.isNow(id, claimdlq.StateSettled, claimdlq.Paid)
		})
	}
}

// What each claim of a transmission did stands by itself: who speaks of one says nothing
// of its neighbour.
func TestRxOrder_APersonSpeaksOfOneClaimOfATransmission(t *testing.T) {
	t.Parallel()
	for _, has := range []bool{true, false} {
		b := rxSetup(t, "")
		b.deadLetter(rxMessages(t, testclaims.RxOptions{Claims: 2, TransactionsPer: 2, PartialEvery: -1})[0], timedOut)
		_, err := b.f.Settle.Resolve(t.Context(), ana, 1, has)
		b.must(err)
		want := claimdlq.StateQuarantined
		if has {
			want = claimdlq.StateSubmitted
		}
		b.isNow(1, want, claimdlq.DispositionNone)
		b.isNow(2, claimdlq.StateInDoubt, claimdlq.DispositionNone)
		if _, known, err := b.f.Settle.Inquire(t.Context(), ana, 2); err != nil || !known {
			t.Errorf("asked about the other: %t, %v", known, err)
		}
		b.isNow(2, claimdlq.StateSettled, claimdlq.Paid)
	}
}

// overtaking is a store that lets something happen between the look at lapsed deliveries
// and what follows from it.
type overtaking struct {
	store.Store
	between func()
}

func (o *overtaking) Due(ctx context.Context, q store.DueQuery) ([]claimdlq.Submission, error) {
	ss, err := o.Store.Due(ctx, q)
	if f := o.between; f != nil && q.State == claimdlq.SubmissionSending && len(ss) > 0 {
		o.between = nil
		f()
	}
	return ss, err
}

// A delivery that was found lapsed, has ended since, and is under way again is left alone:
// its record would stay leased for ever.
func TestRecover_ADeliveryThatBeganAnewIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	id := b.takes(rxOne(t, "B1", 1), in).Records[0].ID
	lease := func() {
		s := b.submissions()[0]
		n, err := b.record(id).Lease(s.ID, b.clock.now())
		b.must(err)
		s.State = claimdlq.SubmissionSending
		_, err = b.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{n}, Submissions: []claimdlq.Submission{s}})
		b.must(err)
	}
	lease()
	b.deps.Store = &overtaking{Store: b.st, between: func() {
		s := b.submissions()[0]
		n, err := b.record(id).Requeue(claimdlq.NewDetail("HTTP_503"), b.clock.now(), b.clock.now())
		b.must(err)
		s.State = claimdlq.SubmissionReady
		_, err = b.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{n}, Submissions: []claimdlq.Submission{s}})
		b.must(err)
		lease()
	}}
	b.assemble()
	b.must(b.f.Attempt.Recover(t.Context()))
	if s := b.submissions()[0]; s.State != claimdlq.SubmissionSending || b.record(id).State != claimdlq.StateLeased {
		t.Errorf("record %s, submission %s", b.record(id).State, s.State)
	}
}
