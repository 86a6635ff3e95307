package fsck

import (
	"context"
	"errors"
	"fmt"

	"claimdlq"
)

// family checks a set against the claims that parted from it, and a claim
// against its set.
func (f *run) family(ctx context.Context, r claimdlq.Record) error {
	if r.Parent != 0 {
		if err := f.child(ctx, r); err != nil {
			return err
		}
	}
	if r.Parted == 0 {
		return nil
	}
	// A look-up may hold a stranger whose value happens to be the same; then one
	// more than the set has is found and looked at.
	found, err := f.Store.Lookup(ctx, claimdlq.ParentRef(r.ID), int(r.Parted)+1)
	if err != nil {
		return err
	}
	var claims uint32
	ordinals := map[uint32]bool{}
	for _, c := range found {
		if c.Parent != r.ID {
			continue
		}
		claims += c.Claims
		if ordinals[c.Ordinal] {
			f.r.record(c.ID, PartedCount, fmt.Sprintf("claim %d of record %d has two records", c.Ordinal, r.ID))
		}
		ordinals[c.Ordinal] = true
	}
	if claims != r.Parted {
		f.r.record(r.ID, PartedCount, fmt.Sprintf("%d parted, %d have records", r.Parted, claims))
	}
	return nil
}

func (f *run) child(ctx context.Context, r claimdlq.Record) error {
	parent, err := f.Store.Get(ctx, r.Parent)
	switch {
	case errors.Is(err, claimdlq.NotFound):
		f.r.record(r.ID, ParentMissing, "")
		return nil
	case err != nil:
		return err
	case parent.Parent != 0:
		f.r.record(r.ID, ParentMissing, "its parent is a claim")
	case parent.Parted == 0:
		f.r.record(r.ID, PartedCount, fmt.Sprintf("record %d does not know that it parted", parent.ID))
	}
	return nil
}
