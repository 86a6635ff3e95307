package attempt

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/dlqlog"
	"claimdlq/phi"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/vault"
)

// Options join an Attempt to what it works with. Store, Vault, Identities,
// Routes and Now are required.
type Options struct {
	Store      store.Store
	Vault      vault.Vault
	Identities []*claimdlq.Identity
	// Routes says where claims go; what has no route is held.
	Routes   target.Routes
	Policies claimdlq.Policies
	Log      *slog.Logger
	// RxLog takes the lines of logger pbm.dlq; see dlqlog.NamedRx. Nil discards them.
	RxLog *slog.Logger
	Now   func() time.Time
	// Answer takes acknowledgments that came back with the delivery of an 837.
	Answer func(ctx context.Context, b phi.Bytes) error
	// Rx are the overrides by which answers to pharmacy claims are classified; nil is
	// none.
	Rx *classify.NCPDPRules
	// Workers is how many deliveries may be under way at the same time, in all.
	// Default: 64.
	Workers int
	// Timeout bounds one delivery. Default: 5 minutes.
	Timeout time.Duration
	// Grace is how long deliveries that are under way may go on after a caller has given
	// up; then their connections are cut, and what may have arrived is in doubt.
	// Default: 5 s.
	Grace time.Duration
	// Buffer is how large an interchange is held in memory between its intent and
	// its delivery; a larger one is composed again. Default: 8 MiB.
	Buffer int
	// HoldFor is how long a partner without a target waits before it is looked at
	// again. Default: 1 minute.
	HoldFor time.Duration
	// Breaker tunes the circuit breaker of each partner.
	Breaker retry.Options
	// Breakers, if not nil, tunes the one of each partner by its stream and name, in
	// place of Breaker.
	Breakers func(stream, partner string) retry.Options
	// Ended, if not nil, is called after each delivery of a record, when its end is
	// durable. It must not wait.
	Ended func(r claimdlq.Record, result Result)
}

// Result names how a delivery ended for one record, as the field spells it.
type Result string

// The results.
const (
	Requeued     Result = "REQUEUED"      // failed, to be tried again
	Terminal     Result = "TERMINAL"      // rejected for good: settled, not dead-lettered
	DLQPoison    Result = "DLQ_POISON"    // refused for its form
	DLQRejected  Result = "DLQ_REJECTED"  // refused for what it says, to be corrected or replayed
	DLQExhausted Result = "DLQ_EXHAUSTED" // the budget is spent
	Sent         Result = "SENT"          // its answer will follow
	InDoubt      Result = "IN_DOUBT"      // nobody knows
	Settled      Result = "SETTLED"       // paid, accepted or reversed
)

// Summary says what a Drain did, in submissions.
type Summary struct {
	Sent     int `json:"sent"`     // handed to the payer
	Requeued int `json:"requeued"` // failed, to be tried again
	InDoubt  int `json:"in_doubt"` // nobody knows
	Dead     int `json:"dead"`     // refused, or the budget is spent
	Held     int `json:"held"`     // no target, an open breaker, or stopped: no budget spent
}

// Attempt delivers submissions. It is safe for concurrent use.
type Attempt struct {
	o Options

	woken, changes atomic.Uint64
	sessions       atomic.Pointer[[]*session]
	// leasing is held for reading from the leave to deliver until the lease is durable.
	leasing sync.RWMutex

	mu     sync.Mutex
	lanes  map[laneID]*lane
	stops  map[Switch]bool
	flying map[claimdlq.SubmissionID]struct{} // leased here, the outcome not durable

	countersMu sync.Mutex
	counters   map[string]*figures // by stream
}

// New returns an Attempt.
func New(o Options) *Attempt {
	if o.Workers <= 0 {
		o.Workers = 64
	}
	o.Timeout, o.Grace = cmp.Or(o.Timeout, 5*time.Minute), cmp.Or(o.Grace, 5*time.Second)
	o.Buffer, o.HoldFor = cmp.Or(o.Buffer, 8<<20), cmp.Or(o.HoldFor, time.Minute)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.RxLog = cmp.Or(o.RxLog, dlqlog.NamedRx(nil))
	return &Attempt{
		o: o, lanes: map[laneID]*lane{}, stops: map[Switch]bool{}, counters: map[string]*figures{},
		flying: map[claimdlq.SubmissionID]struct{}{},
	}
}

// Drain delivers everything that is due now. Several may run at the same time, beside
// Run too: they share lanes and breakers. It ends when it has nothing under way and
// finds nothing that it may deliver, and returns the first error of store or vault;
// outcomes are no errors.
func (a *Attempt) Drain(ctx context.Context) (Summary, error) {
	s := newSession(ctx, a, true)
	defer s.end()
	err := s.run()
	return s.total, err
}

// Run delivers what becomes due until ctx ends; then it lets what is under way end,
// for as long as Options.Grace. A full disk it waits out. It returns an error of
// store or vault that waiting does not mend; nil when it was told to end.
func (a *Attempt) Run(ctx context.Context) error {
	s := newSession(ctx, a, false)
	defer s.end()
	return s.run()
}

// NextDue returns when the next submission may be delivered, by its own back-off and
// by what holds its queue; false if none waits, or none that is not stopped. It may be
// in the past.
func (a *Attempt) NextDue(ctx context.Context) (next time.Time, ok bool) {
	now := a.now()
	seen := map[claimdlq.Queue]*refusal{}
	earliest := func(t time.Time) {
		if !ok || t.Before(next) {
			next, ok = t, true
		}
	}
	skip := func(q claimdlq.Queue) bool {
		no, known := seen[q]
		if !known {
			no = a.gate(q, now)
			seen[q] = no
		}
		if no != nil && !no.until.IsZero() {
			earliest(no.until)
		}
		return no != nil
	}
	waiting, err := a.o.Store.Due(ctx, store.DueQuery{State: claimdlq.SubmissionReady, Now: now.Add(farAhead), Skip: skip, Limit: glance})
	if err != nil {
		return time.Time{}, false
	}
	for i := range waiting {
		earliest(waiting[i].NotBefore)
	}
	return next, ok
}

// glance is how many of those that wait are looked at for when the next is due.
const glance = 256

// farAhead is later than anything waits.
const farAhead = 100 * 365 * 24 * time.Hour

func (a *Attempt) now() time.Time { return a.o.Now().UTC() }

func (a *Attempt) log() *slog.Logger { return a.o.Log }

func clones(ids []*claimdlq.Identity) []*claimdlq.Identity {
	out := make([]*claimdlq.Identity, len(ids))
	for i, id := range ids {
		out[i] = id.Clone()
	}
	return out
}
