package flow_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// waiting returns the newest submission that carries the record.

func (b *rxBench) waiting(id claimdlq.ID) claimdlq.Submission {
	b.t.Helper()
	subs := b.submissions()
	for i := len(subs) - 1; i >= 0; i-- {
		for _, m := range subs[i].Members {
			if m.First <= id && id <= m.Last {
				return subs[i]
			}
		}
	}
	b.t.Fatalf("record %d was never submitted", id)
	return claimdlq.Submission{}
}

// left moves the record as a delivery leaves it, with its submission.

func (b *rxBench) left(id claimdlq.ID, to claimdlq.SubmissionState, step func(claimdlq.Record) (claimdlq.Record, error)) {
	b.t.Helper()
	s := b.waiting(id)
	b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Lease(s.ID, b.clock.now()) }, step)
	s = b.waiting(id)
	s.State, s.SentAt = to, b.clock.now()
	_, err := b.st.Commit(b.t.Context(), store.Batch{Submissions: []claimdlq.Submission{s}})
	b.must(err)
}

// exhaust spends the record's budget without the payer.

func (b *rxBench) exhaust(id claimdlq.ID) {
	b.t.Helper()
	b.left(id, claimdlq.SubmissionDead, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail("FB_92")}, b.clock.now())
	})
}

// doubt leaves the record in doubt: the payer has nothing.

func (b *rxBench) doubt(id claimdlq.ID) {
	b.t.Helper()
	b.left(id, claimdlq.SubmissionInDoubt, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Doubt(testCode, b.clock.now())
	})
}

// rxCorrect gives the record its next revision.

func (b *rxBench) rxCorrect(id claimdlq.ID, assignments ...string) claimdlq.Record {
	b.t.Helper()
	doc, err := b.f.Correct.Document(b.t.Context(), ana, id)
	b.must(err)
	p, err := b.f.Correct.Propose(b.t.Context(), ana, id, phi.Wrap(rxSet(b.t, doc.Reveal(), assignments...)))
	b.must(err)
	if !p.Clean {
		b.t.Fatalf("the correction is not clean: %v", p.Codes)
	}
	r, err := b.f.Correct.Apply(b.t.Context(), ana, p)
	b.must(err)
	b.conserved()
	return r
}

// ends checks how a record ended.

func (b *rxBench) ends(id claimdlq.ID, s claimdlq.State, d claimdlq.Disposition) {
	b.t.Helper()
	if r := b.record(id); r.State != s || r.Disposition != d {
		b.t.Fatalf("record %d is %s %s, want %s %s\n%s", id, r.State, r.Disposition, s, d, b.dump())
	}
}

// paidTwice fails if the payer has paid a fill while a payment stood.

func (b *rxBench) paidTwice() {
	b.t.Helper()
	if d := b.payer.DoubleFills(); len(d) > 0 {
		b.t.Fatalf("the payer paid %d fills twice", len(d))
	}
}

func (b *rxBench) sends() int { return b.payer.Stats().Requests }

func TestRxReplay_APoisonClaimNeedsACorrectionAndReentersOnce(t *testing.T) { // 20, 36, 39, F16, F19
	t.Parallel()
	b := rxSetup(t, "claim member=TESTBAD1 reject R8")
	id := b.take(rxSet(t, rxOne(t, "B1", 1), "04-C2=TESTBAD1")).ID
	b.drain()
	if r := b.record(id); r.State != claimdlq.StateQuarantined || r.Reason != claimdlq.FatalSyntax || r.RefusedRevision != 1 {
		t.Fatalf("got %s", b.dump())
	}
	if got := b.replay(id, replay.Options{}); got != claimdlq.NotCorrected {
		t.Fatalf("uncorrected: %s", got)
	}
	if _, _, err := b.f.Replay.One(t.Context(), claimdlq.By{Actor: "ana"}, id, replay.Options{Unchanged: true}); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("unchanged without a reason: %v", err)
	}
	b.rxCorrect(id, "04-C2=TESTGOOD1")
	if got := b.replay(id, replay.Options{DryRun: true}); got != claimdlq.Replayed || b.record(id).State != claimdlq.StateQuarantined {
		t.Fatalf("dry run: %s", got)
	}
	if got := b.replay(id, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("corrected: %s", got)
	}
	if got := b.replay(id, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("at once again: %s", got)
	}
	b.drain()
	b.ends(id, claimdlq.StateSettled, claimdlq.Paid)
	looks := len(b.audited(id))
	if got := b.replay(id, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("once it is paid: %s", got)
	}
	if got := b.audited(id)[looks:]; len(got) != 1 || got[0] != claimdlq.ActSuppress {
		t.Errorf("what needs no look was opened: %v", got)
	}
	if r := b.record(id); r.ReplayCount != 1 || r.ReceiveCount != 1 || r.AttemptCount != 2 || b.sends() != 2 {
		t.Errorf("sent %d times: %s", b.sends(), b.dump())
	}
	if !strings.Contains(b.log.String(), `msg="Replayed claim"`) || !strings.Contains(b.log.String(), "Replay suppressed") {
		t.Error("no lines say so")
	}
	if got := b.replay(4711, replay.Options{}); got != claimdlq.ReplayNotFound {
		t.Errorf("what is not there: %s", got)
	}
	b.paidTwice()
}

func TestRxReplay_TheCapHoldsOverCorrectionsAndCrashes(t *testing.T) { // promise 4; 38, 40, F10, F12, F16, F20
	t.Parallel()
	b := rxSetup(t, "claim all reject R8 tries 4")
	id := b.take(rxOne(t, "B1", 1)).ID
	b.drain()
	first := b.record(id).FirstFailedAt
	for n := range 3 {
		b.rxCorrect(id, fmt.Sprintf("07-D5=%03d", 11+n))
		b.restart()
		if got := b.replay(id, replay.Options{}); got != claimdlq.Replayed {
			t.Fatalf("replay %d: %s", n+1, got)
		}
		b.restart()
		b.drain()
		if r := b.record(id); r.State != claimdlq.StateQuarantined || r.ReplayCount != uint32(n+1) || !r.FirstFailedAt.Equal(first) {
			t.Fatalf("after replay %d: %s", n+1, b.dump())
		}
	}
	b.rxCorrect(id, "07-D5=020")
	if got := b.replay(id, replay.Options{}); got != claimdlq.ParkedAtCap {
		t.Fatalf("the fourth: %s", got)
	}
	b.ends(id, claimdlq.StateParked, claimdlq.DispositionNone)
	if got := b.replay(id, replay.Options{Unchanged: true}); got != claimdlq.ParkedAtCap {
		t.Fatalf("what is parked: %s", got)
	}
	if !strings.Contains(b.log.String(), "Poison cap hit") || b.sends() != 4 {
		t.Errorf("sent %d times, log\n%s", b.sends(), b.log)
	}
	_, err := b.f.Retain.Unpark(t.Context(), ana, id)
	b.must(err)
	if got := b.replay(id, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("after un-park: %s", got)
	}
	b.drain()
	b.ends(id, claimdlq.StateSettled, claimdlq.Paid)
}

func TestRxReplay_RulesThatNowPassItClearIt(t *testing.T) { // 41
	t.Parallel()
	b := rxSetup(t, "")
	id := b.take(rxOne(t, "B1", 1)).ID
	b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: claimdlq.NewDetail("NCPDP:07-D2:NUMBER"), RuleVersion: "ncpdp-d0-2025.1"}, b.clock.now())
	})
	if got := b.replay(id, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("got %s", got)
	}
	if r := b.record(id); r.RuleVersion == "ncpdp-d0-2025.1" || r.RuleVersion == "" {
		t.Errorf("rule_version %s is not the one applied", r.RuleVersion)
	}
	bad := b.take(rxSet(t, rxOne(t, "B1", 2), "11-D9=12X")).ID
	b.ends(bad, claimdlq.StateQuarantined, claimdlq.DispositionNone)
	if got := b.replay(bad, replay.Options{Unchanged: true}); got != claimdlq.NotCorrected {
		t.Errorf("what our rules refuse goes on nobody's word: %s", got)
	}
	junk := b.take([]byte("999999D0B1 TEST JUNK")).ID
	if got := b.replay(junk, replay.Options{Unchanged: true}); got != claimdlq.NotCorrected {
		t.Errorf("what cannot be read: %s", got)
	}
}

// failed takes n claims in whose budget is spent.

func TestRxReplay_AStaleClaimIsSuppressed(t *testing.T) { // F18
	t.Parallel()
	t.Run("the pharmacy has sent it again itself", func(t *testing.T) {
		t.Parallel()
		b := rxSetup(t, "")
		raw := rxOne(t, "B1", 1)
		stale := b.take(raw).ID
		b.exhaust(stale)
		anew := b.takes(rxSet(t, raw, "07-D5=017"), intake.TakenIn).Records[0].ID
		if got := b.replay(stale, replay.Options{}); got != claimdlq.DuplicateSuppressed {
			t.Fatalf("while that one waits: %s", got)
		}
		b.drain()
		b.ends(anew, claimdlq.StateSettled, claimdlq.Paid)
		if got := b.replay(stale, replay.Options{}); got != claimdlq.DuplicateSuppressed {
			t.Fatalf("once that one is paid: %s", got)
		}
		b2 := b.take(rxOne(t, "B2", 1)).ID
		b.drain()
		b.ends(b2, claimdlq.StateSettled, claimdlq.Reversed)
		if got := b.replay(stale, replay.Options{}); got != claimdlq.DuplicateSuppressed {
			t.Fatalf("once that one is reversed: %s", got)
		}
		if got := b.replay(stale, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
			t.Errorf("on somebody's word: %s", got)
		}
		b.drain()
		b.paidTwice()
	})
	t.Run("its reversal was accepted since", func(t *testing.T) {
		t.Parallel()
		b := rxSetup(t, "")
		raw := rxOne(t, "B1", 1)
		stale := b.take(raw).ID
		b.exhaust(stale)
		b2 := b.take(rxOne(t, "B2", 1)).ID
		b.clock.pass(time.Minute)
		b.drain()
		b.reversed(b2)
		if got := b.replay(stale, replay.Options{}); got != claimdlq.DuplicateSuppressed {
			t.Fatalf("the claim that was taken back: %s", got)
		}
		if e := b.lastDetail(stale); e != "REPLAY:OVERTAKEN" {
			t.Errorf("audited %s", e)
		}
		anew := b.takes(rxSet(t, raw, "07-D5=018"), intake.TakenIn).Records[0].ID
		b.exhaust(anew)
		if got := b.replay(anew, replay.Options{}); got != claimdlq.Replayed {
			t.Fatalf("what was billed after the reversal is another claim: %s", got)
		}
		b.drain()
		b.ends(anew, claimdlq.StateSettled, claimdlq.Paid)
		b.paidTwice()
	})
	t.Run("it waits behind a reversal that is not decided", func(t *testing.T) {
		t.Parallel()
		b := rxSetup(t, "")
		raw := rxOne(t, "B1", 1)
		b.take(raw)
		b.drain()
		b2 := b.take(rxOne(t, "B2", 1)).ID
		anew := b.take(raw)
		b.exhaust(anew.ID)
		if got := b.replay(anew.ID, replay.Options{}); got != claimdlq.Replayed {
			t.Fatalf("got %s", got)
		}
		if r, s := b.record(anew.ID), b.waiting(anew.ID); r.Hold != claimdlq.HoldLineage || s.Last.String() != "LINEAGE" || !s.NotBefore.After(b.clock.now()) {
			t.Fatalf("hold %s, submission %+v", r.Hold, s)
		}
		b.drain()
		b.ends(b2, claimdlq.StateSettled, claimdlq.Reversed)
		b.clock.pass(time.Minute)
		b.drain()
		b.ends(anew.ID, claimdlq.StateSettled, claimdlq.Paid)
		b.paidTwice()
	})
}

func TestRxReplay_AFillIsNotBilledTwiceBecauseACorrectionChangedForWhom(t *testing.T) { // F1, F12, F18
	t.Parallel()
	b := rxSetup(t, "claim code=B1 reject R8 tries 1")
	raw := rxOne(t, "B1", 1)
	id := b.take(raw).ID
	b.drain()
	b.rxCorrect(id, "04-C2=TESTOTHER", "04-C1=OTHER")
	anew := b.takes(rxSet(t, raw, "07-D5=017"), intake.TakenIn).Records[0].ID // the pharmacy has sent it again as it was
	b.drain()
	if r := b.record(anew); r.State == claimdlq.StateQuarantined { // the payer refuses each once
		b.replay(anew, replay.Options{Unchanged: true})
		b.drain()
	}
	b.ends(anew, claimdlq.StateSettled, claimdlq.Paid)
	if got := b.replay(id, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("the fill is paid: %s", got)
	}
	back, err := ncpdp.BuildReversal(ncpdp.Parse(raw), 1, ncpdp.Reversal{}) // it says for whom: not as it was corrected
	b.must(err)
	b2 := b.take(back).ID
	b.clock.pass(time.Minute)
	b.drain()
	b.reversed(b2)
	if got := b.replay(id, replay.Options{}); got != claimdlq.DuplicateSuppressed || b.lastDetail(id) != "REPLAY:OVERTAKEN" {
		t.Fatalf("the fill is taken back: %s %s", got, b.lastDetail(id))
	}
	if n := len(b.payer.Fills()); n != 1 {
		t.Errorf("the payer has %d fills", n)
	}
}

// reversed lets a reversal that waits for its claim be accepted.

func (b *rxBench) reversed(id claimdlq.ID) {
	b.t.Helper()
	if b.record(id).State == claimdlq.StateSettled {
		return
	}
	b.left(id, claimdlq.SubmissionAnswered, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Settle(claimdlq.Reversed, claimdlq.NewDetail("AN_A"), b.clock.now())
	})
}

// lastDetail returns the detail of the record's last audit entry.

func (b *rxBench) lastDetail(id claimdlq.ID) (detail string) {
	b.t.Helper()
	b.must(b.st.Entries(b.t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.About(id) {
			detail = e.Detail.String()
		}
		return true
	}))
	return detail
}

func TestRxReplay_ACorrectedClaimWhoseEarlierAttemptIsInDoubtNeedsAnInquiryFirst(t *testing.T) { // promise 2
	t.Parallel()
	for name, script := range map[string]string{"it was paid": "", "it was rejected": "claim all reject 70 tries 1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, script)
			raw := rxOne(t, "B1", 1)
			id := b.take(raw).ID
			b.doubt(id)
			if _, err := b.f.Correct.Propose(t.Context(), ana, id, phi.Wrap(bytes.Clone(raw))); !errors.Is(err, claimdlq.Refused) {
				t.Fatalf("corrected while in doubt: %v", err)
			}
			if got := b.replay(id, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
				t.Fatalf("replayed while in doubt: %s", got)
			}
			_, err := b.f.Retain.Park(t.Context(), ana, id)
			b.must(err)
			_, err = b.f.Retain.Unpark(t.Context(), ana, id)
			b.must(err)
			b.ends(id, claimdlq.StateInDoubt, claimdlq.DispositionNone) // no detour leads to a blind re-send
			fixed := b.takes(rxSet(t, raw, "07-D5=017"), intake.Conflict).Records[0].ID
			_, err = b.f.Retain.Unpark(t.Context(), ana, fixed)
			b.must(err)
			b.rxCorrect(fixed, "07-D5=018")
			if got := b.replay(fixed, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
				t.Fatalf("the corrected copy: %s", got)
			}
			b2 := b.take(rxOne(t, "B2", 1)).ID
			if r := b.record(b2); r.Hold != claimdlq.HoldLineage {
				t.Fatalf("the reversal goes before its claim is known: %s", b.dump())
			}
			_, known, err := b.f.Settle.Inquire(t.Context(), ana, id)
			if !known || err != nil {
				t.Fatalf("%v %v", known, err)
			}
			want := claimdlq.DuplicateSuppressed
			if script != "" {
				want = claimdlq.Replayed
			}
			if got := b.replay(fixed, replay.Options{}); got != want {
				t.Fatalf("after the inquiry: %s, want %s\n%s", got, want, b.dump())
			}
			b.paidTwice()
		})
	}
}

func TestRxReplay_OneOfATransmissionGoesAlone(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim 2 reject R8 tries 1")
	raw := rxMessages(t, testclaims.RxOptions{TransactionsPer: 4, Claims: 4, PartialEvery: -1, COBEvery: -1})[0]
	got := b.takes(raw, intake.TakenIn, intake.TakenIn, intake.TakenIn, intake.TakenIn)
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3, claimdlq.StateQuarantined: 1})
	id := got.Records[1].ID
	if r := b.replay(id, replay.Options{Unchanged: true}); r != claimdlq.Replayed {
		t.Fatalf("got %s", r)
	}
	if s, cut := b.waiting(id), mustCut(t, raw, 2); s.Bytes != int64(len(cut)) || s.Digest != identity(1).Digest(cut) || s.Bulk {
		t.Errorf("submission %+v is not the transaction alone", s)
	}
	b.drain()
	b.ends(id, claimdlq.StateSettled, claimdlq.Paid)
	b.paidTwice()
}

// meddler lets somebody else in just before the first commit that releases.

// held fails where something is released while its fill is not held.

func TestRxReplay_NoCanaryLeavesTheVault(t *testing.T) { // promise 7
	t.Parallel()
	o := testclaims.RxOptions{Canary: true, TransactionsPer: 2, Claims: 8}
	b := rxSetup(t, "canary on\nclaim */2 reject R8 tries 1")
	for _, raw := range rxMessages(t, o) {
		b.message(raw)
	}
	b.drain()
	for _, r := range b.list(store.Filter{State: claimdlq.StateQuarantined}) {
		doc, err := b.f.Correct.Document(t.Context(), ana, r.ID)
		b.must(err)
		p, err := b.f.Correct.Propose(t.Context(), ana, r.ID, phi.Wrap(rxSet(t, doc.Reveal(), "07-D5=017")))
		b.must(err)
		if out := fmt.Sprintf("%+v", p); strings.Contains(out, "ZZCANARY") {
			t.Error("a proposal shows what is in the claim")
		}
		_, err = b.f.Correct.Apply(t.Context(), ana, p)
		b.must(err)
		b.replay(r.ID, replay.Options{})
	}
	_, err := b.f.Replay.Select(t.Context(), ana, store.Filter{}, replay.Options{Unchanged: true})
	b.must(err)
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 8})
	b.noMarks(testclaims.RxMarks(o))
}

// openings counts how often a vault is opened.

// worn is a vault of which a part cannot be read any more.
