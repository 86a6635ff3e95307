package retry

import (
	"cmp"
	"math/bits"
	"time"
)

// The latencies above which a pharmacy answer counts as a failure: members wait at
// the counter.
const (
	SlowRetail    = 800 * time.Millisecond
	SlowSpecialty = 1200 * time.Millisecond
)

// MaxWindow is the largest window: a breaker is a small value of fixed size.
const MaxWindow = 1024

// Options tune a breaker. The zero Options have the defaults.
type Options struct {
	// Consecutive opens it after so many failures in a row. It is more than one
	// budget, so that one claim alone never opens it. Default: 10.
	Consecutive int
	// Window is how many of the latest deliveries are judged, at most MaxWindow.
	// Default: 100.
	Window int
	// FailurePercent opens it where at least so many of a hundred of the window
	// failed. Default: 50.
	FailurePercent int
	// MinSamples is how many deliveries the window must hold before FailurePercent
	// is looked at. It is never more than Window. Default: 20.
	MinSamples int
	// SlowAfter makes a delivery that took longer a failure, whatever its answer:
	// SlowRetail or SlowSpecialty. Default: 0, latency is not judged.
	SlowAfter time.Duration
	// Open is how long it stays open before a probe. Default: 30 s. It doubles with
	// each failed probe up to MaxOpen. Default: 5 min.
	Open, MaxOpen time.Duration
	// HoldMax bounds Result.Hold. Default: 1 h.
	HoldMax time.Duration
}

// WithDefaults returns the options with every default filled in and every bound kept.
func (o Options) WithDefaults() Options {
	o.Consecutive = positive(o.Consecutive, 10)
	o.Window = min(positive(o.Window, 100), MaxWindow)
	o.FailurePercent = min(positive(o.FailurePercent, 50), 100)
	o.MinSamples = min(positive(o.MinSamples, 20), o.Window)
	o.SlowAfter = max(o.SlowAfter, 0)
	o.Open = positive(o.Open, 30*time.Second)
	o.MaxOpen = max(positive(o.MaxOpen, 5*time.Minute), o.Open)
	o.HoldMax = positive(o.HoldMax, time.Hour)
	return o
}

func positive[T cmp.Ordered](v, otherwise T) T {
	var zero T
	if v > zero {
		return v
	}
	return otherwise
}

// State is where a breaker stands.
type State uint8

// The states of a breaker.
const (
	// Closed lets everything through.
	Closed State = iota
	// Open lets nothing through.
	Open
	// HalfOpen lets one probe through, or waits for the answer of one.
	HalfOpen
)

// String returns the state as it is spelled in metrics: closed, open, half_open.
func (s State) String() string {
	switch s {
	case Open:
		return "open"
	case HalfOpen:
		return "half_open"
	case Closed:
	}
	return "closed"
}

// Result is how a delivery ended.
type Result struct {
	// Failed says that the other side did not do its work: a transient failure or
	// an unknown outcome. A reject of a claim is work well done.
	Failed bool
	// Latency is how long the answer took; 0 is not judged.
	Latency time.Duration
	// Hold asks that the partner be left alone for so long: see Hold. It opens the
	// breaker at once.
	Hold time.Duration
	// Probe is what Allow said when it let the delivery through.
	Probe bool
}

// Breaker is the circuit breaker of one partner. It is a value without pointers:
// a copy is a snapshot. Its owner holds the lock; make it with New.
//
//	          Consecutive failures, FailurePercent of the window, or a Hold
//	[closed] ──────────────────────────────────────────────► [open]
//	   ▲                                                      │   ▲
//	   │ the probe succeeds                    its time is up │   │ the probe fails: twice as long
//	   └────────────────────── [half-open: one leased probe] ◄┘───┘
type Breaker struct {
	o     Options
	open  bool
	until time.Time     // open until then
	wait  time.Duration // the latest open time
	lease time.Time     // a probe is under way until then; zero is none

	run    int // failures in a row
	failed int // failures in the window
	held   int // samples in the window
	next   int // where the next sample goes
	window [MaxWindow / 64]uint64
}

// New returns a closed breaker.
func New(o Options) Breaker { return Breaker{o: o.WithDefaults()} }

// Allow reports whether a delivery may go out now; if not, when to ask again.
// Where it says probe, the delivery is the only one until its Result is given to
// Done, it is given up by Release, or lease has passed: a probe whose owner died
// frees its place.
func (b *Breaker) Allow(now time.Time, lease time.Duration) (again time.Time, ok, probe bool) {
	switch {
	case !b.open:
		return time.Time{}, true, false
	case now.Before(b.until):
		return b.until, false, false
	case now.Before(b.lease):
		return b.lease, false, false
	}
	b.lease = now.Add(lease)
	return time.Time{}, true, true
}

// Done takes the result of a delivery that Allow let through. While it is open,
// results of deliveries that started before are no news: only a probe's counts.
func (b *Breaker) Done(r Result, now time.Time) {
	failed := r.Failed || (b.o.SlowAfter > 0 && r.Latency > b.o.SlowAfter)
	hold := min(r.Hold, b.o.HoldMax)
	switch {
	case hold > 0:
		b.holdUntil(now.Add(hold), r.Probe)
	case b.open && !r.Probe:
	case b.open && !failed:
		*b = Breaker{o: b.o}
	case b.open:
		if !now.Before(b.until) { // else a probe after it has failed already
			b.trip(now)
		}
	default:
		b.sample(failed)
		if b.tripped() {
			b.trip(now)
		}
	}
}

// Release gives a probe back that ended without a Result, so that the next may go
// at once. For a delivery that was no probe it does nothing.
func (b *Breaker) Release(probe bool) {
	if probe {
		b.lease = time.Time{}
	}
}

// State returns where the breaker stands now.
func (b *Breaker) State(now time.Time) State {
	switch {
	case !b.open:
		return Closed
	case now.Before(b.until):
		return Open
	}
	return HalfOpen
}

// Options returns its options, every default filled in.
func (b *Breaker) Options() Options { return b.o }

// holdUntil opens it until then without doubling the open time: the other side
// named the time itself.
func (b *Breaker) holdUntil(t time.Time, probe bool) {
	if !b.open {
		*b = Breaker{o: b.o, open: true}
	}
	if t.After(b.until) {
		b.until = t
	}
	b.Release(probe)
}

func (b *Breaker) trip(now time.Time) {
	wait := min(max(2*b.wait, b.o.Open), b.o.MaxOpen)
	*b = Breaker{o: b.o, open: true, wait: wait, until: now.Add(wait)}
}

func (b *Breaker) tripped() bool {
	return b.run >= b.o.Consecutive ||
		b.held >= b.o.MinSamples && 100*b.failed >= b.o.FailurePercent*b.held
}

// sample puts a result into the window in place of the oldest.
func (b *Breaker) sample(failed bool) {
	word, bit := &b.window[b.next/64], uint64(1)<<(b.next%64)
	b.failed -= bits.OnesCount64(*word & bit)
	*word &^= bit
	b.run++
	if failed {
		*word |= bit
		b.failed++
	} else {
		b.run = 0
	}
	b.held = min(b.held+1, b.o.Window)
	b.next = (b.next + 1) % b.o.Window
}
