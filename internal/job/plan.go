package job

import (
	"context"
	"os"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/internal/background"
)

const (
	maxItems  = 10_000_000
	maxCauses = 20_000
	maxOpen   = 256 // unfinished jobs
)

// Plan freezes what the selection names now, and makes it durable and audited. It
// changes no record. Memory does not grow with what a filter matches.
//
// Errors: Refused (no name or reason, nothing selected, over 10,000,000 records or
// 20,000 causes, too many jobs that are not finished), Invalid (the policy), and those
// of the store.
func (s *Jobs) Plan(ctx context.Context, by claimdlq.By, sel Selection, p Policy) (Plan, error) {
	return s.freeze(ctx, by, Replay, sel, p)
}

func (s *Jobs) freeze(ctx context.Context, by claimdlq.By, a Act, sel Selection, p Policy) (Plan, error) {
	if err := audited.Named(by, opPlan); err != nil {
		return Plan{}, err
	}
	p, err := p.complete()
	if err != nil {
		return Plan{}, err
	}
	if err := s.room(); err != nil {
		return Plan{}, err
	}
	now := s.now()
	f := &freezer{s: s, ctx: ctx, index: map[Cause]int{}, plan: Plan{
		ID: ID(background.NewID(now)), At: now, Author: by.Actor, Act: a, Policy: p, Rules: s.rules(),
	}}
	if f.w, err = createPlan(s.path(f.plan.ID, extPlan)); err != nil {
		return Plan{}, ioError("write replay plan", err)
	}
	defer f.w.abort()
	if err = sel.Each(ctx, s.store, f.add); err == nil {
		err = f.finish()
	}
	if err != nil {
		return Plan{}, err
	}
	if err := s.audit(ctx, by, "PLAN", &f.plan, &f.plan.Digest); err != nil {
		_ = os.Remove(s.path(f.plan.ID, extPlan)) // nobody knows of it
		return Plan{}, err
	}
	return f.plan, s.adopt(f.plan.ID)
}

const opPlan = "plan a job"

// freezer writes a plan, the newest record first.
type freezer struct {
	s     *Jobs
	ctx   context.Context
	w     *planWriter
	plan  Plan
	item  Item
	index map[Cause]int // of what is common to a cause, in the order they came
}

func (f *freezer) add(r *claimdlq.Record) error {
	key := Cause{Reason: r.Reason.String(), Detail: r.Detail.String(), Partner: r.Partner, Stream: r.Stream}
	if r.State != 0 {
		key.State = r.State.String()
	}
	i, ok := f.index[key]
	if !ok {
		i = len(f.plan.Causes)
		f.index[key], f.plan.Causes = i, append(f.plan.Causes, key)
	}
	if i >= maxCauses {
		return tooMany("causes")
	}
	if f.w.n >= maxItems {
		return tooMany("records")
	}
	c := &f.plan.Causes[i]
	c.Items++
	c.Claims += int64(r.Claims)
	c.Cents += r.AmountCents
	f.plan.Claims += int64(r.Claims)
	f.plan.Cents += r.AmountCents
	f.item = Item{
		Record: r.ID, Revision: r.Revision, PayloadRevision: r.PayloadRevision, State: r.State, Cause: i,
		Claims: r.Claims, Cents: r.AmountCents, Replays: r.ReplayCount, Attempts: r.AttemptCount,
	}
	return f.w.add(&f.item)
}

func (f *freezer) finish() error {
	if f.w.n == 0 {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: opPlan, On: "nothing is selected", Hint: "look what there is with: claimdlq groups"}
	}
	f.plan.Items = f.w.n
	if f.plan.Act != Replay && f.plan.Verdicts()[Acted.String()] == 0 {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: opPlan, On: "none of them can be: " + string(f.plan.Act), Hint: "look at their states"}
	}
	if err := f.s.at("plan"); err != nil {
		return err
	}
	if err := f.w.commit(&f.plan); err != nil {
		return f.s.fatal(ioError("write replay plan", err), err)
	}
	return nil
}

func tooMany(what string) error {
	return &claimdlq.Error{Code: claimdlq.Refused, Op: opPlan, On: "too many " + what, Hint: "narrow the filter"}
}

// rules returns the rule versions that judge now.
func (s *Jobs) rules() map[string]string {
	return map[string]string{claimdlq.StreamX12: s.c.Replay.Rules.Version(), claimdlq.StreamNCPDP: envelope.RxRules}
}
