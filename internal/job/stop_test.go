package job_test

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/job"
	"claimdlq/target"
)

// falls dead-letters a released record again, as its engine would.
func (w *world) falls(id claimdlq.ID, detail string) {
	w.t.Helper()
	w.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail(detail)}, time.Now().UTC())
	})
}

func TestStop_OneCanaryWithTheCauseIsEnough(t *testing.T) {
	t.Parallel()
	inTime(t, "claim rx=3 reject 92", func(w *world) {
		w.failed(30)
		plan := w.run(job.Policy{Canary: 5})
		p := w.stopsFor(plan.ID, job.StopCanary)
		if p.Ends["same_cause"] != 1 || p.Ends["settled"] != 4 || len(w.st.replays()) != 5 {
			w.t.Errorf("%d releases, %+v", len(w.st.replays()), p)
		}
	})
}

func TestStop_OneOtherFailureAmongCanariesIsNone(t *testing.T) {
	t.Parallel()
	inTime(t, "claim rx=3 reject R8", func(w *world) {
		w.failed(30)
		plan := w.run(job.Policy{Canary: 5, StartRate: 50, MaxRate: 50})
		same(w.t, "ends", w.is(plan.ID, job.Done).Ends, map[string]int{"settled": 29, "requarantined": 1})
	})
}

func TestStop_ARejectWithTheCauseCounts(t *testing.T) {
	t.Parallel()
	inTime(t, "claim all reject 70", func(w *world) {
		w.fallen(30, claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Detail: claimdlq.NewDetail("FB_70")})
		plan := w.run(job.Policy{Canary: 2})
		same(w.t, "ends", w.stopsFor(plan.ID, job.StopCanary).Ends, map[string]int{"same_cause": 2})
	})
}

// What was released before a stop goes on failing after the resume; that says nothing
// about what is released since.
func TestStop_WhatWasUnderWayBeforeDoesNotCountAfterAResume(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(100)
		w.flow.Attempt.Stop(claimdlq.StreamNCPDP, "")
		plan := w.run(job.Policy{Canary: -1, StartRate: 10, MaxRate: 10})
		w.until(plan.ID, func(p job.Progress) bool { return p.Results["replayed"] >= 40 })
		w.must2(w.jobs.SetMaxRate(w.ctx, ana, plan.ID, 0.001))
		for _, id := range ids[:10] {
			w.falls(id, "FB_92")
		}
		w.stopsFor(plan.ID, job.StopSameCause)
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		for _, id := range ids[10:40] {
			w.falls(id, "FB_92")
		}
		p := w.until(plan.ID, func(p job.Progress) bool { return p.Ends["same_cause"] == 40 })
		if p.State != job.Running {
			w.t.Fatalf("%+v", p)
		}
		w.must2(w.jobs.SetMaxRate(w.ctx, ana, plan.ID, 10))
		w.flow.Attempt.Start(claimdlq.StreamNCPDP, "")
		same(w.t, "ends", w.is(plan.ID, job.Done).Ends, map[string]int{"same_cause": 40, "settled": 60})
	})
}

func TestStop_A429OfOldIsNone(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.fallen(20, claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail("HTTP_429")})
		w.flow.Attempt.Stop(claimdlq.StreamNCPDP, "")
		plan := w.run(job.Policy{Canary: -1, StartRate: 1, MaxRate: 1})
		time.Sleep(10 * time.Second) // queued, with the detail of what failed then
		if p := w.progress(plan.ID); p.State != job.Running || p.UnderWay < 10 {
			w.t.Fatalf("%+v", p)
		}
		w.flow.Attempt.Start(claimdlq.StreamNCPDP, "")
		same(w.t, "ends", w.is(plan.ID, job.Done).Ends, map[string]int{"settled": 20})
	})
}

func TestStop_RulesThatChangeWhileItRuns(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(30)
		plan := w.run(job.Policy{Canary: -1, StartRate: 1, MaxRate: 1})
		time.Sleep(10 * time.Second)
		job.WithRules(w.jobs, plan.ID, map[string]string{claimdlq.StreamNCPDP: "old"})
		w.stopsFor(plan.ID, job.StopRules)
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID)) // a person says so
		same(w.t, "ends", w.is(plan.ID, job.Done).Ends, map[string]int{"settled": 30})
	})
}

func TestWatch_GivesUpAfterItsTime(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(20)
		w.flow.Attempt.Stop(claimdlq.StreamNCPDP, "")
		plan := w.run(job.Policy{Canary: -1, StartRate: 20, MaxRate: 20, WatchFor: 2 * time.Hour})
		time.Sleep(2*time.Hour - time.Minute)
		if p := w.progress(plan.ID); p.State != job.Running || p.Phase != job.PhaseWatch || p.UnderWay != 20 {
			w.t.Fatalf("%+v", p)
		}
		same(w.t, "ends", w.is(plan.ID, job.Done).Ends, map[string]int{"timed_out": 20})
		w.flow.Attempt.Start(claimdlq.StreamNCPDP, "")
	})
}

func TestWatch_DoubtIsAnEndUntilThereIsABetterOne(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(40)
		lost := target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail("TIMEOUT"), Ambiguous: true}}
		w.till.mu.Lock()
		w.till.say = func() (target.Delivery, bool) { return lost, true }
		w.till.mu.Unlock()
		plan := w.run(job.Policy{Canary: 4, StartRate: 0.01, MaxRate: 0.01})
		p := w.until(plan.ID, func(p job.Progress) bool { return p.Phase == job.PhaseRamp })
		same(w.t, "ends", p.Ends, map[string]int{"in_doubt": 4})
		w.till.always("")
		for _, id := range ids[:4] { // a person asks
			_, known, err := w.flow.Settle.Inquire(w.ctx, bert, id)
			if err != nil || !known {
				w.t.Fatal(known, err)
			}
		}
		w.must2(w.jobs.SetMaxRate(w.ctx, ana, plan.ID, 0.1))
		same(w.t, "ends", w.is(plan.ID, job.Done).Ends, map[string]int{"settled": 40})
	})
}
