package claimdlq_test

import (
	"errors"
	"testing"
	"time"

	"claimdlq"
)

var (
	t0     = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	policy = claimdlq.DefaultPolicy()
	syntax = claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: claimdlq.NewDetail("IK4:SV102:2"), RuleVersion: "v2026.07"}
)

func at(seconds int) time.Time { return t0.Add(time.Duration(seconds) * time.Second) }

// queued is a clean record of ten claims.
func queued() claimdlq.Record {
	return claimdlq.Record{
		ID: 7, Revision: 1, Key: claimdlq.Key{1}, Digest: claimdlq.Digest{2}, InterchangeID: "000000123", TransactionID: "0001",
		State: claimdlq.StateQueued, RuleVersion: "v2026.07", Payload: claimdlq.PayloadRef{Unit: "unit1", Length: 10}, PayloadRevision: 1,
		Claims: 10, AmountCents: 1000, CreatedAt: t0, UpdatedAt: t0,
	}
}

// must checks that the step is one a store lets through.
func must(t *testing.T, prev claimdlq.Record) func(next claimdlq.Record, err error) claimdlq.Record {
	t.Helper()
	return func(next claimdlq.Record, err error) claimdlq.Record {
		t.Helper()
		if err == nil {
			err = claimdlq.Check(prev, next)
		}
		if err != nil {
			t.Fatal(err)
		}
		next.Revision++
		return next
	}
}

func quarantined(t *testing.T) claimdlq.Record {
	t.Helper()
	r := queued()
	return must(t, r)(r.Quarantine(syntax, at(1)))
}

func leased(t *testing.T) claimdlq.Record {
	t.Helper()
	r := queued()
	return must(t, r)(r.Lease(3, at(1)))
}

func submitted(t *testing.T) claimdlq.Record {
	t.Helper()
	r := leased(t)
	return must(t, r)(r.Sent(at(2)))
}

// delivered replays a quarantined record and sends it.
func delivered(t *testing.T, r claimdlq.Record, now int) claimdlq.Record {
	t.Helper()
	r = must(t, r)(r.Replay("v2026.08", at(now)))
	r = must(t, r)(r.Lease(4, at(now)))
	return must(t, r)(r.Sent(at(now)))
}

func corrected(t *testing.T, r claimdlq.Record, now int) claimdlq.Record {
	t.Helper()
	return must(t, r)(r.Correct(claimdlq.PayloadRef{Unit: "unit2"}, 900, "v2026.08", at(now)))
}

func TestLease_CountsTheDeliveryBeforeItHappens(t *testing.T) {
	t.Parallel()
	r := queued()
	r.Hold, r.NotBefore = claimdlq.HoldBreaker, at(9)
	n := must(t, r)(r.Lease(3, at(1)))
	if n.State != claimdlq.StateLeased || n.AttemptCount != 1 || n.ReceiveCount != 1 || n.Submission != 3 {
		t.Errorf("leased as %+v", n)
	}
	if n.Hold != claimdlq.HoldNone || !n.NotBefore.IsZero() || !n.UpdatedAt.Equal(at(1)) {
		t.Errorf("leased as %+v", n)
	}
}

// Checklist 3 and 4: a budget of n is n deliveries, the first included.
func TestBudget_IsExactForEveryMaxReceive(t *testing.T) {
	t.Parallel()
	for budget := uint32(1); budget <= 20; budget++ {
		r, deliveries := queued(), uint32(0)
		for r.State == claimdlq.StateQueued {
			r = must(t, r)(r.Lease(1, at(1)))
			deliveries++
			if r.ReceiveCount < budget {
				r = must(t, r)(r.Requeue(claimdlq.NewDetail("HTTP_503"), at(9), at(2)))
				continue
			}
			r = must(t, r)(r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient}, at(3)))
		}
		if deliveries != budget || r.AttemptCount != budget || r.ReceiveCount != budget {
			t.Errorf("budget %d: %d deliveries, counted %d and %d", budget, deliveries, r.AttemptCount, r.ReceiveCount)
		}
	}
}

func TestSent_LeavesTheFateOpenUntilAnAnswer(t *testing.T) {
	t.Parallel()
	r := submitted(t)
	if r.State != claimdlq.StateSubmitted || !r.FateUnknown {
		t.Errorf("submitted as %+v", r)
	}
	n := must(t, r)(r.Settle(claimdlq.Accepted, claimdlq.NewDetail("STC:A2:20"), at(5)))
	if n.State != claimdlq.StateSettled || n.Disposition != claimdlq.Accepted || n.FateUnknown {
		t.Errorf("settled as %+v", n)
	}
}

func TestRequeue_WaitsAndRemembersTheFirstFailure(t *testing.T) {
	t.Parallel()
	r := leased(t)
	n := must(t, r)(r.Requeue(claimdlq.NewDetail("HTTP_503"), at(6), at(2)))
	if n.State != claimdlq.StateQueued || !n.NotBefore.Equal(at(6)) || !n.FirstFailedAt.Equal(at(2)) || n.Class != claimdlq.Transient || n.Detail.String() != "HTTP_503" {
		t.Errorf("queued again as %+v", n)
	}
	n = must(t, n)(n.Lease(3, at(7)))
	n = must(t, n)(n.Requeue(claimdlq.NewDetail("TIMEOUT"), at(20), at(8)))
	if !n.FirstFailedAt.Equal(at(2)) || n.ReceiveCount != 2 {
		t.Errorf("queued again as %+v", n)
	}
}

func TestRequeue_DoesNotReleaseWhatWasSentAndQuarantined(t *testing.T) {
	t.Parallel()
	r := submitted(t)
	r = must(t, r)(r.Quarantine(syntax, at(3)))
	if _, err := r.Requeue(claimdlq.Detail{}, at(4), at(4)); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("without a replay: %v, want refused", err)
	}
	never := quarantined(t) // held for its interchange's sake, which came again
	must(t, never)(never.Requeue(claimdlq.Detail{}, at(4), at(4)))
}

func TestDoubt_KeepsTheFateOpen(t *testing.T) {
	t.Parallel()
	r := leased(t)
	n := must(t, r)(r.Doubt(claimdlq.NewDetail("TIMEOUT"), at(2)))
	if n.State != claimdlq.StateInDoubt || !n.FateUnknown || n.Reason != claimdlq.OutcomeUnknown || !n.FirstFailedAt.Equal(at(2)) {
		t.Errorf("in doubt as %+v", n)
	}
}

func TestQuarantine_RemembersWhichRevisionWasRefused(t *testing.T) {
	t.Parallel()
	for reason, refused := range map[claimdlq.Reason]uint16{
		claimdlq.FatalSyntax: 1, claimdlq.SemanticReject: 1, claimdlq.RetriesExhausted: 0, claimdlq.Overflow: 0,
	} {
		r := leased(t)
		n := must(t, r)(r.Quarantine(claimdlq.Fault{Reason: reason}, at(2)))
		if n.RefusedRevision != refused || n.Reason != reason || n.RuleVersion != "v2026.07" {
			t.Errorf("%s: quarantined as %+v", reason, n)
		}
	}
}

// Checklist 41: a correction judged by newer rules records their version.
func TestCorrect_IsANewRevisionUnderTheRulesThatPassedIt(t *testing.T) {
	t.Parallel()
	r := quarantined(t)
	n := corrected(t, r, 5)
	if n.PayloadRevision != 2 || n.RuleVersion != "v2026.08" || n.AmountCents != 900 || n.Payload.Unit != "unit2" || n.State != claimdlq.StateQuarantined {
		t.Errorf("corrected as %+v", n)
	}
	if n.Digest != r.Digest || n.ReplayCount != 0 || !n.FirstFailedAt.Equal(r.FirstFailedAt) {
		t.Errorf("corrected as %+v", n)
	}
}

func TestCorrect_NeedsAQuarantinedRecord(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		r := queued()
		r.State = s
		_, err := r.Correct(claimdlq.PayloadRef{Unit: "u"}, 1, "v", at(1))
		if s == claimdlq.StateQuarantined != (err == nil) || err != nil && !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestReplay_IsANewBudgetAndOneMoreReplay(t *testing.T) {
	t.Parallel()
	r := leased(t)
	r = must(t, r)(r.Quarantine(syntax, at(2)))
	n := must(t, r)(r.Replay("v2026.09", at(3)))
	if n.State != claimdlq.StateQueued || n.ReceiveCount != 0 || n.AttemptCount != 1 || n.ReplayCount != 1 || n.RuleVersion != "v2026.09" {
		t.Errorf("replayed as %+v", n)
	}
}

// A replay of what is under way would be a second sending of the same bytes.
func TestReplay_NeedsAQuarantinedRecord(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		r := queued()
		r.State = s
		_, err := r.Replay("v", at(1))
		if s == claimdlq.StateQuarantined != (err == nil) || err != nil && !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestHeld_KeepsTheBackOffAndSpendsNoBudget(t *testing.T) {
	t.Parallel()
	r := queued()
	r.NotBefore = at(60)
	for _, h := range []claimdlq.Hold{claimdlq.HoldIntake, claimdlq.HoldTarget, claimdlq.HoldBreaker, claimdlq.HoldLineage, claimdlq.HoldApproval, claimdlq.HoldNone} {
		r = must(t, r)(r.Held(h, at(1)))
		if r.Hold != h || !r.NotBefore.Equal(at(60)) || r.AttemptCount != 0 || r.ReceiveCount != 0 || r.State != claimdlq.StateQueued {
			t.Errorf("held as %+v", r)
		}
	}
}

// A hold must not be a way back into the queue.
func TestHeld_NeedsAQueuedOrLeasedRecord(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		r := queued()
		r.State = s
		_, err := r.Held(claimdlq.HoldNone, at(1))
		if want := s == claimdlq.StateQueued || s == claimdlq.StateLeased; want != (err == nil) || err != nil && !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestPart_TakesClaimsOutAndLeavesTheSetWhereItIs(t *testing.T) {
	t.Parallel()
	for _, s := range []claimdlq.State{
		claimdlq.StateQueued, claimdlq.StateSubmitted, claimdlq.StateQuarantined, claimdlq.StateParked, claimdlq.StateSettled,
	} {
		r := queued()
		r.State, r.Hold, r.NotBefore = s, claimdlq.HoldLineage, at(9)
		n := must(t, r)(r.Part(3, 300, at(1)))
		if n.State != s || n.Claims != 7 || n.Parted != 3 || n.AmountCents != 700 || n.Hold != claimdlq.HoldLineage || !n.NotBefore.Equal(at(9)) {
			t.Errorf("%s: parted as %+v", s, n)
		}
	}
	r := queued()
	must(t, r)(r.Part(10, 1000, at(1)))
	if _, err := r.Part(11, 0, at(1)); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("one claim more than there are: %v", err)
	}
}

func TestAnswer_MarksClaimsAndKeepsTheFateOfTheOthersOpen(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]claimdlq.Record{"submitted": submitted(t), "leased": leased(t)} {
		n := must(t, r)(r.Answer([]uint32{1, 3}, claimdlq.NewDetail("STC:A2:20"), at(3)))
		n = must(t, n)(n.Answer([]uint32{3, 4}, claimdlq.NewDetail("STC:A2:20"), at(4)))
		if n.Answered.Len() != 3 || !n.Answered.Has(4) || n.Answered.Has(2) || !n.FateUnknown || n.State != claimdlq.StateSubmitted {
			t.Errorf("%s: answered as %+v", name, n)
		}
	}
}

func TestPark_KeepsTheReasonUnlessItExpired(t *testing.T) {
	t.Parallel()
	r := quarantined(t)
	if n := must(t, r)(r.Park(claimdlq.OutcomeUnknown, at(5))); n.Reason != claimdlq.FatalSyntax {
		t.Errorf("parked with reason %s", n.Reason)
	}
	if n := must(t, r)(r.Park(claimdlq.Expired, at(5))); n.Reason != claimdlq.Expired || n.FateUnknown {
		t.Errorf("parked as %+v", n)
	}
	q := queued()
	if n := must(t, q)(q.Park(claimdlq.Expired, at(5))); n.Reason != claimdlq.Expired || n.FateUnknown || !n.FirstFailedAt.Equal(at(5)) {
		t.Errorf("parked as %+v", n)
	}
}

func TestPark_KeepsWhatWasSentInDoubt(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		if !claimdlq.CanMove(s, claimdlq.StateParked) {
			continue
		}
		for _, reason := range []claimdlq.Reason{claimdlq.ReasonNone, claimdlq.Expired} {
			r := queued()
			r.State = s
			n := must(t, r)(r.Park(reason, at(1)))
			if want := s == claimdlq.StateSubmitted || s == claimdlq.StateInDoubt; n.FateUnknown != want {
				t.Errorf("%s: fate unknown is %t", s, n.FateUnknown)
			}
		}
	}
}

func TestUnpark_LeadsToTheDoubtThatWasParked(t *testing.T) {
	t.Parallel()
	r := submitted(t)
	r = must(t, r)(r.Park(claimdlq.Expired, at(5)))
	if !r.FateUnknown {
		t.Fatal("the fate of what was sent is forgotten")
	}
	n := must(t, r)(r.Unpark(policy, at(6)))
	if n.State != claimdlq.StateInDoubt || n.GuardReplay(policy, true) != claimdlq.InDoubtFirst {
		t.Errorf("un-parked as %+v", n)
	}
}

func TestUnpark_NeedsAParkedRecord(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		r := queued()
		r.State = s
		_, err := r.Unpark(policy, at(1))
		if s == claimdlq.StateParked != (err == nil) || err != nil && !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestWithdraw_IsFinalAndNotForWhatIsBeingDelivered(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		r := queued()
		r.State = s
		n, err := r.Withdraw(at(1))
		if want := s.Unresolved() && s != claimdlq.StateLeased; want != (err == nil) {
			t.Errorf("%s: %v", s, err)
		}
		if err == nil && n.State != claimdlq.StateWithdrawn {
			t.Errorf("%s: withdrawn as %s", s, n.State)
		}
	}
}

// A payer's later reject reopens what a clearinghouse accepted (277CA A3 after A2).
func TestQuarantine_ReopensASettledRecordWithItsCounts(t *testing.T) {
	t.Parallel()
	r := delivered(t, quarantined(t), 5)
	r = must(t, r)(r.Settle(claimdlq.Accepted, claimdlq.Detail{}, at(6)))
	n := must(t, r)(r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject}, at(7)))
	if n.Disposition != claimdlq.DispositionNone || n.ReplayCount != 1 || n.AttemptCount != 1 || !n.FirstFailedAt.Equal(at(1)) {
		t.Errorf("reopened as %+v", n)
	}
}

// An announced outage spends nothing (93 and 96), however often it is met.
func TestFree_GivesTheDeliveryBackAndOnlyOnce(t *testing.T) {
	t.Parallel()
	r := quarantined(t)
	r = must(t, r)(r.Correct(r.Payload, 0, "v", at(2)))
	r = must(t, r)(r.Replay("v", at(3)))
	leased := must(t, r)(r.Lease(1, at(4)))
	n := must(t, leased)(leased.Free(claimdlq.NewDetail("FB_93"), at(9), at(5)))
	if n.ReceiveCount != 0 || n.AttemptCount != 1 || n.State != claimdlq.StateQueued || !n.NotBefore.Equal(at(9)) {
		t.Errorf("freed as %+v", n)
	}
	if err := claimdlq.Check(leased, n); err != nil {
		t.Error(err)
	}
	twice := n
	twice.ReceiveCount--
	if err := claimdlq.Check(leased, twice); err == nil {
		t.Error("two deliveries were given back")
	}
	if _, err := n.Free(claimdlq.Detail{}, at(9), at(6)); err == nil {
		t.Error("what is queued was freed")
	}
	doubted := leased
	doubted.FateUnknown = true
	if n := must(t, doubted)(doubted.Free(claimdlq.Detail{}, at(9), at(5))); !n.FateUnknown {
		t.Error("its doubt was forgotten")
	}
}
