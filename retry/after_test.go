package retry_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/retry"
)

const s = time.Second

func TestAfter_DefaultBudgetWaits4_8_16_32AndIsThenSpent(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for i, want := range []time.Duration{4 * s, 8 * s, 16 * s, 32 * s} {
		got := retry.After(p, uint32(i)+1, retry.Failure{}, nil)
		if got != (retry.Next{Wait: want}) {
			t.Errorf("after delivery %d: %+v, want to wait %v", i+1, got, want)
		}
	}
	for _, n := range []uint32{5, 6, math.MaxUint32} {
		if got := retry.After(p, n, retry.Failure{}, nil); got != (retry.Next{Spent: true}) {
			t.Errorf("after delivery %d: %+v, want it spent", n, got)
		}
	}
}

func TestAfter_ABudgetOfThreeIsTwoRequeuesAndADeadLetter(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	p.MaxReceive = 3
	for n, spent := range map[uint32]bool{1: false, 2: false, 3: true} {
		if got := retry.After(p, n, retry.Failure{}, nil); got.Spent != spent {
			t.Errorf("after delivery %d: %+v", n, got)
		}
	}
}

func TestJitter_OffIsTheSeedsBackoff(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for n, want := range map[uint32]time.Duration{3: 16 * s, 10: 60 * s} {
		if got := retry.Jitter(p, n, rand.NewPCG(1, 2)); got != want {
			t.Errorf("after delivery %d: %v, want %v", n, got, want)
		}
	}
}

func TestJitter_IsSeededAndSpreadsOverTheWholeBackoff(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	p.Jitter = true
	a, b := rand.NewPCG(1, 2), rand.NewPCG(1, 2)
	var sum, low, high time.Duration = 0, time.Hour, 0
	const draws = 10_000
	for range draws {
		d := retry.Jitter(p, 3, a)
		if again := retry.Jitter(p, 3, b); again != d {
			t.Fatalf("the same seed gave %v and %v", d, again)
		}
		sum, low, high = sum+d, min(low, d), max(high, d)
	}
	if low <= 0 || high > 16*s || low > s || high < 15*s {
		t.Errorf("waits from %v to %v, want them over (0, 16 s]", low, high)
	}
	if mean := sum / draws; mean < 7800*time.Millisecond || mean > 8200*time.Millisecond {
		t.Errorf("mean wait %v, want about 8 s", mean)
	}
}

func TestJitter_WithoutChanceOrWaitIsExact(t *testing.T) {
	t.Parallel()
	p := claimdlq.Policy{Jitter: true, Base: s, Cap: 8 * s}
	if got := retry.Jitter(p, 1, nil); got != 2*s {
		t.Errorf("without a source: %v", got)
	}
	p.Base = 0
	if got := retry.Jitter(p, 1, rand.NewPCG(1, 2)); got != 0 {
		t.Errorf("without a base: %v", got)
	}
}

func TestAfter_NoWaitPassesTheCapWhateverIsAsked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := claimdlq.Policy{
			MaxReceive: rapid.Uint32Range(0, 30).Draw(rt, "max"),
			Base:       time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "base")),
			Cap:        time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "cap")),
			Jitter:     rapid.Bool().Draw(rt, "jitter"),
		}
		n := rapid.Uint32Range(1, 40).Draw(rt, "n")
		asked := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(rt, "asked"))
		got := retry.After(p, n, retry.Failure{RetryAfter: asked}, rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		if got.Spent != (n >= p.MaxReceive) || got.Free {
			rt.Fatalf("delivery %d of %d: %+v", n, p.MaxReceive, got)
		}
		if !got.Spent && (got.Wait > p.Cap || got.Wait < min(asked, p.Cap)) {
			rt.Fatalf("waits %v: asked %v, cap %v", got.Wait, asked, p.Cap)
		}
	})
}

func TestAfter_AnOutageWindowSpendsNothing(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for _, n := range []uint32{1, p.MaxReceive, p.MaxReceive + 100} {
		if got := retry.After(p, n, retry.Failure{Window: true}, nil); got != (retry.Next{Wait: time.Hour, Free: true}) {
			t.Errorf("delivery %d: %+v", n, got)
		}
	}
	got := retry.After(p, 1, retry.Failure{Window: true, RetryAfter: 10 * time.Minute}, nil)
	if got != (retry.Next{Wait: 10 * time.Minute, Free: true}) {
		t.Errorf("with a time named: %+v", got)
	}
}

// A probe is sent for its partner's sake: it waits like any failure and spends nothing.
func TestAfter_AProbeSpendsNothing(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for n, want := range map[uint32]time.Duration{1: 4 * s, p.MaxReceive: 60 * s, p.MaxReceive + 100: 60 * s} {
		if got := retry.After(p, n, retry.Failure{Probe: true}, nil); got != (retry.Next{Wait: want, Free: true}) {
			t.Errorf("delivery %d: %+v", n, got)
		}
	}
}

func TestHold_IsWhatWasAskedUpToHoldMax(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for _, c := range []struct {
		name string
		f    retry.Failure
		want time.Duration
	}{
		{"nothing asked", retry.Failure{}, 0},
		{"negative", retry.Failure{RetryAfter: -s}, 0},
		{"a second", retry.Failure{RetryAfter: s}, s},
		{"the bound", retry.Failure{RetryAfter: time.Hour}, time.Hour},
		{"over the bound", retry.Failure{RetryAfter: time.Hour + 1}, time.Hour},
		{"a window of unknown length", retry.Failure{Window: true}, time.Hour},
		{"a window with a time", retry.Failure{Window: true, RetryAfter: s}, s},
	} {
		if got := retry.Hold(p, c.f); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestHorizon_IsTheSumOfTheWaits(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint32]time.Duration{0: 0, 1: 0, 2: 4 * s, 3: 12 * s, 4: 28 * s, 5: 60 * s, 6: 120 * s, 9: 300 * s, 34: 1800 * s} {
		p := claimdlq.DefaultPolicy()
		p.MaxReceive = n
		if got := retry.Horizon(p); got != want {
			t.Errorf("budget %d: %v, want %v", n, got, want)
		}
	}
	p := claimdlq.Policy{MaxReceive: math.MaxUint32, Base: time.Hour, Cap: math.MaxInt64}
	if got := retry.Horizon(p); got != math.MaxInt64 {
		t.Errorf("endless: %v", got)
	}
}

func TestReceives_IsTheSmallestBudgetThatLastsSoLong(t *testing.T) {
	t.Parallel()
	p := claimdlq.DefaultPolicy()
	for d, want := range map[time.Duration]uint32{0: 1, 1: 2, 4 * s: 2, 4*s + 1: 3, 60 * s: 5, 60*s + 1: 6, 300 * s: 9, 301 * s: 10, 1800 * s: 34} {
		if got, ok := retry.Receives(p, d); !ok || got != want {
			t.Errorf("%v: %d %t, want %d", d, got, ok, want)
		}
	}
	if n, ok := retry.Receives(claimdlq.Policy{}, s); ok {
		t.Errorf("without a back-off %d deliveries last a second", n)
	}
	if n, ok := retry.Receives(claimdlq.Policy{Base: 1, Cap: 1}, math.MaxUint32); ok {
		t.Errorf("%d deliveries of 1 ns last as long as there are budgets", n)
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := claimdlq.Policy{
			Base: time.Duration(rapid.Int64Range(1000, int64(time.Minute)).Draw(rt, "base")),
			Cap:  time.Duration(rapid.Int64Range(1000, int64(time.Hour)).Draw(rt, "cap")),
		}
		d := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "d"))
		n, ok := retry.Receives(p, d)
		if !ok {
			rt.Fatal("no budget reaches it")
		}
		p.MaxReceive = n
		enough := retry.Horizon(p)
		p.MaxReceive = n - 1
		if less := retry.Horizon(p); enough < d || less >= d {
			rt.Fatalf("%v: %d deliveries last %v, one less %v", d, n, enough, less)
		}
	})
}
