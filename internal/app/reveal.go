package app

import (
	"bytes"
	"context"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/x12"
)

// Reveal opens what a record stands for, for a person, as a complete document: a
// set, or one claim. A claim above 0 is the place of one claim in a set's record,
// to be cut out of it. The audit entry is durable before anything is decrypted.
// Errors: NotFound (also where the set has no such claim), Invalid (the record is no set), Refused (larger than 64 MiB).
func (a *App) Reveal(ctx context.Context, by claimdlq.By, id claimdlq.ID, claim uint32) (phi.Bytes, error) {
	rec, err := a.Store.Get(ctx, id)
	if err != nil {
		return phi.Bytes{}, err
	}
	if claim > 0 && rec.Scope != claimdlq.ScopeTransaction {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: "open claim", On: "of record " + id.String(), Hint: "the record is no transaction set"}
	}
	receipt, err := a.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: a.now(), Actor: by.Actor, Note: by.Reason, Action: claimdlq.ActReveal,
		Record: id, PayloadRevision: rec.PayloadRevision,
	}}})
	if err != nil {
		return phi.Bytes{}, err
	}
	doc, err := envelope.Document(ctx, a.Vault, receipt.Proof, rec)
	if err != nil || claim == 0 {
		return doc, err
	}
	var one bytes.Buffer
	if _, err := x12.CutClaim(&one, bytes.NewReader(doc.Reveal()), int(claim), x12.Numbers{}); err != nil {
		return phi.Bytes{}, err
	}
	return phi.Wrap(one.Bytes()), nil
}
