package flow_test

import (
	"bytes"
	"testing"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/phi"
	"claimdlq/store"
)

func (b *rxBench) withdraw(id claimdlq.ID) {
	b.t.Helper()
	b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(b.clock.now()) })
}

// What was written off and is given again is kept again, for a person to see, as long
// as the claim that it differs from stands; then it goes.
func TestRxIntake_AWithdrawnCopyThatComesAgainIsKeptAgain(t *testing.T) { // 8, F12
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	other, third := rxSet(t, raw, "07-E7=90000"), rxSet(t, raw, "07-E7=80000")
	first := b.takes(raw, in).Records[0].ID
	keys := map[claimdlq.Key]bool{}
	for range 3 {
		for _, spelled := range [][]byte{other, third} {
			id := b.takes(spelled, conf).Records[0].ID
			b.takes(spelled, dup)
			r := b.record(id)
			if r.State != claimdlq.StateParked || r.Detail.String() != "KEY_CONFLICT" {
				t.Fatalf("got %+v", r)
			}
			keys[r.Key] = true
			b.withdraw(id)
		}
	}
	if len(keys) != 6 || len(b.submissions()) != 1 {
		t.Errorf("%d keys, %d submissions", len(keys), len(b.submissions()))
	}
	b.takes(raw, dup)
	b.force(first, claimdlq.Rejected)
	b.takes(other, in)
	b.takes(raw, conf)
}

func TestRxIntake_AWithdrawnCopyIsForgottenByItsReversal(t *testing.T) { // F18
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	first := b.takes(raw, in).Records[0].ID
	b.withdraw(b.takes(rxSet(t, raw, "07-E7=90000"), conf).Records[0].ID)
	b.step(first, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient}, b.clock.now())
	})
	back := b.record(b.takes(rxOne(t, "B2", 1), in).Records[0].ID)
	if back.Hold != claimdlq.HoldLineage {
		t.Errorf("it does not wait for the billing that a person may still send: %q", back.Hold)
	}
	if v, err := lineage.Wait(t.Context(), b.st, back); err != nil || v.Move != lineage.Waits || v.For != first {
		t.Errorf("got %+v, %v", v, err)
	}
}

// A copy that went after all and came to nothing leaves its key taken.
func TestRxIntake_ACopyThatWasRejectedMayComeAgain(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	other := rxSet(t, raw, "07-E7=90000")
	first := b.takes(raw, in).Records[0].ID
	copied := b.takes(other, conf).Records[0].ID
	b.force(first, claimdlq.Rejected)
	b.force(copied, claimdlq.Rejected)
	b.takes(raw, in)
	b.takes(other, conf)
	b.takes(other, dup)
}

func TestRxIntake_ACrowdedFillAnswersWhatComesAgain(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	for range lineage.MaxMates {
		b.force(b.takes(raw, in).Records[0].ID, claimdlq.Rejected)
	}
	for range 2 {
		rs, err := b.f.Intake.Messages(t.Context(), source, []phi.Bytes{phi.Wrap(raw), phi.Wrap(raw)}, intake.MessageOptions{})
		b.must(err)
		kept := rs[0].Records[0]
		if kept.Status != bad || kept.Detail.String() != "LINEAGE:CROWDED" || rs[1].Records[0].Status != dup || rs[1].Records[0].ID != kept.ID {
			t.Fatalf("got %+v", rs)
		}
		if got := b.takes(raw, dup).Records[0]; got.ID != kept.ID {
			t.Errorf("got %+v", got)
		}
		b.withdraw(kept.ID)
	}
}

// A person has sent the claim to another payer: its key is still that of what came.
func TestRxIntake_AClaimThatWasCorrectedToAnotherPayerIsKnown(t *testing.T) { // F14, promise 2
	t.Parallel()
	for _, tt := range []struct {
		name  string
		as    claimdlq.Disposition
		same  intake.Status
		other intake.Status
	}{
		{"under way", claimdlq.DispositionNone, dup, conf},
		{"paid", claimdlq.Paid, dup, conf},
		{"rejected", claimdlq.Rejected, in, in},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, changed := range []bool{false, true} {
				b := rxSetup(t, "")
				raw, want := rxOne(t, "B1", 1), tt.same
				id := b.takes(raw, in).Records[0].ID
				b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
					return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal}, b.clock.now())
				})
				doc, err := b.f.Correct.Document(t.Context(), ana, id)
				b.must(err)
				moved := bytes.Replace(bytes.Clone(doc.Reveal()), b.bin(id), []byte("999001"), 1)
				p, err := b.f.Correct.Propose(t.Context(), ana, id, phi.Wrap(moved))
				b.must(err)
				_, err = b.f.Correct.Apply(t.Context(), ana, p)
				b.must(err)
				_, _, err = b.f.Replay.One(t.Context(), ana, id, replay.Options{Unchanged: true})
				b.must(err)
				if r := b.record(id); r.Partner[:6] != "999001" || r.State != claimdlq.StateQueued {
					t.Fatalf("it is not on its way to the other payer: %+v", r)
				}
				if tt.as != claimdlq.DispositionNone {
					b.force(id, tt.as)
				}
				if changed {
					raw, want = rxSet(t, raw, "07-E7=90000"), tt.other
				}
				b.takes(raw, want)
				b.takes(raw, dup)
			}
		})
	}
}

// bin returns the 101-A1 of a record that was not corrected.
func (b *rxBench) bin(id claimdlq.ID) []byte { return []byte(b.record(id).Partner[:6]) }

// A reversal since makes the kept billing one of before: what comes again is another.
func TestRxIntake_WhatAReversalHasPassedIsNotTakenUpAgain(t *testing.T) { // F1, F18
	t.Parallel()
	for _, decided := range []bool{true, false} {
		b := rxSetup(t, "")
		b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
		b.force(b.takes(b1, in).Records[0].ID, claimdlq.Paid)
		refused := b.takes(b2, in).Records[0].ID
		stopped := b.takes(b1, in).Records[0].ID // it waits for the reversal
		b.force(refused, claimdlq.Rejected)
		b.step(stopped, func(r claimdlq.Record) (claimdlq.Record, error) {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: claimdlq.NewDetail("LINEAGE:NOT_REVERSED")}, b.clock.now())
		})
		back := b.takes(b2, in).Records[0].ID
		if decided {
			b.force(back, claimdlq.Reversed)
		}
		again := b.takes(b1, in).Records[0].ID
		if again < back {
			t.Errorf("decided %v: record %d stands before its reversal %d", decided, again, back)
		}
		b.takes(b1, dup)
		if !decided {
			if v, err := lineage.Wait(t.Context(), b.st, b.record(again)); err != nil || v.Move != lineage.Waits || v.For != back {
				t.Errorf("it does not wait for the reversal: %+v, %v", v, err)
			}
			b.force(back, claimdlq.Reversed)
		}
		if v, err := lineage.Wait(t.Context(), b.st, b.record(again)); err != nil || v.Move != lineage.Goes {
			t.Errorf("decided %v: got %+v, %v", decided, v, err)
		}
		b.force(again, claimdlq.Paid)
		b.force(b.takes(b2, in).Records[0].ID, claimdlq.Reversed) // and it can be taken back
		if n := len(b.list(store.Filter{State: claimdlq.StateQuarantined})); n != 1 {
			t.Errorf("%d are left for a person", n)
		}
	}
}

// The same where what a reversal passed has not been stopped yet.
func TestRxIntake_ABillingBehindALostReversalIsNoDuplicateAfterTheNext(t *testing.T) { // F1, F18
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	b.force(b.takes(b1, in).Records[0].ID, claimdlq.Paid)
	refused := b.takes(b2, in).Records[0].ID
	stale := b.takes(b1, in).Records[0].ID
	b.force(refused, claimdlq.Rejected)
	back := b.takes(b2, in).Records[0].ID
	again := b.takes(b1, in).Records[0].ID
	if again < back || again == stale {
		t.Errorf("record %d answers for what came after the reversal %d", again, back)
	}
}

func TestRxFile_ABatchTakesNothingUpThatAReversalHasPassed(t *testing.T) { // F18
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	b.rxIngest(broken(1, b1))                                                      // 1, held back
	b.force(b.takes(rxSet(t, b1, "07-E7=90000"), in).Records[0].ID, claimdlq.Paid) // 2
	back := b.takes(b2, in).Records[0].ID                                          // 3
	b.force(back, claimdlq.Reversed)                                               //
	if res := b.rxIngest(rxBatch(2, b1)); res.Accepted != 1 || b.record(1).State.Unresolved() && b.record(1).State != claimdlq.StateQuarantined {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	last := b.list(store.Filter{State: claimdlq.StateQueued})
	if len(last) != 1 || last[0].ID < back {
		t.Fatalf("got %+v", last)
	}
	b.force(last[0].ID, claimdlq.Paid)
	b.takes(b2, in)
}
