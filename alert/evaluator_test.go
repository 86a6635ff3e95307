package alert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/retry"
)

// calling is a stream whose counters stand so.
func calling(deliveries, retries, failures int64) alert.Stream {
	return alert.Stream{Name: "rx", Deliveries: deliveries, Retries: retries, Failures: failures}
}

func TestRetryRate_RingsAtTheShareOfFirstDeliveriesAndAtLeastFive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deliveries, retries, failures int64
		rings                         bool
	}{
		{1000, 0, 49, false},
		{1000, 0, 50, true},
		{1100, 100, 49, false},
		{1100, 100, 50, true}, // retries are none of the stream's claims
		{20, 0, 4, false},
		{20, 0, 5, true}, // 5 % of 20 is one: that may be chance
		{5, 5, 5, true},  // nothing new comes in, what is there fails
		{0, 0, 0, false},
	} {
		w := newWatch(t, alert.Options{})
		w.see(0, calling(7, 3, 2))
		got := begin(w.see(time.Minute, calling(7+c.deliveries, 3+c.retries, 2+c.failures)))
		if slices.Contains(got, alert.AlarmRetries) != c.rings {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestCounter_ThatBeginsAgainCountsFromZero(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.see(0, calling(5_000_000, 1000, 90_000)) // what was before the first sample is old
	w.active()
	w.see(30*time.Second, calling(40, 0, 4)) // the process began again
	w.active()
	w.see(15*time.Second, calling(60, 0, 5)) // 5 of 60 since then
	w.active(alert.AlarmRetries)
}

func TestUnknownCodes_OneMakesATicketAndTheNextRestartNone(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	unknown := func(n int64) alert.Stream { return alert.Stream{Name: "rx", UnknownCodes: n} }
	w.see(0, unknown(3))
	es := w.see(5*time.Second, unknown(4))
	if len(es) != 1 || es[0].Alarm != alert.AlarmUnknown || es[0].Severity != alert.Ticket || es[0].Value != 1 {
		t.Fatalf("%+v", es)
	}
	for range 61 {
		w.see(20*time.Second, unknown(4))
	}
	w.active()
	w.see(5*time.Second, unknown(0))
	w.active()
}

func TestClock_GoingBackNeitherRingsNorSilences(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.see(0, dead(0, claimdlq.FatalSyntax))
	w.see(30*time.Second, dead(150, claimdlq.FatalSyntax))
	w.active()
	w.see(-time.Hour, dead(151, claimdlq.FatalSyntax))
	w.active()
	es := w.see(25*time.Second, dead(300, claimdlq.FatalSyntax)) // 300 within 55 s of samples
	if !slices.Contains(begin(es), alert.AlarmIncrease) {
		t.Fatalf("the step of the clock hid the surge: %+v", es)
	}
	w.see(-24*time.Hour, dead(300, claimdlq.FatalSyntax))
	if len(w.e.Active()) == 0 {
		t.Fatal("the step of the clock silenced the alarm")
	}
	var ended []alert.Event
	for range 60 {
		ended = append(ended, w.see(15*time.Second, alert.Stream{Name: "rx"})...)
	}
	w.active()
	for _, e := range ended {
		if e.EndsAt.Before(e.StartsAt) {
			t.Errorf("%s ended %s before it began", e.Alarm, e.StartsAt.Sub(e.EndsAt))
		}
	}
}

func TestClock_GoingBackKeepsWhatWasWaited(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	lost := alert.Stream{Name: "rx", Difference: 1}
	w.see(0, lost)
	w.see(50*time.Second, lost)
	w.see(-time.Hour, lost)
	w.see(9*time.Second, lost)
	w.active()
	w.see(time.Second, lost) // 60 s of samples
	w.active(alert.AlarmDifference)
}

func TestClock_JumpingAheadIsNoSurgeAndFulfilsNoWait(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.see(0, dead(1600, claimdlq.SemanticReject))
	// Eight hours of sleep: 2,400 more, but nobody knows in which minute, nor whether it was
	// as much all the time. Depth waits five minutes, from now on.
	if es := w.see(8*time.Hour, dead(4000, claimdlq.SemanticReject)); len(es) > 0 {
		t.Fatalf("%+v", es)
	}
	w.see(5*time.Minute-time.Second, dead(4000, claimdlq.SemanticReject))
	w.active()
	w.see(time.Second, dead(4000, claimdlq.SemanticReject))
	w.active(alert.AlarmDepth)
}

func TestRise_SamplesFurtherApartThanTheWindowStillRing(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.see(0, dead(0, claimdlq.Overflow))
	w.see(4*time.Minute, dead(300, claimdlq.Overflow))
	w.active(alert.AlarmIncrease, alert.AlarmSpike+":OVERFLOW")
}

func TestFlapping_RingsOnceAndStopsOnce(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	all := []alert.Event{}
	for i := range 100 {
		s := alert.Stream{Name: "rx", Parked: int64(i % 2)} // there, gone, there, …
		all = append(all, w.see(time.Minute, s)...)
	}
	for range 6 {
		all = append(all, w.see(time.Minute, alert.Stream{Name: "rx"})...)
	}
	if len(all) != 2 || all[0].Status != alert.Firing || all[1].Status != alert.Resolved || all[0].Fingerprint() != all[1].Fingerprint() {
		t.Fatalf("%+v", all)
	}
}

func TestFor_ARuleThatStopsHoldingStartsItsWaitAgain(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	torn := alert.Stream{Name: "rx", Difference: -1}
	w.see(0, torn)
	w.see(59*time.Second, torn)
	w.see(time.Second, alert.Stream{Name: "rx"}) // it was a figure read half way
	w.see(time.Second, torn)
	w.see(59*time.Second, torn)
	w.active()
	es := w.see(time.Second, torn)
	if len(es) != 1 || es[0].Alarm != alert.AlarmDifference || es[0].Severity != alert.Page || es[0].Value != -1 {
		t.Fatalf("%+v", es)
	}
}

func TestSince_ABreakerThatWasOpenBeforeTheStartHasWaitedAlready(t *testing.T) {
	t.Parallel()
	rules, err := alert.Rules(alert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		if rules[i].Name == alert.AlarmBreaker {
			rules[i].For = time.Minute
		}
	}
	for _, c := range []struct {
		since time.Time
		rings bool
	}{{noon.Add(-time.Minute), true}, {noon.Add(-59 * time.Second), false}, {time.Time{}, false}, {noon.Add(time.Hour), false}} {
		e, err := alert.New(rules)
		if err != nil {
			t.Fatal(err)
		}
		p := open("999991:TESTPCN")
		p.Since = c.since
		es := e.Observe(alert.Sample{At: noon, Streams: []alert.Stream{{Name: "rx"}}, Partners: []alert.Partner{p}})
		if (len(es) == 1) != c.rings {
			t.Errorf("since %s: %+v", c.since, es)
		}
	}
}

func TestFigures_WithoutAnswerRingAndLeaveTheOthersAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.see(0, alert.Stream{Name: "rx", Parked: 2})
	for range 60 {
		w.see(10 * time.Second) // the store cannot answer
	}
	w.active(alert.AlarmFigures, alert.AlarmParked)
	for range 31 {
		w.see(10*time.Second, alert.Stream{Name: "rx", Parked: 2})
	}
	w.active(alert.AlarmParked)
}

func TestPartner_ThatIsRemovedStopsRinging(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.partners(0, open("999991:TESTPCN"))
	w.active(alert.AlarmBreaker)
	w.partners(5 * time.Minute)
	w.active(alert.AlarmBreaker)
	es := w.partners(time.Second)
	if len(es) != 1 || es[0].Status != alert.Resolved {
		t.Fatalf("%+v", es)
	}
}

func TestInDoubt_ManyPageAndOldOnesMakeATicket(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	s := alert.Stream{Name: "rx", InDoubt: 299, InDoubtAge: 59 * time.Minute}
	w.see(0, s)
	w.see(time.Minute, s)
	w.active()
	s.InDoubt, s.InDoubtAge = 300, time.Hour
	w.see(time.Second, s)
	w.active(alert.AlarmInDoubtAge)
	w.see(time.Minute, s)
	w.active(alert.AlarmBacklog, alert.AlarmInDoubtAge)
}

func TestOrphansAndParked_MakeATicketFromTheFirst(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.see(0, alert.Stream{Name: "rx", Parked: 1, Orphans: 1})
	w.active(alert.AlarmParked, alert.AlarmOrphans)
	for _, e := range w.e.Active() {
		if e.Severity != alert.Ticket {
			t.Errorf("%s is a %s", e.Alarm, e.Severity)
		}
	}
}

func TestStreams_EachHasItsLevelsAndItsAlarms(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{Streams: map[string]alert.Levels{"837": {PerMinute: 1200}}}) // 1.25 % is 15
	both := func(n int64) []alert.Stream { return []alert.Stream{{Name: "837", Depth: n}, {Name: "rx", Depth: n}} }
	w.see(0, both(0)...)
	w.see(30*time.Second, both(14)...)
	w.active()
	w.see(10*time.Second, both(15)...)
	w.active(alert.AlarmIncrease)
	w.see(10*time.Second, both(300)...)
	w.active(alert.AlarmIncrease, alert.AlarmIncrease)
	got := w.e.Active()
	if got[0].Labels.Stream != "rx" || got[0].Threshold != 300 || got[1].Labels.Stream != "837" || got[1].Threshold != 15 {
		t.Errorf("%+v", got)
	}
}

// What comes in is bounded, and what is not watched is not silent.
func TestEvaluator_ItsMemoryIsBounded(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	for i := range 400 {
		s := alert.Sample{At: w.now.Add(time.Duration(i) * 100 * time.Millisecond)}
		for j := range alert.MaxStreams + 10 {
			s.Streams = append(s.Streams, alert.Stream{Name: fmt.Sprint("s", i, "-", j), Parked: 1})
		}
		for j := range 200 {
			s.Partners = append(s.Partners, open(fmt.Sprint(i, "-", j)))
		}
		w.e.Observe(s)
	}
	alarms, known, _ := w.e.Size()
	perStream := 20
	if known > alert.MaxStreams+alert.MaxPartners || alarms > alert.MaxPartners+perStream*alert.MaxStreams {
		t.Errorf("%d alarms, %d names", alarms, known)
	}
	w.now = w.now.Add(40 * time.Second)
	for range 20_000 { // a sample every 50 ms, for longer than any window
		w.see(50*time.Millisecond, alert.Stream{Name: "rx"})
	}
	alarms, known, points := w.e.Size()
	if alarms > perStream || known != 1 || points > 300 {
		t.Errorf("%d alarms, %d names, %d points", alarms, known, points)
	}
}

func TestEvaluator_MoreThanIsWatchedRings(t *testing.T) {
	t.Parallel()
	ss := []alert.Stream{}
	for j := range alert.MaxStreams + 1 {
		ss = append(ss, alert.Stream{Name: fmt.Sprint("s", j)})
	}
	w := newWatch(t, alert.Options{})
	w.see(0, ss[1:]...)
	w.see(2*time.Minute, ss[1:]...)
	w.active()
	w.see(time.Second, ss...)
	w.see(2*time.Minute, ss...)
	w.active(alert.AlarmFigures)
	twice := newWatch(t, alert.Options{})
	twice.see(0, ss[0], ss[0])
	twice.see(2*time.Minute, ss[0], ss[0])
	twice.active(alert.AlarmFigures)
}

func TestEvent_NamesAreCleanWhateverComes(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	es := w.partners(0, open("ZZ:TEST\n{value}\"<b>\xff"+string(make([]byte, 100))), open(""))
	if len(es) != 2 {
		t.Fatalf("%+v", es)
	}
	for _, e := range es {
		for _, c := range e.Labels.Partner + e.Summary {
			if c < ' ' || c > '~' || c == '"' || c == '<' || c == '{' {
				t.Errorf("%q in %q", c, e.Summary)
			}
		}
		if n := len(e.Labels.Partner); n == 0 || n > 64 {
			t.Errorf("a name of %d bytes", n)
		}
	}
}

// Whatever is observed, events of one alarm alternate, and what began and did not
// stop is what rings.
func TestEvaluator_EventsAlternateAndAddUpToActive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, err := alert.Rules(alert.Options{Levels: alert.Levels{PerMinute: 400}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := alert.New(rules)
		if err != nil {
			t.Fatal(err)
		}
		figure := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64())
		age := rapid.OneOf(rapid.Int64Range(0, int64(2*time.Hour)), rapid.Int64())
		step := rapid.OneOf(rapid.Int64Range(0, int64(2*time.Minute)), rapid.Int64Range(-int64(48*time.Hour), int64(48*time.Hour)))
		ringing := map[string]bool{}
		at := noon
		for range rapid.IntRange(1, 60).Draw(t, "samples") {
			at = at.Add(time.Duration(step.Draw(t, "step")))
			s := alert.Sample{At: at}
			for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"837", "rx", ""}), 0, 3).Draw(t, "streams") {
				s.Streams = append(s.Streams, alert.Stream{
					Name: name, Depth: figure.Draw(t, "depth"), ByReason: map[claimdlq.Reason]int64{claimdlq.FatalSyntax: figure.Draw(t, "syntax")},
					OldestAge: time.Duration(age.Draw(t, "age")), Parked: figure.Draw(t, "parked"), InDoubt: figure.Draw(t, "doubt"),
					Deliveries: figure.Draw(t, "deliveries"), Retries: figure.Draw(t, "retries"), Failures: figure.Draw(t, "failures"),
					UnknownCodes: figure.Draw(t, "unknown"), Difference: figure.Draw(t, "difference"), Orphans: figure.Draw(t, "orphans"),
				})
			}
			for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B", ""}), 0, 3).Draw(t, "partners") {
				s.Partners = append(s.Partners, alert.Partner{Stream: "rx", Name: name, Breaker: retry.State(rapid.Uint8Range(0, 3).Draw(t, "breaker"))})
			}
			for _, ev := range e.Observe(s) {
				f := ev.Fingerprint()
				if ringing[f] == (ev.Status == alert.Firing) {
					t.Fatalf("%s twice: %+v", ev.Status, ev)
				}
				if ev.Status == alert.Resolved && (ev.EndsAt.Before(ev.StartsAt) || ev.EndsAt.IsZero()) {
					t.Fatalf("ended before it began: %+v", ev)
				}
				ringing[f] = ev.Status == alert.Firing
			}
			active := e.Active()
			for _, ev := range active {
				if ev.Status != alert.Firing || !ringing[ev.Fingerprint()] || !ev.EndsAt.IsZero() {
					t.Fatalf("rings, and nobody was told: %+v", ev)
				}
			}
			n := 0
			for _, r := range ringing {
				if r {
					n++
				}
			}
			if n != len(active) {
				t.Fatalf("%d ring, %d were told", len(active), n)
			}
		}
	})
}

// 51: a full intake pages at once, a moment's load does not, and four fifths are a ticket.
func TestRefused_PagesByItsCause(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	refusing := func(waiting int64, cs ...alert.Cause) alert.Intake {
		in := alert.Intake{Waiting: waiting, Limit: 10, Refusing: map[alert.Cause]bool{}}
		for _, c := range cs {
			in.Refusing[c] = true
		}
		return in
	}
	w.intake(0, refusing(7, alert.CauseBusy))
	w.intake(45*time.Second, refusing(7, alert.CauseBusy)) // one refusal is seen for a minute
	w.intake(15*time.Second, refusing(7))
	w.active()
	es := w.intake(15*time.Second, refusing(10, alert.CauseBacklog, alert.CauseDisk, alert.CauseMemory))
	w.active(alert.AlarmRefused, alert.AlarmRefused, alert.AlarmFilling)
	ids := map[string]bool{}
	for _, e := range es {
		ids[e.Fingerprint()] = true
	}
	if len(ids) != 3 || es[0].Severity != alert.Page || es[0].Labels.Cause != "backlog" || es[1].Labels.Cause != "disk" || es[2].Severity != alert.Ticket {
		t.Errorf("%+v", es)
	}
	w.intake(time.Minute, refusing(8, alert.CauseMemory))
	w.active(alert.AlarmRefused, alert.AlarmRefused, alert.AlarmRefused, alert.AlarmFilling)
	w.intake(5*time.Minute, refusing(7))
	w.active(alert.AlarmRefused, alert.AlarmFilling) // quiet for less than five minutes
	w.intake(5*time.Minute, refusing(7))
	w.active()
	w.intake(0, alert.Intake{Waiting: 1 << 40}) // no limit
	w.active()
}

func TestHeld_RingsByTheAgeOfEachCause(t *testing.T) { // DESIGN 5: every state has an exit and an age alarm
	t.Parallel()
	w := newWatch(t, alert.Options{})
	see := func(target, stopped, lineage time.Duration) {
		w.see(15*time.Second, alert.Stream{Name: "837", Deadlines: map[string]int64{}, Held: map[alert.Cause]alert.Held{
			alert.CauseTarget: {Records: 1, Age: target}, alert.CauseStopped: {Records: 1, Age: stopped}, alert.CauseLineage: {Records: 1, Age: lineage},
		}})
	}
	see(time.Hour-1, 12*time.Hour-1, 24*time.Hour-1)
	w.active()
	see(time.Hour, 12*time.Hour-1, 24*time.Hour-1)
	w.active(alert.AlarmHeldTarget)
	see(time.Hour, 12*time.Hour, 24*time.Hour)
	w.active(alert.AlarmHeldTarget, alert.AlarmHeldStopped, alert.AlarmHeldLineage)
	if e := w.e.Active()[0]; e.Console != "/records?state=queued&stream=837&hold=target" || e.Summary != "Records of stream 837 have had no target for 1 h: nobody delivers them." || e.Severity != alert.Ticket {
		t.Errorf("%+v", e)
	}
}

// An alarm that is over but for its quiet minutes says what it was at its worst and since
// when it is quiet, not what the figure is now; over a restart, too.
func TestQuiet_TheWorstIsKeptAndSinceWhenItIsQuiet(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.see(0, calling(100, 0, 0))
	w.see(15*time.Second, calling(130, 0, 6))
	w.see(15*time.Second, calling(160, 0, 12))
	if e := w.e.Active()[0]; e.Value != 12 || e.Peak != 12 || !e.QuietSince.IsZero() || e.Summary != "12 calls of stream rx failed within a minute." {
		t.Fatalf("%+v", e)
	}
	w.see(time.Minute, calling(160, 0, 15)) // 3 more, and nothing of them is new in the next minute
	quiet := w.now
	w.see(time.Minute, calling(160, 0, 15))
	kept := w.e.Keep()
	check := func(e alert.Event) {
		t.Helper()
		want := "12 calls of stream rx failed within a minute. That was the worst. It has been quiet since " + quiet.Format("15:04") + " UTC."
		if e.Peak != 12 || !e.QuietSince.Equal(quiet) || e.Summary != want {
			t.Errorf("%+v, want %s", e, want)
		}
	}
	e := w.e.Active()[0]
	if check(e); e.Value != 0 {
		t.Errorf("%+v", e)
	}
	again := newWatch(t, alert.Options{})
	again.e.Restore(kept, w.now)
	check(again.e.Active()[0])
	es := w.see(5*time.Minute, calling(160, 0, 15))
	if len(es) != 1 || es[0].Status != alert.Resolved {
		t.Fatalf("%+v", es)
	}
	check(es[0])
}

func TestQuiet_WhatIsSoAgainSaysItsValue(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	partner := func(s retry.State) { w.partners(15*time.Second, alert.Partner{Stream: "rx", Name: "TEST", Breaker: s}) }
	partner(retry.Open)
	partner(retry.Closed)
	if e := w.e.Active()[0]; e.Value != 0 || e.Peak != 1 || !strings.HasSuffix(e.Summary, "breaker is open. It has been quiet since 12:00 UTC.") {
		t.Errorf("%+v", e)
	}
	partner(retry.Open)
	if e := w.e.Active()[0]; e.Value != 1 || !e.QuietSince.IsZero() || !strings.HasSuffix(e.Summary, "breaker is open.") {
		t.Errorf("%+v", e)
	}
}
