package api

import (
	"sync"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

// maxBuckets bounds how many people's pace is remembered.
const maxBuckets = 4096

// pace bounds how many requests a second one actor makes, so that a program gone wild
// leaves the others their turn. Nobody is refused who rests for a second.
type pace struct {
	mu      sync.Mutex
	rate    float64 // requests a second; the burst is as many
	now     func() time.Time
	buckets map[string]bucket
}

// bucket is how many requests somebody had left at a time.
type bucket struct {
	left float64
	at   time.Time
}

func newPace(rate float64, now func() time.Time) *pace {
	return &pace{rate: rate, now: now, buckets: map[string]bucket{}}
}

// take counts a request, or refuses it with a TooManyError.
func (p *pace) take(actor string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	b, ok := p.buckets[actor]
	if !ok {
		p.forget(now)
		b.left = p.rate
	} else if passed := now.Sub(b.at); passed > 0 { // a clock that goes back gives nothing
		b.left = min(p.rate, b.left+passed.Seconds()*p.rate)
	}
	if b.at = now; b.left < 1 {
		p.buckets[actor] = b
		return &claimdlq.Error{
			Code: claimdlq.Unavailable, Op: "take request", On: "too many a second", Hint: "wait, and ask less often: see the event streams",
			Err: &auth.TooManyError{RetryAfter: time.Second},
		}
	}
	b.left--
	p.buckets[actor] = b
	return nil
}

// forget makes room: whoever rested has a full bucket, which is what nobody has, too.
func (p *pace) forget(now time.Time) {
	if len(p.buckets) < maxBuckets {
		return
	}
	for k, b := range p.buckets {
		if now.Sub(b.at).Abs() >= time.Second || len(p.buckets) >= maxBuckets {
			delete(p.buckets, k)
		}
	}
}
