package job_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/job"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/target"
	"claimdlq/vault"
	"claimdlq/vault/memvault"
	"claimdlq/wire/x12"
)

// TestMain keeps the random walk short; -rapid.checks=1000 makes it long.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "25")
	flag.Parse()
	os.Exit(m.Run())
}

var (
	ana  = claimdlq.By{Actor: "ana", Reason: "TESTREASON the payer is back"}
	bert = claimdlq.By{Actor: "bert", Reason: "TESTREASON looked at it"}
)

// world is a flow of pharmacy claims in memory, with a payer, and the jobs of a data
// directory. It lives in virtual time.
type world struct {
	t     testing.TB
	ctx   context.Context
	dir   string
	st    *spy
	v     vault.Vault
	payer *payersim.Payer
	till  *till
	flow  *flow.Flow
	deps  flow.Deps
	log   *bytes.Buffer
	c     job.Config
	jobs  *job.Jobs
	claim int
	stop  func() // ends the engine

	running bool
}

// inTime runs f in virtual time with a new world whose payer follows the script. The
// engine runs until f returns.
func inTime(t *testing.T, script string, f func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), t, dir, script)
		defer w.end()
		w.serve()
		w.open()
		f(w)
	})
}

func newWorld(ctx context.Context, t testing.TB, dir, script string) *world {
	t.Helper()
	w := &world{t: t, ctx: ctx, dir: dir, st: &spy{Store: memstore.New()}, v: memvault.New(), log: &bytes.Buffer{}, claim: 1, stop: func() {}}
	w.wire(script)
	return w
}

// wire joins the parts of the world over its store and vault.
func (w *world) wire(script string) {
	w.t.Helper()
	sc, err := payersim.ParseScript(script)
	w.must(err)
	w.payer, err = payersim.New(payersim.Options{Script: sc, Now: time.Now})
	w.must(err)
	w.till = &till{Target: w.payer.Target()}
	route := target.Route{Target: w.till, IdempotentResend: true}
	ids := []*claimdlq.Identity{claimdlq.NewIdentity(1, bytes.Repeat([]byte{1}, 32))}
	w.deps = flow.Deps{
		Store: w.st, Vault: w.v, Identities: ids, Rules: x12.LatestRules(), Now: time.Now,
		Routes:  func(string, string) (target.Route, bool) { return route, true },
		Breaker: retry.Options{Consecutive: 1 << 30, MinSamples: 1024, Window: 1024}, // never opens
	}
	w.flow = flow.Assemble(w.deps)
	w.c = job.Config{
		Dir:    filepath.Join(w.dir, "jobs"),
		Replay: replay.Config{Store: w.st, Vault: w.v, Identities: ids, Rules: w.deps.Rules, Guard: lineage.NewGuard(), Now: time.Now},
		Fatal:  func(err error) { w.t.Error("fatal:", err) }, Released: w.flow.Attempt.Wake,
	}
}

// serve runs the delivery engine.
func (w *world) serve() {
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan error, 1)
	go func() { done <- w.flow.Attempt.Run(ctx) }()
	w.running = true
	w.stop = func() {
		cancel()
		w.must(<-done)
		w.stop, w.running = func() {}, false
	}
}

// open opens and starts the jobs.
func (w *world) open() {
	w.t.Helper()
	w.c.Replay.Log = slog.New(slog.NewTextHandler(w.log, nil))
	var err error
	w.jobs, err = job.Open(w.c)
	w.must(err)
	w.jobs.Start(w.ctx)
}

func (w *world) end() {
	w.t.Helper()
	w.must(w.jobs.Close())
	w.stop()
	w.conserved()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) conserved() {
	w.t.Helper()
	st, err := w.st.Stats(context.Background())
	w.must(err)
	if d := st.Difference(); d != 0 {
		w.t.Errorf("%d claims are lost: %v", d, st.ByState)
	}
	if d := w.payer.DoubleFills(); len(d) > 0 {
		w.t.Errorf("the payer paid %d fills twice", len(d))
	}
}

var fb92 = claimdlq.NewDetail("FB_92")

// failed takes n claims in whose budget is spent.
func (w *world) failed(n int) []claimdlq.ID {
	w.t.Helper()
	return w.fallen(n, claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: fb92})
}

// fallen takes n claims in that are dead-lettered, without the payer.
func (w *world) fallen(n int, fault claimdlq.Fault) (ids []claimdlq.ID) {
	w.t.Helper()
	raw := testclaims.RxOptions{Seed: 1, Claims: n, FirstClaim: w.claim, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1}
	w.claim += n
	if w.running { // so that it leaves alone what is not its own
		w.stop()
		defer w.serve()
	}
	_, err := testclaims.EachRx(raw, func(_ int, b []byte) error {
		got, err := w.flow.Intake.Message(w.ctx, claimdlq.System("intake"), phi.Wrap(bytes.Clone(b)), intakeOptions)
		if err == nil {
			ids = append(ids, got.Records[0].ID)
		}
		return err
	})
	w.must(err)
	subs, err := w.st.Due(w.ctx, store.DueQuery{State: claimdlq.SubmissionReady, Now: time.Now().Add(time.Hour), Limit: n + 1<<10})
	w.must(err)
	now := time.Now().UTC()
	var b store.Batch
	flush := func() {
		_, err := w.st.Store.Commit(w.ctx, b)
		w.must(err)
		b = store.Batch{}
	}
	for _, s := range subs {
		if s.Replay {
			continue
		}
		r, err := w.st.Store.Get(w.ctx, s.Members[0].First)
		w.must(err)
		r, err = r.Lease(s.ID, now)
		w.must(err)
		_, err = w.st.Store.Commit(w.ctx, store.Batch{Update: []claimdlq.Record{r}})
		w.must(err)
		r.Revision++
		r, err = r.Quarantine(fault, now)
		w.must(err)
		s.State, s.SentAt = claimdlq.SubmissionDead, now
		b.Update, b.Submissions = append(b.Update, r), append(b.Submissions, s)
		if len(b.Update) == 500 {
			flush()
		}
	}
	flush()
	return ids
}

// plan freezes what is quarantined.
func (w *world) plan(p job.Policy) job.Plan {
	w.t.Helper()
	plan, err := w.jobs.Plan(w.ctx, ana, job.Selection{}, p)
	w.must(err)
	return plan
}

// run freezes what is quarantined and runs it.
func (w *world) run(p job.Policy) job.Plan {
	w.t.Helper()
	plan := w.plan(p)
	w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
	return plan
}

func (w *world) must2(_ job.Progress, err error) {
	w.t.Helper()
	w.must(err)
}

func (w *world) progress(id job.ID) job.Progress {
	w.t.Helper()
	_, p, err := w.jobs.Get(id)
	w.must(err)
	return p
}

// until follows the job until ok, which it must be within a week.
func (w *world) until(id job.ID, ok func(p job.Progress) bool) job.Progress {
	w.t.Helper()
	ch, end, err := w.jobs.Subscribe(id)
	w.must(err)
	defer end()
	week := time.NewTimer(7 * 24 * time.Hour)
	defer week.Stop()
	for {
		select {
		case p, open := <-ch:
			if open && ok(p) {
				return p
			}
			if !open {
				w.t.Fatalf("it ended as %+v\n%s", w.progress(id), w.log)
			}
		case <-week.C:
			w.t.Fatalf("a week later it is %+v\n%s", w.progress(id), w.log)
		}
	}
}

func (w *world) is(id job.ID, s job.State) job.Progress {
	w.t.Helper()
	return w.until(id, func(p job.Progress) bool { return p.State == s && (p.Watching == (s != job.Done)) })
}

// stopsFor waits until the job stops by itself for the reason.
func (w *world) stopsFor(id job.ID, code job.StopCode) job.Progress {
	w.t.Helper()
	p := w.is(id, job.Stopped)
	if p.Stop == nil || p.Stop.Code != code {
		w.t.Fatalf("it stopped for %+v, want %s: %+v", p.Stop, code, p)
	}
	return p
}

func (w *world) record(id claimdlq.ID) claimdlq.Record {
	w.t.Helper()
	r, err := w.st.Store.Get(w.ctx, id)
	w.must(err)
	return r
}

// step makes one step of a record durable, as somebody else would.
func (w *world) step(id claimdlq.ID, f func(claimdlq.Record) (claimdlq.Record, error)) {
	w.t.Helper()
	n, err := f(w.record(id))
	w.must(err)
	_, err = w.st.Store.Commit(context.Background(), store.Batch{Update: []claimdlq.Record{n}})
	w.must(err)
}

func (w *world) items(id job.ID) (all []job.Item) {
	w.t.Helper()
	for from := 0; from >= 0; {
		page, next, err := w.jobs.Items(id, job.ItemQuery{From: from, Limit: 700})
		w.must(err)
		all, from = append(all, page...), next
	}
	return all
}

// byJob returns how often the audit entries say that the job released each record.
func (w *world) byJob(id job.ID) map[claimdlq.ID]int {
	w.t.Helper()
	n := map[claimdlq.ID]int{}
	w.must(w.st.Entries(context.Background(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActReplay && strings.HasPrefix(e.Note, "replay job "+string(id)) {
			n[e.Record]++
		}
		return true
	}))
	return n
}

// jobEntries returns the details and notes of the audit entries about jobs.
func (w *world) jobEntries() (out []claimdlq.Entry) {
	w.t.Helper()
	w.must(w.st.Entries(context.Background(), 1, func(e claimdlq.Entry) bool {
		if e.Action == "job" {
			out = append(out, e)
		}
		return true
	}))
	return out
}

func same(t testing.TB, what string, got, want map[string]int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for k, n := range want {
		if got[k] != n {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

var errDead = errors.New("the process is dead")
