package flow_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

const earlierInDoubt = "LINEAGE:EARLIER_IN_DOUBT"

// mayBeThere leaves the payer with a claim of which we have seen no answer.
func (l *late) mayBeThere(raw []byte) claimdlq.ID {
	l.t.Helper()
	l.route.plain = true
	r := l.rxTake(raw)
	if r.Status != in {
		l.t.Fatalf("got %+v", r)
	}
	l.route.mute = true
	l.drain()
	l.route.mute = false
	l.is(r.ID, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	return r.ID
}

func (l *late) rxTake(raw []byte) intake.Taken { return (&rxBench{l.bench}).take(raw) }

func (l *late) withdraw(id claimdlq.ID) { (&rxBench{l.bench}).withdraw(id) }

// A payer without dedupe, a claim in doubt that is written off, and the pharmacy brings
// it again: it must not be paid twice.
func TestRxIntake_WhatWasWrittenOffInDoubtIsNotSentAgain(t *testing.T) { // promise 2, F13
	t.Parallel()
	raw := rxOne(t, "B1", 1)
	for name, again := range map[string][]byte{"same bytes": raw, "other bytes": rxSet(t, raw, "07-E7=90000")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, "dedupe off")
			first := l.mayBeThere(raw)
			l.withdraw(first)
			got := l.rxTake(again)
			if got.Status != intake.Conflict || got.State != claimdlq.StateParked || got.Detail.String() != earlierInDoubt || got.ID == first {
				t.Fatalf("got %+v", got)
			}
			if r := l.record(got.ID); r.FateUnknown || r.AttemptCount != 0 {
				t.Errorf("it was never sent: %+v", r)
			}
			if twice := l.rxTake(again); twice.Status != dup || twice.ID != got.ID {
				t.Errorf("again: %+v", twice)
			}
			l.drain()
			if len(l.route.sent) != 1 {
				t.Fatalf("sent %d times", len(l.route.sent))
			}
			_, err := l.f.Retain.Unpark(t.Context(), ana, got.ID)
			l.must(err)
			for _, o := range []replay.Options{{}, {Unchanged: true}} {
				if res := l.replay(got.ID, o); res != claimdlq.InDoubtFirst {
					t.Fatalf("%+v: %s", o, res)
				}
			}
			if _, err := l.f.Replay.Select(t.Context(), ana, store.Filter{}, replay.Options{Unchanged: true}); err != nil || len(l.submissions()) != 1 {
				t.Fatalf("a drain released it: %v", err)
			}
			l.drain()
			l.noDoubleFill()
		})
	}
}

// submissions returns all of them.
func (l *late) submissions() []claimdlq.Submission { return (&rxBench{l.bench}).submissions() }

// What a person writes off in doubt stays in doubt for good: only somebody who knows that
// the payer has nothing may send the claim all the same, one at a time.
func TestRxReplay_ANamedPersonMaySendWhatWasWrittenOffInDoubt(t *testing.T) { // promise 2, promise 10
	t.Parallel()
	l := lateSetup(t, "dedupe off")
	raw := rxOne(t, "B1", 1)
	l.route.down, l.route.plain = true, true
	first := l.rxTake(raw).ID
	(&rxBench{l.bench}).doubt(first)
	l.withdraw(first)
	id := l.rxTake(raw).ID
	_, err := l.f.Retain.Unpark(t.Context(), ana, id)
	l.must(err)
	o := replay.Options{WrittenOff: true}
	if _, err := l.f.Replay.Select(t.Context(), ana, store.Filter{}, o); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("a drain: %v", err)
	}
	if _, _, err := l.f.Replay.One(t.Context(), claimdlq.By{Actor: "ana"}, id, o); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("without a reason: %v", err)
	}
	l.route.down = false
	if got := l.replay(id, o); got != claimdlq.Replayed {
		t.Fatalf("got %s", got)
	}
	l.drain()
	l.is(id, claimdlq.StateSettled, claimdlq.Paid)
	l.noDoubleFill()
}

// What is parked in doubt may be asked about once it is taken out; then its copy is free.
func TestRxIntake_WhatIsParkedInDoubtIsSettledFirst(t *testing.T) { // promise 2, 8
	t.Parallel()
	l := lateSetup(t, "dedupe off")
	raw := rxOne(t, "B1", 1)
	first := l.mayBeThere(raw)
	_, err := l.f.Retain.Park(t.Context(), ana, first)
	l.must(err)
	if same := l.rxTake(raw); same.Status != dup || same.ID != first || same.State != claimdlq.StateParked {
		t.Errorf("the same bytes: %+v", same)
	}
	other := l.rxTake(rxSet(t, raw, "07-E7=90000"))
	if other.Status != intake.Conflict || other.Detail.String() != earlierInDoubt {
		t.Fatalf("got %+v", other)
	}
	_, err = l.f.Retain.Unpark(t.Context(), ana, other.ID)
	l.must(err)
	if res := l.replay(other.ID, replay.Options{}); res != claimdlq.InDoubtFirst {
		t.Fatalf("in doubt: %s", res)
	}
	if _, err = l.f.Retain.Unpark(t.Context(), ana, first); err != nil {
		t.Fatal(err)
	}
	_, err = l.f.Settle.Resolve(t.Context(), ana, first, false)
	l.must(err)
	l.withdraw(first)
	if res := l.replay(other.ID, replay.Options{}); res != claimdlq.Replayed {
		t.Errorf("once the doubt is resolved: %s", res)
	}
}

// An accepted reversal says what the doubt did not: the next billing is another claim.
func TestRxIntake_AReversalClearsWhatWasWrittenOffInDoubt(t *testing.T) { // F1, F18
	t.Parallel()
	l := lateSetup(t, "dedupe off")
	raw := rxOne(t, "B1", 1)
	l.withdraw(l.mayBeThere(raw))
	back := l.rxTake(rxOne(t, "B2", 1))
	l.drain()
	l.is(back.ID, claimdlq.StateSettled, claimdlq.Reversed)
	next := l.rxTake(raw)
	l.drain()
	if next.Status != in {
		t.Fatalf("got %+v", next)
	}
	l.is(next.ID, claimdlq.StateSettled, claimdlq.Paid)
	l.noDoubleFill()
}

// A billing that waited for a reversal does not go when that came to nothing and what it
// should have taken back was written off in doubt.
func TestRxLineage_ABillingStopsBehindWhatWasWrittenOffInDoubt(t *testing.T) { // promise 2, F18
	t.Parallel()
	l := lateSetup(t, "dedupe off")
	raw := rxOne(t, "B1", 1)
	first := l.mayBeThere(raw)
	back := l.rxTake(rxOne(t, "B2", 1))
	next := l.rxTake(raw)
	if back.Status != in || next.Status != in {
		t.Fatalf("got %+v %+v", back, next)
	}
	l.withdraw(first)
	l.withdraw(back.ID)
	for range 3 {
		l.clock.pass(time.Minute)
		l.drain()
	}
	if r := l.record(next.ID); r.State != claimdlq.StateQuarantined || r.Detail.String() != "LINEAGE:NOT_REVERSED" {
		t.Errorf("got %+v", r)
	}
	l.noDoubleFill()
}

// An 837 claim comes again under other numbers after its set was written off in doubt.
func TestIntake_ASetThatWasWrittenOffInDoubtKeepsItsClaimsBack(t *testing.T) { // promise 2, F13
	t.Parallel()
	b := rxSetup(t, "")
	b.deadLetter(generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3, ISA13: 1}), timedOut)
	b.withdraw(1)
	subs := len(b.submissions())
	res := b.rxIngest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 4, ISA13: 2}))
	if res.Conflicts != 3 || res.Accepted != 1 || res.Quarantined != 0 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	if len(b.submissions()) != subs+1 {
		t.Errorf("%d submissions", len(b.submissions()))
	}
	for _, r := range b.list(store.Filter{State: claimdlq.StateParked}) {
		if r.Detail.String() != earlierInDoubt || r.Scope != claimdlq.ScopeClaim || r.FateUnknown {
			t.Errorf("got %+v", r)
		}
		_, err := b.f.Retain.Unpark(t.Context(), ana, r.ID)
		b.must(err)
		for _, o := range []replay.Options{{}, {Unchanged: true}} {
			if got := b.replay(r.ID, o); got != claimdlq.InDoubtFirst {
				t.Errorf("replay %+v: %s", o, got)
			}
		}
	}
	// A set all of whose claims may be with the payer is kept whole.
	whole := b.rxIngest(generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3, ISA13: 3}))
	if whole.Conflicts != 3 {
		t.Fatalf("got %+v", whole)
	}
	parked := b.only(claimdlq.StateParked)
	if parked.Claims != 3 || parked.Detail.String() != earlierInDoubt {
		t.Errorf("got %+v", parked)
	}
	_, err := b.f.Retain.Unpark(t.Context(), ana, parked.ID)
	b.must(err)
	if got := b.replay(parked.ID, replay.Options{WrittenOff: true}); got != claimdlq.Replayed {
		t.Errorf("on a named person's word: %s", got)
	}
	if !strings.Contains(b.log.String(), "An earlier sending") {
		t.Error("no line says so")
	}
}
