package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/internal/job"
)

// parked takes n claims in that are parked.
func (w *world) parked(n int) []claimdlq.ID {
	w.t.Helper()
	ids := w.failed(n)
	for _, id := range ids {
		w.step(id, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Park(claimdlq.ReasonNone, time.Now().UTC()) })
	}
	return ids
}

// approve lets bert approve.
func (w *world) approve(id job.ID) {
	w.t.Helper()
	w.must2(w.jobs.Approve(w.ctx, ana, id, "token"))
}

func (w *world) planAct(a job.Act, ids ...claimdlq.ID) job.Plan {
	w.t.Helper()
	plan, err := w.jobs.PlanAct(w.ctx, ana, a, job.Selection{IDs: ids}, 0)
	w.must(err)
	return plan
}

// approver is a second person for every plan.
type approver string

func (a approver) Needed(job.Plan) bool { return false }

func (a approver) Approver(context.Context, string, job.Plan) (string, error) { return string(a), nil }

// entries returns the notes of a record's entries for the action, with who did it.
func (w *world) entries(id claimdlq.ID, a claimdlq.Action) (out []string) {
	w.t.Helper()
	w.must(w.st.Entries(context.Background(), 1, func(e claimdlq.Entry) bool {
		if e.Record == id && e.Action == a {
			out = append(out, e.Actor+" "+e.Note)
		}
		return true
	}))
	return out
}

// Each act to all of a selection, by one plan: what can be done is done once, in the name
// of who runs it, and what cannot is said.
func TestAct_IsDoneToThePlannedRecordsAndNoOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		act    job.Act
		action claimdlq.Action
		from   func(w *world, n int) []claimdlq.ID
		to     claimdlq.State
		second bool
	}{
		{job.Park, claimdlq.ActPark, (*world).failed, claimdlq.StateParked, false},
		{job.Unpark, claimdlq.ActUnpark, (*world).parked, claimdlq.StateQuarantined, true},
		{job.Withdraw, claimdlq.ActWithdraw, (*world).failed, claimdlq.StateWithdrawn, true},
	} {
		t.Run(string(c.act), func(t *testing.T) {
			t.Parallel()
			inTime(t, "", func(w *world) {
				w.must(w.jobs.Close())
				w.c.Approvals = approver("bert")
				w.open()
				ids := c.from(w, 1100) // more than a page, and than a turn
				gone := w.failed(1)[0]
				w.step(gone, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(time.Now().UTC()) })
				plan := w.planAct(c.act, append(ids[:1050:1050], gone, 4711)...)
				same(w.t, "verdicts", plan.Verdicts(), map[string]int{"done": 1050, "refused": 1, "not_found": 1})
				w.step(ids[7], func(r claimdlq.Record) (claimdlq.Record, error) { // somebody else is faster
					if c.act == job.Unpark {
						return r.Withdraw(time.Now().UTC())
					}
					return r.Replay("v", time.Now().UTC())
				})
				before := w.record(ids[7])
				if p := w.progress(plan.ID); p.NeedsApproval != c.second {
					w.t.Fatalf("%+v", p)
				}
				if c.second {
					if _, err := w.jobs.Run(w.ctx, ana, plan.ID); !errors.Is(err, claimdlq.Refused) {
						w.t.Fatalf("without a second person: %v", err)
					}
					w.approve(plan.ID)
					if _, err := w.jobs.Run(w.ctx, bert, plan.ID); !errors.Is(err, claimdlq.Refused) {
						w.t.Fatalf("by who approved it: %v", err)
					}
				}
				if _, err := w.jobs.DryRun(w.ctx, ana, plan.ID); !errors.Is(err, claimdlq.Refused) {
					w.t.Errorf("a dry run: %v", err)
				}
				w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
				p := w.is(plan.ID, job.Done)
				same(w.t, "results", p.Results, map[string]int{"done": 1049, "moved": 1, "refused": 1, "not_found": 1})
				if d := p.EndedAt.Sub(p.StartedAt); d < 2*time.Second || d > 4*time.Second {
					w.t.Errorf("1,052 records at 500 a second took %s", d)
				}
				want := fmt.Sprintf("ana %s job %s: %s", c.act, plan.ID, ana.Reason)
				for i, id := range ids {
					switch r, e := w.record(id), w.entries(id, c.action); {
					case i == 7 && r != before, i >= 1050 && (r.State == c.to || len(e) > 0):
						w.t.Fatalf("record %d is touched: %+v %q", id, r, e)
					case i < 1050 && i != 7 && (r.State != c.to || len(e) != 1 || e[0] != want):
						w.t.Fatalf("record %d is %s, audited as %q, want %q", id, r.State, e, want)
					}
				}
				for _, it := range w.items(plan.ID) {
					if wrong := it.Verdict != job.Acted && it.Verdict != it.Result; wrong || it.Result == job.NotYet {
						w.t.Fatalf("%+v", it)
					}
				}
				w.must(w.jobs.Close())
				w.open()
				if again := w.progress(plan.ID); again.State != job.Done || again.Act != c.act || again.Results["done"] != 1049 {
					w.t.Errorf("after a restart: %+v", again)
				}
			})
		})
	}
}

func TestPlanAct_SelectsWhatTheActIsAboutAndRefusesNonsense(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.parked(3)
		w.failed(2)
		plan, err := w.jobs.PlanAct(w.ctx, ana, job.Unpark, job.Selection{}, 0)
		w.must(err)
		if plan.Items != 3 || plan.Act != job.Unpark {
			w.t.Errorf("%+v", plan)
		}
		if plan, err = w.jobs.PlanAct(w.ctx, ana, job.Withdraw, job.Selection{}, 7); err != nil || plan.Items != 2 || plan.Policy.MaxRate != 7 {
			w.t.Errorf("%+v, %v", plan, err)
		}
		sel := job.Selection{}
		sel.Filter.State = claimdlq.StateQuarantined
		for name, c := range map[string]struct {
			by   claimdlq.By
			act  job.Act
			sel  job.Selection
			rate float64
			want claimdlq.Code
		}{
			"none can be":      {ana, job.Unpark, sel, 0, claimdlq.Refused},
			"nobody to ask":    {ana, job.Inquire, job.Selection{}, 0, claimdlq.Unavailable},
			"a replay":         {ana, job.Replay, job.Selection{}, 0, claimdlq.Invalid},
			"no act":           {ana, "shred", job.Selection{}, 0, claimdlq.Invalid},
			"no rate":          {ana, job.Park, job.Selection{}, -1, claimdlq.Invalid},
			"without a reason": {claimdlq.By{Actor: "ana"}, job.Park, job.Selection{}, 0, claimdlq.Refused},
		} {
			if _, err := w.jobs.PlanAct(w.ctx, c.by, c.act, c.sel, c.rate); !errors.Is(err, c.want) {
				w.t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestAct_IsPausedResumedAndCancelled(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(30)
		plan, err := w.jobs.PlanAct(w.ctx, ana, job.Park, job.Selection{IDs: ids}, 1)
		w.must(err)
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		count := func() (n int) {
			for _, id := range ids {
				if w.record(id).State == claimdlq.StateParked {
					n++
				}
			}
			return n
		}
		w.until(plan.ID, func(p job.Progress) bool { return p.Results["done"] == 5 })
		w.must2(w.jobs.Pause(w.ctx, ana, plan.ID))
		at := count()
		time.Sleep(time.Hour)
		if n := count(); n != at || n == 30 {
			w.t.Errorf("%d were parked, and %d after an hour's pause", at, n)
		}
		w.must2(w.jobs.Resume(w.ctx, bert, plan.ID))
		w.until(plan.ID, func(p job.Progress) bool { return p.Results["done"] == at+5 })
		if _, err := w.jobs.Cancel(w.ctx, ana, plan.ID); err != nil {
			w.t.Fatal(err)
		}
		at = count()
		time.Sleep(time.Hour)
		if p := w.progress(plan.ID); count() != at || at == 30 || p.State != job.Cancelled || p.Watching || p.Results["done"] != at {
			w.t.Errorf("%d are parked: %+v", count(), p)
		}
		var by string
		for _, id := range ids {
			for _, e := range w.entries(id, claimdlq.ActPark) {
				by += e[:strings.IndexByte(e, ' ')] + " "
			}
		}
		if strings.Count(by, "ana ") < 5 || strings.Count(by, "bert ") < 5 {
			w.t.Errorf("in whose name: %s", by)
		}
	})
}

// TestAct_ACrashAtAnyStepDoesNothingTwiceAndForgetsNothing kills the process before every
// step in turn, and the next one a few steps later.
func TestAct_ACrashAtAnyStepDoesNothingTwiceAndForgetsNothing(t *testing.T) {
	t.Parallel()
	for _, act := range []job.Act{job.Park, job.Unpark, job.Withdraw} {
		t.Run(string(act), func(t *testing.T) {
			t.Parallel()
			places := 0
			for k := 0; ; k++ {
				died, dir := false, t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t.Context(), t, dir, "")
					w.c.Workers, w.c.Approvals = 2, approver("bert")
					make := w.failed
					if act == job.Unpark {
						make = w.parked
					}
					w.survives(act, make(9), k, &died)
				})
				if t.Failed() {
					return
				}
				if !died {
					break
				}
				places++
			}
			if places < 20 {
				t.Errorf("%d places to crash at are too few", places)
			}
		})
	}
}

// survives does the act in as many processes as it takes: the first dies before step k,
// the second soon after its start, and the third lives.
func (w *world) survives(act job.Act, ids []claimdlq.ID, k int, died *bool) {
	w.t.Helper()
	for _, steps := range []int{k, 2 + k*5%13, -1} {
		l := w.live(steps)
		plan, err := w.pushAct(act, ids)
		if err != nil && steps < 0 {
			w.t.Fatalf("crash before step %d: %v", k, err)
		}
		if err == nil {
			w.wait(l, plan.ID)
		}
		select {
		case <-l.dead:
			*died = *died || steps == k
			_ = w.jobs.Close()
			continue
		default:
		}
		p := w.progress(plan.ID)
		if p.State != job.Done || p.Results["done"] != len(ids) {
			w.t.Errorf("crash before step %d: %+v\n%s", k, p, w.log)
		}
		for _, id := range ids {
			n := 0
			for _, e := range w.entries(id, claimdlq.Action(act)) {
				if strings.Contains(e, string(plan.ID)) {
					n++
				}
			}
			if n != 1 {
				w.t.Errorf("crash before step %d: %s of record %d has %d entries", k, act, id, n)
			}
		}
		w.end()
		return
	}
}

// pushAct does what a person would, who finds the job as it is.
func (w *world) pushAct(act job.Act, ids []claimdlq.ID) (job.Plan, error) {
	list := w.jobs.List()
	if len(list) == 0 {
		if _, err := w.jobs.PlanAct(w.ctx, ana, act, job.Selection{IDs: ids}, 2); err != nil {
			return job.Plan{}, err
		}
		list = w.jobs.List()
	}
	id := list[0].Job
	plan, p, err := w.jobs.Get(id)
	if err == nil && p.State == job.Planned && p.NeedsApproval && p.ApprovedBy == "" {
		_, err = w.jobs.Approve(w.ctx, ana, id, "token")
	}
	if err == nil && p.State == job.Planned {
		_, err = w.jobs.Run(w.ctx, ana, id)
	}
	return plan, err
}

// payer answers inquiries.
type payer struct {
	w  *world
	mu sync.Mutex
	of map[claimdlq.SubmissionID]int // how often it was asked
	f  func(r claimdlq.Record) (bool, error)
}

func (p *payer) ask(_ context.Context, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.w.record(id)
	p.of[r.Submission]++
	if !strings.HasPrefix(by.Reason, "inquire job ") || by.Actor != "ana" {
		p.w.t.Errorf("asked by %+v", by)
	}
	known, err := p.f(r)
	return r, known, err
}

// inDoubt takes n claims in that are in doubt, each of a submission of its own.
func (w *world) inDoubt(n int) []claimdlq.ID {
	w.t.Helper()
	ids := w.parked(n)
	for _, id := range ids {
		w.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
			r.FateUnknown = true
			return r.Unpark(claimdlq.DefaultPolicy(), time.Now().UTC())
		})
	}
	return ids
}

func TestInquire_AsksAboutEachAndKeepsWhatItBrought(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		p := &payer{w: w, of: map[claimdlq.SubmissionID]int{}}
		w.must(w.jobs.Close())
		w.c.Inquire = p.ask
		w.open()
		ids := w.inDoubt(20)
		p.f = func(r claimdlq.Record) (bool, error) {
			switch r.ID % 4 {
			case 0:
				w.step(r.ID, func(r claimdlq.Record) (claimdlq.Record, error) {
					return r.Settle(claimdlq.Accepted, claimdlq.Detail{}, time.Now().UTC())
				})
				return true, nil
			case 1:
				return false, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "inquire"}
			}
			return false, nil
		}
		plan, err := w.jobs.PlanAct(w.ctx, ana, job.Inquire, job.Selection{}, 0)
		w.must(err)
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		got := w.is(plan.ID, job.Done)
		same(w.t, "results", got.Results, map[string]int{"known": 5, "unknown": 10, "unanswered": 5})
		for _, id := range ids {
			if n := p.of[w.record(id).Submission]; n != 1 {
				w.t.Errorf("asked %d times about record %d", n, id)
			}
		}
		if got.NeedsApproval || got.EndedAt.Sub(got.StartedAt) < time.Second {
			w.t.Errorf("%+v", got)
		}
		// A payer that cannot be reached is not asked about all the others.
		p.f = func(claimdlq.Record) (bool, error) {
			return false, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "inquire"}
		}
		if plan, err = w.jobs.PlanAct(w.ctx, ana, job.Inquire, job.Selection{}, 0); err != nil {
			w.t.Fatal(err)
		}
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		if got = w.stopsFor(plan.ID, job.StopFailures); got.Results["unanswered"] == plan.Items {
			w.t.Errorf("%+v", got)
		}
	})
}

// What went out in one interchange is asked about once, and answered together.
func TestInquire_AsksOnceAboutWhatWentOutTogether(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		inTime(t, "", func(w *world) {
			p := &payer{w: w, of: map[claimdlq.SubmissionID]int{}}
			w.must(w.jobs.Close())
			w.c.Inquire = p.ask
			w.open()
			ids := w.parked(40)
			together := w.record(ids[0]).Submission
			for _, id := range ids {
				w.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
					r.FateUnknown, r.Submission = true, together
					return r.Unpark(claimdlq.DefaultPolicy(), time.Now().UTC())
				})
			}
			p.f = func(claimdlq.Record) (bool, error) {
				for _, id := range ids {
					if known {
						w.step(id, func(r claimdlq.Record) (claimdlq.Record, error) {
							return r.Settle(claimdlq.Accepted, claimdlq.Detail{}, time.Now().UTC())
						})
					}
				}
				return known, nil
			}
			plan, err := w.jobs.PlanAct(w.ctx, ana, job.Inquire, job.Selection{}, 100)
			w.must(err)
			w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
			want := map[string]int{"known": 40}
			if !known {
				want = map[string]int{"unknown": 40}
			}
			same(w.t, "results", w.is(plan.ID, job.Done).Results, want)
			if p.of[together] != 1 {
				w.t.Errorf("asked %d times", p.of[together])
			}
		})
	}
}
