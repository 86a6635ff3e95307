package attempt_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow/attempt"
)

func TestDecide_EachOutcomeHasOneEnd(t *testing.T) { // F22
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	cases := []struct {
		name                string
		kind                claimdlq.OutcomeKind
		ambiguous           bool
		receives            uint32
		doubted, idempotent bool
		want                attempt.Decision
	}{
		{name: "submitted", kind: claimdlq.OutcomeSubmitted, receives: 1, want: attempt.Decision{End: "sent"}},
		{name: "the target had it: it arrived", kind: claimdlq.OutcomeDuplicate, receives: 1, want: attempt.Decision{End: "sent"}},
		{name: "paid", kind: claimdlq.OutcomePaid, receives: 1, want: attempt.Decision{End: "settled", Disposition: claimdlq.Paid}},
		{name: "accepted", kind: claimdlq.OutcomeAccepted, receives: 1, want: attempt.Decision{End: "settled", Disposition: claimdlq.Accepted}},
		{name: "reversed", kind: claimdlq.OutcomeReversed, receives: 1, want: attempt.Decision{End: "settled", Disposition: claimdlq.Reversed}},
		{name: "rejected", kind: claimdlq.OutcomeRejected, receives: 1, want: attempt.Decision{End: "dead", Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal}},
		{name: "poison", kind: claimdlq.OutcomePoison, receives: 1, want: attempt.Decision{End: "dead", Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison}},
		{name: "transient, budget left", kind: claimdlq.OutcomeTransient, receives: 4, want: attempt.Decision{End: "again", Wait: 32 * time.Second}},
		{name: "transient, budget spent", kind: claimdlq.OutcomeTransient, receives: 5, want: attempt.Decision{End: "spent", Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient}},
		{name: "ambiguous", kind: claimdlq.OutcomeTransient, ambiguous: true, receives: 1, want: attempt.Decision{End: "doubt", Wait: 4 * time.Second}},
		{name: "unknown", kind: claimdlq.OutcomeUnknownKind, receives: 1, want: attempt.Decision{End: "doubt", Wait: 4 * time.Second}},
		{name: "an outcome that nobody knows", kind: 99, receives: 1, want: attempt.Decision{End: "doubt"}},
		{name: "ambiguous, idempotent, budget left", kind: claimdlq.OutcomeTransient, ambiguous: true, receives: 4, idempotent: true, want: attempt.Decision{End: "resend", Wait: 32 * time.Second}},
		{name: "ambiguous, idempotent, budget spent", kind: claimdlq.OutcomeTransient, ambiguous: true, receives: 5, idempotent: true, want: attempt.Decision{End: "doubt"}},
		{name: "certain now, doubted before", kind: claimdlq.OutcomeTransient, receives: 2, doubted: true, idempotent: true, want: attempt.Decision{End: "resend", Wait: 8 * time.Second}},
		{name: "certain now, doubted before, not idempotent", kind: claimdlq.OutcomeTransient, receives: 2, doubted: true, want: attempt.Decision{End: "doubt", Wait: 8 * time.Second}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := attempt.Decide(claimdlq.Outcome{Kind: c.kind, Ambiguous: c.ambiguous}, c.receives, c.doubted, c.idempotent, p)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// What the other side asks for beyond the cap concerns every claim that goes there: the
// breaker honours it.
func TestDecide_RetryAfterIsHonouredUpToTheCap(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for after, want := range map[time.Duration]time.Duration{0: 4 * time.Second, time.Second: 4 * time.Second, 30 * time.Second: 30 * time.Second, time.Hour: time.Minute} {
		got := attempt.Decide(claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, RetryAfter: after}, 1, false, false, p)
		if got.Wait != want {
			t.Errorf("Retry-After %v: waits %v", after, got.Wait)
		}
	}
}

// What may have arrived is never queued for another delivery unless the target is
// idempotent, and nothing is queued beyond the budget (promises 2 and 3).
func TestDecide_NothingIsSentAgainThatMayHaveArrived(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := claimdlq.Outcome{Kind: claimdlq.OutcomeKind(rapid.IntRange(0, 9).Draw(t, "kind")), Ambiguous: rapid.Bool().Draw(t, "ambiguous")}
		receives := uint32(rapid.IntRange(1, 7).Draw(t, "receives"))
		doubted, idempotent := rapid.Bool().Draw(t, "doubted"), rapid.Bool().Draw(t, "idempotent")
		got := attempt.Decide(o, receives, doubted, idempotent, claimdlq.DefaultPolicy())
		mayHave := o.Ambiguous || doubted || o.Kind == claimdlq.OutcomeUnknownKind
		switch {
		case got.End == "":
			t.Fatal("no end")
		case got.End == "again" && mayHave, got.End == "resend" && !idempotent, got.End == "spent" && mayHave:
			t.Fatalf("%s after what may have arrived", got.End)
		case (got.End == "again" || got.End == "resend") && receives >= 5:
			t.Fatalf("%s beyond the budget", got.End)
		}
	})
}
