package attempt

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
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
	Now      func() time.Time
	// Answer takes acknowledgments that came back with a delivery.
	Answer func(ctx context.Context, b phi.Bytes) error
	// Partners is how many partners are delivered to at the same time. Default: 8.
	Partners int
	// Timeout bounds one delivery. Default: 5 minutes.
	Timeout time.Duration
	// Buffer is how large an interchange is held in memory between its intent and
	// its delivery; a larger one is composed again. Default: 8 MiB.
	Buffer int
	// HoldFor is how long a submission without a target waits before it is looked
	// at again. Default: 1 minute.
	HoldFor time.Duration
	// Breaker tunes the circuit breaker of each partner.
	Breaker retry.Options
	// Breakers, if not nil, tunes the one of each partner by its stream and name, in
	// place of Breaker.
	Breakers func(stream, partner string) retry.Options
	// Rx are the overrides by which answers to pharmacy claims are classified; nil is
	// none.
	Rx *classify.NCPDPRules
	// RxLog takes the lines of logger pbm.dlq; see dlqlog.NamedRx.
	RxLog *slog.Logger
	// Workers is how many deliveries may be under way at the same time, in all.
	// Default: 64.
	Workers int
	// Grace is how long deliveries that are under way may go on after Run was told to
	// end; then their connections are cut, and what may have arrived is in doubt.
	// Default: 5 s.
	Grace time.Duration
	// Ended, if not nil, is called after each delivery of a claim, when its end is
	// durable. It must not wait.
	Ended func(r claimdlq.Record, result Result)
}

// Result names how a delivery ended for one claim, as the field spells it.
type Result string

// The results.
const (
	Requeued     Result = "REQUEUED"      // failed, to be tried again
	Terminal     Result = "TERMINAL"      // rejected for good: settled, not dead-lettered
	DLQPoison    Result = "DLQ_POISON"    // refused for its form
	DLQRejected  Result = "DLQ_REJECTED"  // refused for what it says, and to be corrected
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
	Held     int `json:"held"`     // no target, or an open breaker: no budget spent
}

func (s *Summary) add(o Summary) {
	s.Sent += o.Sent
	s.Requeued += o.Requeued
	s.InDoubt += o.InDoubt
	s.Dead += o.Dead
	s.Held += o.Held
}

// Attempt delivers submissions. It is safe for concurrent use.
type Attempt struct {
	o Options

	mu       sync.Mutex
	breakers map[string]*retry.Breaker // by partner
	busy     map[string]bool           // partners that a Drain is delivering to
}

// New returns an Attempt.
func New(o Options) *Attempt {
	o.Partners, o.Timeout = cmp.Or(o.Partners, 8), cmp.Or(o.Timeout, 5*time.Minute)
	o.Buffer, o.HoldFor = cmp.Or(o.Buffer, 8<<20), cmp.Or(o.HoldFor, time.Minute)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Attempt{o: o, breakers: map[string]*retry.Breaker{}, busy: map[string]bool{}}
}

// round is how many submissions one look at what is due takes.
const round = 256

// Drain delivers everything that is due now: partners side by side, the
// submissions of one partner one after the other. A target that fails stops
// nobody else; while one hangs, another Drain may run and takes the partners that
// are idle. It returns the first error of store or vault; outcomes are no errors.
func (a *Attempt) Drain(ctx context.Context) (Summary, error) {
	var total Summary
	now := a.now()
	if err := a.recover(ctx, now); err != nil {
		return total, err
	}
	tried := map[claimdlq.SubmissionID]uint32{} // the revision each was tried at
	for {
		due, err := a.o.Store.Due(ctx, store.DueQuery{State: claimdlq.SubmissionReady, Now: now, Limit: round})
		if err != nil {
			return total, err
		}
		lanes, fresh := map[string][]claimdlq.Submission{}, 0
		for _, s := range due {
			if tried[s.ID] < s.Revision {
				tried[s.ID] = s.Revision
				lanes[s.Partner] = append(lanes[s.Partner], s)
				fresh++
			}
		}
		if fresh == 0 {
			return total, nil
		}
		done, err := a.deliverAll(ctx, lanes)
		total.add(done)
		if err != nil {
			return total, err
		}
	}
}

func (a *Attempt) deliverAll(ctx context.Context, lanes map[string][]claimdlq.Submission) (Summary, error) {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		total Summary
		first error
	)
	slots := make(chan struct{}, a.o.Partners)
	for partner, lane := range lanes {
		if !a.enter(partner) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { a.leave(partner); <-slots }()
			ids := clones(a.o.Identities)
			// Who was delivered least goes first: probes of a dead target rotate, and
			// none of its claims pays for them alone.
			slices.SortStableFunc(lane, func(a, b claimdlq.Submission) int { return cmp.Compare(a.Receives, b.Receives) })
			for _, s := range lane {
				done, err := a.deliver(ctx, ids, s)
				mu.Lock()
				total.add(done)
				first = cmp.Or(first, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return total, first
}

// enter takes the partner, unless another Drain has it.
func (a *Attempt) enter(partner string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[partner] {
		return false
	}
	a.busy[partner] = true
	return true
}

func (a *Attempt) leave(partner string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, partner)
}

// Run delivers what becomes due until ctx ends; then it lets what is under way end,
// for as long as Options.Grace. It returns what stopped it otherwise: an error of
// store or vault that waiting does not mend.
func (a *Attempt) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// NextDue returns when the next submission is due; false if none waits. It may be
// in the past.
func (a *Attempt) NextDue(ctx context.Context) (time.Time, bool) {
	waiting, err := a.o.Store.Due(ctx, store.DueQuery{State: claimdlq.SubmissionReady, Now: a.now().Add(farAhead), Limit: round})
	if err != nil || len(waiting) == 0 {
		return time.Time{}, false
	}
	next := waiting[0].NotBefore
	for _, s := range waiting {
		if s.NotBefore.Before(next) {
			next = s.NotBefore
		}
	}
	return next, true
}

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

func (a *Attempt) enqueued(ctx context.Context, dead []claimdlq.Record) {
	for _, r := range dead {
		dlqlog.Enqueued(ctx, a.log(), r)
	}
}
