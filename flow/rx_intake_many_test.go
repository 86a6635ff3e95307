package flow_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

func TestRxFile_SeveralBatchesAreTakenOneAfterTheOther(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	o := batchOf(300)
	o.BatchNumber = 7
	large := rxFile(t, o)
	file := slices.Concat(rxBatch(1, b1), []byte("\r\n"), rxBatch(2, b2, b1), large, []byte("\r\n\x1a"))
	res := b.rxIngest(file)
	if res.Batches != 3 || res.Claims != 303 || res.Accepted != 303 || res.Transmissions != 303 || res.Error != "" {
		t.Fatalf("got %+v", res)
	}
	for id, number := range map[claimdlq.ID]string{1: "0000001", 2: "0000002", 3: "0000002", 4: "0000007", 303: "0000007"} {
		if got := b.record(id).InterchangeID; got != number {
			t.Errorf("record %d is of batch %s", id, got)
		}
	}
	if h := b.record(2).Hold; h != claimdlq.HoldLineage {
		t.Errorf("the reversal of the second waits for the billing of the first: hold %q", h)
	}
	for _, s := range b.submissions() {
		b.sent(s)
	}
	for _, again := range [][]byte{file, large, rxBatch(2, b2, b1)} { // together or each by itself
		if res := b.rxIngest(again); res.Duplicates != res.Claims || len(b.submissions()) != 303 {
			t.Errorf("again: %+v", res)
		}
	}
}

func TestRxFile_ABrokenBatchStopsNoOtherOfItsFile(t *testing.T) { // promise 6
	t.Parallel()
	b := rxSetup(t, "")
	raw := func(n int) []byte { return rxOne(t, "B1", n) }
	cut := rxBatch(4, raw(5))
	file := slices.Concat(broken(1, raw(1), raw(2)), rxBatch(2, raw(3)), []byte("JUNK"), rxBatch(3, raw(4)), cut[:len(cut)-56])
	res := b.rxIngest(file)
	if res.Batches != 4 || res.Accepted != 1 || res.Quarantined != 5 || !strings.Contains(res.Error, "0000001") {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	for id, want := range map[claimdlq.ID]string{1: "NCPDP:BATCH:RECORD_COUNT", 2: "NCPDP:BATCH:RECORD_COUNT", 3: "NCPDP:BATCH:BATCH_FRAMING"} {
		if r := b.record(id); r.State != claimdlq.StateQuarantined || r.Detail.String() != want {
			t.Errorf("record %d: %s %s", id, r.State, r.Detail)
		}
	}
	// What comes again whole goes, in a file of several or not.
	if res := b.rxIngest(slices.Concat(rxBatch(11, raw(1), raw(2)), rxBatch(12, raw(3)), rxBatch(13, raw(4)), cut)); res.Accepted != 4 || res.Duplicates != 1 {
		t.Errorf("got %+v", res)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQueued: 5, claimdlq.StateQuarantined: 1})
}

func TestRxFile_AnInterruptedFileOfBatchesIsFinished(t *testing.T) { // F38
	t.Parallel()
	o := batchOf(20)
	o.BatchNumber = 1
	first := rxFile(t, o)
	o.BatchNumber, o.FirstClaim = 2, 21
	file := slices.Concat(first, rxFile(t, o))
	for stop := 1; ; stop++ {
		b := rxSetup(t, "")
		b.deps.Store = &stopper{Store: b.st, after: stop}
		b.assemble()
		_, err := b.f.Intake.File(t.Context(), source, "", bytes.NewReader(file))
		if err == nil {
			if stop < 5 {
				t.Fatalf("%d commits", stop)
			}
			return
		}
		b.deps.Store = b.st
		b.assemble()
		b.rxIngest(file)
		b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQueued: 40})
		if len(b.submissions()) != 40 {
			t.Fatalf("interrupted at %d: %d submissions", stop, len(b.submissions()))
		}
	}
}

func TestRxFile_AnAnswerBatchAmongBatchesOfClaimsIsKept(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	answer, err := b.payer.AdjudicateBatch(rxFile(t, testclaims.RxOptions{Seed: 5, Claims: 2, Batch: true}))
	b.must(err)
	claim := rxBatch(1, rxOne(t, "B1", 1))
	if res := b.rxIngest(slices.Concat(claim, answer)); res.Accepted != 1 || res.Quarantined != 2 || !strings.Contains(res.Error, "RESPONSE_AMONG_CLAIMS") {
		t.Errorf("got %+v", res)
	}
	if _, err := b.f.Intake.File(t.Context(), source, "", bytes.NewReader(slices.Concat(answer, claim))); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("got %v", err)
	}
	if n := len(b.list(store.Filter{})); n != 3 {
		t.Errorf("%d records", n)
	}
}
