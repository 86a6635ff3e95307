package serve

import (
	"context"
	"net/http"
	"path/filepath"

	"claimdlq/alert"
	"claimdlq/internal/api"
	"claimdlq/internal/job"
	"claimdlq/retry"
)

// The parts of a data directory that only a serving process has.
const (
	dirJobs      = "jobs"
	fileSilences = "silences.json"
)

// payloads are the paths at which claims themselves are shown and changed.
var payloads = []string{"reveal", "history", "correct:propose", "correct"}

// operate returns the API for those who operate, or nil where there is no account yet:
// then only claims come in, and the command line is the way to work.
func (p *process) operate(start func(func(context.Context) error)) (http.Handler, error) {
	if !p.a.Desk.HasUsers() {
		return nil, nil
	}
	jobs, err := job.Open(job.Config{
		Dir: filepath.Join(p.s.Dir, dirJobs), Replay: p.a.Replays(), Released: p.a.Flow.Attempt.Wake,
		BreakerOpen: p.breakerOpen, Approvals: api.Approvals(p.a.Desk),
	})
	if err != nil {
		return nil, err
	}
	silences, err := api.OpenSilences(filepath.Join(p.s.Dir, fileSilences), p.s.Now)
	if err != nil {
		return nil, err
	}
	p.silences = silences
	start(func(ctx context.Context) error {
		jobs.Start(ctx)
		<-ctx.Done()
		return jobs.Close()
	})
	o := api.Options{
		App: p.a, DataDir: p.s.Dir, Desk: p.a.Desk, Jobs: jobs, Alarms: p.ringing, Silences: silences, Locks: &api.Locks{},
		Version: p.s.Version, Log: p.s.Log, Now: p.s.Now,
	}
	main, err := api.New(o)
	if err != nil {
		return nil, err
	}
	claims, err := api.Payload(o)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", main)
	for _, verb := range payloads {
		mux.Handle("/v1/records/{id}/"+verb, claims)
	}
	return mux, nil
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

// ringing returns the alarms that ring now.
func (p *process) ringing() []alert.Event { return p.evaluator.Active() }
