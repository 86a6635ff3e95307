package alert

import (
	"iter"
	"time"

	"claimdlq"
	"claimdlq/retry"
)

// reading is one figure of a sample.
type reading struct {
	metric string
	labels Labels
	value  float64
	// deliveries and retries go with MetricFailures: all three are compared.
	deliveries, retries float64
	// held is how long the value has been what it is, where the sample says so.
	held time.Duration
}

// readings gives the figures of one stream.
func (s *Stream) readings(name string) iter.Seq[reading] {
	return func(yield func(reading) bool) {
		l := Labels{Stream: name}
		for _, r := range []reading{
			{metric: MetricFailures, labels: l, value: count(s.Failures), deliveries: count(s.Deliveries), retries: count(s.Retries)},
			{metric: MetricDepth, labels: l, value: count(s.Depth)},
			{metric: MetricOldestAge, labels: l, value: max(s.OldestAge.Seconds(), 0)},
			{metric: MetricInDoubt, labels: l, value: count(s.InDoubt)},
			{metric: MetricInDoubtAge, labels: l, value: max(s.InDoubtAge.Seconds(), 0)},
			{metric: MetricUnknown, labels: l, value: count(s.UnknownCodes)},
			{metric: MetricDeliveries, labels: l, value: count(s.Deliveries)},
			{metric: MetricRetries, labels: l, value: count(s.Retries)},
			{metric: MetricParked, labels: l, value: count(s.Parked)},
			{metric: MetricDifference, labels: l, value: float64(s.Difference)},
			{metric: MetricOrphans, labels: l, value: count(s.Orphans)},
			{metric: MetricExpired, labels: l, value: count(s.Expired)},
		} {
			if !yield(r) {
				return
			}
		}
		if !s.deadlines(name, yield) {
			return
		}
		for _, reason := range claimdlq.Reasons {
			if !yield(reading{metric: MetricByReason, labels: Labels{Stream: name, Reason: reason.String()}, value: count(s.ByReason[reason])}) {
				return
			}
		}
	}
}

// deadlines gives the figures of the last look at what is unresolved, if there was one.
func (s *Stream) deadlines(name string, yield func(reading) bool) bool {
	if s.Deadlines == nil {
		return true
	}
	for _, stage := range DeadlineStages {
		if !yield(reading{metric: MetricDeadlines, labels: Labels{Stream: name, Stage: stage}, value: count(s.Deadlines[stage])}) {
			return false
		}
	}
	for _, c := range Holds {
		if !yield(reading{metric: MetricHeldAge, labels: Labels{Stream: name, Cause: string(c)}, value: max(s.Held[c].Age.Seconds(), 0)}) {
			return false
		}
	}
	return yield(reading{metric: MetricRipe, labels: Labels{Stream: name}, value: count(s.Ripe)})
}

// readings gives the figures that the rules read.
func (i *Intake) readings() iter.Seq[reading] {
	return func(yield func(reading) bool) {
		if !yield(reading{metric: MetricFill, value: i.Fill()}) {
			return
		}
		for _, c := range Causes {
			r := reading{metric: MetricRefusing, labels: Labels{Cause: string(c)}}
			if i.Refusing[c] {
				r.value = 1
			}
			if !yield(r) {
				return
			}
		}
	}
}

// reading returns the figure of one partner.
func (p *Partner) reading(l Labels, now time.Time) reading {
	r := reading{metric: MetricBreaker, labels: l}
	if p.Breaker == retry.Closed {
		return r
	}
	r.value = 1
	if !p.Since.IsZero() {
		r.held = max(now.Sub(p.Since), 0)
	}
	return r
}

// count is never negative, nor more than floating point holds exactly.
func count(n int64) float64 { return float64(min(max(n, 0), maxCount)) }
