package x12_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/wire/x12"
)

func TestParseAssignment_ReadsEverySpelling(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]x12.Assignment{
		"CLM05-3=7":      {Segment: "CLM", Element: 5, Component: 3, Value: []byte("7")},
		"CLM-05-3=7":     {Segment: "CLM", Element: 5, Component: 3, Value: []byte("7")},
		"clm-5=7":        {Segment: "CLM", Element: 5, Value: []byte("7")},
		"NM1[3]-09=TEST": {Segment: "NM1", Occurrence: 3, Element: 9, Value: []byte("TEST")},
		"NM109=TEST":     {Segment: "NM1", Element: 9, Value: []byte("TEST")},
		"N301=1 TEST":    {Segment: "N3", Element: 1, Value: []byte("1 TEST")},
		"HI01-2=J45":     {Segment: "HI", Element: 1, Component: 2, Value: []byte("J45")},
		"REF[2]02=A=B":   {Segment: "REF", Occurrence: 2, Element: 2, Value: []byte("A=B")},
		"REF02=":         {Segment: "REF", Element: 2, Value: []byte{}},
		"SV2-01=x":       {Segment: "SV2", Element: 1, Value: []byte("x")},
	} {
		got, err := x12.ParseAssignment(in)
		if err != nil || got.String() != want.String() || !bytes.Equal(got.Value, want.Value) {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
}

func TestParseAssignment_RefusesOthersWithoutNamingTheValue(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "CLM05-3", "=CANARY", "CLM=CANARY", "CLM00=CANARY", "CLM05-0=CANARY", "CLM05-100=CANARY", "CLMX05=CANARY", "NM1[0]-09=CANARY", "NM1[x]-09=CANARY",
		"NM1[1-09=CANARY", "1NM-09=CANARY", "CLM005=CANARY", "CLM05-3-1=CANARY", "NM1[1][2]-09=CANARY", "C*M05=CANARY",
	} {
		if _, err := x12.ParseAssignment(in); !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func edit(t *testing.T, doc string, sets ...string) (string, error) {
	t.Helper()
	var as []x12.Assignment
	for _, s := range sets {
		a, err := x12.ParseAssignment(s)
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, a)
	}
	out, err := x12.Edit([]byte(doc), as)
	return string(out), err
}

func TestEdit_ChangesOneElementAndNothingElse(t *testing.T) {
	t.Parallel()
	tests := []struct{ set, old, want string }{
		{"CLM[2]-02=1.5", "CLM*PCN2*200*", "CLM*PCN2*1.5*"},
		{"CLM[2]-05-3=7", "CLM*PCN2*200***11:B:1~", "CLM*PCN2*200***11:B:7~"},
		{"CLM[2]-05-5=X", "CLM*PCN2*200***11:B:1~", "CLM*PCN2*200***11:B:1::X~"},
		{"CLM[2]-05-3=", "CLM*PCN2*200***11:B:1~", "CLM*PCN2*200***11:B~"},
		{"CLM[2]-05-2=", "CLM*PCN2*200***11:B:1~", "CLM*PCN2*200***11::1~"},
		{"CLM[2]-05=", "CLM*PCN2*200***11:B:1~", "CLM*PCN2*200~"},
		{"CLM[2]-02=", "CLM*PCN2*200***", "CLM*PCN2****"},
		{"CLM[2]-09=Y", "CLM*PCN2*200***11:B:1~", "CLM*PCN2*200***11:B:1****Y~"},
		{"CLM[2]-09-2=Y", "CLM*PCN2*200***11:B:1~", "CLM*PCN2*200***11:B:1****:Y~"},
		{"BHT-03=NEW", "BHT*0019*00*TESTBATCH*", "BHT*0019*00*NEW*"},
		{"SBR01=S", "SBR*P*", "SBR*S*"},
	}
	for _, tt := range tests {
		got, err := edit(t, tree, tt.set)
		if want := strings.Replace(tree, tt.old, tt.want, 1); err != nil || got != want || want == tree {
			t.Errorf("%s: %v\n%s", tt.set, err, got)
		}
	}
}

func TestEdit_KeepsTheDocumentsDelimiters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ok-delims-pipe", "ok-delims-gs", "ok-term-cr", "ok-crlf"} {
		doc := fixture(t, name+".x12")
		d, _ := delimsOf(t, doc)
		got, err := edit(t, string(doc), "CLM[2]-05-3=7")
		if err != nil {
			t.Fatal(err)
		}
		old := "11" + string(d.Component) + "B" + string(d.Component)
		at := strings.LastIndex(string(doc), old) + len(old)
		if want := string(doc[:at]) + "7" + string(doc[at+1:]); got != want {
			t.Errorf("%s: changed something else", name)
		}
	}
}

func TestEdit_RefusalsNamePositionNeverValue(t *testing.T) {
	t.Parallel()
	for set, hint := range map[string]string{
		"CLM02=CANARY":      "has 6 of them: name one, CLM[1] to CLM[6]",
		"CLM[7]-02=CANARY":  "has 6 of them",
		"K3-01=CANARY":      "no such segment",
		"ISA-13=CANARY":     "written by the system",
		"GS06=CANARY":       "written by the system",
		"ST02=CANARY":       "written by the system",
		"SE01=CANARY":       "written by the system",
		"GE01=CANARY":       "written by the system",
		"IEA01=CANARY":      "written by the system",
		"SBR09=CANARY*X":    "delimiter",
		"SBR09=CANARY~X":    "delimiter",
		"SBR09-1=CANARY:X":  "delimiter",
		"SBR09=CANARY^X":    "delimiter",
		"SBR09=CANARY\nX":   "control character",
		"SBR09=CANARY\x00X": "control character",
		"SBR09=CANARY\x7fX": "control character",
	} {
		_, err := edit(t, tree, set)
		if !errors.Is(err, claimdlq.Invalid) || !strings.Contains(err.Error(), hint) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%q: %v", set, err)
		}
	}
	if _, err := x12.Edit([]byte("no ISA"), nil); !errors.Is(err, claimdlq.Invalid) {
		t.Error(err)
	}
}

func TestRepair_WhatIsRightStaysToTheByte(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"ok-base", "ok-crlf", "ok-term-cr", "ok-term-0x1c", "ok-delims-pipe", "ok-delims-gs", "ok-two-st", "ok-two-gs-same-st02",
		"ok-lead-zero-counts", "ok-trailing-ws", "ok-wrap80", "biz-5000-claims",
	} {
		doc := fixture(t, name+".x12")
		if got, err := x12.Repair(doc); err != nil || !bytes.Equal(got, doc) {
			t.Errorf("%s: changed (%v)", name, err)
		}
	}
	if got, err := x12.Repair([]byte(tree)); err != nil || string(got) != tree {
		t.Errorf("changed: %v\n%s", err, got)
	}
}

func TestRepair_CountsAgainAfterAPersonsEdit(t *testing.T) {
	t.Parallel()
	// The first subscriber's two dependents, and a line of the second claim, are taken out by hand.
	from, to := strings.Index(tree, "HL*3*2*23"), strings.Index(tree, "HL*5*1*22")
	doc := tree[:from] + tree[to:]
	doc = strings.Replace(doc, "PCN2*200***11:B:1~\nLX*1~\n", "PCN2*200***11:B:1~\nLX*2~\nLX*5~\n", 1)
	doc = strings.Replace(doc, "GE*1*9", "GE*3*8", 1)
	doc = strings.Replace(doc, "IEA*1*000000007", "IEA*2*000000008", 1)
	doc = strings.Replace(doc, "SE*28*0001", "SE*28*0002", 1)
	got, err := x12.Repair([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	want := "HL*1**20*1 HL*2*1*22*0 PCN1 PCN2 HL*3*1*22*0 PCN5 HL*4**20*1 HL*5*4*22*0 PCN6 SE*22*0001 GE*1*9 IEA*1*000000007"
	if o := outline(t, got); o != want {
		t.Errorf("got  %s\nwant %s", o, want)
	}
	if !strings.Contains(string(got), "PCN2*200***11:B:1~\nLX*1~\nLX*2~\n") {
		t.Errorf("LX is not numbered from 1:\n%s", got)
	}
	checkCounts(t, got)
}
