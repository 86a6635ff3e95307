package flow_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/intake"
	"claimdlq/flow/retain"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/vault"
	"claimdlq/vault/memvault"
)

// units returns the live units of the vault.
func (b *rxBench) units() map[string]bool {
	b.t.Helper()
	out := map[string]bool{}
	b.must(b.v.Units(b.t.Context(), func(u string, _ int64) bool { out[u] = true; return true }))
	return out
}

func TestRxRetain_AUnitIsShreddedOnlyWhenNobodyInItNeedsIt(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim 2 reject R8 tries 1\nclaim 3 capture")
	b.shredAfter(day)
	raw := rxMessages(t, testclaims.RxOptions{TransactionsPer: 3, Claims: 3, PartialEvery: -1, COBEvery: -1})[0]
	ids := b.takes(raw, intake.TakenIn, intake.TakenIn, intake.TakenIn).Records
	b.drain()
	b.ends(ids[0].ID, claimdlq.StateSettled, claimdlq.Paid)
	b.ends(ids[1].ID, claimdlq.StateQuarantined, claimdlq.DispositionNone)
	b.ends(ids[2].ID, claimdlq.StateSubmitted, claimdlq.DispositionNone)
	shred := func(want int) {
		t.Helper()
		b.clock.pass(30 * day)
		n, err := b.f.Retain.ShredSettled(t.Context())
		if n != want || err != nil {
			t.Fatalf("shredded %d, want %d: %v", n, want, err)
		}
		for _, r := range b.list(store.Filter{}) {
			if r.State.Unresolved() && (!b.units()[r.Payload.Unit] || !r.Response.IsZero() && !b.units()[r.Response.Unit]) {
				t.Fatalf("record %d is %s and its payload is gone", r.ID, r.State)
			}
		}
	}
	shares := func(id claimdlq.ID, want ...claimdlq.ID) {
		t.Helper()
		other, ok, err := b.f.Retain.SharesUnit(t.Context(), b.record(id))
		b.must(err)
		if ok != (len(want) > 0) || ok && !strings.Contains(fmt.Sprint(want), fmt.Sprint(other.ID)) {
			t.Fatalf("record %d shares its unit with %d %v, want %v", id, other.ID, ok, want)
		}
	}
	shred(0)
	shares(ids[0].ID, ids[1].ID, ids[2].ID)
	b.rxCorrect(ids[1].ID, "07-D5=017") // has a unit of its own now; its answer is still with the others'
	shred(0)
	_, err := b.f.Retain.Withdraw(t.Context(), ana, ids[1].ID)
	b.must(err)
	shares(ids[0].ID, ids[2].ID)
	shares(ids[2].ID)
	shred(1) // the corrected payload
	_, err = b.f.Retain.Withdraw(t.Context(), ana, ids[2].ID)
	b.must(err)
	shares(ids[0].ID)
	shred(2) // the transmission and the answer
	shred(0)
	if _, err := b.f.Correct.Document(t.Context(), ana, ids[0].ID); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("got %v", err)
	}
	for _, id := range ids { // redelivery still finds the records
		if b.record(id.ID).State.Unresolved() {
			t.Errorf("record %d is open again", id.ID)
		}
	}
}

func TestRxRetain_AnswersAreNoOrphans(t *testing.T) { // F38
	t.Parallel()
	b := rxSetup(t, "")
	for n := range 5 {
		b.take(rxOne(t, "B1", n+1))
	}
	b.drain()
	stray, err := b.v.Stage(phi.Wrap([]byte("TEST answer that nobody kept")))
	b.must(err)
	b.must(b.v.Sync(t.Context()))
	before := len(b.units())
	if n, err := b.f.Retain.SweepOrphans(t.Context(), 0); n != 1 || err != nil {
		t.Fatalf("swept %d %v", n, err)
	}
	if b.units()[stray.Unit] || len(b.units()) != before-1 {
		t.Error("it swept another")
	}
	b.allThere()
}

// allThere checks that every record has its payload and its answer.
func (b *rxBench) allThere() {
	b.t.Helper()
	for _, r := range b.list(store.Filter{}) {
		if r.Response.IsZero() || b.v.Verify(b.t.Context(), r.Response) != nil || b.v.Verify(b.t.Context(), r.Payload) != nil {
			b.t.Errorf("record %d has lost its payload or answer", r.ID)
		}
	}
}

// opener lets somebody open a settled record again while a shredding is under way.
type opener struct {
	vault.Vault

	calls int
	open  func()
}

func (o *opener) Units(ctx context.Context, f func(string, int64) bool) error {
	if o.calls++; o.calls == 2 { // the records have been read
		o.open()
	}
	return o.Vault.Units(ctx, f)
}

func TestRxRetain_WhatIsOpenedAgainMeanwhileKeepsItsPayload(t *testing.T) {
	t.Parallel()
	v := &opener{open: func() {}}
	b := rxSetup(t, "", func(d *flow.Deps) { v.Vault = d.Vault; d.Vault = v })
	b.shredAfter(day)
	id := b.take(rxOne(t, "B1", 1)).ID
	other := b.take(rxOne(t, "B1", 2)).ID
	b.drain()
	v.open = func() {
		b.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: testCode}, b.clock.now())
		})
	}
	b.clock.pass(30 * day)
	if _, err := b.f.Retain.ShredSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(t.Context(), b.record(id).Payload); err != nil {
		t.Errorf("it is %s and its payload is gone: %v", b.record(id).State, err)
	}
	if err := v.Verify(t.Context(), b.record(other).Payload); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("the other's is still there: %v", err)
	}
}

func TestRxRetain_ExpiryIsByTheStreamsOwnPolicyAndGoesByTheThousand(t *testing.T) { // 1, 21, 27, promise 8, F39
	t.Parallel()
	st, now := memstore.New(), time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
	const n = 2500
	seedExhausted(t, st, n, now)
	x := claimdlq.Record{Key: claimdlq.Key{9}, Stream: claimdlq.StreamX12, State: claimdlq.StateQuarantined, Claims: 1, CreatedAt: now, FirstFailedAt: now}
	if _, err := st.Commit(t.Context(), store.Batch{Insert: []claimdlq.Record{x}}); err != nil {
		t.Fatal(err)
	}
	p := claimdlq.DefaultPolicy()
	p.Retention = 3 * day
	at, log := now, &syncBuffer{}
	commits := &counted{Store: st}
	r := retain.New(retain.Options{
		Store: commits, Vault: memvault.New(), Policies: claimdlq.Policies{claimdlq.StreamNCPDP: p}, Now: func() time.Time { return at }, Log: textLog(log),
	})
	expire := func(want int) {
		t.Helper()
		if got, err := r.Expire(t.Context()); got != want || err != nil {
			t.Fatalf("parked %d, want %d: %v", got, want, err)
		}
	}
	at = now.Add(3 * day)
	expire(0)
	at = at.Add(time.Millisecond)
	expire(n)
	if commits.n != 3 {
		t.Errorf("%d commits", commits.n)
	}
	if got := strings.Count(log.String(), "Unresolved past its retention"); got != n {
		t.Errorf("%d alarms", got)
	}
	expire(0)
	at = now.Add(14*day + time.Millisecond)
	expire(1) // the other stream's
}

// counted counts commits.
type counted struct {
	store.Store

	n int
}

func (c *counted) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	c.n++
	return c.Store.Commit(ctx, b)
}

// manyUnits is a vault of units that hold nothing.
type manyUnits struct {
	vault.Vault

	names []string
	shut  int
}

func (v *manyUnits) Units(_ context.Context, f func(string, int64) bool) error {
	for _, n := range v.names {
		if !f(n, 1) {
			return nil
		}
	}
	return nil
}

func (v *manyUnits) Shred(context.Context, claimdlq.PayloadRef) error {
	v.shut++
	return nil
}

// BenchmarkRxRetainUnits holds a million units against no records: bytes for each are
// B/op over a million, the vault's own names and their growing slice included.
func BenchmarkRxRetainUnits(b *testing.B) {
	v := &manyUnits{}
	for i := range 1_000_000 {
		v.names = append(v.names, fmt.Sprintf("%032x", i))
	}
	p := claimdlq.Policy{ShredAfter: claimdlq.ShredAfter{Paid: day}}
	r := retain.New(retain.Options{Store: memstore.New(), Vault: v, Policies: claimdlq.Policies{"": p}, Now: time.Now})
	b.ReportAllocs()
	for b.Loop() {
		if got, err := r.ShredSettled(b.Context()); got != 0 || err != nil || v.shut != 0 {
			b.Fatalf("shredded %d %v", got, err)
		}
	}
}

func textLog(b *syncBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }
