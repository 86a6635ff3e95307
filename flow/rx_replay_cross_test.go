package flow_test

import (
	"testing"

	"claimdlq"
	"claimdlq/flow/replay"
)

func TestRxReplay_ABillingDoesNotCrossALaterReversalThatMayArrive(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	first := b.take(b1).ID
	other := b.takes(rxSet(t, b1, "07-D5=017"), conf).Records[0].ID
	b.force(first, claimdlq.Rejected)
	back := b.take(b2).ID // goes at once: nothing stands that it could wait for
	_, err := b.f.Retain.Unpark(t.Context(), ana, other)
	b.must(err)
	if got := b.replay(other, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("beside a reversal that may be sent at any moment: %s\n%s", got, b.dump())
	}
	if d := b.lastDetail(other); d != "REPLAY:CROSSED" {
		t.Errorf("the audit log says %s", d)
	}
	b.doubt(back)
	if got := b.replay(other, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
		t.Fatalf("beside a reversal in doubt: %s\n%s", got, b.dump())
	}
	b.step(back, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Settle(claimdlq.Rejected, testCode, b.clock.now())
	})
	if got := b.replay(other, replay.Options{Unchanged: true}); got != claimdlq.Replayed {
		t.Fatalf("once the reversal was refused: %s\n%s", got, b.dump())
	}
}

func TestRxReplay_AReversalThatWaitsForTheBillingIsNoObstacle(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	id := b.take(rxOne(t, "B1", 1)).ID
	b.exhaust(id)
	back := b.take(rxOne(t, "B2", 1)).ID
	if h := b.record(back).Hold; h != claimdlq.HoldLineage {
		t.Fatalf("the reversal is held %q", h)
	}
	if got := b.replay(id, replay.Options{Unchanged: true}); got != claimdlq.Replayed {
		t.Fatalf("got %s\n%s", got, b.dump())
	}
}

func TestRxReplay_AStaleReversalDoesNotTakeBackWhatWasBilledSince(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	old := b.take(b2).ID // of a claim billed elsewhere
	_, err := b.f.Retain.Park(t.Context(), ana, old)
	b.must(err)
	b.withdraw(b.take(rxSet(t, b2, "04-C1=GRP2")).ID) // another spelling
	anew := b.take(b1).ID
	_, err = b.f.Retain.Unpark(t.Context(), ana, old)
	b.must(err)
	b.step(anew, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Held(claimdlq.HoldNone, b.clock.now()) })
	if got := b.replay(old, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed || b.lastDetail(old) != "REPLAY:CROSSED" {
		t.Fatalf("while it is billed anew: %s %s\n%s", got, b.lastDetail(old), b.dump())
	}
	b.force(anew, claimdlq.Paid)
	if got := b.replay(old, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed || b.lastDetail(old) != "REPLAY:OVERTAKEN" {
		t.Fatalf("once it was billed anew: %s %s\n%s", got, b.lastDetail(old), b.dump())
	}
}
