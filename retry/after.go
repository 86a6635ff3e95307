package retry

import (
	"math"
	"math/rand/v2"
	"time"

	"claimdlq"
)

// Failure is a delivery that may be tried again.
type Failure struct {
	// RetryAfter is the wait that the other side asked for; 0 if it did not.
	RetryAfter time.Duration
	// Window says that the other side announced an outage, such as NCPDP reject 93
	// (planned unavailable) or 96 (scheduled downtime): it did not look at the claim.
	Window bool
	// Probe says that the delivery was a breaker's question whether the other side is
	// back: it was not sent for the claim's own sake.
	Probe bool
}

// Next is what becomes of a claim after a failure.
type Next struct {
	// Wait is how long the claim waits until it may be delivered again.
	Wait time.Duration
	// Spent says that the budget is spent: the claim is dead-lettered.
	Spent bool
	// Free says that the delivery does not count: the budget is as it was before it.
	Free bool
}

// After decides what becomes of a claim that has just failed, receives being its
// deliveries so far, this one counted. A budget of MaxReceive 3 waits twice and is
// spent by the third failure. chance is used where the policy has Jitter, and may
// be nil where it has not.
func After(p claimdlq.Policy, receives uint32, f Failure, chance rand.Source) Next {
	if f.Window {
		return Next{Wait: Hold(p, f), Free: true}
	}
	if receives >= p.MaxReceive && !f.Probe {
		return Next{Spent: true}
	}
	return Next{Wait: min(max(Jitter(p, receives, chance), f.RetryAfter), p.Cap), Free: f.Probe}
}

// Hold returns how long the whole partner is left alone after the failure: what it
// asked for, or HoldMax where it announced an outage without saying for how long;
// 0 where it did neither. It is never longer than HoldMax, so that no answer can
// stop a stream for good.
func Hold(p claimdlq.Policy, f Failure) time.Duration {
	if f.Window && f.RetryAfter <= 0 {
		return max(p.HoldMax, 0)
	}
	return max(min(f.RetryAfter, p.HoldMax), 0)
}

// Jitter returns the back-off after the nth delivery: exactly Policy.Backoff
// without Jitter; with it, any wait from 1 ns up to that, each as likely (full
// jitter), so that claims that failed together do not come back together. A source
// with the same seed gives the same waits.
func Jitter(p claimdlq.Policy, n uint32, chance rand.Source) time.Duration {
	d := p.Backoff(n)
	if !p.Jitter || d <= 0 || chance == nil {
		return d
	}
	return 1 + time.Duration(rand.New(chance).Int64N(int64(d))) //nolint:gosec // spreads load; nothing depends on its being unguessable
}

// Horizon returns how long a claim is tried, from its first delivery to its last,
// where nothing but the back-off delays it: 60 s with the default policy. An
// outage is survived by every claim if and only if it is not longer. It stops at
// the longest Duration.
func Horizon(p claimdlq.Policy) time.Duration {
	var sum time.Duration
	for n := uint32(1); n < p.MaxReceive; n++ {
		d := p.Backoff(n)
		if d == p.Backoff(n+1) { // capped: the rest is all the same
			return add(sum, times(d, int64(p.MaxReceive-n)))
		}
		sum = add(sum, d)
	}
	return sum
}

// Receives returns the smallest budget whose horizon is not shorter than d, and
// false where no budget reaches it.
func Receives(p claimdlq.Policy, d time.Duration) (uint32, bool) {
	var sum time.Duration
	for n := uint32(1); ; n++ {
		if sum >= d {
			return n, true
		}
		wait := p.Backoff(n)
		if wait == p.Backoff(n+1) {
			if wait <= 0 {
				return 0, false
			}
			more := int64((d - sum - 1) / wait) // deliveries but the last of those that are left
			if more >= math.MaxUint32-int64(n) {
				return 0, false
			}
			return n + uint32(more) + 1, true
		}
		sum = add(sum, wait)
	}
}

func add(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(d time.Duration, n int64) time.Duration {
	if d > 0 && n > math.MaxInt64/int64(d) {
		return math.MaxInt64
	}
	return d * time.Duration(n)
}
