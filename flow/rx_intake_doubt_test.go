package flow_test

import (
	"bytes"
	"slices"
	"testing"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/lineage"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

var timedOut = intake.DeadLetter{Class: claimdlq.Transient, Detail: claimdlq.NewDetail("TIMEOUT"), Attempts: 2, Ambiguous: true}

// doubtful are files of claims that another pipeline may have sent.
func doubtful(t *testing.T) map[string][]byte {
	t.Helper()
	part := testclaims.RxOptions{Seed: 4, Claims: 6, TransactionsPer: 3, Batch: true}
	return map[string][]byte{
		"837": generate(t, testclaims.Options{Claims: 3}), "message": rxOne(t, "B1", 1),
		"four":   rxMessages(t, testclaims.RxOptions{Claims: 4, TransactionsPer: 4})[0],
		"framed": rxFile(t, testclaims.RxOptions{Claims: 3, Framed: true}),
		"batch":  rxFile(t, part), "chunks": rxFile(t, batchOf(300)),
	}
}

// inquirable fails unless each record is in doubt and its submission carries it.
func (b *rxBench) inquirable() {
	b.t.Helper()
	for _, r := range b.list(store.Filter{}) {
		if r.State != claimdlq.StateInDoubt || !r.FateUnknown || r.Submission == 0 || r.Reason != claimdlq.OutcomeUnknown || r.Detail.String() != "TIMEOUT" {
			b.t.Fatalf("record %+v", r)
		}
		s, err := b.st.Submission(b.t.Context(), r.Submission)
		b.must(err)
		if s.State != claimdlq.SubmissionInDoubt || !slices.ContainsFunc(s.Members, func(m claimdlq.IDRange) bool { return m.First <= r.ID && r.ID <= m.Last }) {
			b.t.Fatalf("record %d: submission %+v", r.ID, s)
		}
	}
}

func TestDeadLetter_ACrashInAnAmbiguousOneIsMendedByItsRedelivery(t *testing.T) { // F13, F38, promise 2
	t.Parallel()
	for name, file := range doubtful(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, after := range []bool{false, true} {
				for n := 1; ; n++ {
					b := rxSetup(t, "")
					d := &dying{Store: b.st, left: n, after: after}
					b.deps.Store = d
					b.assemble()
					_, err := b.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(file), timedOut)
					if err == nil && !d.dead {
						if n < 4 {
							t.Fatalf("%d commits", n)
						}
						b.inquirable()
						break
					}
					b.deps.Store = b.st
					b.assemble()
					b.conserved()
					for range 2 {
						res := b.deadLetter(file, timedOut)
						if res.InDoubt+res.Duplicates != res.Claims {
							t.Fatalf("crash at %d: %+v", n, res)
						}
						b.inquirable()
					}
					if live := b.rxIngest(file); live.Duplicates != live.Claims {
						t.Fatalf("crash at %d, live: %+v", n, live)
					}
				}
			}
		})
	}
}

// An inquiry sends the bytes that the other pipeline sent, whatever they came in.
func TestDeadLetter_WhatIsInDoubtCanBeAskedAbout(t *testing.T) { // F13
	t.Parallel()
	for name, file := range doubtful(t) {
		if name == "837" {
			continue // the payer asks for acknowledgments there
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			res := b.deadLetter(file, timedOut)
			b.inquirable()
			for _, s := range b.submissions() {
				b.sent(s)
			}
			_, err := b.f.Settle.InquireAll(t.Context(), ana, store.Filter{})
			b.must(err)
			b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: res.Claims})
			if again := b.deadLetter(file, timedOut); again.Duplicates != res.Claims {
				t.Errorf("again: %+v", again)
			}
			b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: res.Claims})
		})
	}
}

// What an answer makes wait again is no crash.
func TestDeadLetter_WhatWasAnsweredSinceIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim 1 capture")
	raw := rxOne(t, "B1", 1)
	b.deadLetter(raw, timedOut)
	_, err := b.f.Settle.InquireAll(t.Context(), ana, store.Filter{})
	b.must(err)
	was := b.record(1)
	b.deadLetter(raw, timedOut)
	if r := b.record(1); was.State != claimdlq.StateSubmitted || r.State != was.State || r.Revision != was.Revision {
		t.Errorf("was %+v, is %+v", was, r)
	}
}

// What differs from a claim that stands is in doubt all the same where it may have been
// sent: no detour leads to a blind re-send.
func TestDeadLetter_AnAmbiguousConflictKeepsItsDoubt(t *testing.T) { // promise 2
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	b.force(b.takes(raw, in).Records[0].ID, claimdlq.Paid)
	other := rxSet(t, raw, "07-E7=90000")
	if res := b.deadLetter(other, timedOut); res.Claims != 1 || res.InDoubt != 1 || len(res.Held) != 1 || res.Held[0].State != claimdlq.StateInDoubt {
		t.Errorf("got %+v", res)
	}
	if res := b.deadLetter(other, timedOut); res.Claims != 1 || res.Duplicates != 1 || len(res.Held) != 1 || res.Held[0].Status != dup {
		t.Errorf("again: %+v", res)
	}
	if r := b.record(2); r.State != claimdlq.StateInDoubt || !r.FateUnknown || r.Submission == 0 || r.AttemptCount != 2 {
		t.Errorf("got %+v", r)
	}
	b.ingest(generate(t, testclaims.Options{Claims: 1, Seed: 1}))
	b.deadLetter(generate(t, testclaims.Options{Claims: 1, Seed: 2}), timedOut)
	if r := b.record(4); r.State != claimdlq.StateInDoubt || !r.FateUnknown || r.AttemptCount != 2 || r.Submission == 0 {
		t.Errorf("got %+v", r)
	}
	if r := b.record(3); r.State != claimdlq.StateQueued {
		t.Errorf("other claims under the same numbers: %+v", r)
	}
}

func TestDeadLetter_AnAmbiguousOneOfACrowdedFillKeepsItsDoubt(t *testing.T) { // promise 2
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	for range lineage.MaxMates {
		b.force(b.takes(raw, in).Records[0].ID, claimdlq.Rejected)
	}
	b.deadLetter(raw, timedOut)
	if r := b.record(lineage.MaxMates + 1); r.State != claimdlq.StateInDoubt || !r.FateUnknown || r.Submission == 0 {
		t.Errorf("got %+v", r)
	}
}
