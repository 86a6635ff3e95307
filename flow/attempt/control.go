package attempt

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"claimdlq"
	"claimdlq/retry"
)

// Switch names what a person has stopped: a stream, or one partner of it, by his whole
// name or by the Part of it.
type Switch struct {
	Stream  string `json:"stream"`
	Partner string `json:"partner,omitempty"` // empty: the whole stream
}

// StreamFigures count what was delivered of one stream since the process began, in
// records.
type StreamFigures struct {
	Stream string `json:"stream"`
	// Deliveries counts what was handed to a target, the first time or again; Retries
	// those that were not the first since intake or replay; Failures the deliveries that ended with a
	// transient answer, without one, or too late for the breaker.
	Deliveries int64 `json:"deliveries"`
	Retries    int64 `json:"retries"`
	Failures   int64 `json:"failures"`
	// DeadLettered counts what went to the dead-letter queue, InDoubt what nobody knows
	// the fate of, Recovered the payments that an earlier delivery had earned.
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

// figures are the counters of one stream.
type figures struct {
	deliveries, retries, failures, dead, doubts, recovered, unknown atomic.Int64
}

// Stop stops the deliveries of a stream, or of one partner of it, at once: when it
// returns, what is under way is under way, nothing else is leased, and no budget is
// spent. Partner "" is the whole stream; the BIN or ISA08 alone is all who have it. It holds until Start, or the end of the
// process.
func (a *Attempt) Stop(stream, partner string) {
	a.leasing.Lock() // whoever was about to lease has done so
	defer a.leasing.Unlock()
	a.mu.Lock()
	a.stops[Switch{stream, partner}] = true
	a.mu.Unlock()
	a.changed()
}

// Start takes back what Stop did with the same names.
func (a *Attempt) Start(stream, partner string) {
	a.mu.Lock()
	delete(a.stops, Switch{stream, partner})
	a.mu.Unlock()
	a.changed()
	a.Wake()
}

// Stopped returns what is stopped, in order.
func (a *Attempt) Stopped() []Switch {
	a.mu.Lock()
	out := slices.AppendSeq([]Switch{}, maps.Keys(a.stops))
	a.mu.Unlock()
	slices.SortFunc(out, func(x, y Switch) int {
		return cmp.Or(cmp.Compare(x.Stream, y.Stream), cmp.Compare(x.Partner, y.Partner))
	})
	return out
}

func (a *Attempt) stopped(stream, partner string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.stops) == 0 {
		return false
	}
	part := Part(stream, partner)
	return a.stops[Switch{Stream: stream}] || a.stops[Switch{stream, partner}] || part != "" && a.stops[Switch{stream, part}]
}

// Part returns the part of a partner's name by which all who share it can be named: the
// BIN of BIN:PCN, the ISA08 of ISA07:ISA08; "" where there is none.
func Part(stream, partner string) string {
	first, last, ok := strings.Cut(partner, ":")
	switch {
	case !ok:
		return ""
	case stream == claimdlq.StreamNCPDP:
		return first
	}
	return last
}

// Wake says that something new may be due. It costs next to nothing and never waits.
func (a *Attempt) Wake() {
	a.woken.Add(1)
	a.kick()
}

// changed says that something which held a queue back may have ended, or begun.
func (a *Attempt) changed() {
	a.changes.Add(1)
	a.kick()
}

// kick makes every session look up.
func (a *Attempt) kick() {
	if list := a.sessions.Load(); list != nil {
		for _, s := range *list {
			s.kick()
		}
	}
}

// stream returns the counters of a stream. There are few: what has no route is never
// counted.
func (a *Attempt) stream(name string) *figures {
	a.countersMu.Lock()
	defer a.countersMu.Unlock()
	f := a.counters[name]
	if f == nil {
		f = new(figures)
		a.counters[name] = f
	}
	return f
}

// Figures returns the figures of each stream that has any, in order. It takes no lock
// that a delivery holds for longer than a moment.
func (a *Attempt) Figures() []StreamFigures {
	out := []StreamFigures{}
	a.countersMu.Lock()
	for name, f := range a.counters {
		out = append(out, StreamFigures{
			Stream: name, Deliveries: f.deliveries.Load(), Retries: f.retries.Load(), Failures: f.failures.Load(),
			DeadLettered: f.dead.Load(), InDoubt: f.doubts.Load(), Recovered: f.recovered.Load(), UnknownCodes: f.unknown.Load(),
		})
	}
	a.countersMu.Unlock()
	for i := range out {
		out[i].Stopped = a.stopped(out[i].Stream, "")
	}
	slices.SortFunc(out, func(x, y StreamFigures) int { return cmp.Compare(x.Stream, y.Stream) })
	return out
}

// Breakers returns where the breaker of each partner that was delivered to stands, in
// order. Partners of whom nothing is to be remembered may be missing.
func (a *Attempt) Breakers() []BreakerFigure {
	now := a.now()
	a.mu.Lock()
	out := make([]BreakerFigure, 0, len(a.lanes))
	for id, l := range a.lanes {
		out = append(out, BreakerFigure{id.stream, id.partner, l.main.State(now), l.since})
	}
	a.mu.Unlock()
	slices.SortFunc(out, func(x, y BreakerFigure) int {
		return cmp.Or(cmp.Compare(x.Stream, y.Stream), cmp.Compare(x.Partner, y.Partner))
	})
	return out
}
