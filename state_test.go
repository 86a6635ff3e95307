package claimdlq_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"claimdlq"
)

// moves is the table of DESIGN section 5 as the specification has it, by name.
var moves = map[string]string{
	"":            "queued in_doubt quarantined parked settled",
	"queued":      "queued leased in_doubt quarantined parked settled withdrawn",
	"leased":      "submitted settled queued quarantined in_doubt",
	"submitted":   "submitted settled quarantined queued in_doubt parked withdrawn",
	"in_doubt":    "submitted settled quarantined queued parked withdrawn",
	"quarantined": "quarantined queued in_doubt parked settled withdrawn",
	"parked":      "parked quarantined in_doubt settled withdrawn",
	"settled":     "settled quarantined",
	"withdrawn":   "",
}

func TestCanMove_EveryPairIsAsTheTableSays(t *testing.T) {
	t.Parallel()
	pairs := 0
	for _, from := range append([]claimdlq.State{0}, claimdlq.States...) {
		name := ""
		if from != 0 {
			name = from.String()
		}
		for _, to := range append([]claimdlq.State{0, 9, 255}, claimdlq.States...) {
			pairs++
			want := slices.Contains(strings.Fields(moves[name]), to.String())
			if got := claimdlq.CanMove(from, to); got != want {
				t.Errorf("%q to %q: %t, want %t", from, to, got, want)
			}
		}
	}
	if pairs != 9*11 {
		t.Fatalf("%d pairs were tried", pairs)
	}
	if claimdlq.CanMove(255, claimdlq.StateQueued) {
		t.Error("a state that is none can move")
	}
}

func reachable(from claimdlq.State) map[claimdlq.State]bool {
	seen := map[claimdlq.State]bool{}
	for todo := []claimdlq.State{from}; len(todo) > 0; {
		s := todo[0]
		todo = todo[1:]
		for _, to := range claimdlq.States {
			if claimdlq.CanMove(s, to) && !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	return seen
}

func TestState_EveryStateIsReachedAndHasAnExitOrIsFinal(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		if !reachable(0)[s] {
			t.Errorf("%s is never reached", s)
		}
		out := reachable(s)
		if s.Unresolved() && (!out[claimdlq.StateSettled] || !out[claimdlq.StateWithdrawn]) {
			t.Errorf("%s cannot end", s)
		}
	}
	if len(reachable(claimdlq.StateWithdrawn)) != 0 {
		t.Error("withdrawn is not final")
	}
}

func TestState_OnlySettledAndWithdrawnAreResolved(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		if want := s != claimdlq.StateSettled && s != claimdlq.StateWithdrawn; s.Unresolved() != want {
			t.Errorf("%s: unresolved is %t", s, s.Unresolved())
		}
	}
}

func TestState_NothingIsDeliveredWithoutALeaseNorFromAPark(t *testing.T) {
	t.Parallel()
	for _, from := range claimdlq.States {
		if claimdlq.CanMove(from, claimdlq.StateLeased) != (from == claimdlq.StateQueued) {
			t.Errorf("%s to leased", from)
		}
	}
	for _, to := range []claimdlq.State{claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted} {
		if claimdlq.CanMove(claimdlq.StateParked, to) {
			t.Errorf("parked to %s", to)
		}
	}
}

func TestNames_AreSpelledAsTheFieldSpellsThem(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal([]any{
		claimdlq.States, claimdlq.Reasons,
		[]claimdlq.Class{claimdlq.Transient, claimdlq.Terminal, claimdlq.Poison},
		[]claimdlq.Disposition{claimdlq.Paid, claimdlq.Accepted, claimdlq.DuplicateOfPaid, claimdlq.Reversed, claimdlq.Rejected, claimdlq.Processed},
		[]claimdlq.Hold{claimdlq.HoldNone, claimdlq.HoldIntake, claimdlq.HoldTarget, claimdlq.HoldBreaker, claimdlq.HoldLineage, claimdlq.HoldApproval},
		[]claimdlq.Format{claimdlq.FormatUnreadable, claimdlq.Format837P, claimdlq.Format837I, claimdlq.Format837D, claimdlq.FormatX12, claimdlq.FormatAck, claimdlq.FormatNCPDP},
		[]claimdlq.Scope{claimdlq.ScopeTransaction, claimdlq.ScopeClaim, claimdlq.ScopeGroup, claimdlq.ScopeInterchange, claimdlq.ScopeFile},
		[]claimdlq.ReplayResult{
			claimdlq.Replayed, claimdlq.DuplicateSuppressed, claimdlq.ParkedAtCap,
			claimdlq.ReplayNotFound, claimdlq.NotCorrected, claimdlq.InDoubtFirst,
		},
		[]claimdlq.SubmissionState{1, 2, 3, 4, 5, 6, 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `[["queued","leased","submitted","in_doubt","quarantined","parked","settled","withdrawn"],` +
		`["FATAL_SYNTAX","RETRIES_EXHAUSTED","SEMANTIC_REJECT","OUTCOME_UNKNOWN","OVERFLOW","EXPIRED"],` +
		`["TRANSIENT","TERMINAL","POISON"],` +
		`["PAID","ACCEPTED","DUPLICATE_OF_PAID","REVERSED","REJECTED","PROCESSED"],` +
		`["","intake","target","breaker","lineage","approval"],` +
		`["unreadable","837p","837i","837d","x12","ack","ncpdp"],` +
		`["transaction","claim","group","interchange","file"],` +
		`["replayed","duplicate_suppressed","parked","not_found","not_corrected","in_doubt"],` +
		`["ready","leased","sending","sent","in_doubt","answered","dead"]]`
	if string(got) != want {
		t.Errorf("names are\n%s, want\n%s", got, want)
	}
}

func TestParse_RoundTripsAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	for _, s := range claimdlq.States {
		if got, err := claimdlq.ParseState(s.String()); got != s || err != nil {
			t.Errorf("state %s: %v, %v", s, got, err)
		}
		var u claimdlq.State
		if err := u.UnmarshalText([]byte(s.String())); u != s || err != nil {
			t.Errorf("state %s: %v, %v", s, u, err)
		}
	}
	for _, r := range claimdlq.Reasons {
		if got, err := claimdlq.ParseReason(r.String()); got != r || err != nil {
			t.Errorf("reason %s: %v, %v", r, got, err)
		}
	}
	for _, s := range []string{"", "QUEUED", "queued ", "state(1)", "fatal_syntax"} {
		if got, err := claimdlq.ParseState(s); got != 0 || !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("state %q: %v, %v", s, got, err)
		}
		if got, err := claimdlq.ParseReason(s); got != 0 || !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("reason %q: %v, %v", s, got, err)
		}
	}
	if s := claimdlq.State(99).String(); s != "state(99)" {
		t.Errorf("an unknown state is %q", s)
	}
}
