package alert_test

import (
	"slices"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/retry"
	"claimdlq/sizing"
)

// 22: a surge of 400/s pages at the 300th dead letter, long before it is a minute old.
func TestIncrease_ASurgePagesBeforeItIsAMinuteOld(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Second, 5 * time.Second, 15 * time.Second} {
		w := newWatch(t, alert.Options{})
		for range 10 {
			w.see(every, dead(0, claimdlq.FatalSyntax))
		}
		quiet := w.now
		for n := int64(0); ; {
			n += 400 * int64(every/time.Second)
			es := w.see(every, dead(n, claimdlq.RetriesExhausted))
			if !slices.Contains(begin(es), alert.AlarmIncrease) {
				t.Fatalf("every %s: %d records lie there and nobody is paged", every, n)
			}
			if es[0].Severity != alert.Page || es[0].Value != float64(n) || es[0].Threshold != 300 {
				t.Errorf("every %s: %+v", every, es[0])
			}
			break
		}
		if d := w.now.Sub(quiet); d >= time.Minute {
			t.Errorf("every %s: it took %s", every, d)
		}
	}
}

// 22: 300 in a minute is the boundary, to the record.
func TestIncrease_RingsAtExactly300InAMinute(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minute int64
		rings  bool
	}{{299, false}, {300, true}, {301, true}} {
		w := newWatch(t, alert.Options{})
		rang := false
		for s := int64(0); s <= 240; s += 5 {
			// 1,000 that lie there already are residue, not a surge (F41).
			es := w.see(5*time.Second, dead(1000+c.minute*s/60, claimdlq.FatalSyntax))
			rang = rang || slices.Contains(begin(es), alert.AlarmIncrease)
		}
		if rang != c.rings {
			t.Errorf("%d in a minute: rang %v", c.minute, rang)
		}
	}
}

// F41, 45: what comes in slowly pages nobody, and makes a ticket by its age.
func TestAge_ASlowLeakMakesATicketAndPagesNobody(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	for s := int64(0); s < 3600; s += 5 {
		leak := dead(s/60, claimdlq.SemanticReject)
		leak.OldestAge = time.Duration(s) * time.Second
		if es := w.see(5*time.Second, leak); len(es) > 0 {
			t.Fatalf("after %d s: %+v", s, es)
		}
	}
	leak := dead(60, claimdlq.SemanticReject)
	leak.OldestAge = time.Hour
	es := w.see(5*time.Second, leak)
	if len(es) != 1 || es[0].Alarm != alert.AlarmAge || es[0].Severity != alert.Ticket || es[0].Value != 3600 {
		t.Fatalf("at an hour: %+v", es)
	}
	if want := "The oldest record in quarantine (stream rx) failed 1 h ago."; es[0].Summary != want {
		t.Errorf("summary %q", es[0].Summary)
	}
}

// F40: an empty queue has age 0, and what rang for it stops.
func TestAge_AnEmptyQueueResolves(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	old := dead(5, claimdlq.FatalSyntax)
	old.OldestAge = 2 * time.Hour
	w.see(0, old)
	w.active(alert.AlarmAge)
	for s := 0; s < 300; s += 5 { // not at once: it may come back
		if es := w.see(5*time.Second, alert.Stream{Name: "rx"}); len(es) > 0 {
			t.Fatalf("after %d s: %+v", s, es)
		}
	}
	es := w.see(5*time.Second, alert.Stream{Name: "rx"})
	if len(es) != 1 || es[0].Status != alert.Resolved || es[0].Alarm != alert.AlarmAge || es[0].Value != 0 || !es[0].EndsAt.Equal(w.now) || !es[0].StartsAt.Equal(noon) {
		t.Fatalf("%+v", es)
	}
	w.active()
}

// 45: a bad rule deploy and an outage are different alarms with different runbooks.
func TestSpike_ABadDeployIsToldFromAnOutage(t *testing.T) {
	t.Parallel()
	pages := map[claimdlq.Reason]string{}
	for _, c := range []struct {
		reason claimdlq.Reason
		page   bool
	}{
		{claimdlq.FatalSyntax, true},
		{claimdlq.RetriesExhausted, true},
		{claimdlq.SemanticReject, false},
		{claimdlq.OutcomeUnknown, false},
		{claimdlq.Overflow, false},
		{claimdlq.Expired, false},
	} {
		w := newWatch(t, alert.Options{})
		rang := []alert.Event{}
		for s := int64(0); s <= 300; s += 10 { // one a second: no surge, yet one cause
			rang = append(rang, w.see(10*time.Second, dead(s, c.reason))...)
		}
		if len(rang) != 1 || rang[0].Alarm != alert.AlarmSpike || rang[0].Labels.Reason != c.reason.String() || (rang[0].Severity == alert.Page) != c.page {
			t.Fatalf("%s: %+v", c.reason, rang)
		}
		pages[c.reason] = rang[0].Runbook
	}
	if pages[claimdlq.FatalSyntax] == pages[claimdlq.RetriesExhausted] {
		t.Error("both have the runbook " + pages[claimdlq.FatalSyntax])
	}
}

// 45: draining one reason does not hide that another one comes in.
func TestSpike_ADrainOfOneReasonHidesNoOther(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	for s := int64(0); s <= 60; s += 5 {
		w.see(5*time.Second, alert.Stream{Name: "rx", Depth: 1000, ByReason: map[claimdlq.Reason]int64{
			claimdlq.RetriesExhausted: 1000 - 5*s, claimdlq.FatalSyntax: 5 * s,
		}})
	}
	w.active(alert.AlarmSpike + ":FATAL_SYNTAX")
}

// outage is the sizing calculator's model: 400 claims a second, all of whose
// deliveries fail from 0 on, 0, 4, 12, 28 and 60 s after they arrive.
func outage(after time.Duration) alert.Stream {
	arrived := func(d time.Duration) int64 { // up to and at d
		if d < 0 {
			return 0
		}
		return int64(d/(2500*time.Microsecond)) + 1
	}
	s := alert.Stream{Name: "rx", Deliveries: 100_000 + int64(after/(2500*time.Microsecond))} // a quiet day before
	for i, off := range []time.Duration{0, 4 * time.Second, 12 * time.Second, 28 * time.Second, time.Minute} {
		n := arrived(after - off)
		s.Failures += n
		if i > 0 {
			s.Retries += n
			s.Deliveries += n
		}
		s.Depth = n
	}
	s.ByReason = map[claimdlq.Reason]int64{claimdlq.RetriesExhausted: s.Depth}
	return s
}

// F29: the alarms ring when the calculator says that they do, at the next sample.
func TestEvaluator_RingsWhenTheCalculatorSays(t *testing.T) {
	t.Parallel()
	in := sizing.Input{Rate: sizing.PerSecond(400), Incidents: []time.Duration{5 * time.Minute}}
	answer, err := sizing.Size(in.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{}
	for _, a := range answer.Incidents[0].Without.Alarms {
		want[a.Name] = time.Duration(a.After)
	}
	if want[alert.AlarmRetries] == 0 || want[alert.AlarmIncrease] == 0 {
		t.Fatalf("the calculator says %v", want)
	}
	const every = 500 * time.Millisecond
	w := newWatch(t, alert.Options{})
	for after := -2 * time.Minute; after < 0; after += every {
		if es := w.see(every, outage(after)); len(es) > 0 {
			t.Fatalf("%s before: %+v", -after, es)
		}
	}
	got := map[string]time.Duration{}
	for after := time.Duration(0); after <= 90*time.Second; after += every {
		for _, n := range begin(w.see(every, outage(after))) {
			got[n] = after
		}
	}
	for _, name := range []string{alert.AlarmRetries, alert.AlarmIncrease} {
		late := got[name] - want[name]
		if got[name] == 0 || late < 0 || late >= every {
			t.Errorf("%s rang after %s, the calculator says %s", name, got[name], want[name])
		}
	}
	if got[alert.AlarmSpike+":RETRIES_EXHAUSTED"] == 0 {
		t.Errorf("nothing says why: %v", got)
	}
}

// 23, F29: with the breaker nothing is dead-lettered, and the breaker itself rings.
func TestBreaker_RingsAtOnceAndAlsoWhileItProbes(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.partners(0, alert.Partner{Stream: "rx", Name: "999991:TESTPCN"}, alert.Partner{Stream: "rx", Name: "999992:TESTPCN"})
	p := open("999991:TESTPCN")
	es := w.partners(5*time.Second, p, alert.Partner{Stream: "rx", Name: "999992:TESTPCN"})
	if len(es) != 1 || es[0].Alarm != alert.AlarmBreaker || es[0].Severity != alert.Page || es[0].Labels != (alert.Labels{Stream: "rx", Partner: p.Name}) {
		t.Fatalf("%+v", es)
	}
	for i := range 100 { // half open, open again: one alarm, not a hundred
		p.Breaker = []retry.State{retry.HalfOpen, retry.Open}[i%2]
		if es := w.partners(30*time.Second, p, alert.Partner{Stream: "rx", Name: "999992:TESTPCN"}); len(es) > 0 {
			t.Fatalf("%+v", es)
		}
	}
	p.Breaker = retry.Closed
	w.partners(time.Second, p)
	es = w.partners(5*time.Minute, p)
	if len(es) != 1 || es[0].Status != alert.Resolved {
		t.Fatalf("%+v", es)
	}
}
