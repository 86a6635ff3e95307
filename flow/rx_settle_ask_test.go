package flow_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/intake"
	"claimdlq/flow/settle"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

// askWire is a line before the payer on which a test may do anything.
type askWire struct {
	line
	before func(request []byte) // before the payer sees it
	answer func([]byte) []byte
}

func (w *askWire) Deliver(ctx context.Context, p target.Parcel) target.Delivery {
	if w.before != nil {
		in, _ := p.Content()
		var b bytes.Buffer
		_, _ = b.ReadFrom(in)
		w.before(b.Bytes())
	}
	d := w.line.Deliver(ctx, p)
	if w.answer != nil && d.Answer.Len() > 0 {
		d.Answer = phi.Wrap(w.answer(bytes.Clone(d.Answer.Reveal())))
	}
	return d
}

type asker struct {
	*rxBench
	wire  *askWire
	multi []byte
	b1    map[int][]byte
	b2    map[int][]byte
}

func newAsker(t *testing.T, script string) *asker {
	t.Helper()
	f := &asker{wire: &askWire{line: line{sent: map[string]bool{}}}, b1: map[int][]byte{}, b2: map[int][]byte{}}
	f.rxBench = rxSetup(t, script, func(d *flow.Deps) {
		d.Routes = func(string, string) (target.Route, bool) {
			return target.Route{Target: f.wire, IdempotentResend: true}, true
		}
		d.Workers = 1
	})
	f.wire.payer = f.payer
	f.multi = rxMessages(t, testclaims.RxOptions{Seed: 1, Claims: 3, TransactionsPer: 3, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1})[0]
	m := ncpdp.Parse(f.multi)
	back := string(rxOne(t, "B2", 1))
	for n, v := range map[int][2]string{1: {"99999000137", "D300"}, 2: {"99999000136", "D301"}, 3: {"99999000109", "D303"}} {
		b, err := ncpdp.Cut(m, n)
		f.must(err)
		f.b1[n] = bytes.Clone(b)
		f.b2[n] = []byte(strings.NewReplacer("D2000000000001", "D200000000000"+string(rune('0'+n)), "99999000137", v[0], "D300", v[1]).Replace(back))
	}
	return f
}

func (f *asker) deliver(plan ...mode) {
	f.t.Helper()
	f.clock.pass(2 * time.Minute)
	f.wire.plan = plan
	f.drain()
}

func (f *asker) late(i int) {
	f.t.Helper()
	_, err := f.f.Settle.Acks(f.t.Context(), source, "", bytes.NewReader(f.wire.lost[i]))
	f.must(err)
}

func (f *asker) is(id claimdlq.ID, s claimdlq.State, d claimdlq.Disposition) {
	f.t.Helper()
	if r := f.record(id); r.State != s || r.Disposition != d {
		f.t.Fatalf("record %d is %s %s (%s), want %s %s\n%s", id, r.State, r.Disposition, r.Detail, s, d, f.dump())
	}
}

// stands checks whether the payer has the prescription as paid, and how often it paid.
func (f *asker) stands(rx string, want bool, payments int) {
	f.t.Helper()
	got, n := false, 0
	for _, x := range f.payer.Fills() {
		if number(x.Rx) == rx {
			got, n = got || x.State == "paid", n+x.Payments
		}
	}
	if got != want || n != payments {
		f.t.Fatalf("rx %s: paid %v, %d payments, want %v and %d\n%s", rx, got, n, want, payments, f.dump())
	}
}

func (f *asker) ask(id claimdlq.ID) {
	f.t.Helper()
	_, _, err := f.f.Settle.Inquire(f.t.Context(), ana, id)
	f.must(err)
}

// A neighbour of what is asked about has been reversed since. Promise 2.
func TestRxAsk_AnInquiryBillsNoNeighbourAnew(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "claim rx=2 clash tries 1")
	f.takes(f.multi, in, in, in)
	f.deliver()
	f.is(1, claimdlq.StateSettled, claimdlq.Paid)
	f.is(2, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	f.takes(f.b2[1], in)
	f.deliver()
	f.stands("1", false, 1)
	f.ask(2)
	f.stands("1", false, 1)
}

// A neighbour was refused, and written off.
func TestRxAsk_AnInquiryBillsNoRefusedNeighbour(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "claim rx=1 reject R8 tries 1\nclaim rx=2 clash tries 1")
	f.takes(f.multi, in, in, in)
	f.deliver()
	f.is(1, claimdlq.StateQuarantined, claimdlq.DispositionNone)
	_, err := f.f.Retain.Withdraw(t.Context(), ana, 1)
	f.must(err)
	f.ask(2)
	f.stands("1", false, 0) // it was written off
}

// What waits for the payer's answer has a deadline.
func TestRxAsk_WhatIsDeferredKeepsItsDeadline(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "claim rx=1 defer tries 9\nclaim rx=3 clash tries 1")
	f.takes(f.multi, in, in, in)
	f.deliver()
	f.is(1, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	f.is(3, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	f.ask(3)
	f.is(3, claimdlq.StateSettled, claimdlq.DuplicateOfPaid)
	f.clock.pass(100 * time.Hour)
	_, err := f.f.Settle.Overdue(t.Context())
	f.must(err)
	f.is(1, claimdlq.StateInDoubt, claimdlq.DispositionNone)
}

// A late answer settles two of three; the third goes on alone and can be asked about.
func TestRxAsk_WhatIsLeftOfATransmissionCanBeAskedAbout(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "claim rx=2 status X tries 2")
	f.takes(f.multi, in, in, in)
	f.deliver(drop)
	f.late(0)
	f.is(1, claimdlq.StateSettled, claimdlq.Paid)
	f.deliver()
	f.is(2, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	f.ask(2)
	f.is(2, claimdlq.StateSettled, claimdlq.Paid)
}

// An inquiry under way is a delivery: what waits goes when it has come back, and an answer
// that comes meanwhile is done when it has, whether it was answered or not.
func TestRxAsk_NothingOvertakesAnInquiry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan []mode
		how  claimdlq.Disposition
	}{
		"answered": {nil, claimdlq.DuplicateOfPaid},
		"lost":     {[]mode{lost}, claimdlq.Paid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAsker(t, "")
			id := f.take(f.b1[1]).ID
			f.deliver(drop, lost, lost, lost, lost)
			for range 6 {
				f.deliver(lost, lost)
			}
			f.is(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
			back := f.take(f.b2[1]).ID
			once := false
			f.wire.before = func(b []byte) {
				if once || string(ncpdp.Parse(b).TransactionCode()) != "B1" {
					return
				}
				once = true
				f.late(0)
				f.is(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
				_, _, err := f.f.Settle.Inquire(t.Context(), ana, id)
				if !errors.Is(err, claimdlq.Conflict) {
					t.Errorf("another inquiry meanwhile: %v", err)
				}
				_, err = f.f.Settle.Resolve(t.Context(), ana, id, false)
				if !errors.Is(err, claimdlq.Conflict) {
					t.Errorf("a person's word meanwhile: %v", err)
				}
				f.clock.pass(time.Hour)
				plan := f.wire.plan
				f.wire.plan = nil
				f.drain() // the reversal waits
				f.wire.plan = plan
			}
			f.wire.plan = c.plan
			_, _, err := f.f.Settle.Inquire(t.Context(), ana, id)
			if (err != nil) != (c.plan != nil) {
				t.Fatal(err)
			}
			f.is(id, claimdlq.StateSettled, c.how)
			f.stands("1", true, 1)
			f.deliver()
			f.is(back, claimdlq.StateSettled, claimdlq.Reversed)
			f.stands("1", false, 1)
		})
	}
}

// A lease without an intent has sent nothing: what is in doubt is the delivery before it.
func TestRxAsk_ALeaseWithoutAnIntentPromisedNothing(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	raw := transmission(t, testclaims.RxOptions{}, 1)
	r := l.take(raw)[0]
	l.doubtful(r.ID, true)
	s, err := l.st.Submission(t.Context(), l.record(r.ID).Submission)
	l.must(err)
	s.Digest, s.Bytes = claimdlq.Digest{}, 0
	_, err = l.st.Commit(t.Context(), store.Batch{Submissions: []claimdlq.Submission{s}})
	l.must(err)
	got, err := l.f.Settle.InquireAll(t.Context(), ana, store.Filter{})
	if want := (settle.Inquiries{Asked: 1, Known: 1}); err != nil || got != want || !bytes.Equal(l.route.sent[0], raw) {
		t.Fatalf("%+v %v", got, err)
	}
	l.is(r.ID, claimdlq.StateSettled, claimdlq.DuplicateOfPaid)
	said := false
	l.must(l.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		said = said || e.Action == claimdlq.ActIntent && e.Detail.String() == "INQUIRY:NO_INTENT"
		return true
	}))
	if !said {
		t.Error("the audit log does not say that nothing was promised")
	}
}

func TestRxAsk_APersonsWordMovesWhatIsInDoubtBesideWhatWaits(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "claim rx=1 defer tries 9\nclaim rx=3 clash tries 1")
	f.takes(f.multi, in, in, in)
	f.deliver()
	_, err := f.f.Settle.Resolve(t.Context(), ana, 3, true)
	f.must(err)
	f.is(3, claimdlq.StateSubmitted, claimdlq.DispositionNone)
}

func TestRxAsk_APersonsWordMovesWhatWasUnparkedIntoDoubt(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "")
	id := f.take(f.b1[1]).ID
	f.deliver(lost)
	_, err := f.f.Retain.Park(t.Context(), ana, id)
	f.must(err)
	f.deliver()
	_, err = f.f.Retain.Unpark(t.Context(), ana, id)
	f.must(err)
	f.is(id, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	_, err = f.f.Settle.Resolve(t.Context(), ana, id, true)
	f.must(err)
	f.is(id, claimdlq.StateSubmitted, claimdlq.DispositionNone)
}

// It went out twice, and the first was refused: the second may have been paid.
func TestRxAsk_ALateRejectOfOneDeliveryDoesNotEndTheDoubtOfAnother(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "claim rx=1 reject 79 tries 1")
	id := f.take(f.b1[1]).ID
	f.deliver(drop) // R 79, lost
	f.deliver(drop) // P, lost
	f.stands("1", true, 1)
	f.late(0)
	f.deliver()
	if r := f.record(id); r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Rejected {
		t.Fatalf("it is REJECTED, and paid\n%s", f.dump())
	}
}

// An inquiry is a delivery too: it may have been paid, and its answer lost.
func TestRxAsk_ALateRejectAfterAnInquiryEndsNoDoubt(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "claim all reject 79 tries 1")
	r := l.take(transmission(t, testclaims.RxOptions{}, 1))[0]
	refused := l.doubtful(r.ID, true)
	l.route.mute = true
	if _, _, err := l.f.Settle.Inquire(t.Context(), ana, r.ID); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatal(err)
	}
	l.ack(refused)
	l.is(r.ID, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	said := false
	l.must(l.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		said = said || e.Record == r.ID && e.Action == claimdlq.ActAcknowledge && e.Detail.String() == "LATE:FB_79"
		return true
	}))
	if !said {
		t.Error("what the payer said is not in the audit log")
	}
	l.route.mute = false
	_, known, err := l.f.Settle.Inquire(t.Context(), ana, r.ID)
	l.must(err)
	if !known {
		t.Error("it is not known")
	}
	l.is(r.ID, claimdlq.StateSettled, claimdlq.DuplicateOfPaid)
	l.noDoubleFill()
}

func TestRxAsk_ALateAnswerFindsASidecarClaimWhoseAttemptsNobodyCounted(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "")
	answer := f.payer.Adjudicate(f.b1[1]) // by the other pipeline
	_, err := f.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(f.b1[1]), intake.DeadLetter{Detail: claimdlq.NewDetail("TIMEOUT"), Ambiguous: true})
	f.must(err)
	_, err = f.f.Settle.Acks(t.Context(), source, "", bytes.NewReader(answer))
	f.must(err)
	f.is(1, claimdlq.StateSettled, claimdlq.Paid)
	again, err := f.f.Settle.Acks(t.Context(), source, "", bytes.NewReader(append([]byte{2}, append(answer, 3)...)))
	f.must(err)
	if again.Orphans != 0 {
		t.Errorf("the same answer again: %+v", again)
	}
}

// The same bytes would bill anew what was reversed since, or take back what was billed
// since. Promise 2.
func TestRxAsk_WhatWasOvertakenIsNotSent(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"B1", "B2"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, "")
			later, how := map[string]string{"B1": "B2", "B2": "B1"}[code], claimdlq.Reversed
			if later == "B1" {
				how = claimdlq.Paid
			}
			first := l.take(transmission(t, testclaims.RxOptions{Code: code, PartialEvery: -1}, 1))[0]
			l.doubtful(first.ID, false)
			second := l.takeAs(transmission(t, testclaims.RxOptions{Code: later, PartialEvery: -1}, 1), 1)[0]
			other := l.take(transmission(t, testclaims.RxOptions{Seed: 9, PartialEvery: -1}, 1))[0]
			l.doubtful(other.ID, false)
			second.GroupID = first.ID.String()
			_, err := l.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{second}})
			l.must(err)
			l.ended(second.ID, claimdlq.SubmissionAnswered, func(r claimdlq.Record) (claimdlq.Record, error) {
				return r.Settle(how, claimdlq.NewDetail("AN_A"), l.clock.now())
			})
			if second = l.record(second.ID); second.Batch != l.record(first.ID).Batch {
				t.Fatal("they are not of one fill")
			}
			_, known, err := l.f.Settle.Inquire(t.Context(), ana, first.ID)
			var e *claimdlq.Error
			if known || !errors.Is(err, claimdlq.Refused) || !errors.As(err, &e) || e.Hint == "" || len(l.route.sent) != 0 {
				t.Fatalf("%v %v, sent %d", known, err, len(l.route.sent))
			}
			got, err := l.f.Settle.InquireAll(t.Context(), ana, store.Filter{})
			if want := (settle.Inquiries{Asked: 1, Known: 1, Skipped: 1}); err != nil || got != want {
				t.Errorf("the worklist: %+v %v", got, err)
			}
			l.is(first.ID, claimdlq.StateInDoubt, claimdlq.DispositionNone)
			_, err = l.f.Settle.Resolve(t.Context(), ana, first.ID, false)
			l.must(err)
		})
	}
}

// "You have paid this already" about these very bytes would be D: where the payment of
// another record stands, that one is meant.
func TestRxAsk_An83IsThePaymentOfTheRecordThatStands(t *testing.T) { // F23
	t.Parallel()
	for name, c := range map[string]struct {
		other claimdlq.Disposition // how another record of the claim ended
		want  claimdlq.Disposition
	}{
		"one stands":        {claimdlq.Paid, claimdlq.Rejected},
		"one was recovered": {claimdlq.DuplicateOfPaid, claimdlq.Rejected},
		"one was refused":   {claimdlq.Rejected, claimdlq.DuplicateOfPaid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, "claim all reject 83")
			first := l.take(transmission(t, testclaims.RxOptions{PartialEvery: -1}, 1))[0]
			l.ended(first.ID, claimdlq.SubmissionAnswered, func(r claimdlq.Record) (claimdlq.Record, error) {
				return r.Settle(c.other, claimdlq.NewDetail("AN_P"), l.clock.now())
			})
			second := l.takeAs(rxSet(t, transmission(t, testclaims.RxOptions{PartialEvery: -1}, 1), "07-D5=017"), 1)[0]
			second.GroupID = first.ID.String()
			_, err := l.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{second}})
			l.must(err)
			l.doubtful(second.ID, false)
			_, known, err := l.f.Settle.Inquire(t.Context(), ana, second.ID)
			if !known || err != nil {
				t.Fatalf("%v %v", known, err)
			}
			l.is(second.ID, claimdlq.StateSettled, c.want)
		})
	}
}

// Another pipeline did not wait for our reversal: its claim is not sent before that.
func TestRxAsk_WhatAnEarlierReversalMayTakeBackIsNotSent(t *testing.T) {
	t.Parallel()
	f := newAsker(t, "")
	f.take(f.b1[1])
	f.deliver()
	back := f.take(f.b2[1]).ID
	f.deliver(lost, lost, lost, lost, lost)
	for range 6 {
		f.deliver(lost, lost)
	}
	f.is(back, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	_, err := f.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(f.b1[1]), intake.DeadLetter{Detail: claimdlq.NewDetail("TIMEOUT"), Ambiguous: true})
	f.must(err)
	anew := back + 1
	f.is(anew, claimdlq.StateInDoubt, claimdlq.DispositionNone)
	f.wire.plan = nil
	if _, _, err := f.f.Settle.Inquire(t.Context(), ana, anew); !errors.Is(err, claimdlq.Refused) {
		t.Fatal(err)
	}
	f.stands("1", true, 1)
	f.ask(back)
	f.is(back, claimdlq.StateSettled, claimdlq.Reversed)
	f.ask(anew)
	f.is(anew, claimdlq.StateSettled, claimdlq.Paid)
	f.stands("1", true, 2)
}
