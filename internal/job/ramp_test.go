package job_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq/internal/job"
)

// TestRamp_IsNeverFasterThanItMay checks it against the plain rule: in any time d at most
// max*d, and what a second's credit allows.
func TestRamp_IsNeverFasterThanItMay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := job.Policy{
			StartRate: rapid.Float64Range(0.001, 100).Draw(rt, "start"),
			Step:      time.Duration(rapid.IntRange(1, 60_000).Draw(rt, "step_ms")) * time.Millisecond,
		}
		p.MaxRate = p.StartRate * rapid.Float64Range(1, 100).Draw(rt, "factor")
		now := time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
		began, limit := now, p.MaxRate
		r := job.NewRamp(now, p)
		n := 0
		for range rapid.IntRange(1, 200).Draw(rt, "turns") {
			if rapid.IntRange(0, 9).Draw(rt, "change") == 0 {
				limit = rapid.Float64Range(0.001, p.MaxRate).Draw(rt, "limit")
				r.SetMax(now, limit)
			}
			n += r.Take(now)
			if r.Rate() > limit*1.000001 {
				rt.Fatalf("rate %v over %v", r.Rate(), limit)
			}
			if most := p.MaxRate*now.Sub(began).Seconds() + max(1, p.MaxRate) + 1; float64(n) > most {
				rt.Fatalf("%d in %v at up to %v/s", n, now.Sub(began), p.MaxRate)
			}
			wait := r.Wait(now)
			if wait < 100*time.Millisecond {
				rt.Fatalf("it spins: %v", wait)
			}
			now = now.Add(wait)
		}
	})
}

func TestRamp_DoesNotMakeUpForAStandstill(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
	r := job.NewRamp(now, job.Policy{StartRate: 4, MaxRate: 4, Step: time.Second})
	if n := r.Take(now); n != 1 {
		t.Fatalf("%d at once", n)
	}
	if n := r.Take(now.Add(24 * time.Hour)); n != 4 {
		t.Errorf("%d after a day at 4/s, want a second's", n)
	}
	if n := r.Take(now.Add(23 * time.Hour)); n != 0 {
		t.Errorf("%d by a clock that went back", n)
	}
}

func TestRamp_SlowRatesAreExact(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
	r := job.NewRamp(now, job.Policy{StartRate: 0.001, MaxRate: 0.001, Step: time.Second})
	n, end := 0, now.Add(100_000*time.Second)
	for !now.After(end) {
		n += r.Take(now)
		now = now.Add(r.Wait(now))
	}
	if n < 100 || n > 101 {
		t.Errorf("%d in 100,000 s at one in 1,000 s", n)
	}
}
