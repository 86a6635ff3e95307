package payersim_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/ncpdp"
)

// rx returns the transmissions of the options.
func rx(t *testing.T, o testclaims.RxOptions) (all [][]byte) {
	t.Helper()
	if _, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		all = append(all, bytes.Clone(b))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// oneRx returns the nth claim under a transaction code.
func oneRx(t *testing.T, code string, n int) []byte {
	t.Helper()
	return rx(t, testclaims.RxOptions{Code: code, FirstClaim: n})[0]
}

// results classifies every transaction of an answer as a sender does.
func rxResults(t *testing.T, request, answer []byte, doubt bool) (out []classify.NCPDPResult) {
	t.Helper()
	q, a := ncpdp.Parse(request), ncpdp.Parse(answer)
	if a.Kind() != ncpdp.KindResponse {
		return []classify.NCPDPResult{classify.NCPDPTransport(bytes.HasPrefix(answer, []byte("<")), false)}
	}
	for i := range max(1, q.Groups()) {
		r := a.Reply(i+1, nil)
		in := classify.NCPDPAnswer{
			Header: r.Header, Found: r.Found, Status: r.Status, Rejects: r.Rejects, Texts: r.Texts,
			BIN: q.BIN(), PCN: q.PCN(), AfterAmbiguous: doubt, Mismatch: string(ncpdp.Correlate(q, a, i+1)),
		}
		copy(in.Code[:], q.TransactionCode())
		out = append(out, classify.NCPDP(in))
	}
	return out
}

// told sends a transmission and wants its transactions to be of the classes.
func told(t *testing.T, p *payersim.Payer, request []byte, classes ...classify.NCPDPClass) *ncpdp.Message {
	t.Helper()
	answer := p.Adjudicate(request)
	m := ncpdp.Parse(answer)
	if m.Kind() == ncpdp.KindResponse {
		if f := m.Validate(); !ncpdp.OK(f) {
			t.Fatalf("the answer has faults: %v", f)
		}
	}
	got := rxResults(t, request, answer, false)
	if len(got) != len(classes) {
		t.Fatalf("%d results, want %d", len(got), len(classes))
	}
	for i, c := range classes {
		if got[i].Class != c {
			t.Fatalf("transaction %d is %v (%v), want %v", i+1, got[i].Class, got[i].Code, c)
		}
	}
	return m
}

const (
	settled  = classify.NCPDPSettled
	already  = classify.NCPDPAlreadyPaid
	captured = classify.NCPDPCaptured
	terminal = classify.NCPDPTerminal
	poison   = classify.NCPDPPoison
	trans    = classify.NCPDPTransient
	suspect  = classify.NCPDPSuspect
)

func paidCents(t *testing.T, m *ncpdp.Message) int64 {
	t.Helper()
	d, ok := m.AmountOf(1, ncpdp.IDOf("F9"))
	if !ok {
		t.Fatal("no 509-F9")
	}
	return d.Units
}

func auth(m *ncpdp.Message) string {
	v, _ := m.Get(1, ncpdp.IDOf("21"), ncpdp.IDOf("F3"))
	return string(v)
}

func TestAdjudicate_PaysOnceAndAnswersTheSamePaymentAgain(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	b1 := oneRx(t, "B1", 1)
	first := told(t, p, b1, settled)
	gross, _ := ncpdp.Parse(b1).AmountOf(1, ncpdp.IDOf("DU"))
	if paidCents(t, first) != max(0, gross.Units-1000) {
		t.Fatalf("paid %d of %d cents", paidCents(t, first), gross.Units)
	}
	again := told(t, p, append(append([]byte{2}, b1...), 3), already) // its frame is not the claim
	if paidCents(t, again) != paidCents(t, first) || auth(again) != auth(first) || auth(first) == "" {
		t.Fatal("the duplicate does not carry the original payment")
	}
	s := p.Stats().Pharmacy
	if s.Transmissions != 2 || s.Transactions != 2 || s.Paid != 1 || s.Duplicates != 1 || s.DoublePaid != 0 {
		t.Fatalf("stats %+v", s)
	}
	fills := p.Fills()
	if len(fills) != 1 || fills[0].State != "paid" || fills[0].Count != 1 || fills[0].AmountCents != paidCents(t, first) ||
		fills[0].Rx != "1" || fills[0].BIN != "999999" || fills[0].Control != auth(first) || len(p.DoubleFills()) != 0 {
		t.Fatalf("fills %+v", fills)
	}
}

func TestAdjudicate_WithoutDedupeADoublePaymentIsSeen(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "dedupe off")
	for range 3 {
		told(t, p, oneRx(t, "B1", 1), settled)
	}
	told(t, p, oneRx(t, "B1", 2), settled)
	if s := p.Stats().Pharmacy; s.Paid != 4 || s.DoublePaid != 2 {
		t.Fatalf("stats %+v", s)
	}
	if d := p.DoubleFills(); len(d) != 1 || d[0].Count != 3 || d[0].Payments != 3 {
		t.Fatalf("doubles %+v", d)
	}
}

func TestAdjudicate_AClaimCorrectedUnderAPaidIdentityIsRefused(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	b1 := oneRx(t, "B1", 1)
	told(t, p, b1, settled)
	changed, err := ncpdp.Set(b1, 1, ncpdp.Assignment{Segment: "07", Field: "E7", Occurrence: 1, Value: []byte("0000001000")})
	if err != nil {
		t.Fatal(err)
	}
	m := told(t, p, changed, already)
	if r := m.Reply(1, nil); r.Status != 'R' || string(r.Rejects[0]) != "83" {
		t.Fatalf("got %c %s", r.Status, r.Rejects)
	}
}

func TestAdjudicate_AReversalMakesRoomForANewPayment(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	b1, b2 := oneRx(t, "B1", 1), oneRx(t, "B2", 1)
	told(t, p, b2, classify.NCPDPNothingToReverse)
	first := told(t, p, b1, settled)
	if r := rxResults(t, b2, p.Adjudicate(b2), false)[0]; r.Outcome().Kind != claimdlq.OutcomeReversed {
		t.Fatalf("the reversal is %v", r.Outcome().Kind)
	}
	told(t, p, b2, classify.NCPDPAlreadyReversed)
	if f := p.Fills(); f[0].State != "reversed" {
		t.Fatalf("fills %+v", f)
	}
	second := told(t, p, b1, settled)
	if auth(second) == auth(first) {
		t.Fatal("the new payment has the old number")
	}
	if s := p.Stats().Pharmacy; s.Paid != 2 || s.DoublePaid != 0 || s.Reversed != 1 || s.Duplicates != 1 || s.Rejected != 1 {
		t.Fatalf("stats %+v", s)
	}
	if f := p.Fills(); len(f) != 1 || f[0].Payments != 2 || f[0].Count != 1 || f[0].State != "paid" {
		t.Fatalf("fills %+v", f)
	}
	p.SetScript(script(t, "unmatched 31"))
	m := told(t, p, oneRx(t, "B2", 9), classify.NCPDPNothingToReverse)
	if r := m.Reply(1, nil); string(r.Rejects[0]) != "31" {
		t.Fatalf("rejects %s", r.Rejects)
	}
}

func TestAdjudicate_APartialFillAndItsCompletionAreTwoClaims(t *testing.T) {
	t.Parallel()
	o := testclaims.RxOptions{Claims: 2, FirstClaim: 20} // claim 20 is partial, 21 completes it
	p := newPayer(t, "")
	for _, b := range rx(t, o) {
		told(t, p, b, settled)
	}
	o.Code = "B2"
	reversals := rx(t, o)
	told(t, p, reversals[0], settled)
	if f := p.Fills(); len(f) != 2 || f[0].State != "reversed" || f[1].State != "paid" || f[0].Rx != f[1].Rx {
		t.Fatalf("fills %+v", f)
	}
}

func TestAdjudicate_TellsApartWhatTheSeedsKeyWouldCollide(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	n := 0
	for _, o := range []testclaims.RxOptions{
		{Claims: 200, COBEvery: 3, CompoundEvery: 4, PartialEvery: 5},
		{Claims: 200, TransactionsPer: 4, FirstClaim: 1000},
		{Claims: 5, BIN: "610999"},
		{Claims: 5, PCN: "OTHER"},
		{Claims: 5, Pharmacies: 2, FirstClaim: 3000},
	} {
		for _, b := range rx(t, o) {
			for _, r := range rxResults(t, b, p.Adjudicate(b), false) {
				if n++; r.Class != settled {
					t.Fatalf("claim %d is %v", n, r.Class)
				}
			}
		}
	}
	if s := p.Stats().Pharmacy; s.Paid != n || s.DoublePaid != 0 || len(p.Fills()) != n {
		t.Fatalf("%d claims, stats %+v", n, s)
	}
}

func TestAdjudicate_ARebillReplacesThePayment(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	b1, b3 := oneRx(t, "B1", 1), oneRx(t, "B3", 1)
	told(t, p, b3, terminal) // nothing to rebill
	first := told(t, p, b1, settled)
	second := told(t, p, b3, settled)
	third := told(t, p, b3, already)
	if auth(first) == auth(second) || auth(second) != auth(third) {
		t.Fatal("the numbers do not show two payments")
	}
	if s := p.Stats().Pharmacy; s.Paid != 2 || s.Reversed != 1 || s.DoublePaid != 0 || p.Fills()[0].Count != 1 {
		t.Fatalf("stats %+v, %+v", s, p.Fills())
	}
	p.SetScript(script(t, "rebills off"))
	m := told(t, p, oneRx(t, "B3", 1), poison)
	if r := m.Reply(1, nil); string(r.Rejects[0]) != "1S" {
		t.Fatalf("rejects %s", r.Rejects)
	}
}

func TestAdjudicate_CapturesAndDefers(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "claim rx=1 capture\nclaim rx=2 defer")
	b1 := oneRx(t, "B1", 1)
	for _, status := range []byte{'C', 'Q'} {
		if m := told(t, p, b1, captured); m.Reply(1, nil).Status != status {
			t.Fatalf("status %c, want %c", m.Reply(1, nil).Status, status)
		}
	}
	told(t, p, oneRx(t, "B1", 2), classify.NCPDPDeferred)
	if s := p.Stats().Pharmacy; s.Captured != 1 || s.Deferred != 1 || s.Duplicates != 1 || s.Paid != 0 {
		t.Fatalf("stats %+v", s)
	}
	p.SetScript(script(t, ""))
	told(t, p, b1, captured) // still the payer's
	told(t, p, oneRx(t, "B1", 2), settled)
	told(t, p, oneRx(t, "B2", 1), settled)
	told(t, p, b1, settled)
}

func TestAdjudicate_EveryRuleIsClassifiedAsMeant(t *testing.T) {
	t.Parallel()
	cases := []struct {
		rule  string
		code  string
		class classify.NCPDPClass
	}{
		{"claim all pay", "B1", settled},
		{"claim all reject 70", "B1", terminal},
		{"claim all reject 75,76", "B1", terminal},
		{"claim all reject 07", "B1", poison},
		{"claim all reject 83", "B1", already},
		{"claim all reject 84", "B1", terminal},
		{"claim all reject 84", "B2", classify.NCPDPNothingToReverse},
		{"claim all reject 87", "B2", trans},
		{"claim all reject 90", "B1", trans},
		{"claim all reject 91", "B1", trans},
		{"claim all reject 92", "B1", trans},
		{"claim all reject 93", "B1", trans},
		{"claim all reject 94", "B1", poison},
		{"claim all reject 95", "B1", trans},
		{"claim all reject *95", "B1", trans},
		{"claim all reject 96", "B1", trans},
		{"claim all reject 97", "B1", trans},
		{"claim all reject 98", "B1", trans},
		{"claim all reject 99", "B1", trans},
		{"claim all reject 85,NN text SWITCH TIMED OUT", "B1", trans},
		{"claim all reject NN", "B1", terminal},
		{"claim all reject 92,70", "B1", terminal},
		{"claim all reject ZQ9", "B1", terminal},
		{"claim all status D", "B1", already},
		{"claim all status A", "B1", settled},
		{"claim all status Z", "B1", suspect},
		{"claim all status S", "B1", suspect},
		{"claim all clash", "B1", suspect},
		{"claim code=B1 reject 65", "B1", terminal},
		{"claim bin=999999 reject 65", "B1", terminal},
		{"claim pcn=TESTPCN reject 65", "B1", terminal},
		{"claim member=TESTMBR000000001 reject 65", "B1", terminal},
		{"claim pcn=OTHER reject 65", "B1", settled},
		{"claim code=B2 reject 65", "B1", settled},
		{"transmission all reject", "B1", poison},
		{"transmission all reject text NOT TODAY", "B1", poison},
		{"transmission all reject R8", "B1", poison},
		{"transmission all reject 99", "B1", trans},
		{"transmission all other A3", "B1", suspect},
		{"transmission all other A9", "B1", suspect},
		{"transmission all other B1", "B1", suspect},
		{"transmission all other D1", "B1", suspect},
		{"transmission all other D2", "B1", suspect},
		{"transmission all echo", "B1", suspect},
		{"transmission all empty", "B1", suspect},
		{"transmission all cut", "B1", suspect},
		{"transmission all html", "B1", trans},
		{"transmission all framed", "B1", settled},
		{"claim all pay", "E1", settled},
		{"time 0s-1s reject 92", "B1", trans},
		{"time 1s-2s reject 92", "B1", settled},
		{"dedupe on", "B1", settled},
	}
	for _, c := range cases {
		t.Run(c.rule+" "+c.code, func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, c.rule)
			request := oneRx(t, c.code, 1)
			answer := p.Adjudicate(request)
			if got := rxResults(t, request, answer, false)[0]; got.Class != c.class {
				t.Fatalf("got %v (%v), want %v", got.Class, got.Code, c.class)
			}
		})
	}
}

func TestAdjudicate_WhatWasTakenAndRejectedIsFoundBySendingItAgain(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "claim 1 reject 95 taken text EV16 HOST TIMED OUT")
	request := oneRx(t, "B1", 1)
	m := told(t, p, request, trans)
	if r := m.Reply(1, nil); len(r.Texts) != 1 || string(r.Texts[0]) != "EV16 HOST TIMED OUT" {
		t.Fatalf("%d texts", len(r.Texts))
	}
	r := rxResults(t, request, p.Adjudicate(request), true)[0]
	if r.Class != already || !r.Recovered {
		t.Fatalf("got %+v", r)
	}
	if s := p.Stats().Pharmacy; s.Paid != 1 || s.Lost != 1 || s.DoublePaid != 0 {
		t.Fatalf("stats %+v", s)
	}
}

func TestAdjudicate_CountsTheTriesOfEachClaim(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "claim all reject 92 tries 2\nclaim rx=2 reject 70 tries 3")
	for n, want := range map[int][]classify.NCPDPClass{1: {trans, trans, settled, already}, 2: {trans, trans, terminal, settled}} {
		for _, c := range want {
			told(t, p, oneRx(t, "B1", n), c)
		}
	}
}

func TestAdjudicate_JudgesTransactionsOneByOne(t *testing.T) {
	t.Parallel()
	four := rx(t, testclaims.RxOptions{Claims: 8, TransactionsPer: 4, Faults: []testclaims.Fault{{Name: "missing-ndc", At: []int{8}}}})
	p := newPayer(t, "claim 2 reject 70\nclaim 3 capture\nclaim 4 reject 92")
	told(t, p, four[0], settled, terminal, captured, trans)
	p.SetScript(script(t, ""))
	told(t, p, four[0], already, settled, captured, settled)
	m := told(t, p, four[1], settled, settled, settled, poison)
	if m.HeaderStatus() != 'A' || string(m.Reply(4, nil).Rejects[0]) != "21" {
		t.Fatalf("header %c, codes %s", m.HeaderStatus(), m.Reply(4, nil).Rejects)
	}
	if s := p.Stats().Pharmacy; s.Transactions != 12 || s.Paid != 6 || s.Captured != 1 || s.Rejected != 3 {
		t.Fatalf("stats %+v", s)
	}
}

func TestAdjudicate_WhatIsSentOneByOneLaterIsTheSameClaim(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "claim 2 reject 92")
	both := rx(t, testclaims.RxOptions{Claims: 2, TransactionsPer: 2})[0]
	told(t, p, both, settled, trans)
	for i, want := range []classify.NCPDPClass{already, settled} {
		single, err := ncpdp.Cut(ncpdp.Parse(both), i+1)
		if err != nil {
			t.Fatal(err)
		}
		told(t, p, single, want)
	}
}

func TestAdjudicate_RefusesEveryFaultAndTakesNothingOfIt(t *testing.T) {
	t.Parallel()
	for _, k := range testclaims.RxCatalog() {
		o := testclaims.RxOptions{Faults: []testclaims.Fault{{Name: k.Name, At: []int{1}}}}
		if !k.AppliesTo(o) {
			continue
		}
		p := newPayer(t, "")
		request := rx(t, o)[0]
		answer := p.Adjudicate(request)
		if k.Expect.Verdict == "OK" {
			told(t, p, request, already)
			continue
		}
		if p.Stats().Pharmacy.Paid != 0 {
			t.Errorf("%s: it was paid", k.Name)
		}
		if answer == nil { // there is no header to answer to
			if m := ncpdp.Parse(request); m.Kind() == ncpdp.KindRequest && m.Version() != ncpdp.VersionF6 && k.Name != "header-short" {
				t.Errorf("%s: there is no answer", k.Name)
			}
			continue
		}
		if r := rxResults(t, request, answer, false)[0]; r.Class != poison {
			t.Errorf("%s: the answer is %v (%v)", k.Name, r.Class, r.Code)
		}
	}
}

func TestAdjudicate_GuideOffTakesWhatCanBeRead(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "guide off")
	told(t, p, rx(t, testclaims.RxOptions{Faults: []testclaims.Fault{{Name: "missing-pricing", At: []int{1}}}})[0], settled)
}

func TestAdjudicate_CanariesAreInEveryTextAndNumber(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "canary on\nclaim 2 reject 70\nclaim 3 capture")
	for n := 1; n <= 3; n++ {
		answer := string(p.Adjudicate(oneRx(t, "B1", n)))
		marks := []string{"F4ZZCANARY", "FQZZCANARY"}
		if n != 2 {
			marks = append(marks, "F3ZZCANARY")
		}
		for _, m := range marks {
			if !strings.Contains(answer, m) {
				t.Errorf("claim %d: no %s", n, m)
			}
		}
	}
}

func TestAdjudicate_IsFullAtItsBound(t *testing.T) {
	t.Parallel()
	p := open(t, payersim.Options{Now: newClock().now, MaxClaims: 2})
	for n, want := range []bool{true, true, false} {
		if got := p.Adjudicate(oneRx(t, "B1", n+1)) != nil; got != want {
			t.Fatalf("claim %d answered: %v", n+1, got)
		}
	}
}

func TestAdjudicate_ManyAtOncePayEachClaimOnce(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "claim 10% reject 95 taken")
	all := rx(t, testclaims.RxOptions{Claims: 300, TransactionsPer: 3})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, b := range all {
				p.Adjudicate(b)
			}
		})
	}
	wg.Wait()
	if s := p.Stats().Pharmacy; s.Paid != 300 || s.DoublePaid != 0 || s.Transactions != 2400 || s.Transmissions != 800 {
		t.Fatalf("stats %+v", s)
	}
}

func TestAdjudicate_AnOutageBySwitchHasItsHours(t *testing.T) {
	t.Parallel()
	c := newClock()
	p := open(t, payersim.Options{Script: script(t, "time 5s-15s reject 92,NN"), Now: c.now})
	b1 := oneRx(t, "B1", 1)
	c.add(5 * time.Second)
	if r := told(t, p, b1, terminal).Reply(1, nil); len(r.Rejects) != 2 { // NN makes it so
		t.Fatalf("rejects %s", r.Rejects)
	}
	c.add(10 * time.Second)
	told(t, p, b1, settled)
}

func BenchmarkAdjudicate(b *testing.B) {
	g, err := testclaims.NewRx(testclaims.RxOptions{Claims: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	var all [][]byte
	for n := range 100_000 {
		all = append(all, g.Append(nil, n+1))
	}
	for _, rules := range []string{"guide on", "guide off"} {
		b.Run(rules, func(b *testing.B) {
			s, err := payersim.ParseScript(rules)
			if err != nil {
				b.Fatal(err)
			}
			p, err := payersim.New(payersim.Options{Now: newClock().now, Script: s})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if p.Adjudicate(all[i%len(all)]) == nil {
					b.Fatal("no answer")
				}
			}
		})
	}
}
