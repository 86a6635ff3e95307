package job_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq/internal/job"
	"claimdlq/store"
)

// life is a process: after so many steps it is dead, and nothing that it does has an
// effect.
type life struct {
	store.Store

	mu   sync.Mutex
	left int // steps; negative: for ever
	dead chan struct{}
	last string
}

func newLife(st store.Store, steps int) *life {
	return &life{Store: st, left: steps, dead: make(chan struct{})}
}

func (l *life) step(what string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		select {
		case <-l.dead:
		default:
			l.last = what
			close(l.dead)
		}
		return errDead
	}
	l.left--
	return nil
}

// Commit may end before or after it is durable.
func (l *life) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if err := l.step("before a commit"); err != nil {
		return store.Receipt{}, err
	}
	got, err := l.Store.Commit(ctx, b)
	if err != nil {
		return got, err
	}
	if err := l.step("after a commit"); err != nil {
		return store.Receipt{}, err
	}
	return got, nil
}

// live opens the jobs in a new process.
func (w *world) live(steps int) *life {
	w.t.Helper()
	l := newLife(w.st, steps)
	w.c.Replay.Store = l
	job.SetStep(&w.c, l.step)
	w.open()
	return l
}

// TestCrash_BetweenAnyTwoStepsNothingIsReleasedTwiceOrForgotten kills the process before
// every step in turn, and the next one a few steps later.
func TestCrash_BetweenAnyTwoStepsNothingIsReleasedTwiceOrForgotten(t *testing.T) { // promises 1, 2; 19; ServicePulse#390, F15
	t.Parallel()
	kinds := map[string]int{}
	for k := 0; ; k++ {
		died := false
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t.Context(), t, dir, "claim 2 reject 70")
			w.c.Workers = 2
			w.serve()
			ids := w.failed(9)
			plan, err := w.outlive(k, kinds, &died)
			if err != nil {
				t.Fatalf("crash before step %d: %v", k, err)
			}
			defer w.end()
			p := w.progress(plan.ID)
			if p.State != job.Done || p.Results["replayed"] != len(ids) || p.Ends["settled"] != 8 || p.Ends["rejected"] != 1 {
				t.Errorf("crash before step %d: %+v", k, p)
			}
			by := w.byJob(plan.ID)
			for _, id := range ids {
				if r := w.record(id); by[id] != 1 || r.ReplayCount != 1 {
					t.Errorf("crash before step %d: record %d was released %d times, by the job %d times", k, id, r.ReplayCount, by[id])
				}
			}
			for _, it := range w.items(plan.ID) {
				if it.Result != job.Replayed || it.End == job.UnderWay {
					t.Errorf("crash before step %d: item %+v", k, it)
				}
			}
		})
		if t.Failed() {
			return
		}
		if !died {
			t.Logf("%d places to crash at: %v", k, kinds)
			if k < 40 {
				t.Error("that are too few")
			}
			return
		}
	}
}

// outlive plans, tries and runs a job in as many processes as it takes: the first dies
// before step k, the second soon after its start, and the third lives.
func (w *world) outlive(k int, kinds map[string]int, died *bool) (job.Plan, error) {
	for _, steps := range []int{k, 2 + k*5%13, -1} {
		l := w.live(steps)
		plan, err := w.push()
		if err != nil && steps < 0 {
			return plan, err
		}
		if err == nil {
			w.wait(l, plan.ID)
		}
		select {
		case <-l.dead:
			if steps == k {
				*died = true
				kinds[l.last]++
			}
			_ = w.jobs.Close()
			continue
		default:
		}
		if p := w.progress(plan.ID); p.Watching {
			return plan, fmt.Errorf("it ended as %+v\n%s", p, w.log)
		}
		return plan, nil
	}
	return job.Plan{}, fmt.Errorf("the third process died")
}

// push does what a person would, who finds the job as it is.
func (w *world) push() (job.Plan, error) {
	list := w.jobs.List()
	if len(list) == 0 {
		if _, err := w.jobs.Plan(w.ctx, ana, job.Selection{}, job.Policy{Canary: 2, StartRate: 2, MaxRate: 2, StopFailures: 2}); err != nil {
			return job.Plan{}, err
		}
		list = w.jobs.List()
	}
	id := list[0].Job
	plan, p, err := w.jobs.Get(id)
	if err != nil || p.State != job.Planned {
		return plan, err
	}
	if _, err := w.jobs.DryRun(w.ctx, ana, id); err != nil {
		return plan, err
	}
	_, err = w.jobs.Run(w.ctx, ana, id)
	return plan, err
}

// wait waits for the end of the job or of the process.
func (w *world) wait(l *life, id job.ID) {
	ch, end, err := w.jobs.Subscribe(id)
	w.must(err)
	defer end()
	hour := time.After(time.Hour)
	for {
		select {
		case _, open := <-ch:
			if !open {
				return
			}
		case <-l.dead:
			return
		case <-hour:
			return
		}
	}
}

func TestCrash_WhatHasComeBackMeanwhileIsNotReleasedAgain(t *testing.T) { // promise 4
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), t, dir, "")
		w.serve()
		ids := w.failed(6)
		w.till.always("FB_92")
		l := newLife(w.st, -1)
		w.c.Replay.Store = l
		job.SetStep(&w.c, l.step)
		w.open()
		plan := w.plan(job.Policy{Canary: -1, StartRate: 100, MaxRate: 100, StopSameCause: 2, StopFailures: 2})
		l.mu.Lock()
		l.left = 9 // it dies with some released and none of them in the journal
		l.mu.Unlock()
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		<-l.dead
		_ = w.jobs.Close()
		before := len(w.st.replays())
		time.Sleep(time.Hour) // they are delivered, fail, and are quarantined again
		back := 0
		for _, id := range ids {
			if r := w.record(id); r.ReplayCount == 1 && r.State.String() == "quarantined" {
				back++
			}
		}
		if back == 0 || back != before {
			t.Fatalf("%d were released and %d came back", before, back)
		}
		w.till.always("")
		w.live(-1)
		defer w.end()
		p := w.progress(plan.ID)
		if p.State == job.Stopped { // the process died of it, and said so
			w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		}
		p = w.is(plan.ID, job.Done)
		same(t, "results", p.Results, map[string]int{"replayed": 6})
		same(t, "ends", p.Ends, map[string]int{"same_cause": back, "settled": 6 - back})
		for _, id := range ids {
			if r := w.record(id); r.ReplayCount != 1 {
				t.Errorf("record %d was released %d times", id, r.ReplayCount)
			}
		}
	})
}
