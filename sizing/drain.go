package sizing

import "time"

// Drain is how the dead letters of an incident are replayed beside the stream.
type Drain struct {
	Claims int64 `json:"claims"`
	Canary int64 `json:"canary"`
	// Spare is what the other side and the workers can take beside the stream; the
	// zero Rate where there is nothing.
	Spare Rate `json:"spare"`
	// Length is from the first canary to the last claim; never where nothing is spare.
	Length Span `json:"length_ms"`
}

// capacity returns how many calls may be made: the quota, or what the workers can
// do where that is less. It is twice the rate where neither is known: known says so.
func (in *Input) capacity() (c Rate, known bool) {
	c = in.Quota
	if in.Workers > 0 && in.Latency > 0 {
		if w := in.workers(); c.IsZero() || w.less(c) {
			c = w
		}
	}
	if c.IsZero() {
		return in.Rate.times(2), false
	}
	return c, true
}

// workers returns how many calls the workers can make: one each per Latency. It is
// kept to the microsecond, rounded down.
func (in *Input) workers() Rate {
	us := int64((in.Latency + time.Microsecond - 1) / time.Microsecond)
	return coarse(Rate{in.Workers * 1_000_000, us})
}

// drain returns how n claims are replayed.
func (in *Input) drain(n int64) Drain {
	c, _ := in.capacity()
	d := Drain{Claims: n, Canary: min(in.Canary, n), Spare: c.minus(in.Rate)}
	if d.Spare.IsZero() {
		d.Length = Span(never)
		if n == 0 {
			d.Length = 0
		}
		return d
	}
	// The canaries go one by one, each when the one before has succeeded.
	t := time.Duration(mulDiv(d.Canary, int64(in.Latency), 1, false))
	left := n - d.Canary
	for r := slower(in.RampFrom, d.Spare); left > 0; r = slower(r.times(2), d.Spare) {
		m := r.before(in.RampStep)
		if left <= m || !r.less(d.Spare) { // the last speed
			t += r.at(left-1) + in.Latency
			break
		}
		t, left = t+in.RampStep, left-m
	}
	d.Length = Span(t)
	return d
}

// drainScenario returns the drain of an incident as a simulation: canaries go out
// once every claim of the incident is dead or settled.
func (in *Input) drainScenario(length time.Duration, d Drain) Scenario {
	s := in.scenario(length, nil)
	s.For += time.Duration(d.Length) + time.Minute
	s.Replay = &Replay{
		At: length + in.offsets()[in.Policy.MaxReceive-1] + in.FailLatency, Canary: in.Canary, From: in.RampFrom, Limit: d.Spare, Step: in.RampStep,
	}
	s.Workers = 0 // Limit has them
	return s
}
