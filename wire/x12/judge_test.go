package x12_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/wire/x12"
)

// institutional and dental are clean interchanges of one claim each.
var (
	institutional = recounted(isa +
		"GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*201*X*005010X223A2~ST*837*0001*005010X223A2~" +
		"BHT*0019*00*BATCH1*20260301*0930*CH~NM1*41*2*TEST SUBMITTER*****46*SUB001~PER*IC*TEST DESK*TE*5555550100~" +
		"NM1*40*2*TEST PAYER*****46*PAY001~HL*1**20*1~PRV*BI*PXC*282N00000X~NM1*85*2*TEST HOSPITAL*****XX*1234567893~" +
		"N3*1 TEST WAY~N4*TESTVILLE*OH*430010000~REF*EI*999999999~HL*2*1*22*1~SBR*P**GRP1******MB~" +
		"NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001~NM1*PR*2*TEST PAYER*****PI*PAY001~HL*3*2*23*0~PAT*19~" +
		"NM1*QC*1*TESTCHILD*TESTFIRST~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*20200101*F~" +
		"CLM*PCN0001*300***11:A:1**A*Y*Y~DTP*096*TM*1130~DTP*434*RD8*20260205-20260210~DTP*435*DT*202602051015~CL1*1*7*01~" +
		"HI*ABK:J069:::::::Y~HI*ABJ:J069~HI*BH:11:D8:20260101~NM1*71*1*TESTDOC*TESTFIRST****XX*1234567893~PRV*AT*PXC*207R00000X~" +
		"LX*1~SV2*0120**200*DA*1~LX*2~SV2*0250*HC:J1885*100*UN*2~DTP*472*D8*20260206~SE*0*0001~GE*1*201~IEA*1*000000101~")
	dental = recounted(isa +
		"GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*201*X*005010X224A2~ST*837*0001*005010X224A2~" +
		"BHT*0019*00*BATCH1*20260301*0930*CH~NM1*41*2*TEST SUBMITTER*****46*SUB001~PER*IC*TEST DESK*TE*5555550100~" +
		"NM1*40*2*TEST PAYER*****46*PAY001~HL*1**20*1~NM1*85*2*TEST DENTIST*****XX*1234567893~" +
		"N3*1 TEST WAY~N4*TESTVILLE*OH*430010000~REF*EI*999999999~HL*2*1*22*0~SBR*P*18*******CI~" +
		"NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*19700101*F~" +
		"NM1*PR*2*TEST PAYER*****PI*PAY001~CLM*PCN0001*150***11:B:1*Y*A*Y*Y~DTP*472*D8*20260210~" +
		"LX*1~SV3*AD:D2150*100****1~TOO*JP*12*L:O~LX*2~SV3*AD:D1110*50****1~SE*0*0001~GE*1*201~IEA*1*000000101~")
)

// recounted corrects SE01 after segments were added or taken away.
func recounted(in string) string {
	segs := strings.Split(in, "~")
	n := 0
	for i, s := range segs {
		if strings.HasPrefix(s, "ST*") {
			n = 0
		}
		n++
		if f := strings.Split(s, "*"); f[0] == "SE" {
			segs[i] = fmt.Sprintf("SE*%d*%s", n, f[2])
		}
	}
	return strings.Join(segs, "~")
}

// faults are those of the first set, without the notes.
func faults(t testing.TB, in string) (list []x12.Fault, set x12.Set) {
	t.Helper()
	set = scan(t, in, x12.Options{}).sets[0]
	for _, f := range set.Faults {
		if f.Severity != x12.Note {
			list = append(list, f)
		}
	}
	return list, set
}

// short writes a fault as SEGMENTelement@position loop IK304/IK403.
func short(f x12.Fault) string {
	return fmt.Sprintf("%s%s@%d %s %s/%s", f.Segment, f.Element, f.Position, f.Loop, f.IK304, f.IK403)
}

func TestJudge_CleanSetsOfEachKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in     string
		format claimdlq.Format
		cents  int64
	}{
		"professional":  {base, claimdlq.Format837P, 25000},
		"institutional": {institutional, claimdlq.Format837I, 30000},
		"dental":        {dental, claimdlq.Format837D, 15000},
	} {
		s := scan(t, c.in, x12.Options{})
		if v := s.verdict(); v != clean || len(s.sets[0].Faults) > 0 {
			t.Errorf("%s: %s %+v", name, v, s.sets[0].Faults)
		}
		if s.sets[0].Format != c.format || s.sets[0].AmountCents != c.cents {
			t.Errorf("%s: %v, %d", name, s.sets[0].Format, s.sets[0].AmountCents)
		}
	}
}

func TestJudge_EveryRequiredSegmentIsMissed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, gone, want string }{
		{base, "BHT*0019*00*BATCH1*20260301*0930*CH", "BHT@2  3/"},
		{base, "NM1*41*2*TEST SUBMITTER*****46*SUB001", "NM1@3 1000A 3/"},
		{base, "PER*IC*TEST DESK*TE*5555550100", "PER@4 1000A 3/"},
		{base, "NM1*40*2*TEST PAYER*****46*PAY001", "NM1@5 1000B 3/"},
		{base, "HL*1**20*1", "HL@6 2000A 3/"},
		{base, "NM1*85*2*TEST CLINIC*****XX*1234567893", "NM1@7 2010AA 3/"},
		{base, "N3*1 TEST WAY", "N3@8 2010AA 3/"},
		{base, "REF*EI*999999999", "REF@10 2010AA 3/"},
		{base, "HL*2*1*22*0", "HL@11 2000B 3/"},
		{base, "SBR*P*18*******CI", "SBR@12 2000B 3/"},
		{base, "NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001", "NM1@13 2010BA 3/"},
		{base, "N3*2 TEST WAY", "N3@16 2010BA I6/"},
		{base, "DMG*D8*19700101*F", "DMG@16 2010BA I6/"},
		{base, "NM1*PR*2*TEST PAYER*****PI*PAY001", "NM1@17 2010BB 3/"},
		{base, "CLM*PCN0001*125***11:B:1*Y*A*Y*Y", "CLM@18 2300 3/"},
		{base, "HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "HI@19 2300 3/"},
		{institutional, "PAT*19", "PAT@17 2000C 3/"},
		{institutional, "DMG*D8*20200101*F", "DMG@21 2010CA 3/"},
		{institutional, "DTP*434*RD8*20260205-20260210", "DTP@25 2300 3/"},
		{institutional, "CL1*1*7*01", "CL1@26 2300 3/"},
		{institutional, "HI*ABK:J069:::::::Y", "HI@29 2300 3/"},
		{institutional, "SV2*0120**200*DA*1", "SV2@33 2400 3/"},
		{dental, "SV3*AD:D2150*100****1", "SV3@21 2400 3/"},
		{dental, "NM1*85*2*TEST DENTIST*****XX*1234567893", "NM1@7 2010AA 3/"},
	} {
		list, set := faults(t, recounted(change(t, c.in, c.gone+"~", "")))
		if len(list) == 0 || !strings.HasPrefix(short(list[0]), c.want) {
			t.Errorf("without %s: %v, want %s", c.gone[:3], list, c.want)
		}
		if set.IK5 != "R" || !slices.Contains(set.IK502, "5") {
			t.Errorf("without %s: IK5 %s %v", c.gone[:3], set.IK5, set.IK502)
		}
	}
}

func TestJudge_SegmentsOutOfPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, with, want string }{
		{"unknown id", "HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "ZZZ*1~HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "ZZZ@19 2300 1/"},
		{"an id that is none", "DMG*", "lower*1~DMG*", "???@16 2010BA 1/"},
		{"of another set", "DMG*", "BPR*1~DMG*", "BPR@16 2010BA 6/"},
		{"of another guide", "DMG*D8*19700101*F", "DMG*D8*19700101*F~SV2*0120**1*UN*1", "SV2@17 2010BA 2/"},
		{"of another loop", "DMG*D8*19700101*F", "DMG*D8*19700101*F~CRC*07*Y*01", "CRC@17 2010BA 2/"},
		{"twice", "DMG*D8*19700101*F", "DMG*D8*19700101*F~DMG*D8*19700101*F", "DMG@17 2010BA 5/"},
		{"header twice", "BHT*0019*00*BATCH1*20260301*0930*CH", "BHT*0019*00*BATCH1*20260301*0930*CH~BHT*0019*00*BATCH1*20260301*0930*CH", "BHT@3  5/"},
		{"too often", "PER*IC*TEST DESK*TE*5555550100", "PER*IC*A*TE*5555550100~PER*IC*B*TE*5555550100~PER*IC*C*TE*5555550100", "PER@6 1000A 5/"},
		{"loop twice", "NM1*PR*2*TEST PAYER*****PI*PAY001", "NM1*PR*2*TEST PAYER*****PI*PAY001~NM1*PR*2*TEST PAYER*****PI*PAY001", "NM1@18 2010BB 4/"},
		{"wrong order", "N3*1 TEST WAY~N4*TESTVILLE*OH*430010000", "N4*TESTVILLE*OH*430010000~N3*1 TEST WAY", "N3@9 2010AA 7/"},
		{"loop in wrong order", "SBR*P*18*******CI~NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001", "NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001~SBR*P*18*******CI", "SBR@13 2000B 7/"},
		{"misplaced loop, one fault", "DMG*D8*19700101*F", "DMG*D8*19700101*F~NM1*82*1*TESTDOC~PRV*PE*PXC*203BF0100Y~REF*G2*1", "NM1@17 2010BA 2/"},
		{"patient below provider", "HL*2*1*22*0", "HL*2*1*23*0", "HL@11 2010AA 2/"},
	} {
		list, _ := faults(t, recounted(change(t, base, c.old, c.with)))
		if len(list) == 0 || !strings.HasPrefix(short(list[0]), c.want) {
			t.Errorf("%s: %v, want %s", c.name, list, c.want)
			continue
		}
		if c.name != "patient below provider" && len(list) != 1 {
			t.Errorf("%s: %d faults follow from one: %v", c.name, len(list), list)
		}
	}
}

func TestJudge_LoopsBeyondTheirGreatestUse(t *testing.T) {
	t.Parallel()
	claim := base[strings.Index(base, "CLM*PCN0002"):strings.Index(base, "SE*")]
	line := "LX*%d~SV1*HC:99213*1*UN*1***1~DTP*472*D8*20260210~"
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i+1)
		}
		return b.String()
	}
	withLines := func(n int) string {
		in := change(t, base, "CLM*PCN0001*125***11:B:1*Y*A*Y*Y~HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1~",
			fmt.Sprintf("CLM*PCN0001*%d***11:B:1*Y*A*Y*Y~HI*ABK:J069~%s", n, lines(n)))
		return recounted(in)
	}
	for _, c := range []struct {
		name, in, want string
		claims         int
	}{
		{"100 claims", recounted(change(t, base, claim, strings.Repeat(claim, 99))), "", 100},
		{"101 claims", recounted(change(t, base, claim, strings.Repeat(claim, 100))), "CLM@618 2300 4/", 101},
		{"50 lines", withLines(50), "", 2},
		{"51 lines", withLines(51), "LX@170 2400 4/", 2},
	} {
		list, set := faults(t, c.in)
		got := ""
		if len(list) > 0 {
			got = short(list[0])
		}
		if got != c.want || set.Claims != c.claims || len(set.BadClaims) > 1 {
			t.Errorf("%s: %s, want %s; %d claims, %d bad", c.name, got, c.want, set.Claims, len(set.BadClaims))
		}
	}
}

// TestJudge_LoopsWithoutAGreatestUseHaveNone: more subscribers than a counter holds.
func TestJudge_LoopsWithoutAGreatestUseHaveNone(t *testing.T) {
	t.Parallel()
	const subscribers = 1<<16 + 3
	from, to := strings.Index(dental, "HL*2*"), strings.Index(dental, "SE*")
	one := strings.TrimPrefix(dental[from:to], "HL*2*")
	var b strings.Builder
	b.WriteString(dental[:from])
	for i := range subscribers {
		fmt.Fprintf(&b, "HL*%d*%s", i+2, one)
	}
	b.WriteString(dental[to:])
	list, set := faults(t, recounted(b.String()))
	if len(list) > 0 || set.Claims != subscribers {
		t.Errorf("%d claims, %d faults, such as %+v", set.Claims, len(list), list[:min(len(list), 1)])
	}
}

func TestJudge_ElementFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, old, with, want string }{
		{base, "CLM*PCN0001*", "CLM**", "CLM01@18 2300 8/1"},
		{base, "*PCN0001*125", "*" + strings.Repeat("P", 39) + "*125", "CLM01@18 2300 8/5"},
		{base, "DMG*D8*19700101", "DMG*D8*19700231", "DMG02@16 2010BA 8/8"},
		{base, "DMG*D8*19700101", "DMG*D8*197001", "DMG02@16 2010BA 8/8"},
		{base, "BHT*0019*00*BATCH1*20260301", "BHT*0019*00*BATCH1*20261301", "BHT04@2  8/8"},
		{base, "BATCH1*20260301*0930", "BATCH1*20260301*2530", "BHT05@2  8/9"},
		{base, "BHT*0019", "BHT*0020", "BHT01@2  8/7"},
		{base, "SBR*P", "SBR*Q", "SBR01@12 2000B 8/7"},
		{base, "NM1*PR*", "NM1*ZZ*", "NM101@17 2010BB 8/7"},
		{base, "REF*EI*", "REF*QQ*", "REF01@10 2010AA 8/7"},
		{base, "REF*EI*999999999", "REF*EI", "REF02@10 2010AA 8/1"},
		{base, "N4*TESTVILLE*OH*430010000~REF", "N4*T*OH*430010000~REF", "N401@9 2010AA 8/4"},
		{base, "N4*TESTVILLE*OH*430010000~REF", "N4*TESTVILLE*OH*43~REF", "N403@9 2010AA 8/4"},
		{base, "*TESTLAST*", "*TEST\x07LAST*", "NM103@13 2010BA 8/6"},
		{base, "*TESTLAST*", "*TE\xd1TLAST*", "NM103@13 2010BA 8/6"},
		{base, "*TESTLAST*", "*TE\xc3\x91TLAST*", "NM103@13 2010BA 8/6"},
		{base, "*TESTLAST*", "*TEST:LAST*", "NM103@13 2010BA 8/13"},
		{base, "*TESTLAST*", "*TEST^LAST*", "NM103@13 2010BA 8/12"},
		{base, "*MI*MBR0001", "*MI", "NM109@13 2010BA 8/2"},
		{base, "****MI*MBR0001", "*****MBR0001", "NM108@13 2010BA 8/2"},
		{base, "*TE*5555550100", "*TE*5555550100*EX", "PER06@4 1000A 8/2"},
		{base, "PER*IC*TEST DESK*TE*5555550100", "PER*IC*TEST DESK*TE*5555550100****EX", "PER07@4 1000A 8/2"},
		{base, "N4*TESTVILLE*OH*430010000~REF", "N4*TESTVILLE*OH*430010000****ON~REF", "N407@9 2010AA 8/10"},
		{base, "HL*2*1*22*0", "HL*5*1*22*0", "HL01@11 2000B 8/7"},
		{base, "HL*2*1*22*0", "HL*2*9*22*0", "HL02@11 2000B 8/7"},
		{base, "HL*1**20*1", "HL*1*1*20*1", "HL02@6 2000A 8/I10"},
		{base, "HL*2*1*22*0", "HL*2**22*0", "HL02@11 2000B 8/1"},
		{base, "*PCN0001*125***11:B:1*", "*PCN0001*12X***11:B:1*", "CLM02@18 2300 8/6"},
		{base, "*PCN0001*125***11:B:1*", "*PCN0001*125.005***11:B:1*", "CLM02@18 2300 8/6"},
		{base, "*PCN0001*125***11:B:1*", "*PCN0001*125**X*11:B:1*", "CLM04@18 2300 8/I10"},
		{base, "*PCN0001*125***11:B:1*", "*PCN0001*125***11:A:1*", "CLM05-2@18 2300 8/7"},
		{base, "*PCN0001*125***11:B:1*", "*PCN0001*125***11:B*", "CLM05-3@18 2300 8/1"},
		{base, "*PCN0001*125***11:B:1*", "*PCN0001*125***11:B:1:9*", "CLM05@18 2300 8/13"},
		{base, "*PCN0001*125***11:B:1*", "*PCN0001*125****", "CLM05@18 2300 8/1"},
		{institutional, "DTP*096*TM*1130", "DTP*096*TM*2530", "DTP03@23 2300 8/9"},
		{institutional, "20260205-20260210", "20260205", "DTP03@24 2300 8/8"},
		{institutional, "20260205-20260210", "20260210-20260205", "DTP03@24 2300 8/8"},
		{institutional, "20260205-20260210", "20260205-20260230", "DTP03@24 2300 8/8"},
		{institutional, "DT*202602051015", "DT*202602052515", "DTP03@25 2300 8/8"},
		{institutional, "CL1*1*7*01", "CL1*1*7", "CL103@26 2300 8/1"},
		{institutional, ":D8:20260101", ":D8:20260132", "HI01-4@29 2300 8/8"},
		{institutional, "HI*BH:11", "HI*XX:11", "HI01-1@29 2300 8/7"},
		{institutional, "SV2*0120**200*DA", "SV2*0120**200*QQ", "SV204@33 2400 8/7"},
		{institutional, "SV2*0120**200", "SV2***200", "SV201@33 2400 8/1"},
		{dental, "SV3*AD:D2150", "SV3*HC:D2150", "SV301-1@21 2400 8/7"},
		{dental, "TOO*JP*12*L:O", "TOO*JP**L:O", "TOO02@22 2400 8/1"},
		{dental, "TOO*JP*12*L:O", "TOO*JP*12*L:O:B:D:F:I", "TOO03@22 2400 8/13"},
	} {
		list, set := faults(t, change(t, c.in, c.old, c.with))
		if len(list) == 0 || !slices.ContainsFunc(list, func(f x12.Fault) bool { return short(f) == c.want }) {
			t.Errorf("%q: %v, want %s", c.with, list, c.want)
		}
		if set.IK5 != "R" {
			t.Errorf("%q: IK5 %s", c.with, set.IK5)
		}
	}
}

func TestJudge_TooManyElements(t *testing.T) {
	t.Parallel()
	in := strings.Replace(base, "HI*ABK:J069", "HI*ABK:J069"+strings.Repeat("*ABF:J069", 11), 1)
	if list, _ := faults(t, in); len(list) > 0 {
		t.Errorf("twelve diagnoses: %v", list)
	}
	in = strings.Replace(base, "HI*ABK:J069", "HI*ABK:J069"+strings.Repeat("*ABF:J069", 12), 1)
	if list, _ := faults(t, in); len(list) != 1 || short(list[0]) != "HI13@19 2300 8/3" {
		t.Errorf("thirteen: %v", list)
	}
	in = strings.Replace(base, "HI*ABK:J069", "HI*ABK:J069"+strings.Repeat("*ABF:J069", 500), 1)
	if list, _ := faults(t, in); len(list) != 1 || list[0].IK403 != "3" {
		t.Errorf("five hundred: %v", list)
	}
}

func TestJudge_WhatIsToleratedIsNoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, with, rule string }{
		{"*TE*5555550100~", "*TE*5555550100**~", "TRAILING_SEPARATORS"},
		{"*TE*5555550100~", "*TE*5555550100" + strings.Repeat("*", 12) + "~", "TRAILING_SEPARATORS"},
		{"*PCN0001*125***11:B:1*", "*PCN0001*125***11:B:1:*", "TRAILING_SEPARATORS"},
		{"HL*1**20*1", "HL*1**20*0", "HL_CHILD_FLAG"},
		{"HL*2*1*22*0", "HL*2*1*22*1", "HL_CHILD_FLAG"},
		{"SBR*P*", "SBR*P *", "TRAILING_SPACES"},
	} {
		set := scan(t, change(t, base, c.old, c.with), x12.Options{}).sets[0]
		if set.IK5 != "A" || len(set.Faults) != 1 || set.Faults[0].Rule != c.rule || set.Faults[0].Severity != x12.Note || len(set.BadClaims) > 0 {
			t.Errorf("%s: IK5 %s %+v", c.with, set.IK5, set.Faults)
		}
	}
}

func TestJudge_LooseOrderWhereTheGuideAllowsIt(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{
			"NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*19700101*F~NM1*PR*2*TEST PAYER*****PI*PAY001~",
			"NM1*PR*2*TEST PAYER*****PI*PAY001~NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*19700101*F~",
		},
		{"HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN2~", "REF*EA*1~REF*D9*2~REF*G1*3~HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN2~"},
		{"HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN2~", "HI*ABK:J069~NM1*82*1*TESTDOC~NM1*DN*1*TESTDOC~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN2~"},
	} {
		if list, set := faults(t, recounted(change(t, base, c[0], c[1]))); len(list) > 0 || set.IK5 != "A" {
			t.Errorf("%v", list)
		}
	}
}
