package flow_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

func batchOf(claims int) testclaims.RxOptions {
	return testclaims.RxOptions{Seed: 4, Claims: claims, Batch: true}
}

func TestRxFile_ABatchGoesOutWhenItsTrailerIsGood(t *testing.T) {
	t.Parallel()
	for _, per := range []int{1, 3} {
		b := rxSetup(t, "")
		o := batchOf(600)
		o.TransactionsPer = per
		file := rxFile(t, o)
		res := b.rxIngest(file)
		if res.Claims != 600 || res.Accepted != 600 || res.Batches != 1 || res.Transmissions != 600/per || res.Error != "" {
			t.Errorf("got %+v", res)
		}
		o.Batch = false
		for i, raw := range rxMessages(t, o) {
			s := b.submissions()[i]
			if !s.Bulk || s.State != claimdlq.SubmissionReady || !bytes.Equal(b.sent(s), raw) || per == 1 && s.Digest == (claimdlq.Digest{}) {
				t.Fatalf("submission %d: %+v", i, s)
			}
		}
		r := b.record(1)
		if r.Usage != "T" || r.InterchangeID != "0000001" {
			t.Errorf("got %+v", r)
		}
		units := map[string]bool{}
		for _, r := range b.list(store.Filter{}) {
			units[r.Payload.Unit] = true
		}
		if want := (600/per + 255) / 256; len(units) != want {
			t.Errorf("%d units, want %d", len(units), want)
		}
		subs := len(b.submissions())
		if again := b.rxIngest(file); again.Duplicates != 600 || again.Claims != 600 || len(b.submissions()) != subs {
			t.Errorf("again: %+v, %d submissions", again, len(b.submissions()))
		}
	}
}

func TestRxFile_ABrokenBatchIsHeldBackAndItsSuccessorGoes(t *testing.T) { // ncpdp.md A10
	t.Parallel()
	for _, fault := range []string{"batch-header", "batch-count", "batch-number", "no-trailer", "after-trailer", "batch-junk", "truncated", "reference-twice", "reference-blank"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			o := batchOf(300)
			good := rxFile(t, o)
			o.BatchNumber = 2
			resent := rxFile(t, o)
			o.BatchNumber, o.Faults = 1, []testclaims.Fault{{Name: fault, At: []int{7}}}
			if k := o.Faults[0]; fault != "reference-twice" && fault != "reference-blank" {
				k.At = []int{1}
				o.Faults[0] = k
			}
			broken := rxFile(t, o)
			res := b.rxIngest(broken)
			if res.Accepted != 0 || res.Quarantined < 300 || len(b.submissions()) != 0 || !strings.Contains(res.Error, "NCPDP:BATCH:") && !strings.Contains(res.Error, "no readable message") {
				t.Fatalf("got %+v", res)
			}
			held := 0
			for _, r := range b.list(store.Filter{}) {
				if r.State != claimdlq.StateQuarantined {
					t.Fatalf("record %d is %s", r.ID, r.State)
				}
				if strings.HasPrefix(r.Detail.String(), "NCPDP:BATCH:") {
					held++
				}
			}
			if held < 299 {
				t.Errorf("%d records are held back for the batch", held)
			}
			if again := b.rxIngest(broken); again.Accepted != 0 || len(b.submissions()) != 0 {
				t.Errorf("again: %+v", again)
			}
			for i, file := range [][]byte{good, resent, good} {
				res := b.rxIngest(file)
				subs := b.submissions()
				if i == 0 && res.Accepted < 299 || i > 0 && res.Duplicates != 300 || res.Error != "" {
					t.Errorf("good file %d: %+v", i, res)
				}
				if len(subs) != 300 {
					t.Fatalf("%d submissions", len(subs))
				}
			}
			seen := map[string]bool{}
			for _, s := range b.submissions() {
				seen[string(b.sent(s))] = true
			}
			if len(seen) != 300 {
				t.Errorf("%d different claims go out", len(seen))
			}
		})
	}
}

func TestRxFile_AResentBatchUnderANewNumberTakesOverWhatABrokenOneHeld(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	o := batchOf(40)
	o.BatchNumber = 2
	resent := rxFile(t, o)
	o.BatchNumber, o.Faults = 1, []testclaims.Fault{{Name: "batch-count", At: []int{1}}}
	b.rxIngest(rxFile(t, o))
	if res := b.rxIngest(resent); res.Accepted != 40 {
		t.Errorf("got %+v", res)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQueued: 40})
	for _, s := range b.submissions() {
		b.sent(s)
	}
}

func TestRxFile_AClaimOfABrokenBatchMayComeAlone(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	o := batchOf(3)
	o.Faults = []testclaims.Fault{{Name: "no-trailer", At: []int{1}}}
	b.rxIngest(rxFile(t, o))
	o.Faults, o.Batch = nil, false
	raw := rxMessages(t, o)[1]
	got := b.takes(raw, in).Records[0]
	if s := b.submissions(); len(s) != 1 || !bytes.Equal(b.sent(s[0]), raw) || s[0].Members[0].First != got.ID {
		t.Errorf("got %+v", s)
	}
	b.takes(raw, dup)
	// Given again whole, the batch sends what is left.
	o.Batch = true
	if res := b.rxIngest(rxFile(t, o)); res.Accepted != 2 || res.Duplicates != 1 || len(b.submissions()) != 3 {
		t.Errorf("got %+v", res)
	}
}

func TestRxFile_ABadTransactionOfABatchStopsNoOther(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	o := batchOf(300)
	o.TransactionsPer = 4
	o.Faults = []testclaims.Fault{{Name: "bad-money", At: []int{4, 10, 297}}, {Name: "header-short", At: []int{5}}}
	file := rxFile(t, o)
	res := b.rxIngest(file)
	if res.Accepted != 293 || res.Quarantined != 4 && res.Quarantined != 7 || res.Claims != res.Accepted+res.Quarantined {
		t.Errorf("got %+v", res)
	}
	var claims int
	for _, s := range b.submissions() {
		claims += int(s.Members[0].Last-s.Members[0].First) + 1
		raw := b.sent(s)
		if n := bytes.Count(raw, []byte{0x1d}); n != int(s.Members[0].Last-s.Members[0].First)+1 {
			t.Errorf("submission %d carries %d transactions for %v", s.ID, n, s.Members)
		}
	}
	if claims != 293 {
		t.Errorf("%d claims go out", claims)
	}
	if again := b.rxIngest(file); again.Accepted != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestRxFile_BillingsAndReversalsOfOneBatchKeepTheirOrder(t *testing.T) { // F1, F18
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	file := rxBatch(1, b1, b2, b1, b2, b1)
	res := b.rxIngest(file)
	if res.Accepted != 5 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	for id := claimdlq.ID(1); id <= 5; id++ {
		r, s := b.record(id), b.submissions()[id-1]
		if waits := id > 1; (r.Hold == claimdlq.HoldLineage) != waits || s.NotBefore.After(s.CreatedAt) != waits {
			t.Errorf("record %d: hold %q, %+v", id, r.Hold, s)
		}
	}
	if again := b.rxIngest(file); again.Duplicates != 5 {
		t.Errorf("again: %+v", again)
	}
	for id := claimdlq.ID(1); id <= 5; id++ {
		d := claimdlq.Paid
		if id%2 == 0 {
			d = claimdlq.Reversed
		}
		b.force(id, d)
	}
	// A redelivery bills nothing, although the last of them would be new after a reversal.
	if again := b.rxIngest(rxBatch(1, b1, b2, b1, b2, b1)); again.Duplicates != 5 || len(b.submissions()) != 5 {
		t.Errorf("again: %+v", again)
	}
}

// rxBatch writes a batch of the messages.
func rxBatch(number int, messages ...[]byte) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "\x0200TTESTSENDER              %07d202607171200T12TESTPAYER               \x03", number)
	for i, m := range messages {
		fmt.Fprintf(&out, "\x02G1%010d%s\x03", i+1, m)
	}
	fmt.Fprintf(&out, "\x0299%07d%010d%35s\x03", number, len(messages)+2, "")
	return out.Bytes()
}

func TestRxFile_AnInterruptedBatchIsFinishedByItsRedelivery(t *testing.T) {
	t.Parallel()
	o := batchOf(700)
	o.TransactionsPer = 2
	o.Faults = []testclaims.Fault{{Name: "bad-money", Every: 50}}
	file := rxFile(t, o)
	whole := rxSetup(t, "")
	want := whole.rxIngest(file).Accepted
	for stop := 1; ; stop++ {
		b := rxSetup(t, "")
		at := &stopper{Store: b.st, after: stop}
		b.deps.Store = at
		b.assemble()
		_, err := b.f.Intake.File(t.Context(), source, "", bytes.NewReader(file))
		if err == nil {
			if stop < 5 {
				t.Fatalf("%d commits", stop)
			}
			return
		}
		if !errors.Is(err, claimdlq.Unavailable) {
			t.Fatal(err)
		}
		b.conserved()
		b.deps.Store = b.st
		b.assemble()
		b.rxIngest(file)
		subs := b.submissions()
		sent := map[claimdlq.ID]bool{}
		for _, s := range subs {
			for id := s.Members[0].First; id <= s.Members[0].Last; id++ {
				if sent[id] {
					t.Fatalf("interrupted at commit %d: record %d goes out twice", stop, id)
				}
				sent[id] = true
			}
			b.sent(s)
		}
		if int64(len(sent)) != want || b.states()[claimdlq.StateQueued] != want {
			t.Fatalf("interrupted at commit %d: %d claims go out, want %d: %v", stop, len(sent), want, b.states())
		}
		if res := b.rxIngest(file); res.Accepted != 0 || len(b.submissions()) != len(subs) {
			t.Fatalf("given a third time: %+v", res)
		}
	}
}

func TestRxFile_AnAnswerBatchIsRefused(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	answer, err := b.payer.AdjudicateBatch(rxFile(t, batchOf(3)))
	b.must(err)
	if _, err := b.f.Intake.File(t.Context(), source, "", bytes.NewReader(answer)); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("got %v", err)
	}
	if n := len(b.list(store.Filter{})); n != 0 {
		t.Errorf("%d records", n)
	}
}
