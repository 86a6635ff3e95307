package flow_test

import (
	"context"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// What was held at first sight stood in nobody's way. Handed over as what another pipeline
// may have sent, it does: the same claim under other numbers waits for what becomes of it.
func TestDeadLetter_AnAmbiguousSetThatWasHeldKeepsTheSameClaimBack(t *testing.T) { // promise 2
	t.Parallel()
	for name, c := range map[string]struct {
		held   []byte
		claims int
	}{
		"by our rules":           {generate(t, testclaims.Options{Claims: 1, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{1}}}}), 1},
		"a claim of it, by them": {oneBad(t), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "")
			b.ingest(c.held)
			b.gives(c.held)
			b.gives(c.held)
			b.restart()
			again := generate(t, testclaims.Options{Claims: c.claims, ClaimsPerSet: 1, ISA13: 5, GS06: 5})
			if res := b.ingest(again); res.Quarantined != int64(c.claims) {
				t.Errorf("in a new file: %+v\n%s", res, b.dump())
			}
			b.stays()
		})
	}
}

// The first was rejected; the copy that was held behind it may have been sent meanwhile.
func TestDeadLetter_AnAmbiguousCopyThatWasHeldKeepsTheRejectedOneBack(t *testing.T) { // promise 2
	t.Parallel()
	for name, conflict := range map[string]bool{"under other numbers": false, "in conflict": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "claim 1-2 stc A7:562:85")
			b.ingest(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 1}))
			b.drain()
			o := testclaims.Options{Claims: 1, ISA13: 2, GS06: 2}
			if conflict {
				o.ISA13, o.GS06, o.FirstClaim = 1, 1, 2
			}
			held := generate(t, o)
			if res := b.ingest(held); res.Quarantined+res.Conflicts != 1 {
				t.Fatalf("got %+v", res)
			}
			b.gives(held)
			b.acks()
			id := claimdlq.ID(1)
			if conflict {
				id = 2
			}
			if got := b.replay(id, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
				t.Errorf("a replay is %s\n%s", got, b.dump())
			}
			b.drain()
			b.noDouble()
		})
	}
}

// What would go out, and a copy of it that was held is the one that may have gone already.
func TestDeadLetter_AnAmbiguousCopyThatWasHeldStopsTheOneThatWaits(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	held := generate(t, testclaims.Options{Claims: 1, ISA13: 2, GS06: 2})
	b.ingest(held)
	b.gives(held)
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateParked: 1, claimdlq.StateInDoubt: 1})
}

// meanwhile is a store beside which something happens once, after the first commit that
// makes a submission.
type meanwhile struct {
	store.Store
	do func()
}

func (m *meanwhile) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	r, err := m.Store.Commit(ctx, b)
	if do := m.do; do != nil && len(b.NewSubmissions) > 0 {
		m.do = nil
		do()
	}
	return r, err
}

// What happens before a record knows which submission carries it leaves it a way out.
func TestDeadLetter_WhatIsBeingHandedOverKeepsItsSubmission(t *testing.T) { // promises 2, 8
	t.Parallel()
	for name, act := range map[string]func(*bench, []byte){
		"an answer comes": func(b *bench, answer []byte) { b.ack(answer) },
		"a person parks it": func(b *bench, _ []byte) {
			_, err := b.f.Retain.Park(b.t.Context(), ana, 1)
			b.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "acks 999")
			file := generate(t, testclaims.Options{Claims: 1})
			m := &meanwhile{Store: b.st}
			b.deps.Store = m
			b.assemble()
			answer := b.target.post(file)
			m.do = func() { act(b, answer) }
			b.gives(file)
			if b.record(1).State == claimdlq.StateParked {
				_, err := b.f.Retain.Unpark(t.Context(), ana, 1)
				b.must(err)
			}
			b.clock.pass(30 * 24 * time.Hour)
			_, err := b.f.Settle.Overdue(t.Context())
			b.must(err)
			r, err := b.f.Settle.Resolve(t.Context(), ana, 1, false)
			if err != nil || r.State != claimdlq.StateQuarantined {
				t.Errorf("got %v\n%s", err, b.dump())
			}
		})
	}
}

// looked is a store beside which something happens once, after the nth look at a record.
type looked struct {
	store.Store
	left int
	do   func()
}

func (l *looked) Get(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	r, err := l.Store.Get(ctx, id)
	if l.left--; l.left == 0 {
		l.do()
	}
	return r, err
}

// The payer rejects ours while another number of it is handed over: ours is rejected, and
// in doubt about nothing.
func TestDeadLetter_OursIsAnsweredWhileAnotherNumberOfItIsHandedOver(t *testing.T) {
	t.Parallel()
	for n := 1; n < 6; n++ {
		b := setup(t, "claim 1 stc A7:562:85")
		b.ingest(generate(t, testclaims.Options{Claims: 1}))
		b.drain()
		l := &looked{Store: b.st, left: n, do: func() { b.acks() }}
		b.deps.Store = l
		b.assemble()
		b.gives(generate(t, testclaims.Options{Claims: 1, ISA13: 2, GS06: 2}))
		l.left = 0
		b.acks()
		for _, r := range b.list(store.Filter{State: claimdlq.StateInDoubt}) {
			if r.Submission == 0 {
				t.Errorf("at look %d: nothing tells of record %d\n%s", n, r.ID, b.dump())
			}
		}
	}
}
