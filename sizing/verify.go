package sizing

import (
	"time"

	"claimdlq/retry"
)

// Check is a figure of Size beside the simulation's.
type Check struct {
	Incident   Span   `json:"incident_ms"`
	What       string `json:"what"`
	Calculated string `json:"calculated"`
	Simulated  string `json:"simulated"`
	Equal      bool   `json:"equal"`
}

// Verification is what Verify found.
type Verification struct {
	Checks []Check `json:"checks"`
	// Calls is how many deliveries were simulated.
	Calls int64 `json:"simulated_calls"`
	// Skipped are figures that were not checked: too long to simulate, or the
	// simulation's own.
	Skipped []string `json:"skipped"`
}

// OK reports whether every figure that was checked is equal.
func (v *Verification) OK() bool {
	for _, c := range v.Checks {
		if !c.Equal {
			return false
		}
	}
	return true
}

// Verify simulates every incident of the answer, without and with the breaker, and
// its drain, and compares. Counts and times must be equal; of what waits, calls
// under way count on one side only; recovery is the longest a claim may wait, so
// none may wait longer.
func Verify(a Answer) (Verification, error) {
	v := Verification{Checks: []Check{}, Skipped: []string{}}
	in := a.Input()
	for _, i := range a.Incidents {
		length := time.Duration(i.Length)
		if err := v.loss(&in, length, "without breaker", i.Without, nil); err != nil {
			return v, err
		}
		if err := v.loss(&in, length, "with breaker", i.With, &in.Breaker); err != nil {
			return v, err
		}
		if err := v.drain(&in, length, i); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (v *Verification) skip(length time.Duration, what string, by By) {
	why := "too long to simulate"
	if by == BySimulation {
		why = "the simulation's own figures"
	}
	v.Skipped = append(v.Skipped, Span(length).String()+" incident, "+what+": "+why)
}

func (v *Verification) loss(in *Input, length time.Duration, what string, l Loss, b *retry.Options) error {
	s := in.scenario(length, b)
	if l.By != ByArithmetic || sum(l.FailedCalls, in.Rate.before(s.For)) > maxSimulated {
		v.skip(length, what, l.By)
		return nil
	}
	out, err := Simulate(s)
	if err != nil {
		return err
	}
	v.Calls += out.Calls
	count := func(name string, calculated, simulated, apart int64) {
		v.Checks = append(v.Checks, Check{
			Span(length), what + ": " + name, Count(calculated), Count(simulated), max(calculated-simulated, simulated-calculated) <= apart,
		})
	}
	when := func(name string, calculated Span, simulated time.Duration) {
		v.Checks = append(v.Checks, Check{
			Span(length), what + ": " + name, calculated.String(), Span(simulated).String(), calculated == Span(simulated),
		})
	}
	count("dead letters", l.DeadLettered, out.DeadLettered, 0)
	count("failed calls", l.FailedCalls, out.FailedCalls, 0)
	count("peak waiting", l.PeakWaiting, out.PeakWaiting, in.Rate.before(max(in.Latency, in.FailLatency))+1)
	when("first dead letter", l.FirstDead, out.FirstDead)
	when(AlarmRetries, l.rung(AlarmRetries), out.RetryRang)
	when(AlarmDepth, l.rung(AlarmDepth), out.DepthRang)
	when(AlarmAge, l.rung(AlarmAge), out.AgeRang)
	recovered := out.CaughtUp
	if b != nil {
		when(AlarmBreaker, l.rung(AlarmBreaker), out.Opened)
		recovered = out.Closed
	}
	late := Span(max(recovered-length-in.Latency, 0))
	v.Checks = append(v.Checks, Check{Span(length), what + ": recovered after", l.LateBy.String(), late.String(), late <= l.LateBy})
	return nil
}

func (l *Loss) rung(name string) Span {
	for _, a := range l.Alarms {
		if a.Name == name {
			return a.After
		}
	}
	return Span(never)
}

func (v *Verification) drain(in *Input, length time.Duration, i Incident) error {
	d := i.Drain
	if d.Claims == 0 || d.Length < 0 || i.Without.By != ByArithmetic {
		return nil
	}
	s := in.drainScenario(length, d)
	if sum(sum(i.Without.FailedCalls, d.Claims), in.Rate.before(s.For)) > maxSimulated {
		v.skip(length, "drain", ByArithmetic)
		return nil
	}
	out, err := Simulate(s)
	if err != nil {
		return err
	}
	v.Calls += out.Calls
	took := Span(never)
	if out.Drained >= 0 {
		took = Span(out.Drained - out.DrainBegan)
	}
	v.Checks = append(v.Checks,
		Check{Span(length), "drain: claims", Count(d.Claims), Count(out.Replayed), d.Claims == out.Replayed},
		Check{Span(length), "drain: time", d.Length.String(), took.String(), d.Length == took},
	)
	return nil
}
