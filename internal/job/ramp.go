package job

import (
	"math"
	"time"
)

// ramp says how many releases are due. Its rate doubles every step up to a maximum that
// may be changed while it runs. What was not used for a second is not made up for.
type ramp struct {
	rate, max float64
	step      time.Duration
	stepAt    time.Time // when the rate doubles next
	last      time.Time
	credit    float64
}

const (
	tick    = 100 * time.Millisecond // of a fast ramp
	epsilon = 1e-6                   // of a release, for what floating point loses
)

func (r *ramp) start(now time.Time, p *Policy, limit float64) {
	*r = ramp{rate: min(p.StartRate, limit), max: limit, step: p.Step, last: now, stepAt: now.Add(p.Step), credit: 1}
}

// setMax takes effect at once.
func (r *ramp) setMax(now time.Time, limit float64) {
	r.earn(now)
	if r.rate >= r.max {
		r.stepAt = now.Add(r.step) // it stood still
	}
	r.rate, r.max = min(r.rate, limit), limit
	r.credit = min(r.credit, r.burst())
}

// due returns how many may be released now.
func (r *ramp) due(now time.Time) int {
	r.earn(now)
	return int(r.credit + epsilon)
}

func (r *ramp) used(n int) { r.credit = max(0, r.credit-float64(n)) }

// wait returns how long until it is worth asking again.
func (r *ramp) wait(now time.Time) time.Duration {
	r.earn(now)
	missing := max(0, 1-r.credit) / r.rate
	return max(time.Duration(math.Ceil(missing*float64(time.Second))), tick)
}

func (r *ramp) earn(now time.Time) {
	for r.rate < r.max && !r.stepAt.After(now) {
		r.upTo(r.stepAt)
		r.rate = min(2*r.rate, r.max)
		r.stepAt = r.stepAt.Add(r.step)
	}
	r.upTo(now)
}

func (r *ramp) upTo(t time.Time) {
	if d := t.Sub(r.last); d > 0 {
		r.last = t
		r.credit = min(r.credit+r.rate*d.Seconds(), r.burst())
	}
}

func (r *ramp) burst() float64 { return max(1, r.rate) }
