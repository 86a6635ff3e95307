package attempt

import (
	"time"

	"claimdlq"
)

// Decision is a verdict in words, for tests.
type Decision struct {
	End         string
	Disposition claimdlq.Disposition
	Reason      claimdlq.Reason
	Class       claimdlq.Class
	Wait        time.Duration
}

var endNames = map[end]string{
	endSent: "sent", endSettled: "settled", endAgain: "again", endResend: "resend", endDoubt: "doubt", endDead: "dead", endSpent: "spent",
}

// Decide is decide.
func Decide(o claimdlq.Outcome, receives uint32, doubted, idempotent bool, p claimdlq.Policy) Decision {
	v := decide(delivery{o, receives, doubted, idempotent}, p)
	return Decision{endNames[v.end], v.disposition, v.fault.Reason, v.fault.Class, v.wait}
}

// Breaker is a breaker with options, for tests.
type Breaker struct {
	b breaker
	o BreakerOptions
}

// NewBreaker returns a closed breaker.
func NewBreaker(o BreakerOptions) *Breaker { return &Breaker{o: o.withDefaults()} }

// Allow is allow.
func (b *Breaker) Allow(now time.Time) (time.Time, bool) { return b.b.allow(now, time.Minute) }

// Done is done.
func (b *Breaker) Done(failed bool, now time.Time) { b.b.done(failed, now, b.o) }
