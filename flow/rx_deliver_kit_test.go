package flow_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/store/filestore"
	"claimdlq/store/memstore"
	"claimdlq/target"
	"claimdlq/vault"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
	"claimdlq/vault/memvault"
	"claimdlq/wire/ncpdp"
)

// counter is a delivery engine with a store, a vault and a payer: the pharmacy
// counter of the tests. Records are put where intake would have left them.
type counter struct {
	tb    testing.TB
	st    store.Store
	v     vault.Vault
	id    *claimdlq.Identity
	o     attempt.Options
	a     *attempt.Attempt
	till  *till
	log   *syncBuffer
	next  int  // number of the next claim
	batch int  // submissions in one commit
	apart bool // each transmission is sealed on its own

	mu      sync.Mutex
	results []attempt.Result
}

// newCounter returns a counter in memory whose clock is that of the test.
func newCounter(tb testing.TB, change func(*attempt.Options)) *counter {
	tb.Helper()
	return counterOn(tb, memstore.New(), memvault.New(), change)
}

func counterOn(tb testing.TB, st store.Store, v vault.Vault, change func(*attempt.Options)) *counter {
	tb.Helper()
	payer, err := payersim.New(payersim.Options{Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	c := &counter{tb: tb, st: st, v: v, id: identity(1), till: &till{payer: payer, idempotent: true}, log: &syncBuffer{}, next: 1, batch: 512}
	c.o = attempt.Options{
		Store: st, Vault: v, Identities: []*claimdlq.Identity{c.id}, Now: time.Now,
		Routes: func(string, string) (target.Route, bool) {
			return target.Route{Target: c.till, IdempotentResend: c.till.idempotent}, true
		},
		Log: dlqlog.Named(slog.New(slog.NewTextHandler(c.log, nil))), RxLog: dlqlog.NamedRx(slog.New(slog.NewTextHandler(c.log, nil))),
	}
	c.o.Ended = func(_ claimdlq.Record, r attempt.Result) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.results = append(c.results, r)
	}
	if change != nil {
		change(&c.o)
	}
	c.a = attempt.New(c.o)
	return c
}

// script gives the counter a payer that follows it.
func (c *counter) script(lines string) {
	c.tb.Helper()
	sc, err := payersim.ParseScript(lines)
	c.must(err)
	payer, err := payersim.New(payersim.Options{Script: sc, Now: time.Now})
	c.must(err)
	c.till.payer = payer
}

// always answers every delivery alike, until it is given nil.
func (c *counter) always(d *target.Delivery) {
	c.till.mu.Lock()
	defer c.till.mu.Unlock()
	c.till.say = nil
	if d != nil {
		c.till.say = func(int, []byte) (target.Delivery, bool) { return *d, true }
	}
}

// serve runs the engine until the returned function is called, and waits for its end.
func (c *counter) serve() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.a.Run(ctx) }()
	return func() {
		c.tb.Helper()
		cancel()
		c.must(<-done)
	}
}

func (c *counter) said() []attempt.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.results)
}

// busy503 is what a payer says that takes nothing now.
var busy503 = target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail("HTTP_503")}}

// policies returns the default policy, changed.
func policies(change func(*claimdlq.Policy)) claimdlq.Policies {
	p := claimdlq.DefaultPolicy()
	change(&p)
	return claimdlq.Policies{claimdlq.StreamNCPDP: p}
}

// never is a breaker that does not open.
func never(o *attempt.Options) {
	o.Breaker = retry.Options{Consecutive: 1 << 30, MinSamples: 1024, Window: 1024}
}

// onDisk returns store and vault on disk.
func onDisk(tb testing.TB) (store.Store, vault.Vault) {
	tb.Helper()
	dir := tb.TempDir()
	kr, err := keyring.Open(dir + "/keys")
	if err != nil {
		tb.Fatal(err)
	}
	v, err := filevault.Open(dir+"/vault", dir+"/keys", kr)
	if err != nil {
		tb.Fatal(err)
	}
	st, err := filestore.Open(dir+"/journal", filestore.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = errors.Join(st.Close(), v.Close()) })
	return st, v
}

func (c *counter) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}

// queue puts as many claims of the options into the queue, and returns their records.
func (c *counter) queue(n int, o testclaims.RxOptions) []claimdlq.ID {
	c.tb.Helper()
	o.FirstClaim = c.next
	per := max(1, o.TransactionsPer)
	o.Claims = n * per
	c.next += n * per
	var raws [][]byte
	_, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		raws = append(raws, bytes.Clone(b))
		return nil
	})
	c.must(err)
	return c.put(raws, nil)
}

// put records transmissions as intake does, many in one commit. change may alter what
// is written.
func (c *counter) put(raws [][]byte, change func(*store.Batch)) (ids []claimdlq.ID) {
	c.tb.Helper()
	for len(raws) > 0 {
		n := min(len(raws), c.batch)
		b := c.batchOf(raws[:n])
		if change != nil {
			change(&b)
		}
		receipt, err := c.st.Commit(context.Background(), b)
		c.must(err)
		for _, r := range receipt.Inserted {
			if r.Status != store.Inserted {
				c.tb.Fatalf("not inserted: %+v", r)
			}
			ids = append(ids, r.ID)
		}
		raws = raws[n:]
	}
	return ids
}

func (c *counter) batchOf(raws [][]byte) store.Batch {
	c.tb.Helper()
	var unit claimdlq.PayloadRef
	var err error
	if !c.apart {
		unit, err = c.v.Stage(phi.Wrap(bytes.Join(raws, nil)))
		c.must(err)
	}
	var b store.Batch
	m, now, at := ncpdp.Parse(nil), c.o.Now().UTC(), int64(0)
	for _, raw := range raws {
		m.Reset(raw)
		ref := claimdlq.PayloadRef{Unit: unit.Unit, Offset: at, Length: int64(len(raw))}
		at += int64(len(raw))
		if c.apart {
			ref, err = c.v.Stage(phi.Wrap(bytes.Clone(raw)))
			c.must(err)
		}
		first := len(b.Insert)
		for n := 1; n <= m.Groups(); n++ {
			b.Insert = append(b.Insert, c.record(m, n, ref, now))
		}
		b.NewSubmissions = append(b.NewSubmissions, claimdlq.Submission{
			State: claimdlq.SubmissionReady, Stream: claimdlq.StreamNCPDP, Partner: b.Insert[first].Partner, CreatedAt: now,
			Members: []claimdlq.IDRange{{First: store.ParentIndex(first), Last: store.ParentIndex(len(b.Insert) - 1)}},
			Digest:  c.id.Digest(raw), Bytes: int64(len(raw)),
		})
	}
	c.must(c.v.Sync(context.Background()))
	return b
}

func (c *counter) record(m *ncpdp.Message, n int, ref claimdlq.PayloadRef, now time.Time) claimdlq.Record {
	c.tb.Helper()
	cl, fault := m.Claim(n)
	if fault != nil {
		c.tb.Fatal(fault)
	}
	key := cl.Key(c.id, 0)
	return claimdlq.Record{
		Key: key, Digest: claimdlq.Digest(key), KeyTerm: c.id.Term, Batch: cl.Lineage(c.id), Format: claimdlq.FormatNCPDP, Ordinal: uint32(n),
		Stream: claimdlq.StreamNCPDP, TransactionID: string(cl.Code[:]), Partner: string(cl.BIN) + ":" + string(cl.PCN), Claims: 1,
		RuleVersion: envelope.RxRules, State: claimdlq.StateQueued, Payload: ref, PayloadRevision: 1, CreatedAt: now, UpdatedAt: now,
	}
}

func (c *counter) drain() attempt.Summary {
	c.tb.Helper()
	sum, err := c.a.Drain(context.Background())
	c.must(err)
	return sum
}

func (c *counter) get(id claimdlq.ID) claimdlq.Record {
	c.tb.Helper()
	r, err := c.st.Get(context.Background(), id)
	c.must(err)
	return r
}

// states counts records by state.
func (c *counter) states() map[claimdlq.State]int64 {
	c.tb.Helper()
	st, err := c.st.Stats(context.Background())
	c.must(err)
	out := map[claimdlq.State]int64{}
	for s, n := range st.Records {
		if n > 0 {
			out[s] = n
		}
	}
	return out
}

// till is the target of the tests: the payer, unless say decides otherwise.
type till struct {
	payer      *payersim.Payer
	idempotent bool

	mu   sync.Mutex
	say  func(n int, request []byte) (target.Delivery, bool)
	sent [][]byte
	keep bool // what was sent
	n    int
}

func (f *till) Name() string { return "till" }

func (f *till) Inquire(context.Context, target.Parcel) (claimdlq.Outcome, bool) {
	return claimdlq.Outcome{}, false
}

func (f *till) Deliver(_ context.Context, p target.Parcel) target.Delivery {
	in, err := p.Content()
	if err != nil {
		return transient("TEST_CONTENT", false)
	}
	b := make([]byte, p.Size)
	if _, err := io.ReadFull(in, b); err != nil {
		return transient("TEST_SIZE", false)
	}
	f.mu.Lock()
	f.n++
	n, say := f.n, f.say
	if f.keep {
		f.sent = append(f.sent, b)
	}
	f.mu.Unlock()
	if say != nil {
		if d, ok := say(n, b); ok {
			return d
		}
	}
	return paid(f.payer.Adjudicate(b))
}

// paid is a whole HTTP answer.
func paid(answer []byte) target.Delivery {
	return target.Delivery{
		Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: claimdlq.NewDetail("HTTP_200")}, Answer: phi.Wrap(answer),
	}
}

func (f *till) deliveries() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}
