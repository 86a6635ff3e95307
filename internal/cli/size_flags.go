package cli

import (
	"time"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/retry"
	"claimdlq/sizing"
)

// sizeFlags are the flags of size.
type sizeFlags struct {
	rate, quota, transient, bad, ramp string

	incidents                                       spansFlag
	turnaround, blip, latency, timeout, age, rampUp spanFlag
	base, limit, retention                          spanFlag

	in       sizing.Input
	policy   claimdlq.Policy
	breaker  retry.Options
	open     spanFlag
	maxOpen  spanFlag
	slow     spanFlag
	receives uint32

	learn, simulate, strict bool
	plot                    string
}

func (f *sizeFlags) add(c *cobra.Command) {
	g := c.Flags()
	g.StringVar(&f.rate, "rate", "", "claims that arrive at the busiest time: `RATE` such as 400 or 24000/min")
	g.Var(&f.incidents, "incident", "how `LONG` the other side may be down, such as 5m,30m (default 5m,30m)")
	g.Var(&f.turnaround, "turnaround", "how `LONG` people take to find and fix the cause (default 8h)")
	g.Var(&f.blip, "blip", "how `LONG` an outage retries alone must outlast (default 60s)")
	g.StringVar(&f.transient, "transient", "", "`SHARE` of deliveries that fail by chance on a normal day, such as 0.1%")
	g.StringVar(&f.bad, "bad", "", "`SHARE` of claims that are dead-lettered at first sight on a normal day")
	g.StringVar(&f.quota, "quota", "", "calls the other side takes: a `RATE`")
	g.Int64Var(&f.in.Workers, "workers", 0, "calls that may run at the same time (default any number)")
	g.Var(&f.latency, "latency", "how `LONG` a call takes")
	g.Var(&f.timeout, "timeout", "how `LONG` a call takes that fails in an incident")

	g.Uint32Var(&f.receives, "max-receive", f.policy.MaxReceive, "the budget: deliveries, the first counted")
	g.Var(&f.base, "base", "base of the back-off (default 2s)")
	g.Var(&f.limit, "cap", "cap of the back-off (default 60s)")
	g.Var(&f.retention, "retention", "what is unresolved for so `LONG` is parked (default 14d)")
	g.BoolVar(&f.policy.Jitter, "jitter", false, "spread each back-off over everything up to it")
	g.IntVar(&f.breaker.Consecutive, "breaker-failures", 0, "failures in a row that open the breaker (default 10)")
	g.Var(&f.open, "breaker-open", "how `LONG` it stays open at first (default 30s)")
	g.Var(&f.maxOpen, "breaker-max-open", "how `LONG` it stays open at most (default 5m)")
	g.Var(&f.slow, "slow", "a call that takes `LONGER` is a failure for the breaker: 800ms retail, 1200ms specialty (default never)")

	g.Int64Var(&f.in.DepthAlarm, "depth-alarm", 0, "dead letters within a minute that page (default what size works out)")
	g.Int64Var(&f.in.RetryAlarm, "retry-alarm", 0, "failed calls within a minute that page (default 5% of the claims)")
	g.Var(&f.age, "age-alarm", "a dead letter so `OLD` pages (default 1h)")
	g.Int64Var(&f.in.Canary, "canary", 0, "claims that a drain sends one by one first (default 10)")
	g.StringVar(&f.ramp, "ramp", "", "first speed of a drain: a `RATE` (default 10/s)")
	g.Var(&f.rampUp, "ramp-step", "how `LONG` until a drain goes twice as fast (default 30s)")
	g.Int64Var(&f.in.PayloadBytes, "payload-bytes", 0, "size of a claim (default 1000)")
	g.Int64Var(&f.in.RecordBytes, "record-bytes", 0, "size of a record in the journal (default 550)")
	g.Int64Var(&f.in.AuditBytes, "audit-bytes", 0, "size of an audit entry (default 250)")

	g.BoolVar(&f.learn, "learn", false, "take what no flag gives from the data directory's own history")
	g.BoolVar(&f.simulate, "simulate", true, "check the figures by simulation")
	g.Uint64Var(&f.in.Seed, "seed", 1, "what decides the simulation's chance")
	g.BoolVar(&f.strict, "strict", false, "exit with 3 where a lever is not enough")
	g.StringVar(&f.plot, "plot", "", "draw the longest incident into this `file`: .svg or .png")
}

func (f *sizeFlags) input() (sizing.Input, error) {
	in := f.in
	for _, r := range []struct {
		flag, text string
		to         *sizing.Rate
	}{{"--rate", f.rate, &in.Rate}, {"--quota", f.quota, &in.Quota}, {"--ramp", f.ramp, &in.RampFrom}} {
		if r.text != "" {
			v, err := sizing.ParseRate(r.text)
			if err != nil {
				return in, usagef("%s is a rate such as 400, 24000/min or 0.5/s", r.flag)
			}
			*r.to = v
		}
	}
	for _, r := range []struct {
		flag, text string
		to         *sizing.Share
	}{{"--transient", f.transient, &in.Transient}, {"--bad", f.bad, &in.Bad}} {
		if r.text != "" {
			v, err := sizing.ParseShare(r.text)
			if err != nil {
				return in, usagef("%s is a share such as 0.1%% or 0.001", r.flag)
			}
			*r.to = v
		}
	}
	in.Incidents = f.incidents
	in.Turnaround, in.Blip, in.Latency, in.FailLatency = f.turnaround.d, f.blip.d, f.latency.d, f.timeout.d
	in.AgeAlarm, in.RampStep = f.age.d, f.rampUp.d
	in.Policy, in.Breaker = f.policy, f.breaker
	in.Policy.MaxReceive = f.receives
	for to, from := range map[*time.Duration]spanFlag{&in.Policy.Base: f.base, &in.Policy.Cap: f.limit, &in.Policy.Retention: f.retention} {
		if from.set {
			*to = from.d
		}
	}
	in.Breaker.Open, in.Breaker.MaxOpen, in.Breaker.SlowAfter = f.open.d, f.maxOpen.d, f.slow.d
	if f.plot != "" && plotFormat(f.plot) == nil {
		return in, usagef("--plot is a file that ends in .svg or .png")
	}
	return in, nil
}
