package attempt

import (
	"cmp"
	"time"
)

// BreakerOptions tune the breaker of a partner.
type BreakerOptions struct {
	// Failures is how many deliveries in a row must fail for it to open. It is more
	// than one budget, so that one claim alone never opens it. Default: 10.
	Failures int
	// Open is how long it stays open before a probe. Default: 30 s. It doubles with
	// each failed probe up to MaxOpen. Default: 5 min.
	Open, MaxOpen time.Duration
}

func (o BreakerOptions) withDefaults() BreakerOptions {
	o.Failures = cmp.Or(o.Failures, 10)
	o.Open, o.MaxOpen = cmp.Or(o.Open, 30*time.Second), cmp.Or(o.MaxOpen, 5*time.Minute)
	return o
}

// breaker is closed while deliveries succeed, opens after a run of failures, and
// lets one probe through when it has been open for long enough. It is pure: its
// owner holds the lock and the clock.
type breaker struct {
	failures int
	until    time.Time // open until; zero is closed
	wait     time.Duration
	probe    time.Time // a probe is under way until then: its lease
}

// allow reports whether a delivery may go out now; if not, when to ask again. A
// probe that is never reported back frees its place after lease.
func (b *breaker) allow(now time.Time, lease time.Duration) (again time.Time, ok bool) {
	switch {
	case b.until.IsZero():
		return time.Time{}, true
	case now.Before(b.until):
		return b.until, false
	case now.Before(b.probe):
		return b.probe, false
	}
	b.probe = now.Add(lease)
	return time.Time{}, true
}

// done reports how a delivery ended.
func (b *breaker) done(failed bool, now time.Time, o BreakerOptions) {
	if !failed {
		*b = breaker{}
		return
	}
	b.failures++
	if b.failures < o.Failures {
		return
	}
	b.wait = min(max(2*b.wait, o.Open), o.MaxOpen)
	b.until, b.probe = now.Add(b.wait), time.Time{}
}

func (a *Attempt) allow(partner string, now time.Time) (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.breakers[partner]
	if b == nil {
		b = &breaker{}
		a.breakers[partner] = b
	}
	return b.allow(now, 2*a.o.Timeout)
}

func (a *Attempt) report(partner string, failed bool, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.breakers[partner]; b != nil {
		b.done(failed, now, a.o.Breaker)
	}
}

// release frees the place of a probe that ended without a report.
func (a *Attempt) release(partner string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.breakers[partner]; b != nil {
		b.probe = time.Time{}
	}
}
