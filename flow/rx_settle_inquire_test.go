package flow_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/flow/settle"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

func TestRxInquire_TheIdenticalBytesAreTheInquiry(t *testing.T) { // promise 2, F13
	t.Parallel()
	for name, c := range map[string]struct {
		script  string
		arrived bool
		known   bool
		state   claimdlq.State
		how     claimdlq.Disposition
	}{
		"it had arrived":      {"", true, true, claimdlq.StateSettled, claimdlq.DuplicateOfPaid},
		"it had not":          {"", false, true, claimdlq.StateSettled, claimdlq.Paid},
		"rejected":            {"claim all reject 70", false, true, claimdlq.StateSettled, claimdlq.Rejected},
		"poison":              {"claim all reject R8", false, true, claimdlq.StateQuarantined, claimdlq.DispositionNone},
		"captured":            {"claim all capture", false, true, claimdlq.StateSubmitted, claimdlq.DispositionNone},
		"not now":             {"claim all reject 92", false, false, claimdlq.StateInDoubt, claimdlq.DispositionNone},
		"another's answer":    {"transmission all other D2", false, false, claimdlq.StateInDoubt, claimdlq.DispositionNone},
		"a web page":          {"transmission all html", false, false, claimdlq.StateInDoubt, claimdlq.DispositionNone},
		"paid with an excuse": {"claim all clash", false, false, claimdlq.StateInDoubt, claimdlq.DispositionNone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, c.script)
			raw := transmission(t, testclaims.RxOptions{}, 1)
			r := l.take(raw)[0]
			l.doubtful(r.ID, c.arrived)
			before := l.record(r.ID)
			got, known, err := l.f.Settle.Inquire(t.Context(), ana, r.ID)
			if err != nil || known != c.known || got.State != c.state || got.Disposition != c.how {
				t.Fatalf("%v %v %s", known, err, l.dump())
			}
			if len(l.route.sent) != 1 || !bytes.Equal(l.route.sent[0], raw) {
				t.Error("it asked by other bytes than those that were sent")
			}
			if got.AttemptCount != before.AttemptCount || got.ReceiveCount != before.ReceiveCount || got.ReplayCount != 0 {
				t.Error("an inquiry is no delivery of the budget")
			}
			if acted := got.State != claimdlq.StateInDoubt; acted == got.Response.IsZero() {
				t.Error("the answer that decided is not kept with the record")
			}
			l.opened(r.ID)
			intent := 0
			l.must(l.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
				if e.Action == claimdlq.ActIntent && e.Submission == got.Submission && e.Actor == "ana" && e.Note == ana.Reason {
					intent++
				}
				return true
			}))
			if intent != 1 {
				t.Errorf("audited %d times that it asks", intent)
			}
			l.noDoubleFill()
		})
	}
}

func TestRxInquire_ATransmissionInDoubtIsAskedAboutWhole(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	raw := transmission(t, testclaims.RxOptions{TransactionsPer: 3, PartialEvery: -1}, 1)
	rs := l.take(raw)
	l.doubtful(rs[0].ID, true)
	_, known, err := l.f.Settle.Inquire(t.Context(), ana, rs[2].ID)
	if !known || err != nil || len(l.route.sent) != 1 || !bytes.Equal(l.route.sent[0], raw) {
		t.Fatalf("%v %v, sent %d", known, err, len(l.route.sent))
	}
	for _, r := range rs {
		l.is(r.ID, claimdlq.StateSettled, claimdlq.DuplicateOfPaid)
	}
	l.noDoubleFill()
}

// What is decided is not sent again: it may have been reversed since.
func TestRxInquire_WhatIsLeftOfATransmissionIsAskedAboutOneByOne(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	raw := transmission(t, testclaims.RxOptions{TransactionsPer: 3, PartialEvery: -1}, 1)
	rs := l.take(raw)
	l.doubtful(rs[0].ID, true)
	l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "P"}, ncpdp.Verdict{Status: "R", Rejects: []string{"92"}}, ncpdp.Verdict{Status: "R", Rejects: []string{"92"}}))
	_, known, err := l.f.Settle.Inquire(t.Context(), ana, rs[2].ID)
	if !known || err != nil || len(l.route.sent) != 2 || !bytes.Equal(l.route.sent[0], alone(t, raw, 2)) || !bytes.Equal(l.route.sent[1], alone(t, raw, 3)) {
		t.Fatalf("%v %v, sent %d", known, err, len(l.route.sent))
	}
	l.is(rs[0].ID, claimdlq.StateSettled, claimdlq.Paid)
	l.is(rs[1].ID, claimdlq.StateSettled, claimdlq.DuplicateOfPaid)
	l.is(rs[2].ID, claimdlq.StateSettled, claimdlq.DuplicateOfPaid)
	l.noDoubleFill()
}

// alone returns the nth transaction as a transmission of its own.
func alone(t *testing.T, raw []byte, n int) []byte {
	t.Helper()
	b, err := ncpdp.Cut(ncpdp.Parse(raw), n)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b)
}

func TestRxInquire_OneOfTheTransmissionHasBeenCorrectedSince(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "claim 1 reject R8")
	raw := transmission(t, testclaims.RxOptions{TransactionsPer: 2, PartialEvery: -1}, 1)
	rs := l.take(raw)
	l.doubtful(rs[0].ID, false)
	l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "R", Rejects: []string{"R8"}}, ncpdp.Verdict{Status: "R", Rejects: []string{"92"}}))
	doc, err := l.f.Correct.Document(t.Context(), ana, rs[0].ID)
	l.must(err)
	p, err := l.f.Correct.Propose(t.Context(), ana, rs[0].ID, phi.Wrap(rxSet(t, doc.Reveal(), "07-D5=017")))
	l.must(err)
	_, err = l.f.Correct.Apply(t.Context(), ana, p)
	l.must(err)
	_, known, err := l.f.Settle.Inquire(t.Context(), ana, rs[1].ID)
	if err != nil || len(l.route.sent) != 1 || !bytes.Equal(l.route.sent[0], alone(t, raw, 2)) {
		t.Fatalf("%v %v", known, err)
	}
	l.is(rs[0].ID, claimdlq.StateQuarantined, claimdlq.DispositionNone)
}

func TestRxInquire_WhatWasHeldBackIsNotBilledByIt(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	raw := transmission(t, testclaims.RxOptions{TransactionsPer: 2, PartialEvery: -1}, 1)
	rs := l.take(raw)
	l.doubtful(rs[0].ID, false)
	l.ack(answerTo(t, raw, ncpdp.Verdict{Status: "R", Rejects: []string{"R8"}}, ncpdp.Verdict{Status: "R", Rejects: []string{"92"}}))
	was := l.record(rs[0].ID)
	_, known, err := l.f.Settle.Inquire(t.Context(), ana, rs[1].ID)
	if !known || err != nil {
		t.Fatalf("%v %v", known, err)
	}
	if now := l.record(rs[0].ID); now.State != claimdlq.StateQuarantined || now.Revision != was.Revision {
		t.Errorf("what was refused is %s", now.State)
	}
	l.is(rs[1].ID, claimdlq.StateSettled, claimdlq.Paid)
	if fills := l.payer.Fills(); len(fills) != 1 {
		t.Errorf("the payer has %d claims", len(fills))
	}
	l.noDoubleFill()
}

func TestRxInquire_RefusesWhatItMayNotSend(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	r := l.take(transmission(t, testclaims.RxOptions{}, 1))[0]
	if _, _, err := l.f.Settle.Inquire(t.Context(), ana, r.ID); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("nothing is in doubt: %v", err)
	}
	l.doubtful(r.ID, false)
	l.route.plain = true
	if _, known, err := l.f.Settle.Inquire(t.Context(), ana, r.ID); known || err != nil || len(l.route.sent) != 0 {
		t.Errorf("the payer must not be sent it again: %v %v, sent %d", known, err, len(l.route.sent))
	}
	l.route.plain = false
	s, err := l.st.Submission(t.Context(), l.record(r.ID).Submission)
	l.must(err)
	s.Digest[0]++
	_, err = l.st.Commit(t.Context(), store.Batch{Submissions: []claimdlq.Submission{s}})
	l.must(err)
	if _, _, err := l.f.Settle.Inquire(t.Context(), ana, r.ID); !errors.Is(err, claimdlq.Corrupt) || len(l.route.sent) != 0 {
		t.Errorf("other bytes: %v, sent %d", err, len(l.route.sent))
	}
	l.is(r.ID, claimdlq.StateInDoubt, claimdlq.DispositionNone)
}

// That nobody answered is not the answer "I cannot tell".
func TestRxInquire_ATargetThatDoesNotAnswerIsAnError(t *testing.T) { // promise 2
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*lateTarget)
		on     string // of the error; none where the target answered
	}{
		"down":          {func(f *lateTarget) { f.down = true }, "CONNECT_REFUSED"},
		"overloaded":    {func(f *lateTarget) { f.down, f.says = true, "HTTP_503" }, "HTTP_503"},
		"hung":          {func(f *lateTarget) { f.mute = true }, "TIMEOUT"},
		"status query":  {func(f *lateTarget) { f.plain, f.inquiry = true, transient("HTTP_502", false).Outcome }, "HTTP_502"},
		"knows nothing": {func(f *lateTarget) { f.plain = true }, ""},
		"empty answer":  {func(f *lateTarget) { f.other = func([]byte) []byte { return nil } }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lateSetup(t, "")
			r := l.take(transmission(t, testclaims.RxOptions{}, 1))[0]
			l.doubtful(r.ID, false)
			was := l.record(r.ID)
			c.change(l.route)
			_, known, err := l.f.Settle.Inquire(t.Context(), ana, r.ID)
			if now := l.record(r.ID); known || now.State != was.State || now.Revision != was.Revision {
				t.Errorf("known %v, it is %+v", known, now)
			}
			if c.on == "" {
				l.must(err)
				return
			}
			var e *claimdlq.Error
			if !errors.Is(err, claimdlq.Unavailable) || !errors.As(err, &e) || e.On != c.on || e.Hint == "" {
				t.Errorf("got %v", err)
			}
			got, err := l.f.Settle.InquireAll(t.Context(), ana, store.Filter{})
			if want := (settle.Inquiries{Asked: 1, Unanswered: 1}); err != nil || got != want {
				t.Errorf("the worklist: %+v %v", got, err)
			}
		})
	}
}

// Whoever gives up while the payer is asked leaves an audit entry of how it ended.
func TestRxInquire_AnAnswerThatNobodyWaitsForIsAudited(t *testing.T) { // promise 10
	t.Parallel()
	l := lateSetup(t, "")
	r := l.take(transmission(t, testclaims.RxOptions{}, 1))[0]
	l.doubtful(r.ID, false)
	ctx, cancel := context.WithCancel(t.Context())
	l.route.mute, l.route.other = true, func([]byte) []byte { cancel(); return nil }
	if _, _, err := l.f.Settle.Inquire(ctx, ana, r.ID); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
	ends := 0
	l.must(l.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActOutcome && e.Actor == ana.Actor && e.Detail.String() == "TIMEOUT" {
			ends++
		}
		return true
	}))
	if ends != 1 {
		t.Errorf("audited %d times", ends)
	}
}

func TestInquire_AnInterchangeWhoseTargetDoesNotAnswerIsAnError(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "")
	b.target.plan = []mode{lost}
	b.target.inquiry = func(target.Parcel) (claimdlq.Outcome, bool) { return transient("HTTP_503", false).Outcome, false }
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	id := b.only(claimdlq.StateInDoubt).ID
	var e *claimdlq.Error
	if _, known, err := b.f.Settle.Inquire(t.Context(), ana, id); known || !errors.As(err, &e) || e.Code != claimdlq.Unavailable || e.On != "HTTP_503" {
		t.Errorf("got %v %v", known, err)
	}
	got, err := b.f.Settle.InquireAll(t.Context(), ana, store.Filter{})
	if want := (settle.Inquiries{Asked: 1, Unanswered: 1}); err != nil || got != want {
		t.Errorf("the worklist: %+v %v", got, err)
	}
}

func TestRxInquireAll_EmptiesTheWorklist(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "claim ndc=99999000110 reject 70")
	const n = 50
	var ids []claimdlq.ID
	for i := range n {
		r := l.take(transmission(t, testclaims.RxOptions{Claims: n, PartialEvery: -1}, i+1))[0]
		l.doubtful(r.ID, i%2 == 0)
		ids = append(ids, r.ID)
	}
	l.route.down = true
	got, err := l.f.Settle.InquireAll(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP})
	if err != nil || got.Known != 0 || got.InDoubt != 0 || got.Asked != got.Unanswered || got.Unanswered+got.Skipped != n || got.Skipped == 0 || got.Unanswered == 0 {
		t.Fatalf("while the payer is down: %+v %v", got, err)
	}
	l.route.down = false
	if got, err = l.f.Settle.InquireAll(t.Context(), ana, store.Filter{}); err != nil || got != (settle.Inquiries{Asked: n, Known: n}) {
		t.Fatalf("got %+v %v", got, err)
	}
	for _, id := range ids {
		if r := l.record(id); r.State != claimdlq.StateSettled {
			t.Errorf("record %d is %s", id, r.State)
		}
	}
	l.conserved()
	l.noDoubleFill()
	if got, err = l.f.Settle.InquireAll(t.Context(), ana, store.Filter{}); err != nil || got != (settle.Inquiries{}) {
		t.Errorf("an empty worklist: %+v %v", got, err)
	}
}

func TestRxResolve_APersonSettlesADoubt(t *testing.T) {
	t.Parallel()
	l := lateSetup(t, "")
	raw := transmission(t, testclaims.RxOptions{TransactionsPer: 2, PartialEvery: -1}, 1)
	rs := l.take(raw)
	l.doubtful(rs[0].ID, false)
	if _, err := l.f.Settle.Resolve(t.Context(), claimdlq.By{Actor: "ana"}, rs[0].ID, true); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("without a reason: %v", err)
	}
	_, err := l.f.Settle.Resolve(t.Context(), ana, rs[0].ID, true)
	l.must(err)
	l.is(rs[0].ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	l.is(rs[1].ID, claimdlq.StateInDoubt, claimdlq.DispositionNone) // of this one nobody has spoken
	l.clock.pass(48*time.Hour + time.Second)
	if n, err := l.f.Settle.Overdue(t.Context()); n != 1 || err != nil {
		t.Fatalf("overdue %d %v", n, err)
	}
	for _, r := range rs {
		_, err = l.f.Settle.Resolve(t.Context(), ana, r.ID, false)
		l.must(err)
		l.is(r.ID, claimdlq.StateQuarantined, claimdlq.DispositionNone)
		if got := l.replay(r.ID, replay.Options{}); got != claimdlq.Replayed {
			t.Errorf("what did not arrive may go as it is: %s", got)
		}
	}
}
