package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/filestore"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
)

// ours is claimdlq's own store and vault, used as the flow uses them.
type ours struct {
	store *filestore.Store
	vault *filevault.Vault
}

func openOurs(dir string) (engine, error) {
	keys := filepath.Join(dir, "keys")
	kr, err := keyring.Open(keys)
	if err != nil {
		return nil, err
	}
	v, err := filevault.Open(filepath.Join(dir, "vault"), keys, kr)
	if err != nil {
		return nil, err
	}
	s, err := filestore.Open(filepath.Join(dir, "journal"), filestore.Options{})
	return &ours{s, v}, err
}

// mkRecord makes record n with the same fields as a peer's row.
func mkRecord(n int64) claimdlq.Record {
	r := mkRow(n)
	at := time.UnixMilli(r.created).UTC()
	var k claimdlq.Key
	copy(k[:], r.key)
	for i := range k {
		k[i] ^= byte(n >> (8 * (i % 8)))
	}
	return claimdlq.Record{
		Key: k, Digest: claimdlq.Digest(k), KeyTerm: 1, Format: claimdlq.Format837P,
		InterchangeID: r.isa13, GroupID: "1", TransactionID: r.st02, Sender: "ZZ:TESTSENDER", Partner: fmt.Sprintf("ZZ:TESTPAYER%03d", r.partner),
		Stream: "837", Usage: "T", State: claimdlq.StateQuarantined, Reason: claimdlq.Reasons[r.reason], Class: claimdlq.Poison,
		Detail: claimdlq.NewDetail(r.detail), RuleVersion: r.rule, PayloadRevision: 1, Claims: 1, AmountCents: 12500, AttemptCount: 1,
		CreatedAt: at, FirstFailedAt: at, UpdatedAt: at,
	}
}

func insertBatch(from, to int64) store.Batch {
	var b store.Batch
	for n := from; n < to; n++ {
		r := mkRecord(n)
		b.Insert = append(b.Insert, r)
		b.Entries = append(b.Entries, claimdlq.Entry{At: r.CreatedAt, Actor: "system:bench", Action: claimdlq.ActEnqueue, Record: store.ParentIndex(len(b.Insert) - 1), To: r.State})
	}
	return b
}

func (o *ours) Insert(ctx context.Context, n int64, payload []byte) error {
	ref, err := o.vault.Stage(phi.Wrap(payload))
	if err != nil {
		return err
	}
	if err := o.vault.Sync(ctx); err != nil {
		return err
	}
	b := insertBatch(n, n+1)
	b.Insert[0].Payload = ref
	_, err = o.store.Commit(ctx, b)
	return err
}

func (o *ours) Load(ctx context.Context, from, to int64) error {
	for from < to {
		end := min(from+5000, to)
		if _, err := o.store.Commit(ctx, insertBatch(from, end)); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// Change reads, decides and compares-and-sets; where another producer was faster it tries again.
func (o *ours) Change(ctx context.Context, n int64) error {
	for {
		r, err := o.store.Get(ctx, claimdlq.ID(n+1))
		if err != nil {
			return err
		}
		act := claimdlq.ActPark
		if r.State == claimdlq.StateParked {
			r, err = r.Unpark(claimdlq.DefaultPolicy(), r.UpdatedAt.Add(time.Second))
			act = claimdlq.ActUnpark
		} else {
			r, err = r.Park(claimdlq.ReasonNone, r.UpdatedAt.Add(time.Second))
		}
		if err != nil {
			return err
		}
		_, err = o.store.Commit(ctx, store.Batch{
			Update:  []claimdlq.Record{r},
			Entries: []claimdlq.Entry{{At: r.UpdatedAt, Actor: "analyst", Action: act, Record: r.ID, To: r.State}},
		})
		if !errors.Is(err, claimdlq.Conflict) {
			return err
		}
	}
}

func (o *ours) Close() error { return errors.Join(o.store.Close(), o.vault.Close()) }
