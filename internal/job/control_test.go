package job_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/internal/job"
	"claimdlq/retry"
	"claimdlq/store"
)

func TestPause_NothingIsReleasedUntilItGoesOn(t *testing.T) { // openhim-core-js#1185
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(100)
		plan := w.plan(job.Policy{Canary: 2, StartRate: 5, MaxRate: 5})
		if _, err := w.jobs.Pause(w.ctx, bert, plan.ID); !errors.Is(err, claimdlq.Conflict) {
			w.t.Errorf("what does not run: %v", err)
		}
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		if _, err := w.jobs.Run(w.ctx, ana, plan.ID); !errors.Is(err, claimdlq.Conflict) {
			w.t.Errorf("run twice: %v", err)
		}
		w.until(plan.ID, func(p job.Progress) bool { return p.Results["replayed"] >= 30 })
		w.must2(w.jobs.Pause(w.ctx, claimdlq.By{Actor: "bert"}, plan.ID))
		w.must2(w.jobs.Pause(w.ctx, bert, plan.ID))
		n := len(w.st.replays())
		time.Sleep(time.Hour)
		p := w.progress(plan.ID)
		if len(w.st.replays()) != n || p.State != job.Paused || p.Ends["settled"] != n || p.Rate != 0 {
			w.t.Fatalf("%d releases, then %d, %+v", n, len(w.st.replays()), p)
		}
		w.must2(w.jobs.Resume(w.ctx, bert, plan.ID))
		p = w.is(plan.ID, job.Done)
		same(w.t, "ends", p.Ends, map[string]int{"settled": 100})
		if p.Runner != "bert" {
			w.t.Errorf("runner is %s", p.Runner)
		}
	})
}

func TestPause_ReturnsOnceNothingIsBeingReleased(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), t, dir, "")
		w.c.Workers = 2
		defer w.end()
		w.serve()
		w.open()
		w.failed(50)
		gate := make(chan struct{})
		w.st.set(func(b *store.Batch) error {
			if len(b.NewSubmissions) > 0 {
				<-gate
			}
			return nil
		}, nil)
		plan := w.run(job.Policy{Canary: 20})
		synctest.Wait()
		done := make(chan error, 1)
		go func() {
			_, err := w.jobs.Pause(w.ctx, bert, plan.ID)
			done <- err
		}()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("it returned while two were being released: %v", err)
		default:
		}
		close(gate)
		w.must(<-done)
		if n := len(w.st.replays()); n != 2 {
			t.Fatalf("%d releases", n)
		}
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		same(t, "results", w.is(plan.ID, job.Done).Results, map[string]int{"replayed": 50})
	})
}

func TestCancel_WhatIsNotReleasedStays(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(100)
		plan := w.run(job.Policy{Canary: 2, StartRate: 5, MaxRate: 5})
		w.until(plan.ID, func(p job.Progress) bool { return p.Results["replayed"] >= 30 })
		w.must2(w.jobs.Cancel(w.ctx, bert, plan.ID))
		n := len(w.st.replays())
		time.Sleep(time.Hour)
		p := w.progress(plan.ID)
		if len(w.st.replays()) != n || p.State != job.Cancelled || p.Watching || p.Ends["settled"] != n {
			w.t.Fatalf("%d releases, then %d, %+v", n, len(w.st.replays()), p)
		}
		for i, it := range w.items(plan.ID) {
			if r := w.record(ids[i]); (it.Result == job.NotYet) != (r.State == claimdlq.StateQuarantined && r.ReplayCount == 0) {
				w.t.Fatalf("item %d is %+v, the record %s", i, it, r.State)
			}
		}
		for what, f := range map[string]func(context.Context, claimdlq.By, job.ID) (job.Progress, error){
			"run": w.jobs.Run, "pause": w.jobs.Pause, "resume": w.jobs.Resume, "cancel": w.jobs.Cancel, "dry run": w.jobs.DryRun,
		} {
			if _, err := f(w.ctx, ana, plan.ID); !errors.Is(err, claimdlq.Conflict) {
				w.t.Errorf("%s: %v", what, err)
			}
		}
		// The rest can be planned anew, and no other.
		again := w.run(job.Policy{StartRate: 100, MaxRate: 100})
		if again.Items != 100-n {
			w.t.Errorf("%d are left, want %d", again.Items, 100-n)
		}
		w.is(again.ID, job.Done)
	})
}

func TestCancel_OfAPlanThatNeverRan(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(3)
		plan := w.plan(job.Policy{})
		w.must2(w.jobs.Cancel(w.ctx, ana, plan.ID))
		w.must(w.jobs.Close())
		w.open()
		if p := w.progress(plan.ID); p.State != job.Cancelled || p.Watching {
			w.t.Errorf("after a restart: %+v", p)
		}
	})
}

// approvals takes one token, of carla, and needs one from so many claims on.
type approvals struct {
	from   int64
	digest job.Hash
}

func (a approvals) Needed(p job.Plan) bool { return p.Claims >= a.from }

func (a approvals) Approver(_ context.Context, token string, p job.Plan) (string, error) {
	who, ok := map[string]string{"TOKEN-CARLA": "carla", "TOKEN-ANA": "ana"}[token]
	if !ok {
		return "", &claimdlq.Error{Code: claimdlq.Refused, Op: "approve"}
	}
	if a.digest != (job.Hash{}) && a.digest != p.Digest {
		return "", &claimdlq.Error{Code: claimdlq.Refused, Op: "approve", On: "another plan"}
	}
	return who, nil
}

func TestApprove_AboveTheThresholdASecondPersonMustAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), t, dir, "")
		w.c.Approvals = approvals{from: 10}
		defer w.end()
		w.serve()
		w.open()
		ids := w.failed(10)
		nine, err := w.jobs.Plan(w.ctx, ana, job.Selection{IDs: ids[:9]}, job.Policy{})
		w.must(err)
		if p := w.progress(nine.ID); p.NeedsApproval {
			t.Error("nine need an approval")
		}
		ten := w.plan(job.Policy{})
		carla := claimdlq.By{Actor: "carla", Reason: "TESTREASON looks good"}
		refused := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, claimdlq.Refused) {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err = w.jobs.Run(w.ctx, ana, ten.ID)
		refused("without an approval", err)
		_, err = w.jobs.Approve(w.ctx, bert, ten.ID, "TOKEN-NONE")
		refused("a token that is none", err)
		_, err = w.jobs.Approve(w.ctx, ana, ten.ID, "TOKEN-ANA")
		refused("the author's token", err)
		_, err = w.jobs.Approve(w.ctx, claimdlq.By{Actor: "carla"}, ten.ID, "TOKEN-CARLA")
		refused("without a reason", err)
		if p := w.progress(ten.ID); p.ApprovedBy != "" || len(w.st.replays()) != 0 {
			t.Fatalf("%+v", p)
		}
		w.must2(w.jobs.Approve(w.ctx, carla, ten.ID, "TOKEN-CARLA"))
		w.must(w.jobs.Close()) // it is durable
		w.open()
		_, err = w.jobs.Run(w.ctx, carla, ten.ID)
		refused("run by who approved", err)
		w.must2(w.jobs.Run(w.ctx, ana, ten.ID))
		if p := w.is(ten.ID, job.Done); p.ApprovedBy != "carla" || p.Runner != "ana" {
			t.Errorf("%+v", p)
		}
		var said []string
		for _, e := range w.jobEntries() {
			if strings.HasSuffix(e.Detail.String(), string(ten.ID)) {
				said = append(said, e.Actor+" "+strings.TrimSuffix(e.Detail.String(), ":"+string(ten.ID)))
			}
			if strings.Contains(e.Detail.String(), "RUN") && !strings.Contains(e.Note, ten.Digest.String()) {
				t.Errorf("%s does not name the plan's digest: %s", e.Detail, e.Note)
			}
		}
		if got := strings.Join(said, ", "); got != "ana JOB:PLAN, carla JOB:APPROVE, ana JOB:RUN, system:job JOB:DONE" {
			t.Errorf("audited: %s", got)
		}
	})
}

func TestCommands_NeedANameAndSomeAReason(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(2)
		plan := w.plan(job.Policy{})
		for what, f := range map[string]func(by claimdlq.By) error{
			"plan": func(by claimdlq.By) error {
				_, err := w.jobs.Plan(w.ctx, by, job.Selection{}, job.Policy{})
				return err
			},
			"dry run": func(by claimdlq.By) error { _, err := w.jobs.DryRun(w.ctx, by, plan.ID); return err },
			"run":     func(by claimdlq.By) error { _, err := w.jobs.Run(w.ctx, by, plan.ID); return err },
			"resume":  func(by claimdlq.By) error { _, err := w.jobs.Resume(w.ctx, by, plan.ID); return err },
		} {
			for _, by := range []claimdlq.By{{}, {Actor: "ana"}, {Reason: "why"}} {
				if err := f(by); !errors.Is(err, claimdlq.Refused) {
					w.t.Errorf("%s by %+v: %v", what, by, err)
				}
			}
		}
		for what, f := range map[string]func(context.Context, claimdlq.By, job.ID) (job.Progress, error){"pause": w.jobs.Pause, "cancel": w.jobs.Cancel} {
			if _, err := f(w.ctx, claimdlq.By{Reason: "why"}, plan.ID); !errors.Is(err, claimdlq.Refused) {
				w.t.Errorf("%s by nobody: %v", what, err)
			}
		}
		if _, err := w.jobs.Run(w.ctx, ana, "20260101-000000-AAAAAA"); !errors.Is(err, claimdlq.NotFound) {
			w.t.Errorf("no such job: %v", err)
		}
	})
}

func TestRun_StopsWhereTheEngineHoldsForItsBreaker(t *testing.T) { // promise 5
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), t, dir, "")
		w.deps.Breaker = retry.Options{}
		w.flow = flow.Assemble(w.deps)
		w.c.Released = w.flow.Attempt.Wake
		defer w.end()
		w.serve()
		w.open()
		w.failed(200)
		w.till.always("HTTP_503")
		plan := w.run(job.Policy{Canary: -1, StartRate: 5, MaxRate: 5})
		w.stopsFor(plan.ID, job.StopBreaker)
		if n := len(w.st.replays()); n > 100 {
			t.Errorf("%d releases", n)
		}
	})
}

func TestRun_StopsWhereTheRulesAreOthersThanThoseOfThePlan(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(5)
		plan := w.plan(job.Policy{})
		path := filepath.Join(w.c.Dir, string(plan.ID)+".plan")
		b, err := os.ReadFile(path)
		w.must(err)
		if !strings.Contains(string(b), plan.Rules[claimdlq.StreamNCPDP]) {
			w.t.Fatal("the plan does not say which rules")
		}
		if _, _, err := w.jobs.Get(plan.ID); err != nil {
			w.t.Fatal(err)
		}
		other := job.WithRules(w.jobs, plan.ID, map[string]string{claimdlq.StreamNCPDP: "old"})
		if _, err := other.Run(w.ctx, ana, plan.ID); !errors.Is(err, claimdlq.Refused) {
			w.t.Errorf("got %v", err)
		}
	})
}

// What the guard lets go stops at an open breaker all the same: the dry run says at whose.
func TestDryRun_SaysWhoseBreakerIsOpen(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.must(w.jobs.Close())
		open := true
		w.c.BreakerOpen = func(string, string) bool { return open }
		w.open()
		w.failed(3)
		plan := w.plan(job.Policy{})
		p, err := w.jobs.DryRun(w.ctx, ana, plan.ID)
		w.must(err)
		if len(p.Unreachable) != 1 || p.Unreachable[0] != plan.Causes[0].Partner || p.DryRun["replayed"] != 3 {
			w.t.Errorf("%+v", p)
		}
		open = false
		if p, err = w.jobs.DryRun(w.ctx, ana, plan.ID); err != nil || len(p.Unreachable) != 0 {
			w.t.Errorf("%+v, %v", p, err)
		}
	})
}
