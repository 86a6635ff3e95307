package flow_test

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/x12"
)

// oneBad takes in one claim that our rules refuse, and returns its record.
func (b *bench) oneBad() claimdlq.Record {
	b.t.Helper()
	b.ingest(generate(b.t, testclaims.Options{Claims: 1, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{1}}}}))
	return b.only(claimdlq.StateQuarantined)
}

// goodNPI corrects what npi-check-digit breaks; n tells corrections apart.
func goodNPI(n uint64) string { return "NM1[6]-09=" + testclaims.NPI(n) }

func TestCap_ThreeWrongCorrectionsParkAndUnparkWithTheRightOneSettles(t *testing.T) { // promise 4; 38, F10, F12
	t.Parallel()
	b := setup(t, "claim 1-3 stc A7:562:85")
	r := b.oneBad()
	first := r.FirstFailedAt
	for n := range uint64(3) {
		b.correct(r.ID, goodNPI(n+1))
		if got := b.replay(r.ID, replay.Options{}); got != claimdlq.Replayed {
			t.Fatalf("replay %d: %s", n+1, got)
		}
		b.drain()
		b.acks()
		r = b.record(r.ID)
		if r.State != claimdlq.StateQuarantined || r.Detail.String() != "STC:A7:562:85" || r.ReplayCount != uint32(n+1) || !r.FirstFailedAt.Equal(first) {
			t.Fatalf("after replay %d: %s", n+1, b.dump())
		}
	}
	b.correct(r.ID, goodNPI(4))
	if got := b.replay(r.ID, replay.Options{}); got != claimdlq.ParkedAtCap {
		t.Fatalf("the fourth replay: %s", got)
	}
	if !strings.Contains(b.log.String(), `msg="Poison cap hit"`) {
		t.Error("no line says so")
	}
	if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.ParkedAtCap {
		t.Fatalf("replay of what is parked: %s", got)
	}
	if len(b.target.sent) != 3 {
		t.Fatalf("sent %d times", len(b.target.sent))
	}
	if _, err := b.f.Retain.Unpark(t.Context(), claimdlq.By{Actor: "ana"}, r.ID); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("un-parked without a reason: %v", err)
	}
	if _, err := b.f.Retain.Unpark(t.Context(), ana, r.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.replay(r.ID, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("after un-park: %s", got)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1})
	b.noDouble()
}

func TestCap_HoldsOverCrashes(t *testing.T) { // promise 4
	t.Parallel()
	b := setup(t, "claim all stc A7:562")
	r := b.oneBad()
	for n := range uint64(6) {
		b.restart()
		if b.record(r.ID).State != claimdlq.StateQuarantined {
			break
		}
		b.correct(r.ID, goodNPI(n+1))
		b.restart()
		b.replay(r.ID, replay.Options{})
		b.restart()
		b.drain()
		b.restart()
		b.acks()
	}
	if r = b.record(r.ID); r.State != claimdlq.StateParked || r.ReplayCount != 3 || len(b.target.sent) != 3 {
		t.Errorf("sent %d times: %s", len(b.target.sent), b.dump())
	}
}

func TestGuard_ARefusedPayloadNeedsACorrectionOrANamedPersonsWord(t *testing.T) { // F16, F19
	t.Parallel()
	b := setup(t, "claim 1 stc A3:21")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	b.acks()
	r := b.only(claimdlq.StateQuarantined)
	if got := b.replay(r.ID, replay.Options{}); got != claimdlq.NotCorrected {
		t.Fatalf("got %s", got)
	}
	_, _, err := b.f.Replay.One(t.Context(), claimdlq.By{Actor: "ana"}, r.ID, replay.Options{Unchanged: true})
	if !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("unchanged without a reason: %v", err)
	}
	if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.Replayed {
		t.Fatalf("got %s", got)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1})
	b.noDouble()
}

func TestGuard_WhatTheRulesRefuseIsNotSentOnAnybodysWord(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.NotCorrected {
		t.Fatalf("got %s", got)
	}
}

func TestGuard_RulesThatNowPassThePayloadClearIt(t *testing.T) { // 41
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	r := b.list(store.Filter{})[0]
	n, err := r.Quarantine(claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: claimdlq.NewDetail("IK3:HI:3"), RuleVersion: "v2026.07"}, b.clock.now())
	b.must(err)
	_, err = b.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{n}})
	b.must(err)
	if got := b.replay(r.ID, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("got %s", got)
	}
	if r = b.record(r.ID); r.RuleVersion != b.deps.Rules.Version() {
		t.Errorf("rule_version %s is not the one applied", r.RuleVersion)
	}
}

func TestGuard_ReplayOfWhatDoesNotExistIsNotFound(t *testing.T) { // 36
	t.Parallel()
	b := setup(t, "")
	if got := b.replay(4711, replay.Options{}); got != claimdlq.ReplayNotFound {
		t.Errorf("got %s", got)
	}
}

func TestGuard_TwoAnalystsAtTheSameMomentReleaseOnce(t *testing.T) { // F14, F15
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	b.correct(r.ID, goodNPI(1))
	results := make([]claimdlq.ReplayResult, 8)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			got, _, err := b.f.Replay.One(t.Context(), ana, r.ID, replay.Options{})
			if err != nil {
				t.Error(err)
			}
			results[i] = got
		})
	}
	wg.Wait()
	released := 0
	for _, got := range results {
		switch got {
		case claimdlq.Replayed:
			released++
		case claimdlq.DuplicateSuppressed:
		default:
			t.Errorf("got %s", got)
		}
	}
	b.drain()
	if released != 1 || len(b.target.sent) != 1 || b.record(r.ID).ReplayCount != 1 {
		t.Errorf("released %d times, sent %d", released, len(b.target.sent))
	}
}

func TestGuard_ADrainRunTwiceSendsOnce(t *testing.T) { // 18, 19, F15
	t.Parallel()
	b := setup(t, "")
	b.target.always = always(refused)
	b.ingest(generate(t, testclaims.Options{Claims: 40, ClaimsPerSet: 1}))
	b.drainFor(10 * 60 * 1e9)
	f := store.Filter{Reason: claimdlq.RetriesExhausted}
	dry, err := b.f.Replay.Select(t.Context(), ana, f, replay.Options{DryRun: true})
	b.must(err)
	if dry.Requeued != 40 || b.states()[claimdlq.StateQueued] != 0 {
		t.Fatalf("dry run: %+v %v", dry, b.states())
	}
	one, err := b.f.Replay.Select(t.Context(), ana, f, replay.Options{})
	b.must(err)
	two, err := b.f.Replay.Select(t.Context(), ana, f, replay.Options{})
	b.must(err)
	if one.Requeued != 40 || two.Requeued != 0 || two.SkippedDuplicate != 40 {
		t.Fatalf("got %+v and %+v", one, two)
	}
	b.target.always, b.target.sent = nil, nil
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 40})
	if len(b.target.sent) != 40 {
		t.Errorf("sent %d", len(b.target.sent))
	}
	b.noDouble()
}

func TestReplay_GoesOutUnderNumbersOfItsOwn(t *testing.T) { // 47, F8
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad() // under ISA13 1
	b.correct(r.ID, goodNPI(1))
	b.replay(r.ID, replay.Options{})
	b.drain()
	h, ta1 := x12.ParseISA(b.target.sent[0])
	if ta1 != "" || h.Number == 1 {
		t.Fatalf("went out under %s", h.ISA13)
	}
	sent := string(b.target.sent[0])
	if !strings.Contains(sent, "ST*837*0001*") || !strings.Contains(sent, "*R"+h.ISA13+"*") || !strings.Contains(sent, "IEA*1*"+h.ISA13+"~") {
		t.Error("ST02, BHT03 or IEA02 are not those of a replay")
	}
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1})
}

func TestCorrect_TheEnvelopeIsLocked(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	doc, err := b.f.Correct.Document(t.Context(), ana, r.ID)
	b.must(err)
	good := strings.Replace(string(doc.Reveal()), "XX*", "XX*", 1)
	for _, swap := range [][2]string{{"TESTPAYER      ", "OTHERPAYER     "}, {"GS*HC*TESTSENDER", "GS*HC*OTHER"}, {"ST*837*0001", "ST*837*0002"}} {
		changed := strings.ReplaceAll(good, swap[0], swap[1])
		p, err := b.f.Correct.Propose(t.Context(), ana, r.ID, phi.Wrap([]byte(changed)))
		b.must(err)
		if p.Clean || !hasCode(p.Codes, "RULE:ENVELOPE_LOCKED") {
			t.Errorf("%s was changed: %v %v", swap[0], p.Codes, p.Faults)
		}
		if _, err := b.f.Correct.Apply(t.Context(), ana, p); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("applied: %v", err)
		}
	}
}

func hasCode(codes []claimdlq.Detail, want string) bool {
	for _, c := range codes {
		if c.String() == want {
			return true
		}
	}
	return false
}

func TestCorrect_WhatChangesNothingIsNoCorrection(t *testing.T) {
	t.Parallel()
	b := setup(t, "claim 1 stc A3:21")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	b.acks()
	r := b.only(claimdlq.StateQuarantined)
	doc, err := b.f.Correct.Document(t.Context(), ana, r.ID)
	b.must(err)
	p, err := b.f.Correct.Propose(t.Context(), ana, r.ID, doc)
	b.must(err)
	if !p.Clean {
		t.Fatalf("got %v %v", p.Faults, p.Codes)
	}
	if _, err := b.f.Correct.Apply(t.Context(), ana, p); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("applied: %v", err)
	}
}

func TestCorrect_EveryEarlierRevisionIsKept(t *testing.T) { // F12, F19
	t.Parallel()
	b := setup(t, "claim all stc A7:562")
	b.ingest(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2}))
	b.drain()
	b.acks() // both rejected alike: the set is held
	set := b.only(claimdlq.StateQuarantined)
	received, err := b.v.Open(t.Context(), set.Payload, claimdlq.NewProof(1, 1))
	b.must(err)
	var want []string
	want = append(want, string(received.Reveal()))
	for n := range uint64(3) {
		b.correct(set.ID, goodNPI(n+1))
		doc, err := b.f.Correct.Document(t.Context(), ana, set.ID)
		b.must(err)
		want = append(want, string(doc.Reveal()))
		if _, err := b.f.Retain.SweepOrphans(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	history, err := b.f.Correct.History(t.Context(), ana, set.ID)
	b.must(err)
	got, err := io.ReadAll(history)
	b.must(errors.Join(err, history.Close()))
	if string(got) != strings.Join(want, "") {
		t.Error("some revision is lost")
	}
	if got := b.replay(set.ID, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("got %s", got)
	}
	b.drain()
	if sent := string(b.target.sent[1]); strings.Count(sent, "CLM*") != 2 || !strings.Contains(sent, testclaims.NPI(3)) {
		t.Error("it was not the last revision that went out")
	}
}

func TestCorrect_AProposalIsForTheRecordAsItWas(t *testing.T) { // F14
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	doc, err := b.f.Correct.Document(t.Context(), ana, r.ID)
	b.must(err)
	a, err := x12.ParseAssignment(goodNPI(5))
	b.must(err)
	edited, err := x12.Edit(doc.Reveal(), []x12.Assignment{a})
	b.must(err)
	p, err := b.f.Correct.Propose(t.Context(), ana, r.ID, phi.Wrap(edited))
	b.must(err)
	b.correct(r.ID, goodNPI(6))
	if _, err := b.f.Correct.Apply(t.Context(), ana, p); !errors.Is(err, claimdlq.Conflict) {
		t.Errorf("got %v", err)
	}
}

func TestCorrect_EveryLookIsAuditedWithItsReasonFirst(t *testing.T) { // promise 10, F34
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	for _, by := range []claimdlq.By{{}, {Actor: "ana"}, {Reason: "TEST"}} {
		if _, err := b.f.Correct.Document(t.Context(), by, r.ID); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%+v was shown a claim: %v", by, err)
		}
	}
	if got := b.audited(r.ID); len(got) != 1 {
		t.Fatalf("audited %v", got)
	}
	_, err := b.f.Correct.Document(t.Context(), ana, r.ID)
	b.must(err)
	var note string
	b.must(b.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActReveal && e.Actor == "ana" {
			note = e.Note
		}
		return true
	}))
	if note != ana.Reason {
		t.Errorf("the reason in the log is %q", note)
	}
}

func TestLog_LinesOfTheSeed(t *testing.T) { // 43
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	b.correct(r.ID, goodNPI(1))
	b.replay(r.ID, replay.Options{})
	b.replay(r.ID, replay.Options{})
	log := b.log.String()
	for _, want := range []string{
		`level=ERROR msg="DLQ enqueue" logger=x12.dlq key=000000001:0001 reason=SEMANTIC_REJECT rule=` + b.deps.Rules.Version() + ` detail=RULE:`,
		`level=INFO msg="Replayed claim" logger=x12.dlq key=000000001:0001 attempt=1`,
		`level=WARN msg="Replay suppressed (already processed)" logger=x12.dlq key=000000001:0001`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no line %s in\n%s", want, log)
		}
	}
}
