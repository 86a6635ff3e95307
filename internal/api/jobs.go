package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
)

// mostCauses is how many causes of a plan are shown.
const mostCauses = 100

// Plan is what a replay job was frozen as.
type Plan struct {
	ID         string            `json:"id"`
	At         time.Time         `json:"at"`
	Author     string            `json:"author"`
	Policy     Policy            `json:"policy"`
	Rules      map[string]string `json:"rules" doc:"The rule versions of the streams."`
	Items      int               `json:"items"`
	Claims     int64             `json:"claims"`
	Cents      int64             `json:"cents"`
	Causes     []job.Cause       `json:"causes" doc:"What the records had when they were planned, the most frequent first; at most 100."`
	MoreCauses int               `json:"more_causes,omitempty"`
	Digest     string            `json:"digest" doc:"SHA-256 of all of it, of every record and revision: send it back to run."`
}

// Progress is where a job stands. A later one has a higher seq.
type Progress struct {
	Job           string         `json:"job"`
	Seq           uint64         `json:"seq"`
	State         string         `json:"state" enum:"planned,running,paused,stopped,cancelled,done"`
	Phase         string         `json:"phase,omitempty" enum:"canary,ramp,watch"`
	Stop          *job.Stop      `json:"stop,omitempty" doc:"Why it stopped by itself."`
	Items         int            `json:"items"`
	Results       map[string]int `json:"results" doc:"What became of records when their turn came."`
	Ends          map[string]int `json:"ends" doc:"What became of released ones afterwards."`
	UnderWay      int            `json:"under_way"`
	DryRun        map[string]int `json:"dry_run,omitempty"`
	DryRunAt      *time.Time     `json:"dry_run_at,omitempty" doc:"When the last dry run ended; absent while one is under way."`
	Unreachable   []string       `json:"unreachable,omitempty" doc:"Of a planned job: partners whose breakers were open when the last dry run ended. A run would stop at them (BREAKER_OPEN)."`
	Rate          float64        `json:"rate"`
	MaxRate       float64        `json:"max_rate"`
	NeedsApproval bool           `json:"needs_approval"`
	ApprovedBy    string         `json:"approved_by,omitempty"`
	Runner        string         `json:"runner,omitempty"`
	StartedAt     *time.Time     `json:"started_at,omitempty"`
	EndedAt       *time.Time     `json:"ended_at,omitempty"`
	Watching      bool           `json:"watching"`
}

func toProgress(p job.Progress) Progress {
	return Progress{
		Job: string(p.Job), Seq: p.Seq, State: string(p.State), Phase: string(p.Phase), Stop: p.Stop, Items: p.Items, Results: p.Results, Ends: p.Ends,
		UnderWay: p.UnderWay, DryRun: p.DryRun, DryRunAt: moment(p.DryRunAt), Unreachable: p.Unreachable, Rate: p.Rate, MaxRate: p.MaxRate,
		NeedsApproval: p.NeedsApproval, ApprovedBy: p.ApprovedBy,
		Runner: p.Runner, StartedAt: moment(p.StartedAt), EndedAt: moment(p.EndedAt), Watching: p.Watching,
	}
}

func toPlan(p job.Plan) Plan {
	n := min(len(p.Causes), mostCauses)
	return Plan{
		ID: string(p.ID), At: p.At, Author: p.Author, Policy: toPolicy(p.Policy), Rules: p.Rules, Items: p.Items, Claims: p.Claims, Cents: p.Cents,
		Causes: append([]job.Cause{}, p.Causes[:n]...), MoreCauses: len(p.Causes) - n, Digest: p.Digest.String(),
	}
}

// jobView is a job that somebody may see, and who that is.
type jobView struct {
	jobs     *job.Jobs
	plan     job.Plan
	progress job.Progress
	who      auth.Principal
}

// partners lists whose records a job has.
func (v *jobView) partners() []string { return partnersOf(v.plan) }

func partnersOf(p job.Plan) []string {
	seen, out := map[string]bool{}, []string{}
	for i := range p.Causes {
		if x := p.Causes[i].Partner; !seen[x] {
			seen[x], out = true, append(out, x)
		}
	}
	return out
}

// coversJob reports whether somebody may see all of a job's partners.
func coversJob(p auth.Principal, plan job.Plan) bool {
	return everything(p) || !slices.ContainsFunc(partnersOf(plan), func(x string) bool { return !p.Covers(x) })
}

// may reports whether somebody may do that to all of a job's partners.
func (v *jobView) may(perm auth.Permission) error {
	for _, partner := range v.partners() {
		if err := v.who.May(perm, partner); err != nil {
			return err
		}
	}
	return nil
}

// job returns a replay job for somebody who may do that to all of it.
func (s *server) job(ctx context.Context, id string, perm auth.Permission, reason string) (*jobView, error) {
	v, err := seeJob(ctx, s.o.Jobs, id, reason)
	if err != nil {
		return nil, err
	}
	return v, v.may(perm)
}

// seeJob returns a job; for those who may not see all of its partners there is none.
func seeJob(ctx context.Context, jobs *job.Jobs, id, reason string) (*jobView, error) {
	if jobs == nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "find job", Hint: "this process runs no jobs"}
	}
	jid, err := job.ParseID(id)
	if err != nil {
		return nil, missing("job", "")
	}
	v := &jobView{jobs: jobs, who: who(ctx).For(reason)}
	if v.plan, v.progress, err = jobs.Get(jid); err != nil {
		if codeIs(err, claimdlq.NotFound) {
			return nil, missing("job", "")
		}
		return nil, err
	}
	if !coversJob(v.who, v.plan) {
		return nil, missing("job", "")
	}
	return v, nil
}

// JobPath is the part of a request that says what it is about.
type JobPath struct {
	ID string `path:"id" maxLength:"40"`
}

type jobReason struct {
	JobPath

	Body Because
}

type jobOutput struct {
	Body struct {
		Plan     Plan     `json:"plan"`
		Progress Progress `json:"progress"`
	}
}

type progressOutput struct{ Body Progress }

func (s *server) jobOperations() {
	op := func(id, method, path string, perm auth.Permission, summary string) operation {
		return operation{id: id, method: method, path: path, tag: "replays", perm: perm, summary: summary, command: method != http.MethodGet}
	}
	add(s, op("list-replays", http.MethodGet, "/v1/replays", auth.RecordsRead, "Replay jobs, the newest first"), s.listJobs)
	plan := op("plan-replay", http.MethodPost, "/v1/replays", auth.ReplayPlan, "Freeze what is to be replayed; nothing is released")
	plan.status, plan.body, plan.patience = http.StatusCreated, 1<<20, 10*time.Minute
	add(s, plan, s.plan)
	add(s, op("get-replay", http.MethodGet, "/v1/replays/{id}", auth.RecordsRead, "A job: its plan, and where it stands"), s.getJob)
	add(s, op("list-replay-items", http.MethodGet, "/v1/replays/{id}/items", auth.RecordsRead, "The records of a job and what became of each, in the plan's order"), s.listItems)
	dry := op("dry-run-replay", http.MethodPost, "/v1/replays/{id}/dry-run", auth.ReplayPlan, "Decide about every record as a run would, and change none")
	dry.status, dry.about = http.StatusAccepted, "It goes on after the answer: follow it by the job's events. Payloads that are opened for it are in the audit log."
	add(s, dry, s.dryRun)
	run := op("run-replay", http.MethodPost, "/v1/replays/{id}/run", auth.ReplayRun, "Begin to release what was planned")
	run.about = "Above the threshold a second person has to approve it: ask with POST /v1/replays/{id}/run:ask, then send the approval's id."
	add(s, run, s.run)
	add(s, op("resume-replay", http.MethodPost, "/v1/replays/{id}/resume", auth.ReplayRun, "Let a paused or stopped job go on"), s.change(some(s.o.Jobs).Resume))
	add(s, op("pause-replay", http.MethodPost, "/v1/replays/{id}/pause", auth.ReplayRun, "Release no more for now"), s.change(some(s.o.Jobs).Pause))
	add(s, op("cancel-replay", http.MethodPost, "/v1/replays/{id}/cancel", auth.ReplayRun, "End it for good: what is not released stays where it is"), s.change(some(s.o.Jobs).Cancel))
	add(s, op("set-replay-rate", http.MethodPut, "/v1/replays/{id}/rate", auth.ReplayRun, "Change how many a second may be released, at once"), s.setRate)
}

// some is never nil: without any jobs, no operation gets as far as to use them.
func some(jobs *job.Jobs) *job.Jobs {
	if jobs == nil {
		return &job.Jobs{}
	}
	return jobs
}

func (s *server) listJobs(ctx context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*struct {
	Body struct {
		Replays []Progress `json:"replays"`
	}
}, error,
) {
	out := &struct {
		Body struct {
			Replays []Progress `json:"replays"`
		}
	}{}
	out.Body.Replays = []Progress{}
	for _, now := range mine(ctx, s.o.Jobs, in.Limit) {
		out.Body.Replays = append(out.Body.Replays, toProgress(now))
	}
	return out, nil
}

// mine returns where the jobs stand that somebody may see, the newest first.
func mine(ctx context.Context, jobs *job.Jobs, limit int) (out []job.Progress) {
	if jobs == nil {
		return nil
	}
	for _, p := range jobs.List() {
		if len(out) == limit {
			break
		}
		plan, now, err := jobs.Get(p.Job)
		if err == nil && coversJob(who(ctx), plan) {
			out = append(out, now)
		}
	}
	return out
}

func (s *server) getJob(ctx context.Context, in *JobPath) (*jobOutput, error) {
	v, err := s.job(ctx, in.ID, auth.RecordsRead, "")
	if err != nil {
		return nil, err
	}
	out := &jobOutput{}
	out.Body.Plan, out.Body.Progress = toPlan(v.plan), toProgress(v.progress)
	return out, nil
}

func (s *server) dryRun(ctx context.Context, in *jobReason) (*progressOutput, error) {
	v, err := s.job(ctx, in.ID, auth.ReplayPlan, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	const op = "dry-run replay job"
	if v.progress.State != job.Planned {
		return nil, &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: in.ID, Hint: "it was run or cancelled"}
	}
	s.dry.Lock()
	defer s.dry.Unlock()
	if s.drying[v.plan.ID] {
		return nil, &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: in.ID, Hint: "one is under way: follow its events"}
	}
	s.drying[v.plan.ID] = true
	by := v.who.By()
	s.o.Background(func(ctx context.Context) {
		defer func() {
			s.dry.Lock()
			defer s.dry.Unlock()
			delete(s.drying, v.plan.ID)
		}()
		if _, err := s.o.Jobs.DryRun(ctx, by, v.plan.ID); err != nil && !errors.Is(err, context.Canceled) {
			s.o.Log.WarnContext(ctx, "Dry run has failed", slog.String("job", string(v.plan.ID)), slog.String("code", problemOf(err).Code))
		}
	})
	return &progressOutput{toProgress(v.progress)}, nil
}

type runInput struct {
	JobPath

	Body struct {
		Because

		Digest   string `json:"digest" pattern:"^[0-9a-f]{64}$" maxLength:"64" doc:"Of the plan, as it was shown."`
		Approval string `json:"approval,omitempty" maxLength:"64"`
	}
}

func (s *server) run(ctx context.Context, in *runInput) (*progressOutput, error) {
	v, err := s.job(ctx, in.ID, auth.ReplayRun, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	p, err := s.runJob(ctx, v, in)
	if err != nil {
		return nil, err
	}
	return &progressOutput{toProgress(p)}, nil
}

// runJob runs a job that needs no second person, or with the approval of one.
func (s *server) runJob(ctx context.Context, v *jobView, in *runInput) (job.Progress, error) {
	const op = "run job"
	switch {
	case in.Body.Digest != v.plan.Digest.String():
		return v.progress, moved(op, in.ID)
	case v.progress.State != job.Planned:
		return v.progress, &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: in.ID, Hint: "it was run or cancelled"}
	}
	by := v.who.By()
	if v.progress.NeedsApproval && v.progress.ApprovedBy == "" {
		if in.Body.Approval == "" {
			return v.progress, needsSecond("job "+in.ID, askForRun(v.plan.Act))
		}
		if _, err := s.o.Desk.Use(v.who, in.Body.Approval, actPerms[v.plan.Act], in.Body.Digest).Do(ctx, s.audit); err != nil {
			return v.progress, err
		}
		if p, err := v.jobs.Approve(ctx, by, v.plan.ID, in.Body.Approval); err != nil {
			return p, err
		}
	}
	return v.jobs.Run(ctx, by, v.plan.ID)
}

// change is a command that a job itself judges.
func (s *server) change(f func(ctx context.Context, by claimdlq.By, id job.ID) (job.Progress, error)) func(context.Context, *jobReason) (*progressOutput, error) {
	return func(ctx context.Context, in *jobReason) (*progressOutput, error) {
		v, err := s.job(ctx, in.ID, auth.ReplayRun, in.Body.Reason)
		if err != nil {
			return nil, err
		}
		p, err := f(ctx, v.who.By(), v.plan.ID)
		if err != nil {
			return nil, err
		}
		return &progressOutput{toProgress(p)}, nil
	}
}

func (s *server) setRate(ctx context.Context, in *struct {
	JobPath

	Body struct {
		PerSecond float64 `json:"per_second" minimum:"0.001" maximum:"10000"`
		Reason    string  `json:"reason,omitempty" maxLength:"200" doc:"Why; it is in the audit log and must name no patient."`
	}
},
) (*progressOutput, error) {
	v, err := s.job(ctx, in.ID, auth.ReplayRun, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	p, err := s.o.Jobs.SetMaxRate(ctx, v.who.By(), v.plan.ID, in.Body.PerSecond)
	if err != nil {
		return nil, err
	}
	return &progressOutput{toProgress(p)}, nil
}
