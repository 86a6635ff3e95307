package x12_test

import (
	"slices"
	"strings"
	"testing"
)

// What real traffic gets wrong and a payer refuses.
func TestJudge_WhatTheGuidesLeaveNoRoomFor(t *testing.T) {
	t.Parallel()
	provider := "N4*TESTVILLE*OH*430010000~REF*EI*999999999~"
	for _, c := range []struct{ in, old, with, want string }{
		// A pay-to address has no name of its own.
		{base, provider, provider + "NM1*87*2*TEST CLINIC~N3*3 TEST WAY~N4*TESTVILLE*OH*430010000~", "NM103@11 2010AB 8/I10"},
		{base, "SBR*P*18*******CI~", "SBR*P*18*******CI~PAT*01~", "PAT01@13 2000B 8/I10"},
		{base, "DMG*D8*19700101*F", "DMG*D8*19700101*F*M", "DMG04@16 2010BA 8/I10"},
		{base, "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000", "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000**CO*1", "N405@9 2010AA 8/I10"},
		// An address in the country needs its state and ZIP, and a state that there is.
		{base, "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000", "N3*1 TEST WAY~N4*TESTVILLE*OH", "N403@9 2010AA 8/I9"},
		{base, "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000", "N3*1 TEST WAY~N4*TESTVILLE**430010000", "N402@9 2010AA 8/I9"},
		{base, "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000", "N3*1 TEST WAY~N4*TESTVILLE*XX*430010000", "N402@9 2010AA 8/7"},
		// Procedures and occurrences are dated, spans have a range, values an amount.
		{institutional, "HI*BH:11:D8:20260101", "HI*BH:11", "HI01-3@29 2300 8/1"},
		{institutional, "HI*BH:11:D8:20260101", "HI*BBR:0BH17EZ:D8", "HI01-4@29 2300 8/1"},
		{institutional, "HI*BH:11:D8:20260101", "HI*BI:70:D8:20260101", "HI01-3@29 2300 8/7"},
		{institutional, "HI*BH:11:D8:20260101", "HI*BE:A1", "HI01-5@29 2300 8/1"},
		{institutional, "DTP*434*RD8*20260205-20260210", "DTP*434*D8*20260205", "DTP02@24 2300 8/7"},
		// References whose values are a code list.
		{base, "HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "REF*4N*9~HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "REF02@19 2300 8/7"},
		{base, "HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "PWK*P6*BM~HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "PWK01@19 2300 8/7"},
		{dental, "SV3*AD:D2150*100****1~", "SV3*AD:D2150*100****1*TEST~", "SV307@21 2400 8/I10"},
	} {
		list, _ := faults(t, recounted(change(t, c.in, c.old, c.with)))
		if len(list) == 0 || short(list[0]) != c.want {
			t.Errorf("%s: %v, want %s", c.with, list, c.want)
		}
	}
}

func TestJudge_WhatIsUnusualAndRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, old, with string }{
		{base, "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000", "N3*1 TEST WAY~N4*TESTSTADT***DE"},
		{base, "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000", "N3*1 TEST WAY~N4*TESTVILLE*ON*M5V2T6"},
		{base, "N4*TESTVILLE*OH*430010000~REF*EI*999999999~", "N4*TESTVILLE*OH*430010000~REF*EI*999999999~NM1*87*2~N3*3 TEST WAY~N4*TESTVILLE*OH*430010000~"},
		{dental, "DTP*472*D8*20260210~", "DTP*472*D8*20260210~PWK*P6*BM~"},
		{institutional, "HI*BH:11:D8:20260101", "HI*BE:A1:::50*BE:A2:::75.5"},
	} {
		if list, _ := faults(t, recounted(change(t, c.in, c.old, c.with))); len(list) > 0 {
			t.Errorf("%s: %v", c.with, list)
		}
	}
}

// A missing HL or LX is one fault, and does not make those after it wrong. What it
// opened stays, in the bytes, with the claim before it or the level above: they are
// held too, or a claim would go out as another patient's.
func TestJudge_MissingLevelHoldsWhatItWouldHaveParted(t *testing.T) {
	t.Parallel()
	in := family()
	for _, c := range []struct {
		old, with, want string
		bad             []int
	}{
		{"HL*1**20*1~", "", "HL@6 2000A 3/", nil},
		{"HL*2*1*22*0~", "", "HL@11 2000B 3/", []int{1, 2, 3, 4}},
		{"HL*4*3*23*0~", "", "HL@40 2000C 3/", []int{3, 4}},
		// The parent that an HL names says what its level code should have been.
		{"HL*3*1*22*1", "HL*3*1*29*1", "HL03@28 2000B 8/7", []int{3, 4}},
		{"HL*4*3*23*0", "HL*4*3*29*0", "HL03@40 2000C 8/7", []int{4}},
	} {
		list, set := faults(t, recounted(change(t, in, c.old, c.with)))
		var bad []int
		for _, b := range set.BadClaims {
			bad = append(bad, b.Ordinal)
		}
		if len(list) != 1 || short(list[0]) != c.want || !slices.Equal(bad, c.bad) || set.Whole != (c.bad == nil) {
			t.Errorf("%s: %v, bad %v, whole %v; want %s %v", c.old, list, bad, set.Whole, c.want, c.bad)
		}
	}
	lines := strings.Replace(in, "LX*1~SV1*HC:99213*10*UN*1***1~DTP*472*D8*20260210~", "SV1*HC:99213*4*UN*1***1~DTP*472*D8*20260210~LX*2~SV1*HC:99213*6*UN*1***1~DTP*472*D8*20260210~", 1)
	if list, _ := faults(t, recounted(lines)); len(list) != 1 || short(list[0]) != "LX@20 2400 3/" {
		t.Errorf("%v", list)
	}
}

// 42 CFR 424.44 (b) has exceptions, and speaks of filing, not of correcting.
func TestJudge_LateClaimsThatThePayerDecides(t *testing.T) {
	t.Parallel()
	late := strings.ReplaceAll(base, "20260210", "20241231")
	clm := "CLM*PCN0001*125***11:B:1*Y*A*Y*Y"
	rules := func(in string) (out []string) {
		list, _ := faults(t, in)
		for _, f := range list {
			if f.ClaimOrd == 1 {
				out = append(out, f.Rule)
			}
		}
		return out
	}
	for with, want := range map[string][]string{
		clm:                                {"TIMELY_FILING"},
		clm + "***********3":               nil,
		"CLM*PCN0001*125***11:B:7*Y*A*Y*Y": {"REPLACEMENT_WITHOUT_F8"},
		"CLM*PCN0001*125***11:B:8*Y*A*Y*Y": {"REPLACEMENT_WITHOUT_F8"},
	} {
		if got := rules(change(t, late, clm, with)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", with, got, want)
		}
	}
}
