package x12ack_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"claimdlq/wire/x12ack"
)

// fixture returns a shared fixture, or skips where there are none.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if b, err := os.ReadFile(filepath.Join(dir, "shared", "fixtures", "x12", "files", name)); err == nil {
			return b
		}
	}
	t.Skip("no shared X12 fixtures above this directory")
	return nil
}

// say spells answers as "for: result verdict codes".
func say(answers []x12ack.Answer) []string {
	var out []string
	for _, a := range answers {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", a.For(false), a.Result, a.Verdict(), strings.Trim(fmt.Sprint(a.Codes), "[]"))))
	}
	return out
}

func read(t testing.TB, doc []byte) *x12ack.Acks {
	t.Helper()
	acks, err := x12ack.Read(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return acks
}

func TestRead_FixturesSayWhatTheyMean(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file, verdict string
		want          []string
	}{
		{"ack-ta1-accept", "OK", []string{"ISA13 000000101: accepted OK TA1:000"}},
		{"ack-ta1-accept-iea1", "TOLERATE", []string{"ISA13 000000101: accepted OK TA1:000"}},
		{"ack-ta1-badsender", "TERMINAL", []string{"ISA13 000000101: rejected TERMINAL TA1:006"}},
		{"ack-ta1-e", "OK", []string{"ISA13 000000101: accepted with errors OK TA1:014"}},
		{"ack-ta1-unpadded", "TOLERATE", []string{"ISA13 000000101: accepted OK TA1:000"}},
		{"ack-999-r", "FATAL_SYNTAX", []string{
			"GS06 201 ST02 0001: rejected FATAL_SYNTAX IK3:CLM:8:18:2300 IK4:CLM01:5:18:2300 IK5:R:5",
			"GS06 201: rejected FATAL_SYNTAX AK9:R",
		}},
		{"ack-999-p", "FATAL_SYNTAX", []string{
			"GS06 201 ST02 0001: accepted OK IK5:A",
			"GS06 201 ST02 0002: rejected FATAL_SYNTAX IK3:BHT:3:2 IK5:R:5",
			"GS06 201: accepted with errors OK AK9:P",
		}},
		{"ack-999-ak9-only", "FATAL_SYNTAX", []string{"GS06 201: rejected FATAL_SYNTAX AK9:R:5"}},
		{"ack-999-ta1-first", "OK", []string{
			"ISA13 000000101: accepted OK TA1:000", "GS06 201 ST02 0001: accepted OK IK5:A", "GS06 201: accepted OK AK9:A",
		}},
		{"ack-999-unknown-gs06", "FATAL_SYNTAX", []string{
			"GS06 77777 ST02 0001: rejected FATAL_SYNTAX IK5:R:5", "GS06 77777: rejected FATAL_SYNTAX AK9:R",
		}},
		{"ack-277ca-accept", "OK", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR",
			"claim 1: accepted OK STC:A2:20:PR", "claim 2: accepted OK STC:A2:20:PR",
		}},
		{"ack-277ca-mixed", "TERMINAL", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR",
			"claim 1: accepted OK STC:A2:20:PR", "claim 2: rejected TERMINAL STC:A7:562:85",
		}},
		{"ack-277ca-a3-dup", "TERMINAL", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR", "claim 1: duplicate TERMINAL STC:A3:54",
		}},
		{"ack-277ca-batch-reject", "TERMINAL", []string{"batch: rejected TERMINAL STC:A8:24:41"}},
		{"ack-277ca-e2", "TRANSIENT", []string{"batch: transient TRANSIENT STC:E2:0"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			acks := read(t, fixture(t, tt.file+".x12"))
			if got := say(acks.Answers()); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if v := acks.Verdict(); v != tt.verdict || len(acks.Faults) > 0 {
				t.Errorf("verdict %s, faults %v", v, acks.Faults)
			}
		})
	}
}

func TestRead_AnswersNameTheOriginalsEnvelope(t *testing.T) {
	t.Parallel()
	acks := read(t, fixture(t, "ack-999-ta1-first.x12"))
	in := acks.Interchanges[0]
	if in.Envelope.Sender != "DLQRECEIVER" || in.ISA13 != "000000901" || in.Number != 901 {
		t.Errorf("interchange %+v", in.Envelope)
	}
	ta1, set := in.Answers[0], in.Answers[1]
	if e := ta1.Envelope; e.Sender != "DLQSENDER" || e.Receiver != "DLQRECEIVER" || e.Date != "260301" || e.Time != "0930" || ta1.ISA13 != 101 {
		t.Errorf("TA1 %+v", ta1)
	}
	if set.GroupSender != "DLQSENDER" || set.GroupReceiver != "DLQRECEIVER" || set.GS06 != 201 || set.ST02 != "0001" || set.Kind != x12ack.KindSet {
		t.Errorf("set %+v", set)
	}
	claim := read(t, fixture(t, "ack-277ca-accept.x12")).Answers()[3]
	if string(claim.CLM01.Reveal()) != "PCN0002" || string(claim.BHT03.Reveal()) != "BATCH0001" || string(claim.PayerControl.Reveal()) != "ICN0002" ||
		claim.For(true) != "PCN0002" || claim.GroupSender != "DLQSENDER" {
		t.Errorf("claim %+v", claim)
	}
}

const head = "ISA*00*          *00*          *ZZ*TESTPAYER      *ZZ*TESTSENDER     *260301*0930*^*00501*000000901*0*T*:~"

func doc999(body string) []byte {
	return []byte(head + "GS*FA*PAYERAPP*SENDERAPP*20260301*0935*301*X*005010X231A1~ST*999*0001*005010X231A1~" + body + "SE*9*0001~GE*1*301~IEA*1*000000901~")
}

func doc277(body string) []byte {
	return []byte(head + "GS*HN*PAYERAPP*SENDERAPP*20260301*0935*301*X*005010X214~ST*277*0001*005010X214~BHT*0085*08*TESTREF*20260301*0930*TH~" +
		"HL*1**20*1~NM1*PR*2*TEST PAYER~TRN*1*TESTREF~HL*2*1*21*1~NM1*41*2*TEST SUBMITTER~" + body + "SE*9*0001~GE*1*301~IEA*1*000000901~")
}

func TestRead999_RulesOfTheVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       []string
		faults     int
	}{
		{"AK203 is missing", "AK1*HC*7~AK2*837*0001~IK5*A~AK9*A*1*1*1~", []string{"GS06 7 ST02 0001: accepted OK IK5:A", "GS06 7: accepted OK AK9:A"}, 0},
		{"a rejected group takes every set with it", "AK1*HC*7~AK2*837*0001~IK5*A~AK9*R*1*1*0*1~", []string{
			"GS06 7 ST02 0001: rejected TERMINAL IK5:A AK9:R:1", "GS06 7: rejected TERMINAL AK9:R:1",
		}, 0},
		{"an accepted group does not save a rejected set", "AK1*HC*7~AK2*837*0001~IK5*R*5~AK9*A*1*1*0~", []string{
			"GS06 7 ST02 0001: rejected FATAL_SYNTAX IK5:R:5", "GS06 7: accepted OK AK9:A",
		}, 0},
		{"optional parts are missing", "AK1*HC*7~AK2*837*0001~IK3*CLM~IK4*1~IK3*HI*9~IK4*2:1**7~IK5*R~AK9*R*1*1*0~", []string{
			"GS06 7 ST02 0001: rejected FATAL_SYNTAX IK4:HI02-1:7:9 IK5:R", "GS06 7: rejected FATAL_SYNTAX AK9:R",
		}, 0},
		{"a 997 says the same with older names", "AK1*HC*7~AK2*837*0001~AK3*CLM*18*2300*8~AK4*1**5~AK5*R*5~AK9*R*1*1*0~", []string{
			"GS06 7 ST02 0001: rejected FATAL_SYNTAX IK3:CLM:8:18:2300 IK4:CLM01:5:18:2300 IK5:R:5", "GS06 7: rejected FATAL_SYNTAX AK9:R",
		}, 0},
		{"values where codes should be are left out", "AK1*HC*7~AK2*837*0001~IK3*CANARYNAME*18*CANARY*8~IK4*1**5~IK3*CLM*CANARY*2300*CANARY~IK4*CANARY**5~IK5*R*CANARY~AK9*R*1*1*0*CANARY~", []string{
			"GS06 7 ST02 0001: rejected FATAL_SYNTAX IK5:R", "GS06 7: rejected FATAL_SYNTAX AK9:R",
		}, 0},
		{"no AK9: what was said about sets stands", "AK1*HC*7~AK2*837*0001~IK5*R*5~", []string{"GS06 7 ST02 0001: rejected FATAL_SYNTAX IK5:R:5"}, 1},
		{"no IK5: nothing is concluded about the set", "AK1*HC*7~AK2*837*0001~AK2*837*0002~IK5*A~AK9*P*2*2*1~", []string{
			"GS06 7 ST02 0002: accepted OK IK5:A", "GS06 7: accepted with errors OK AK9:P",
		}, 1},
		{"a verdict that is none is not believed", "AK1*HC*7~AK2*837*0001~IK5*Q~AK9*Z*1*1*0~", nil, 2},
		{"a group number that is none answers nothing", "AK1*HC*CANARY~AK2*837*0001~IK5*A~AK9*A*1*1*1~", nil, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			acks := read(t, doc999(tt.body))
			if got := say(acks.Answers()); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if len(acks.Faults) != tt.faults {
				t.Errorf("%d faults, want %d: %+v", len(acks.Faults), tt.faults, acks.Faults)
			}
			if s := fmt.Sprintf("%+v", acks); strings.Contains(s, "CANARY") {
				t.Errorf("a value got out: %s", s)
			}
		})
	}
}

func TestRead999_TheCauseOfARejectIsItsFirstElementFault(t *testing.T) {
	t.Parallel()
	acks := read(t, doc999("AK1*HC*7~AK2*837*0001~IK3*HI*19*2300*3~IK3*CLM*18*2300*8~IK4*5:3**7~IK4*1**5~IK5*R*5~AK9*R*1*1*0~"))
	if got := acks.Answers()[0].Outcome.Code.String(); got != "IK4:CLM05-3:7" {
		t.Errorf("got %s", got)
	}
}

func TestRead277CA_RulesOfTheVerdict(t *testing.T) {
	t.Parallel()
	const (
		batch    = "TRN*2*TESTBATCH~STC*A1:19:PR*20260301*WQ*250~"
		refused  = "TRN*2*TESTBATCH~STC*A8:24:41*20260301*U*250~"
		provider = "HL*3*2*19*1~NM1*85*2*TEST CLINIC*****XX*1234567893~TRN*1*0~STC*A1:19:PR**WQ*250~"
		claim    = "HL*4*3*PT~NM1*QC*1*TESTLAST~TRN*2*TESTPCN~"
	)
	tests := []struct {
		name, body string
		want       []string
		faults     int
	}{
		{"a provider that is refused without claims refuses the batch", batch + "HL*3*2*19*0~NM1*85*2*TEST CLINIC~TRN*1*0~STC*A3:21*20260301*U~", []string{
			"batch: rejected TERMINAL STC:A1:19:PR STC:A3:21", "provider 1: rejected TERMINAL STC:A3:21",
		}, 0},
		{"one provider of two that is refused does not", batch + "HL*3*2*19*0~NM1*85*2*TEST CLINIC~STC*A3:21*20260301*U~" + strings.Replace(provider, "HL*3", "HL*4", 1), []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: rejected TERMINAL STC:A3:21", "provider 2: pending OK STC:A1:19:PR",
		}, 0},
		{"a claim's own status outranks its batch's", refused + provider + claim + "STC*A2:20~", []string{
			"batch: rejected TERMINAL STC:A8:24:41", "provider 1: pending OK STC:A1:19:PR", "claim 1: accepted OK STC:A2:20",
		}, 0},
		{"STC10 and STC11 count", batch + provider + claim + "STC*A2:20*20260301*WQ*125******A7:562:85*A6:21~", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR", "claim 1: rejected TERMINAL STC:A2:20 STC:A7:562:85 STC:A6:21",
		}, 0},
		{"a line's status does not decide where the claim has one", batch + provider + claim + "STC*A2:20~REF*1K*TESTICN~SVC*HC:99213*125~STC*A7:562~REF*1K*CANARY~", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR", "claim 1: accepted OK STC:A2:20 STC:A7:562",
		}, 0},
		{"a line's status decides where the claim has none", batch + provider + claim + "SVC*HC:99213*125~STC*A7:562~", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR", "claim 1: rejected TERMINAL STC:A7:562",
		}, 0},
		{"two claims of one patient", batch + provider + claim + "STC*A2:20~TRN*2*TESTPCN2~STC*A7:562~", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR", "claim 1: accepted OK STC:A2:20", "claim 2: rejected TERMINAL STC:A7:562",
		}, 0},
		{"two batches in one set", batch + "HL*3*1*21*0~NM1*41*2*TEST~" + refused, []string{
			"batch: pending OK STC:A1:19:PR", "batch: rejected TERMINAL STC:A8:24:41",
		}, 0},
		{"a claim without a number answers nothing", batch + provider + "HL*4*3*PT~TRN*2~STC*A2:20~", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR",
		}, 1},
		{"a claim without a status answers nothing", batch + provider + claim, []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR",
		}, 1},
		{"a batch without a number is said", "STC*A8:24*20260301*U~", []string{"batch: rejected TERMINAL STC:A8:24"}, 1},
		{"no status at all is said", "TRN*2*TESTBATCH~", nil, 1},
		{"values where codes should be are left out", batch + provider + claim + "STC*A7:CANARYNAME:CANARY*CANARY*CANARY~", []string{
			"batch: pending OK STC:A1:19:PR", "provider 1: pending OK STC:A1:19:PR", "claim 1: rejected TERMINAL STC:A7",
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			acks := read(t, doc277(tt.body))
			if got := say(acks.Answers()); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if len(acks.Faults) != tt.faults {
				t.Errorf("%d faults, want %d: %+v", len(acks.Faults), tt.faults, acks.Faults)
			}
			for _, secret := range []string{"CANARY", "TESTPCN", "TESTBATCH", "TESTICN", "TESTLAST", "1234567893"} {
				if strings.Contains(fmt.Sprintf("%+v %v", acks, say(acks.Answers())), secret) {
					t.Errorf("%s got out", secret)
				}
			}
		})
	}
}

func TestRead277CA_PayerControlIsTheClaimsNotALines(t *testing.T) {
	t.Parallel()
	acks := read(t, doc277("TRN*2*TESTBATCH~HL*3*2*19*1~HL*4*3*PT~TRN*2*TESTPCN~STC*A2:20~REF*1K*TESTICN~SVC*HC:99213*1~REF*1K*OTHER~"))
	if got := string(acks.Answers()[0].PayerControl.Reveal()); got != "TESTICN" {
		t.Errorf("got %s", got)
	}
}

func TestRead_SeveralInterchangesInAnyMix(t *testing.T) {
	t.Parallel()
	file := slices.Concat(fixture(t, "ack-ta1-accept.x12"), []byte("\n"), fixture(t, "ack-999-p.x12"), []byte("\r\n"), fixture(t, "ack-277ca-mixed.x12"), fixture(t, "ack-999-ta1-first.x12"))
	acks := read(t, file)
	var counts []int
	for _, in := range acks.Interchanges {
		counts = append(counts, len(in.Answers))
	}
	if !slices.Equal(counts, []int{1, 3, 4, 3}) || len(acks.Faults) > 0 {
		t.Errorf("answers %v, faults %+v", counts, acks.Faults)
	}
}

func TestRead_OtherSetsAreSaidNotGuessed(t *testing.T) {
	t.Parallel()
	status := bytes.ReplaceAll(fixture(t, "ack-277ca-accept.x12"), []byte("005010X214"), []byte("005010X212"))
	for _, file := range [][]byte{status, fixture(t, "ok-base.x12")} {
		acks := read(t, file)
		if len(acks.Answers()) != 0 || len(acks.Faults) == 0 || acks.Verdict() != "POISON" {
			t.Errorf("%v %+v", say(acks.Answers()), acks.Faults)
		}
	}
	for _, file := range []string{"", "no acknowledgment"} {
		if acks := read(t, []byte(file)); acks.Verdict() != "POISON" {
			t.Errorf("%q: %s", file, acks.Verdict())
		}
	}
}

func TestRead_TA1ThatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	for _, ta1 := range []string{"TA1*CANARY*260301*0930*A*000", "TA1*000000101*260301*0930*CANARY*000", "TA1*", "TA1*0000000101*260301*0930*A*000"} {
		acks := read(t, []byte(head+ta1+"~IEA*0*000000901~"))
		if len(acks.Answers()) != 0 || len(acks.Faults) != 1 || strings.Contains(fmt.Sprintf("%+v", acks), "CANARY") {
			t.Errorf("%s: %+v", ta1, acks)
		}
	}
}

func TestRead_GivesReaderErrorsBack(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	if _, err := x12ack.Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func FuzzReadAcks(f *testing.F) {
	f.Add(doc999("AK1*HC*7~AK2*837*0001~IK3*CLM*18*2300*8~CTX*CLM01:TEST~IK4*1*1028*5*TEST~IK5*R*5~AK9*R*1*1*0~"))
	f.Add(doc277("TRN*2*TESTBATCH~STC*A1:19:PR*20260301*WQ*250~HL*3*2*19*1~NM1*85*2*TEST~STC*A1~HL*4*3*PT~TRN*2*TESTPCN~STC*A7:562:85~REF*1K*TESTICN~"))
	f.Add([]byte(head + "TA1*101*260301*0930*A*000~IEA*0*000000901~"))
	f.Fuzz(func(t *testing.T, file []byte) {
		acks, err := x12ack.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range acks.Answers() {
			if a.Result == "" || a.Outcome.Code.IsZero() || len(a.Codes) > x12ack.MaxCodes+1 {
				t.Fatalf("%+v", a)
			}
		}
		acks.Verdict()
	})
}
