package flow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow"
	"claimdlq/flow/attempt"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/flow/settle"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/filestore"
	"claimdlq/store/memstore"
	"claimdlq/target"
	"claimdlq/vault"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
	"claimdlq/vault/memvault"
	"claimdlq/wire/x12"
)

// The people and the source of the tests.
var (
	ana    = claimdlq.By{Actor: "ana", Reason: "TEST correction"}
	source = claimdlq.System("intake")
)

// bench is a flow on a store and vault in memory, with a payer behind a target
// that fails as it is told.
type bench struct {
	t      *testing.T
	f      *flow.Flow
	deps   flow.Deps
	st     store.Store
	v      vault.Vault
	payer  *payersim.Payer
	target *fake
	log    *syncBuffer
	clock  *clock
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// setup returns a bench whose payer follows the script. The test ends with a
// check of conservation.
func setup(t *testing.T, script string) *bench {
	t.Helper()
	b := &bench{t: t, log: &syncBuffer{}, clock: &clock{at: time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)}}
	b.st, b.v = adapters(t)
	sc, err := payersim.ParseScript(script)
	if err != nil {
		t.Fatal(err)
	}
	if b.payer, err = payersim.New(payersim.Options{Script: sc, Now: b.clock.now}); err != nil {
		t.Fatal(err)
	}
	b.target = &fake{payer: b.payer}
	b.deps = flow.Deps{
		Store: b.st, Vault: b.v, Identities: []*claimdlq.Identity{identity(1)},
		Routes: func(string, string) (target.Route, bool) {
			return target.Route{Target: b.target, IdempotentResend: b.target.idempotent}, true
		},
		Rules: x12.LatestRules(),
		Log:   slog.New(slog.NewTextHandler(b.log, nil)), Now: b.clock.now,
	}
	b.assemble()
	t.Cleanup(b.conserved)
	return b
}

// adapters returns the model of store and vault or, with CLAIMDLQ_FLOW_STORE=file
// in the environment, the ones on disk: every test of the flow holds on both.
func adapters(t *testing.T) (store.Store, vault.Vault) {
	t.Helper()
	if os.Getenv("CLAIMDLQ_FLOW_STORE") != "file" {
		return memstore.New(), memvault.New()
	}
	dir := t.TempDir()
	kr, err := keyring.Open(dir + "/keys")
	if err != nil {
		t.Fatal(err)
	}
	v, err := filevault.Open(dir+"/vault", dir+"/keys", kr)
	if err != nil {
		t.Fatal(err)
	}
	st, err := filestore.Open(dir+"/journal", filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(st.Close(), v.Close()) })
	return st, v
}

func identity(term uint32) *claimdlq.Identity {
	return claimdlq.NewIdentity(term, bytes.Repeat([]byte{byte(term)}, 32))
}

// assemble builds the flow anew over the same store and vault: what a restart
// leaves.
func (b *bench) assemble() { b.f = flow.Assemble(b.deps) }

// restart is a crash and a start.
func (b *bench) restart() {
	b.t.Helper()
	b.assemble()
	b.must(b.f.Recover(b.t.Context()))
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// conserved checks promise 9 and that every state is as the table allows.
func (b *bench) conserved() {
	b.t.Helper()
	st, err := b.st.Stats(context.Background())
	b.must(err)
	var sum int64
	for _, n := range st.ByState {
		sum += n
	}
	if sum != st.Received {
		b.t.Errorf("received %d claims, have %d: %v", st.Received, sum, st.ByState)
	}
}

func (b *bench) ingest(file []byte) intake.Result {
	b.t.Helper()
	res, err := b.f.Intake.File(b.t.Context(), source, "TEST.x12", bytes.NewReader(file))
	b.must(err)
	b.conserved()
	if res.Claims != res.Accepted+res.Quarantined+res.Duplicates+res.Conflicts {
		b.t.Errorf("result does not add up: %+v", res)
	}
	return res
}

func (b *bench) drain() attempt.Summary {
	b.t.Helper()
	sum, err := b.f.Attempt.Drain(b.t.Context())
	b.must(err)
	b.conserved()
	return sum
}

// acks feeds the settle stage everything the payer has answered so far.
func (b *bench) acks() settle.Result {
	b.t.Helper()
	var total settle.Result
	for _, a := range b.target.take() {
		total = sum(total, b.ack(a))
	}
	return total
}

func (b *bench) ack(file []byte) settle.Result {
	b.t.Helper()
	res, err := b.f.Settle.Acks(b.t.Context(), source, "TEST.ack", bytes.NewReader(file))
	b.must(err)
	b.conserved()
	return res
}

func sum(a, b settle.Result) settle.Result {
	a.Answers += b.Answers
	a.Accepted += b.Accepted
	a.Rejected += b.Rejected
	a.Requeued += b.Requeued
	a.Orphans += b.Orphans
	a.Pending += b.Pending
	return a
}

func (b *bench) record(id claimdlq.ID) claimdlq.Record {
	b.t.Helper()
	r, err := b.st.Get(b.t.Context(), id)
	b.must(err)
	return r
}

func (b *bench) list(f store.Filter) []claimdlq.Record {
	b.t.Helper()
	rs, err := b.st.List(b.t.Context(), f, 0, 100_000)
	b.must(err)
	return rs
}

// only returns the one record in the state.
func (b *bench) only(s claimdlq.State) claimdlq.Record {
	b.t.Helper()
	rs := b.list(store.Filter{State: s, Stream: "837"})
	if len(rs) != 1 {
		b.t.Fatalf("%d records are %s, want 1: %s", len(rs), s, b.dump())
	}
	return rs[0]
}

func (b *bench) states() map[claimdlq.State]int64 {
	b.t.Helper()
	st, err := b.st.Stats(b.t.Context())
	b.must(err)
	out := map[claimdlq.State]int64{}
	for s, n := range st.ByState {
		if n > 0 {
			out[s] = n
		}
	}
	return out
}

// claimsAre checks how many claims are in which state.
func (b *bench) claimsAre(want map[claimdlq.State]int64) {
	b.t.Helper()
	got := b.states()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Fatalf("claims are %v, want %v\n%s", got, want, b.dump())
	}
}

func (b *bench) dump() string {
	var s strings.Builder
	for i, r := range b.list(store.Filter{}) {
		if i == 20 {
			break
		}
		fmt.Fprintf(&s, "%d %s %s %s claims=%d parted=%d %s %s disp=%s rev=%d/%d att=%d rec=%d rep=%d sub=%d hold=%s\n", r.ID, r.Scope, r.DisplayKey(), r.State,
			r.Claims, r.Parted, r.Reason, r.Detail, r.Disposition, r.PayloadRevision, r.RefusedRevision, r.AttemptCount, r.ReceiveCount, r.ReplayCount, r.Submission, r.Hold)
	}
	return s.String()
}

func (b *bench) replay(id claimdlq.ID, o replay.Options) claimdlq.ReplayResult {
	b.t.Helper()
	got, _, err := b.f.Replay.One(b.t.Context(), ana, id, o)
	b.must(err)
	b.conserved()
	return got
}

// correct edits the record's document with one assignment.
func (b *bench) correct(id claimdlq.ID, assignment string) claimdlq.Record {
	b.t.Helper()
	doc, err := b.f.Correct.Document(b.t.Context(), ana, id)
	b.must(err)
	a, err := x12.ParseAssignment(assignment)
	b.must(err)
	edited, err := x12.Edit(doc.Reveal(), []x12.Assignment{a})
	b.must(err)
	p, err := b.f.Correct.Propose(b.t.Context(), ana, id, phi.Wrap(edited))
	b.must(err)
	if !p.Clean {
		b.t.Fatalf("the correction is not clean: %v %v", p.Faults, p.Codes)
	}
	r, err := b.f.Correct.Apply(b.t.Context(), ana, p)
	b.must(err)
	b.conserved()
	return r
}

// audited returns the actions about a record in order.
func (b *bench) audited(id claimdlq.ID) (actions []claimdlq.Action) {
	b.t.Helper()
	b.must(b.st.Entries(b.t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Record == id || e.Records.Has(id) {
			actions = append(actions, e.Action)
		}
		return true
	}))
	return actions
}

func (b *bench) accepted() int { return b.payer.Stats().Accepted }

// noDouble fails if the payer holds a claim twice.
func (b *bench) noDouble() {
	b.t.Helper()
	if s := b.payer.Stats(); s.DoubleAccepted > 0 {
		b.t.Fatalf("the payer accepted %d claims twice", s.DoubleAccepted)
	}
}

func reader(b []byte) io.Reader { return bytes.NewReader(b) }

// generate writes synthetic claims.
func generate(t *testing.T, o testclaims.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := testclaims.Generate(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// mode is how the target treats one delivery.
type mode int

const (
	accept   mode = iota
	drop          // the payer takes it; the answer is lost
	lost          // the request is lost after it was sent; the payer has nothing
	busy          // 503
	refused       // connection refused
	notFound      // 404
)

// fake is a target in front of the payer. The plan's modes are used up in order;
// after it everything is accepted.
type fake struct {
	mu         sync.Mutex
	payer      *payersim.Payer
	plan       []mode
	always     *mode
	answers    [][]byte
	sent       [][]byte
	taken      [][]byte // by the payer
	names      []string
	sync       bool         // answers come back with the delivery
	early      func([]byte) // answers come before it ends
	idempotent bool

	inquiry func(target.Parcel) (claimdlq.Outcome, bool)
}

func (f *fake) Name() string { return "fake" }

func (f *fake) Inquire(_ context.Context, p target.Parcel) (claimdlq.Outcome, bool) {
	if f.inquiry == nil {
		return claimdlq.Outcome{}, false
	}
	return f.inquiry(p)
}

func (f *fake) next() mode {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.always != nil {
		return *f.always
	}
	if len(f.plan) == 0 {
		return accept
	}
	m := f.plan[0]
	f.plan = f.plan[1:]
	return m
}

func transient(code string, ambiguous bool) target.Delivery {
	return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail(code), Ambiguous: ambiguous}}
}

func (f *fake) Deliver(ctx context.Context, p target.Parcel) target.Delivery {
	in, err := p.Content()
	if err != nil {
		return transient("TEST_CONTENT", false)
	}
	body, err := io.ReadAll(in)
	_ = in.Close()
	if err != nil || int64(len(body)) != p.Size {
		return transient("TEST_SIZE", false)
	}
	m := f.next()
	f.mu.Lock()
	f.sent, f.names = append(f.sent, body), append(f.names, p.Name)
	f.mu.Unlock()
	switch m {
	case busy:
		return target.Delivery{Outcome: classify.HTTP(http.StatusServiceUnavailable, "", time.Time{})}
	case notFound:
		return target.Delivery{Outcome: classify.HTTP(http.StatusNotFound, "", time.Time{})}
	case refused:
		return transient("CONNECT_REFUSED", false)
	case lost:
		return transient("TIMEOUT", true)
	}
	f.mu.Lock()
	f.taken = append(f.taken, body)
	f.mu.Unlock()
	answer := f.post(body)
	if f.early != nil {
		f.early(answer)
	}
	if m == accept && f.sync {
		return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted}, Answer: phi.Wrap(answer)}
	}
	f.mu.Lock()
	f.answers = append(f.answers, answer)
	f.mu.Unlock()
	switch m {
	case drop:
		return transient("TIMEOUT", true)
	}
	return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted}}
}

func (f *fake) post(body []byte) []byte {
	rec := httptest.NewRecorder()
	f.payer.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/interchanges", bytes.NewReader(body)))
	return rec.Body.Bytes()
}

func (f *fake) take() [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.answers
	f.answers = nil
	return out
}

// policy changes the common policy.
func (b *bench) policy(f func(*claimdlq.Policy)) {
	p := b.deps.Policies.For("")
	f(&p)
	b.deps.Policies = claimdlq.Policies{"": p}
}
