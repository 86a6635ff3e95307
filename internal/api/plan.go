package api

import (
	"context"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/background"
	"claimdlq/internal/job"
)

// Policy says how a job releases. What is left out has the default. Times are in
// seconds.
type Policy struct {
	Unchanged     bool    `json:"unchanged,omitempty" doc:"Payloads were refused as they are: the cause lies outside them and is gone."`
	Canary        int     `json:"canary,omitempty" minimum:"-1" maximum:"1000" doc:"How many go alone at first; -1 is none. Default: 5."`
	CanaryWait    float64 `json:"canary_wait_seconds,omitempty" minimum:"0" maximum:"604800" doc:"Default: 900."`
	StartRate     float64 `json:"start_rate,omitempty" minimum:"0" maximum:"10000" doc:"A second. Default: 1."`
	MaxRate       float64 `json:"max_rate,omitempty" minimum:"0" maximum:"10000" doc:"A second. Default: 50."`
	Step          float64 `json:"step_seconds,omitempty" minimum:"0" maximum:"604800" doc:"Every step doubles the rate. Default: 30."`
	Window        int     `json:"window,omitempty" minimum:"0" maximum:"10000" doc:"How many of the latest ends are judged. Default: 100."`
	WindowMin     int     `json:"window_min,omitempty" minimum:"0" maximum:"10000" doc:"How many it needs to judge. Default: 10."`
	StopSameCause float64 `json:"stop_same_cause,omitempty" minimum:"0" maximum:"2" doc:"The share that came back with a cause of the plan at which it stops. Default: 0.2."`
	StopFailures  float64 `json:"stop_failures,omitempty" minimum:"0" maximum:"2" doc:"Of those that came back at all. Default: 0.5."`
	WatchFor      float64 `json:"watch_for_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"Default: 72 h."`
}

func toPolicy(p job.Policy) Policy {
	return Policy{
		Unchanged: p.Unchanged, Canary: p.Canary, CanaryWait: p.CanaryWait.Seconds(), StartRate: p.StartRate, MaxRate: p.MaxRate, Step: p.Step.Seconds(),
		Window: p.Window, WindowMin: p.WindowMin, StopSameCause: p.StopSameCause, StopFailures: p.StopFailures, WatchFor: p.WatchFor.Seconds(),
	}
}

func (p *Policy) policy() job.Policy {
	span := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return job.Policy{
		Unchanged: p.Unchanged, Canary: p.Canary, CanaryWait: span(p.CanaryWait), StartRate: p.StartRate, MaxRate: p.MaxRate, Step: span(p.Step),
		Window: p.Window, WindowMin: p.WindowMin, StopSameCause: p.StopSameCause, StopFailures: p.StopFailures, WatchFor: span(p.WatchFor),
	}
}

// Which says which records something is about, in bodies.
type Which struct {
	IDs    []uint64    `json:"ids,omitempty" minItems:"1" maxItems:"10000" doc:"These records. Or else:"`
	Filter *WhichMatch `json:"filter,omitempty" doc:"What matches it now."`
}

// WhichMatch selects records as the queries of lists do.
type WhichMatch struct {
	State  string `json:"state,omitempty" enum:"quarantined,parked,in_doubt" doc:"Default: quarantined."`
	Stream string `json:"stream,omitempty" enum:"837,ncpdp"`
	Format string `json:"format,omitempty" enum:"unreadable,837p,837i,837d,x12,ncpdp"`

	Match
}

// which returns the records that somebody may do that to: ids, or what selects them.
func (s *server) which(ctx context.Context, p auth.Principal, w *Which, perm auth.Permission) (sel background.Selection, err error) {
	if m := w.Filter; m != nil {
		if sel, err = (*Selection)(m).selection(s.o.Now()); err != nil {
			return sel, err
		}
		return sel, p.May(perm, m.Partner)
	}
	for _, id := range w.IDs {
		r, err := s.find(ctx, id)
		if err != nil {
			return sel, err
		}
		if err := p.May(perm, r.Partner); err != nil {
			return sel, err
		}
		sel.IDs = append(sel.IDs, r.ID)
	}
	return sel, nil
}

type planInput struct {
	Body struct {
		Because
		Which

		Recipe string `json:"recipe,omitempty" maxLength:"40" doc:"Or else: the records that this recipe has corrected."`
		Policy Policy `json:"policy,omitzero" required:"false"`
	}
}

// plan freezes a job. Somebody who is limited to partners names one of them, or records
// of theirs.
func (s *server) plan(ctx context.Context, in *planInput) (*jobOutput, error) {
	const op = "plan replay job"
	if s.o.Jobs == nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Hint: "this process runs no jobs"}
	}
	b, p := &in.Body, who(ctx).For(in.Body.Reason)
	if n := given(len(b.IDs) > 0, b.Filter != nil, b.Recipe != ""); n != 1 {
		return nil, invalid(op, "body", "name records (ids), select them (filter), or name a recipe")
	}
	var sel background.Selection
	var err error
	if b.Recipe != "" {
		sel.IDs, err = s.corrected(ctx, p, b.Recipe)
	} else {
		sel, err = s.which(ctx, p, &b.Which, auth.ReplayPlan)
	}
	if err != nil {
		return nil, err
	}
	plan, err := s.o.Jobs.Plan(ctx, p.By(), sel, b.Policy.policy())
	if err != nil {
		return nil, err
	}
	_, progress, err := s.o.Jobs.Get(plan.ID)
	if err != nil {
		return nil, err
	}
	out := &jobOutput{}
	out.Body.Plan, out.Body.Progress = toPlan(plan), toProgress(progress)
	return out, nil
}

// given counts what is there.
func given(all ...bool) (n int) {
	for _, some := range all {
		if some {
			n++
		}
	}
	return n
}

// Item is one record of a job with what became of it.
type Item struct {
	Index           int    `json:"index"`
	Record          uint64 `json:"record"`
	Revision        uint32 `json:"revision" doc:"At which it is released, or not at all; 0: there was no such record."`
	PayloadRevision uint16 `json:"payload_revision"`
	Cause           int    `json:"cause" doc:"Index among the plan's causes."`
	Claims          uint32 `json:"claims"`
	Cents           int64  `json:"amount_cents"`
	Replays         uint32 `json:"replay_count"`
	Verdict         string `json:"verdict,omitempty" doc:"The last dry run's; of an act, what its state says."`
	Result          string `json:"result,omitempty"`
	End             string `json:"end,omitempty"`
}

type itemsInput struct {
	JobPath

	From    int    `query:"from" minimum:"0" maximum:"10000000" doc:"The next of the page before."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Result  string `query:"result" enum:"replayed,duplicate_suppressed,parked,not_corrected,in_doubt,not_found,moved,failed"`
	End     string `query:"end" enum:"settled,rejected,requarantined,same_cause,in_doubt,parked,withdrawn,timed_out"`
	Verdict string `query:"verdict" enum:"replayed,duplicate_suppressed,parked,not_corrected,in_doubt,not_found,moved,failed"`
}

type itemsOutput struct {
	Body struct {
		Items []Item `json:"items"`
		Next  *int   `json:"next,omitempty" doc:"The from of the next page; absent at the end."`
	}
}

func (s *server) listItems(ctx context.Context, in *itemsInput) (*itemsOutput, error) {
	v, err := s.job(ctx, in.ID, auth.RecordsRead, "")
	if err != nil {
		return nil, err
	}
	return itemsOf(v, in.From, in.Limit, in.Verdict, in.Result, in.End)
}

// itemsOf answers with a page of a job's items.
func itemsOf(v *jobView, from, limit int, verdict, result, end string) (*itemsOutput, error) {
	q := job.ItemQuery{From: from, Limit: limit}
	var err error
	if q.Result, err = parsed[job.Result](result); err != nil {
		return nil, err
	}
	if q.Verdict, err = parsed[job.Result](verdict); err != nil {
		return nil, err
	}
	if q.End, err = parsed[job.End](end); err != nil {
		return nil, err
	}
	items, next, err := v.jobs.Items(v.plan.ID, q)
	if err != nil {
		return nil, err
	}
	out := &itemsOutput{}
	out.Body.Items, out.Body.Next = page(items, next, toItem)
	return out, nil
}

func toItem(x *job.Item) Item {
	return Item{
		Index: x.Index, Record: uint64(x.Record), Revision: x.Revision, PayloadRevision: x.PayloadRevision, Cause: x.Cause, Claims: x.Claims,
		Cents: x.Cents, Replays: x.Replays, Verdict: x.Verdict.String(), Result: x.Result.String(), End: x.End.String(),
	}
}

// page returns a page of what a job or recipe has; next below 0 is the end.
func page[T, X any](items []X, next int, to func(*X) T) (out []T, more *int) {
	out = make([]T, 0, len(items))
	for i := range items {
		out = append(out, to(&items[i]))
	}
	if next < 0 {
		return out, nil
	}
	return out, &next
}

// parsed reads a name, nil where there is none.
func parsed[T any, P interface {
	*T
	UnmarshalText([]byte) error
}](name string) (*T, error) {
	if name == "" {
		return nil, nil
	}
	v := new(T)
	return v, P(v).UnmarshalText([]byte(name))
}
