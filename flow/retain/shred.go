package retain

import (
	"context"
	"errors"
	"time"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
)

// errFound ends a search that has found something.
var errFound = errors.New("found")

// SweepOrphans destroys the keys of units that no record points at: what a crash
// between sealing and committing left, units whose content a correction has
// taken along into its own, and answers that a later one has replaced. A unit is
// swept once this process has known it as an orphan for the grace, because intake
// seals before it commits; a grace of 0 is for a time when nothing else runs. It
// returns how many units were swept.
func (t *Retain) SweepOrphans(ctx context.Context, grace time.Duration) (int, error) {
	now := t.o.Now().UTC()
	u, err := t.liveUnits(ctx)
	if err != nil {
		return 0, err
	}
	// Records are read after units: what was committed between is seen.
	err = t.each(ctx, store.Filter{}, func(r claimdlq.Record) error {
		u.mark(r, false)
		return nil
	})
	if err != nil {
		return 0, err
	}
	names, _, err := t.named(ctx, u, orphan)
	if err != nil {
		return 0, err
	}
	ripe := t.ripe(names, now, grace)
	return t.shred(ctx, ripe, func(string) claimdlq.ID { return 0 }, claimdlq.ActSweep)
}

// ripe returns the orphans that have been known for the grace and remembers the
// others; what has found a record since is forgotten.
func (t *Retain) ripe(orphans []string, now time.Time, grace time.Duration) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := map[string]time.Time{}
	var out []string
	for _, unit := range orphans {
		since, ok := t.orphaned[unit]
		if !ok {
			since = now
		}
		if now.Sub(since) >= grace {
			out = append(out, unit)
			continue
		}
		known[unit] = since
	}
	t.orphaned = known
	return out
}

// ShredSettled destroys the keys of payloads and answers that are no longer needed
// (minimum necessary, 45 CFR 164.502(b)): of units whose every record, those of
// other claims in the same unit included, has been final for as long as its stream's
// ShredAfter says. It returns how many units were shredded; their records stay, and so
// does what recognises their claims. A crash leaves audit entries of units that the next
// call destroys.
func (t *Retain) ShredSettled(ctx context.Context) (int, error) {
	if !t.o.Policies.ShredsAny() {
		return 0, nil
	}
	u, err := t.settledUnits(ctx, t.o.Now())
	if err != nil {
		return 0, err
	}
	shredded := 0
	for more := true; more; {
		var names []string
		if names, more, err = t.named(ctx, u, owned); err != nil {
			return shredded, err
		}
		n, err := t.shredOwned(ctx, u, names)
		shredded += n
		if err != nil {
			return shredded, err
		}
	}
	return shredded, nil
}

// settledUnits returns the live units, marked by whether a record needs them at the
// given time.
func (t *Retain) settledUnits(ctx context.Context, at time.Time) (*units, error) {
	u, err := t.liveUnits(ctx)
	if err != nil {
		return nil, err
	}
	err = t.each(ctx, store.Filter{}, func(r claimdlq.Record) error {
		needs := t.needs(r, at)
		if !needs && u.holds(r) {
			if needs, err = t.tells(ctx, r); err != nil {
				return err
			}
		}
		u.mark(r, needs)
		return nil
	})
	return u, err
}

// needs reports whether the record's payload is kept for its sake at the given time.
func (t *Retain) needs(r claimdlq.Record, at time.Time) bool {
	due := t.o.Policies.ShredAt(r)
	return due.IsZero() || at.Before(due)
}

// tells reports whether only the record's payload tells its claim from others of the same
// fill: then it stays, so that none is billed twice.
func (t *Retain) tells(ctx context.Context, r claimdlq.Record) (bool, error) {
	if r.Format != claimdlq.FormatNCPDP || r.Batch == 0 {
		return false, nil
	}
	mates, err := t.o.Store.Lookup(ctx, r.Batch, lineage.MaxMates)
	return lineage.NeedsPayload(r, mates), err
}

// shredOwned looks once more at what is unresolved, for a late answer may have
// opened a settled record again meanwhile, and destroys what is still not needed.
func (t *Retain) shredOwned(ctx context.Context, u *units, names []string) (int, error) {
	if len(names) == 0 {
		return 0, nil
	}
	err := t.eachUnresolved(ctx, func(r claimdlq.Record) error {
		u.mark(r, true)
		return nil
	})
	if err != nil {
		return 0, err
	}
	kept := names[:0]
	for _, unit := range names {
		if i, ok := u.place(unit); ok && u.use[i] == owned {
			u.use[i] = gone
			kept = append(kept, unit)
		}
	}
	owner := func(unit string) claimdlq.ID {
		i, _ := u.place(unit)
		return u.owner[i]
	}
	return t.shred(ctx, kept, owner, claimdlq.ActKeyShred)
}

// shred audits, then destroys, a thousand at a time. It returns how many units.
func (t *Retain) shred(ctx context.Context, names []string, owner func(unit string) claimdlq.ID, a claimdlq.Action) (int, error) {
	done := 0
	for len(names) > 0 {
		some := names[:min(page, len(names))]
		names = names[len(some):]
		b := store.Batch{}
		for _, unit := range some {
			b.Entries = append(b.Entries, claimdlq.Entry{
				At: t.o.Now().UTC(), Actor: claimdlq.System("retain").Actor, Action: a, Record: owner(unit),
			})
		}
		if _, err := t.o.Store.Commit(ctx, b); err != nil {
			return done, err
		}
		for _, unit := range some {
			if err := t.o.Vault.Shred(ctx, claimdlq.PayloadRef{Unit: unit}); err != nil {
				return done, err
			}
			done++
			t.mu.Lock()
			t.shredded++
			t.mu.Unlock()
		}
	}
	return done, nil
}
