package retry_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq/retry"
)

var t0 = time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)

const lease = 10 * s

func at(d time.Duration) time.Time { return t0.Add(d) }

// fail and pass give a closed breaker n results.
func fail(b *retry.Breaker, n int, now time.Time) {
	for range n {
		b.Done(retry.Result{Failed: true}, now)
	}
}

func pass(b *retry.Breaker, n int, now time.Time) {
	for range n {
		b.Done(retry.Result{}, now)
	}
}

// tripped returns a breaker that opened at t0.
func tripped(t *testing.T, o retry.Options) retry.Breaker {
	t.Helper()
	b := retry.New(o)
	fail(&b, b.Options().Consecutive, t0)
	if got := b.State(t0); got != retry.Open {
		t.Fatalf("it is %v", got)
	}
	return b
}

func TestOptions_DefaultsAndBounds(t *testing.T) {
	t.Parallel()
	want := retry.Options{
		Consecutive: 10, Window: 100, FailurePercent: 50, MinSamples: 20,
		Open: 30 * s, MaxOpen: 5 * time.Minute, HoldMax: time.Hour,
	}
	if got := (retry.Options{}).WithDefaults(); got != want {
		t.Errorf("defaults are %+v", got)
	}
	got := retry.Options{Window: 1 << 20, MinSamples: 1 << 30, FailurePercent: 101, Open: time.Hour, MaxOpen: s, SlowAfter: -1, Consecutive: -1}.WithDefaults()
	want = retry.Options{
		Consecutive: 10, Window: retry.MaxWindow, FailurePercent: 100, MinSamples: retry.MaxWindow,
		Open: time.Hour, MaxOpen: time.Hour, HoldMax: time.Hour,
	}
	if got != want {
		t.Errorf("bounded they are %+v", got)
	}
}

func TestBreaker_OpensAtTheTenthFailureInARow(t *testing.T) {
	t.Parallel()
	b := retry.New(retry.Options{})
	fail(&b, 9, t0)
	pass(&b, 1, t0)
	fail(&b, 9, t0)
	if got := b.State(t0); got != retry.Closed {
		t.Fatalf("after nine in a row it is %v", got)
	}
	if _, ok, probe := b.Allow(t0, lease); !ok || probe {
		t.Fatalf("closed, it allows %t, probe %t", ok, probe)
	}
	fail(&b, 1, t0)
	if got := b.State(t0); got != retry.Open {
		t.Errorf("after ten in a row it is %v", got)
	}
	if again, ok, _ := b.Allow(at(30*s-1), lease); ok || !again.Equal(at(30*s)) {
		t.Errorf("open, it allows %t, again at %v", ok, again.Sub(t0))
	}
}

func TestBreaker_OpensAtTheFailureRateOnceTheSamplesAreEnough(t *testing.T) {
	t.Parallel()
	o := retry.Options{Consecutive: 1000, Window: 40, MinSamples: 20, FailurePercent: 50}
	b := retry.New(o)
	fail(&b, 9, t0)
	pass(&b, 10, t0)
	if got := b.State(t0); got != retry.Closed {
		t.Fatalf("with 19 samples it is %v", got)
	}
	below := b
	pass(&below, 1, t0) // 9 of 20
	if got := below.State(t0); got != retry.Closed {
		t.Errorf("at 45 %% it is %v", got)
	}
	fail(&b, 1, t0) // 10 of 20
	if got := b.State(t0); got != retry.Open {
		t.Errorf("at 50 %% it is %v", got)
	}
}

func TestBreaker_ForgetsWhatLeftTheWindow(t *testing.T) {
	t.Parallel()
	b := retry.New(retry.Options{Consecutive: 1000, Window: 100, MinSamples: 20, FailurePercent: 50})
	pass(&b, 100, t0)
	fail(&b, 49, t0)
	pass(&b, 100, t0) // the failures are out
	fail(&b, 49, t0)
	if got := b.State(t0); got != retry.Closed {
		t.Fatalf("with 49 of 100 it is %v", got)
	}
	fail(&b, 1, t0)
	if got := b.State(t0); got != retry.Open {
		t.Errorf("with 50 of 100 it is %v", got)
	}
}

func TestBreaker_ASlowAnswerIsAFailure(t *testing.T) {
	t.Parallel()
	for _, limit := range []time.Duration{retry.SlowRetail, retry.SlowSpecialty} {
		b := retry.New(retry.Options{Consecutive: 1, SlowAfter: limit})
		b.Done(retry.Result{Latency: limit}, t0)
		if got := b.State(t0); got != retry.Closed {
			t.Errorf("at %v exactly it is %v", limit, got)
		}
		b.Done(retry.Result{Latency: limit + 1}, t0)
		if got := b.State(t0); got != retry.Open {
			t.Errorf("above %v it is %v", limit, got)
		}
	}
	b := retry.New(retry.Options{Consecutive: 1})
	b.Done(retry.Result{Latency: time.Hour}, t0)
	if got := b.State(t0); got != retry.Closed {
		t.Errorf("where latency is not judged it is %v", got)
	}
	if retry.SlowRetail != 800*time.Millisecond || retry.SlowSpecialty != 1200*time.Millisecond {
		t.Error("the triggers are not 800 ms and 1,200 ms")
	}
}

func TestBreaker_LetsOneProbeThroughAndClosesWhenItSucceeds(t *testing.T) {
	t.Parallel()
	b := tripped(t, retry.Options{})
	now := at(30 * s)
	if got := b.State(now); got != retry.HalfOpen {
		t.Fatalf("when its time is up it is %v", got)
	}
	if _, ok, probe := b.Allow(now, lease); !ok || !probe {
		t.Fatalf("half-open, it allows %t, probe %t", ok, probe)
	}
	if again, ok, _ := b.Allow(now, lease); ok || !again.Equal(now.Add(lease)) {
		t.Fatalf("a second goes out beside the probe: %t, again at %v", ok, again)
	}
	b.Done(retry.Result{Probe: true}, now)
	if got := b.State(now); got != retry.Closed {
		t.Fatalf("after the probe succeeded it is %v", got)
	}
	fail(&b, 9, now)
	if got := b.State(now); got != retry.Closed {
		t.Errorf("it remembers failures from before it opened")
	}
}

func TestBreaker_AStrandedProbeFreesItsPlace(t *testing.T) {
	t.Parallel()
	b := tripped(t, retry.Options{})
	b.Allow(at(30*s), lease)
	if _, ok, _ := b.Allow(at(40*s-1), lease); ok {
		t.Fatal("a second probe goes out within the lease of the first")
	}
	if _, ok, probe := b.Allow(at(40*s), lease); !ok || !probe {
		t.Errorf("when the lease has lapsed it allows %t, probe %t", ok, probe)
	}
}

func TestBreaker_AProbeThatIsGivenUpFreesItsPlaceAtOnce(t *testing.T) {
	t.Parallel()
	b := tripped(t, retry.Options{})
	b.Allow(at(30*s), lease)
	b.Release(false)
	if _, ok, _ := b.Allow(at(30*s), lease); ok {
		t.Fatal("a delivery that was no probe gave the probe's place up")
	}
	b.Release(true)
	if _, ok, _ := b.Allow(at(30*s), lease); !ok {
		t.Error("the place is still taken")
	}
}

func TestBreaker_OpenTimeDoublesToItsCapAndStartsAgainAfterSuccess(t *testing.T) {
	t.Parallel()
	b := tripped(t, retry.Options{})
	now := t0
	for _, open := range []time.Duration{30 * s, 60 * s, 120 * s, 240 * s, 300 * s, 300 * s} {
		if _, ok, _ := b.Allow(now.Add(open-1), lease); ok {
			t.Fatalf("open for %v, it allows before", open)
		}
		now = now.Add(open)
		if _, ok, probe := b.Allow(now, lease); !ok || !probe {
			t.Fatalf("after %v it allows no probe", open)
		}
		b.Done(retry.Result{Failed: true, Probe: true}, now)
	}
	now = now.Add(300 * s)
	b.Allow(now, lease)
	b.Done(retry.Result{Probe: true}, now)
	fail(&b, 10, now)
	if again, ok, _ := b.Allow(now, lease); ok || !again.Equal(now.Add(30*s)) {
		t.Errorf("after it had closed, it opens for %v", again.Sub(now))
	}
}

func TestBreaker_ResultsFromBeforeItOpenedAreNoNews(t *testing.T) {
	t.Parallel()
	b := tripped(t, retry.Options{})
	fail(&b, 1000, at(s))
	pass(&b, 1000, at(s))
	if again, ok, _ := b.Allow(at(2*s), lease); ok || !again.Equal(at(30*s)) {
		t.Errorf("it allows %t, again after %v", ok, again.Sub(t0))
	}
	b.Allow(at(30*s), lease)
	pass(&b, 1, at(31*s)) // not the probe's
	if got := b.State(at(31 * s)); got != retry.HalfOpen {
		t.Errorf("it is %v", got)
	}
}

func TestBreaker_TwoProbesThatFailOpenItOnce(t *testing.T) {
	t.Parallel()
	b := tripped(t, retry.Options{})
	b.Allow(at(30*s), lease)
	b.Allow(at(40*s), lease) // the first is stranded
	failed := retry.Result{Failed: true, Probe: true}
	b.Done(failed, at(41*s))
	b.Done(failed, at(42*s))
	if again, _, _ := b.Allow(at(43*s), lease); !again.Equal(at(101 * s)) {
		t.Errorf("open until %v, want 41 s + 60 s", again.Sub(t0))
	}
}

func TestBreaker_HonoursWhatTheOtherSideAsksFor(t *testing.T) {
	t.Parallel()
	b := retry.New(retry.Options{})
	b.Done(retry.Result{Failed: true, Hold: 7 * s}, t0)
	if again, ok, _ := b.Allow(at(7*s-1), lease); ok || !again.Equal(at(7*s)) {
		t.Fatalf("it allows %t, again after %v", ok, again.Sub(t0))
	}
	b.Done(retry.Result{Failed: true, Hold: 3 * s}, at(s)) // asks for less
	if again, _, _ := b.Allow(at(s), lease); !again.Equal(at(7 * s)) {
		t.Errorf("a shorter request moved it to %v", again.Sub(t0))
	}
	if _, ok, probe := b.Allow(at(7*s), lease); !ok || !probe {
		t.Fatal("no probe when the time is up")
	}
	b.Done(retry.Result{Failed: true, Hold: 24 * time.Hour, Probe: true}, at(8*s))
	if again, _, _ := b.Allow(at(9*s), lease); !again.Equal(at(8*s + time.Hour)) {
		t.Errorf("a day was asked for: again after %v, want an hour", again.Sub(at(8*s)))
	}
}

func TestBreaker_AHoldDoesNotLengthenTheOpenTime(t *testing.T) {
	t.Parallel()
	b := retry.New(retry.Options{})
	b.Done(retry.Result{Failed: true, Hold: 10 * s}, t0)
	b.Allow(at(10*s), lease)
	b.Done(retry.Result{Failed: true, Probe: true}, at(10*s))
	if again, _, _ := b.Allow(at(10*s), lease); !again.Equal(at(40 * s)) {
		t.Errorf("the first open time is %v", again.Sub(at(10*s)))
	}
}

func TestBreaker_ACopyIsASnapshot(t *testing.T) {
	t.Parallel()
	b := retry.New(retry.Options{})
	fail(&b, 9, t0)
	c := b
	fail(&c, 1, t0)
	if b.State(t0) != retry.Closed || c.State(t0) != retry.Open {
		t.Errorf("the original is %v, the copy %v", b.State(t0), c.State(t0))
	}
}

func TestState_IsSpelledAsInMetrics(t *testing.T) {
	t.Parallel()
	for state, want := range map[retry.State]string{retry.Closed: "closed", retry.Open: "open", retry.HalfOpen: "half_open"} {
		if got := state.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestBreaker_IsLikeItsModel compares the ring with the plainest thing that could
// work: all samples, counted anew each time.
func TestBreaker_IsLikeItsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := retry.Options{
			Consecutive:    rapid.IntRange(1, 12).Draw(rt, "consecutive"),
			Window:         rapid.IntRange(1, 130).Draw(rt, "window"),
			FailurePercent: rapid.IntRange(1, 100).Draw(rt, "percent"),
			MinSamples:     rapid.IntRange(1, 60).Draw(rt, "samples"),
		}.WithDefaults()
		b := retry.New(o)
		var all []bool
		for range rapid.IntRange(1, 300).Draw(rt, "n") {
			failed := rapid.IntRange(0, 3).Draw(rt, "result") == 0
			all = append(all, failed)
			b.Done(retry.Result{Failed: failed}, t0)
			want := retry.Closed
			if opens(all, o) {
				want = retry.Open
			}
			if got := b.State(t0); got != want {
				rt.Fatalf("after %d results it is %v, want %v", len(all), got, want)
			}
			if want == retry.Open {
				return
			}
		}
	})
}

func opens(all []bool, o retry.Options) bool {
	run := 0
	for i := len(all) - 1; i >= 0 && all[i]; i-- {
		run++
	}
	last, failed := all[max(0, len(all)-o.Window):], 0
	for _, f := range last {
		if f {
			failed++
		}
	}
	return run >= o.Consecutive || len(last) >= o.MinSamples && failed*100 >= o.FailurePercent*len(last)
}

// TestBreaker_NeverHasTwoProbesWithinALease: whatever happens, while a dead
// partner's breaker is open, calls are at least the lease apart.
func TestBreaker_NeverHasTwoProbesWithinALease(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := retry.New(retry.Options{Consecutive: 1, Open: s, MaxOpen: 8 * s})
		b.Done(retry.Result{Failed: true}, t0)
		now, busy := t0, time.Time{}
		for range rapid.IntRange(1, 100).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(6*s)).Draw(rt, "later")))
			again, ok, probe := b.Allow(now, lease)
			switch {
			case !ok && !again.After(now):
				rt.Fatal("refused, and to be asked again at once")
			case ok && !probe:
				rt.Fatal("a delivery that is no probe goes out while it is open")
			case ok && now.Before(busy):
				rt.Fatal("two probes within a lease")
			case ok && rapid.Bool().Draw(rt, "answered"):
				b.Done(retry.Result{Failed: true, Probe: true}, now)
				busy = time.Time{}
			case ok:
				busy = now.Add(lease)
			}
		}
	})
}

func BenchmarkBreaker(b *testing.B) {
	br := retry.New(retry.Options{})
	for range b.N {
		br.Allow(t0, lease)
		br.Done(retry.Result{}, t0)
	}
}
