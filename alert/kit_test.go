package alert_test

import (
	"slices"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/retry"
)

var noon = time.Date(2026, 7, 16, 12, 0, 0, 0, time.UTC)

// watch is an evaluator with a clock that the test turns.
type watch struct {
	t   *testing.T
	e   *alert.Evaluator
	now time.Time
}

func newWatch(t *testing.T, o alert.Options) *watch {
	t.Helper()
	rules, err := alert.Rules(o)
	if err != nil {
		t.Fatal(err)
	}
	e, err := alert.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return &watch{t, e, noon}
}

// see turns the clock by d and shows the streams.
func (w *watch) see(d time.Duration, ss ...alert.Stream) []alert.Event {
	w.now = w.now.Add(d)
	return w.e.Observe(alert.Sample{At: w.now, Streams: ss})
}

// partners turns the clock by d and shows a quiet stream and the partners.
func (w *watch) partners(d time.Duration, ps ...alert.Partner) []alert.Event {
	w.now = w.now.Add(d)
	return w.e.Observe(alert.Sample{At: w.now, Streams: []alert.Stream{{Name: "rx"}}, Partners: ps})
}

// intake turns the clock by d and shows a quiet stream and what is taken in.
func (w *watch) intake(d time.Duration, in alert.Intake) []alert.Event {
	w.now = w.now.Add(d)
	return w.e.Observe(alert.Sample{At: w.now, Streams: []alert.Stream{{Name: "rx"}}, Intake: &in})
}

// active checks what rings, as name or name:reason, in the order of the rules.
func (w *watch) active(want ...string) {
	w.t.Helper()
	if got := names(w.e.Active()); !slices.Equal(got, want) {
		w.t.Fatalf("%s: %v ring, want %v", w.now.Sub(noon), got, want)
	}
}

func names(es []alert.Event) []string {
	var out []string
	for _, e := range es {
		n := e.Alarm
		if e.Labels.Reason != "" {
			n += ":" + e.Labels.Reason
		}
		out = append(out, n)
	}
	return out
}

// begin returns the names of those events that begin to ring.
func begin(es []alert.Event) []string {
	return names(slices.DeleteFunc(slices.Clone(es), func(e alert.Event) bool { return e.Status != alert.Firing }))
}

// dead is a stream with n records of one reason in quarantine.
func dead(n int64, r claimdlq.Reason) alert.Stream {
	return alert.Stream{Name: "rx", Depth: n, ByReason: map[claimdlq.Reason]int64{r: n}}
}

func open(name string) alert.Partner {
	return alert.Partner{Stream: "rx", Name: name, Breaker: retry.Open}
}
