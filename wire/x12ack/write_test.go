package x12ack_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// submitted returns the ISA of an interchange of claims in the given delimiters.
func submitted(t testing.TB, delims, suffix string) *x12.InterchangeStart {
	t.Helper()
	isa := strings.NewReplacer("*", delims[:1], ":", delims[1:2], "~", delims[2:3], "^", delims[3:]).Replace(
		"ISA*00*          *00*          *ZZ*TESTSENDER     *30*TESTPAYER      *260301*0930*^*00501*000000101*1*T*:~") + suffix
	h, ta1 := x12.ParseISA([]byte(isa + "GS" + delims[:1]))
	if ta1 != "" {
		t.Fatal(ta1)
	}
	return &x12.InterchangeStart{Raw: []byte(isa), Delims: h.Delims, Envelope: h.Envelope, ISA13: h.ISA13, Number: h.Number, AckWanted: true}
}

var numbers = x12.Numbers{ISA13: 77, GS06: 88, Date: "20260302", Time: "0815"}

func TestWriteTA1_IsReadBackWithTheSameVerdict(t *testing.T) {
	t.Parallel()
	for _, delims := range []string{"*:~^", "|>!{", "\x1d\x1f\x1c\x1e", "*:\n^"} {
		for _, end := range []x12.InterchangeEnd{{TA1: "A", Note: "000"}, {TA1: "E", Note: "014"}, {TA1: "R", Note: "006"}, {TA1: "R", Note: "023"}, {TA1: "R", Note: "025"}} {
			var w bytes.Buffer
			if err := x12ack.WriteTA1(&w, submitted(t, delims, ""), &end, numbers); err != nil {
				t.Fatal(err)
			}
			acks := read(t, w.Bytes())
			want, _ := classify.TA1(end.TA1, end.Note)
			a := acks.Answers()
			if len(a) != 1 || a[0].Ack != want || a[0].ISA13 != 101 || len(acks.Faults)+len(acks.Notes) > 0 {
				t.Fatalf("%q %s %s: %+v", delims, end.TA1, end.Note, acks)
			}
			if e := a[0].Envelope; e.Sender != "TESTSENDER" || e.SenderQualifier != "ZZ" || e.Receiver != "TESTPAYER" || e.ReceiverQualifier != "30" || e.Date != "260301" || e.Time != "0930" {
				t.Errorf("envelope %+v", e)
			}
			if in := acks.Interchanges[0]; in.Number != 77 || in.Envelope.Date != "260302" || in.Envelope.Time != "0815" {
				t.Errorf("interchange %+v", in)
			}
		}
	}
}

func TestWriteTA1_IsExact(t *testing.T) {
	t.Parallel()
	var w bytes.Buffer
	if err := x12ack.WriteTA1(&w, submitted(t, "*:~^", "\n"), &x12.InterchangeEnd{TA1: "R", Note: "021"}, numbers); err != nil {
		t.Fatal(err)
	}
	want := "ISA*00*          *00*          *30*TESTPAYER      *ZZ*TESTSENDER     *260302*0815*^*00501*000000077*0*T*:~\n" +
		"TA1*000000101*260301*0930*R*021~\nIEA*0*000000077~\n"
	if w.String() != want {
		t.Errorf("got\n%s", w.String())
	}
}

// write999 writes the 999 for one group with the given sets.
func write999(t testing.TB, delims string, end x12.GroupEnd, sets ...x12.Set) []byte {
	t.Helper()
	var w bytes.Buffer
	x, err := x12ack.NewWriter999(&w, submitted(t, delims, ""), numbers)
	if err != nil {
		t.Fatal(err)
	}
	x.Event(&x12.GroupStart{GS01: "HC", Sender: "SENDERAPP", Receiver: "PAYERAPP", Control: "201", Number: 201, Version: "005010X222A1"})
	for i := range sets {
		sets[i].ST01, sets[i].ST03 = "837", "005010X222A1"
		x.Event(&sets[i])
	}
	x.Event(&end)
	if n, err := x.Close(); err != nil || n != 1 {
		t.Fatalf("%d groups, %v", n, err)
	}
	return w.Bytes()
}

func TestWriter999_IsReadBackWithTheSameVerdict(t *testing.T) {
	t.Parallel()
	bad := x12.Set{ST02: "0002", IK5: "R", IK502: []string{"5"}, Faults: []x12.Fault{
		{Segment: "CLM", Position: 18, Loop: "2300", Element: "01", IK403: "5", Severity: x12.Error},
		{Segment: "CLM", Position: 18, Loop: "2300", Element: "05-3", IK403: "7", Severity: x12.Error},
		{Segment: "HI", Position: 19, Loop: "2300", IK304: "3", Severity: x12.Error},
		{Segment: "NM1", Position: 20, Element: "09", Rule: "NPI_CHECK_DIGIT", Severity: x12.Business},
		{Segment: "PER", Position: 21, Rule: "TRAILING", Severity: x12.Note},
	}}
	for _, delims := range []string{"*:~^", "|>!{", "\x1d\x1f\x1c\x1e"} {
		doc := write999(t, delims, x12.GroupEnd{AK9: "P", Included: 2, Received: 2, Accepted: 1}, x12.Set{ST02: "0001", IK5: "A"}, bad)
		acks := read(t, doc)
		want := []string{
			"GS06 201 ST02 0001: accepted OK IK5:A",
			"GS06 201 ST02 0002: rejected FATAL_SYNTAX IK4:CLM01:5:18:2300 IK4:CLM05-3:7:18:2300 IK3:HI:3:19:2300 IK5:R:5",
			"GS06 201: accepted with errors OK AK9:P",
		}
		got := say(acks.Answers())
		for i := range got {
			got[i] = strings.Replace(got[i], "IK3:CLM:8:18:2300 ", "", 1)
		}
		if !slices.Equal(got, want) || len(acks.Faults) > 0 {
			t.Errorf("%q: faults %v\n%s", delims, acks.Faults, strings.Join(got, "\n"))
		}
		if a := acks.Answers()[0]; a.GroupSender != "SENDERAPP" || a.GroupReceiver != "PAYERAPP" || a.Envelope.Sender != "TESTSENDER" {
			t.Errorf("%+v", a)
		}
	}
}

func TestWriter999_IsExact(t *testing.T) {
	t.Parallel()
	doc := write999(t, "*:~^", x12.GroupEnd{AK9: "R", AK905: []string{"4", "5"}, Included: -1, Received: 1}, x12.Set{
		ST02: "0001", IK5: "R", IK502: []string{"5", "4"}, Faults: []x12.Fault{
			{Segment: "CLM", Position: 18, Loop: "2300", Element: "05-3", IK403: "7", Severity: x12.Error},
		},
	})
	want := "ISA*00*          *00*          *30*TESTPAYER      *ZZ*TESTSENDER     *260302*0815*^*00501*000000077*0*T*:~" +
		"GS*FA*PAYERAPP*SENDERAPP*20260302*0815*88*X*005010X231A1~ST*999*0001*005010X231A1~AK1*HC*201*005010X222A1~" +
		"AK2*837*0001*005010X222A1~IK3*CLM*18*2300*8~IK4*5:3**7~IK5*R*5*4~AK9*R*1*1*0*4*5~SE*8*0001~GE*1*88~IEA*1*000000077~"
	if string(doc) != want {
		t.Errorf("got\n%s\nwant\n%s", doc, want)
	}
}

func TestWriter999_KeepsTheStandardsLimits(t *testing.T) {
	t.Parallel()
	set := x12.Set{ST02: "0001", IK5: "R", IK502: []string{"1", "2", "3", "4", "5", "6"}}
	for range 150 {
		set.Faults = append(set.Faults, x12.Fault{Segment: "CLM", Position: 18, Element: "01", IK403: "5", Severity: x12.Error})
	}
	for i := range 2000 {
		set.Faults = append(set.Faults, x12.Fault{Segment: "HI", Position: 19 + i, IK304: "3", Severity: x12.Error})
	}
	end := x12.GroupEnd{AK9: "R", AK905: []string{"1", "2", "3", "4", "5", "6"}, Received: 1}
	doc := string(write999(t, "*:~^", end, set))
	if n := strings.Count(doc, "~IK4*"); n != 99 {
		t.Errorf("%d IK4", n)
	}
	if n := strings.Count(doc, "~IK3*"); n != 999 {
		t.Errorf("%d IK3", n)
	}
	if !strings.Contains(doc, "~IK5*R*1*2*3*4*5~") || !strings.Contains(doc, "~AK9*R*0*1*0*1*2*3*4*5~") {
		t.Error("more than five codes")
	}
	if !strings.Contains(doc, fmt.Sprintf("~SE*%d*", strings.Count(doc, "~")-5+1)) {
		t.Errorf("SE01 is wrong: %s", doc[len(doc)-60:])
	}
}

func TestWriter999_BadBytesOfTheirsDoNotBreakOurAnswer(t *testing.T) {
	t.Parallel()
	var w bytes.Buffer
	x, err := x12ack.NewWriter999(&w, submitted(t, "*:~^", ""), numbers)
	if err != nil {
		t.Fatal(err)
	}
	x.Event(&x12.GroupStart{GS01: "HC", Sender: "A~B\x00", Receiver: "C:D^", Control: "2\xff1", Version: "0050\n"})
	x.Event(&x12.Set{ST01: "837", ST02: "0~01", IK5: "R", IK502: []string{"5"}, Faults: []x12.Fault{{Segment: "C~M", Position: 3, IK304: "1", Severity: x12.Error}}})
	x.Event(&x12.GroupEnd{AK9: "R", Received: 1})
	if _, err := x.Close(); err != nil {
		t.Fatal(err)
	}
	doc := w.String()
	if strings.Count(doc, "~") != 11 || strings.Contains(doc, "\x00") || strings.Contains(doc, "\xff") || strings.Contains(doc, "\n") {
		t.Errorf("got %q", doc)
	}
}

func TestWriter999_OneGroupForEachOfTheirsAndNoneForAcknowledgments(t *testing.T) {
	t.Parallel()
	var w bytes.Buffer
	x, err := x12ack.NewWriter999(&w, submitted(t, "*:~^", ""), numbers)
	if err != nil {
		t.Fatal(err)
	}
	for _, gs := range []x12.GroupStart{{GS01: "HC", Sender: "A", Receiver: "B", Control: "1"}, {GS01: "FA", Control: "2"}, {GS01: "HC", Sender: "C", Receiver: "D", Control: "3"}} {
		x.Event(&gs)
		x.Event(&x12.Set{ST01: "837", ST02: "0001", IK5: "A"})
		x.Event(&x12.GroupEnd{AK9: "A", Included: 1, Received: 1, Accepted: 1})
	}
	if n, err := x.Close(); n != 2 || err != nil {
		t.Fatalf("%d groups, %v", n, err)
	}
	for _, part := range []string{"GS*FA*B*A*20260302*0815*88*", "GE*1*88~", "GS*FA*D*C*20260302*0815*89*", "GE*1*89~", "IEA*2*"} {
		if !strings.Contains(w.String(), part) {
			t.Errorf("no %s in %s", part, w.String())
		}
	}
	w.Reset()
	x, _ = x12ack.NewWriter999(&w, submitted(t, "*:~^", ""), numbers)
	if n, err := x.Close(); n != 0 || err != nil || w.Len() != 0 {
		t.Errorf("nothing to answer: %d groups, %d bytes, %v", n, w.Len(), err)
	}
}

func TestWrite277CA_IsReadBackWithTheSameVerdict(t *testing.T) {
	t.Parallel()
	start := submitted(t, "|>!{", "\n")
	b := x12ack.Batch{
		Submitted: x12ack.SubmittedOf(start), GroupSender: "SENDERAPP", GroupReceiver: "PAYERAPP",
		Payer: "TEST PAYER", PayerID: "PAY001", Submitter: "TEST SUBMITTER", SubmitterID: "SUB001", Provider: "TEST CLINIC", ProviderNPI: "1234567893",
		Reference: "TESTREF", BHT03: []byte("TESTBATCH"), Status: classify.Status{Category: "A1", Code: "19", Entity: "PR"}, AmountCents: 35007,
		Claims: []x12ack.Claim{
			{CLM01: []byte("TESTPCN1"), AmountCents: 12500, Status: classify.Status{Category: "A2", Code: "20", Entity: "PR"}, PayerControl: []byte("TESTICN1"), Last: []byte("TEST|LAST"), MemberID: []byte("TESTMBR"), ServiceDate: []byte("20260210")},
			{CLM01: []byte("TESTPCN234567890123456789"), AmountCents: 10007, Status: classify.Status{Category: "A7", Code: "562", Entity: "85"}},
			{CLM01: []byte("TESTPCN3"), AmountCents: 12550, Status: classify.Status{Category: "A3", Code: "54"}},
		},
	}
	var w bytes.Buffer
	if err := x12ack.Write277CA(&w, b, numbers); err != nil {
		t.Fatal(err)
	}
	acks := read(t, w.Bytes())
	want := []string{
		"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR", "claim 1: accepted OK STC:A2:20:PR",
		"claim 2: rejected TERMINAL STC:A7:562:85", "claim 3: duplicate TERMINAL STC:A3:54",
	}
	if got := say(acks.Answers()); !slices.Equal(got, want) || len(acks.Faults)+len(acks.Notes) > 0 {
		t.Fatalf("%+v\n%s", acks.Faults, strings.Join(got, "\n"))
	}
	a := acks.Answers()
	if string(a[2].PayerControl.Reveal()) != "TESTICN1" || a[3].For(true) != "TESTPCN2345678901234" || string(a[4].BHT03.Reveal()) != "TESTBATCH" || a[0].Claims != 3 {
		t.Errorf("%+v", a)
	}
	for _, part := range []string{"QTY|90|1!", "QTY|AA|2!", "AMT|YU|125!", "AMT|YY|225.57!", "|U|125.5!", "|U|100.07!", "NM1|QC|1|TEST LAST|||||MI|TESTMBR!"} {
		if !strings.Contains(w.String(), part) {
			t.Errorf("no %s in\n%s", part, w.String())
		}
	}
	checkSE(t, w.Bytes())
}

func TestWrite277CA_BatchRejectHasNoClaims(t *testing.T) {
	t.Parallel()
	b := x12ack.Batch{Submitted: x12ack.SubmittedOf(submitted(t, "*:~^", "")), BHT03: []byte("TESTBATCH"), Status: classify.Status{Category: "A8", Code: "24", Entity: "41"}}
	var w bytes.Buffer
	if err := x12ack.Write277CA(&w, b, numbers); err != nil {
		t.Fatal(err)
	}
	if got := say(read(t, w.Bytes()).Answers()); !slices.Equal(got, []string{"batch: rejected TERMINAL STC:A8:24:41"}) {
		t.Errorf("%s\n%s", got, w.String())
	}
	checkSE(t, w.Bytes())
}

// checkSE checks SE01 against the segments of the set.
func checkSE(t testing.TB, doc []byte) {
	t.Helper()
	h, _ := x12.ParseISA(doc)
	count := 0
	for s := x12.NewSegments(doc[h.Len:], h.Delims); s.Next(); {
		if s.ID() == "ST" {
			count = 0
		}
		count++
		if s.ID() == "SE" && string(s.Element(1)) != fmt.Sprint(count) {
			t.Errorf("SE01 is %s of %d", s.Element(1), count)
		}
	}
}

func TestWrite_RefusesMissingNumbers(t *testing.T) {
	t.Parallel()
	of, end := submitted(t, "*:~^", ""), &x12.InterchangeEnd{TA1: "A"}
	for _, n := range []x12.Numbers{
		{},
		{Date: "20260302", Time: "0815"},
		{ISA13: 1_000_000_000, Date: "20260302", Time: "0815"},
		{ISA13: 1, Time: "0815"},
		{ISA13: 1, Date: "20260302"},
		{ISA13: 1, Date: "260302", Time: "0815"},
		{ISA13: 1, Date: "2026030X", Time: "0815"},
		{ISA13: 1, GS06: 1_000_000_000, Date: "20260302", Time: "0815"},
	} {
		var w bytes.Buffer
		if err := x12ack.WriteTA1(&w, of, end, n); !errors.Is(err, claimdlq.Invalid) || w.Len() > 0 {
			t.Errorf("TA1 %+v: %v", n, err)
		}
		if _, err := x12ack.NewWriter999(&w, of, n); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("999 %+v: %v", n, err)
		}
		if err := x12ack.Write277CA(&w, x12ack.Batch{}, n); !errors.Is(err, claimdlq.Invalid) || w.Len() > 0 {
			t.Errorf("277CA %+v: %v", n, err)
		}
	}
}

func TestWrite_GivesWriterErrorsBack(t *testing.T) {
	t.Parallel()
	if err := x12ack.WriteTA1(&brokenWriter{}, submitted(t, "*:~^", ""), &x12.InterchangeEnd{TA1: "A"}, numbers); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (*brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
