package sizing_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/retry"
	"claimdlq/sizing"
)

// verified fails the test where the simulation disagrees; it returns how many
// figures agreed.
func verified(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, in sizing.Input,
) int {
	t.Helper()
	a, err := sizing.Size(in)
	if err != nil {
		t.Fatal(err)
	}
	v, err := sizing.Verify(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Checks {
		if !c.Equal {
			t.Fatalf("%v incident, %s: calculated %s, simulated %s, for %+v", c.Incident, c.What, c.Calculated, c.Simulated, a.Input())
		}
	}
	return len(v.Checks)
}

func TestVerify_TheSimulationAgreesOverAGrid(t *testing.T) {
	t.Parallel()
	checks, least := 0, 4500
	rates := []sizing.Rate{{Claims: 1, Seconds: 60}, {Claims: 1, Seconds: 1}, {Claims: 7, Seconds: 3}, {Claims: 120, Seconds: 1}}
	if testing.Short() { // under the race detector
		rates, least = rates[:3], 3000
	}
	for _, rate := range rates {
		for _, receives := range []uint32{1, 2, 5, 9} {
			for _, latency := range []time.Duration{0, 150 * time.Millisecond} {
				for _, timeout := range []time.Duration{0, 5 * time.Second} {
					p := claimdlq.DefaultPolicy()
					p.MaxReceive = receives
					checks += verified(t, sizing.Input{
						Rate: rate, Policy: p, Latency: latency, FailLatency: timeout,
						Incidents: []time.Duration{time.Millisecond, 4 * time.Second, 30 * time.Second, 60 * time.Second, 61 * time.Second, 5 * time.Minute},
					})
				}
			}
		}
	}
	if checks < least {
		t.Errorf("only %d figures were compared", checks)
	}
}

func TestVerify_AnAlarmAfterMoreThanAMillionCallsIsFoundByHalving(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes millions of calls")
	}
	in := sizing.Input{Rate: sizing.PerSecond(200_000), Incidents: []time.Duration{5 * time.Second}, RetryAlarm: 1_100_000, Quota: sizing.PerSecond(400_000)}
	verified(t, in)
	alarms := size(t, in).Incidents[0].Without.Alarms
	// Five seconds at 200,000/s, and from 4 s on twice as many: 1.1 M after 4.75 s.
	if len(alarms) != 1 || alarms[0].Name != sizing.AlarmRetries || alarms[0].After.String() != "4.75 s" {
		t.Errorf("%v", alarms)
	}
}

func TestVerify_ABudgetOfOneDiesWithTheBreakerToo(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	p.MaxReceive = 1
	in := sizing.Input{Rate: sizing.PerSecond(400), Policy: p, DepthAlarm: 10, Incidents: []time.Duration{5 * time.Minute}}
	verified(t, in)
	if l := size(t, in).Incidents[0].With; l.DeadLettered != 13 || l.FirstDead != 0 || len(l.Alarms) != 3 {
		t.Errorf("%+v", l)
	}
}

func TestVerify_SaysWhatItSkips(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	p.Jitter = true
	for want, in := range map[string]sizing.Input{
		"5 min incident, with breaker: the simulation's own figures": {Rate: sizing.PerSecond(1), Policy: p, Incidents: []time.Duration{5 * time.Minute}},
		"24 h incident, drain: too long to simulate":                 {Rate: sizing.PerSecond(1000), Incidents: []time.Duration{24 * time.Hour}},
	} {
		v, err := sizing.Verify(size(t, in))
		if err != nil || !v.OK() || !slices.Contains(v.Skipped, want) {
			t.Errorf("%v, %v: no %q", v.Skipped, err, want)
		}
	}
}

func TestVerify_FindsAWrongFigure(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(10), Incidents: []time.Duration{5 * time.Minute}})
	a.Incidents[0].Without.DeadLettered++
	if v, err := sizing.Verify(a); err != nil || v.OK() {
		t.Errorf("one dead letter too many was not found: %v", err)
	}
}

// TestVerify_WhatCaughtUpBeforeTheNextCallCaughtUpThen: calls are rare beside the
// back-off, and the first that ends after the incident began long after it.
func TestVerify_WhatCaughtUpBeforeTheNextCallCaughtUpThen(t *testing.T) {
	t.Parallel()
	verified(t, sizing.Input{
		Rate: sizing.PerSecond(318), Policy: claimdlq.Policy{MaxReceive: 3, Base: 1, Cap: 1},
		Breaker:     retry.Options{Consecutive: 1, Window: 1, FailurePercent: 1},
		FailLatency: 130170, Incidents: []time.Duration{17197821587},
		Quota: sizing.PerSecond(501), Canary: 15, RampFrom: sizing.PerSecond(92), RampStep: time.Second + 1435,
	})
}

func TestVerify_TheSimulationAgreesOnAnyInput(t *testing.T) {
	t.Parallel()
	fastest := int64(500)
	if testing.Short() {
		fastest = 20
	}
	rapid.Check(t, func(rt *rapid.T) {
		span := func(name string, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(rt, name))
		}
		verified(rt, sizing.Input{
			Rate: sizing.Rate{Claims: rapid.Int64Range(1, fastest).Draw(rt, "claims"), Seconds: rapid.Int64Range(1, 50).Draw(rt, "seconds")},
			Policy: claimdlq.Policy{
				MaxReceive: rapid.Uint32Range(1, 12).Draw(rt, "receives"),
				Base:       1 + span("base", 10*time.Second), Cap: 1 + span("cap", 90*time.Second),
			},
			Breaker: retry.Options{
				Consecutive: rapid.IntRange(1, 30).Draw(rt, "consecutive"), Window: rapid.IntRange(1, 200).Draw(rt, "window"),
				FailurePercent: rapid.IntRange(1, 100).Draw(rt, "percent"), Open: span("open", time.Minute), MaxOpen: span("max open", 5*time.Minute),
			},
			Latency: span("latency", 2*time.Second), FailLatency: span("fail latency", 20*time.Second),
			Incidents: []time.Duration{1 + span("incident", 8*time.Minute)},
			Quota:     sizing.PerSecond(rapid.Int64Range(500, 2000).Draw(rt, "quota")),
			Canary:    rapid.Int64Range(1, 20).Draw(rt, "canary"),
			RampFrom:  sizing.PerSecond(rapid.Int64Range(1, 100).Draw(rt, "ramp")),
			RampStep:  time.Second + span("step", 30*time.Second),
		})
	})
}
