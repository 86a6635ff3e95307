package flow_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// doomed is a store whose process dies at the nth commit from now on, which was made all
// the same where it says so. Nothing is made after it, until it is well again.
type doomed struct {
	store.Store
	left atomic.Int64
	made bool
}

func (d *doomed) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	n := d.left.Add(-1)
	if n > 0 || n == 0 && d.made {
		r, err := d.Store.Commit(ctx, b)
		if n > 0 {
			return r, err
		}
	}
	return store.Receipt{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "commit"}
}

// What a broken batch held back, and a good one brings again, goes out although the
// process died before the good one's end was judged.
func TestRxFile_ACrashStrandsNothingThatAGoodBatchRevived(t *testing.T) { // 33, F12
	t.Parallel()
	const well = 1 << 40
	o := testclaims.RxOptions{Seed: 1, Batch: true, Claims: 3, BatchNumber: 1, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1}
	for more := range 2 { // whether the good batch has claims of its own
		for at := int64(1); at <= 4; at++ {
			for _, made := range []bool{false, true} {
				d := &doomed{made: made}
				d.left.Store(well)
				b := rxSetup(t, "", func(deps *flow.Deps) { d.Store, deps.Store = deps.Store, d })
				bad := rxFile(t, o)
				bad[len(bad)-45] ^= 1
				if res := b.rxIngest(bad); res.Quarantined != 3 {
					t.Fatalf("%+v", res)
				}
				o := o
				o.BatchNumber, o.Claims = 2, o.Claims+more
				good := rxFile(t, o)
				d.left.Store(at)
				_, err := b.f.Intake.File(t.Context(), source, "b", bytes.NewReader(good))
				d.left.Store(well)
				if err == nil {
					continue
				}
				b.rxIngest(good) // its source gives it again
				b.drain()
				for _, r := range b.list(store.Filter{}) {
					if r.State != claimdlq.StateSettled {
						t.Errorf("%d more, crash at commit %d (made: %v): record %d is %s, held %q", more, at, made, r.ID, r.State, r.Hold)
					}
				}
				if n := b.payer.Stats().Pharmacy.Paid; n != o.Claims {
					t.Errorf("%d more, crash at commit %d (made: %v): %d paid", more, at, made, n)
				}
			}
		}
	}
}

func TestRxFile_WhatAGoodBatchRevivedGoesAlthoughItIsTakenBackMeanwhile(t *testing.T) { // F18
	t.Parallel()
	d := &doomed{}
	d.left.Store(1 << 40)
	b := rxSetup(t, "", func(deps *flow.Deps) { d.Store, deps.Store = deps.Store, d })
	o := testclaims.RxOptions{Seed: 1, Batch: true, Claims: 3, BatchNumber: 1, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1}
	bad := rxFile(t, o)
	bad[len(bad)-45] ^= 1
	b.rxIngest(bad)
	o.BatchNumber = 2
	good := rxFile(t, o)
	d.left.Store(2) // the chunk is durable, its release is not
	if _, err := b.f.Intake.File(t.Context(), source, "b", bytes.NewReader(good)); err == nil {
		t.Fatal("it did not crash")
	}
	d.left.Store(1 << 40)
	back := b.takes(rxOne(t, "B2", 1), in).Records[0].ID
	b.rxIngest(good)
	b.drain()
	b.clock.pass(time.Minute)
	b.drain()
	b.ends(1, claimdlq.StateSettled, claimdlq.Paid)
	b.ends(back, claimdlq.StateSettled, claimdlq.Reversed)
}
