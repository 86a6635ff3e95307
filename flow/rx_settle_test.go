package flow_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/settle"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

func TestRxAcks_ALateAnswerSettlesWhatWaitsForIt(t *testing.T) { // F21, F22
	t.Parallel()
	for name, c := range map[string]struct {
		verdict ncpdp.Verdict
		state   claimdlq.State
		how     claimdlq.Disposition
		result  settle.Result
		line    string
	}{
		"paid":           {ncpdp.Verdict{Status: "P", Auth: "T1"}, claimdlq.StateSettled, claimdlq.Paid, settle.Result{Answers: 1, Accepted: 1}, ""},
		"duplicate":      {ncpdp.Verdict{Status: "D", Auth: "T1"}, claimdlq.StateSettled, claimdlq.DuplicateOfPaid, settle.Result{Answers: 1, Accepted: 1}, ""},
		"paid by 83":     {ncpdp.Verdict{Status: "R", Rejects: []string{"83"}}, claimdlq.StateSettled, claimdlq.DuplicateOfPaid, settle.Result{Answers: 1, Accepted: 1}, ""},
		"rejected":       {ncpdp.Verdict{Status: "R", Rejects: []string{"70"}}, claimdlq.StateSettled, claimdlq.Rejected, settle.Result{Answers: 1, Rejected: 1}, "msg=terminal logger=pbm.dlq key="},
		"poison":         {ncpdp.Verdict{Status: "R", Rejects: []string{"R8"}}, claimdlq.StateQuarantined, claimdlq.DispositionNone, settle.Result{Answers: 1, Rejected: 1}, "msg=poison_dlq logger=pbm.dlq key="},
		"captured again": {ncpdp.Verdict{Status: "C"}, claimdlq.StateSubmitted, claimdlq.DispositionNone, settle.Result{Answers: 1, Pending: 1}, ""},
		"not now":        {ncpdp.Verdict{Status: "R", Rejects: []string{"92"}}, claimdlq.StateSubmitted, claimdlq.DispositionNone, settle.Result{Answers: 1, Pending: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, "")
			r := l.take(transmission(t, testclaims.RxOptions{}, 1))[0]
			answer := answerTo(t, l.captured(r.ID), c.verdict)
			got := l.ack(answer)
			if sum(settle.Result{}, got) != c.result || got.Record == 0 || got.Interchanges != 1 {
				t.Errorf("got %+v, want %+v", got, c.result)
			}
			l.is(r.ID, c.state, c.how)
			l.opened(r.ID)
			if moved := c.state != claimdlq.StateSubmitted; moved == l.record(r.ID).Response.IsZero() {
				t.Error("the answer that decided is not kept with the record, or one that did not is")
			}
			if s, err := l.st.Submission(t.Context(), l.record(r.ID).Submission); err != nil || (s.State == claimdlq.SubmissionSent) != (c.state == claimdlq.StateSubmitted) {
				t.Errorf("its submission is %s %v", s.State, err)
			}
			if !strings.Contains(l.log.String(), c.line) {
				t.Errorf("no line %q in\n%s", c.line, l.log)
			}
			before := l.dump()
			if again := l.ack(answer); !again.Duplicate || again.Record != got.Record || l.dump() != before {
				t.Errorf("the same file again: %+v", again)
			}
		})
	}
}

func TestRxAcks_OneInDoubtIsFreedByItsLateAnswer(t *testing.T) { // promise 2
	t.Parallel()
	l := lateSetup(t, "claim 2 capture")
	one := l.take(transmission(t, testclaims.RxOptions{}, 1))[0]
	two := l.take(transmission(t, testclaims.RxOptions{Claims: 2}, 2))[0]
	paid, kept := l.doubtful(one.ID, true), l.doubtful(two.ID, true)
	l.ack(paid)
	l.is(one.ID, claimdlq.StateSettled, claimdlq.Paid)
	l.ack(kept)
	l.is(two.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	if s, err := l.st.Submission(t.Context(), l.record(two.ID).Submission); err != nil || s.State != claimdlq.SubmissionSent || !s.NotBefore.Equal(l.clock.now().Add(48*time.Hour)) {
		t.Errorf("it waits as %s until %s, %v", s.State, s.NotBefore, err)
	}
	l.clock.pass(48*time.Hour + time.Second)
	if n, err := l.f.Settle.Overdue(t.Context()); n != 1 || err != nil {
		t.Fatalf("overdue %d %v", n, err)
	}
	l.is(two.ID, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	if !strings.Contains(l.log.String(), "Acknowledgment is overdue") {
		t.Error("no alarm")
	}
}

func TestRxAcks_APaymentComesToLightAfterTheClaimWasHeldBack(t *testing.T) { // F13
	t.Parallel()
	for name, leave := range map[string]func(*late, claimdlq.ID){
		"dead-lettered": func(l *late, id claimdlq.ID) { l.exhausted(id) },
		"rejected":      func(l *late, id claimdlq.ID) { l.rejected(id) },
		"parked": func(l *late, id claimdlq.ID) {
			l.exhausted(id)
			_, err := l.f.Retain.Park(l.t.Context(), ana, id)
			l.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, "")
			raw := transmission(t, testclaims.RxOptions{}, 1)
			r := l.take(raw)[0]
			leave(l, r.ID)
			before := l.record(r.ID).State
			for _, held := range []ncpdp.Verdict{{Status: "R", Rejects: []string{"70"}}, {Status: "R", Rejects: []string{"83"}}, {Status: "C"}} {
				l.ack(answerTo(t, raw, held))
				if got := l.record(r.ID).State; got != before {
					t.Fatalf("%v moved it to %s", held, got)
				}
			}
			l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T1"}))
			l.is(r.ID, claimdlq.StateSettled, claimdlq.Paid)
			if got := l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "D", Auth: "T1"})); got.Orphans != 0 || got.Accepted != 0 {
				t.Errorf("the payment said again: %+v", got)
			}
			got := l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "R", Rejects: []string{"75"}}))
			if got.Orphans != 1 {
				t.Errorf("a reject of what is paid: %+v", got)
			}
			l.is(r.ID, claimdlq.StateSettled, claimdlq.Paid)
		})
	}
}

func TestRxAcks_EachTransactionOfATransmissionHasItsOwnAnswer(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	rs := l.take(transmission(t, testclaims.RxOptions{TransactionsPer: 4, PartialEvery: -1}, 1))
	sent := l.doubtful(rs[0].ID, false)
	if sent != nil {
		t.Fatal("the payer has it")
	}
	raw := transmission(t, testclaims.RxOptions{TransactionsPer: 4, PartialEvery: -1}, 1)
	got := l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P"}, ncpdp.Verdict{Status: "R", Rejects: []string{"75"}}, ncpdp.Verdict{Status: "R", Rejects: []string{"R8"}}, ncpdp.Verdict{Status: "C"}))
	if got.Answers != 4 || got.Orphans != 0 || got.Accepted != 1 || got.Rejected != 2 {
		t.Errorf("got %+v", got)
	}
	l.is(rs[0].ID, claimdlq.StateSettled, claimdlq.Paid)
	l.is(rs[1].ID, claimdlq.StateSettled, claimdlq.Rejected)
	l.is(rs[2].ID, claimdlq.StateQuarantined, claimdlq.DispositionNone)
	l.is(rs[3].ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	l.ack(answerTo(t, mustCut(t, raw, 4), ncpdp.Verdict{Status: "P"})) // it was sent alone since, or the payer answers so
	l.is(rs[3].ID, claimdlq.StateSettled, claimdlq.Paid)
}

func mustCut(t *testing.T, raw []byte, n int) []byte {
	t.Helper()
	cut, err := ncpdp.Cut(ncpdp.Parse(raw), n)
	if err != nil {
		t.Fatal(err)
	}
	return cut
}

func TestRxAcks_WhatAnswersNothingIsKeptWithAnAlarmAndTriedAgain(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	raw := transmission(t, testclaims.RxOptions{}, 1)
	answer := answerTo(t, raw, ncpdp.Verdict{Status: "P"})
	got := l.ack(answer)
	if got.Orphans != 1 || got.Accepted != 0 {
		t.Fatalf("got %+v", got)
	}
	kept := l.record(got.Record)
	if kept.State != claimdlq.StateQuarantined || kept.Detail.String() != "NCPDP:ORPHAN" || kept.Format != claimdlq.FormatAck || !strings.Contains(l.log.String(), "answers nothing that was sent") {
		t.Errorf("kept as %s\n%s", l.dump(), l.log)
	}
	r := l.take(raw)[0]
	if again := l.ack(answer); again.Orphans != 1 {
		t.Errorf("it answers what was never sent: %+v", again)
	}
	l.captured(r.ID)
	if again := l.ack(answer); again.Orphans != 0 || again.Accepted != 1 || again.Record != got.Record {
		t.Errorf("now it answers something: %+v", again)
	}
	l.is(r.ID, claimdlq.StateSettled, claimdlq.Paid)
	l.is(got.Record, claimdlq.StateSettled, claimdlq.Processed)
}

func TestRxAcks_NeverAGuessBetweenCandidates(t *testing.T) {
	t.Parallel()
	t.Run("two payers of one fill", func(t *testing.T) {
		t.Parallel()
		l := lateSetup(t, "")
		raw := transmission(t, testclaims.RxOptions{}, 1)
		other, err := ncpdp.SetHeader(raw, "A1", "999998")
		l.must(err)
		one, two := l.take(raw)[0], l.take(other)[0]
		l.captured(one.ID)
		l.captured(two.ID)
		if got := l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T1"})); got.Orphans != 1 || l.record(got.Record).Detail.String() != "NCPDP:AMBIGUOUS" {
			t.Errorf("got %+v", got)
		}
		l.is(one.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
		l.is(two.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	})
	t.Run("the second payer is held back, and may be the one", func(t *testing.T) {
		t.Parallel()
		l := lateSetup(t, "")
		raw := transmission(t, testclaims.RxOptions{}, 1)
		other, err := ncpdp.SetHeader(raw, "A1", "999998")
		l.must(err)
		one, two := l.take(raw)[0], l.take(other)[0]
		l.captured(one.ID)
		l.exhausted(two.ID)
		if got := l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T1"})); got.Orphans != 1 {
			t.Errorf("got %+v", got)
		}
		l.is(one.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	})
	t.Run("a copy of the first payer's answer is not the second's", func(t *testing.T) {
		t.Parallel()
		l := lateSetup(t, "")
		raw := transmission(t, testclaims.RxOptions{}, 1)
		other, err := ncpdp.SetHeader(raw, "A1", "999998")
		l.must(err)
		one := l.take(raw)[0]
		l.captured(one.ID)
		l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T1"}))
		two := l.take(other)[0]
		l.captured(two.ID)
		for _, v := range []ncpdp.Verdict{{Status: "P", Auth: "T1", Texts: []string{"COPY"}}, {Status: "D", Auth: "T1"}} {
			if got := l.ack(answerTo(t, raw, v)); got.Orphans != 0 || got.Accepted != 0 {
				t.Errorf("%v: %+v", v, got)
			}
		}
		l.is(two.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
		l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T2"}))
		l.is(two.ID, claimdlq.StateSettled, claimdlq.Paid)
	})
	t.Run("another pharmacy's prescription, count or day", func(t *testing.T) {
		t.Parallel()
		l := lateSetup(t, "")
		raw := transmission(t, testclaims.RxOptions{}, 1)
		r := l.take(raw)[0]
		l.captured(r.ID)
		answer := answerTo(t, raw, ncpdp.Verdict{Status: "P"})
		for _, field := range []string{"B1", "D1", "A3"} {
			value := map[string]string{"B1": "9999999999", "D1": "20200101", "A3": "B3"}[field]
			wrong, err := ncpdp.SetHeader(answer, field, value)
			l.must(err)
			if got := l.ack(wrong); got.Orphans != 1 {
				t.Errorf("%s: %+v", field, got)
			}
		}
		l.is(r.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	})
	t.Run("an answer that contradicts itself", func(t *testing.T) {
		t.Parallel()
		l := lateSetup(t, "")
		raw := transmission(t, testclaims.RxOptions{}, 1)
		r := l.take(raw)[0]
		l.captured(r.ID)
		if got := l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Rejects: []string{"70"}})); got.Orphans != 1 {
			t.Errorf("got %+v", got)
		}
		cut := ncpdp.Parse(answerTo(t, raw, ncpdp.Verdict{Status: "P", Amounts: []ncpdp.FieldAmount{}}))
		if got := l.ack(cut.Raw()); got.Orphans != 1 || l.record(got.Record).Detail.String() != "CUT_23" {
			t.Errorf("a payment without its price: %+v %s", got, l.record(got.Record).Detail)
		}
		l.is(r.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	})
}

func TestRxAcks_TheAnswerToAClaimBilledAgainIsNotItsFirsts(t *testing.T) { // F1, F18
	t.Parallel()
	l := lateSetup(t, "")
	raw := transmission(t, testclaims.RxOptions{}, 1)
	first := l.take(raw)[0]
	l.captured(first.ID)
	l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T1"}))
	b2, err := ncpdp.BuildReversal(ncpdp.Parse(raw), 1, ncpdp.Reversal{})
	l.must(err)
	reversal := l.take(b2)[0]
	l.doubtful(reversal.ID, false)
	l.ack(answerTo(t, b2, ncpdp.Verdict{Status: "A", Auth: "T2"}))
	l.is(reversal.ID, claimdlq.StateSettled, claimdlq.Reversed)
	again := l.takeAs(raw, 1)[0]
	l.captured(again.ID)
	if got := l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T1", Texts: []string{"COPY"}})); got.Orphans+int(got.Accepted) != 0 {
		t.Errorf("a copy: %+v", got)
	}
	l.is(again.ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T3"}))
	l.is(again.ID, claimdlq.StateSettled, claimdlq.Paid)
}

func TestRxAcks_ABatchAndAFileOfFramedResponses(t *testing.T) {
	t.Parallel()
	const n = 600 // more than are matched together
	for name, file := range map[string]func(t *testing.T, answers [][]byte) []byte{
		"batch": func(t *testing.T, answers [][]byte) []byte {
			t.Helper()
			var out bytes.Buffer
			w, err := ncpdp.NewBatchWriter(&out, ncpdp.BatchHeader{Type: 'R', Sender: "TESTPAYER", Receiver: "TEST", Number: "0000007", Date: "20260718", Time: "1000", FileType: 'T'})
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range answers {
				if err := w.Add(strings.Repeat("0", 4)+string(rune('A'+i%26))+strings.Repeat("0", 2)+string(rune('A'+i/26%26))+string(rune('A'+i/676))+"X", a); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return out.Bytes()
		},
		"frames": func(_ *testing.T, answers [][]byte) []byte {
			var out []byte
			for _, a := range answers {
				out = append(append(append(out, 2), a...), 3, '\r', '\n')
			}
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, "")
			var answers [][]byte
			ids := map[claimdlq.ID]claimdlq.Disposition{}
			for i := range n {
				raw := transmission(t, testclaims.RxOptions{Claims: n, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1}, i+1)
				r := l.take(raw)[0]
				l.captured(r.ID)
				v, want := ncpdp.Verdict{Status: "P"}, claimdlq.Paid
				if i%3 == 0 {
					v, want = ncpdp.Verdict{Status: "R", Rejects: []string{"70"}}, claimdlq.Rejected
				}
				answers, ids[r.ID] = append(answers, answerTo(t, raw, v)), want
			}
			got := l.ack(file(t, answers))
			if got.Answers != n || got.Orphans != 0 || got.Rejected != n/3 || got.Accepted != n-n/3 || got.Interchanges != n {
				t.Fatalf("got %+v", got)
			}
			for id, want := range ids {
				l.is(id, claimdlq.StateSettled, want)
				ref := l.record(id).Response
				if file := l.record(got.Record).Payload; ref.Unit != file.Unit || ref.Length == 0 || ref.Offset+ref.Length > file.Length {
					t.Fatalf("the answer of %d is %+v in %+v", id, ref, file)
				}
			}
		})
	}
}

func TestRxAcks_AFileOfClaimsIsRefusedAndARefusedBatchIsAnAlarm(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	var batch bytes.Buffer
	if _, err := testclaims.GenerateRx(&batch, testclaims.RxOptions{Batch: true, Claims: 2}); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"a claim": transmission(t, testclaims.RxOptions{}, 1), "a batch of claims": batch.Bytes()} {
		_, err := l.f.Settle.Acks(t.Context(), source, "TEST", bytes.NewReader(file))
		if !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(l.list(store.Filter{})); n != 0 {
		t.Fatalf("%d records are kept", n)
	}
	var out bytes.Buffer
	w, err := ncpdp.NewBatchWriter(&out, ncpdp.BatchHeader{Type: 'E', Sender: "TESTPAYER", Receiver: "TEST", Number: "0000007", Date: "20260718", Time: "1000", FileType: 'T'})
	l.must(err)
	l.must(w.Close())
	got := l.ack(out.Bytes())
	if r := l.record(got.Record); r.State != claimdlq.StateQuarantined || r.Detail.String() != "BATCH:REFUSED" || r.InterchangeID != "0000007" {
		t.Errorf("kept as %s", l.dump())
	}
	got = l.ack(append(answerTo(t, transmission(t, testclaims.RxOptions{}, 1)), "\x1d\x1eAM"...)) // a segment without its id
	if r := l.record(got.Record); r.State != claimdlq.StateQuarantined || r.Reason != claimdlq.FatalSyntax {
		t.Errorf("kept as %s", l.dump())
	}
}

func TestRxAcks_NoCanaryLeavesTheVault(t *testing.T) { // promise 7
	t.Parallel()
	o := testclaims.RxOptions{Canary: true, TransactionsPer: 2, Claims: 8}
	l := lateSetup(t, "canary on")
	for n := range 4 {
		rs := l.take(transmission(t, o, n+1))
		switch n {
		case 0:
			l.ack(l.doubtful(rs[0].ID, true))
			l.is(rs[1].ID, claimdlq.StateSettled, claimdlq.Paid)
		case 1:
			l.captured(rs[0].ID)
			l.ack(answerTo(t, transmission(t, o, 2), ncpdp.Verdict{Status: "R", Rejects: []string{"70"}, Texts: []string{"ZZCANARY TEXT"}}, ncpdp.Verdict{Status: "R", Rejects: []string{"R8"}}))
			l.is(rs[0].ID, claimdlq.StateSettled, claimdlq.Rejected)
		case 2:
			l.doubtful(rs[0].ID, true)
			if _, known, err := l.f.Settle.Inquire(t.Context(), ana, rs[0].ID); !known || err != nil {
				t.Fatalf("%v %v", known, err)
			}
		default:
			l.ack(answerTo(t, transmission(t, o, 4), ncpdp.Verdict{Status: "P"}, ncpdp.Verdict{Status: "P"})) // orphans
		}
	}
	l.leaks(o)
}
