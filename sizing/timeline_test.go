package sizing_test

import (
	"errors"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/sizing"
)

func TestTimeline_ShowsTheIncidentAndItsEnd(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(20), Quota: sizing.PerSecond(30), Incidents: []time.Duration{time.Minute, 5 * time.Minute}})
	tl, err := a.Timeline(1)
	if err != nil {
		t.Fatal(err)
	}
	last := func(o sizing.Outcome) (at sizing.Sample) {
		for _, s := range o.Series {
			if time.Duration(s.At) <= tl.End {
				at = s
			}
		}
		return at
	}
	without, with := last(tl.Without), last(tl.With)
	if without.Dead != a.Incidents[1].Without.DeadLettered || without.FailedCalls != a.Incidents[1].Without.FailedCalls {
		t.Errorf("without the breaker it ends with %+v", without)
	}
	if with.Dead != 0 || with.Waiting > 30 || with.Open {
		t.Errorf("with the breaker it ends with %+v", with)
	}
	if n := len(tl.With.Series); n < 400 || n > 500 || tl.Length != 5*time.Minute {
		t.Errorf("%d samples of %v", n, tl.Length)
	}
}

func TestTimeline_RefusesWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	a := size(t, sizing.Input{Rate: sizing.PerSecond(100_000), Incidents: []time.Duration{time.Hour}})
	if _, err := a.Timeline(0); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("%v", err)
	}
}
