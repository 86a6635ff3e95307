package x12_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claimdlq/wire/x12"
)

func TestJudge_BusinessFaults(t *testing.T) {
	t.Parallel()
	line := "SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1"
	for _, c := range []struct{ in, old, with, want, rule, stc string }{
		{base, "XX*1234567893", "XX*1234567890", "NM109@7 2010AA /", "NPI_CHECK_DIGIT", "A7:562:85"},
		{base, "XX*1234567893", "XX*123456789", "NM109@7 2010AA /", "NPI_CHECK_DIGIT", "A7:562:85"},
		{institutional, "71*1*TESTDOC*TESTFIRST****XX*1234567893", "71*1*TESTDOC*TESTFIRST****XX*1234567894", "NM109@30 2310A /", "NPI_CHECK_DIGIT", "A7:562:71"},
		{base, line, strings.Replace(line, "20260210", "20250228", 1), "DTP03@22 2400 /", "TIMELY_FILING", "A3:718"},
		{institutional, "20260205-20260210", "20250105-20250228", "DTP03@24 2300 /", "TIMELY_FILING", "A3:718"},
		{dental, "DTP*472*D8*20260210", "DTP*472*D8*20240210", "DTP03@19 2300 /", "TIMELY_FILING", "A3:718"},
		{base, "*PCN0001*125*", "*PCN0001*126*", "CLM02@18 2300 /", "CHARGES_DO_NOT_BALANCE", "A7:400"},
		{institutional, "SV2*0250*HC:J1885*100", "SV2*0250*HC:J1885*100.01", "CLM02@22 2300 /", "CHARGES_DO_NOT_BALANCE", "A7:400"},
		{dental, "SV3*AD:D1110*50*", "SV3*AD:D1110*49*", "CLM02@18 2300 /", "CHARGES_DO_NOT_BALANCE", "A7:400"},
		{base, line, strings.Replace(line, "UN*1***1", "UN*1***1:2", 1), "SV107-2@21 2400 /", "DIAGNOSIS_POINTER", "A7:477"},
		{base, "*PCN0001*125***11:B:1", "*PCN0001*125***11:B:7", "CLM05-3@18 2300 /", "REPLACEMENT_WITHOUT_F8", "A7:464"},
		{base, "*PCN0001*125***11:B:1", "*PCN0001*125***11:B:8", "CLM05-3@18 2300 /", "REPLACEMENT_WITHOUT_F8", "A7:464"},
	} {
		list, set := faults(t, change(t, c.in, c.old, c.with))
		if len(list) != 1 || short(list[0]) != c.want || list[0].Rule != c.rule || list[0].STC != c.stc || list[0].Severity != x12.Business {
			t.Errorf("%s: %v, want %s", c.with, list, c.want)
			continue
		}
		if set.IK5 != "A" || len(set.BadClaims) == 0 {
			t.Errorf("%s: a business fault leaves the set well formed and holds the claim: %s %v", c.with, set.IK5, set.BadClaims)
		}
		if got := list[0].Detail().String(); got != "RULE:"+c.rule {
			t.Errorf("detail %s", got)
		}
	}
}

func TestJudge_BusinessRulesAtTheirBounds(t *testing.T) {
	t.Parallel()
	line := "SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1"
	for name, in := range map[string]string{
		"one calendar year to the day": change(t, base, line, strings.Replace(line, "20260210", "20250301", 1)),
		"cents in another form":        change(t, base, "*PCN0001*125*", "*PCN0001*125.00*"),
		"replacement with F8":          recounted(change(t, change(t, base, "*PCN0001*125***11:B:1", "*PCN0001*125***11:B:7"), "HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "REF*F8*TESTICN~HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1")),
		"through date in the year":     change(t, institutional, "20260205-20260210", "20250105-20250301"),
	} {
		if list, _ := faults(t, in); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
	// 29 February is 28 February a year later.
	leap := strings.NewReplacer("20260210", "20240229", "*260301*", "*250228*").Replace(base)
	if list, _ := faults(t, leap); len(list) > 0 {
		t.Errorf("28 February: %v", list)
	}
	late := strings.NewReplacer("20260210", "20240229", "*260301*", "*250301*").Replace(base)
	if list, _ := faults(t, late); len(list) != 2 {
		t.Errorf("1 March: %v", list)
	}
}

// family is a set of two providers: the first has two subscribers with two and
// one claims and the second of those a patient with one, the second has one
// subscriber with one claim. Claims are 1 2 | 3, 4 (patient) | 5.
func family() string {
	claim := func(n int) string {
		return fmt.Sprintf("CLM*PCN%04d*10***11:B:1*Y*A*Y*Y~HI*ABK:J069~LX*1~SV1*HC:99213*10*UN*1***1~DTP*472*D8*20260210~", n)
	}
	provider := func(hl int) string {
		return fmt.Sprintf("HL*%d**20*1~NM1*85*2*TEST CLINIC %d*****XX*1234567893~N3*1 TEST WAY~N4*TESTVILLE*OH*430010000~REF*EI*999999999~", hl, hl)
	}
	subscriber := func(hl, parent, child int, self string) string {
		return fmt.Sprintf("HL*%d*%d*22*%d~SBR*P*%s*******CI~NM1*IL*1*TESTSUB%d*TESTFIRST****MI*MBR%04d~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*19700101*F~NM1*PR*2*TEST PAYER %d*****PI*PAY001~",
			hl, parent, child, self, hl, hl, hl)
	}
	patient := "HL*4*3*23*0~PAT*19~NM1*QC*1*TESTCHILD*TESTFIRST~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*20200101*F~"
	head := base[:strings.Index(base, "HL*1")]
	return recounted(head + provider(1) + subscriber(2, 1, 0, "18") + claim(1) + claim(2) +
		subscriber(3, 1, 1, "") + claim(3) + patient + claim(4) + provider(5) + subscriber(6, 5, 0, "18") + claim(5) +
		"SE*0*0001~GE*1*201~IEA*1*000000101~")
}

func TestJudge_FaultHoldsTheClaimsBelowIt(t *testing.T) {
	t.Parallel()
	in := family()
	if list, set := faults(t, in); len(list) > 0 || set.Claims != 5 {
		t.Fatalf("%v, %d claims", list, set.Claims)
	}
	for _, c := range []struct {
		name, old, with string
		bad             []int
		whole           bool
	}{
		{"a claim", "CLM*PCN0002*10", "CLM**10", []int{2}, false},
		{"a line of a claim", "CLM*PCN0003*10***11:B:1*Y*A*Y*Y~HI*ABK:J069~LX*1", "CLM*PCN0003*10***11:B:1*Y*A*Y*Y~HI*ABK:J069~LX*2", []int{3}, false},
		{"a missing segment of a claim", "CLM*PCN0001*10***11:B:1*Y*A*Y*Y~HI*ABK:J069~", "CLM*PCN0001*10***11:B:1*Y*A*Y*Y~", []int{1}, false},
		{"the last claim", "CLM*PCN0005*10***11:B:1*Y*A*Y*Y~HI*ABK:J069~", "CLM*PCN0005*10***11:B:1*Y*A*Y*Y~", []int{5}, false},
		{"a subscriber", "SBR*P*18*******CI~NM1*IL*1*TESTSUB2", "SBR*Q*18*******CI~NM1*IL*1*TESTSUB2", []int{1, 2}, false},
		{"a subscriber's payer", "NM1*PR*2*TEST PAYER 2*****PI", "NM1*PR*2*TEST PAYER 2*****QQ", []int{1, 2}, false},
		{"a subscriber with a patient", "NM1*IL*1*TESTSUB3*", "NM1*IL*X*TESTSUB3*", []int{3, 4}, false},
		{"a patient", "PAT*19", "PAT*18", []int{4}, false},
		{"a missing segment of a patient", "N4*TESTVILLE*OH*430010000~DMG*D8*20200101*F~", "N4*TESTVILLE*OH*430010000~", []int{4}, false},
		{"a provider", "NM1*85*2*TEST CLINIC 1*****XX*1234567893", "NM1*85*3*TEST CLINIC 1*****XX*1234567893", []int{1, 2, 3, 4}, false},
		{"a provider's number", "NM1*85*2*TEST CLINIC 5*****XX*1234567893", "NM1*85*2*TEST CLINIC 5*****XX*1234567890", []int{5}, false},
		{"the header", "NM1*40*2*", "NM1*40*9*", nil, true},
		{"the batch", "BHT*0019", "BHT*0018", nil, true},
		{"a subscriber without a claim", "HL*6*5*22*0", "HL*6*5*22*0~SBR*P*18*******CI~NM1*IL*1*TESTSUB9*TESTFIRST****MI*MBR0009~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*19700101*F~NM1*PR*2*TEST PAYER 9*****PI*PAY001~HL*7*5*22*0", nil, true},
	} {
		_, set := faults(t, recounted(change(t, in, c.old, c.with)))
		var bad []int
		for _, b := range set.BadClaims {
			bad = append(bad, b.Ordinal)
			if b.AmountCents != 1000 || b.Fault.Segment == "" {
				t.Errorf("%s: %+v", c.name, b)
			}
		}
		if !slices.Equal(bad, c.bad) || set.Whole != c.whole || set.Claims != 5 {
			t.Errorf("%s: bad %v, want %v; whole %v", c.name, bad, c.bad, set.Whole)
		}
	}
}

func TestJudge_ThreeBadClaimsAmongManyAreHeldAlone(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(base[:strings.Index(base, "HL*2")])
	for i := range 5000 {
		freq := "1"
		if i == 7 || i == 2500 || i == 4999 {
			freq = ""
		}
		fmt.Fprintf(&b, "HL*%d*1*22*0~SBR*P*18*******CI~NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR%06d~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*19700101*F~NM1*PR*2*TEST PAYER*****PI*PAY001~", i+2, i)
		fmt.Fprintf(&b, "CLM*PCN%06d*10***11:B:%s*Y*A*Y*Y~HI*ABK:J069~LX*1~SV1*HC:99213*10*UN*1***1~DTP*472*D8*20260210~", i, freq)
	}
	b.WriteString("SE*0*0001~GE*1*201~IEA*1*000000101~")
	_, set := faults(t, recounted(b.String()))
	var bad []int
	for _, c := range set.BadClaims {
		bad = append(bad, c.Ordinal)
	}
	if set.Claims != 5000 || set.Whole || !slices.Equal(bad, []int{8, 2501, 5000}) {
		t.Errorf("%d claims, whole %v, bad %v", set.Claims, set.Whole, bad)
	}
}

func TestJudge_FaultsAreListedInOrderUpToTheLimit(t *testing.T) {
	t.Parallel()
	in := strings.ReplaceAll(family(), "*UN*", "*QQ*")
	set := scan(t, in, x12.Options{}).sets[0]
	if set.FaultCount != 5 || len(set.Faults) != 5 || !slices.IsSortedFunc(set.Faults, func(a, b x12.Fault) int { return a.Position - b.Position }) {
		t.Errorf("%+v", set.Faults)
	}
	few := scan(t, in, x12.Options{MaxFaults: 2}).sets[0]
	if few.FaultCount != 5 || len(few.Faults) != 2 || len(few.BadClaims) != 5 {
		t.Errorf("%d listed of %d, %d bad", len(few.Faults), few.FaultCount, len(few.BadClaims))
	}
}

func TestJudge_FaultHoldsNoValue(t *testing.T) {
	t.Parallel()
	in := strings.NewReplacer("TESTLAST", "CANARY\x07NAME", "MBR0001", "CANARYMEMBER*CANARY*CANARY*CANARY*CANARY", "PCN0001", strings.Repeat("CANARY", 9),
		"DMG*D8*19700101", "DMG*D8*CANARY", "HI*ABK:J069", "CANARY*1~HI*CANARY:CANARY").Replace(base)
	s := scan(t, in, x12.Options{})
	if len(s.sets[0].Faults) < 5 {
		t.Fatal("too few faults for a test")
	}
	if all := fmt.Sprintf("%+v %+v", s.sets[0].Faults, s.sets[0].BadClaims); strings.Contains(all, "CANARY") {
		t.Error(all)
	}
}

func TestScanner_ClaimsAsTheyCome(t *testing.T) {
	t.Parallel()
	for _, o := range []x12.Options{{}, {EnvelopeOnly: true}} {
		claims := scan(t, change(t, base, "CLM*PCN0002*125***11:B:1", "CLM*PCN0002*125.5***11:B:7"), o).claims
		if len(claims) != 2 {
			t.Fatalf("%d claims", len(claims))
		}
		a, b := claims[0], claims[1]
		if a.Ordinal != 1 || string(a.CLM01) != "PCN0001" || a.AmountCents != 12500 || a.Frequency != '1' || a.Bad {
			t.Errorf("%+v", a)
		}
		if b.Ordinal != 2 || string(b.CLM01) != "PCN0002" || b.AmountCents != 12550 || b.Frequency != '7' || b.Bad == o.EnvelopeOnly {
			t.Errorf("%+v", b)
		}
		if (a.Fingerprint == nil) != o.EnvelopeOnly {
			t.Error("fingerprints come from the guides")
		}
		if !o.EnvelopeOnly && (a.Position != 18 || base[a.Offset:][:4] != "CLM*") {
			t.Errorf("position %d, offset %d", a.Position, a.Offset)
		}
	}
}

func TestClaim_FingerprintSaysWhatIsBilledForWhom(t *testing.T) {
	t.Parallel()
	of := func(in string, n int) string {
		return fmt.Sprintf("%q", scan(t, in, x12.Options{}).claims[n].Fingerprint)
	}
	first := of(base, 0)
	if of(base, 1) != first {
		t.Error("the second claim of the base differs in its number only")
	}
	same := strings.NewReplacer("PCN0001*125*", "OTHER*125.00*", "000000101", "000000999", "*0001", "*7777", "LN1", "LN9", "*201", "*9").Replace(base)
	if of(same, 0) != first {
		t.Error("numbers are not part of it")
	}
	two := recounted(change(t, base, "CLM*PCN0001*125***11:B:1*Y*A*Y*Y~HI*ABK:J069~LX*1~SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1~",
		"CLM*PCN0001*125***11:B:1*Y*A*Y*Y~HI*ABK:J069~LX*1~SV1*HC:99213*100*UN*1***1~DTP*472*D8*20260210~LX*2~SV1*HC:99214*25*UN*1***1~DTP*472*D8*20260210~"))
	turned := strings.NewReplacer("99213*100", "99214*25", "99214*25", "99213*100").Replace(two)
	if of(two, 0) != of(turned, 0) || of(two, 0) == first {
		t.Error("the order of the lines does not count, what they are does")
	}
	for _, c := range [][2]string{
		{"1234567893", "1669403800"},
		{"MBR0001", "MBR0002"},
		{"19700101", "19700102"},
		{"*PI*PAY001", "*PI*PAY002"},
		{"SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "SV1*HC:99214*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1"},
		{"SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "SV1*HC:99213:25*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1"},
		{"SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "SV1*HC:99213*125*UN*2***1~DTP*472*D8*20260210~REF*6R*LN1"},
		{"SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~REF*6R*LN1", "SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260211~REF*6R*LN1"},
		{"PCN0001*125***11:B:1", "PCN0001*125***11:B:8"},
	} {
		if of(change(t, base, c[0], c[1]), 0) == first {
			t.Errorf("%s for %s must make another claim", c[1], c[0])
		}
	}
	twin := change(t, institutional, "TESTCHILD*TESTFIRST", "TESTCHILD*TESTSECOND")
	if of(twin, 0) == of(institutional, 0) {
		t.Error("twins have the same birth date and subscriber, and are two patients")
	}
	if scan(t, strings.Replace(base, "****MI*MBR0001", "", 1), x12.Options{}).claims[0].Fingerprint != nil {
		t.Error("without a subscriber there is no fingerprint")
	}
}
