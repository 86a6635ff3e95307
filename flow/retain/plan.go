package retain

import (
	"context"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// Planned is what retention does up to a time, if nothing else happens.
type Planned struct {
	At      time.Time
	Park    map[string]int64 // records, by stream
	Shred   int64            // sealed units
	Settled int64            // records that lose their payload with them
}

// Plan says what Expire and ShredSettled would have done by each of the times, and
// changes nothing and opens nothing. Records near the end of a filing window are counted
// though Expire may leave them alone. It reads every record once for each time. Errors:
// those of store and vault.
func (t *Retain) Plan(ctx context.Context, at ...time.Time) ([]Planned, error) {
	var out []Planned
	for _, when := range at {
		p := Planned{At: when, Park: map[string]int64{}}
		for _, stream := range claimdlq.Streams {
			p.Park[stream] = 0
		}
		if err := t.planPark(ctx, when, p.Park); err != nil {
			return nil, err
		}
		var err error
		if p.Shred, p.Settled, err = t.planShred(ctx, when); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (t *Retain) planPark(ctx context.Context, at time.Time, n map[string]int64) error {
	return t.eachUnresolved(ctx, func(r claimdlq.Record) error {
		if slices.Contains(expires, r.State) && at.Sub(since(r)) > t.o.Policies.For(r.Stream).Retention {
			n[r.Stream]++
		}
		return nil
	})
}

func (t *Retain) planShred(ctx context.Context, at time.Time) (shred, settled int64, err error) {
	if !t.o.Policies.ShredsAny() {
		return 0, 0, nil
	}
	u, err := t.settledUnits(ctx, at)
	if err != nil {
		return 0, 0, err
	}
	for _, of := range u.use {
		if of == owned {
			shred++
		}
	}
	err = t.each(ctx, store.Filter{}, func(r claimdlq.Record) error {
		if i, live := u.place(r.Payload.Unit); live && u.use[i] == owned {
			settled++
		}
		return nil
	})
	return shred, settled, err
}
