package ncpdp_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

func TestParseAssignment_WhatPeopleWrite(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]ncpdp.Assignment{
		"07-D7=99999000102": {Segment: "07", Field: "D7", Occurrence: 1, Value: []byte("99999000102")},
		"05-7C[2]=999997":   {Segment: "05", Field: "7C", Occurrence: 2, Value: []byte("999997")},
		"A4=TESTPCN":        {Field: "A4", Occurrence: 1, Value: []byte("TESTPCN")},
		"07-DJ=":            {Segment: "07", Field: "DJ", Occurrence: 1, Value: []byte("")},
		"01-CM=1=2-3[4]":    {Segment: "01", Field: "CM", Occurrence: 1, Value: []byte("1=2-3[4]")},
	} {
		got, err := ncpdp.ParseAssignment(in)
		if err != nil || got.Segment != want.Segment || got.Field != want.Field || got.Occurrence != want.Occurrence || !bytes.Equal(got.Value, want.Value) {
			t.Errorf("%s: %+v %v", in, got, err)
		}
	}
	for _, in := range []string{"", "07-D7", "D=1", "7-D7=1", "07-D77=1", "07-D7[0]=1", "07-D7[x]=1", "07-D7[1=CANARY", "07-D7[100]=1"} {
		if _, err := ncpdp.ParseAssignment(in); !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// edit applies assignments as people write them.
func edit(doc []byte, transaction int, list ...string) ([]byte, error) {
	var as []ncpdp.Assignment
	for _, s := range list {
		a, err := ncpdp.ParseAssignment(s)
		if err != nil {
			return nil, err
		}
		as = append(as, a)
	}
	return ncpdp.Edit(doc, transaction, as)
}

func TestEdit_ChangesOneFieldAndNoOtherByte(t *testing.T) {
	t.Parallel()
	cob := fixtureFiles(t)["req_b1_cob.ncpdp"]
	for _, tt := range []struct {
		doc       []byte
		set       string
		old, with string
	}{
		{basicB1, "07-D7=99999000102", "D799999000101", "D799999000102"},
		{basicB1, "04-C2=SYN2", "C2SYN000001", "C2SYN2"},
		{basicB1, "07-DJ=", "|DJ3", ""},
		{basicB1, "07-HD=P", "|DJ3", "|DJ3|HDP"},
		{basicB1, "03-CM=X", "|DRPRESCRIBER", "|DRPRESCRIBER|CMX"},
		{basicB1, "A4=P", "TESTPCN   ", "P         "},
		{basicB1, "A1=888888", "999999D0", "888888D0"},
		{cob, "05-7C[2]=999996", "7C999997", "7C999996"},
		{cob, "05-7C[3]=1", "|6E70", "|6E70|7C1"},
		{append([]byte{2}, append(bytes.Clone(basicB1), 3)...), "D1=20260116", "20260115", "20260116"},
	} {
		got, err := edit(tt.doc, 1, tt.set)
		if want := bytes.Replace(tt.doc, msg(tt.old), msg(tt.with), 1); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n%q\n%q", tt.set, err, got, want)
		}
	}
	multi := fixtureFiles(t)["req_b1_multi4.ncpdp"]
	got, err := edit(multi, 3, "07-D7=1", "04-C1=NEW")
	want := bytes.Replace(bytes.Replace(multi, []byte("D799999000103"), []byte("D71"), 1), []byte("C1TESTGRP"), []byte("C1NEW"), 1)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v %q", err, got)
	}
}

func TestEdit_RefusesWithoutSayingTheValue(t *testing.T) {
	t.Parallel()
	for _, set := range []string{
		"02-D7=CANARY", "07-AM=CANARY", "07-D7[3]=CANARY", "07-D7=CANARY\x1c", "07-D7=CANARY\u00d8", "A9=4", "A2=51", "A1=CANARY9", "ZZ=CANARY", "F1=R",
	} {
		if got, err := edit(basicB1, 1, set); !errors.Is(err, claimdlq.Invalid) || got != nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", set, err)
		}
	}
	for _, doc := range [][]byte{nil, basicB1[:60], []byte("99999999F6B1")} {
		if _, err := edit(doc, 1, "07-D7=CANARY"); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%.10q: %v", doc, err)
		}
	}
	before := bytes.Clone(basicB1)
	if _, err := edit(basicB1, 1, "07-D7=1", "A4=P"); err != nil || !bytes.Equal(before, basicB1) {
		t.Error("the document itself was changed")
	}
}

func TestCut_OneTransactionAlone(t *testing.T) {
	t.Parallel()
	multi := fixtureFiles(t)["req_b1_multi4.ncpdp"]
	for _, frame := range []string{"|", "\x02|\x03", "|\x03\x03**1"} {
		before, after, _ := strings.Cut(frame, "|")
		m := ncpdp.Parse([]byte(before + string(multi) + after))
		for n := 1; n <= 4; n++ {
			got, err := ncpdp.Cut(m, n)
			want := before + strings.Replace(string(multi[:bytes.IndexByte(multi, 0x1d)]), "N   4", "N   1", 1) +
				"\x1d" + strings.Split(string(multi), "\x1d")[n] + after
			if err != nil || string(got) != want {
				t.Errorf("%d: %v\n%q\n%q", n, err, got, want)
			}
			one := ncpdp.Parse(got)
			if !ncpdp.OK(one.Validate()) || keyOf(t, got, 1, 0) != keyOf(t, m.Raw(), n, 0) {
				t.Errorf("%d: another claim, or %v", n, one.Validate())
			}
		}
		for _, n := range []int{-1, 0, 5} {
			if _, err := ncpdp.Cut(m, n); !errors.Is(err, claimdlq.Invalid) {
				t.Errorf("%d: %v", n, err)
			}
		}
	}
	if got, err := ncpdp.Cut(ncpdp.Parse(basicB1), 1); err != nil || !bytes.Equal(got, basicB1) {
		t.Error("a transaction that is alone was changed")
	}
}

// What is built is read back: every field has its value and its place, the judge
// has nothing to say, and setting a field to what it is changes nothing.
func TestBuilder_WhatIsBuiltIsRead(t *testing.T) {
	t.Parallel()
	value := rapid.StringMatching(`[A-Z0-9][ -~]{0,13}[A-Z0-9]`)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "transactions")
		member := value.Draw(t, "C2")
		b := ncpdp.NewRequest(testHeader).Segment("04").Field("C2", member)
		var rx []string
		var amounts []int64
		for i := range n {
			rx = append(rx, rapid.StringMatching(`[1-9][0-9]{0,11}`).Draw(t, "D2"))
			amounts = append(amounts, rapid.Int64Range(-99999999, 99999999).Draw(t, "D9"))
			b.Transaction().Segment("07").Field("EM", "1").Field("D2", rx[i]).Field("E1", "03").Field("D7", "99999000101").Quantity("E7", 1).Field("D3", "0").
				Segment("11").Amount("D9", amounts[i])
		}
		doc, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		m := ncpdp.Parse(doc)
		if !ncpdp.OK(m.Validate()) || m.Transactions() != n {
			t.Fatal(m.Validate())
		}
		if v, _ := m.Get(0, ncpdp.IDOf("04"), ncpdp.IDOf("C2")); string(v) != member {
			t.Fatalf("%q", v)
		}
		for i := range n {
			if d, ok := m.AmountOf(i+1, ncpdp.IDOf("D9")); !ok || d.Units != amounts[i] || string(m.RxOf(i+1)) != rx[i] {
				t.Fatalf("%d: %v", i, d)
			}
			same, err := ncpdp.Set(doc, i+1, ncpdp.Assignment{Segment: "07", Field: "D2", Occurrence: 1, Value: []byte(rx[i])})
			if err != nil || !bytes.Equal(same, doc) {
				t.Fatalf("%v", err)
			}
		}
	})
}
