package claimdlq_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
)

func TestDefaultPolicy_IsTheSeeds(t *testing.T) {
	t.Parallel()
	want := claimdlq.Policy{
		MaxReceive: 5, MaxReceiveLow: 2, ReplayCap: 3, Base: 2 * time.Second, Cap: 60 * time.Second, HoldMax: time.Hour,
		Retention: 14 * 24 * time.Hour, AckDeadline: 48 * time.Hour,
	}
	if got := claimdlq.DefaultPolicy(); got != want {
		t.Errorf("policy is %+v", got)
	}
}

func TestBackoff_IsTwoTimesTwoToTheNCappedAtSixtySeconds(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for n, want := range map[uint32]int{0: 2, 1: 4, 2: 8, 3: 16, 4: 32, 5: 60, 6: 60, 10: 60, math.MaxUint32: 60} {
		if got := p.Backoff(n); got != time.Duration(want)*time.Second {
			t.Errorf("after delivery %d: %v, want %d s", n, got, want)
		}
	}
}

func TestBackoff_ADefaultBudgetWaitsSixtySecondsInAll(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	var horizon time.Duration
	for n := uint32(1); n < p.MaxReceive; n++ { // no wait after the last delivery
		horizon += p.Backoff(n)
	}
	if horizon != 60*time.Second {
		t.Errorf("horizon is %v", horizon)
	}
}

func TestBackoff_DoesNotOverflow(t *testing.T) {
	t.Parallel()
	for _, base := range []time.Duration{1, math.MaxInt64/2 + 1, math.MaxInt64} {
		p := claimdlq.Policy{Base: base, Cap: math.MaxInt64}
		if got := p.Backoff(64); got != math.MaxInt64 {
			t.Errorf("base %d: %d", base, got)
		}
	}
	if got := (claimdlq.Policy{Cap: time.Minute}).Backoff(math.MaxUint32); got != 0 {
		t.Errorf("without a base: %v", got)
	}
}

func TestBackoff_NeverFallsNorPassesTheCap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := claimdlq.Policy{
			Base: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(rt, "base")),
			Cap:  time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(rt, "cap")),
		}
		n := rapid.Uint32Range(0, 200).Draw(rt, "n")
		now, next := p.Backoff(n), p.Backoff(n+1)
		if now < 0 || now > next || next > p.Cap {
			rt.Fatalf("backoff %v then %v under a cap of %v", now, next, p.Cap)
		}
	})
}

func TestPolicies_AStreamHasItsOwnElseTheCommonElseTheDefault(t *testing.T) { // 1
	t.Parallel()
	own, common := claimdlq.DefaultPolicy(), claimdlq.DefaultPolicy()
	own.MaxReceive, common.MaxReceive = 3, 4
	p := claimdlq.Policies{"ncpdp": own, "": common}
	if p.For("ncpdp") != own || p.For("837") != common || claimdlq.Policies(nil).For("837") != claimdlq.DefaultPolicy() {
		t.Errorf("got %+v", p)
	}
}
