package serve

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"claimdlq/internal/api"
	"claimdlq/internal/job"
	"claimdlq/internal/recipe"
	"claimdlq/retry"
)

// The parts of a data directory that only a serving process has.
const (
	dirJobs      = "jobs"
	dirActs      = "acts"
	dirRecipes   = "recipes"
	fileSilences = "silences.json"
)

// operate makes the API for those who operate. It is there before there is an account:
// then it says how the first is made, and knows it at once.
func (p *process) operate(start func(func(context.Context) error)) error {
	c := job.Config{
		Dir: filepath.Join(p.s.Dir, dirJobs), Replay: p.a.Replays(), Released: p.a.Flow.Attempt.Wake,
		BreakerOpen: p.breakerOpen, Approvals: api.Approvals(p.a.Desk), Inquire: p.a.Flow.Settle.Inquire,
	}
	jobs, err := job.Open(c)
	if err != nil {
		return err
	}
	c.Dir = filepath.Join(p.s.Dir, dirActs)
	acts, err := job.Open(c)
	if err != nil {
		return err
	}
	recipes, err := recipe.Open(recipe.Config{
		Dir: filepath.Join(p.s.Dir, dirRecipes), Store: p.a.Store, Correct: p.a.Flow.Correct, Keys: p.a.Keys, Now: p.s.Now, Log: p.s.Log,
	})
	if err != nil {
		return err
	}
	silences, err := api.OpenSilences(filepath.Join(p.s.Dir, fileSilences), p.s.Now)
	if err != nil {
		return err
	}
	p.silences = silences
	var behind sync.WaitGroup
	work := make(chan context.Context, 1)
	start(func(ctx context.Context) error {
		work <- ctx
		jobs.Start(ctx)
		acts.Start(ctx)
		recipes.Start(ctx)
		<-ctx.Done()
		behind.Wait()
		return errors.Join(jobs.Close(), acts.Close(), recipes.Close())
	})
	ctx := <-work
	o := api.Options{
		App: p.a, DataDir: p.s.Dir, Desk: p.a.Desk, Jobs: jobs, Acts: acts, Recipes: recipes, Alarms: p.evaluator.Active, Rates: p.meter.rates, Silences: silences, WithPayload: p.s.Payload == nil,
		Locks:      &api.Locks{},
		Background: func(f func(context.Context)) { behind.Go(func() { f(ctx) }) },
		Until:      ctx,
		Version:    p.s.Version, Log: p.s.Log, Now: p.s.Now,
	}
	if p.api, err = api.New(o); err != nil || p.s.Payload == nil {
		return err
	}
	p.payload, err = api.Payload(o)
	return err
}

// breakerOpen reports whether a partner is not delivered to.
func (p *process) breakerOpen(stream, partner string) bool {
	for _, b := range p.a.Flow.Attempt.Breakers() {
		if b.Stream == stream && b.Partner == partner {
			return b.State != retry.Closed
		}
	}
	return false
}
