package sizing_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/sizing"
)

func size(t *testing.T, in sizing.Input) sizing.Answer {
	t.Helper()
	a, err := sizing.Size(in)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func lever(t *testing.T, a sizing.Answer, name string) sizing.Lever {
	t.Helper()
	i := slices.IndexFunc(a.Levers, func(l sizing.Lever) bool { return l.Name == name })
	if i < 0 {
		t.Fatalf("there is no lever %s", name)
	}
	return a.Levers[i]
}

func TestSize_SaysWhatTheSeedsPolicySurvives(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(400), Incidents: []time.Duration{5 * time.Minute}})
	want := "60 s outage; a 5 min outage at 400/s dead-letters 96,000 claims with 558,400 failed calls, none with the breaker"
	if a.Survives != want {
		t.Errorf("it says\n%s\nwant\n%s", a.Survives, want)
	}
	a = size(t, sizing.Input{Rate: sizing.PerSecond(400), Incidents: []time.Duration{30 * time.Minute}})
	if !strings.Contains(a.Survives, "dead-letters 696,000 claims with 3.56 M failed calls, none with the breaker") {
		t.Errorf("it says %s", a.Survives)
	}
}

func TestSize_CountsEveryClaimAndCall(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(400), Incidents: []time.Duration{60 * time.Second, 60*time.Second + 1, 5 * time.Minute, 30 * time.Minute}})
	for i, want := range []struct{ dead, calls, callsWith, waitWith int64 }{
		{0, 78_400, 11, 36_009},
		{1, 78_405, 11, 36_009},
		{96_000, 558_400, 13, 180_009},
		{696_000, 3_558_400, 18, 780_009},
	} {
		got := a.Incidents[i]
		if got.Without.DeadLettered != want.dead || got.Without.FailedCalls != want.calls {
			t.Errorf("%v without: %d dead, %d calls", got.Length, got.Without.DeadLettered, got.Without.FailedCalls)
		}
		if got.With.DeadLettered != 0 || got.With.FailedCalls != want.callsWith || got.With.PeakWaiting != want.waitWith {
			t.Errorf("%v with: %d dead, %d calls, %d wait", got.Length, got.With.DeadLettered, got.With.FailedCalls, got.With.PeakWaiting)
		}
	}
}

func TestSize_SaysWhichAlarmPagesFirst(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(400), Incidents: []time.Duration{5 * time.Minute}})
	ms := func(n float64) sizing.Span { return sizing.Span(n * float64(time.Millisecond)) }
	want := []sizing.Alarm{{Name: "retry_rate", After: ms(2997.5)}, {Name: "dlq_increase", After: ms(60747.5)}, {Name: "dlq_oldest_age", After: ms(3660000)}}
	if got := a.Incidents[0].Without.Alarms; !slices.Equal(got, want) {
		t.Errorf("without the breaker: %v", got)
	}
	want = []sizing.Alarm{{Name: "breaker_open", After: ms(22.5)}}
	if got := a.Incidents[0].With.Alarms; !slices.Equal(got, want) {
		t.Errorf("with the breaker: %v", got)
	}
	// An alarm that waits for dead letters is a minute late.
	a = size(t, sizing.Input{Rate: sizing.PerSecond(400), Incidents: []time.Duration{60 * time.Second}})
	for _, al := range a.Incidents[0].Without.Alarms {
		if al.Name == sizing.AlarmDepth {
			t.Error("the depth alarm rings although nothing was dead-lettered")
		}
	}
}

func TestSize_SeedsPolicyIsEnoughForTheSeedsStream(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(400), Transient: 10_000, Bad: 1000})
	if !a.Enough() || a.DepthAlarm != 300 {
		t.Errorf("levers %+v, depth alarm %d", a.Levers, a.DepthAlarm)
	}
	if a.Horizon != sizing.Span(60*time.Second) || !slices.Equal(a.Delays, []sizing.Span{4e9, 8e9, 16e9, 32e9}) {
		t.Errorf("horizon %v, delays %v", a.Horizon, a.Delays)
	}
	if a.Incidents[0].Receives != 9 || a.Incidents[1].Receives != 34 {
		t.Errorf("to outlast: %d and %d deliveries", a.Incidents[0].Receives, a.Incidents[1].Receives)
	}
}

func TestSize_EachLeverHasItsBound(t *testing.T) {
	t.Parallel()
	policy := func(f func(*claimdlq.Policy)) claimdlq.Policy {
		p := claimdlq.DefaultPolicy()
		f(&p)
		return p
	}
	for _, c := range []struct {
		name   string
		in     sizing.Input
		lever  string
		enough bool
		needed string
	}{
		{"one delivery fewer does not outlast a blip", sizing.Input{Policy: policy(func(p *claimdlq.Policy) { p.MaxReceive = 4 })}, "max_receive", false, "5"},
		{"half of all calls fail", sizing.Input{Transient: 500_000}, "max_receive", false, "26"},
		{"a shorter blip", sizing.Input{Blip: 4 * time.Second, Transient: 1000}, "max_receive", true, "3"},
		{"no back-off", sizing.Input{Policy: policy(func(p *claimdlq.Policy) { p.Base, p.Cap = 0, 0 })}, "max_receive", false, "none"},
		{"a cap longer than the blip", sizing.Input{Policy: policy(func(p *claimdlq.Policy) { p.Cap = 61 * time.Second })}, "backoff", false, "first wait >= 0 s, cap <= 60 s"},
		{"a first wait shorter than the call", sizing.Input{Latency: 4*time.Second + 1}, "backoff", false, "first wait >= 4 s, cap <= 60 s"},
		{"retention of twice the incident and the turnaround", sizing.Input{Policy: policy(func(p *claimdlq.Policy) { p.Retention = 9 * time.Hour })}, "retention", true, ">= 9 h"},
		{"a little less", sizing.Input{Policy: policy(func(p *claimdlq.Policy) { p.Retention = 9*time.Hour - 1 })}, "retention", false, ">= 9 h"},
		{"a depth alarm below noise", sizing.Input{Bad: 1000, DepthAlarm: 50}, "depth_alarm", false, "> 57 and <= 1,200/min"},
		{"a depth alarm at the systemic level", sizing.Input{Bad: 1000, DepthAlarm: 1200}, "depth_alarm", true, "> 57 and <= 1,200/min"},
		{"a depth alarm above it", sizing.Input{Bad: 1000, DepthAlarm: 1201}, "depth_alarm", false, "> 57 and <= 1,200/min"},
		{"noise that drowns it", sizing.Input{Bad: 200_000}, "depth_alarm", false, "> 5,223/min"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.in.Rate = sizing.PerSecond(400)
			l := lever(t, size(t, c.in), c.lever)
			if l.Enough != c.enough || l.Needed != c.needed || len(l.Arithmetic) == 0 {
				t.Errorf("%+v", l)
			}
		})
	}
}

func TestSize_DrainBeginsWithCanariesAndRampsUp(t *testing.T) {
	t.Parallel()
	in := sizing.Input{
		Rate: sizing.PerSecond(400), Quota: sizing.PerSecond(440), Latency: 100 * time.Millisecond, Canary: 10, RampFrom: sizing.PerSecond(10),
		RampStep: 30 * time.Second, Incidents: []time.Duration{5 * time.Minute},
	}
	d := size(t, in).Incidents[0].Drain
	if d.Spare != sizing.PerSecond(40) || d.Claims != 96_000 {
		t.Fatalf("%+v", d)
	}
	// 1 s of canaries; 300 in 30 s at 10/s; 600 in 30 s at 20/s; the other 95,090 at
	// 40/s, of which the last starts 95,089/40 s after the first; its answer.
	want := time.Second + 60*time.Second + 2377225*time.Millisecond + 100*time.Millisecond
	if time.Duration(d.Length) != want {
		t.Errorf("it takes %v, want %v", time.Duration(d.Length), want)
	}
	in.Quota = sizing.PerSecond(400)
	a := size(t, in)
	if d := a.Incidents[0].Drain; d.Length >= 0 || !d.Spare.IsZero() {
		t.Errorf("with nothing to spare: %+v", d)
	}
	if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "never drains") }) {
		t.Errorf("notes: %v", a.Notes)
	}
}

func TestSize_WorkersBoundTheDrain(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(400), Quota: sizing.PerSecond(1000), Workers: 64, Latency: 128 * time.Millisecond})
	if a.Capacity != sizing.PerSecond(500) {
		t.Errorf("64 workers at 128 ms: %v", a.Capacity)
	}
}

func TestSize_TooFewWorkersAreSimulated(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{
		Rate: sizing.PerSecond(50), Workers: 64, Latency: 100 * time.Millisecond, FailLatency: 5 * time.Second, Incidents: []time.Duration{5 * time.Minute},
	})
	l := a.Incidents[0].Without
	if l.By != sizing.BySimulation || l.FailedCalls > 64*60+64 || l.FailedCalls < 60*60 {
		t.Errorf("64 workers with calls of 5 s make at most 12.8 calls a second for 5 min: %+v", l)
	}
}

func TestSize_JitterIsSimulatedAndRepeats(t *testing.T) {
	t.Parallel()
	in := sizing.Input{Rate: sizing.PerSecond(40), Policy: claimdlq.DefaultPolicy(), Incidents: []time.Duration{60 * time.Second}}
	in.Policy.Jitter = true
	a, b := size(t, in).Incidents[0].Without, size(t, in).Incidents[0].Without
	if a.By != sizing.BySimulation || a.DeadLettered != b.DeadLettered || a.FailedCalls != b.FailedCalls {
		t.Errorf("%+v, then %+v", a, b)
	}
	if a.DeadLettered == 0 || a.DeadLettered > 40*60 {
		t.Errorf("full jitter halves the horizon, so some claims must die: %d did", a.DeadLettered)
	}
	in.Seed = 2
	if c := size(t, in).Incidents[0].Without; c.FailedCalls == a.FailedCalls {
		t.Error("another seed drew the same waits")
	}
}

func TestSize_WhatIsTooLongToSimulateIsABound(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	p.Jitter = true
	a := size(t, sizing.Input{Rate: sizing.PerSecond(1_000_000), Policy: p, Incidents: []time.Duration{24 * time.Hour}})
	if i := a.Incidents[0]; i.Without.By != sizing.ByBound || i.With.By != sizing.ByBound {
		t.Errorf("by %s and %s", i.Without.By, i.With.By)
	}
}

func TestSize_StorageIsItsArithmetic(t *testing.T) {
	t.Parallel()
	s := size(t, sizing.Input{Rate: sizing.PerSecond(400), Bad: 1000, Incidents: []time.Duration{30 * time.Minute}}).Storage
	if s.ClaimBytes != 1880 || s.Incident != 780_009*1880 || s.IncidentAudit != 3_558_400*3*250 || s.DayOfClaims != 34_560_000*1880 ||
		s.DayOfAudit != 34_560_000*5*250 || s.Keys != 13_824_000_000*40 || s.Quarantine != 483_840*1880 {
		t.Errorf("%+v", s)
	}
}

func TestSize_SaysEveryFaultOfTheInput(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	p.MaxReceive = 1001
	_, err := sizing.Size(sizing.Input{Rate: sizing.Rate{Claims: -1, Seconds: 1}, Incidents: []time.Duration{-1}, Policy: p, Bad: 2_000_000})
	if !errors.Is(err, claimdlq.Invalid) {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"rate", "incident", "max_receive", "share"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it does not name the %s: %v", want, err)
		}
	}
}

func TestAnswer_MarshalsTimesInMilliseconds(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(size(t, sizing.Input{Rate: sizing.PerSecond(400), Incidents: []time.Duration{5 * time.Minute}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"horizon_ms":60000`, `"after_ms":22.5`, `"first_dead_letter_ms":null`, `"length_ms":300000`, `"delays_ms":[4000,8000,16000,32000]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("there is no %s in %s", want, b)
		}
	}
}
