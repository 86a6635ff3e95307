package alert_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
)

// restart is another evaluator that goes on where w was, so much later.
func (w *watch) restart(d time.Duration) *watch {
	w.t.Helper()
	b, err := json.Marshal(w.e.Keep())
	if err != nil {
		w.t.Fatal(err)
	}
	var kept []alert.Kept
	if err := json.Unmarshal(b, &kept); err != nil {
		w.t.Fatal(err)
	}
	next := newWatch(w.t, alert.Options{})
	next.now = w.now.Add(d)
	next.e.Restore(kept, next.now)
	return next
}

func TestRestore_WhatRangRingsOnAndIsNotToldAgain(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	old := alert.Stream{Name: "rx", OldestAge: 2 * time.Hour}
	w.see(0, old)
	w.active(alert.AlarmAge)
	began := w.e.Active()[0].StartsAt
	w = w.restart(time.Hour)
	w.active(alert.AlarmAge)
	if got := w.see(15*time.Second, old); len(got) != 0 || !w.e.Active()[0].StartsAt.Equal(began) {
		t.Errorf("told anew: %v", got)
	}
	w.see(15*time.Second, alert.Stream{Name: "rx"}) // quiet: five minutes from now
	w = w.restart(time.Minute)
	w.see(2*time.Minute, alert.Stream{Name: "rx"})
	w.active(alert.AlarmAge)
	if got := w.see(2*time.Minute, alert.Stream{Name: "rx"}); !slices.Equal(names(got), []string{alert.AlarmAge}) || got[0].Status != alert.Resolved {
		t.Errorf("it does not end: %v", got)
	}
}

// The boundary: conservation has to hold for a minute.
func TestRestore_HowLongATestHoldsGoesOn(t *testing.T) {
	t.Parallel()
	lost := alert.Stream{Name: "rx", Difference: 1}
	for down, rings := range map[time.Duration]bool{29 * time.Second: false, 30 * time.Second: true} {
		w := newWatch(t, alert.Options{})
		w.see(0, lost)
		w.see(15*time.Second, lost)
		w = w.restart(down)
		if got := begin(w.see(15*time.Second, lost)); (len(got) == 1) != rings {
			t.Errorf("down for %s: %v", down, got)
		}
	}
}

func TestRestore_WhatNoRuleIsForIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.e.Restore([]alert.Kept{
		{Alarm: "of_yesterday", Firing: true, StartsAt: noon, Since: noon},
		{Alarm: alert.AlarmSpike, Labels: alert.Labels{Stream: "rx", Reason: "NOTHING"}, Firing: true, StartsAt: noon, Since: noon},
		{Alarm: alert.AlarmParked, Labels: alert.Labels{Stream: "rx"}, Since: noon},
	}, noon)
	w.active()
}

func TestRestore_AnAlarmAboutWhatIsGoneEnds(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	w.partners(0, open("999999:TESTPCN"))
	w = w.restart(time.Second)
	w.active(alert.AlarmBreaker)
	for range 25 {
		w.partners(15 * time.Second)
	}
	w.active()
}

func TestKeep_IsTheSameUntilSomethingBeginsOrEnds(t *testing.T) {
	t.Parallel()
	w := newWatch(t, alert.Options{})
	keep := func(n int64) string {
		s := dead(n, claimdlq.FatalSyntax)
		s.Parked, s.Failures, s.Deliveries = 3, 500*n, 1000*n
		w.see(15*time.Second, s)
		b, err := json.Marshal(w.e.Keep())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	keep(1)
	first := keep(2)
	if again := keep(3); again != first {
		t.Errorf("%s\n%s", first, again)
	}
	if next := keep(2000); next == first {
		t.Error("an alarm more, and the same is kept")
	}
}
