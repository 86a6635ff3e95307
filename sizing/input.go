package sizing

import (
	"errors"
	"time"

	"claimdlq"
	"claimdlq/retry"
)

// Input is what the levers depend on. Rate is required; WithDefaults fills in the
// rest.
type Input struct {
	// Rate is how many claims arrive at the busiest time.
	Rate Rate
	// Incidents are how long the other side may be down. Default: 5 min and 30 min.
	Incidents []time.Duration
	// Turnaround is how long people take to find the cause and fix it. Default: 8 h.
	Turnaround time.Duration
	// Blip is the outage that retries alone must outlast: a restart, a deploy, a
	// failover. Default: 60 s.
	Blip time.Duration
	// Transient is the share of deliveries that fail and would succeed if tried
	// again, on a normal day.
	Transient Share
	// Bad is the share of claims that are dead-lettered at first sight, on a normal
	// day: unreadable, or refused for what they say.
	Bad Share

	// Quota is how many calls the other side takes. Default: none.
	Quota Rate
	// Workers is how many calls may run at the same time. Default: 0, any number.
	Workers int64
	// Latency is how long a call takes; FailLatency how long one that fails does,
	// such as the timeout. Default: 0.
	Latency, FailLatency time.Duration

	// Policy and Breaker are what is to be judged. Default: claimdlq.DefaultPolicy
	// and the defaults of package retry.
	Policy  claimdlq.Policy
	Breaker retry.Options

	// DepthAlarm rings at so many dead letters within a minute. Default: what Size
	// works out.
	DepthAlarm int64
	// RetryAlarm rings at so many failed calls within a minute. Default: 5 % of the
	// claims that arrive in a minute, at least 5.
	RetryAlarm int64
	// AgeAlarm rings when a dead letter is so old. Default: 1 h.
	AgeAlarm time.Duration

	// Canary is how many claims a drain sends one by one before it starts in
	// earnest. Default: 10.
	Canary int64
	// RampFrom is the first speed of a drain; it doubles every RampStep. Default:
	// 10/s, 30 s.
	RampFrom Rate
	RampStep time.Duration

	// Sizes on disk, in bytes. Default: 1,000 of a payload, 330 of its seal and key,
	// 550 of a record in the journal, 250 of an audit entry, 40 of a settled claim's
	// key.
	PayloadBytes, SealBytes, RecordBytes, AuditBytes, KeyBytes int64
	// KeysKept is how long the keys of settled claims are kept. Default: 400 d.
	KeysKept time.Duration

	// Seed decides what the simulation leaves to chance. Default: 1.
	Seed uint64
}

const day = 24 * time.Hour

// WithDefaults returns the input with every default filled in.
func (in Input) WithDefaults() Input {
	if len(in.Incidents) == 0 {
		in.Incidents = []time.Duration{5 * time.Minute, 30 * time.Minute}
	}
	set(&in.Turnaround, 8*time.Hour)
	set(&in.Blip, time.Minute)
	set(&in.AgeAlarm, time.Hour)
	set(&in.RampStep, 30*time.Second)
	set(&in.KeysKept, 400*day)
	set(&in.Canary, 10)
	set(&in.RampFrom, PerSecond(10))
	set(&in.PayloadBytes, 1000)
	set(&in.SealBytes, 330)
	set(&in.RecordBytes, 550)
	set(&in.AuditBytes, 250)
	set(&in.KeyBytes, 40)
	set(&in.Seed, 1)
	set(&in.Policy, claimdlq.DefaultPolicy())
	in.Breaker = in.Breaker.WithDefaults()
	set(&in.RetryAlarm, max(Share(50_000).of(in.Rate.before(time.Minute)), 5))
	return in
}

// set gives v its default.
func set[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// The bounds of an Input. They keep every sum within its type.
const (
	maxReceive  = 1000
	maxSpan     = 1000 * day
	maxIncident = 20
)

// Validate returns every fault of the input at once, each with code Invalid. It is
// for an input that WithDefaults has filled in.
func (in Input) Validate() error {
	var errs []error
	want := func(ok bool, hint string) {
		if !ok {
			errs = append(errs, invalid("size", hint))
		}
	}
	span := func(d time.Duration) bool { return d >= 0 && d <= maxSpan }
	fast := PerSecond(1_000_000)
	want(in.Rate.valid() && !fast.less(in.Rate), "the rate is above 0 and at most 1,000,000/s")
	want(in.Quota.IsZero() || in.Quota.valid(), "the quota is out of range")
	want(in.RampFrom.valid(), "the first speed of a drain is out of range")
	want(len(in.Incidents) <= maxIncident, "there are at most 20 incidents")
	for _, d := range in.Incidents {
		want(d > 0 && d <= maxSpan, "an incident is longer than 0 and at most 1000 d")
	}
	want(span(in.Turnaround) && span(in.Blip) && span(in.AgeAlarm) && span(in.KeysKept), "times are between 0 and 1000 d")
	want(in.RampStep > 0 && in.RampStep <= day, "a step of the drain is longer than 0 and at most a day")
	want(in.Latency >= 0 && in.FailLatency >= 0 && max(in.Latency, in.FailLatency) <= day, "a call takes between 0 and a day")
	want(in.Transient >= 0 && in.Transient <= All && in.Bad >= 0 && in.Bad <= All, "a share is between 0% and 100%")
	want(in.Workers >= 0 && in.Workers <= 1_000_000, "there are at most 1,000,000 workers")
	want(in.Canary >= 0 && in.Canary <= 1_000_000, "there are at most 1,000,000 canaries")
	want(in.DepthAlarm >= 0 && in.RetryAlarm >= 0, "an alarm rings at a count above 0")
	for _, n := range []int64{in.PayloadBytes, in.SealBytes, in.RecordBytes, in.AuditBytes, in.KeyBytes} {
		want(n >= 0 && n <= 1_000_000_000, "a size is between 0 and 1,000,000,000 bytes")
	}
	p := in.Policy
	want(p.MaxReceive >= 1 && p.MaxReceive <= maxReceive, "max_receive is 1 to 1000")
	want(span(p.Base) && span(p.Cap) && span(p.Retention) && span(p.HoldMax), "the policy's times are between 0 and 1000 d")
	return errors.Join(errs...)
}
