package ncpdp_test

import (
	"bytes"
	"strings"
	"testing"

	"claimdlq/wire/ncpdp"
)

func TestReply_EveryCodeAndText(t *testing.T) {
	t.Parallel()
	m := ncpdp.Parse(msg(responseHead + "/20|F4FIRST#/21|ANR|FA09|FB70|4FX|FB 75 |UF02|UH01|FQONE|UH02|FQTWO/22|EM1|D21#/21|ANP"))
	r := m.Reply(1, nil)
	if r.Header != 'A' || !r.Found || r.Status != 'R' || string(bytes.Join(r.Rejects, []byte(","))) != "70,75" ||
		string(bytes.Join(r.Texts, []byte(","))) != "FIRST,ONE,TWO" {
		t.Errorf("%+v", r)
	}
	r = m.Reply(2, &r)
	if r.Status != 'P' || len(r.Rejects) != 0 || len(r.Texts) != 1 {
		t.Errorf("%+v", r)
	}
	if r := m.Reply(3, nil); r.Found || r.Status != 0 {
		t.Errorf("%+v", r)
	}
}

func TestReply_StatusThatIsNone(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]byte{
		"#/21|ANP": 'P', "#/21|AN P ": 'P', "#/21|AN": 0, "#/21|F3X": 0, "#/21|ANPP": '?', "#/21|ANP|ANR": '?', "#/21|ANP|ANP": 'P', "": 0,
		"/21|ANR": 'R', // before any transaction: it is said of all
	} {
		if r := ncpdp.Parse(msg(responseHead+body)).Reply(1, nil); r.Status != want {
			t.Errorf("%s: %c", body, r.Status)
		}
	}
}

func TestTransactions_OfAnAnswerWithoutAny(t *testing.T) {
	t.Parallel()
	m := ncpdp.Parse(msg(strings.Replace(responseHead, "11A", "14R", 1) + "/20|F4NO"))
	if m.Transactions() != 4 || m.Groups() != 0 || m.Reply(4, nil).Header != 'R' {
		t.Error(m.Transactions(), m.Groups())
	}
}

func TestCorrelate_WhatMustBeEchoed(t *testing.T) {
	t.Parallel()
	req := ncpdp.Parse(basicB1)
	paid := string(paidAnswer)
	for _, tt := range []struct {
		name string
		in   string
		want ncpdp.Mismatch
	}{
		{"its answer", paid, ""},
		{"another transaction", strings.Replace(paid, "D0B1", "D0B2", 1), "A3"},
		{"another count", strings.Replace(paid, "11A", "12A", 1), "A9"},
		{"another pharmacy", strings.Replace(paid, "1234567893", "1234567894", 1), "B1"},
		{"another day", strings.Replace(paid, "20260115", "20260116", 1), "D1"},
		{"another prescription", strings.Replace(paid, "D2000000100001", "D2000000100002", 1), "D2"},
		{"prescription without zeros", strings.Replace(paid, "D2000000100001", "D2100001", 1), ""},
		{"no prescription", strings.Replace(paid, "\x1cD2000000100001", "", 1), ""},
		{"our own request", string(basicB1), "A3"},
		{"a switch's time-out, with its own day", string(msg("D0B11R011234567893     20260116#/21|ANR|FB85|FBNN")), ""},
		{"one code more", string(msg("D0B11R011234567893     20260116#/21|ANR|FB85|FBNN|FB70")), "D1"},
		{"85 alone with another day", string(msg("D0B11R011234567893     20260116#/21|ANR|FB85")), "D1"},
		{"no message at all", "<html>", "A3"},
	} {
		if got := ncpdp.Correlate(req, ncpdp.Parse([]byte(tt.in)), 1); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	other := ncpdp.Parse([]byte(strings.Replace(paid, "D2000000100001", "D2000000100002", 1)))
	if got := ncpdp.Correlate(req, other, 0); got != "" {
		t.Errorf("the headers alone: %q", got)
	}
}

// A connection that ends where a segment ends leaves an answer that can be read: of
// a payment that does not say which claim, or how much, nothing is believed. What was
// not paid needs neither.
func TestCorrelate_APaymentThatWasCutOffIsNotBelieved(t *testing.T) {
	t.Parallel()
	req := ncpdp.Parse(basicB1)
	b2 := ncpdp.Parse(fixtureFiles(t)["req_b2_reversal.ncpdp"])
	segments := strings.SplitAfter(string(paidAnswer), "\x1e")
	for what, tt := range map[string]struct {
		req  *ncpdp.Message
		in   string
		want ncpdp.Mismatch
	}{
		"whole":             {req, string(paidAnswer), ""},
		"without a price":   {req, strings.TrimSuffix(strings.Join(segments[:len(segments)-1], ""), "\x1e"), "23"},
		"without a claim":   {req, strings.TrimSuffix(strings.Join(segments[:len(segments)-2], ""), "\x1e"), "22"},
		"a code cut off":    {req, string(msg(responseHead + "#/21|ANR|FB8")), "FB"},
		"a code and an end": {req, string(msg(responseHead+"#/21|ANR|FB8")) + "\x03", ""},
		"a code, and more":  {req, string(msg(responseHead + "#/21|ANR|FB8|FQX")), ""},
		"rejected":          {req, string(msg(responseHead + "#/21|ANR|FB70")), ""},
		"captured":          {req, string(msg(responseHead + "#/21|ANC")), ""},
		"paid before":       {req, string(msg(responseHead + "#/21|AND")), ""},
		"a status of none":  {req, string(msg(responseHead + "#/21")), ""},
		"taken back":        {b2, strings.Replace(string(msg(responseHead+"#/21|ANA")), "D0B1", "D0B2", 1), ""},
	} {
		if got := ncpdp.Correlate(tt.req, ncpdp.Parse([]byte(tt.in)), 1); got != tt.want {
			t.Errorf("%s: %q, want %q", what, got, tt.want)
		}
	}
}

func TestCorrelate_EachTransactionByItself(t *testing.T) {
	t.Parallel()
	all := fixtureFiles(t)
	req := ncpdp.Parse(all["req_b1_multi4.ncpdp"])
	res := ncpdp.Parse(all["res_multi4_mixed.ncpdp"])
	crossed := bytes.Replace(all["res_multi4_mixed.ncpdp"], []byte("D2000000100002"), []byte("D2000000100003"), 1)
	for n := 1; n <= 4; n++ {
		if got := ncpdp.Correlate(req, res, n); got != "" {
			t.Errorf("%d: %q", n, got)
		}
		want := ncpdp.Mismatch("")
		if n == 2 {
			want = "D2"
		}
		if got := ncpdp.Correlate(req, ncpdp.Parse(crossed), n); got != want {
			t.Errorf("crossed, %d: %q", n, got)
		}
	}
}
