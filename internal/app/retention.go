package app

import (
	"context"
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/flow/lineage"
	"claimdlq/flow/retain"
)

// watchEvery is how often filing windows and retentions are looked at, at most.
const watchEvery = 15 * time.Minute

// LookAfter does what falls due with time: submissions whose acknowledgment is
// overdue go into doubt, filing windows are looked at every quarter of an hour, and what
// is unresolved past its retention is parked. All alarm. It returns how many records are
// overdue and were parked.
func (a *App) LookAfter(ctx context.Context) (overdue, expired int, err error) {
	if overdue, err = a.Flow.Settle.Overdue(ctx); err != nil {
		return overdue, 0, err
	}
	if err := a.Watch(ctx); err != nil {
		return overdue, 0, err
	}
	expired, err = a.Flow.Retain.Expire(ctx)
	return overdue, expired, err
}

// Watch looks at filing windows and retentions, unless somebody has within a quarter of
// an hour.
func (a *App) Watch(ctx context.Context) error {
	a.watching.Lock()
	defer a.watching.Unlock()
	now := a.now()
	if !a.watched.IsZero() && now.Sub(a.watched).Abs() < watchEvery {
		return nil
	}
	if err := a.Flow.Retain.Watch(ctx); err != nil {
		return err
	}
	a.watched = now
	return nil
}

// ShredSettled destroys the payloads whose time after settlement is over and gives their
// space back. It returns how many sealed units.
func (a *App) ShredSettled(ctx context.Context) (units int, err error) {
	units, err = a.Flow.Retain.ShredSettled(ctx)
	if err != nil || units == 0 {
		return units, err
	}
	a.log.LogAttrs(ctx, slog.LevelInfo, "Payloads of settled claims are destroyed", slog.Int("units", units))
	_, err = a.Vault.Reclaim(ctx)
	return units, err
}

// Due lists unresolved records by the end of their filing windows, for a named person
// with a reason; see retain.Due.
func (a *App) Due(ctx context.Context, by claimdlq.By, f retain.DueFilter, limit int) ([]retain.Due, error) {
	return a.Flow.Retain.Due(ctx, by, f, limit)
}

// WaitsFor returns the record that a record which is held for its lineage waits for; 0
// where nothing stands in its way. With a code, that record has stopped it for good.
func (a *App) WaitsFor(ctx context.Context, r claimdlq.Record) (claimdlq.ID, claimdlq.Detail, error) {
	v, err := lineage.Wait(ctx, a.Store, r)
	return v.For, v.Code, err
}

// Windows returns the filing windows that the directory goes by.
func (a *App) Windows() filing.Windows { return a.windows }

// Plan says what retention would do; see retain.Plan.
func (a *App) Plan(ctx context.Context, at ...time.Time) ([]retain.Planned, error) {
	return a.Flow.Retain.Plan(ctx, at...)
}

// Shredded returns how many sealed units this process has destroyed.
func (a *App) Shredded() int64 { return a.Flow.Retain.Shredded() }
