package answer_test

import (
	"testing"

	"claimdlq/classify"
	"claimdlq/flow/answer"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/ncpdp"
)

// request makes a transmission of so many claims.
func request(t *testing.T, claims int) []byte {
	t.Helper()
	g, err := testclaims.NewRx(testclaims.RxOptions{Claims: claims, TransactionsPer: claims, CompoundEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	return g.Append(nil, 1)
}

func response(t *testing.T, request []byte, verdicts ...ncpdp.Verdict) []byte {
	t.Helper()
	b, err := ncpdp.BuildResponse(ncpdp.Parse(request), 'A', "", verdicts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReader_EachTransactionHasItsOwnMeaning(t *testing.T) {
	t.Parallel()
	req := request(t, 4)
	yes := ncpdp.Verdict{Status: "P", Auth: "TEST", Amounts: []ncpdp.FieldAmount{{ID: "F9", Units: 1}}}
	resp := response(t, req, yes, ncpdp.Verdict{Status: "R", Rejects: []string{"70"}},
		ncpdp.Verdict{Status: "R", Rejects: []string{"92"}})
	var r answer.Reader
	r.Reset(req, resp)
	for i, want := range []string{"AN_P", "FB_70", "FB_92", "NO_STATUS"} { // nothing is said of the fourth
		if got := r.Result(i+1, nil, false); got.Code.String() != want {
			t.Errorf("transaction %d: %s %s, want %s", i+1, got.Class, got.Code, want)
		}
	}
	if got := r.Result(3, nil, false); got.Class != classify.NCPDPTransient || got.Budget != classify.BudgetNormal {
		t.Errorf("got %+v", got)
	}
}

func TestRead_AD(t *testing.T) {
	t.Parallel()
	req := request(t, 1)
	resp := response(t, req, ncpdp.Verdict{Status: "D"})
	for _, doubted := range []bool{false, true} {
		if got := answer.Read(req, resp, 1, nil, doubted); got.Class != classify.NCPDPAlreadyPaid || got.Recovered != doubted {
			t.Errorf("after an ambiguous failure %t: %+v", doubted, got)
		}
	}
}

func TestRead_WhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	req, other := request(t, 1), request(t, 2)
	for name, c := range map[string]struct {
		answer    []byte
		class     classify.NCPDPClass
		code      string
		ambiguous bool
	}{
		"the request":          {req, classify.NCPDPSuspect, "ECHO_A3", true},
		"another's answer":     {response(t, other, ncpdp.Verdict{Status: "P"}, ncpdp.Verdict{Status: "P"}), classify.NCPDPSuspect, "ECHO_A9", true},
		"a page":               {[]byte("<html><body>Sign in</body></html>"), classify.NCPDPTransient, "ANSWER_HTML", false},
		"a gateway's page":     {[]byte("<html><h1>502 Bad Gateway</h1></html>"), classify.NCPDPTransient, "ANSWER_HTML", true},
		"a gateway's time-out": {[]byte("<!DOCTYPE HTML><title>Gateway Time-out</title>"), classify.NCPDPTransient, "ANSWER_HTML", true},
		"text":                 {[]byte("502 Bad Gateway"), classify.NCPDPSuspect, "ANSWER_UNREADABLE", true},
		"half a header":        {[]byte("D0B11A01"), classify.NCPDPSuspect, "", true},
	} {
		got := answer.Read(req, c.answer, 1, nil, false)
		if got.Class != c.class || got.Ambiguous != c.ambiguous || c.code != "" && got.Code.String() != c.code {
			t.Errorf("%s: %s %s, ambiguous %t", name, got.Class, got.Code, got.Ambiguous)
		}
	}
}

func TestReader_KnowsThePartnersOwnRules(t *testing.T) {
	t.Parallel()
	rules, err := classify.NewNCPDPRules([]classify.NCPDPOverride{{BIN: "999999", PCN: "TESTPCN", Code: "70", Class: classify.NCPDPTransient}})
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, 1)
	resp := response(t, req, ncpdp.Verdict{Status: "R", Rejects: []string{"70"}})
	if got := answer.Read(req, resp, 1, rules, false); got.Class != classify.NCPDPTransient || !got.Overridden {
		t.Errorf("got %+v", got)
	}
}

func FuzzReader_NeverPanics(f *testing.F) {
	f.Add([]byte("D0B11A01"), []byte("<html>"), 1, true)
	f.Fuzz(func(_ *testing.T, req, resp []byte, n int, doubted bool) {
		var r answer.Reader
		r.Reset(req, resp)
		_ = r.Result(n, nil, doubted)
		r.Reset(nil, nil)
		_ = r.Result(n, nil, doubted)
	})
}
