package retain

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/filing"
	"claimdlq/store"
	"claimdlq/vault"
)

// Options join a Retain to what it works with. All but Log are required.
type Options struct {
	Store    store.Store
	Vault    vault.Vault
	Policies claimdlq.Policies
	// Windows say by when claims must be with their payers. Default: no limit.
	Windows filing.Windows
	Log     *slog.Logger
	Now     func() time.Time
}

// Retain parks, un-parks, withdraws and expires records and destroys payloads. It
// is safe for concurrent use.
type Retain struct {
	o Options

	mu       sync.Mutex
	orphaned map[string]time.Time // units without a record, and since when
	known    map[claimdlq.ID]known
	warned   map[claimdlq.ID]bool // retention left them alone, and that was said
	figures  map[string]Figures
	expired  map[string]int64 // records parked by this process, by stream
	shredded int64            // units destroyed by this process
}

// New returns a Retain.
func New(o Options) *Retain {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Retain{o: o, orphaned: map[string]time.Time{}, warned: map[claimdlq.ID]bool{}, expired: map[string]int64{}}
}

// Park takes the record out of reach of replays until a named person un-parks it.
// Errors: NotFound, Refused where its state does not allow it or without a name
// and a reason.
func (t *Retain) Park(ctx context.Context, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
	return t.move(ctx, by, id, claimdlq.ActPark, func(r claimdlq.Record, now time.Time) (claimdlq.Record, error) {
		if r.State == claimdlq.StateParked {
			return r, &claimdlq.Error{Code: claimdlq.Refused, Op: "park record " + id.String(), On: "state parked"}
		}
		if r.State == claimdlq.StateSubmitted || r.State == claimdlq.StateInDoubt {
			r.FateUnknown = true
		}
		return r.Park(claimdlq.ReasonNone, now)
	})
}

// Unpark returns a parked record to quarantine with one more replay allowed, or
// to in_doubt where its fate was never learned. Errors as for Park.
func (t *Retain) Unpark(ctx context.Context, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
	return t.move(ctx, by, id, claimdlq.ActUnpark, func(r claimdlq.Record, now time.Time) (claimdlq.Record, error) {
		return r.Unpark(t.o.Policies.For(r.Stream), now)
	})
}

// Withdraw writes an unresolved record off. It is final. Errors as for Park.
func (t *Retain) Withdraw(ctx context.Context, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
	return t.move(ctx, by, id, claimdlq.ActWithdraw, func(r claimdlq.Record, now time.Time) (claimdlq.Record, error) {
		return r.Withdraw(now)
	})
}

// maxRounds bounds how often a step is tried anew because the record moved.
const maxRounds = 16

type step func(r claimdlq.Record, now time.Time) (claimdlq.Record, error)

func (t *Retain) move(ctx context.Context, by claimdlq.By, id claimdlq.ID, a claimdlq.Action, s step) (claimdlq.Record, error) {
	if err := audited.Named(by, string(a)+" record "+id.String()); err != nil {
		return claimdlq.Record{}, err
	}
	var last error
	for range maxRounds {
		r, err := t.o.Store.Get(ctx, id)
		if err != nil {
			return r, err
		}
		n, err := t.commit(ctx, by, a, r, s)
		if !errors.Is(err, claimdlq.Conflict) {
			return n, err
		}
		last = err
	}
	return claimdlq.Record{}, last
}

func (t *Retain) commit(ctx context.Context, by claimdlq.By, a claimdlq.Action, r claimdlq.Record, s step) (claimdlq.Record, error) {
	now := t.o.Now().UTC()
	n, err := s(r, now)
	if err != nil {
		return r, err
	}
	_, err = t.o.Store.Commit(ctx, store.Batch{
		Update:  []claimdlq.Record{n},
		Entries: []claimdlq.Entry{audited.Entry(by, a, r, n, now)},
	})
	if err != nil {
		return r, err
	}
	n.Revision++
	return n, nil
}
