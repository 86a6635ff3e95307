package retain

import (
	"context"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// SweepOrphans destroys the keys of units that no record points at: what a crash
// between sealing and committing left, and units whose content a correction has
// taken along into its own. A unit is swept once this process has known it as an orphan for
// the grace, because intake seals before it commits; a grace of 0 is for a time
// when nothing else runs. It returns how many units were swept.
func (t *Retain) SweepOrphans(ctx context.Context, grace time.Duration) (int, error) {
	now := t.o.Now().UTC()
	units := map[string]bool{}
	if err := t.o.Vault.Units(ctx, func(unit string, _ int64) bool { units[unit] = true; return true }); err != nil {
		return 0, err
	}
	// Records are read after units: what was committed between is seen.
	err := t.each(ctx, store.Filter{}, func(r claimdlq.Record) error {
		delete(units, r.Payload.Unit)
		return nil
	})
	if err != nil {
		return 0, err
	}
	swept := 0
	for _, unit := range t.ripe(units, now, grace) {
		if err := t.shred(ctx, claimdlq.PayloadRef{Unit: unit}, claimdlq.ActSweep, 0, now); err != nil {
			return swept, err
		}
		swept++
	}
	return swept, nil
}

// ripe returns the orphans that have been known for the grace and remembers the
// others; what has found a record since is forgotten.
func (t *Retain) ripe(orphans map[string]bool, now time.Time, grace time.Duration) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := map[string]time.Time{}
	var out []string
	for unit := range orphans {
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

// ShredSettled destroys the keys of payloads that are no longer needed (minimum
// necessary, 45 CFR 164.502(b)): of units whose every record, the claims that
// parted included, was settled or withdrawn before the given time. It returns how
// many units were shredded; their records stay.
func (t *Retain) ShredSettled(ctx context.Context, older time.Time) (int, error) {
	needed := map[string]bool{} // live units, and whether a record needs them
	if err := t.o.Vault.Units(ctx, func(unit string, _ int64) bool { needed[unit] = false; return true }); err != nil {
		return 0, err
	}
	owner := map[string]claimdlq.ID{}
	err := t.each(ctx, store.Filter{}, func(r claimdlq.Record) error {
		if _, live := needed[r.Payload.Unit]; !live {
			return nil
		}
		owner[r.Payload.Unit] = r.ID
		if r.State.Unresolved() || !r.UpdatedAt.Before(older) {
			needed[r.Payload.Unit] = true
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	shredded := 0
	for unit, id := range owner {
		if needed[unit] {
			continue
		}
		if err := t.shred(ctx, claimdlq.PayloadRef{Unit: unit}, claimdlq.ActKeyShred, id, t.o.Now().UTC()); err != nil {
			return shredded, err
		}
		shredded++
	}
	return shredded, nil
}

// shred audits, then destroys.
func (t *Retain) shred(ctx context.Context, ref claimdlq.PayloadRef, a claimdlq.Action, id claimdlq.ID, now time.Time) error {
	_, err := t.o.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: now, Actor: claimdlq.System("retain").Actor, Action: a, Record: id,
	}}})
	if err != nil {
		return err
	}
	return t.o.Vault.Shred(ctx, ref)
}
