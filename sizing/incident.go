package sizing

import (
	"math"
	"time"

	"claimdlq/retry"
)

// By says where a figure comes from.
type By string

// The ways to a figure.
const (
	// ByArithmetic is exact.
	ByArithmetic By = "arithmetic"
	// BySimulation is what the simulation came to.
	BySimulation By = "simulation"
	// ByBound is never exceeded: the exact figure takes too long to simulate.
	ByBound By = "bound"
)

// Loss is what an incident costs.
type Loss struct {
	DeadLettered int64 `json:"dead_lettered"`
	FailedCalls  int64 `json:"failed_calls"`
	// PeakWaiting is the largest number of claims that are neither settled nor
	// dead-lettered, but for those whose call is under way.
	PeakWaiting int64 `json:"peak_waiting"`
	// FirstDead is when the first claim is dead-lettered.
	FirstDead Span `json:"first_dead_letter_ms"`
	// LateBy is how long after the end of the incident calls go out freely again: a
	// waiting claim's back-off, or the breaker's next probe.
	LateBy Span    `json:"recovered_after_ms"`
	Alarms []Alarm `json:"alarms"`
	By     By      `json:"by"`

	failures failures
}

// Incident is what one incident does to the stream.
type Incident struct {
	Length Span `json:"length_ms"`
	// Without and With say what it costs without and with the breaker.
	Without Loss `json:"without_breaker"`
	With    Loss `json:"with_breaker"`
	// Receives is the smallest budget that outlasts it without a breaker; 0 where
	// none does.
	Receives uint32 `json:"max_receive_to_outlast"`
	// Drain is how the dead letters of Without are replayed.
	Drain Drain `json:"drain"`
}

// offsets returns when the deliveries of a claim start, from its arrival on.
func (in *Input) offsets() []time.Duration {
	out := make([]time.Duration, in.Policy.MaxReceive)
	for i := 1; i < len(out); i++ {
		out[i] = out[i-1] + in.FailLatency + in.Policy.Backoff(uint32(i))
	}
	return out
}

// without returns what an incident of the given length costs without a breaker.
func (in *Input) without(length time.Duration) Loss {
	o := in.offsets()
	last := o[len(o)-1]
	l := Loss{DeadLettered: in.Rate.before(length - last), FirstDead: Span(never), By: ByArithmetic, LateBy: Span(in.lateBy(o, length))}
	for _, off := range o {
		l.FailedCalls = sum(l.FailedCalls, in.Rate.before(length-off))
	}
	if l.DeadLettered > 0 {
		l.FirstDead = Span(last + in.FailLatency)
	}
	l.PeakWaiting = in.Rate.before(min(length, last+in.FailLatency))
	l.failures = &spread{in: in, offsets: o, length: length}
	if in.Policy.Jitter || in.short(int64(len(o))) {
		in.simulated(&l, length, nil)
	}
	return l
}

// lateBy returns how long after the end of an incident the last claim that failed
// is tried again, at most: the longest back-off that was begun, after a call that
// began just before the end.
func (in *Input) lateBy(offsets []time.Duration, length time.Duration) time.Duration {
	late := in.FailLatency
	for i, off := range offsets[:len(offsets)-1] {
		if off < length {
			late = offsets[i+1] - off
		}
	}
	return late
}

// short reports whether an outage needs more workers than there are, where every
// claim calls n times. Then calls queue, and there is no closed form.
func (in *Input) short(n int64) bool {
	return in.Workers > 0 && in.busy(n) > in.Workers
}

// busy returns how many workers n failing calls for each claim keep busy: as many
// as claims arrive while one call takes (Little's law), n times.
func (in *Input) busy(n int64) int64 {
	return mulDiv(in.Rate.before(in.FailLatency), n, 1, false)
}

// with returns what an incident of the given length costs with the breaker.
func (in *Input) with(length time.Duration) Loss {
	b := in.Breaker
	k := in.trips()
	opened := in.Rate.at(k-1) + in.FailLatency
	first := max(k, in.Rate.before(opened)) // calls that start before it opens
	exact := !in.Policy.Jitter &&
		in.Rate.at(k-1) < in.Policy.Backoff(1) && // arrivals trip it, not retries
		opened < length && // before calls succeed again
		in.Rate.at(1) <= b.Open && // somebody waits when it is time for a probe
		!in.short(1) &&
		(b.SlowAfter == 0 || in.Latency <= b.SlowAfter)
	if !exact {
		l := Loss{FirstDead: Span(never)}
		in.simulated(&l, length, &b)
		return l
	}
	l := Loss{FailedCalls: first, FirstDead: Span(never), By: ByArithmetic}
	failed := &few{in: in, first: first}
	probe, wait := opened+b.Open, b.Open
	for ; probe < length; probe += wait {
		l.FailedCalls++
		failed.probes = append(failed.probes, probe+in.FailLatency)
		wait = min(2*wait, b.MaxOpen)
		probe += in.FailLatency
	}
	closed := probe + in.Latency
	if in.Policy.MaxReceive == 1 { // what fails is dead
		l.DeadLettered, l.FirstDead = l.FailedCalls, Span(in.FailLatency)
	}
	l.PeakWaiting = in.Rate.before(closed) - l.DeadLettered
	l.LateBy = Span(closed - length)
	l.failures = failed
	l.Alarms = append(l.Alarms, Alarm{Name: AlarmBreaker, After: Span(opened)})
	return l
}

// trips returns how many failures in a row open the breaker after a quiet day.
func (in *Input) trips() int64 {
	b := in.Breaker
	return min(int64(b.Consecutive), mulDiv(int64(b.Window), int64(b.FailurePercent), 100, true))
}

// simulated fills in the simulation's figures.
func (in *Input) simulated(l *Loss, length time.Duration, b *retry.Options) {
	out, err := Simulate(in.scenario(length, b))
	if err != nil {
		l.By = ByBound
		if b != nil { // the breaker never adds to what is lost without it
			w := *in
			w.Policy.Jitter, w.Workers = false, 0
			*l = w.without(length)
			l.By = ByBound
		}
		return
	}
	*l = Loss{
		DeadLettered: out.DeadLettered, FailedCalls: out.FailedCalls, PeakWaiting: out.PeakWaiting, FirstDead: Span(out.FirstDead),
		LateBy: Span(max(out.CaughtUp-length, 0)), By: BySimulation,
	}
	if b != nil {
		l.LateBy = Span(max(out.Closed-length, 0))
		l.ring(AlarmBreaker, out.Opened)
	}
	l.ring(AlarmRetries, out.RetryRang)
	l.ring(AlarmDepth, out.DepthRang)
	l.ring(AlarmAge, out.AgeRang)
}

// maxSimulated is how many calls are simulated for one figure: a second or two.
const maxSimulated = 10_000_000

// scenario returns the incident as a simulation, until everything has caught up.
func (in *Input) scenario(length time.Duration, b *retry.Options) Scenario {
	rest := in.offsets()[in.Policy.MaxReceive-1] + in.FailLatency
	if b != nil {
		rest += b.MaxOpen
	}
	return Scenario{
		Rate: in.Rate, For: length + rest, Policy: in.Policy, Breaker: b, Latency: in.Latency, Workers: in.Workers,
		Outages:    []Outage{{To: length, Latency: in.FailLatency}},
		DepthAlarm: in.DepthAlarm, RetryAlarm: in.RetryAlarm, AgeAlarm: in.AgeAlarm,
		Seed: in.Seed, MaxCalls: maxSimulated,
	}
}

func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
