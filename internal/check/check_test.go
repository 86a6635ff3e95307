package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/check"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

const claims = "ISA*00*          *00*          *ZZ*TESTSENDER     *ZZ*TESTRECEIVER   *260301*0930*^*00501*000000101*1*T*:~" +
	"GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*201*X*005010X222A1~ST*837*0001*005010X222A1~" +
	"BHT*0019*00*BATCH1*20260301*0930*CH~NM1*41*2*TEST SUBMITTER*****46*SUB001~PER*IC*TEST DESK*TE*5555550100~" +
	"NM1*40*2*TEST PAYER*****46*PAY001~HL*1**20*1~NM1*85*2*TEST CLINIC*****XX*1234567893~N3*1 TEST WAY~" +
	"N4*TESTVILLE*OH*430010000~REF*EI*999999999~HL*2*1*22*0~SBR*P*18*******CI~" +
	"NM1*IL*1*TESTLAST*TESTFIRST****MI*CANARYMBR1~N3*2 TEST WAY~N4*TESTVILLE*OH*430010000~DMG*D8*19700101*F~" +
	"NM1*PR*2*TEST PAYER*****PI*PAY001~CLM*CANARYPCN1*125***11:B:1*Y*A*Y*Y~HI*ABK:J069~LX*1~" +
	"SV1*HC:99213*125*UN*1***1~DTP*472*D8*20260210~SE*23*0001~GE*1*201~IEA*1*000000101~"

// file writes content into a file of its own and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "test.x12")
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, content string) check.Report {
	t.Helper()
	r, err := check.File(t.Context(), file(t, content), check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func again(isa13, gs06 string) string {
	return strings.NewReplacer("000000101", isa13, "*201", "*"+gs06).Replace(claims)
}

func TestFile_WhatIsNoX12IsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, code string }{
		{"", "EMPTY"},
		{" \r\n ", "EMPTY"},
		{"\xff\xfeI\x00S\x00A\x00*\x00", "UTF16"},
		{"\xfe\xff\x00I\x00S\x00A", "UTF16"},
		{"I\x00S\x00A\x00*\x00", "UTF16"},
		{"MSH|^~\\&|A|B\r", "HL7_V2"},
		{"FHS|^~\\&|A|B\r", "HL7_V2"},
		{`{"resourceType":"Claim"}`, "JSON"},
		{"[1]", "JSON"},
		{"<?xml version=\"1.0\"?><Claim/>", "XML"},
		{"%PDF-1.7", "PDF"},
		{"\x1f\x8b\x08\x00", "GZIP"},
		{"PK\x03\x04", "ZIP"},
		{"UNB+UNOA:1+A+B", "EDIFACT"},
		{"-----BEGIN PGP MESSAGE-----", "PGP"},
		{"HELLO WORLD", "NOT_X12"},
	} {
		r := run(t, c.in)
		if r.Verdict != "POISON" || r.Problem == nil || r.Problem.Code != c.code || r.Format != "unreadable" {
			t.Errorf("%q: %s %+v", c.in, r.Verdict, r.Problem)
			continue
		}
		if !strings.Contains(r.String(), c.code) || r.OK() {
			t.Errorf("%q: %s", c.in, r)
		}
	}
}

func TestFile_UnreadableFilesAreErrorsWithoutTheirName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "CANARY")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret.x12")
	if err := os.WriteFile(secret, []byte(claims), 0o000); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		code claimdlq.Code
	}{
		{dir, claimdlq.Invalid},
		{filepath.Join(dir, "nowhere.x12"), claimdlq.NotFound},
		{secret, claimdlq.Unavailable},
	} {
		if c.path == secret && os.Geteuid() == 0 {
			continue // root may read everything
		}
		_, err := check.File(t.Context(), c.path, check.Options{})
		if !errors.Is(err, c.code) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%v, want %s", err, c.code)
		}
	}
}

func TestFile_StopsWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check.File(ctx, file(t, claims), check.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReport_JSONIsTheContract(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(run(t, strings.Replace(claims, "SBR*P", "SBR*Q", 1)))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		File, Format, Verdict string
		Interchanges          []struct {
			ISA13  string
			TA1    struct{ Code, Note string }
			Groups []struct {
				GS06, AK9 string
				AK905     []string
				Sets      []struct {
					ST02, IK5 string
					IK502     []string
					Claims    int
					Errors    []struct {
						Segment, Loop, Element, IK304, IK403 string
						Position                             int
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if r.Format != "837p" || r.Verdict != "FATAL_SYNTAX" || len(r.Interchanges) != 1 || r.Interchanges[0].ISA13 != "000000101" || r.Interchanges[0].TA1.Code != "A" {
		t.Fatalf("%s", b)
	}
	g := r.Interchanges[0].Groups[0]
	s := g.Sets[0]
	if g.GS06 != "201" || g.AK9 != "R" || s.ST02 != "0001" || s.IK5 != "R" || s.Claims != 1 || !slices.Equal(s.IK502, []string{"5"}) {
		t.Fatalf("%s", b)
	}
	if e := s.Errors[0]; e.Segment != "SBR" || e.Position != 12 || e.Loop != "2000B" || e.Element != "01" || e.IK304 != "8" || e.IK403 != "7" {
		t.Fatalf("%s", b)
	}
	for _, list := range []string{`"ak905":[]`, `"errors":[{`, `"ik502":["5"]`} {
		if !strings.Contains(string(b), list) {
			t.Errorf("%s is not in %s", list, b)
		}
	}
	if strings.Contains(string(b), "CANARY") {
		t.Error("a report must hold no value")
	}
}

func TestReport_EmptyListsAreLists(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", claims} {
		b, err := json.Marshal(run(t, in))
		if err != nil || strings.Contains(string(b), "null") {
			t.Errorf("%s %v", b, err)
		}
	}
}

func TestReport_ForPeopleNamesPlaceAndCodes(t *testing.T) {
	t.Parallel()
	in := strings.NewReplacer("SBR*P", "SBR*Q", "1234567893", "1234567890", "~GE*1", "~~GE*1").Replace(claims)
	text := run(t, in).String()
	for _, want := range []string{"FATAL_SYNTAX", "1 claims, 1 bad", "set 0001: IK5 R 5", "SBR01 at segment 12, loop 2000B", "IK403 7", "277CA A7:562:85", "EMPTY_SEGMENT"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "CANARY") {
		t.Error(text)
	}
}

func TestFile_VerdictIsThatOfTheWorstFinding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, verdict string }{
		"clean":                           {claims, "OK"},
		"a note":                          {claims + "\n", "TOLERATE"},
		"a business fault":                {strings.Replace(claims, "1234567893", "1234567890", 1), "TERMINAL"},
		"a business fault and a note":     {strings.Replace(claims, "1234567893", "1234567890", 1) + "\n", "TERMINAL"},
		"a syntax fault":                  {strings.Replace(claims, "SBR*P", "SBR*Q", 1), "FATAL_SYNTAX"},
		"a number again":                  {claims + claims, "TERMINAL"},
		"junk after it":                   {claims + "JUNK", "FATAL_SYNTAX"},
		"a header that cannot be read":    {strings.Replace(claims, "*T*:", "*T:", 1), "POISON"},
		"one that cannot be read, a good": {claims[:60] + again("000000102", "202"), "POISON"},
	} {
		if r := run(t, c.in); r.Verdict != c.verdict {
			t.Errorf("%s: %s, want %s", name, r.Verdict, c.verdict)
		}
	}
}

func TestFile_ClaimsThatComeTwice(t *testing.T) {
	t.Parallel()
	set := claims[strings.Index(claims, "ST*"):strings.Index(claims, "GE*")]
	twoSets := strings.NewReplacer("GE*1", strings.ReplaceAll(set, "*0001", "*0002")+"GE*2").Replace(claims)
	clm := claims[strings.Index(claims, "CLM*"):strings.Index(claims, "SE*")]
	twice := strings.NewReplacer("SE*23", clm+"SE*28").Replace(claims)
	for name, c := range map[string]struct {
		in  string
		bad int
	}{
		"in a new group of another interchange": {claims + again("000000102", "202"), 1},
		"in the next set":                       {twoSets, 1},
		"in the same set":                       {twice, 1},
		"three times":                           {claims + again("000000102", "202") + again("000000103", "203"), 2},
		"a redelivery under its old numbers":    {claims + again("000000102", "201"), 0},
		"with another number of the patient":    {claims + strings.Replace(again("000000102", "202"), "CANARYPCN1", "CANARYPCN2", 1), 0},
		"for another amount":                    {claims + strings.ReplaceAll(again("000000102", "202"), "*125*", "*126*"), 0},
		"to another receiver":                   {claims + strings.Replace(again("000000102", "202"), "TESTRECEIVER   *", "OTHERRECEIVER  *", 1), 0},
	} {
		r := run(t, c.in)
		want := "OK"
		if c.bad > 0 {
			want = "TERMINAL"
		}
		if r.Verdict != want || r.BadClaims != c.bad {
			t.Errorf("%s: %s, %d bad\n%s", name, r.Verdict, r.BadClaims, r)
		}
	}
	r := run(t, twice)
	f := r.Interchanges[0].Groups[0].Sets[0].Errors
	if len(f) != 1 || f[0].Rule != "DUPLICATE_CLAIM" || f[0].STC != "A3:54" || f[0].ClaimOrd != 2 || f[0].Position != 23 {
		t.Errorf("%+v", f)
	}
}

func TestFile_AcknowledgmentFilesAreWritten(t *testing.T) {
	t.Parallel()
	in := strings.Replace(claims, "SBR*P", "SBR*Q", 1) + strings.Replace(again("000000102", "202"), "IEA*1", "IEA*9", 1)
	path := file(t, in)
	dir := filepath.Join(t.TempDir(), "acks")
	now := func() time.Time { return time.Date(2026, 3, 2, 8, 15, 0, 0, time.UTC) }
	r, err := check.File(t.Context(), path, check.Options{AckOut: dir, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 || len(r.Acknowledgments) != 3 {
		t.Fatalf("%v %v %v", entries, r.Acknowledgments, err)
	}
	var results []string
	for _, name := range r.Acknowledgments {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "CANARY") {
			t.Errorf("%s holds a value", name)
		}
		if !strings.Contains(string(b), "*260302*0815*") {
			t.Errorf("%s is not dated by the clock it was given", name)
		}
		a, err := x12ack.Read(strings.NewReader(string(b)))
		if err != nil || len(a.Faults) > 0 {
			t.Fatalf("%s: %v %v", name, a, err)
		}
		for _, x := range a.Answers() {
			results = append(results, x.For(false)+" "+string(x.Result))
		}
	}
	for _, want := range []string{"GS06 201 ST02 0001 rejected", "ISA13 000000101 accepted", "ISA13 000000102 rejected"} {
		if !slices.Contains(results, want) {
			t.Errorf("%v, want %s", results, want)
		}
	}
	// A second run replaces the files: their names come from the path.
	if _, err := check.File(t.Context(), path, check.Options{AckOut: dir}); err != nil {
		t.Fatal(err)
	}
	if entries, _ = os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("%d files after the second run", len(entries))
	}
}

func TestFile_AnswerToAnUnknownGroupIsAnOrphan(t *testing.T) {
	t.Parallel()
	ack := func(gs06 string) string {
		return "ISA*00*          *00*          *ZZ*TESTRECEIVER   *ZZ*TESTSENDER     *260301*0930*^*00501*000000901*0*T*:~" +
			"GS*FA*TESTRECEIVER*TESTSENDER*20260301*0935*301*X*005010X231A1~ST*999*0001*005010X231A1~AK1*HC*" + gs06 + "*005010X222A1~" +
			"AK2*837*0001*005010X222A1~IK5*R*5~AK9*R*1*1*0~SE*6*0001~GE*1*301~IEA*1*000000901~"
	}
	for name, c := range map[string]struct{ gs06, beside, verdict string }{
		"its claims are there":       {"201", claims, "FATAL_SYNTAX"},
		"other claims are there":     {"999", claims, "OK"},
		"nothing is there":           {"999", "", "FATAL_SYNTAX"},
		"claims of somebody else":    {"999", strings.ReplaceAll(claims, "TESTSENDER*TESTRECEIVER", "OTHERS*TESTRECEIVER"), "FATAL_SYNTAX"},
		"something unreadable there": {"999", "HELLO", "FATAL_SYNTAX"},
	} {
		path := file(t, ack(c.gs06))
		if c.beside != "" {
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), "sent.x12"), []byte(c.beside), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := check.File(t.Context(), path, check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != c.verdict || r.Format != "ack" {
			t.Errorf("%s: %s\n%s", name, r.Verdict, r)
		}
		if orphan := r.Answers[0].Result == "orphan ack"; orphan != (c.verdict == "OK") {
			t.Errorf("%s: %+v", name, r.Answers)
		}
	}
}

func TestFile_ProgressReachesTheEnd(t *testing.T) {
	t.Parallel()
	var last int64
	if _, err := check.File(t.Context(), file(t, claims), check.Options{Progress: func(n int64) { last = n }}); err != nil || last != int64(len(claims)) {
		t.Errorf("%d of %d, %v", last, len(claims), err)
	}
}

func TestFile_RulesMayBeChosen(t *testing.T) {
	t.Parallel()
	old, err := x12.LoadRules("v2026.07")
	if err != nil {
		t.Fatal(err)
	}
	path := file(t, strings.Replace(claims, "*125***", "*126***", 1))
	r, err := check.File(t.Context(), path, check.Options{Rules: old})
	if err != nil || r.Verdict != "OK" || r.RuleVersion != "v2026.07" {
		t.Errorf("%s %v", r, err)
	}
	if r, err = check.File(t.Context(), path, check.Options{}); err != nil || r.Verdict != "TERMINAL" {
		t.Errorf("%s %v", r, err)
	}
}

func TestReport_AnInterchangeCutOffBeforeItsNumberIsNamedWithoutOne(t *testing.T) {
	t.Parallel()
	r := judgeBytes(t, "cut.x12", "ISA*00*          *00*          *ZZ*TESTS", check.Options{})
	if s := r.String(); !strings.Contains(s, "interchange at byte 0: TA1 R 023") || strings.Contains(s, "interchange  at") {
		t.Errorf("it says\n%s", s)
	}
}
