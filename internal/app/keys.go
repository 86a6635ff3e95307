package app

import (
	"context"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// KeyTerm is what may be said of one term of a key.
type KeyTerm struct {
	Use     string // payload, identity
	Term    uint32
	State   string
	Primary bool // what is new is made with it
	Created time.Time
}

// KeyTerms lists the terms of the payload keys, then those of the identity keys, the
// oldest first.
func (a *App) KeyTerms() []KeyTerm {
	var out []KeyTerm
	for _, t := range a.Keys.KEKs() {
		out = append(out, KeyTerm{"payload", t.ID, string(t.State), t.Primary, t.Created})
	}
	for _, t := range a.Keys.HMACs() {
		out = append(out, KeyTerm{"identity", t.ID, string(t.State), t.Primary, t.Created})
	}
	return out
}

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

// Shred destroys the data key of a resolved record's payload; dryRun only says
// whether it would. A payload may be shared: by the claims that parted from a set and
// were not corrected, by those of a transmission or of a batch. As long as one of them
// is unresolved it is refused. The payer's sealed answer stays until retention
// destroys it. Errors: Refused, NotFound.
func (a *App) Shred(ctx context.Context, by claimdlq.By, rec claimdlq.Record, dryRun bool) error {
	needs, shared := rec, rec.State.Unresolved()
	if !shared {
		var err error
		if needs, shared, err = a.Flow.Retain.SharesUnit(ctx, rec); err != nil {
			return err
		}
	}
	if shared {
		return &claimdlq.Error{
			Code: claimdlq.Refused, Op: "shred payload", On: "of record " + rec.ID.String(),
			Hint: "record " + needs.ID.String() + " is " + needs.State.String() + " and needs it: settle or withdraw it first",
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
