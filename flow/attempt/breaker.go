package attempt

import (
	"time"

	"claimdlq/retry"
)

// The breakers of the partners, behind the lock of Attempt. They live as long as
// the process: what must outlive it is in the submissions' NotBefore.

func (a *Attempt) allow(partner string, now time.Time) (again time.Time, ok, probe bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.breakers[partner]
	if b == nil {
		n := retry.New(a.o.Breaker)
		b = &n
		a.breakers[partner] = b
	}
	return b.Allow(now, 2*a.o.Timeout)
}

func (a *Attempt) report(partner string, r retry.Result, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.breakers[partner]; b != nil {
		b.Done(r, now)
	}
}

// release frees the place of a probe that ended without a report.
func (a *Attempt) release(partner string, probe bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.breakers[partner]; b != nil {
		b.Release(probe)
	}
}
