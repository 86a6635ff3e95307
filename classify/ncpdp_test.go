package classify_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/classify"
)

// answer builds an answer out of "B1 A R 70,95": the transaction code, 501-F1,
// 112-AN and the reject codes; a dash is nothing, and a status of a dash means that
// there is no status segment.
func answer(s string) classify.NCPDPAnswer {
	f := strings.SplitN(s, " ", 4)
	a := classify.NCPDPAnswer{Header: f[1][0], Found: f[2] != "-"}
	copy(a.Code[:], f[0])
	if f[1] == "-" {
		a.Header = 0
	}
	if a.Found && f[2] != "_" {
		a.Status = f[2][0]
	}
	if len(f) == 4 {
		for _, c := range strings.Split(f[3], ",") {
			a.Rejects = append(a.Rejects, []byte(c))
		}
	}
	return a
}

// tell spells a result: class, outcome, and what else is set.
func tell(r classify.NCPDPResult) string {
	s := r.Class.String() + " " + r.Outcome().Kind.String() + " " + r.Code.String()
	for _, f := range []struct {
		on   bool
		name string
	}{
		{r.Ambiguous, "ambiguous"},
		{r.Budget != classify.BudgetNone, r.Budget.String()},
		{r.Recovered, "recovered"},
		{r.Verify, "verify"},
		{r.Unknown, "unknown"},
		{r.Split, "split"},
		{r.Config, "config"},
		{r.Stop, "stop"},
		{r.Overridden, "overridden"},
	} {
		if f.on {
			s += " " + f.name
		}
	}
	return s
}

const (
	clash   = "SUSPECT UNKNOWN ANSWER_CONTRADICTS_ITSELF ambiguous"
	noCodes = "SUSPECT UNKNOWN AN_R_WITHOUT_CODES ambiguous"
)

func TestNCPDP_StatusDecides(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"B1 A P":        "SETTLED PAID AN_P",
		"B3 A P":        "SETTLED PAID AN_P",
		"B1 A A":        "SETTLED ACCEPTED AN_A",
		"B1 A D":        "ALREADY_PAID DUPLICATE AN_D",
		"B1 A C":        "CAPTURED SUBMITTED AN_C",
		"B1 A Q":        "CAPTURED SUBMITTED AN_Q",
		"B2 A C":        "CAPTURED SUBMITTED AN_C",
		"P4 A F":        "DEFERRED SUBMITTED AN_F",
		"B2 A A":        "SETTLED REVERSED AN_A",
		"B2 A S":        "ALREADY_REVERSED REVERSED AN_S",
		"N1 A S":        "SETTLED ACCEPTED AN_S",
		"E1 A A":        "SETTLED ACCEPTED AN_A",
		"D1 A B":        "SETTLED ACCEPTED AN_B",
		"B1 A P ":       "SETTLED PAID AN_P",
		"B1 A P 00, ,0": "SETTLED PAID AN_P", // none of them is a code
		// Contradictions.
		"B1 A S":    clash,
		"B1 A B":    clash,
		"B2 A P":    clash,
		"B2 A D":    clash,
		"B1 R P":    clash,
		"B2 R A":    clash,
		"B1 A P 70": clash,
		"B1 A D 83": clash,
		"B1 A C 95": clash,
		"B1 A Z":    "SUSPECT UNKNOWN AN_UNKNOWN ambiguous",
		"B1 A ?":    "SUSPECT UNKNOWN AN_UNKNOWN ambiguous",
		"B1 A p":    "SUSPECT UNKNOWN AN_UNKNOWN ambiguous",
		// No status: the header decides.
		"B1 R -":    "POISON POISON F1_R",
		"B1 R _":    noCodes,
		"B1 A -":    "SUSPECT UNKNOWN NO_STATUS ambiguous",
		"B1 A _":    "SUSPECT UNKNOWN NO_STATUS ambiguous",
		"B1 A _ 70": "SUSPECT UNKNOWN NO_STATUS ambiguous",
		"B1 X -":    "SUSPECT UNKNOWN NO_STATUS ambiguous",
		"B1 - -":    "SUSPECT UNKNOWN NO_STATUS ambiguous",
		"B1 R _ 92": "TRANSIENT TRANSIENT FB_92 normal",
		"B1 R - 70": "TERMINAL REJECTED FB_70",
	} {
		if got := tell(classify.NCPDP(answer(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestNCPDP_RejectCodes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		// Transient, with who may have acted and how it spends.
		"85": "TRANSIENT TRANSIENT FB_85 ambiguous low", "90": "TRANSIENT TRANSIENT FB_90 ambiguous normal",
		"91": "TRANSIENT TRANSIENT FB_91 ambiguous normal", "92": "TRANSIENT TRANSIENT FB_92 normal", "93": "TRANSIENT TRANSIENT FB_93 window",
		"95": "TRANSIENT TRANSIENT FB_95 ambiguous normal", "96": "TRANSIENT TRANSIENT FB_96 window", "97": "TRANSIENT TRANSIENT FB_97 normal",
		"98": "TRANSIENT TRANSIENT FB_98 normal", "99": "TRANSIENT TRANSIENT FB_99 ambiguous low", "M3": "TRANSIENT TRANSIENT FB_M3 low",
		"841": "TRANSIENT TRANSIENT FB_841 low",
		"*95": "TRANSIENT TRANSIENT FB_95 ambiguous normal", " 95 ": "TRANSIENT TRANSIENT FB_95 ambiguous normal",
		// The seeds' four.
		"70": "TERMINAL REJECTED FB_70", "75": "TERMINAL REJECTED FB_75", "76": "TERMINAL REJECTED FB_76", "79": "TERMINAL REJECTED FB_79",
		"R8": "POISON POISON FB_R8", "94": "POISON POISON FB_94", "7": "POISON POISON FB_07", "07": "POISON POISON FB_07",
		"XQ": "TERMINAL REJECTED FB_XQ unknown", "ZQ": "TERMINAL REJECTED FB_ZQ unknown", "9999": "TERMINAL REJECTED FB_UNREADABLE unknown",
		"a b": "TERMINAL REJECTED FB_UNREADABLE unknown",
		// Already done.
		"83": "ALREADY_PAID DUPLICATE FB_83 verify", "792": "ALREADY_PAID DUPLICATE FB_792 verify",
		"31": "TERMINAL REJECTED FB_31", "84": "TERMINAL REJECTED FB_84",
		// What else they say.
		"1V": "POISON POISON FB_1V split", "1W": "POISON POISON FB_1W split", "RV": "POISON POISON FB_RV split", "824": "POISON POISON FB_824 split",
		"1T": "TERMINAL REJECTED FB_1T config", "793": "TERMINAL REJECTED FB_793 stop", "NN": "TERMINAL REJECTED FB_NN",
		"87": clash, // it answers reversals only
		// Several: what is deterministic beats what is transient.
		"99,70": "TERMINAL REJECTED FB_70", "70,99": "TERMINAL REJECTED FB_70", "92,88": "TERMINAL REJECTED FB_88", "95,79": "TERMINAL REJECTED FB_79",
		"95,07": "POISON POISON FB_07", "07,70": "TERMINAL REJECTED FB_70", "95,XQ": "TERMINAL REJECTED FB_XQ unknown",
		"99,99": "TRANSIENT TRANSIENT FB_99 ambiguous low", "92,95": "TRANSIENT TRANSIENT FB_92 ambiguous normal",
		"93,96": "TRANSIENT TRANSIENT FB_93 window", "93,92": "TRANSIENT TRANSIENT FB_93 normal", "92,99": "TRANSIENT TRANSIENT FB_92 ambiguous low",
		"95,00,": "TRANSIENT TRANSIENT FB_95 ambiguous normal",
		// A switch that gave up.
		"85,NN": "TRANSIENT TRANSIENT FB_85 ambiguous low", "NN,85": "TRANSIENT TRANSIENT FB_85 ambiguous low",
		"85,NN,70": "TERMINAL REJECTED FB_NN", "92,NN": "TERMINAL REJECTED FB_NN", "85,NN,R8": "TERMINAL REJECTED FB_NN",
		// Paid before, and refused for something else: this is the refusal of another claim.
		"83,79": "TERMINAL REJECTED FB_79", "83,07": "POISON POISON FB_07", "83,95": "ALREADY_PAID DUPLICATE FB_83 verify",
		"": noCodes, "00": noCodes, " , ": noCodes,
	} {
		if got := tell(classify.NCPDP(answer("B1 A R " + in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestNCPDP_AReversalHasNothingToTakeBack(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"B2 A R 84": "NOTHING_TO_REVERSE REVERSED FB_84 verify", "B2 A R 31": "NOTHING_TO_REVERSE REVERSED FB_31 verify",
		"B2 A R 87": "TRANSIENT TRANSIENT FB_87 ambiguous low", "B2 A R 83": "TERMINAL REJECTED FB_83",
		"B2 A R 30": "TERMINAL REJECTED FB_30", "B3 A R 84": "TERMINAL REJECTED FB_84", "B2 A R 84,95": "NOTHING_TO_REVERSE REVERSED FB_84 verify",
	} {
		if got := tell(classify.NCPDP(answer(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// After a delivery whose fate nobody knows, "you have been paid" is the payment
// that went missing.
func TestNCPDP_AfterAnAmbiguousFailureADuplicateIsARecoveredPayment(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"B1 A D": "ALREADY_PAID DUPLICATE AN_D recovered", "B1 A R 83": "ALREADY_PAID DUPLICATE FB_83 recovered",
		"B1 A R 83,79": "ALREADY_PAID DUPLICATE FB_83 recovered", "B2 A S": "ALREADY_REVERSED REVERSED AN_S recovered",
		"B2 A R 84": "NOTHING_TO_REVERSE REVERSED FB_84 recovered", "B1 A R 79": "TERMINAL REJECTED FB_79", "B1 A P": "SETTLED PAID AN_P",
	} {
		a := answer(in)
		a.AfterAmbiguous = true
		if got := tell(classify.NCPDP(a)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestNCPDP_AnAnswerToAnotherClaimDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, f := range []string{"A3", "A9", "B1", "D1", "D2"} {
		for _, in := range []string{"B1 A P", "B1 A R 70", "B1 A D"} {
			a := answer(in)
			a.Mismatch, a.AfterAmbiguous = f, true
			if got, want := tell(classify.NCPDP(a)), "SUSPECT UNKNOWN ECHO_"+f+" ambiguous"; got != want {
				t.Errorf("%s: %s", f, got)
			}
		}
	}
	for _, segment := range []string{"22", "23"} { // a payment that was cut off
		cut := answer("B1 A R 8")
		cut.Mismatch = "FB"
		if got, want := tell(classify.NCPDP(cut)), "SUSPECT UNKNOWN CUT_FB ambiguous"; got != want {
			t.Errorf("a code that was cut off: %s", got)
		}
		a := answer("B1 A P")
		a.Mismatch = segment
		if got, want := tell(classify.NCPDP(a)), "SUSPECT UNKNOWN CUT_"+segment+" ambiguous"; got != want {
			t.Errorf("%s: %s", segment, got)
		}
	}
	a := answer("B1 A P")
	a.Mismatch = "something else"
	if got := tell(classify.NCPDP(a)); got != clash {
		t.Error(got)
	}
}

func TestNCPDP_ClassesHaveTheirReasons(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"B1 A R 70": "TERMINAL/SEMANTIC_REJECT/false", "B1 A R R8": "POISON/FATAL_SYNTAX/false", "B1 A R 92": "TRANSIENT/RETRIES_EXHAUSTED/false",
		"B1 A Z": "/OUTCOME_UNKNOWN/false", "B1 A P": "//false", "B1 A C": "//true", "P4 A F": "//true", "B1 A D": "//false",
	} {
		r := classify.NCPDP(answer(in))
		if got := fmt.Sprintf("%s/%s/%v", r.FailureClass(), r.Reason(), r.Waits()); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	var none classify.NCPDPResult
	if none.Outcome().Kind != claimdlq.OutcomeUnknownKind || none.FailureClass() != claimdlq.ClassNone {
		t.Error("a result that nobody filled in is something")
	}
}

func TestNCPDPTransport_WhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		page, gateway bool
		want          string
	}{
		{true, false, "TRANSIENT TRANSIENT ANSWER_HTML normal"},
		{true, true, "TRANSIENT TRANSIENT ANSWER_HTML ambiguous normal"},
		{false, false, "SUSPECT UNKNOWN ANSWER_UNREADABLE ambiguous"},
	} {
		if got := tell(classify.NCPDPTransport(tt.page, tt.gateway)); got != tt.want {
			t.Errorf("%v: %s", tt, got)
		}
	}
}

func TestNormalReject_OneFormForEach(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"95": "95", " 95": "95", "95 ": "95", "*95": "95", "* 95 ": "95", "7": "07", "M": "M", "AA": "AA", "841": "841", "8411": "?", "a": "?", "9\x1c": "?",
	} {
		r, ok := classify.NormalReject([]byte(in))
		if !ok || r.String() != want {
			t.Errorf("%q: %q %v", in, r, ok)
		}
	}
	for _, in := range []string{"", " ", "*", "0", "00", "000", " 00 "} {
		if r, ok := classify.NormalReject([]byte(in)); ok {
			t.Errorf("%q: %q", in, r)
		}
	}
}

func TestRejectRules_TheTableIsWellFormed(t *testing.T) {
	t.Parallel()
	all := classify.RejectRules()
	classes := map[string]int{}
	seen := map[classify.Reject]bool{}
	for _, r := range all {
		classes[r.Class.String()]++
		if seen[r.Code] || r.Label == "" || r.Detail.String() != "FB_"+r.Code.String() {
			t.Errorf("%s: twice, or no label, or detail %s", r.Code, r.Detail)
		}
		seen[r.Code] = true
		if transient := r.Class == classify.NCPDPTransient; transient != (r.Budget != classify.BudgetNone) || r.Ambiguous && !transient {
			t.Errorf("%s: budget %s with class %s", r.Code, r.Budget, r.Class)
		}
		if got, ok := classify.LookupReject(r.Code); !ok || got != r {
			t.Errorf("%s is not found", r.Code)
		}
	}
	want := map[string]int{"POISON": 882, "TERMINAL": 479, "TRANSIENT": 16, "ALREADY_PAID": 4}
	for c, n := range want {
		if classes[c] != n {
			t.Errorf("%d are %s, want %d", classes[c], c, n)
		}
	}
}

func TestNCPDPRules_OverridesByPartnerCodeAndText(t *testing.T) {
	t.Parallel()
	rules, err := classify.NewNCPDPRules([]classify.NCPDPOverride{
		{Code: "99", Class: classify.NCPDPTerminal}, // for all
		{BIN: "999999", Code: "99", Class: classify.NCPDPTransient, Ambiguous: true, Budget: classify.BudgetNormal},
		{BIN: "999999", PCN: "TESTPCN", Code: "99", Class: classify.NCPDPPoison},
		{PCN: "OTHER", Code: "70", Class: classify.NCPDPTransient, Budget: classify.BudgetWindow},
		{Code: "XQ", Class: classify.NCPDPAlreadyPaid},
		{BIN: "888888", Code: "76", Class: classify.NCPDPSuspect},
		{BIN: "999999", Prefix: "EV16", Class: classify.NCPDPTransient, Ambiguous: true},
		{Prefix: "already on system", Class: classify.NCPDPAlreadyPaid},
		{Prefix: "Credit Failed But", Class: classify.NCPDPSettled},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ bin, pcn, in, text, want string }{
		{"777777", "", "B1 A R 99", "", "TERMINAL REJECTED FB_99 overridden"},
		{"999999", "X", "B1 A R 99", "", "TRANSIENT TRANSIENT FB_99 ambiguous normal overridden"},
		{"999999", "TESTPCN", "B1 A R 99", "", "POISON POISON FB_99 overridden"},
		{"999999", "TESTPCN ", "B1 A R *99", "", "POISON POISON FB_99 overridden"},
		{"777777", "OTHER", "B1 A R 70", "", "TRANSIENT TRANSIENT FB_70 window overridden"},
		{"777777", "", "B1 A R 70", "", "TERMINAL REJECTED FB_70"},
		{"777777", "OTHER", "B1 A R 70,79", "", "TERMINAL REJECTED FB_79 overridden"},
		{"777777", "", "B1 A R XQ", "", "ALREADY_PAID DUPLICATE FB_XQ verify overridden"},
		{"888888", "", "B1 A R 76,70", "", clash},
		{"999999", "", "B1 A R 70", "EV16 TIMED OUT", "TRANSIENT TRANSIENT TEXT_RULE ambiguous normal overridden"},
		{"999999", "", "B1 R -", "ev16", "TRANSIENT TRANSIENT TEXT_RULE ambiguous normal overridden"},
		{"777777", "", "B1 A R 70", "EV16", "TERMINAL REJECTED FB_70"},
		{"777777", "", "B1 A R 70", "NOT EV16", "TERMINAL REJECTED FB_70"},
		{"777777", "", "B1 A R 70", "ALREADY ON SYSTEM", "ALREADY_PAID DUPLICATE TEXT_RULE verify overridden"},
		{"777777", "", "B2 A R 70", "CREDIT FAILED BUT REPROCESSED", "SETTLED REVERSED TEXT_RULE overridden"},
		// A text never talks a yes away.
		{"999999", "", "B1 A P", "EV16", "SETTLED PAID AN_P"},
	} {
		a := answer(tt.in)
		a.BIN, a.PCN = []byte(tt.bin), []byte(tt.pcn)
		if tt.text != "" {
			a.Texts = [][]byte{[]byte("SOMETHING"), []byte(tt.text)}
		}
		if got := tell(rules.Classify(a)); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestNewNCPDPRules_NamesEveryFaultAndNoText(t *testing.T) {
	t.Parallel()
	bad := []classify.NCPDPOverride{
		{},
		{Code: "70"},
		{Code: "70", Class: classify.NCPDPCaptured},
		{Code: "70", Prefix: "CANARY", Class: classify.NCPDPTerminal},
		{Code: "CANARY", Class: classify.NCPDPTerminal},
		{Code: "00", Class: classify.NCPDPTerminal},
		{Prefix: "CA", Class: classify.NCPDPTerminal},
		{Code: "70", Class: classify.NCPDPSettled},
		{Code: "70", Class: classify.NCPDPTerminal, Ambiguous: true},
		{Code: "70", Class: classify.NCPDPTerminal, Budget: classify.BudgetLow},
		{Code: "70", Class: classify.NCPDPTerminal, BIN: "CANARY"},
		{Code: "70", Class: classify.NCPDPTerminal, BIN: "99999"},
	}
	_, err := classify.NewNCPDPRules(append(bad, classify.NCPDPOverride{Code: "70", Class: classify.NCPDPTransient}))
	if !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "CANARY") {
		t.Fatal(err)
	}
	for i := range bad {
		if want := fmt.Sprintf("number %d:", i+1); !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named in %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "number 13:") {
		t.Error("a good one is named")
	}
}

func TestCodesOf_InOrderAndNormal(t *testing.T) {
	t.Parallel()
	if got := strings.Join(classify.CodesOf([][]byte{[]byte("95 "), nil, []byte("00"), []byte("7"), []byte("*96"), []byte("secret")}), " "); got != "95 07 96 ?" {
		t.Error(got)
	}
	if classify.CodesOf(nil) == nil {
		t.Error("no codes are null in JSON")
	}
}
