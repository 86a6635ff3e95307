package ncpdp_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

var testHeader = ncpdp.Header{BIN: "999999", Code: "B1", PCN: "TESTPCN", Provider: "1234567893", Date: "20260115", Vendor: "SYNTHCERT1"}

func TestBuilder_ABillingToTheByte(t *testing.T) {
	t.Parallel()
	got, err := ncpdp.NewRequest(testHeader).
		Segment("04").Field("C2", "SYN000001").Field("C1", "TESTGRP").Field("C3", "001").Field("C6", "1").
		Segment("01").Field("C4", "19700101").Field("C5", "1").Field("CA", "TEST").Field("CB", "PATIENT").
		Field("CM", "1 EXAMPLE ST").Field("CN", "ANYTOWN").Field("CO", "ZZ").Field("CP", "00000").Field("CQ", "").
		Transaction().
		Segment("07").Field("EM", "1").Field("D2", "000000100001").Field("E1", "03").Field("D7", "99999000101").Quantity("E7", 30000).
		Field("D3", "00").Field("D5", "030").Field("D6", "1").Field("D8", "0").Field("DE", "20260114").Field("DF", "05").Field("DJ", "3").
		Segment("11").Amount("D9", 1234).Amount("DC", 150).Amount("DQ", 1500).Amount("DU", 1384).Field("DN", "01").
		Segment("03").Field("EZ", "01").Field("DB", "1234567893").Field("DR", "PRESCRIBER").
		Bytes()
	if err != nil || !bytes.Equal(got, basicB1) {
		t.Errorf("%v\n%q\n%q", err, got, basicB1)
	}
}

func TestBuilder_CountAndFrame(t *testing.T) {
	t.Parallel()
	b := ncpdp.NewRequest(testHeader)
	for n := 1; n <= 4; n++ {
		b.Transaction().Segment("07").Field("D2", "1")
		got, err := b.Bytes()
		if err != nil || got[20] != '0'+byte(n) {
			t.Errorf("%d: %v %q", n, err, got)
		}
	}
	if got, err := b.Framed().Bytes(); err != nil || got[0] != 2 || got[len(got)-1] != 3 || got[21] != '4' {
		t.Errorf("%v %q", err, got)
	}
	if _, err := b.Transaction().Bytes(); !errors.Is(err, claimdlq.Invalid) {
		t.Error("five transactions")
	}
}

func TestBuilder_RefusesWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	header := func(change func(*ncpdp.Header)) *ncpdp.Builder {
		h := testHeader
		change(&h)
		return ncpdp.NewRequest(h)
	}
	good := func() *ncpdp.Builder { return ncpdp.NewRequest(testHeader).Segment("04") }
	for name, b := range map[string]*ncpdp.Builder{
		"BIN too long":         header(func(h *ncpdp.Header) { h.BIN = "CANARY99" }),
		"PCN too long":         header(func(h *ncpdp.Header) { h.PCN = "CANARY99999" }),
		"version 5.1":          header(func(h *ncpdp.Header) { h.Version = "51" }),
		"separator in header":  header(func(h *ncpdp.Header) { h.Vendor = "CANARY\x1e" }),
		"separator in a value": good().Field("C2", "CANARY\x1c"),
		"line break":           good().Field("C2", "CANARY\n"),
		"letter beyond ASCII":  good().Field("C2", "CANARY\u00d8"),
		"id too long":          good().Field("CAN", "CANARY"),
		"id of a segment":      good().Field("AM", "07"),
		"no segment":           ncpdp.NewRequest(testHeader).Field("C2", "CANARY"),
		"segment id too long":  good().Segment("CANARY"),
		"amount too great":     good().Amount("D9", 100000000),
		"amount too small":     good().Amount("D9", -100000000),
		"quantity negative":    good().Quantity("E7", -1),
		"number too long":      good().Field("D2", "1234567890123"),
	} {
		got, err := b.Bytes()
		if !errors.Is(err, claimdlq.Invalid) || got != nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v %q", name, err, got)
		}
	}
}

func TestBuildReversal_CopiesWhatSaysWhichClaim(t *testing.T) {
	t.Parallel()
	got, err := ncpdp.BuildReversal(ncpdp.Parse(basicB1), 1, ncpdp.Reversal{})
	want := msg(strings.Replace(requestHead, "B1T", "B2T", 1) + "/04|C2SYN000001|C1TESTGRP|C3001#/07|EM1|D2000000100001|E103|D799999000101|D300")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%q\n%q", err, got, want)
	}
	m := ncpdp.Parse(got)
	if faults := m.Validate(); len(faults) != 0 {
		t.Error(faults)
	}
	b1, _ := ncpdp.Parse(basicB1).Claim(1)
	b2, fault := m.Claim(1)
	if fault != nil || !b2.Concerns(&b1) || b1.Lineage(secret()) != b2.Lineage(secret()) {
		t.Error("the reversal is about another claim")
	}
}

func TestBuildReversal_OneOfFourAndWhatThePayerWants(t *testing.T) {
	t.Parallel()
	m := ncpdp.Parse(fixtureFiles(t)["req_b1_multi4.ncpdp"])
	got, err := ncpdp.BuildReversal(m, 3, ncpdp.Reversal{Segments: []string{"11", "05"}, Fields: []string{"D5"}, Insurance: []string{"C2"}})
	want := msg(strings.Replace(requestHead, "B1T", "B2T", 1) + "/04|C2SYN000001#/07|EM1|D2000000100003|E103|D799999000103|D300|D5030" +
		"/11|D90000123D|DC0000015{|DQ0000150{|DU0000138D|DN01")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%q\n%q", err, got, want)
	}
	old := bytes.Replace(basicB1, []byte("D0B1"), []byte("51B1"), 1)
	for name, b := range map[string][]byte{"version 5.1": old, "a reversal": got, "an answer": paidAnswer, "a bad one": basicB1[:60], "nothing": nil} {
		if _, err := ncpdp.BuildReversal(ncpdp.Parse(b), 1, ncpdp.Reversal{}); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, n := range []int{-1, 0, 5} {
		if _, err := ncpdp.BuildReversal(m, n, ncpdp.Reversal{}); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestBuildRebill_TheClaimAloneUnderItsCode(t *testing.T) {
	t.Parallel()
	got, err := ncpdp.BuildRebill(ncpdp.Parse(fixtureFiles(t)["req_b1_multi4.ncpdp"]), 2)
	m := ncpdp.Parse(got)
	if err != nil || string(m.TransactionCode()) != "B3" || m.Count() != 1 || len(m.Validate()) != 0 || string(m.RxOf(1)) != "000000100002" {
		t.Errorf("%v %q", err, got)
	}
	for _, b := range [][]byte{paidAnswer, fixtureFiles(t)["req_b2_reversal.ncpdp"], nil} {
		if _, err := ncpdp.BuildRebill(ncpdp.Parse(b), 1); !errors.Is(err, claimdlq.Invalid) {
			t.Error(err)
		}
	}
}

func TestBuildResponse_WhatAPayerSays(t *testing.T) {
	t.Parallel()
	req := ncpdp.Parse(basicB1)
	paid := []ncpdp.FieldAmount{{"F5", 100}, {"F6", 1234}, {"F7", 150}, {"F9", -1284}}
	got, err := ncpdp.BuildResponse(req, 'A', "SYNTHETIC", []ncpdp.Verdict{{Status: "P", Auth: "AUTH1", Amounts: paid}})
	want := msg(responseHead + "/20|F4SYNTHETIC#/21|ANP|F3AUTH1/22|EM1|D2000000100001/23|F50000010{|F60000123D|F70000015{|F90000128M")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%q\n%q", err, got, want)
	}
	got, err = ncpdp.BuildResponse(req, 'A', "", []ncpdp.Verdict{{Status: "R", Rejects: []string{"85", "NN"}, Texts: []string{"A", "B"}}})
	want = msg(responseHead + "#/21|ANR|FA02|FB85|FBNN|UF02|UH01|FQA|UH02|FQB/22|EM1|D2000000100001")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%q\n%q", err, got, want)
	}
	got, err = ncpdp.BuildResponse(req, 'R', "NO", nil)
	if err != nil || !bytes.Equal(got, msg(strings.Replace(responseHead, "11A", "11R", 1)+"/20|F4NO")) {
		t.Errorf("%v %q", err, got)
	}
	multi := ncpdp.Parse(fixtureFiles(t)["req_b1_multi4.ncpdp"])
	got, err = ncpdp.BuildResponse(multi, 'A', "", []ncpdp.Verdict{{Status: "P", Amounts: paid}, {Status: "R", Rejects: []string{"70"}}, {Status: "D"}, {Status: "C"}})
	res := ncpdp.Parse(got)
	if err != nil || !ncpdp.OK(res.Validate()) {
		t.Fatal(err, res.Validate())
	}
	for n := 1; n <= 4; n++ {
		if ncpdp.Correlate(multi, res, n) != "" || res.Reply(n, nil).Status != "PRDC"[n-1] {
			t.Errorf("transaction %d", n)
		}
	}
	for _, b := range [][]byte{nil, paidAnswer, []byte("99999999F6B1"), basicB1[:40]} {
		if _, err := ncpdp.BuildResponse(ncpdp.Parse(b), 'A', "", nil); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%.10q: %v", b, err)
		}
	}
	if _, err := ncpdp.BuildResponse(req, 'A', "", []ncpdp.Verdict{{Status: "P"}, {}, {}, {}, {}}); !errors.Is(err, claimdlq.Invalid) {
		t.Error("five verdicts")
	}
}
