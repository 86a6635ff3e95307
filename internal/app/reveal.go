package app

import (
	"context"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/phi"
	"claimdlq/store"
)

// Reveal opens what a record stands for, for a person, as a complete document.
// The audit entry about it is durable before anything is decrypted.
func (a *App) Reveal(ctx context.Context, by claimdlq.By, id claimdlq.ID) (phi.Bytes, error) {
	rec, err := a.Store.Get(ctx, id)
	if err != nil {
		return phi.Bytes{}, err
	}
	receipt, err := a.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: a.now(), Actor: by.Actor, Note: by.Reason, Action: claimdlq.ActReveal,
		Record: id, PayloadRevision: rec.PayloadRevision,
	}}})
	if err != nil {
		return phi.Bytes{}, err
	}
	return envelope.Document(ctx, a.Vault, receipt.Proof, rec)
}
