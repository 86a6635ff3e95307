package sizing

import (
	"strings"
	"time"

	"claimdlq/retry"
)

// Answer is what Size works out.
type Answer struct {
	Rate Rate `json:"rate"`
	// Delays are the waits of one budget, Horizon their sum: the longest outage that
	// every claim survives by retries alone.
	Delays  []Span  `json:"delays_ms"`
	Horizon Span    `json:"horizon_ms"`
	Levers  []Lever `json:"levers"`
	// DepthAlarm and RetryAlarm are the counts in a minute at which they ring.
	DepthAlarm int64      `json:"depth_alarm_per_minute"`
	RetryAlarm int64      `json:"retry_alarm_per_minute"`
	Incidents  []Incident `json:"incidents"`
	// Capacity is what the other side and the workers can take.
	Capacity Rate    `json:"capacity"`
	Storage  Storage `json:"storage"`
	// Survives says in one sentence what the policy survives.
	Survives string `json:"survives"`
	// Notes are assumptions and warnings.
	Notes []string `json:"notes"`

	in Input
}

// Size works out the answer for the input, whose defaults it fills in. Errors have
// code Invalid.
func Size(in Input) (Answer, error) {
	in = in.WithDefaults()
	if err := in.Validate(); err != nil {
		return Answer{}, err
	}
	a := Answer{Rate: in.Rate, Horizon: Span(retry.Horizon(in.Policy)), RetryAlarm: in.RetryAlarm, Delays: []Span{}, Notes: []string{}}
	for n := uint32(1); n < in.Policy.MaxReceive; n++ {
		a.Delays = append(a.Delays, Span(in.Policy.Backoff(n)))
	}
	budget, _ := in.budget()
	depth, alarm := in.depth()
	in.DepthAlarm, a.DepthAlarm = alarm, alarm
	a.Levers = []Lever{budget, in.backoff(), in.retention(), depth}
	for _, length := range in.Incidents {
		i := Incident{Length: Span(length), Without: in.without(length), With: in.with(length)}
		in.rings(&i.Without)
		in.rings(&i.With)
		i.Receives, _ = retry.Receives(in.Policy, length)
		i.Drain = in.drain(i.Without.DeadLettered)
		a.Incidents = append(a.Incidents, i)
	}
	capacity, known := in.capacity()
	a.Capacity = capacity
	a.Storage = in.storage(a.Incidents)
	a.Survives = survives(a)
	a.notes(&in, known)
	a.in = in
	return a, nil
}

// Input returns the input with every default filled in, and the depth alarm in use.
func (a *Answer) Input() Input { return a.in }

// Enough reports whether every lever does what is needed.
func (a *Answer) Enough() bool {
	for _, l := range a.Levers {
		if !l.Enough {
			return false
		}
	}
	return true
}

// survives says what a policy survives: a 60 s outage; a 5 min outage at 400/s
// dead-letters 96,000 claims with 558,400 failed calls, none with the breaker.
func survives(a Answer) string {
	out := []string{a.Horizon.String() + " outage"}
	for _, i := range a.Incidents {
		if i.Without.DeadLettered == 0 {
			continue
		}
		with := "none"
		if n := i.With.DeadLettered; n > 0 {
			with = Short(n)
		}
		out = append(out, "a "+i.Length.String()+" outage at "+a.Rate.String()+" dead-letters "+Short(i.Without.DeadLettered)+" claims with "+
			Short(i.Without.FailedCalls)+" failed calls, "+with+" with the breaker")
	}
	return strings.Join(out, "; ")
}

func (a *Answer) notes(in *Input, known bool) {
	add := func(s string) { a.Notes = append(a.Notes, s) }
	if !known {
		add("no quota and no workers were given: capacity is taken as twice the rate")
	}
	if a.Capacity.minus(in.Rate).IsZero() {
		add("the capacity of " + a.Capacity.String() + " leaves nothing beside the stream: a backlog never drains")
	}
	if n := mulDiv(in.Rate.before(in.Latency), 1, 1, false); in.Workers > 0 && n > in.Workers {
		add(Count(n) + " workers are needed at any time (rate x latency); there are " + Count(in.Workers))
	}
	if in.Policy.Jitter {
		add("with jitter the figures of incidents come from the simulation, one draw of many")
	}
	if in.Breaker.SlowAfter > 0 && in.Latency > in.Breaker.SlowAfter {
		add("a call takes " + Span(in.Latency).String() + ", and the breaker takes more than " + Span(in.Breaker.SlowAfter).String() + " for a failure: it opens on a normal day")
	}
	for _, i := range a.Incidents {
		if i.Without.By == ByBound || i.With.By == ByBound {
			add("the " + i.Length.String() + " incident is too long to simulate: its figures are bounds")
		}
		if i.With.LateBy > i.Length && i.Length > Span(time.Minute) {
			add("after the " + i.Length.String() + " incident the breaker stays open for up to " + i.With.LateBy.String() + ": a lower max_open finds out sooner")
		}
	}
}
