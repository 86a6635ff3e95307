package classify_test

import (
	"fmt"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/classify"
)

// say spells an Ack as result/class/reason/outcome/code.
func say(a classify.Ack) string {
	s := fmt.Sprintf("%s/%s/%s/%s/%s", a.Result, a.Class, a.Reason, a.Outcome.Kind, a.Outcome.Code)
	if a.Unknown {
		s += "/unknown"
	}
	return s
}

func TestTA1_EveryNoteHasItsMeaning(t *testing.T) {
	t.Parallel()
	const (
		form   = "rejected/POISON/FATAL_SYNTAX/POISON"
		config = "rejected/TERMINAL/FATAL_SYNTAX/REJECTED"
	)
	want := map[string]string{
		"023": "transient/TRANSIENT//TRANSIENT",
		"025": "already received/TERMINAL//DUPLICATE",
		"000": config, // rejected without a reason
	}
	for _, n := range strings.Fields("001 004 014 015 016 017 018 019 021 022 024 026 027 028 029 030 031 032") {
		want[n] = form
	}
	for _, n := range strings.Fields("002 003 005 006 007 008 009 010 011 012 013 020") {
		want[n] = config
	}
	if len(want) != 33 {
		t.Fatalf("%d notes, want 000 to 032", len(want))
	}
	for note, w := range want {
		a, ok := classify.TA1("R", note)
		if got := say(a); !ok || got != w+"/TA1:"+note {
			t.Errorf("R %s: %s", note, got)
		}
		a, ok = classify.TA1("A", note)
		if got := say(a); !ok || got != "accepted///SUBMITTED/TA1:"+note {
			t.Errorf("A %s: %s", note, got)
		}
		a, ok = classify.TA1("E", note) // the sender must not resend
		if got := say(a); !ok || got != "accepted with errors///SUBMITTED/TA1:"+note {
			t.Errorf("E %s: %s", note, got)
		}
	}
	if a, ok := classify.TA1("R", "099"); !ok || say(a) != config+"/TA1:099/unknown" {
		t.Errorf("an unknown note: %s", say(a))
	}
	// Notes as some receivers write them: without leading zeros, or not at all.
	for _, c := range [][3]string{
		{"R", "25", "already received/TERMINAL//DUPLICATE/TA1:025"},
		{"R", "1", form + "/TA1:001"},
		{"A", "0", "accepted///SUBMITTED/TA1:000"},
		{"A", "", "accepted///SUBMITTED/TA1:A"},
		{"E", "", "accepted with errors///SUBMITTED/TA1:E"},
		{"R", "", config + "/TA1:R/unknown"},
	} {
		if a, ok := classify.TA1(c[0], c[1]); !ok || say(a) != c[2] {
			t.Errorf("%s with note %q: %s, want %s", c[0], c[1], say(a), c[2])
		}
	}
	for _, status := range []string{"", "X", "AR"} {
		if _, ok := classify.TA1(status, "000"); ok {
			t.Errorf("TA104 %q was believed", status)
		}
	}
}

func TestSet_VerdictsAndTheirCauses(t *testing.T) {
	t.Parallel()
	tests := []struct{ verdict, codes, want string }{
		{"A", "", "accepted///SUBMITTED/IK5:A"},
		{"E", "5", "accepted with errors///SUBMITTED/IK5:E"},
		{"R", "", "rejected/POISON/FATAL_SYNTAX/POISON/IK5:R"},
		{"R", "5", "rejected/POISON/FATAL_SYNTAX/POISON/IK5:R:5"},
		{"R", "I5", "rejected/POISON/FATAL_SYNTAX/POISON/IK5:R:I5"},
		{"R", "4", "rejected/POISON/FATAL_SYNTAX/POISON/IK5:R:4"},
		{"R", "23", "rejected/POISON/FATAL_SYNTAX/POISON/IK5:R:23"},
		{"R", "1", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:R:1"},
		{"R", "I6", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:R:I6"},
		{"R", "13", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:R:13"},
		// Configuration outranks content: no correction of the claim can help.
		{"R", "5 19", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:R:19"},
		{"R", "19 5", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:R:19"},
		{"R", "5 99", "rejected/POISON/FATAL_SYNTAX/POISON/IK5:R:5/unknown"},
		{"M", "", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:M"},
		{"W", "", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:W"},
		{"X", "", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/IK5:X"},
	}
	for _, tt := range tests {
		a, ok := classify.Set(tt.verdict, strings.Fields(tt.codes))
		if got := say(a); !ok || got != tt.want {
			t.Errorf("%s %s: %s", tt.verdict, tt.codes, got)
		}
	}
	for _, bad := range []string{"", "P", "B", "a"} { // P is a group's word
		if _, ok := classify.Set(bad, nil); ok {
			t.Errorf("IK501 %q was believed", bad)
		}
	}
}

func TestGroup_VerdictsAndTheirCauses(t *testing.T) {
	t.Parallel()
	tests := []struct{ verdict, codes, want string }{
		{"A", "", "accepted///SUBMITTED/AK9:A"},
		{"E", "", "accepted with errors///SUBMITTED/AK9:E"},
		{"P", "5", "accepted with errors///SUBMITTED/AK9:P"},
		{"R", "5", "rejected/POISON/FATAL_SYNTAX/POISON/AK9:R:5"},
		{"R", "1", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/AK9:R:1"},
		{"R", "2", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/AK9:R:2"},
		{"R", "19", "rejected/POISON/FATAL_SYNTAX/POISON/AK9:R:19"},
		{"R", "18", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/AK9:R:18"},
		{"X", "", "rejected/TERMINAL/FATAL_SYNTAX/REJECTED/AK9:X"},
	}
	for _, tt := range tests {
		a, ok := classify.Group(tt.verdict, strings.Fields(tt.codes))
		if got := say(a); !ok || got != tt.want {
			t.Errorf("%s %s: %s", tt.verdict, tt.codes, got)
		}
	}
}

func statuses(s string) []classify.Status {
	var all []classify.Status
	for _, f := range strings.Fields(s) {
		p := append(strings.Split(f, ":"), "", "", "")
		all = append(all, classify.Status{Category: p[0], Code: p[1], Entity: p[2], Action: p[3]})
	}
	return all
}

func TestStatuses_CategoryDecides(t *testing.T) {
	t.Parallel()
	const no = "rejected/TERMINAL/SEMANTIC_REJECT/REJECTED"
	tests := []struct{ in, want string }{
		{"A0:16", "pending///SUBMITTED/STC:A0:16"},
		{"A1:19:PR", "pending///SUBMITTED/STC:A1:19:PR"},
		{"A2:20:PR", "accepted///ACCEPTED/STC:A2:20:PR"},
		{"A5:20", "accepted///ACCEPTED/STC:A5:20"},
		{"A3:21", no + "/STC:A3:21"},
		{"A4:35", no + "/STC:A4:35"},
		{"A6:21", no + "/STC:A6:21"},
		{"A7:562:85", no + "/STC:A7:562:85"},
		{"A8:24:41", no + "/STC:A8:24:41"},
		{"E0:0", no + "/STC:E0:0"},
		{"E3:0", no + "/STC:E3:0"},
		{"E4:0", no + "/STC:E4:0"},
		{"E1:0", "transient/TRANSIENT//TRANSIENT/STC:E1:0"},
		{"E2:0", "transient/TRANSIENT//TRANSIENT/STC:E2:0"},
		{"D0:35", "pending///SUBMITTED/STC:D0:35"},
		{"P1:20", "pending///SUBMITTED/STC:P1:20"},
		{"F2:20", "pending///SUBMITTED/STC:F2:20"},
		{"R17:20", "pending///SUBMITTED/STC:R17:20"},
		// A duplicate is a reject with one of two statuses, never an acceptance.
		{"A3:54", "duplicate/TERMINAL/SEMANTIC_REJECT/DUPLICATE/STC:A3:54"},
		{"A3:78", "duplicate/TERMINAL/SEMANTIC_REJECT/DUPLICATE/STC:A3:78"},
		{"A7:562 A3:54", "duplicate/TERMINAL/SEMANTIC_REJECT/DUPLICATE/STC:A3:54"},
		{"A2:54", "accepted///ACCEPTED/STC:A2:54"},
		// A claim is not half accepted.
		{"A2:20 A7:562", no + "/STC:A7:562"},
		{"A7:562 A2:20", no + "/STC:A7:562"},
		{"E2:0 A7:562", no + "/STC:A7:562"},
		{"A1:19 A2:20", "accepted///ACCEPTED/STC:A2:20"},
		{"A1:19 E2:0", "transient/TRANSIENT//TRANSIENT/STC:E2:0"},
		// What is in adjudication must not be sent again.
		{"E2:0 A2:20", "accepted///ACCEPTED/STC:A2:20"},
		// Nothing is concluded from what is not known, unless STC03 says it.
		{"Z9:1", "pending///SUBMITTED/STC:Z9:1/unknown"},
		{"Z9:1::U", no + "/STC:Z9:1/unknown"},
		{"A2:20 Z9:1", "accepted///ACCEPTED/STC:A2:20/unknown"},
	}
	for _, tt := range tests {
		a, ok := classify.Statuses(statuses(tt.in))
		if got := say(a); !ok || got != tt.want {
			t.Errorf("%s: %s", tt.in, got)
		}
	}
	if _, ok := classify.Statuses(nil); ok {
		t.Error("no status at all was believed")
	}
}

func TestVerdict_SpeaksTheWordsOfValidation(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"A2:20": "OK", "A1:19": "OK", "A7:562": "TERMINAL", "E2:0": "TRANSIENT", "A3:54": "TERMINAL"} {
		if a, _ := classify.Statuses(statuses(in)); a.Verdict() != want {
			t.Errorf("%s: %s", in, a.Verdict())
		}
	}
	if a, _ := classify.Set("R", []string{"5"}); a.Verdict() != "FATAL_SYNTAX" {
		t.Error(a.Verdict())
	}
}

func TestRules_TheTableIsWellFormed(t *testing.T) {
	t.Parallel()
	results := map[classify.Result]bool{
		classify.Accepted: true, classify.AcceptedWithErrors: true, classify.Rejected: true, classify.Pending: true,
		classify.TryLater: true, classify.Duplicate: true, classify.AlreadyReceived: true,
	}
	scopes := map[string]int{}
	seen := map[string]bool{}
	for _, r := range classify.Rules() {
		scopes[r.Scope]++
		key := r.Scope + " " + r.Code
		if seen[key] || !results[r.Result] || r.Label == "" {
			t.Errorf("%s: twice, or no such result, or no label", key)
		}
		seen[key] = true
		if good := r.Result == classify.Accepted || r.Result == classify.AcceptedWithErrors || r.Result == classify.Pending; good != (r.Class == claimdlq.ClassNone) {
			t.Errorf("%s: %s with class %s", key, r.Result, r.Class)
		}
		if r.Result == classify.Rejected && r.Reason == claimdlq.ReasonNone {
			t.Errorf("%s: rejected for no reason", key)
		}
	}
	want := map[string]int{"TA1": 33, "IK501": 6, "IK502": 25, "AK901": 7, "AK905": 25, "STC": 44, "STATUS": 2}
	for scope, n := range want {
		if scopes[scope] != n {
			t.Errorf("%s has %d rules, want %d", scope, scopes[scope], n)
		}
	}
}
