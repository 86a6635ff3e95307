package job_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/job"
	"claimdlq/store"
)

func TestPlan_FreezesWhatIsThere(t *testing.T) { // ServiceControl#660
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(1500) // more than a page
		other := w.fallen(3, claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: claimdlq.NewDetail("NCPDP:07-D2:NUMBER")})
		plan := w.plan(job.Policy{Canary: 7})
		if plan.Items != 1503 || plan.Claims != 1503 || len(plan.Causes) != 2 || plan.Author != "ana" || plan.Policy.Canary != 7 || plan.Policy.MaxRate != 50 {
			w.t.Fatalf("%+v", plan)
		}
		var cents int64
		for i, it := range w.items(plan.ID) {
			id := append(ids, other...)[i]
			r := w.record(id)
			c := plan.Causes[it.Cause]
			cents += r.AmountCents
			if it.Record != id || it.Revision != r.Revision || it.PayloadRevision != r.PayloadRevision || it.State != r.State || it.Cents != r.AmountCents ||
				c.Detail != r.Detail.String() || c.Reason != r.Reason.String() || c.Partner != r.Partner || c.Stream != r.Stream || c.State != "quarantined" {
				w.t.Fatalf("item %d is %+v of %+v, the record %+v", i, it, c, r)
			}
		}
		if plan.Cents != cents || plan.Causes[0].Items+plan.Causes[1].Items != 1503 || plan.Causes[0].Cents+plan.Causes[1].Cents != cents {
			w.t.Errorf("sums: %+v, want %d cents", plan, cents)
		}
		b, err := os.ReadFile(filepath.Join(w.c.Dir, string(plan.ID)+".plan"))
		w.must(err)
		const foot = 4 + 8 + 32 + 8
		if got := sha256.Sum256(b[:len(b)-foot]); job.Hash(got) != plan.Digest || !bytes.Contains(b[len(b)-foot:], plan.Digest[:]) {
			w.t.Error("the digest is not the file's")
		}
		if e := w.jobEntries(); len(e) != 1 || !strings.Contains(e[0].Note, plan.Digest.String()) || e[0].Actor != "ana" {
			w.t.Errorf("audited: %+v", e)
		}
		w.must(w.jobs.Close())
		w.open()
		if again, p, err := w.jobs.Get(plan.ID); err != nil || again.Digest != plan.Digest || p.State != job.Planned {
			w.t.Errorf("after a restart: %v %+v", err, p)
		}
	})
}

func TestPlan_OfIDsTakesEachOnceAndSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(4)
		plan, err := w.jobs.Plan(w.ctx, ana, job.Selection{IDs: []claimdlq.ID{ids[2], ids[0], 4711, ids[2]}}, job.Policy{})
		w.must(err)
		if plan.Items != 3 {
			w.t.Fatalf("%d items", plan.Items)
		}
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		p := w.is(plan.ID, job.Done)
		same(w.t, "results", p.Results, map[string]int{"replayed": 2, "not_found": 1})
		if w.record(ids[1]).ReplayCount+w.record(ids[3]).ReplayCount != 0 {
			w.t.Error("others were released")
		}
	})
}

func TestPlan_RefusesNothingAndNonsense(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		if _, err := w.jobs.Plan(w.ctx, ana, job.Selection{}, job.Policy{}); !errors.Is(err, claimdlq.Refused) {
			w.t.Errorf("nothing: %v", err)
		}
		w.failed(1)
		for name, p := range map[string]job.Policy{
			"canary": {Canary: 1001}, "rate": {StartRate: -1}, "start above max": {StartRate: 2, MaxRate: 1}, "step": {Step: -1},
			"window": {Window: 10_001}, "window_min": {Window: 5, WindowMin: 6}, "share": {StopSameCause: -1}, "wait": {CanaryWait: -time.Second},
			"watch": {WatchFor: 401 * 24 * time.Hour},
		} {
			if _, err := w.jobs.Plan(w.ctx, ana, job.Selection{}, p); !errors.Is(err, claimdlq.Invalid) {
				w.t.Errorf("%s: %v", name, err)
			}
		}
		if len(w.jobs.List()) != 0 {
			w.t.Errorf("there are jobs: %+v", w.jobs.List())
		}
		files, err := os.ReadDir(w.c.Dir)
		w.must(err)
		if len(files) != 0 {
			w.t.Errorf("files are left: %v", files)
		}
	})
}

func TestPlan_OneThatWasChangedIsNotRun(t *testing.T) { // promise: the digest
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(5)
		good, bad := w.plan(job.Policy{}), w.plan(job.Policy{})
		w.must(w.jobs.Close())
		path := filepath.Join(w.c.Dir, string(bad.ID)+".plan")
		b, err := os.ReadFile(path)
		w.must(err)
		b[20] ^= 1 // another record
		w.must(os.WriteFile(path, b, 0o600))
		w.open()
		if _, err := w.jobs.Run(w.ctx, ana, bad.ID); !errors.Is(err, claimdlq.Corrupt) {
			w.t.Errorf("got %v", err)
		}
		if len(w.jobs.Broken()) != 1 {
			w.t.Errorf("broken: %v", w.jobs.Broken())
		}
		w.must2(w.jobs.Run(w.ctx, ana, good.ID)) // and keeps no other from running
		w.is(good.ID, job.Done)
	})
}

func TestPlan_FilesHoldNobodysWords(t *testing.T) { // promise 7
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(5)
		plan := w.plan(job.Policy{})
		w.must2(w.jobs.DryRun(w.ctx, ana, plan.ID))
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		w.is(plan.ID, job.Done)
		files, err := filepath.Glob(filepath.Join(w.c.Dir, "*"))
		w.must(err)
		if len(files) != 4 {
			w.t.Errorf("files: %v", files)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			w.must(err)
			if bytes.Contains(b, []byte("TESTREASON")) {
				w.t.Errorf("%s holds a reason", filepath.Ext(f))
			}
			info, err := os.Stat(f)
			w.must(err)
			if info.Mode().Perm() != 0o600 {
				w.t.Errorf("%s has mode %v", filepath.Ext(f), info.Mode())
			}
		}
		if strings.Contains(w.log.String(), "TESTREASON") {
			w.t.Error("the log holds a reason")
		}
	})
}

func TestDryRun_DecidesAsTheRunWouldAndChangesNothing(t *testing.T) { // flowfi#1238
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(20)
		bad := w.fallen(4, claimdlq.Fault{Reason: claimdlq.SemanticReject, Detail: claimdlq.NewDetail("FB_70")})
		_, err := w.flow.Retain.Park(w.ctx, bert, ids[0])
		w.must(err)
		w.step(ids[1], func(r claimdlq.Record) (claimdlq.Record, error) {
			return r.Settle(claimdlq.Paid, claimdlq.NewDetail("TEST"), time.Now().UTC())
		})
		plan, err := w.jobs.Plan(w.ctx, ana, job.Selection{IDs: append(append([]claimdlq.ID{4711}, ids...), bad...)}, job.Policy{})
		w.must(err)
		_, _, err = w.flow.Replay.One(w.ctx, bert, ids[2], replay.Options{})
		w.must(err)
		w.flow.Attempt.Wake()
		time.Sleep(time.Minute)
		before := w.list()
		p, err := w.jobs.DryRun(w.ctx, ana, plan.ID)
		w.must(err)
		want := map[string]int{"replayed": 17, "parked": 1, "duplicate_suppressed": 1, "moved": 1, "not_corrected": 4, "not_found": 1}
		same(w.t, "dry run", p.DryRun, want)
		if p.DryRunAt.IsZero() || p.State != job.Planned || len(p.Results) != 0 {
			w.t.Errorf("%+v", p)
		}
		if after := w.list(); after != before {
			w.t.Errorf("records have changed:\n%s\n%s", before, after)
		}
		w.must(w.jobs.Close())
		w.open()
		same(w.t, "after a restart", w.progress(plan.ID).DryRun, want)
		verdicts := map[claimdlq.ID]job.Result{}
		for _, it := range w.items(plan.ID) {
			verdicts[it.Record] = it.Verdict
		}
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		p = w.is(plan.ID, job.Done)
		same(w.t, "run", p.Results, want)
		for _, it := range w.items(plan.ID) {
			if it.Result != verdicts[it.Record] || it.Verdict != it.Result {
				w.t.Errorf("record %d: dry run %s, run %s", it.Record, verdicts[it.Record], it.Result)
			}
		}
		moved := job.Moved
		some, next, err := w.jobs.Items(plan.ID, job.ItemQuery{Result: &moved})
		if err != nil || next != -1 || len(some) != 1 || some[0].Record != ids[2] {
			w.t.Errorf("items that moved: %v %d %v", some, next, err)
		}
		var audited int
		for _, e := range w.jobEntries() {
			if strings.HasPrefix(e.Detail.String(), "JOB:DRY_RUN:") {
				audited++
			}
		}
		if audited != 1 {
			w.t.Errorf("audited %d times", audited)
		}
	})
}

func TestDryRun_ThatIsGivenUpLeavesTheLastOne(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(5)
		plan := w.plan(job.Policy{})
		w.must2(w.jobs.DryRun(w.ctx, ana, plan.ID))
		full := &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read"}
		w.st.mu.Lock()
		w.st.reading = func(claimdlq.ID) error { return full }
		w.st.mu.Unlock()
		if _, err := w.jobs.DryRun(w.ctx, ana, plan.ID); !errors.Is(err, claimdlq.Unavailable) {
			w.t.Fatalf("got %v", err)
		}
		same(w.t, "dry run", w.progress(plan.ID).DryRun, map[string]int{"replayed": 5})
		w.st.mu.Lock()
		w.st.reading = nil
		w.st.mu.Unlock()
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		w.is(plan.ID, job.Done)
	})
}

func TestItems_RefusesNonsense(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(3)
		plan := w.plan(job.Policy{})
		for _, q := range []job.ItemQuery{{From: -1}, {Limit: -1}, {Limit: 1001}} {
			if _, _, err := w.jobs.Items(plan.ID, q); !errors.Is(err, claimdlq.Invalid) {
				w.t.Errorf("%+v: %v", q, err)
			}
		}
		if items, next, err := w.jobs.Items(plan.ID, job.ItemQuery{From: 99}); err != nil || next != -1 || len(items) != 0 {
			w.t.Errorf("past the end: %v %d %v", items, next, err)
		}
		items, next, err := w.jobs.Items(plan.ID, job.ItemQuery{Limit: 2})
		if err != nil || next != 2 || len(items) != 2 {
			w.t.Errorf("a page: %v %d %v", items, next, err)
		}
	})
}

func TestParseID_TakesNoPath(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "../keys", "20260718-100000-AAAAA/", "20260718-100000-aaaaaa", "20260718-100000-AAAAAA.plan"} {
		if _, err := job.ParseID(s); !errors.Is(err, claimdlq.NotFound) {
			t.Errorf("%q: %v", s, err)
		}
	}
	if id, err := job.ParseID("20260718-100000-QK3T7A"); err != nil || id != "20260718-100000-QK3T7A" {
		t.Errorf("%v %v", id, err)
	}
}

// list returns all records as text.
func (w *world) list() string {
	w.t.Helper()
	rs, err := w.st.List(w.ctx, store.Filter{}, 0, 10_000)
	w.must(err)
	var b strings.Builder
	for _, r := range rs {
		b.WriteString(r.ID.String() + " " + r.State.String() + " " + claimdlq.ID(r.Revision).String() + "\n")
	}
	return b.String()
}
