package sizing

import "time"

// Timeline is an incident as it goes, without and with the breaker.
type Timeline struct {
	Length        time.Duration
	End           time.Duration
	Without, With Outcome
}

// samples is about how many samples a Timeline has.
const samples = 400

// Timeline simulates the answer's incident i, from its beginning until what waits
// behind the breaker has drained, and samples it. With the breaker, calls are paced
// to the capacity. The error has code Invalid: it takes too long to simulate.
func (a *Answer) Timeline(i int) (Timeline, error) {
	in, inc := a.in, a.Incidents[i]
	length := time.Duration(inc.Length)
	end := length + max(time.Duration(inc.Without.LateBy), time.Duration(inc.With.LateBy))
	if spare := a.Capacity.minus(in.Rate); !spare.IsZero() {
		end += spare.at(inc.With.PeakWaiting)
	}
	end += max((end-length)/5, length/10)
	t := Timeline{Length: length, End: end}
	if sum(in.Rate.before(end), inc.Without.FailedCalls) > maxSimulated {
		return t, invalid("simulate the timeline", "the incident is too long or the stream too fast: plot a shorter one")
	}
	s := in.scenario(length, nil)
	s.For, s.SampleEvery = end, max(end/samples, 1)
	var err error
	if t.Without, err = Simulate(s); err != nil {
		return t, err
	}
	s.Breaker, s.Quota = &in.Breaker, a.Capacity
	t.With, err = Simulate(s)
	return t, err
}
