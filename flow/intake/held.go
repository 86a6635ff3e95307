package intake

import (
	"context"
	"log/slog"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/lineage"
)

// maxHeldRecords is how many of the records that were held a Result names.
const maxHeldRecords = 100

// hold names a record that was held, unless enough are named.
func (r *Result) hold(rec *claimdlq.Record, s Status) {
	if len(r.Held) < maxHeldRecords {
		r.Held = append(r.Held, taken(rec, s, rec.DisplayKey()))
	}
}

// repeat names a record that was there already, where it is held.
func (r *Result) repeat(rec *claimdlq.Record) {
	switch rec.State {
	case claimdlq.StateQuarantined, claimdlq.StateParked, claimdlq.StateInDoubt:
		r.hold(rec, Duplicate)
	case claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateSettled, claimdlq.StateWithdrawn:
	}
}

func taken(r *claimdlq.Record, s Status, display string) Taken {
	return Taken{ID: r.ID, Status: s, State: r.State, Disposition: r.Disposition, Detail: r.Detail, Display: display}
}

// copied says that a copy of a claim is kept for a person to decide about.
func copied(ctx context.Context, l *slog.Logger, r claimdlq.Record) {
	msg := dlqlog.AlarmConflict
	if r.Detail == lineage.EarlierInDoubt {
		msg = dlqlog.AlarmEarlier
	}
	dlqlog.Alarm(ctx, l, msg, r)
}
