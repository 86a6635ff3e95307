package flow_test

import (
	"context"
	"errors"
	"testing"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/vault"
)

// brittle makes a vault and a store fail from the nth step on that changes anything, as a
// crash does; 0 is never.
type brittle struct{ left int }

var errCrash = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "TEST crash"}

func (c *brittle) step() error {
	if c.left == 1 {
		return errCrash
	}
	c.left = max(0, c.left-1)
	return nil
}

type brittleVault struct {
	vault.Vault
	c *brittle
}

func (v brittleVault) Shred(ctx context.Context, ref claimdlq.PayloadRef) error {
	if err := v.c.step(); err != nil {
		return err
	}
	return v.Vault.Shred(ctx, ref)
}

type brittleStore struct {
	store.Store
	c *brittle
}

func (s brittleStore) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if err := s.c.step(); err != nil {
		return store.Receipt{}, err
	}
	return s.Store.Commit(ctx, b)
}

// A crash after any step of a shredding: no key is destroyed without an audit entry
// before it, nothing that is needed is gone, and the next call finishes.
func TestShred_ACrashBetweenAnyTwoStepsIsFinishedByTheNextCall(t *testing.T) {
	t.Parallel()
	for crash := 1; ; crash++ {
		b := setup(t, "")
		b.ingest(generate(t, testclaims.Options{Claims: 8, ClaimsPerSet: 2, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{3}}}}))
		b.drain()
		b.acks()
		b.clock.pass(2 * day)
		real, c := b.deps, &brittle{left: crash}
		b.deps.Vault, b.deps.Store = brittleVault{real.Vault, c}, brittleStore{real.Store, c}
		b.shredAfter(day)
		_, err := b.f.Retain.ShredSettled(t.Context())
		whole := err == nil
		if err != nil && !errors.Is(err, claimdlq.Unavailable) {
			t.Fatal(err)
		}
		b.shredded(t)
		b.deps.Vault, b.deps.Store = real.Vault, real.Store
		b.assemble()
		again, err := b.f.Retain.ShredSettled(t.Context())
		b.must(err)
		if whole != (again == 0) {
			t.Errorf("crash at %d: %d units were left", crash, again)
		}
		b.shredded(t)
		left := 0
		b.must(b.v.Units(t.Context(), func(string, int64) bool { left++; return true }))
		if left != 1 { // the set that the held claim came in
			t.Errorf("crash at %d: %d units are left", crash, left)
		}
		if whole {
			if crash < 5 {
				t.Errorf("only %d steps", crash)
			}
			return
		}
	}
}

// shredded checks that what is unresolved has its payload, and that whatever has none has
// an audit entry.
func (b *bench) shredded(t *testing.T) {
	t.Helper()
	entries := 0
	b.must(b.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActKeyShred {
			entries++
		}
		return true
	}))
	gone := map[string]bool{}
	for _, r := range b.list(store.Filter{}) {
		err := b.v.Verify(t.Context(), r.Payload)
		if r.State.Unresolved() && err != nil {
			t.Fatalf("record %d is %s and its payload is gone", r.ID, r.State)
		}
		if errors.Is(err, claimdlq.NotFound) {
			gone[r.Payload.Unit] = true
		}
	}
	if len(gone) > entries {
		t.Fatalf("%d units are gone, %d entries", len(gone), entries)
	}
}

func TestShred_EachDispositionHasItsOwnTimeAndNothingGoesByDefault(t *testing.T) { // 24, F39
	t.Parallel()
	b := setup(t, "claim 2 stc A7:562:85")
	for n := range 3 {
		b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: uint32(n + 1), FirstClaim: n + 1, Seed: uint64(n)}))
		b.drain()
		b.acks()
	}
	rs := b.list(store.Filter{State: claimdlq.StateQuarantined})
	if len(rs) != 1 {
		t.Fatalf("%d refused\n%s", len(rs), b.dump())
	}
	_, err := b.f.Retain.Withdraw(t.Context(), ana, rs[0].ID)
	b.must(err)
	shred := func(want int) {
		t.Helper()
		if n, err := b.f.Retain.ShredSettled(t.Context()); n != want || err != nil {
			t.Fatalf("shredded %d, want %d: %v\n%s", n, want, err, b.dump())
		}
	}
	b.clock.pass(10_000 * day)
	shred(0)
	for _, c := range []struct {
		set  func(*claimdlq.ShredAfter)
		want int
	}{
		{func(s *claimdlq.ShredAfter) { s.Paid, s.Rejected, s.Reversed = day, day, day }, 0},
		{func(s *claimdlq.ShredAfter) { s.Withdrawn = day }, 1},
		{func(s *claimdlq.ShredAfter) { s.Accepted = 20_000 * day }, 0},
		{func(s *claimdlq.ShredAfter) { s.Accepted = 9_000 * day }, 2},
		{func(s *claimdlq.ShredAfter) { s.Answers = day }, 3},
	} {
		b.policy(func(p *claimdlq.Policy) { c.set(&p.ShredAfter) })
		b.assemble()
		shred(c.want)
	}
	if got := b.f.Retain.Shredded(); got != 3 {
		t.Errorf("counted %d", got)
	}
}

// What was shredded is still recognised when it comes again: by its set's identity, by its
// claims' fingerprints under other numbers, by a pharmacy claim's key, and corrected.
func TestShred_DuplicatesAreRecognisedAfterwards(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "")
	b.shredAfter(day)
	file := generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2})
	b.ingest(file)
	b.drain()
	b.acks()
	b.clock.pass(2 * day)
	if n, err := b.f.Retain.ShredSettled(t.Context()); n != 2 || err != nil {
		t.Fatalf("shredded %d: %v", n, err)
	}
	if res := b.ingest(file); res.Duplicates != 2 {
		t.Errorf("the same file: %+v", res)
	}
	if res := b.ingest(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2, ISA13: 9, GS06: 9, ST02: 9})); res.Accepted != 0 || res.Quarantined != 2 {
		t.Errorf("the same claims under other numbers: %+v", res)
	}
	b.drain()
	b.noDouble()
}

func TestShred_APharmacyClaimIsRecognisedAfterwards(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim 2 reject R8 tries 1")
	b.shredAfter(day)
	paid := b.take(rxOne(t, "B1", 1)).ID
	b.drain()
	fixed := b.take(rxOne(t, "B1", 2)).ID
	b.drain()
	b.ends(paid, claimdlq.StateSettled, claimdlq.Paid)
	b.rxCorrect(fixed, "04-C2=TEST77")
	if got := b.replay(fixed, replay.Options{}); got != claimdlq.Replayed {
		t.Fatal(got)
	}
	b.drain()
	b.ends(fixed, claimdlq.StateSettled, claimdlq.Paid)
	b.clock.pass(2 * day)
	if _, err := b.f.Retain.ShredSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.v.Verify(t.Context(), b.record(paid).Payload); !errors.Is(err, claimdlq.NotFound) {
		t.Fatalf("it is still there: %v", err)
	}
	b.takes(rxOne(t, "B1", 1), intake.Duplicate)
	corrected := rxSet(t, rxOne(t, "B1", 2), "04-C2=TEST77")
	if got := b.take(corrected); got.Status == intake.TakenIn {
		t.Errorf("the corrected claim is sent again: %+v", got)
	}
	back := b.take(rxOne(t, "B2", 1))
	b.drain()
	b.paidTwice()
	if r := b.record(back.ID); lineage.Root(r) != paid || r.Disposition != claimdlq.Reversed {
		t.Errorf("its reversal is about record %d and %s", lineage.Root(r), r.Disposition)
	}
	if again := b.take(rxOne(t, "B1", 1)); again.Status != intake.TakenIn { // it was taken back
		t.Errorf("billed again: %+v", again)
	}
	b.drain()
	b.paidTwice()
}
