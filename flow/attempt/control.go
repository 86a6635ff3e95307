package attempt

import (
	"time"

	"claimdlq/retry"
)

// Switch names what a person has stopped: a stream, or one partner of it.
type Switch struct {
	Stream  string `json:"stream"`
	Partner string `json:"partner,omitempty"` // empty: the whole stream
}

// StreamFigures count what was delivered of one stream since the process began.
type StreamFigures struct {
	Stream string `json:"stream"`
	// Deliveries counts claims handed to a target, the first time or again; Retries
	// those that wait for another delivery; Failures the deliveries that ended without
	// an answer or with a transient one.
	Deliveries int64 `json:"deliveries"`
	Retries    int64 `json:"retries"`
	Failures   int64 `json:"failures"`
	// DeadLettered counts claims that went to the dead-letter queue, InDoubt those
	// whose fate nobody knows, Recovered payments that an earlier delivery had earned.
	DeadLettered int64 `json:"dead_lettered"`
	InDoubt      int64 `json:"in_doubt"`
	Recovered    int64 `json:"recovered"`
	// UnknownCodes counts answers with a reject code that is in no table.
	UnknownCodes int64 `json:"unknown_codes"`
	// Stopped says that a person has stopped the whole stream.
	Stopped bool `json:"stopped"`
}

// BreakerFigure is where the breaker of one partner stands.
type BreakerFigure struct {
	Stream  string      `json:"stream"`
	Partner string      `json:"partner"`
	State   retry.State `json:"-"`
	// Since is when it last left the closed state; zero where it is closed.
	Since time.Time `json:"since,omitzero"`
}

// Stop stops the deliveries of a stream, or of one partner of it, at once: what is
// under way ends, nothing else is leased, and no budget is spent. Partner "" is the
// whole stream. It holds until Start, or the end of the process.
func (a *Attempt) Stop(stream, partner string) {}

// Start takes back what Stop did with the same names.
func (a *Attempt) Start(stream, partner string) {}

// Stopped returns what is stopped, in order.
func (a *Attempt) Stopped() []Switch { return nil }

// Wake says that something new may be due. It costs next to nothing and never waits.
func (a *Attempt) Wake() {}

// Figures returns the figures of each stream that has any, in order. It takes no lock
// that a delivery holds.
func (a *Attempt) Figures() []StreamFigures { return nil }

// Breakers returns where the breaker of each partner that was delivered to stands, in
// order.
func (a *Attempt) Breakers() []BreakerFigure { return nil }
