package attempt_test

import (
	"testing"
	"time"

	"claimdlq/flow/attempt"
)

func TestBreaker_OpensAtItsFailuresAndProbesOneAtATime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
	b := attempt.NewBreaker(attempt.BreakerOptions{Failures: 3, Open: 30 * time.Second, MaxOpen: 100 * time.Second})
	fail := func() { b.Done(true, now) }
	allowed := func(want bool) {
		t.Helper()
		if _, ok := b.Allow(now); ok != want {
			t.Fatalf("allowed %v, want %v", ok, want)
		}
	}
	fail()
	fail()
	allowed(true) // one below
	fail()
	allowed(false)
	if again, _ := b.Allow(now); !again.Equal(now.Add(30 * time.Second)) {
		t.Errorf("ask again at %v", again)
	}
	now = now.Add(30*time.Second - time.Nanosecond)
	allowed(false)
	now = now.Add(time.Nanosecond)
	allowed(true)  // the probe
	allowed(false) // and no other
	fail()
	for _, open := range []time.Duration{60 * time.Second, 100 * time.Second, 100 * time.Second} { // doubles up to its limit
		now = now.Add(open - time.Nanosecond)
		allowed(false)
		now = now.Add(time.Nanosecond)
		allowed(true)
		fail()
	}
	now = now.Add(100 * time.Second)
	allowed(true)
	b.Done(false, now)
	allowed(true)
	fail()
	fail()
	allowed(true) // the run of failures begins anew
}

func TestBreaker_AStrandedProbeFreesItsPlace(t *testing.T) { // F32
	t.Parallel()
	now := time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
	b := attempt.NewBreaker(attempt.BreakerOptions{Failures: 1})
	b.Done(true, now)
	now = now.Add(30 * time.Second)
	if _, ok := b.Allow(now); !ok {
		t.Fatal("no probe")
	}
	// Its worker dies. A minute is the probe's lease here.
	if _, ok := b.Allow(now.Add(time.Minute - time.Nanosecond)); ok {
		t.Error("two probes")
	}
	if _, ok := b.Allow(now.Add(time.Minute)); !ok {
		t.Error("the probe is stranded")
	}
}
