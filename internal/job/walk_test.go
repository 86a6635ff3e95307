package job_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/job"
)

// act is one thing that happens.
type act struct {
	what string
	n, k int
}

var acts = []string{
	"pass", "pass", "pass", "pass", "payer", "park", "unpark", "replay", "correct", "withdraw",
	"run", "run", "pause", "resume", "resume", "cancel", "rate", "crash", "crash", "restart", "plan", "dry",
}

// TestWalk_WhatAJobReleasesIsOfItsPlanAndEachOnce lets people, payer and crashes do
// anything in any order.
func TestWalk_WhatAJobReleasesIsOfItsPlanAndEachOnce(t *testing.T) { // promises 1, 2, 4, 9
	t.Parallel()
	released, crashed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		var history []act
		for range rapid.IntRange(5, 40).Draw(rt, "acts") {
			history = append(history, act{
				rapid.SampledFrom(acts).Draw(rt, "what"), rapid.IntRange(0, 99).Draw(rt, "n"), rapid.IntRange(1, 30).Draw(rt, "k"),
			})
		}
		canary := rapid.SampledFrom([]int{-1, 1, 3}).Draw(rt, "canary")
		perSecond := rapid.SampledFrom([]float64{0.2, 2, 50}).Draw(rt, "rate")
		dir := t.TempDir()
		var broken string
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t.Context(), t, dir, "claim */4 reject 70\nclaim */5 reject R8 tries 1")
			w.serve()
			p := &walk{world: w, ids: w.failed(12), policy: job.Policy{Canary: canary, StartRate: perSecond, MaxRate: 2 * perSecond, CanaryWait: time.Minute}}
			p.life = w.live(-1)
			for i, a := range history {
				if err := p.do(a); err != nil {
					broken = fmt.Sprintf("act %d %+v: %v", i, a, err)
					break
				}
			}
			p.crash()
			p.life = w.live(-1)
			defer w.end()
			broken += p.check()
			released += len(w.st.replays())
		})
		if broken != "" {
			rt.Fatalf("%+v\n%s", history, broken)
		}
		for _, a := range history {
			if a.what == "crash" {
				crashed++
			}
		}
	})
	t.Logf("%d releases, %d crashes", released, crashed)
	if released == 0 || crashed == 0 {
		t.Errorf("%d releases and %d crashes show nothing", released, crashed)
	}
}

type walk struct {
	*world
	life   *life
	ids    []claimdlq.ID
	policy job.Policy
	plans  []job.Plan
}

// crash ends the process if it lives.
func (w *walk) crash() {
	w.life.mu.Lock()
	w.life.left = 0
	w.life.mu.Unlock()
	_ = w.life.step("told to")
	_ = w.jobs.Close()
}

// do does one thing. What is refused, or not possible in a dead process, is fine.
func (w *walk) do(a act) error {
	select {
	case <-w.life.dead:
		_ = w.jobs.Close()
		w.life = w.live(-1)
	default:
	}
	err := w.try(a)
	if errors.Is(err, errDead) || errors.Is(err, claimdlq.Refused) || errors.Is(err, claimdlq.Conflict) || errors.Is(err, claimdlq.Unavailable) {
		return nil
	}
	return err
}

func (w *walk) try(a act) error {
	id := w.ids[a.n%len(w.ids)]
	var err error
	switch a.what {
	case "pass":
		time.Sleep(time.Duration(a.k*a.k) * 100 * time.Millisecond)
	case "payer":
		w.till.always([]string{"", "", "FB_92", "HTTP_429"}[a.n%4])
	case "crash": // some steps from now
		w.life.mu.Lock()
		w.life.left = a.k
		w.life.mu.Unlock()
	case "restart":
		err = w.jobs.Close()
		w.life = w.live(-1)
	case "plan":
		var p job.Plan
		if p, err = w.jobs.Plan(w.ctx, ana, job.Selection{IDs: w.ids[a.n%len(w.ids):]}, w.policy); err == nil {
			w.plans = append(w.plans, p)
		}
	default:
		if err = w.person(a, id); err == nil {
			err = w.command(a)
		}
	}
	return err
}

// person does something to one record.
func (w *walk) person(a act, id claimdlq.ID) error {
	var err error
	switch a.what {
	case "park":
		_, err = w.flow.Retain.Park(w.ctx, bert, id)
	case "unpark":
		_, err = w.flow.Retain.Unpark(w.ctx, bert, id)
	case "withdraw":
		if a.n < 20 {
			_, err = w.flow.Retain.Withdraw(w.ctx, bert, id)
		}
	case "replay":
		_, _, err = w.flow.Replay.One(w.ctx, bert, id, replay.Options{})
	case "correct":
		if r := w.record(id); r.State == claimdlq.StateQuarantined {
			w.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
				return r.Correct(r.Payload, r.AmountCents, r.RuleVersion, time.Now().UTC())
			})
		}
	}
	return err
}

// command gives one to a job.
func (w *walk) command(a act) error {
	if len(w.plans) == 0 {
		return nil
	}
	id := w.plans[a.n%len(w.plans)].ID
	var err error
	switch a.what {
	case "run":
		_, err = w.jobs.Run(w.ctx, ana, id)
	case "pause":
		_, err = w.jobs.Pause(w.ctx, ana, id)
	case "resume":
		_, err = w.jobs.Resume(w.ctx, ana, id)
	case "cancel":
		if a.k < 5 {
			_, err = w.jobs.Cancel(w.ctx, ana, id)
		}
	case "rate":
		_, err = w.jobs.SetMaxRate(w.ctx, ana, id, float64(a.k))
	case "dry":
		_, err = w.jobs.DryRun(w.ctx, ana, id)
	}
	return err
}

// check compares what the audit entries say with the plans.
func (w *walk) check() string {
	var out bytes.Buffer
	for _, p := range w.plans {
		planned := map[claimdlq.ID]job.Item{}
		for _, it := range w.items(p.ID) {
			planned[it.Record] = it
		}
		for id, n := range w.byJob(p.ID) {
			it, ok := planned[id]
			if !ok {
				fmt.Fprintf(&out, "job %s released record %d, which is not of its plan\n", p.ID, id)
			}
			if n != 1 {
				fmt.Fprintf(&out, "job %s released record %d %d times\n", p.ID, id, n)
			}
			if it.Result != job.Replayed && it.Result != job.NotYet {
				fmt.Fprintf(&out, "job %s released record %d and says %s\n", p.ID, id, it.Result)
			}
		}
		if got, _, err := w.jobs.Get(p.ID); err != nil || got.Digest != p.Digest {
			fmt.Fprintf(&out, "the plan of job %s has changed: %v\n", p.ID, err)
		}
	}
	return out.String()
}
