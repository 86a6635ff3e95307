package alert_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"claimdlq/alert"
)

// told is a receiver, and what people have silenced.
type told struct {
	t        *testing.T
	teller   alert.Teller
	now      time.Time
	silenced map[string]bool
}

func newTold(t *testing.T) *told {
	t.Helper()
	return &told{t: t, now: noon, silenced: map[string]bool{}}
}

func ringing(name string, severity alert.Severity) alert.Event {
	return alert.Event{Status: alert.Firing, Alarm: name, Severity: severity, StartsAt: noon}
}

// want is what is told of what rings, as name or -name for what is over.
func (x *told) want(active []alert.Event, want ...string) {
	x.t.Helper()
	x.now = x.now.Add(15 * time.Second)
	mine := func(e alert.Event) bool { return e.Severity == alert.Page }
	var got []string
	for _, e := range x.teller.Tell(x.now, active, mine, func(e alert.Event) bool { return x.silenced[e.Alarm] }) {
		name := e.Alarm
		if e.Status == alert.Resolved {
			name = "-" + name
			if !e.EndsAt.Equal(x.now) {
				x.t.Errorf("%s ended at %s", name, e.EndsAt)
			}
		}
		got = append(got, name)
	}
	if !slices.Equal(got, want) {
		x.t.Fatalf("told %v, want %v", got, want)
	}
}

// restart is another receiver that knows what this one knew.
func (x *told) restart() {
	x.t.Helper()
	b, err := json.Marshal(x.teller.Keep())
	if err != nil {
		x.t.Fatal(err)
	}
	var kept []alert.Told
	if err := json.Unmarshal(b, &kept); err != nil {
		x.t.Fatal(err)
	}
	x.teller = alert.Teller{}
	x.teller.Restore(kept)
}

func TestTell_EachAlarmOnceAndItsEnd(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	a, b := ringing("a", alert.Page), ringing("b", alert.Page)
	x.want([]alert.Event{a}, "a")
	x.want([]alert.Event{a, b}, "b")
	x.want([]alert.Event{a, b})
	x.want([]alert.Event{b}, "-a")
	x.want([]alert.Event{b})
	b.StartsAt = b.StartsAt.Add(time.Second) // it ended and began between two looks
	x.want([]alert.Event{b}, "b")
	x.want(nil, "-b")
	x.want(nil)
}

func TestTell_OnlyWhatIsTheReceivers(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	a := ringing("a", alert.Page)
	x.want([]alert.Event{a, ringing("b", alert.Ticket)}, "a")
	a.Severity = alert.Ticket // the configuration has changed
	x.want([]alert.Event{a}, "-a")
}

func TestTell_ASilenceIsKeptAndEnds(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	a, b, c := ringing("a", alert.Page), ringing("b", alert.Page), ringing("c", alert.Page)
	x.want([]alert.Event{a, c}, "a", "c")
	x.silenced["a"], x.silenced["b"], x.silenced["c"] = true, true, true
	x.want([]alert.Event{a, b, c})
	x.want([]alert.Event{a, b}, "-c") // who was told that it rings is told that it is over
	x.restart()
	x.want([]alert.Event{a, b})
	x.silenced = map[string]bool{}
	x.want([]alert.Event{a, b}, "a", "b")
	x.want([]alert.Event{a, b})
}

func TestTell_ARestartTellsNothingTwice(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	a, b := ringing("a", alert.Page), ringing("b", alert.Page)
	x.want([]alert.Event{a, b}, "a", "b")
	x.restart()
	x.want([]alert.Event{a, b})
	x.want([]alert.Event{b}, "-a")
	x.teller.Remind()
	x.want([]alert.Event{b}, "b")
}
