package flow_test

import (
	"bytes"
	"errors"
	"testing"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

func (b *rxBench) deadLetter(file []byte, d intake.DeadLetter) intake.Result {
	b.t.Helper()
	res, err := b.f.Intake.DeadLetter(b.t.Context(), source, bytes.NewReader(file), d)
	b.must(err)
	b.conserved()
	if res.Claims != res.Accepted+res.Quarantined+res.Duplicates+res.Conflicts+res.InDoubt {
		b.t.Errorf("result does not add up: %+v", res)
	}
	return res
}

var givenUp = intake.DeadLetter{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail("HTTP_503"), Attempts: 5}

func TestDeadLetter_NothingOfItGoesOut(t *testing.T) { // 13, 42, F26
	t.Parallel()
	for name, file := range map[string][]byte{
		"837": generate(t, testclaims.Options{Claims: 3}), "message": rxOne(t, "B1", 1),
		"batch": rxFile(t, batchOf(3)), "framed": rxFile(t, testclaims.RxOptions{Claims: 3, Framed: true}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			res := b.deadLetter(file, givenUp)
			if res.Quarantined != res.Claims || res.Claims == 0 || len(b.submissions()) != 0 {
				t.Errorf("got %+v, %d submissions", res, len(b.submissions()))
			}
			for _, r := range b.list(store.Filter{}) {
				if r.State != claimdlq.StateQuarantined || r.Reason != claimdlq.RetriesExhausted || r.Class != claimdlq.Transient ||
					r.Detail.String() != "HTTP_503" || r.AttemptCount != 5 || r.ReplayCount != 0 || r.RefusedRevision != 0 || r.FirstFailedAt.IsZero() {
					t.Errorf("got %+v", r)
				}
				if got := r.GuardReplay(claimdlq.DefaultPolicy(), false); got != claimdlq.Replayed {
					t.Errorf("a replay is %s", got)
				}
			}
			if again := b.deadLetter(file, givenUp); again.Duplicates != res.Claims {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

func TestDeadLetter_WhatOurRulesRefuseIsSaidSo(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxMessages(t, testclaims.RxOptions{Faults: []testclaims.Fault{{Name: "bad-money", At: []int{1}}}})[0]
	b.deadLetter(raw, givenUp)
	r := b.record(1)
	if r.Reason != claimdlq.FatalSyntax || r.AttemptCount != 5 || r.RefusedRevision != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestDeadLetter_AnAmbiguousFailureIsInDoubt(t *testing.T) { // F13, promise 2
	t.Parallel()
	d := intake.DeadLetter{Class: claimdlq.Transient, Detail: claimdlq.NewDetail("TIMEOUT"), Attempts: 2, Ambiguous: true}
	for name, file := range map[string][]byte{
		"837": generate(t, testclaims.Options{Claims: 30, ClaimsPerSet: 10}), "message": rxOne(t, "B1", 1),
		"four": rxMessages(t, testclaims.RxOptions{Claims: 4, TransactionsPer: 4})[0],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			res := b.deadLetter(file, d)
			subs := b.submissions()
			if res.InDoubt != res.Claims || len(subs) != 1 || subs[0].State != claimdlq.SubmissionInDoubt {
				t.Fatalf("got %+v, %+v", res, subs)
			}
			for _, r := range b.list(store.Filter{}) {
				if r.State != claimdlq.StateInDoubt || !r.FateUnknown || r.AttemptCount != 2 || r.Submission != subs[0].ID ||
					r.Reason != claimdlq.OutcomeUnknown || r.Detail.String() != "TIMEOUT" {
					t.Errorf("got %+v", r)
				}
				if r.ID < subs[0].Members[0].First || r.ID > subs[0].Members[0].Last {
					t.Errorf("record %d is no member", r.ID)
				}
			}
			if again := b.deadLetter(file, d); again.Duplicates != res.Claims {
				t.Errorf("again: %+v", again)
			}
			// The same claims in the ordinary way are not sent a second time.
			if live := b.rxIngest(file); live.Duplicates != res.Claims || len(b.submissions()) != 1 {
				t.Errorf("live: %+v", live)
			}
		})
	}
}

func TestDeadLetter_NeedsAReason(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	if _, err := b.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(rxOne(t, "B1", 1)), intake.DeadLetter{}); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("got %v", err)
	}
}

func TestDeadLetter_AResponseIsRefused(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	answer := b.payer.Adjudicate(rxOne(t, "B1", 1))
	if _, err := b.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(answer), givenUp); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("got %v", err)
	}
}

func TestDeadLetter_ADoubtfulClaimUnderOtherNumbersIsHeld(t *testing.T) { // promise 2
	t.Parallel()
	b := rxSetup(t, "")
	d := intake.DeadLetter{Detail: claimdlq.NewDetail("TIMEOUT"), Attempts: 1, Ambiguous: true}
	b.deadLetter(generate(t, testclaims.Options{Claims: 3, ISA13: 1}), d)
	if res := b.rxIngest(generate(t, testclaims.Options{Claims: 3, ISA13: 2})); res.Quarantined != 3 || len(b.submissions()) != 1 {
		t.Errorf("got %+v", res)
	}
}

func TestDeadLetter_AnInterruptedDoubtIsFinishedByItsRedelivery(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	d := intake.DeadLetter{Detail: claimdlq.NewDetail("TIMEOUT"), Attempts: 1, Ambiguous: true}
	file := generate(t, testclaims.Options{Claims: 3})
	b.deps.Store = &stopper{Store: b.st, after: 2}
	b.assemble()
	if _, err := b.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(file), d); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
	b.deps.Store = b.st
	b.assemble()
	if res := b.deadLetter(file, d); res.InDoubt != 3 {
		t.Errorf("got %+v", res)
	}
	if r, subs := b.record(1), b.submissions(); len(subs) != 1 || r.Submission != subs[0].ID || r.State != claimdlq.StateInDoubt {
		t.Errorf("got %+v, %d submissions", r, len(subs))
	}
}
