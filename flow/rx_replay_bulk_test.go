package flow_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/intake"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/vault"
)

func (b *rxBench) failed(n int) (ids []claimdlq.ID) {
	b.t.Helper()
	for i := range n {
		id := b.take(rxOne(b.t, "B1", i+1)).ID
		b.exhaust(id)
		ids = append(ids, id)
	}
	return ids
}

func TestRxReplay_ADrainOpensNothingAndRunTwiceSendsOnce(t *testing.T) { // 18, 19, F15
	t.Parallel()
	b := rxSetup(t, "")
	ids := b.failed(40)
	f := store.Filter{Stream: claimdlq.StreamNCPDP, Reason: claimdlq.RetriesExhausted, State: claimdlq.StateQuarantined}
	dry, err := b.f.Replay.Select(t.Context(), ana, f, replay.Options{DryRun: true})
	b.must(err)
	if dry != (replay.Summary{Requeued: 40}) || b.states()[claimdlq.StateQueued] != 0 {
		t.Fatalf("dry run: %+v %v", dry, b.states())
	}
	all := store.Filter{Stream: claimdlq.StreamNCPDP}
	one, err := b.f.Replay.Select(t.Context(), ana, all, replay.Options{})
	b.must(err)
	two, err := b.f.Replay.Select(t.Context(), ana, all, replay.Options{})
	b.must(err)
	if one != (replay.Summary{Requeued: 40}) || two != (replay.Summary{SkippedDuplicate: 40}) {
		t.Fatalf("first %+v, again %+v", one, two)
	}
	for _, id := range ids {
		for _, a := range b.audited(id) {
			if a == claimdlq.ActOpen {
				t.Fatalf("record %d was opened, and nothing in it had changed", id)
			}
		}
		if s := b.waiting(id); !s.Bulk || !s.Replay || s.Bytes == 0 {
			t.Fatalf("submission %+v", s)
		}
	}
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 40})
	if b.sends() != 40 {
		t.Errorf("sent %d times", b.sends())
	}
	b.paidTwice()
}

func TestRxReplay_ADrainTellsAPartialFillFromItsCompletionUnopened(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	part, rest := b.take(rxSet(t, raw, "07-HD=P")).ID, b.take(rxSet(t, raw, "07-HD=C")).ID
	for _, id := range []claimdlq.ID{part, rest} {
		b.exhaust(id)
	}
	got, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP}, replay.Options{})
	b.must(err)
	if got != (replay.Summary{Requeued: 2}) {
		t.Fatalf("got %+v\n%s", got, b.dump())
	}
	for _, id := range []claimdlq.ID{part, rest} {
		if slices.Contains(b.audited(id), claimdlq.ActOpen) {
			t.Errorf("record %d was opened, and its key tells which claim it is", id)
		}
	}
	b.drain()
	b.ends(part, claimdlq.StateSettled, claimdlq.Paid)
	b.ends(rest, claimdlq.StateSettled, claimdlq.Paid)
}

func TestRxReplay_TwoCopiesInOneDrainAreRequeuedOnce(t *testing.T) { // 18, 19, F15: {1, 1}
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	first := b.take(raw).ID
	b.exhaust(first)
	second := b.takes(rxSet(t, raw, "07-D5=017"), intake.TakenIn).Records[0].ID
	b.exhaust(second)
	got, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP}, replay.Options{})
	b.must(err)
	if got != (replay.Summary{Requeued: 1, SkippedDuplicate: 1}) {
		t.Fatalf("got %+v\n%s", got, b.dump())
	}
	b.drain()
	b.ends(first, claimdlq.StateSettled, claimdlq.Paid)
	b.ends(second, claimdlq.StateQuarantined, claimdlq.DispositionNone)
	if got := b.replay(second, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Errorf("the other copy once the first is paid: %s", got)
	}
	b.paidTwice()
}

func TestRxReplay_ADrainIsPacedAndLimited(t *testing.T) { // F17
	t.Parallel()
	b := rxSetup(t, "")
	ids := b.failed(30)
	got, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP}, replay.Options{Rate: 2, Limit: 20})
	b.must(err)
	if got != (replay.Summary{Requeued: 20}) {
		t.Fatalf("got %+v", got)
	}
	for i, id := range ids {
		want := claimdlq.StateQueued
		if i >= 20 {
			want = claimdlq.StateQuarantined // the oldest go first
		}
		if r := b.record(id); r.State != want || i > 0 && i < 20 && !r.NotBefore.Equal(b.clock.now().Add(time.Duration(i)*500*time.Millisecond)) {
			t.Fatalf("record %d is %s until %s", i, r.State, r.NotBefore)
		}
	}
	for sent := 1; sent < 20; sent += 2 {
		b.drain()
		if b.sends() != sent {
			t.Fatalf("sent %d, want %d", b.sends(), sent)
		}
		b.clock.pass(time.Second)
	}
	b.drain()
	if b.sends() != 20 {
		t.Errorf("sent %d in all", b.sends())
	}
}

type meddler struct {
	store.Store

	once   sync.Once
	meddle func()
}

func (m *meddler) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if len(b.Releases) > 0 {
		m.once.Do(m.meddle)
	}
	return m.Store.Commit(ctx, b)
}

func TestRxReplay_SomebodyElseMovesOneOfAPageAndTheOthersGo(t *testing.T) { // F14
	t.Parallel()
	m := &meddler{}
	b := rxSetup(t, "", func(d *flow.Deps) { m.Store = d.Store; d.Store = m })
	m.meddle = func() {}
	m.once.Do(func() {})
	ids := b.failed(12)
	m.once = sync.Once{}
	m.meddle = func() {
		if _, err := b.f.Retain.Park(context.Background(), ana, ids[5]); err != nil {
			t.Error(err)
		}
	}
	got, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP}, replay.Options{})
	b.must(err)
	if got != (replay.Summary{Requeued: 11, Parked: 1}) {
		t.Errorf("got %+v\n%s", got, b.dump())
	}
	b.drain()
	if b.sends() != 11 {
		t.Errorf("sent %d", b.sends())
	}
}

func TestRxReplay_ManyAtTheSameMomentReleaseOnce(t *testing.T) { // F14, F15
	t.Parallel()
	b := rxSetup(t, "")
	ids := b.failed(8)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP}, replay.Options{}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for _, id := range ids {
				if _, _, err := b.f.Replay.One(t.Context(), ana, id, replay.Options{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if r := b.record(id); r.ReplayCount != 1 {
			t.Errorf("released %d times", r.ReplayCount)
		}
	}
	b.drain()
	if b.sends() != 8 {
		t.Errorf("sent %d times", b.sends())
	}
	b.paidTwice()
}

type held struct {
	store.Store

	t        *testing.T
	guard    *lineage.Guard
	releases int
}

func (h *held) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	rs := slices.Clone(b.Update)
	for _, l := range b.Releases {
		for i, m := range l.Records {
			r, err := h.Get(ctx, m.ID)
			if err == nil {
				r, err = l.Record(i, r)
			}
			if err != nil {
				h.t.Error(err)
			}
			rs = append(rs, r)
		}
	}
	for _, r := range rs {
		if r.State != claimdlq.StateQueued {
			continue
		}
		h.releases++
		if h.guard.Try([]claimdlq.Key{lineage.RefKey(r.Batch)}, nil)[0] {
			h.t.Errorf("record %d is released while anybody may bring its claim", r.ID)
		}
	}
	return h.Store.Commit(ctx, b)
}

func TestRxReplay_HoldsTheFillUntilTheDecisionIsDurable(t *testing.T) { // F14
	t.Parallel()
	b := rxSetup(t, "claim rx=9 reject R8 tries 1")
	ids := b.failed(3)
	poison := b.take(rxOne(t, "B1", 9)).ID
	b.drain()
	b.rxCorrect(poison, "07-D5=017")
	h := &held{Store: b.st, t: t, guard: lineage.NewGuard()}
	rp := replay.New(replay.Config{
		Store: h, Vault: b.v, Identities: b.deps.Identities, Rules: b.deps.Rules, Guard: h.guard, Now: b.deps.Now,
	})
	got, err := rp.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP, State: claimdlq.StateQuarantined}, replay.Options{})
	if err != nil || got.Requeued != 4 || h.releases != 4 {
		t.Fatalf("%+v %v, released %d", got, err, h.releases)
	}
	for _, id := range append(ids, poison) {
		if !h.guard.Try([]claimdlq.Key{lineage.RefKey(b.record(id).Batch)}, nil)[0] {
			t.Errorf("the fill of %d is held for good", id)
		}
	}
}

func TestRxReplay_AfterAKeyRotationTheFillIsStillFound(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	id := b.take(raw).ID
	b.exhaust(id)
	b.deps.Identities = []*claimdlq.Identity{identity(2), identity(1)}
	b.assemble()
	anew := b.takes(rxSet(t, raw, "07-D5=017"), intake.TakenIn).Records[0].ID
	if got := b.replay(id, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("got %s\n%s", got, b.dump())
	}
	b.exhaust(anew)
	if got := b.replay(id, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("got %s\n%s", got, b.dump())
	}
	if got := b.replay(anew, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("got %s\n%s", got, b.dump())
	}
	b.drain()
	b.ends(id, claimdlq.StateSettled, claimdlq.Paid)
}

type openings struct {
	vault.Vault

	n atomic.Int64
}

func (o *openings) Open(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error) {
	o.n.Add(1)
	return o.Vault.Open(ctx, ref, proof)
}

func (o *openings) OpenReader(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (io.ReadCloser, error) {
	o.n.Add(1)
	return o.Vault.OpenReader(ctx, ref, proof)
}

func TestReplay_ManyClaimsOfOneSetReadItOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, "claim */2 stc A3:21")
	v := &openings{Vault: b.v}
	b.deps.Vault = v
	b.assemble()
	const n = 60
	o := testclaims.Options{Claims: n, ClaimsPerSet: n}
	b.ingest(generate(t, o))
	b.drain()
	b.acks()
	f := store.Filter{State: claimdlq.StateQuarantined, Stream: claimdlq.StreamX12}
	held := b.list(f)
	if len(held) != n/2 {
		t.Fatalf("%d are held\n%s", len(held), b.dump())
	}
	v.n.Store(0)
	got, err := b.f.Replay.Select(t.Context(), ana, f, replay.Options{})
	b.must(err)
	if got != (replay.Summary{NotCorrected: n / 2}) || v.n.Load() != 1 {
		t.Fatalf("%+v, opened %d times", got, v.n.Load())
	}
	v.n.Store(0)
	if got, err = b.f.Replay.Select(t.Context(), ana, f, replay.Options{Unchanged: true}); err != nil || got != (replay.Summary{Requeued: n / 2}) || v.n.Load() != 1 {
		t.Fatalf("%+v %v, opened %d times", got, err, v.n.Load())
	}
	for _, r := range held {
		opened := 0
		for _, a := range b.audited(r.ID) {
			if a == claimdlq.ActOpen {
				opened++
			}
		}
		if opened != 2 {
			t.Errorf("record %d was opened twice, and audited %d times", r.ID, opened)
		}
	}
	sc, err := payersim.ParseScript("")
	b.must(err)
	b.payer.SetScript(sc)
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: n})
	b.noDouble()
}

func TestReplay_ASetReadOnceSaysOfEachClaimWhatACutOneSays(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	o := testclaims.Options{Claims: 12, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{1, 3, 5, 7, 9, 11}}}}
	b.ingest(generate(t, o))
	f := store.Filter{State: claimdlq.StateQuarantined, Stream: claimdlq.StreamX12}
	for i, r := range b.list(f) { // what other rules refused, the present ones may pass, or not
		r.RuleVersion = "v2026.07"
		_, err := b.st.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{r}})
		b.must(err)
		if i == 0 {
			b.correct(r.ID, goodNPI(1))
		}
	}
	got, err := b.f.Replay.Select(t.Context(), ana, f, replay.Options{})
	b.must(err)
	if got != (replay.Summary{Requeued: 1, NotCorrected: 5}) {
		t.Errorf("got %+v", got)
	}
}

type worn struct {
	vault.Vault

	bad claimdlq.PayloadRef
}

func (w *worn) Open(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error) {
	if ref.Unit == w.bad.Unit && ref.Offset <= w.bad.Offset && w.bad.Offset < ref.Offset+ref.Length {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open payload"}
	}
	return w.Vault.Open(ctx, ref, proof)
}

func TestRxReplay_APayloadThatCannotBeReadStopsNoOther(t *testing.T) { // promise 6
	t.Parallel()
	w := &worn{}
	b := rxSetup(t, "", func(d *flow.Deps) { w.Vault = d.Vault; d.Vault = w })
	const n = 8
	b.rxIngest(rxFile(t, testclaims.RxOptions{Batch: true, Claims: n, PartialEvery: -1}))
	rs := b.list(store.Filter{Stream: claimdlq.StreamNCPDP})
	for _, r := range rs {
		b.exhaust(r.ID)
	}
	b.deps.Identities = []*claimdlq.Identity{identity(2), identity(1)} // so that payloads are opened
	b.assemble()
	w.bad = rs[3].Payload
	got, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP}, replay.Options{})
	b.must(err)
	if got != (replay.Summary{Requeued: n - 1, NotCorrected: 1}) || b.record(rs[3].ID).State != claimdlq.StateQuarantined {
		t.Errorf("got %+v\n%s", got, b.dump())
	}
	if strings.Count(b.log.String(), "Payload cannot be opened") != 1 {
		t.Errorf("alarms\n%s", b.log)
	}
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: n - 1, claimdlq.StateQuarantined: 1})
	b.paidTwice()
}
