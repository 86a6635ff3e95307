package flow_test

import (
	"bytes"
	"context"
	"testing"

	"claimdlq/flow"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// meantime is a store in which something happens once, just before the commit that
// releases what a batch held.
type meantime struct {
	store.Store
	happens func()
}

func (m *meantime) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if f := m.happens; f != nil && len(b.NewSubmissions) > 0 && len(b.Insert) == 0 {
		m.happens = nil
		f()
	}
	return m.Store.Commit(ctx, b)
}

func TestRxFile_AClaimOfABatchThatComesAloneMeanwhileGoesOnce(t *testing.T) { // 8, F12
	t.Parallel()
	for _, per := range []int{1, 3} {
		for _, after := range []bool{false, true} {
			var m *meantime
			b := rxSetup(t, "", func(d *flow.Deps) {
				m = &meantime{Store: d.Store}
				d.Store = m
			})
			o := testclaims.RxOptions{Seed: 1, Claims: 3, TransactionsPer: per, Batch: true, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1}
			file := rxFile(t, o)
			o.Batch = false
			alone, err := ncpdp.Cut(ncpdp.Parse(rxMessages(t, o)[0]), 1)
			b.must(err)
			alone = bytes.Clone(alone)
			if !after {
				m.happens = func() { b.take(alone) }
			}
			res := b.rxIngest(file)
			if after {
				b.takes(alone, dup)
			} else if res.Accepted != 2 || res.Duplicates != 1 {
				t.Errorf("%d a transmission: %+v", per, res)
			}
			in := map[uint64]int{}
			for _, s := range b.submissions() {
				for _, run := range s.Members {
					for id := run.First; id <= run.Last; id++ {
						in[uint64(id)]++
					}
				}
			}
			if in[1] != 1 || in[2] != 1 || in[3] != 1 {
				t.Errorf("%d a transmission, after %v: submissions of each record %v\n%s", per, after, in, b.dump())
			}
			b.drain()
			if n := b.payer.Stats().Pharmacy.Paid; n != 3 {
				t.Errorf("%d a transmission, after %v: %d paid", per, after, n)
			}
		}
	}
}
