package sizing

import (
	"math/big"
	"time"

	"claimdlq/retry"
)

// Lever is one of the four settings, as chosen and as needed, and the arithmetic.
type Lever struct {
	Name   string `json:"name"`
	Chosen string `json:"chosen"`
	Needed string `json:"needed"`
	// Enough reports whether what is chosen does what is needed.
	Enough     bool     `json:"enough"`
	Arithmetic []string `json:"arithmetic"`
}

// The names of the levers.
const (
	LeverBudget    = "max_receive"
	LeverBackoff   = "backoff"
	LeverRetention = "retention"
	LeverDepth     = "depth_alarm"
)

// budget: enough deliveries to outlast a blip, and so many that chance alone
// spends less than one budget a day.
func (in *Input) budget() (Lever, uint32) {
	p := in.Policy
	horizon := retry.Horizon(p)
	blip, outlasts := retry.Receives(p, in.Blip)
	day := in.Rate.before(day)
	spent := func(n uint32) *big.Rat { return new(big.Rat).Mul(in.Transient.power(n), new(big.Rat).SetInt64(day)) }
	chance := uint32(1)
	for chance < maxReceive && spent(chance).Cmp(big.NewRat(1, 1)) >= 0 {
		chance++
	}
	needed := max(blip, chance)
	l := Lever{
		Name: LeverBudget, Chosen: Count(int64(p.MaxReceive)), Needed: Count(int64(needed)),
		Enough: outlasts && p.MaxReceive >= needed,
		Arithmetic: []string{
			Count(int64(p.MaxReceive)) + " deliveries: the first and " + Count(int64(p.MaxReceive)-1) + " more; waits: " + in.waits() + "; horizon: " + Span(horizon).String(),
		},
	}
	if outlasts {
		l.Arithmetic = append(l.Arithmetic, "a blip of "+Span(in.Blip).String()+" needs a horizon that is not shorter: "+Count(int64(blip))+" deliveries")
	} else {
		l.Needed = "none"
		l.Arithmetic = append(l.Arithmetic, "no budget outlasts a blip of "+Span(in.Blip).String()+": the back-off is too short")
	}
	l.Arithmetic = append(l.Arithmetic,
		"of "+Short(day)+" claims a day, with "+in.Transient.String()+" of deliveries failing by chance, so many spend their budget: "+
			approx(spent(p.MaxReceive))+"; less than one a day needs "+Count(int64(chance)))
	if p.Jitter {
		l.Arithmetic = append(l.Arithmetic, "with jitter each wait is anything up to these: the horizon is half as long on average, and certain for no claim")
	}
	return l, needed
}

// waits prints the waits of a budget: 4 s + 8 s + 16 s + 32 s.
func (in *Input) waits() string {
	p, out := in.Policy, ""
	for n := uint32(1); n < p.MaxReceive; n++ {
		if n > 1 {
			out += " + "
		}
		if left := p.MaxReceive - n; left > 2 && p.Backoff(n) == p.Backoff(n+1) {
			return out + Count(int64(left)) + " x " + Span(p.Backoff(n)).String()
		}
		out += Span(p.Backoff(n)).String()
	}
	if out == "" {
		return "none"
	}
	return out
}

// backoff: a first wait that outlasts the call itself, and a cap that keeps
// recovery as near as the blip is long.
func (in *Input) backoff() Lever {
	p := in.Policy
	first, calls := p.Backoff(1), in.Rate.times(int64(p.MaxReceive))
	l := Lever{
		Name: LeverBackoff, Chosen: "base " + Span(p.Base).String() + ", cap " + Span(p.Cap).String(),
		Needed: "first wait >= " + Span(in.Latency).String() + ", cap <= " + Span(in.Blip).String(),
		Enough: first >= in.Latency && p.Cap <= in.Blip && first > 0,
		Arithmetic: []string{
			"the wait after delivery n is min(" + Span(p.Base).String() + " x 2^n, " + Span(p.Cap).String() + "), the first " + Span(first).String() + "; a call takes " + Span(in.Latency).String(),
			"when the other side is back, a waiting claim is tried at most " + Span(p.Cap).String() + " later",
			"in an outage without a breaker every claim calls " + Count(int64(p.MaxReceive)) + " times: " + in.Rate.String() + " x " + Count(int64(p.MaxReceive)) + " = " + calls.String(),
		},
	}
	if !in.Quota.IsZero() && in.Quota.less(calls) {
		l.Arithmetic = append(l.Arithmetic, "that is more than the quota of "+in.Quota.String()+": retries would keep the other side down; the breaker stops them")
	}
	if in.Workers > 0 && in.FailLatency > 0 {
		l.Arithmetic = append(l.Arithmetic, "failing calls take "+Span(in.FailLatency).String()+" and keep "+Count(in.busy(int64(p.MaxReceive)))+" of "+Count(in.Workers)+" workers busy")
	}
	return l
}

// retention: twice the longest incident and the time people take to fix it.
func (in *Input) retention() Lever {
	longest := in.longest()
	need := 2*longest + in.Turnaround
	return Lever{
		Name: LeverRetention, Chosen: Span(in.Policy.Retention).String(), Needed: ">= " + Span(need).String(), Enough: in.Policy.Retention >= need,
		Arithmetic: []string{
			"2 x the longest incident + turnaround: 2 x " + Span(longest).String() + " + " + Span(in.Turnaround).String() + " = " + Span(need).String(),
			"retention parks and alarms, it deletes nothing; the payer's filing limit is the other bound",
		},
	}
}

func (in *Input) longest() time.Duration {
	longest := time.Duration(0)
	for _, d := range in.Incidents {
		longest = max(longest, d)
	}
	return longest
}

// The depth alarm rings where a partner that stands for so much of the stream
// fails altogether: 5 %; at a quarter of that it has time to.
const (
	systemic  Share = 50_000
	alarmedAt Share = 12_500
)

// depth returns the lever and the alarm in use: the one chosen, or the one needed.
func (in *Input) depth() (Lever, int64) {
	minute := in.Rate.before(time.Minute)
	mean, most := in.noise()
	quarter, high := alarmedAt.of(minute), systemic.of(minute)
	needed := max(quarter, most)
	chosen := needed
	if in.DepthAlarm > 0 {
		chosen = in.DepthAlarm
	}
	l := Lever{
		Name: LeverDepth, Chosen: Count(chosen) + "/min", Needed: "> " + Count(most) + " and <= " + Count(high) + "/min", Enough: chosen >= most && chosen <= high,
		Arithmetic: []string{
			in.Rate.String() + " are " + Count(minute) + " a minute; a quarter of the " + systemic.String() + " that is systemic is " + alarmedAt.String() + ": " + Count(quarter) + "/min",
			"dead letters of a normal minute, " + in.Bad.String() + " bad at first sight: " + approx(mean) + "; chance stays below " + Count(most) + " (six standard deviations)",
		},
	}
	if most > high {
		l.Needed = "> " + Count(most) + "/min"
		l.Arithmetic = append(l.Arithmetic, "so many claims are bad that the alarm cannot tell a partner that fails from a normal minute: alarm by reason")
	}
	return l, chosen
}

// approx prints a fraction to three figures, or says that it is next to nothing.
func approx(r *big.Rat) string {
	f, _ := r.Float64()
	switch {
	case r.Sign() == 0:
		return "none"
	case r.IsInt() && f < 1e6:
		return Count(r.Num().Int64())
	case f < 1e-6:
		return "less than 0.000001"
	case f < 1:
		return trim(r.FloatString(6))
	case f < 1000:
		return trim(r.FloatString(1))
	}
	return Short(nearest(r))
}

func trim(s string) string {
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}
