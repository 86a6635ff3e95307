package flow_test

import (
	"testing"

	"claimdlq"
)

func TestRxIntake_BillReverseBillAreThreeClaims(t *testing.T) { // F1, 16
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	var ids []claimdlq.ID
	for i := range 6 {
		raw, as := b1, claimdlq.Paid
		if i%2 == 1 {
			raw, as = b2, claimdlq.Reversed
		}
		r := b.takes(raw, in).Records[0]
		if h := b.record(r.ID).Hold; h != claimdlq.HoldNone {
			t.Fatalf("step %d is held: %s", i, h)
		}
		b.takes(raw, dup)
		b.force(r.ID, as)
		if i%2 == 1 {
			b.takes(b2, dup) // nothing was billed since
		}
		ids = append(ids, r.ID)
	}
	keys := map[claimdlq.Key]bool{}
	for _, id := range ids {
		keys[b.record(id).Key] = true
	}
	if len(keys) != 6 {
		t.Errorf("%d keys", len(keys))
	}
}

func TestRxIntake_AReversalWaitsForItsBillingAndTheNextForIt(t *testing.T) { // F18
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	raws := [][]byte{b1, b2, b1, b2}
	for i, raw := range raws {
		r := b.record(b.takes(raw, in).Records[0].ID)
		if (r.Hold == claimdlq.HoldLineage) != (i > 0) {
			t.Errorf("step %d: hold %q", i, r.Hold)
		}
		s := b.submissions()[i]
		if (s.NotBefore.Sub(s.CreatedAt).Seconds() == 5) != (i > 0) || (s.Last.String() == "LINEAGE") != (i > 0) {
			t.Errorf("step %d: %+v", i, s)
		}
		if i > 0 {
			b.takes(raw, dup)
		}
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQueued: 4})
}

func TestRxIntake_ARefusedReversalLeavesTheBillingStanding(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	b.force(b.takes(b1, in).Records[0].ID, claimdlq.Paid)
	b.force(b.takes(b2, in).Records[0].ID, claimdlq.Rejected)
	b.takes(b1, dup)
	b.takes(rxSet(t, b1, "07-E7=90000"), conf)
	b.force(b.takes(b2, in).Records[0].ID, claimdlq.Reversed)
	b.takes(b1, in)
}

func TestRxIntake_AReversalKnowsWhichClaimOfTheFillItIsAbout(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxSet(t, rxOne(t, "B2", 1), "04-C3=") // which does not say for whom
	part, done := rxSet(t, b1, "07-HD=P"), rxSet(t, b1, "07-HD=C")
	b.force(b.takes(part, in).Records[0].ID, claimdlq.Paid)
	waiting := b.takes(done, in).Records[0].ID
	back := b.takes(rxSet(t, b2, "07-HD=P"), in).Records[0].ID // of the partial fill, which is paid
	if h := b.record(back).Hold; h != claimdlq.HoldNone {
		t.Errorf("it waits for another claim's fate: %s", h)
	}
	b.force(back, claimdlq.Reversed)
	b.takes(done, dup)
	b.takes(part, in)
	if h := b.record(waiting).Hold; h != claimdlq.HoldNone {
		t.Errorf("hold %s", h)
	}
	opened := 0
	b.must(b.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActOpen {
			opened++
		}
		return true
	}))
	if opened == 0 {
		t.Error("no payload was opened: how could it know?")
	}
}

func TestRxIntake_ARebillIsAClaimOfItsOwn(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	b1, b3 := rxOne(t, "B1", 1), rxOne(t, "B3", 1)
	first := b.takes(b1, in).Records[0].ID
	second := b.takes(b3, in).Records[0].ID
	if h := b.record(second).Hold; h != claimdlq.HoldLineage {
		t.Errorf("it does not wait for what it bills anew: %q", h)
	}
	b.force(first, claimdlq.Paid)
	b.force(second, claimdlq.Paid)
	b.takes(b3, dup)
	b.takes(b1, dup)
	b.takes(rxSet(t, b3, "07-E7=90000"), in)
}

func TestRxIntake_ARotatedKeyFindsWhatCameBefore(t *testing.T) { // F4
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	junk := []byte("999999D0ZZ nothing that can be read")
	first := b.takes(b1, in).Records[0]
	kept := b.takes(junk, bad).Records[0]
	b.deps.Identities = []*claimdlq.Identity{identity(2), identity(1)}
	b.assemble()
	if got := b.takes(b1, dup).Records[0]; got.ID != first.ID {
		t.Errorf("got %+v", got)
	}
	if got := b.takes(junk, dup).Records[0]; got.ID != kept.ID {
		t.Errorf("got %+v", got)
	}
	b.takes(rxSet(t, b1, "07-E7=90000"), conf)
	b.force(first.ID, claimdlq.Paid)
	back := b.record(b.takes(b2, in).Records[0].ID)
	if back.Batch != b.record(first.ID).Batch {
		t.Error("the fill fell apart when the key was rotated")
	}
	b.force(back.ID, claimdlq.Reversed)
	b.takes(b2, dup)
	b.takes(b1, in)
	b.takes(b1, dup)
}

func TestRxIntake_WhatCameToNothingMayComeAgain(t *testing.T) { // F12, F25
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	keys := map[claimdlq.Key]bool{}
	for range 4 {
		first := b.takes(raw, in).Records[0]
		keys[b.record(first.ID).Key] = true
		b.takes(raw, dup)
		b.force(first.ID, claimdlq.Rejected)
	}
	id := b.takes(raw, in).Records[0].ID
	b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(b.clock.now()) })
	keys[b.record(id).Key] = true
	b.takes(raw, in)
	if len(keys) != 5 {
		t.Errorf("%d keys of 5 tries", len(keys))
	}
}

func TestRxIntake_AQuarantinedClaimIsReplacedByOtherBytesOnly(t *testing.T) { // F12
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	id := b.takes(raw, in).Records[0].ID
	b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail("HTTP_503")}, b.clock.now())
	})
	if got := b.takes(raw, dup).Records[0]; got.ID != id || got.State != claimdlq.StateQuarantined {
		t.Errorf("got %+v", got)
	}
	b.takes(rxSet(t, raw, "07-E7=90000"), in)
}
