package claimdlq_test

import (
	"testing"

	"claimdlq"
)

func TestGuard_AnswersInItsOrder(t *testing.T) {
	t.Parallel()
	// worst fails every later test of the guard, so that the order shows.
	worst := queued()
	worst.State, worst.FateUnknown, worst.ReplayCount, worst.RefusedRevision = claimdlq.StateQuarantined, true, 3, 1
	in := func(s claimdlq.State) claimdlq.Record {
		r := worst
		r.State = s
		return r
	}
	known := worst
	known.FateUnknown = false
	below := known
	below.ReplayCount = 2
	clean := below
	clean.PayloadRevision = 2
	for _, c := range []struct {
		name    string
		record  claimdlq.Record
		cleared bool
		want    claimdlq.ReplayResult
	}{
		{"no such record", claimdlq.Record{}, true, claimdlq.ReplayNotFound},
		{"queued", in(claimdlq.StateQueued), true, claimdlq.DuplicateSuppressed},
		{"leased", in(claimdlq.StateLeased), true, claimdlq.DuplicateSuppressed},
		{"submitted", in(claimdlq.StateSubmitted), true, claimdlq.DuplicateSuppressed},
		{"settled", in(claimdlq.StateSettled), true, claimdlq.DuplicateSuppressed},
		{"withdrawn", in(claimdlq.StateWithdrawn), true, claimdlq.DuplicateSuppressed},
		{"in doubt", in(claimdlq.StateInDoubt), true, claimdlq.InDoubtFirst},
		{"parked", in(claimdlq.StateParked), true, claimdlq.ParkedAtCap},
		{"quarantined with an open fate, before the cap", worst, true, claimdlq.InDoubtFirst},
		{"at the cap, before the correction", known, true, claimdlq.ParkedAtCap},
		{"not corrected", below, false, claimdlq.NotCorrected},
		{"not corrected but cleared", below, true, claimdlq.Replayed},
		{"corrected", clean, false, claimdlq.Replayed},
	} {
		if got := c.record.GuardReplay(policy, c.cleared); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Checklist 38 and 40: the cap is 3 exactly.
func TestGuard_TheCapIsExact(t *testing.T) {
	t.Parallel()
	for count, want := range map[uint32]claimdlq.ReplayResult{
		0: claimdlq.Replayed, 1: claimdlq.Replayed, 2: claimdlq.Replayed, 3: claimdlq.ParkedAtCap, 4: claimdlq.ParkedAtCap,
	} {
		r := quarantined(t)
		r.ReplayCount = count
		if got := r.GuardReplay(policy, true); got != want {
			t.Errorf("%d replays: %s, want %s", count, got, want)
		}
		r.Unparked = 1
		if got := r.GuardReplay(policy, true); (got == claimdlq.Replayed) != (count < 4) {
			t.Errorf("%d replays, one more allowed: %s", count, got)
		}
	}
}

// Checklist 39: replay, then the same key again.
func TestGuard_AReplayedKeyIsSuppressedTheSecondTime(t *testing.T) {
	t.Parallel()
	r := corrected(t, quarantined(t), 2)
	if got := r.GuardReplay(policy, false); got != claimdlq.Replayed {
		t.Fatalf("first: %s", got)
	}
	r = must(t, r)(r.Replay("v2026.08", at(3)))
	if got := r.GuardReplay(policy, true); got != claimdlq.DuplicateSuppressed {
		t.Errorf("queued: %s", got)
	}
	r = must(t, r)(r.Lease(1, at(4)))
	r = must(t, r)(r.Sent(at(5)))
	r = must(t, r)(r.Settle(claimdlq.Accepted, claimdlq.Detail{}, at(6)))
	if got := r.GuardReplay(policy, true); got != claimdlq.DuplicateSuppressed {
		t.Errorf("settled: %s", got)
	}
}

// Flaws F10, F12 and F16 of the seeds: the cap holds across corrections, whatever
// revision fails, and neither count nor age starts again.
func TestGuard_TheCapHoldsAcrossCorrectionsAndUnparkAllowsOneMore(t *testing.T) {
	t.Parallel()
	r := quarantined(t)
	failed := r.FirstFailedAt
	now := 10
	fail := func() {
		t.Helper()
		now++
		r = corrected(t, r, now)
		if got := r.GuardReplay(policy, false); got != claimdlq.Replayed {
			t.Fatalf("replay %d: %s", r.ReplayCount+1, got)
		}
		r = delivered(t, r, now)
		r = must(t, r)(r.Quarantine(syntax, at(now)))
		if got := r.GuardReplay(policy, false); got == claimdlq.Replayed {
			t.Fatalf("the revision that failed may be replayed")
		}
	}
	for range 3 {
		fail()
	}
	for range 3 {
		now++
		r = corrected(t, r, now)
		if got := r.GuardReplay(policy, true); got != claimdlq.ParkedAtCap {
			t.Fatalf("after three replays: %s", got)
		}
	}
	for unparked := uint32(1); unparked <= 2; unparked++ {
		r = must(t, r)(r.Park(claimdlq.ReasonNone, at(now)))
		if got := r.GuardReplay(policy, true); got != claimdlq.ParkedAtCap {
			t.Fatalf("parked: %s", got)
		}
		r = must(t, r)(r.Unpark(policy, at(now)))
		if r.Unparked != unparked || r.State != claimdlq.StateQuarantined {
			t.Fatalf("un-parked as %+v", r)
		}
		fail()
		if got := r.GuardReplay(policy, true); got != claimdlq.ParkedAtCap {
			t.Fatalf("after the one replay that un-parking allowed: %s", got)
		}
	}
	if r.ReplayCount != 5 || r.AttemptCount != 5 || !r.FirstFailedAt.Equal(failed) {
		t.Errorf("%d replays, %d attempts, first failed %v", r.ReplayCount, r.AttemptCount, r.FirstFailedAt)
	}
}

func TestUnpark_AllowsExactlyOneReplayMoreHoweverOftenItIsParked(t *testing.T) {
	t.Parallel()
	r := quarantined(t)
	r.ReplayCount = 3
	for range 5 { // parked and un-parked without a replay: no allowance piles up
		r = must(t, r)(r.Park(claimdlq.ReasonNone, at(2)))
		r = must(t, r)(r.Unpark(policy, at(3)))
		if r.Unparked != 1 {
			t.Fatalf("%d replays are allowed beyond the cap", r.Unparked)
		}
	}
	fresh := quarantined(t)
	fresh = must(t, fresh)(fresh.Park(claimdlq.ReasonNone, at(2)))
	fresh = must(t, fresh)(fresh.Unpark(policy, at(3)))
	if fresh.Unparked != 0 {
		t.Errorf("below the cap, un-parking allowed %d more", fresh.Unparked)
	}
}

// Flaw F19: what only failed in transit may go again as it is.
func TestGuard_RetriesExhaustedNeedsNoCorrectionAndFatalSyntaxDoes(t *testing.T) {
	t.Parallel()
	for reason, want := range map[claimdlq.Reason]claimdlq.ReplayResult{
		claimdlq.RetriesExhausted: claimdlq.Replayed, claimdlq.Overflow: claimdlq.Replayed,
		claimdlq.FatalSyntax: claimdlq.NotCorrected, claimdlq.SemanticReject: claimdlq.NotCorrected,
	} {
		r := leased(t)
		r = must(t, r)(r.Quarantine(claimdlq.Fault{Reason: reason}, at(2)))
		if got := r.GuardReplay(policy, false); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
	// A set that was held for its envelope once, came again in a good one, and then
	// met a payer that was down.
	r := leased(t)
	r.RefusedRevision = r.PayloadRevision
	r = must(t, r)(r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted}, at(2)))
	if got := r.GuardReplay(policy, false); got != claimdlq.Replayed {
		t.Errorf("refused once, exhausted now: %s", got)
	}
}
