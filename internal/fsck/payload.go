package fsck

import (
	"context"
	"errors"
	"hash/maphash"

	"claimdlq"
	"claimdlq/vault"
)

// use is what is known of a unit.
type use uint8

const (
	live     use = 1 << iota // its key is there
	referred                 // a record points at it
)

func (f *run) unit(name string) uint64 { return maphash.String(f.seed, name) }

// readUnits notes which units have a key. It comes before the records: what is
// sealed later cannot be missing.
func (f *run) readUnits(ctx context.Context) error {
	return f.Vault.Units(ctx, func(unit string, _ int64) bool {
		f.r.Units++
		f.units[f.unit(unit)] = live
		return ctx.Err() == nil
	})
}

// payload checks that the record's bytes, and those of the answer that came with its
// delivery, are there and sealed. Those of a resolved record may have been destroyed.
func (f *run) payload(ctx context.Context, r claimdlq.Record) error {
	if r.Payload.IsZero() {
		f.r.record(r.ID, PayloadMissing, "no payload")
		return nil
	}
	if err := f.sealed(ctx, r, r.Payload); err != nil || r.Response.IsZero() {
		return err
	}
	return f.sealed(ctx, r, r.Response)
}

func (f *run) sealed(ctx context.Context, r claimdlq.Record, ref claimdlq.PayloadRef) error {
	h := f.unit(ref.Unit)
	before := f.units[h]
	f.units[h] = before | referred
	verified := f.Seals && before&referred != 0
	if before&live != 0 && (verified || !f.Seals) {
		return nil
	}
	switch err := f.Vault.Verify(ctx, ref); { // also where the unit was sealed since
	case err == nil:
		f.units[h] |= live
	case errors.Is(err, vault.ErrShredded) && r.State.Unresolved():
		f.r.record(r.ID, PayloadMissing, "its key was destroyed")
	case errors.Is(err, vault.ErrShredded):
		f.r.Shredded++
	case errors.Is(err, claimdlq.NotFound) && r.State.Unresolved():
		f.r.record(r.ID, PayloadMissing, "no key, or no bytes")
	case errors.Is(err, claimdlq.NotFound):
		f.r.record(r.ID, KeyMissing, "")
	case errors.Is(err, claimdlq.Corrupt):
		f.r.record(r.ID, PayloadCorrupt, err.Error())
	default:
		return err
	}
	return nil
}

// countUnits names the units that no record points at.
func (f *run) countUnits(ctx context.Context) error {
	return f.Vault.Units(ctx, func(unit string, _ int64) bool {
		if f.units[f.unit(unit)] == live { // not one that was sealed since
			f.r.Unreferenced++
			if len(f.r.Orphans) < maxOrphans {
				f.r.Orphans = append(f.r.Orphans, unit)
			}
		}
		return ctx.Err() == nil
	})
}
