package sizing_test

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/sizing"
)

// history is a stream that was played to a Learner.
type history struct {
	l    *sizing.Learner
	next claimdlq.SubmissionID
}

var day0 = time.Date(2026, 7, 17, 8, 0, 0, 0, time.UTC)

func (h *history) record(id claimdlq.ID, partner string, claims uint32, at time.Duration, reason claimdlq.Reason) {
	h.l.Record(claimdlq.Record{
		ID: id, Partner: partner, Stream: "837", Format: claimdlq.Format837P, Claims: claims, CreatedAt: day0.Add(at), Reason: reason,
	})
}

// deliver plays a submission that is sent at each of the given times.
func (h *history) deliver(id claimdlq.ID, dead bool, at ...time.Duration) {
	h.next++
	e := claimdlq.Entry{Submission: h.next}
	for i, t := range at {
		e.At, e.Record, e.Action = day0.Add(t), id, claimdlq.ActLease
		h.l.Entry(e)
		e.Record, e.Action = 0, claimdlq.ActIntent
		h.l.Entry(e)
		if dead && i == len(at)-1 {
			e.Record, e.Action = id, claimdlq.ActEnqueue
			h.l.Entry(e)
			e.Record = 0
		}
		e.At, e.Action = e.At.Add(time.Second), claimdlq.ActOutcome
		h.l.Entry(e)
	}
}

func TestLearner_TakesRateAndSharesFromTheHistory(t *testing.T) {
	t.Parallel()
	h := history{l: sizing.NewLearner()}
	const s, m = time.Second, time.Minute
	h.record(1, "ZZ:A", 100, 0, 0)
	h.record(2, "ZZ:A", 300, 10*s, 0)
	h.record(3, "ZZ:B", 99, 10*m-1*s, 0)
	h.record(4, "ZZ:B", 1, 10*m-1*s, claimdlq.SemanticReject)
	h.l.Record(claimdlq.Record{ID: 5, Stream: "acks", Format: claimdlq.FormatAck, CreatedAt: day0.Add(time.Hour)})
	h.deliver(1, false, s)
	h.deliver(2, false, 20*s, 25*s) // failed once
	h.deliver(3, false, 11*m)
	h.l.Entry(claimdlq.Entry{Action: claimdlq.ActReceive, Record: 1})
	h.l.Entry(claimdlq.Entry{Action: claimdlq.ActOutcome, Submission: 77})

	got := h.l.Learned()
	if got.Records != 4 || got.Claims != 500 || got.Deliveries != 4 || got.Failed != 1 || got.Incidents != 0 {
		t.Errorf("%+v", got)
	}
	if want := (sizing.Rate{Claims: 5, Seconds: 6}); got.Mean != want {
		t.Errorf("mean %v, want %v", got.Mean, want)
	}
	if want := (sizing.Rate{Claims: 20, Seconds: 3}); got.Peak != want {
		t.Errorf("peak %v, want 400 in a minute", got.Peak)
	}
	if got.Transient != 250_000 || got.Bad != 2000 {
		t.Errorf("transient %v, bad %v", got.Transient, got.Bad)
	}
}

func TestLearner_FindsTheLongestIncidentOfAPartner(t *testing.T) {
	t.Parallel()
	h := history{l: sizing.NewLearner()}
	const s = time.Second
	h.record(1, "ZZ:A", 1, 0, claimdlq.RetriesExhausted)
	h.record(2, "ZZ:A", 1, 0, 0)
	h.record(3, "ZZ:B", 1, 0, 0)
	h.deliver(1, true, 0, 4*s, 12*s, 28*s, 60*s) // five failures, the last spends the budget
	h.deliver(3, false, 30*s)                    // another partner is well
	h.deliver(2, false, 100*s)
	got := h.l.Learned()
	if got.Incidents != 1 || got.Longest != sizing.Span(100*s) || got.Failed != 5 || got.Transient != 0 {
		t.Errorf("%+v", got)
	}
	in := got.Apply(sizing.Input{})
	if len(in.Incidents) != 1 || in.Incidents[0] != 100*s || in.Rate != got.Peak {
		t.Errorf("applied: %+v", in)
	}
	in = got.Apply(sizing.Input{Rate: sizing.PerSecond(9), Incidents: []time.Duration{s}})
	if in.Rate != sizing.PerSecond(9) || in.Incidents[0] != s {
		t.Errorf("what was said is kept: %+v", in)
	}
}

func TestLearner_KnowsNothingAtFirst(t *testing.T) {
	t.Parallel()
	if got := sizing.NewLearner().Learned(); got != (sizing.Learned{}) {
		t.Errorf("%+v", got)
	}
}

// What many deliveries have in common is one entry; it must teach what one for each would.
func TestLearner_AnEntryOfManyRecordsIsOneOfEach(t *testing.T) {
	t.Parallel()
	const s = time.Second
	many, each := history{l: sizing.NewLearner()}, history{l: sizing.NewLearner()}
	for _, h := range []*history{&many, &each} {
		for id := claimdlq.ID(1); id <= 7; id++ {
			reason := claimdlq.RetriesExhausted
			if id > 5 {
				reason = 0
			}
			h.record(id, "ZZ:A", 1, 0, reason)
		}
	}
	for id := claimdlq.ID(1); id <= 7; id++ {
		if id <= 5 {
			each.deliver(id, true, s, 20*s, 40*s)
		} else {
			each.deliver(id, false, s, 20*s)
		}
	}
	say := func(ids claimdlq.IDSet, at time.Duration, a claimdlq.Action) {
		many.l.Entry(claimdlq.Entry{At: day0.Add(at), Records: ids, Action: a})
	}
	for _, at := range []time.Duration{s, 20 * s} {
		say("1-6", at, claimdlq.ActLease)
		say("1-6", at, claimdlq.ActIntent)
		say("1-6", at+s, claimdlq.ActOutcome)
		// One whose entries are its own in between: its sending is the same.
		own := claimdlq.Entry{At: day0.Add(at), Record: 7, Submission: 9, Action: claimdlq.ActLease}
		if at == s {
			say("7", at, claimdlq.ActLease)
			say("7", at, claimdlq.ActIntent)
			say("7", at+s, claimdlq.ActOutcome)
			continue
		}
		many.l.Entry(own)
		own.Record, own.Action = 0, claimdlq.ActIntent
		many.l.Entry(own)
		own.At, own.Action = own.At.Add(s), claimdlq.ActOutcome
		many.l.Entry(own)
	}
	say("1-5", 40*s, claimdlq.ActLease)
	say("1-5", 40*s, claimdlq.ActIntent)
	say("1-5", 41*s, claimdlq.ActEnqueue)
	say("1-5", 41*s, claimdlq.ActOutcome)
	if got, want := many.l.Learned(), each.l.Learned(); got != want || got.Deliveries != 19 || got.Failed != 17 {
		t.Errorf("%+v, want %+v", got, want)
	}
}
