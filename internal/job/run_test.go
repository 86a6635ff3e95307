package job_test

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/job"
	"claimdlq/store"
)

var intakeOptions = intake.MessageOptions{}

func TestRun_CanariesAloneThenARampThatDoubles(t *testing.T) { // ServiceControl#938
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(400)
		plan := w.run(job.Policy{Canary: 3, StartRate: 2, MaxRate: 16, Step: 10 * time.Second})
		p := w.is(plan.ID, job.Done)
		same(w.t, "results", p.Results, map[string]int{"replayed": 400})
		same(w.t, "ends", p.Ends, map[string]int{"settled": 400})
		got := w.st.replays()
		if len(got) != 400 {
			w.t.Fatalf("%d releases", len(got))
		}
		began, perSecond := got[3].at, map[int]int{}
		for i, r := range got {
			if r.bulk != (i >= 3) {
				w.t.Fatalf("release %d: bulk is %v", i, r.bulk)
			}
			if i >= 3 {
				perSecond[int(r.at.Sub(began)/time.Second)]++
			}
		}
		for from, want := range map[int]int{0: 20, 10: 40, 20: 80, 30: 160} {
			n := 0
			for s := range 10 {
				n += perSecond[from+s]
			}
			if n < want-1 || n > want+2 {
				w.t.Errorf("%d releases in the 10 s from second %d, want %d", n, from, want)
			}
		}
		for s, n := range perSecond {
			if n > 17 {
				w.t.Errorf("%d releases in second %d", n, s)
			}
		}
		for _, id := range ids {
			if r := w.record(id); r.ReplayCount != 1 || r.State != claimdlq.StateSettled {
				w.t.Fatalf("record %d was replayed %d times and is %s", id, r.ReplayCount, r.State)
			}
		}
	})
}

func TestRun_TheRateChangesWhileItRuns(t *testing.T) { // tctl#3503
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(600)
		plan := w.run(job.Policy{Canary: -1, StartRate: 1, MaxRate: 1})
		time.Sleep(100*time.Second + 50*time.Millisecond)
		if n := len(w.st.replays()); n != 101 {
			w.t.Fatalf("%d releases in 100 s at 1/s", n)
		}
		w.must2(w.jobs.SetMaxRate(w.ctx, bert, plan.ID, 0.1))
		time.Sleep(100 * time.Second)
		if n := len(w.st.replays()); n < 110 || n > 112 {
			w.t.Fatalf("%d releases, want 10 more in 100 s at 0.1/s", n)
		}
		w.must2(w.jobs.SetMaxRate(w.ctx, bert, plan.ID, 50))
		for _, bad := range []float64{0, -1, 10_001, math.NaN(), math.Inf(1)} {
			if _, err := w.jobs.SetMaxRate(w.ctx, bert, plan.ID, bad); !errors.Is(err, claimdlq.Invalid) {
				w.t.Errorf("rate %v: %v", bad, err)
			}
		}
		p := w.is(plan.ID, job.Done)
		same(w.t, "ends", p.Ends, map[string]int{"settled": 600})
		if p.MaxRate != 50 {
			w.t.Errorf("max_rate is %v", p.MaxRate)
		}
		if _, err := w.jobs.SetMaxRate(w.ctx, bert, plan.ID, 1); !errors.Is(err, claimdlq.Conflict) {
			w.t.Errorf("once it is done: %v", err)
		}
	})
}

func TestRun_ACanaryThatComesBackWithItsCauseStopsBeforeTheOthers(t *testing.T) { // ServiceControl#938
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(100)
		w.till.always("FB_92")
		plan := w.run(job.Policy{Canary: 4, MaxRate: 100, StartRate: 100})
		p := w.stopsFor(plan.ID, job.StopCanary)
		if len(w.st.replays()) != 4 || p.Stop.Partner == "" || p.Phase != job.PhaseCanary {
			w.t.Fatalf("%d releases, %+v", len(w.st.replays()), p)
		}
		time.Sleep(time.Hour)
		same(w.t, "ends", w.progress(plan.ID).Ends, map[string]int{"same_cause": 4})
		for _, id := range ids[4:] {
			if r := w.record(id); r.State != claimdlq.StateQuarantined || r.ReplayCount != 0 || r.Revision != w.record(ids[99]).Revision {
				w.t.Fatalf("record %d was touched: %+v", id, r)
			}
		}
		// Who goes on begins with canaries again: four others.
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		w.stopsFor(plan.ID, job.StopCanary)
		if n := len(w.st.replays()); n != 8 {
			w.t.Fatalf("%d releases", n)
		}
		w.till.always("")
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		p = w.is(plan.ID, job.Done)
		same(w.t, "ends", p.Ends, map[string]int{"same_cause": 8, "settled": 92})
		same(w.t, "results", p.Results, map[string]int{"replayed": 100})
	})
}

func TestRun_CanariesThatAllFailForAnotherCauseStopIt(t *testing.T) {
	t.Parallel()
	inTime(t, "claim all reject R8", func(w *world) {
		w.failed(20)
		plan := w.run(job.Policy{Canary: 4})
		p := w.stopsFor(plan.ID, job.StopCanary)
		same(w.t, "ends", p.Ends, map[string]int{"requarantined": 4})
	})
}

func TestRun_CanariesWithoutAnEndHoldTheOthersUntilTheTimeIsUp(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(20)
		w.flow.Attempt.Stop(claimdlq.StreamNCPDP, "") // nothing is delivered
		plan := w.run(job.Policy{Canary: 4, CanaryWait: 10 * time.Minute, StartRate: 10, MaxRate: 10})
		time.Sleep(10*time.Minute - time.Second)
		if p := w.progress(plan.ID); len(w.st.replays()) != 4 || p.UnderWay != 4 || p.Phase != job.PhaseCanary {
			w.t.Fatalf("%d releases, %+v", len(w.st.replays()), p)
		}
		time.Sleep(10 * time.Second)
		if n := len(w.st.replays()); n != 20 {
			w.t.Fatalf("%d releases once the time is up", n)
		}
		w.flow.Attempt.Start(claimdlq.StreamNCPDP, "")
		w.is(plan.ID, job.Done)
	})
}

func TestRun_StopsWhereTheCauseComesBack(t *testing.T) { // Hangfire#278
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(300)
		plan := w.run(job.Policy{Canary: 2, StartRate: 1, MaxRate: 1, Window: 20, WindowMin: 10})
		w.until(plan.ID, func(p job.Progress) bool { return p.Ends["settled"] >= 50 })
		w.till.always("FB_92")
		p := w.stopsFor(plan.ID, job.StopSameCause)
		if got, sent := p.Ends["same_cause"], len(w.st.replays()); got < 4 || got > 6 || sent > 200 {
			w.t.Fatalf("%d came back of %d, %+v", got, sent, p)
		}
		n := len(w.st.replays())
		time.Sleep(time.Hour)
		if len(w.st.replays()) != n {
			w.t.Fatal("it went on")
		}
		if r := w.record(ids[299]); r.ReplayCount != 0 {
			w.t.Error("the last was released")
		}
		w.till.always("")
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		p = w.is(plan.ID, job.Done)
		same(w.t, "results", p.Results, map[string]int{"replayed": 300})
	})
}

func TestRun_StopsOn429(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(200)
		plan := w.run(job.Policy{Canary: 2, StartRate: 5, MaxRate: 5})
		w.until(plan.ID, func(p job.Progress) bool { return p.Ends["settled"] >= 20 })
		w.till.always("HTTP_429")
		before := len(w.st.replays())
		w.stopsFor(plan.ID, job.StopRate)
		if n := len(w.st.replays()); n > before+15 {
			w.t.Errorf("%d releases after the payer had asked for less", n-before)
		}
		w.till.always("")
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		w.is(plan.ID, job.Done)
	})
}

func TestRun_StopsBeforeAnOpenBreaker(t *testing.T) { // promise 5, ServicePulse#389
	t.Parallel()
	var open atomic.Bool
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), t, dir, "")
		w.c.BreakerOpen = func(stream, partner string) bool {
			return open.Load() && stream == claimdlq.StreamNCPDP && partner != ""
		}
		defer w.end()
		w.serve()
		w.open()
		w.failed(60)
		open.Store(true)
		plan := w.run(job.Policy{Canary: 2, StartRate: 5, MaxRate: 5})
		p := w.stopsFor(plan.ID, job.StopBreaker)
		if len(w.st.replays()) != 0 || p.Stop.Partner == "" {
			t.Fatalf("%d releases into an open breaker, %+v", len(w.st.replays()), p.Stop)
		}
		open.Store(false)
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		w.until(plan.ID, func(p job.Progress) bool { return p.Results["replayed"] >= 20 })
		open.Store(true)
		w.stopsFor(plan.ID, job.StopBreaker)
		open.Store(false)
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		w.is(plan.ID, job.Done)
	})
}

func TestRun_WhatHasMovedIsSkipped(t *testing.T) { // ServiceControl#660, #5122
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(30)
		plan := w.plan(job.Policy{Canary: 1, StartRate: 100, MaxRate: 100})
		later := w.failed(5) // after the plan
		_, err := w.flow.Retain.Park(w.ctx, bert, ids[3])
		w.must(err)
		_, err = w.flow.Retain.Park(w.ctx, bert, ids[4])
		w.must(err)
		_, err = w.flow.Retain.Unpark(w.ctx, bert, ids[4]) // it looks as it did, and is not
		w.must(err)
		_, _, err = w.flow.Replay.One(w.ctx, bert, ids[5], replay.Options{})
		w.must(err)
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		p := w.is(plan.ID, job.Done)
		same(w.t, "results", p.Results, map[string]int{"replayed": 27, "moved": 3})
		for _, id := range append(later, ids[3], ids[4]) {
			if r := w.record(id); r.ReplayCount != 0 {
				w.t.Errorf("record %d was released", id)
			}
		}
		for _, it := range w.items(plan.ID) {
			want := job.Replayed
			if it.Record >= ids[3] && it.Record <= ids[5] {
				want = job.Moved
			}
			if it.Result != want {
				w.t.Errorf("record %d: %s", it.Record, it.Result)
			}
		}
	})
}

func TestRun_WhatMovesAtTheLastMomentIsSkipped(t *testing.T) { // F14
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(10)
		w.st.set(func(b *store.Batch) error { // between the look and the commit
			if len(b.NewSubmissions) > 0 && b.Update[0].ID == ids[4] {
				w.step(ids[4], func(r claimdlq.Record) (claimdlq.Record, error) {
					return r.Correct(r.Payload, r.AmountCents, r.RuleVersion, time.Now().UTC())
				})
			}
			return nil
		}, nil)
		plan := w.run(job.Policy{Canary: 1, StartRate: 100, MaxRate: 100})
		p := w.is(plan.ID, job.Done)
		same(w.t, "results", p.Results, map[string]int{"replayed": 9, "moved": 1})
		if r := w.record(ids[4]); r.ReplayCount != 0 || r.State != claimdlq.StateQuarantined {
			t.Errorf("a revision that nobody had planned was released: %+v", r)
		}
	})
}

func TestRun_TwoJobsWithTheSameRecordsReleaseEachOnce(t *testing.T) { // F14, F15
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(60)
		p := job.Policy{Canary: 2, StartRate: 20, MaxRate: 20}
		one, two := w.plan(p), w.plan(p)
		if one.Digest == two.Digest || one.ID == two.ID {
			w.t.Error("two plans have one name")
		}
		w.must2(w.jobs.Run(w.ctx, ana, one.ID))
		w.must2(w.jobs.Run(w.ctx, bert, two.ID))
		a, b := w.is(one.ID, job.Done), w.is(two.ID, job.Done)
		if a.Results["replayed"]+b.Results["replayed"] != 60 || a.Results["moved"]+b.Results["moved"] != 60 {
			w.t.Fatalf("%v and %v", a.Results, b.Results)
		}
		for _, id := range ids {
			if r := w.record(id); r.ReplayCount != 1 {
				w.t.Fatalf("record %d was released %d times", id, r.ReplayCount)
			}
		}
	})
}

func TestRun_OneThatCannotBeComposedStopsNoOther(t *testing.T) { // ServiceControl PR#565, promise 6
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(30)
		w.st.mu.Lock()
		w.st.reading = func(id claimdlq.ID) error {
			if id == ids[7] {
				return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read record"}
			}
			return nil
		}
		w.st.mu.Unlock()
		plan := w.plan(job.Policy{Canary: 1, StartRate: 100, MaxRate: 100})
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		p := w.is(plan.ID, job.Done)
		same(w.t, "results", p.Results, map[string]int{"replayed": 29, "failed": 1})
	})
}

func TestRun_AStoreThatIsFullStopsItAndNothingIsSkipped(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(50)
		full := errors.New("full")
		left := 10
		w.st.set(func(b *store.Batch) error {
			if len(b.NewSubmissions) == 0 {
				return nil
			}
			if left--; left < 0 {
				return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "commit", Err: full}
			}
			return nil
		}, nil)
		w.c.Workers = 1
		plan := w.run(job.Policy{Canary: -1, StartRate: 20, MaxRate: 20})
		p := w.stopsFor(plan.ID, job.StopUnavailable)
		same(w.t, "results", p.Results, map[string]int{"replayed": 10})
		w.st.set(nil, nil)
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		same(w.t, "results", w.is(plan.ID, job.Done).Results, map[string]int{"replayed": 50})
	})
}
