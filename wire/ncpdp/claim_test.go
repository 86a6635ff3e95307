package ncpdp_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

func secret() *claimdlq.Identity { return claimdlq.NewIdentity(1, bytes.Repeat([]byte{7}, 32)) }

// keyOf returns the key of a transaction of a message that must have one.
func keyOf(t testing.TB, b []byte, transaction int, generation uint32) claimdlq.Key {
	t.Helper()
	c, fault := ncpdp.Parse(b).Claim(transaction)
	if fault != nil {
		t.Fatal(fault)
	}
	return c.Key(secret(), generation)
}

func TestKey_ClaimsThatDifferStayApart(t *testing.T) {
	t.Parallel()
	all := fixtureFiles(t)
	b3 := all["req_b3_rebill.ncpdp"]
	keys := map[claimdlq.Key]string{}
	add := func(name string, k claimdlq.Key) {
		if other, twice := keys[k]; twice {
			t.Errorf("%s and %s have one key", name, other)
		}
		keys[k] = name
	}
	base := basicB1
	add("the claim", keyOf(t, base, 1, 0))
	add("the claim after a reversal", keyOf(t, base, 1, 1))
	add("its reversal", keyOf(t, all["req_b2_reversal.ncpdp"], 1, 0))
	add("its second reversal", keyOf(t, all["req_b2_reversal.ncpdp"], 1, 1))
	add("its rebill", keyOf(t, b3, 1, 0))
	add("a compound", keyOf(t, all["req_b1_compound.ncpdp"], 1, 0))
	add("a compound of another prescription", keyOf(t, bytes.Replace(all["req_b1_compound.ncpdp"], []byte("100001"), []byte("100009"), 1), 1, 0))
	add("the second payer", keyOf(t, all["req_b1_cob.ncpdp"], 1, 0))
	add("a partial fill", keyOf(t, all["req_b1_partial_P.ncpdp"], 1, 0))
	add("its completion", keyOf(t, all["req_b1_partial_C.ncpdp"], 1, 0))
	add("the second prescription of one drug and day", keyOf(t, all["req_b1_same_ndc_two_rx.ncpdp"], 2, 0))
	for i := 3; i <= 4; i++ { // the second has the number of the case above, and another drug
		add("one of four", keyOf(t, all["req_b1_multi4.ncpdp"], i, 0))
	}
	add("the drug of the second of four", keyOf(t, all["req_b1_multi4.ncpdp"], 2, 0))
	for what, r := range map[string][2]string{
		"a sibling on one card":  {"C3001", "C3002"},
		"another member":         {"C2SYN000001", "C2SYN000002"},
		"another group":          {"C1TESTGRP", "C1TESTGRQ"},
		"another payer":          {"999999D0", "999998D0"},
		"another processor":      {"TESTPCN ", "TESTPCM "},
		"another pharmacy":       {"1234567893     2", "1234567894     2"},
		"another kind of id":     {"101123", "107123"},
		"another day":            {"20260115", "20260116"},
		"another fill":           {"D300", "D301"},
		"another product":        {"D799999000101", "D799999000102"},
		"a product by other id":  {"E103", "E101"},
		"a service, not a drug":  {"EM1", "EM2"},
		"a member with its zero": {"C2SYN000001", "C20SYN000001"},
	} {
		add(what, keyOf(t, replace(t, r[0], r[1]), 1, 0))
	}
}

func TestKey_OneClaimHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	want := keyOf(t, basicB1, 1, 0)
	for what, b := range map[string][]byte{
		"padded":                fixtureFiles(t)["req_b1_padded_fields.ncpdp"],
		"patient first":         fixtureFiles(t)["req_b1_patient_first.ncpdp"],
		"framed":                fixtureFiles(t)["req_b1_stx_etx.ncpdp"],
		"without patient":       fixtureFiles(t)["req_b1_no_patient.ncpdp"],
		"zeros left out":        replace(t, "D2000000100001", "D2100001"),
		"fill 0":                replace(t, "D300", "D30"),
		"an NDC with hyphens":   replace(t, "D799999000101", "D799999-0001-01"),
		"an NDC 5-3-2":          replace(t, "D799999000101", "D799999-001-01"),
		"another quantity":      replace(t, "E70000030000", "E70000060000"),
		"another price":         replace(t, "D90000123D", "D90000999D"),
		"small letters":         replace(t, "C2SYN000001", "C2syn000001"),
		"blanks in front":       replace(t, "C2SYN000001", "C2 SYN000001 "),
		"another software":      replace(t, "SYNTHCERT1", "SYNTHCERT2"),
		"a private field":       replace(t, "|DJ3", "|DJ3|ZZX"),
		"a complete fill, said": replace(t, "|DJ3", "|DJ3|HD "),
	} {
		if keyOf(t, b, 1, 0) != want {
			t.Errorf("%s: another key", what)
		}
	}
	zero := replace(t, "D799999000101", "D709999000101")
	if keyOf(t, zero, 1, 0) != keyOf(t, replace(t, "D799999000101", "D79999000101"), 1, 0) {
		t.Error("an NDC without its leading zero has another key")
	}
	compound := fixtureFiles(t)["req_b1_compound.ncpdp"]
	if keyOf(t, compound, 1, 0) != keyOf(t, bytes.Replace(compound, []byte("D70\x1c"), []byte("D700000000000\x1c"), 1), 1, 0) {
		t.Error("a compound's zeros have another key")
	}
}

func TestKey_OtherPayersCountNotWhatTheySay(t *testing.T) {
	t.Parallel()
	cob := func(s string) claimdlq.Key { return keyOf(t, replace(t, "/03|EZ01", s+"/03|EZ01"), 1, 0) }
	one, two := cob("/05|4C1|5C01|6C03|7C1"), cob("/05|4C2|5C01|6C03|7C1|5C02|6C03|7C2")
	if one == two || one == keyOf(t, basicB1, 1, 0) {
		t.Error("positions have one key")
	}
	for _, s := range []string{"/05|4C1|5C01|6C03|7C2", "/05|4C9|5C01", "/05|7C1", "/05|4C1", "/05|4C1|5C01|HB1|HC07|DV0{"} {
		if cob(s) != one {
			t.Errorf("%s: another key", s)
		}
	}
}

func TestClaim_AMissingPartIsAFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, with, want string }{
		{"999999D0", "99999XD0", "/A1"},
		{"1234567893     2", "               2", "/B1"},
		{"101123", "1  123", "/B2"},
		{"20260115", "20261315", "/D1"},
		{"|C2SYN000001", "", "04/C2"},
		{"|C2SYN000001", "|C2     ", "04/C2"},
		{"|EM1", "", "07/EM"},
		{"|D2000000100001", "|D2", "07/D2"},
		{"|D300", "", "07/D3"},
		{"|E103", "", "07/E1"},
		{"|D799999000101", "", "07/D7"},
		{"/07", "/17", "07/"},
	} {
		c, f := ncpdp.Parse(replace(t, tt.old, tt.with)).Claim(1)
		if f == nil || f.Segment+"/"+f.Field != tt.want || c.Rx != nil {
			t.Errorf("%s: %v, want %s", tt.old, f, tt.want)
		}
	}
	m := ncpdp.Parse(basicB1)
	for _, n := range []int{-1, 0, 2, 5} {
		if _, f := m.Claim(n); f == nil {
			t.Errorf("transaction %d has a key", n)
		}
	}
	if _, f := ncpdp.Parse(paidAnswer).Claim(1); f == nil {
		t.Error("a response has a claim key")
	}
	e1 := fixtureFiles(t)["req_e1_eligibility.ncpdp"]
	if c, f := ncpdp.Parse(e1).Claim(0); f != nil || string(c.Cardholder) != "SYN000001" {
		t.Error(f)
	}
}

// However the parts are filled, two lists of parts that differ have two keys: no
// separator can be forged, and no part runs into the next.
func TestKey_PartsDoNotRunTogether(t *testing.T) {
	t.Parallel()
	id := secret()
	a := ncpdp.Claim{Group: []byte("1"), Cardholder: []byte("2:3")}
	b := ncpdp.Claim{Group: []byte("1:2"), Cardholder: []byte("3")}
	if a.Key(id, 0) == b.Key(id, 0) {
		t.Error("parts ran together")
	}
	text := rapid.StringMatching(`[0-9:A-Z]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		draw := func() ncpdp.Claim {
			return ncpdp.Claim{
				Group: []byte(text.Draw(t, "C1")), Cardholder: []byte(text.Draw(t, "C2")), Person: []byte(text.Draw(t, "C3")),
				Rx: []byte(text.Draw(t, "D2")), Fill: []byte(text.Draw(t, "D3")), COB: rapid.IntRange(0, 3).Draw(t, "cob"),
			}
		}
		a, b := draw(), draw()
		same := string(a.Group) == string(b.Group) && string(a.Cardholder) == string(b.Cardholder) && string(a.Person) == string(b.Person) &&
			string(a.Rx) == string(b.Rx) && string(a.Fill) == string(b.Fill) && a.COB == b.COB
		if (a.Key(id, 0) == b.Key(id, 0)) != same {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

func TestKey_AnotherSecretAnotherKey(t *testing.T) {
	t.Parallel()
	c, _ := ncpdp.Parse(basicB1).Claim(1)
	k := c.Key(secret(), 0)
	if k == c.Key(claimdlq.NewIdentity(2, bytes.Repeat([]byte{8}, 32)), 0) {
		t.Error("the key does not depend on the secret")
	}
	if d := ncpdp.Display(k); len(d) != 24 || !strings.HasPrefix(k.String(), d) {
		t.Error(d)
	}
}

func TestLineage_BillingAndReversalFindEachOther(t *testing.T) {
	t.Parallel()
	id := secret()
	b1, _ := ncpdp.Parse(basicB1).Claim(1)
	b2, f := ncpdp.Parse(msg(strings.Replace(requestHead, "D0B1", "D0B2", 1) + "#/07|EM1|D2100001|E103|D799999000101")).Claim(1)
	if f != nil {
		t.Fatal(f)
	}
	if b1.Lineage(id) != b2.Lineage(id) || !b2.Concerns(&b1) || !b1.Concerns(&b2) {
		t.Error("a reversal with the least of fields does not find its claim")
	}
	for what, r := range map[string][2]string{
		"another fill": {"D300", "D301"}, "another member": {"C2SYN000001", "C2SYN000002"}, "another product": {"0101|E7", "0102|E7"},
		"another prescription": {"100001", "100002"}, "another pharmacy": {"1234567893     2", "1234567894     2"},
	} {
		o, _ := ncpdp.Parse(replace(t, r[0], r[1])).Claim(1)
		full, _ := ncpdp.Parse(fixtureFiles(t)["req_b2_reversal.ncpdp"]).Claim(1)
		if full.Concerns(&o) {
			t.Errorf("a reversal is taken for that of %s", what)
		}
	}
	second, _ := ncpdp.Parse(fixtureFiles(t)["req_b1_cob.ncpdp"]).Claim(1)
	if second.Lineage(id) != b1.Lineage(id) {
		t.Error("the second payer's claim is not of the fill")
	}
	if b1.Concerns(&second) || !b2.Concerns(&second) {
		t.Error("positions: a claim is that of another payer, or a reversal that says none fits none")
	}
}

func TestResponseLineage_IsThatOfTheClaimItAnswers(t *testing.T) {
	t.Parallel()
	id := secret()
	b1, _ := ncpdp.Parse(basicB1).Claim(1)
	for what, b := range map[string][]byte{"paid": paidAnswer, "rejected": rejectedAnswer} {
		if got, ok := ncpdp.ResponseLineage(id, ncpdp.Parse(b), 1); !ok || got != b1.Lineage(id) {
			t.Errorf("%s: %v", what, ok)
		}
	}
	four := ncpdp.Parse(fixtureFiles(t)["req_b1_multi4.ncpdp"])
	verdicts := []ncpdp.Verdict{{Status: "P"}, {Status: "R", Rejects: []string{"70"}}, {Status: "C"}, {Status: "D"}}
	answer, err := ncpdp.BuildResponse(four, 'A', "", verdicts)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[claimdlq.Ref]bool{}
	for n := 1; n <= 4; n++ {
		c, _ := four.Claim(n)
		got, ok := ncpdp.ResponseLineage(id, ncpdp.Parse(answer), n)
		if !ok || got != c.Lineage(id) || seen[got] {
			t.Errorf("transaction %d: %v", n, ok)
		}
		seen[got] = true
	}
	at := bytes.Index(paidAnswer, []byte("\x1cD2"))
	for _, s := range []string{"000000100001", "100001", " 100001 "} {
		padded := append(append(bytes.Clone(paidAnswer[:at+3]), s...), paidAnswer[bytes.IndexByte(paidAnswer[at+3:], 0x1e)+at+3:]...)
		if got, ok := ncpdp.ResponseLineage(id, ncpdp.Parse(padded), 1); !ok || got != b1.Lineage(id) {
			t.Errorf("%q is another number", s)
		}
	}
}

func TestResponseLineage_WhatDoesNotSayWhichClaimHasNone(t *testing.T) {
	t.Parallel()
	all := fixtureFiles(t)
	for what, b := range map[string][]byte{
		"a refused transmission":  all["res_b1_header_rejected_R8.ncpdp"],
		"a request":               basicB1,
		"nothing":                 nil,
		"an answer without EM":    bytes.Replace(paidAnswer, []byte("\x1cEM1"), nil, 1),
		"an answer without D2":    bytes.Replace(paidAnswer, []byte("\x1cD2"), []byte("\x1cZ2"), 1),
		"an answer without a day": bytes.Replace(paidAnswer, []byte("20260115"), []byte("00000000"), 1),
	} {
		if _, ok := ncpdp.ResponseLineage(secret(), ncpdp.Parse(b), 1); ok {
			t.Errorf("%s has a lineage", what)
		}
	}
	for _, n := range []int{-1, 0, 2, 5} {
		if _, ok := ncpdp.ResponseLineage(secret(), ncpdp.Parse(paidAnswer), n); ok {
			t.Errorf("transaction %d has a lineage", n)
		}
	}
}

func TestRaisesGeneration_OnlyWhatTakesBack(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][2]bool{
		"B1": {}, "B2": {true, true}, "B3": {false, true}, "E1": {}, "N2": {true, true}, "S3": {false, true}, "D1": {}, "": {},
	} {
		if got := [2]bool{ncpdp.IsReversal([]byte(code)), ncpdp.RaisesGeneration([]byte(code))}; got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}
