package job

import (
	"time"

	"claimdlq"
)

// Policy says how a job releases. It is part of the plan. Zero fields are defaults.
type Policy struct {
	// Unchanged releases payloads that were refused as they are: the runner says that
	// the cause lies outside them and is gone. See replay.Options.
	Unchanged bool `json:"unchanged,omitempty"`
	// Canary is how many are released alone at first, at most 1,000; negative is none.
	// Default: 5.
	Canary int `json:"canary"`
	// CanaryWait is how long the job waits for the ends of canaries before it goes on
	// without. Default: 15 min.
	CanaryWait time.Duration `json:"canary_wait"`
	// StartRate is how many are released a second at the beginning of the ramp, MaxRate
	// at its end; every Step doubles the rate. 0.001 to 10,000. Default: 1, 50, 30 s.
	StartRate float64       `json:"start_rate"`
	MaxRate   float64       `json:"max_rate"`
	Step      time.Duration `json:"step"`
	// Window is how many of the latest ends the job looks at, at most 10,000, and WindowMin
	// how many it needs to judge. It stops where the share of those with a cause of the
	// plan reaches StopSameCause, or the share of all that came back or were rejected
	// StopFailures; a share over 1 never stops. Default: 100, 10, 0.2 and 0.5.
	Window        int     `json:"window"`
	WindowMin     int     `json:"window_min"`
	StopSameCause float64 `json:"stop_same_cause"`
	StopFailures  float64 `json:"stop_failures"`
	// WatchFor is how long after the last release the job waits for ends. Default: 72 h.
	WatchFor time.Duration `json:"watch_for"`
}

const (
	minRate, maxRate = 0.001, 10_000
	maxCanary        = 1000
	maxWindow        = 10_000
	maxWait          = 400 * 24 * time.Hour
)

// complete returns the policy with its defaults, or an error with code Invalid.
func (p Policy) complete() (Policy, error) {
	or(&p.Canary, 5)
	p.Canary = max(p.Canary, -1)
	or(&p.CanaryWait, 15*time.Minute)
	or(&p.StartRate, 1)
	or(&p.MaxRate, max(50, p.StartRate))
	or(&p.Step, 30*time.Second)
	or(&p.Window, 100)
	or(&p.WindowMin, min(10, p.Window))
	or(&p.StopSameCause, 0.2)
	or(&p.StopFailures, 0.5)
	or(&p.WatchFor, 72*time.Hour)
	for _, c := range []struct {
		ok   bool
		what string
	}{
		{p.Canary <= maxCanary, "canary: at most 1000"},
		{within(p.CanaryWait), "canary_wait: more than 0, at most 400 days"},
		{rate(p.StartRate) && rate(p.MaxRate), "start_rate and max_rate: 0.001 to 10000 a second"},
		{p.StartRate <= p.MaxRate, "start_rate: at most max_rate"},
		{within(p.Step), "step: more than 0, at most 400 days"},
		{p.WindowMin > 0 && p.WindowMin <= p.Window && p.Window <= maxWindow, "window_min: 1 to window, window: at most 10000"},
		{p.StopSameCause > 0 && p.StopFailures > 0, "stop_same_cause and stop_failures: more than 0"},
		{within(p.WatchFor), "watch_for: more than 0, at most 400 days"},
	} {
		if !c.ok {
			return p, &claimdlq.Error{Code: claimdlq.Invalid, Op: "plan a replay", Hint: c.what}
		}
	}
	return p, nil
}

func or[T comparable](p *T, d T) {
	var zero T
	if *p == zero {
		*p = d
	}
}

func within(d time.Duration) bool { return d > 0 && d <= maxWait }

// rate is false for what is not a number, too.
func rate(r float64) bool { return r >= minRate && r <= maxRate }
