package check_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/check"
)

// pharmacyCase is one entry of the shared index.
type pharmacyCase struct {
	File         string           `json:"file"`
	Kind         string           `json:"kind"`
	Ver          string           `json:"ver"`
	Tx           string           `json:"tx"`
	A9           *int             `json:"a9"`
	Details      *int             `json:"details"`
	Transactions []map[string]any `json:"transactions"`
	Class        string           `json:"class"`
	Per          []string         `json:"per"`
	Ambiguous    *bool            `json:"ambiguous"`
	Error        string           `json:"error"`
	Note         string           `json:"note"`
}

func pharmacyCases(t *testing.T) (dir string, cases []pharmacyCase) {
	t.Helper()
	dir = filepath.Join(filepath.Dir(fixtures(t)), "ncpdp")
	b, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Skip("the shared pharmacy fixtures are not next to this repository")
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 61 {
		t.Fatalf("the index has %d cases", len(cases))
	}
	return filepath.Join(dir, "files"), cases
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

func TestPharmacy_EveryCaseOfTheIndex(t *testing.T) {
	t.Parallel()
	dir, cases := pharmacyCases(t)
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			t.Parallel()
			rep, err := check.File(t.Context(), filepath.Join(dir, c.File), check.Options{Reveal: true})
			if err != nil {
				t.Fatal(err)
			}
			r := rep.NCPDP
			if r == nil {
				t.Fatal("it was not seen as a pharmacy file")
			}
			if r.Kind != c.Kind || r.Verdict != c.Class || text(r.Error) != c.Error {
				t.Errorf("%s %s %q, want %s %s %q: %s", r.Kind, r.Verdict, text(r.Error), c.Kind, c.Class, c.Error, c.Note)
			}
			if c.Ver != "" && text(r.Version) != c.Ver || c.Tx != "" && text(r.TransactionCode) != c.Tx {
				t.Errorf("version %q, code %q, want %q, %q", text(r.Version), text(r.TransactionCode), c.Ver, c.Tx)
			}
			for _, n := range []*int{c.A9, c.Details} {
				if n != nil && (r.Count == nil || *r.Count != *n) {
					t.Errorf("count %v, want %d", r.Count, *n)
				}
			}
			comparePharmacy(t, c, r)
			if t.Failed() {
				t.Log(rep)
			}
		})
	}
}

func comparePharmacy(t *testing.T, c pharmacyCase, r *check.NCPDP) {
	t.Helper()
	if c.Transactions == nil {
		return
	}
	if len(r.Transactions) != len(c.Transactions) {
		t.Fatalf("%d transactions, want %d", len(r.Transactions), len(c.Transactions))
	}
	for i, want := range c.Transactions {
		got := r.Transactions[i]
		for key, v := range map[string]*string{"d2": got.Rx, "d3": got.Fill, "d7": got.NDC, "e7": got.Quantity} {
			if w, ok := want[key]; ok && text(v) != asText(w) {
				t.Errorf("transaction %d: %s is %q, want %v", i+1, key, text(v), w)
			}
		}
		if w, ok := want["rejects"].([]any); ok {
			var codes []string
			for _, x := range w {
				codes = append(codes, x.(string))
			}
			if !slices.Equal(got.Rejects, codes) {
				t.Errorf("transaction %d: rejects %v, want %v", i+1, got.Rejects, codes)
			}
		}
		class := c.Class
		if len(c.Per) > i {
			class = c.Per[i]
		}
		if got.Class != class || c.Ambiguous != nil && got.Ambiguous != *c.Ambiguous {
			t.Errorf("transaction %d: %s, ambiguous %v, want %s", i+1, got.Class, got.Ambiguous, class)
		}
	}
}

func asText(v any) string {
	s, _ := v.(string)
	return s
}

// Nothing that identifies a claim or a person is in a report that was not asked
// to reveal it, in either form.
func TestPharmacy_ReportsHideWhatIdentifies(t *testing.T) {
	t.Parallel()
	dir, cases := pharmacyCases(t)
	for _, c := range cases {
		rep, err := check.File(t.Context(), filepath.Join(dir, c.File), check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.ReplaceAll(string(b)+rep.String(), c.File, "")
		for _, secret := range []string{
			"100001", "1234567", "9999900", "30.000", "10.000", "SYN00000", "TESTGRP", "TESTPCN", "PATIENT", "19700101", "PRESCRIBER",
			"AUTH0", "TERMED", "SYNTAX ERROR", "REF000",
		} {
			if strings.Contains(all, secret) {
				t.Errorf("%s: the report holds %s", c.File, secret)
			}
		}
	}
}

func TestPharmacy_TheJSONHasItsKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "one.bin")
	req := "999999D0B1TESTPCN   1011234567893     20260115SYNTHCERT1\x1e\x1cAM04\x1cC2SYN000001" +
		"\x1d\x1e\x1cAM07\x1cEM1\x1cD27\x1cE103\x1cD799999000101\x1cE730000\x1cD30\x1e\x1cAM11\x1cD9100{"
	if err := os.WriteFile(path, []byte(req), 0o600); err != nil {
		t.Fatal(err)
	}
	for reveal, want := range map[bool]string{
		false: `{"file":"FILE","format":"ncpdp","kind":"request","version":"D0","transaction_code":"B1","count":1,"verdict":"OK",` +
			`"transactions":[{"rx":"[phi]","fill":"[phi]","ndc":"[phi]","quantity":"[phi]","class":"OK","ambiguous":false,"rejects":[]}],"error":null}`,
		true: `{"file":"FILE","format":"ncpdp","kind":"request","version":"D0","transaction_code":"B1","count":1,"verdict":"OK",` +
			`"transactions":[{"rx":"7","fill":"0","ndc":"99999000101","quantity":"30.000","class":"OK","ambiguous":false,"rejects":[]}],"error":null}`,
	} {
		rep, err := check.File(t.Context(), path, check.Options{Reveal: reveal})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(string(b), path, "FILE"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestPharmacy_WhatIsNotDecodedHasAnEmptyListOfTransactions(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"F6": "99999999F6B1TESTPCN   1011234567893     20260115SYNTHCERT1", "cut": "999999D0B1TESTPCN", "page": "<!DOCTYPE html>", "empty": "",
	} {
		b, err := json.Marshal(judgeBytes(t, "a.ncpdp", body, check.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), `"transactions":[]`) {
			t.Errorf("%s: %s", name, b)
		}
	}
}

// judgeBytes checks what is in a file of the given name.
func judgeBytes(t *testing.T, name, content string, o check.Options) check.Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := check.File(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestPharmacy_ARequestInThePlaceOfAnAnswerIsAnEcho(t *testing.T) {
	t.Parallel()
	req := "999999D0B2TESTPCN   1011234567893     20260115SYNTHCERT1\x1d\x1e\x1cAM07\x1cEM1\x1cD27\x1cE103\x1cD799999000101\x1cD30"
	for _, tt := range []struct {
		name   string
		answer bool
		want   string
	}{{"req.ncpdp", false, "OK"}, {"res_1.ncpdp", false, "SUSPECT"}, {"1.RSP", false, "SUSPECT"}, {"response1", false, "SUSPECT"}, {"any", true, "SUSPECT"}} {
		r := judgeBytes(t, tt.name, req, check.Options{Answer: tt.answer}).NCPDP
		if r == nil || r.Verdict != tt.want || r.Transactions[0].Class != tt.want || (r.Hint == "request_echoed") != (tt.want == "SUSPECT") {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

func TestPharmacy_ABodyThatIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, want string }{
		{"a.ncpdp", "<!DOCTYPE html><title>502 Bad Gateway</title>", "TRANSIENT"},
		{"a.ncpdp", "upstream connect error", "POISON"},
		{"res_a.ncpdp", "upstream connect error", "SUSPECT"},
		{"res_a.ncpdp", "", "SUSPECT"},
		{"a.ncpdp", "\x02\x02", "POISON"},
	} {
		r := judgeBytes(t, tt.name, tt.body, check.Options{}).NCPDP
		if r == nil || r.Verdict != tt.want || r.Error == nil {
			t.Errorf("%q: %+v", tt.body, r)
		}
	}
}

func TestPharmacy_OtherFilesStayWithX12(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"ISA*00*", "", "<html>", "1234565100 is a number", "D0 is a word", "F6 too"} {
		if r := judgeBytes(t, "a.txt", body, check.Options{}); r.NCPDP != nil {
			t.Errorf("%q was taken for a pharmacy file", body)
		}
	}
}

func TestPharmacy_AnswersInABatchAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	head := "\x0200RSENDER0001              0000001202601151200T12RECEIVER01              \x03"
	answer := func(ref, status string) string {
		return "\x02G1" + ref + "D0B11A011234567893     20260115\x1d\x1e\x1cAM21\x1cAN" + status + "\x03"
	}
	end := "\x029900000010000000004                                   \x03"
	r := judgeBytes(t, "a", head+answer("REF0000001", "P")+answer("REF0000002", "R\x1cFB95")+end, check.Options{}).NCPDP
	if r.Verdict != "PER_TRANSACTION" || r.OK() || len(r.Transactions) != 2 || r.Transactions[0].Class != "SETTLED" ||
		r.Transactions[1].Class != "TRANSIENT" || !r.Transactions[1].Ambiguous || *r.Count != 2 {
		t.Errorf("%s", r)
	}
	r = judgeBytes(t, "a", head+answer("REF0000001", "P")+answer("REF0000002", "D")+end, check.Options{}).NCPDP
	if r.Verdict != "PER_TRANSACTION" || !r.OK() {
		t.Errorf("%s", r)
	}
}

func TestPharmacy_APartnersRulesDecide(t *testing.T) {
	t.Parallel()
	rules, err := classify.NewNCPDPRules([]classify.NCPDPOverride{{Code: "99", Class: classify.NCPDPTerminal}})
	if err != nil {
		t.Fatal(err)
	}
	body := "D0B11A011234567893     20260115\x1d\x1e\x1cAM21\x1cANR\x1cFA01\x1cFB99"
	if r := judgeBytes(t, "a", body, check.Options{}).NCPDP; r.Verdict != "TRANSIENT" {
		t.Error(r)
	}
	if r := judgeBytes(t, "a", body, check.Options{Pharmacy: rules}).NCPDP; r.Verdict != "TERMINAL" {
		t.Error(r)
	}
}

func TestPharmacy_AnAnswerIsComparedWithWhatWasSent(t *testing.T) {
	t.Parallel()
	dir, _ := pharmacyCases(t)
	at := func(name string) string { return filepath.Join(dir, name+".ncpdp") }
	for _, tt := range []struct {
		answer string
		sent   []string
		want   string
	}{
		{"res_b1_paid", []string{"req_b1_basic"}, "SETTLED"},
		{"res_b1_paid", []string{"req_b1_partial_C"}, "SUSPECT"},       // of another day
		{"res_b1_paid", []string{"req_b1_multi4"}, "SUSPECT"},          // another count
		{"res_b1_paid", []string{"req_b2_reversal"}, "SUSPECT"},        // of another kind
		{"res_b1_paid", []string{"req_b1_zero_suppressed"}, "SUSPECT"}, // another prescription
		{"res_b1_paid", []string{"req_b1_multi4", "req_b1_basic"}, "SETTLED"},
		{"res_multi4_mixed", []string{"req_b1_multi4"}, "PER_TRANSACTION"},
		{"res_b1_paid", []string{"res_b1_paid"}, "SETTLED"}, // no request: compared with none
	} {
		var sent []string
		for _, s := range tt.sent {
			sent = append(sent, at(s))
		}
		rep, err := check.File(t.Context(), at(tt.answer), check.Options{Sent: append(sent, dir)})
		if err != nil || rep.NCPDP.Verdict != tt.want {
			t.Errorf("%s to %v: %s, %v", tt.answer, tt.sent, rep, err)
		}
	}
	if _, err := check.File(t.Context(), at("res_b1_paid"), check.Options{Sent: []string{at("missing")}}); !errors.Is(err, claimdlq.NotFound) {
		t.Error(err)
	}
}

// Intake reads one batch after the other; so does this.
func TestPharmacy_SeveralBatchesInOneFile(t *testing.T) {
	t.Parallel()
	one := "\x0200RSENDER0001              0000001202601151200T12RECEIVER01              \x03" +
		"\x02G1REF0000001D0B11A011234567893     20260115\x1d\x1e\x1cAM21\x1cANP\x03" +
		"\x029900000010000000003                                   \x03"
	r := judgeBytes(t, "a", one+one, check.Options{}).NCPDP
	if !r.OK() || *r.Count != 2 || len(r.Transactions) != 2 || len(r.Faults) != 0 || r.TransactionCode == nil {
		t.Errorf("%s", r)
	}
}
