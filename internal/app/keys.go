package app

import (
	"context"

	"claimdlq"
	"claimdlq/store"
)

// RotateKeys makes a new payload key and re-wraps every data key under it, or,
// with identity, a new key for identities and digests. The audit entry is durable
// first. A rotation that a crash interrupted is finished by the next one.
func (a *App) RotateKeys(ctx context.Context, by claimdlq.By, identity bool, progress func(done, total int)) error {
	code := "PAYLOAD"
	if identity {
		code = "IDENTITY"
	}
	if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActKeyRotate, Detail: claimdlq.NewDetail(code)}); err != nil {
		return err
	}
	var err error
	if identity {
		_, err = a.Keys.RotateHMAC(ctx, a.now())
	} else {
		_, err = a.Vault.Rotate(ctx, a.now(), progress)
	}
	return err
}

// maxSiblings bounds how many claims one transaction set can have parted into.
const maxSiblings = 100_000

// Shred destroys the data key of a resolved record's payload; dryRun only says
// whether it would. The payload of a set is shared by the claims that parted from
// it and were not corrected: as long as one of them is unresolved it is refused.
// Errors: Refused, NotFound.
func (a *App) Shred(ctx context.Context, by claimdlq.By, rec claimdlq.Record, dryRun bool) error {
	family := []claimdlq.Record{rec}
	set := rec.ID
	if rec.Parent != 0 {
		set = rec.Parent
		parent, err := a.Store.Get(ctx, set)
		if err != nil {
			return err
		}
		family = append(family, parent)
	}
	kids, err := a.Store.Lookup(ctx, claimdlq.ParentRef(set), maxSiblings)
	if err != nil {
		return err
	}
	for _, r := range append(family, kids...) {
		if r.State.Unresolved() && r.Payload.Unit == rec.Payload.Unit {
			return &claimdlq.Error{
				Code: claimdlq.Refused, Op: "shred payload", On: "of record " + rec.ID.String(),
				Hint: "record " + r.ID.String() + " is " + r.State.String() + " and needs it: settle or withdraw it first",
			}
		}
	}
	if dryRun {
		return nil
	}
	if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActKeyShred, Record: rec.ID, PayloadRevision: rec.PayloadRevision}); err != nil {
		return err
	}
	return a.Vault.Shred(ctx, rec.Payload)
}

// note makes an audit entry durable.
func (a *App) note(ctx context.Context, by claimdlq.By, e claimdlq.Entry) error {
	e.At, e.Actor, e.Note = a.now(), by.Actor, by.Reason
	_, err := a.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{e}})
	return err
}
