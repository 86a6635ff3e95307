package flow_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/intake"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// broken returns a batch of the messages whose trailer counts wrong.
func broken(number int, messages ...[]byte) []byte {
	b := rxBatch(number, messages...)
	b[len(b)-37]++ // the last digit of 751
	return b
}

func TestRxFile_AnAloneClaimTakesOverWhatAnInterruptedBatchHolds(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	one, two := rxOne(t, "B1", 1), rxOne(t, "B1", 2)
	file := rxBatch(1, one, two)
	b.deps.Store = &stopper{Store: b.st, after: 2}
	b.assemble()
	if _, err := b.f.Intake.File(t.Context(), source, "", bytes.NewReader(file)); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
	b.deps.Store = b.st
	b.assemble()
	if len(b.submissions()) != 0 {
		t.Fatal("it was not interrupted")
	}
	b.takes(two, in)
	b.takes(two, dup)
	if res := b.rxIngest(file); res.Accepted != 1 || res.Duplicates != 1 || len(b.submissions()) != 2 {
		t.Errorf("got %+v", res)
	}
}

func TestRxIntake_WhatWasHeldBackIsTakenOverOnce(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	b.rxIngest(broken(1, raw))
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQuarantined: 1})
	rs, err := b.f.Intake.Messages(t.Context(), source, []phi.Bytes{phi.Wrap(raw), phi.Wrap(raw)}, intake.MessageOptions{})
	b.must(err)
	if rs[0].Records[0].Status != in || rs[1].Records[0].Status != dup || rs[0].Records[0].ID != rs[1].Records[0].ID || len(b.submissions()) != 1 {
		t.Errorf("got %+v", rs)
	}
}

func TestRxIntake_ATransactionThatWaitsGoesAlone(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxMessages(t, testclaims.RxOptions{Claims: 2, TransactionsPer: 2, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1})[0]
	m := ncpdp.Parse(raw)
	one, err := ncpdp.Cut(m, 1)
	b.must(err)
	back, err := ncpdp.BuildReversal(m, 1, ncpdp.Reversal{})
	b.must(err)
	b.takes(one, in)
	b.takes(back, in)
	b.takes(raw, in, in)
	subs := b.submissions()
	if len(subs) != 4 || subs[2].Last.String() != "LINEAGE" || !subs[3].Last.IsZero() {
		t.Fatalf("got %+v", subs)
	}
	for _, s := range subs {
		if got := b.sent(s); bytes.Count(got, []byte{0x1d}) != 1 {
			t.Errorf("submission %d carries more than one transaction", s.ID)
		}
	}
}

// slow is a store whose look-ups take a while.
type slow struct{ store.Store }

func (s *slow) Lookup(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Record, error) {
	rs, err := s.Store.Lookup(ctx, ref, limit)
	<-time.After(time.Second)
	return rs, err
}

func TestRxIntake_TheSameAtTheSameMomentIsTakenInOnce(t *testing.T) { // F14
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := rxSetup(t, "", func(d *flow.Deps) { d.Store = &slow{d.Store} })
		raw, junk := rxOne(t, "B1", 1), []byte("999999D0ZZ")
		start := time.Now()
		statuses := make(chan intake.Status)
		for range 3 {
			for _, m := range [][]byte{raw, junk} {
				go func() {
					r, err := b.f.Intake.Message(t.Context(), source, phi.Wrap(m), intake.MessageOptions{})
					if err != nil {
						t.Error(err)
					}
					statuses <- r.Records[0].Status
				}()
			}
		}
		got := map[intake.Status]int{}
		for range 6 {
			got[<-statuses]++
		}
		if got[in] != 1 || got[bad] != 1 || got[dup] != 4 {
			t.Errorf("got %v", got)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("it took %s: three look-ups of one fill, one after another, take three seconds", d)
		}
		// Others do not wait for them.
		start = time.Now()
		done := make(chan error)
		for n := range 10 {
			go func() {
				_, err := b.f.Intake.Message(t.Context(), source, phi.Wrap(rxOne(t, "B1", n+2)), intake.MessageOptions{})
				done <- err
			}()
		}
		for range 10 {
			b.must(<-done)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("ten claims took %s: they waited for each other", d)
		}
	})
}

func TestRxFile_PartsOfABrokenBatchsTransmissionsGoAlone(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	o := batchOf(40)
	o.TransactionsPer = 4
	o.Faults = []testclaims.Fault{{Name: "bad-money", At: []int{3, 21}}}
	o.BatchNumber = 2
	resent := rxFile(t, o)
	o.BatchNumber, o.Faults = 1, append(o.Faults, testclaims.Fault{Name: "batch-count", At: []int{1}})
	b.rxIngest(rxFile(t, o))
	if res := b.rxIngest(resent); res.Accepted != 38 || res.Duplicates != 2 {
		t.Errorf("got %+v", res)
	}
	claims := 0
	for _, s := range b.submissions() {
		claims += bytes.Count(b.sent(s), []byte{0x1d})
	}
	if claims != 38 {
		t.Errorf("%d claims go out", claims)
	}
}

func TestRxFile_ARedeliveredBatchLeavesAloneWhatCameAnotherWay(t *testing.T) { // F18
	t.Parallel()
	b := rxSetup(t, "")
	one, two := rxOne(t, "B1", 1), rxOne(t, "B1", 2)
	b.rxIngest(broken(1, one, two))
	b.force(b.takes(rxSet(t, one, "07-E7=90000"), in).Records[0].ID, claimdlq.Paid) // corrected by the pharmacy
	if res := b.rxIngest(rxBatch(1, one, two)); res.Accepted != 1 || res.Duplicates != 1 {
		t.Errorf("got %+v", res)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1, claimdlq.StateQuarantined: 1, claimdlq.StateQueued: 1})
}

func TestRxFile_ABrokenBatchKeepsItsOrderWhenItComesAgain(t *testing.T) { // F18
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	b.rxIngest(broken(1, b1, b2, b1))
	if res := b.rxIngest(rxBatch(1, b1, b2, b1)); res.Accepted != 3 || res.Claims != 3 {
		t.Fatalf("got %+v", res)
	}
	for id := claimdlq.ID(1); id <= 3; id++ {
		if h := b.record(id).Hold; (h == claimdlq.HoldLineage) != (id > 1) {
			t.Errorf("record %d: hold %q", id, h)
		}
	}
	if n := len(b.submissions()); n != 3 {
		t.Errorf("%d submissions", n)
	}
}

// What was taken in is paid once, reversed, and paid again, through the whole flow.
func TestRxIntake_WhatIsTakenInEndsAtThePayer(t *testing.T) { // 2
	t.Parallel()
	b := rxSetup(t, "")
	o := testclaims.RxOptions{Seed: 9, Claims: 120, TransactionsPer: 3, Batch: true}
	res := b.rxIngest(rxFile(t, o))
	b.rxIngest(broken(7, rxOne(t, "B1", 501), rxOne(t, "B2", 501), rxOne(t, "B1", 501)))
	b.rxIngest(rxBatch(7, rxOne(t, "B1", 501), rxOne(t, "B2", 501), rxOne(t, "B1", 501)))
	b.takes(rxOne(t, "B1", 500), in)
	b.takes(rxOne(t, "B2", 500), in)
	b.takes(rxOne(t, "B1", 500), in)
	for range 10 {
		b.drain()
		b.clock.pass(time.Minute)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: res.Accepted + 6})
	if d := b.payer.DoubleFills(); len(d) > 0 {
		t.Errorf("%d fills were paid while a payment stood", len(d))
	}
	for _, r := range b.list(store.Filter{}) {
		if want := claimdlq.Paid; r.TransactionID == "B1" && r.Disposition != want || r.TransactionID == "B2" && r.Disposition != claimdlq.Reversed {
			t.Errorf("record %d, %s: %s %s", r.ID, r.TransactionID, r.Disposition, r.Detail)
		}
	}
}
