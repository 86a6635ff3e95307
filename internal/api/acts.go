package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
)

// actPerms are what is asked of who plans or runs an act, as for one record.
var actPerms = map[job.Act]auth.Permission{
	job.Replay: auth.ReplayRun, job.Park: auth.RecordPark, job.Unpark: auth.RecordUnpark, job.Withdraw: auth.RecordWithdraw, job.Inquire: auth.RecordInquire,
}

// askForRun is how a second person is asked for the run of a plan.
func askForRun(a job.Act) string {
	if a == job.Replay {
		return askFor[auth.ReplayRun]
	}
	return "POST /v1/acts/{id}/run:ask"
}

// anyAct are the permissions of all acts but a replay.
func anyAct() (out []auth.Permission) {
	for _, a := range job.Acts {
		out = append(out, actPerms[a])
	}
	return out
}

// ActPlan is what an act on many records was frozen as.
type ActPlan struct {
	ID         string         `json:"id"`
	At         time.Time      `json:"at"`
	Act        string         `json:"act" enum:"park,unpark,withdraw,inquire"`
	Author     string         `json:"author"`
	Rate       float64        `json:"per_second" doc:"How many have their turn a second."`
	Items      int            `json:"items"`
	Claims     int64          `json:"claims"`
	Cents      int64          `json:"cents"`
	Verdicts   map[string]int `json:"verdicts" doc:"What would become of the records as they were planned: done, refused (its state does not allow it), not_found."`
	Causes     []job.Cause    `json:"causes" doc:"What the records had when they were planned; at most 100."`
	MoreCauses int            `json:"more_causes,omitempty"`
	Digest     string         `json:"digest" doc:"SHA-256 of all of it, of every record and revision: send it back to run."`
}

// ActProgress is where an act stands. A later one has a higher seq.
type ActProgress struct {
	Job           string         `json:"job"`
	Seq           uint64         `json:"seq"`
	Act           string         `json:"act" enum:"park,unpark,withdraw,inquire"`
	State         string         `json:"state" enum:"planned,running,paused,stopped,cancelled,done"`
	Stop          *job.Stop      `json:"stop,omitempty" doc:"Why it stopped by itself."`
	Items         int            `json:"items"`
	Results       map[string]int `json:"results" doc:"What became of records when their turn came: done, refused, moved, not_found, failed; of an inquiry known, unknown (the payer cannot tell), unanswered."`
	Rate          float64        `json:"rate"`
	NeedsApproval bool           `json:"needs_approval"`
	ApprovedBy    string         `json:"approved_by,omitempty"`
	Runner        string         `json:"runner,omitempty"`
	StartedAt     *time.Time     `json:"started_at,omitempty"`
	EndedAt       *time.Time     `json:"ended_at,omitempty"`
	Watching      bool           `json:"watching" doc:"It may still change."`
}

func toActPlan(p job.Plan) ActPlan {
	n := min(len(p.Causes), mostCauses)
	return ActPlan{
		ID: string(p.ID), At: p.At, Act: string(p.Act), Author: p.Author, Rate: p.Policy.MaxRate, Items: p.Items, Claims: p.Claims, Cents: p.Cents,
		Verdicts: p.Verdicts(), Causes: append([]job.Cause{}, p.Causes[:n]...), MoreCauses: len(p.Causes) - n, Digest: p.Digest.String(),
	}
}

func toActProgress(p job.Progress) ActProgress {
	return ActProgress{
		Job: string(p.Job), Seq: p.Seq, Act: string(p.Act), State: string(p.State), Stop: p.Stop, Items: p.Items, Results: p.Results, Rate: p.Rate,
		NeedsApproval: p.NeedsApproval, ApprovedBy: p.ApprovedBy, Runner: p.Runner, StartedAt: moment(p.StartedAt), EndedAt: moment(p.EndedAt),
		Watching: p.Watching,
	}
}

type actOutput struct {
	Body struct {
		Plan     ActPlan     `json:"plan"`
		Progress ActProgress `json:"progress"`
	}
}

type actProgressOutput struct{ Body ActProgress }

func (s *server) actOperations() {
	read := func(id, path, summary string) operation {
		return operation{id: id, method: http.MethodGet, path: path, tag: "acts", perm: auth.RecordsRead, summary: summary}
	}
	do := func(id, path, summary string) operation {
		all := anyAct()
		return operation{id: id, method: http.MethodPost, path: path, tag: "acts", perm: all[0], or: all[1:], summary: summary, command: true}
	}
	add(s, read("list-acts", "/v1/acts", "Acts on many records, the newest first"), s.listActs)
	plan := do("plan-act", "/v1/acts", "Freeze what is to be parked, un-parked, withdrawn or asked about; nothing is done")
	plan.status, plan.body, plan.patience = http.StatusCreated, 1<<20, 10*time.Minute
	plan.about = sentences(
		"It asks for the permission of the act itself: record.park and so on.",
		"A filter without a state selects what is quarantined; to un-park, what is parked; to inquire, what is in doubt.")
	add(s, plan, s.planAct)
	add(s, read("get-act", "/v1/acts/{id}", "An act on many records: its plan, and where it stands"), s.getAct)
	add(s, read("list-act-items", "/v1/acts/{id}/items", "The records of an act and what became of each, in the plan's order"), s.listActItems)
	run := do("run-act", "/v1/acts/{id}/run", "Begin to do what was planned, behind the answer")
	run.about = sentences(
		"To un-park and to withdraw a second person has to approve the plan, once for all of it: ask with POST /v1/acts/{id}/run:ask, then send the approval's id.",
		"A record that has moved since it was planned is left alone. Each has an entry of its own in the audit log, with the reason and the act's id.",
		"An inquiry is about all that went out in one interchange: what is in doubt with a record is answered with it.")
	add(s, run, s.runAct)
	ask := do("ask-act", "/v1/acts/{id}/run:ask", "Ask a second person for the run of a plan")
	ask.status = http.StatusCreated
	add(s, ask, s.askAct)
	add(s, do("pause-act", "/v1/acts/{id}/pause", "Do no more for now"), s.changeAct(some(s.o.Acts).Pause))
	add(s, do("resume-act", "/v1/acts/{id}/resume", "Let a paused or stopped act go on, in one's own name"), s.changeAct(some(s.o.Acts).Resume))
	add(s, do("cancel-act", "/v1/acts/{id}/cancel", "End it for good: what is not done is left alone"), s.changeAct(some(s.o.Acts).Cancel))
	add(s, operation{
		id: "follow-act", method: http.MethodGet, path: "/v1/acts/{id}/events", tag: "acts", perm: auth.RecordsRead, stream: true, answers: eventStream,
		summary: "An act's progress, as server-sent events", about: "Events named progress hold an ActProgress; otherwise as those of a replay.",
	}, s.followAct)
}

// seeAct returns an act that somebody may see.
func (s *server) seeAct(ctx context.Context, id, reason string) (*jobView, error) {
	return seeJob(ctx, s.o.Acts, id, reason)
}

// doAct returns an act for somebody who may do it to all of it. A refusal is in the audit
// log, as one at the door is.
func (s *server) doAct(ctx context.Context, id, reason string) (*jobView, error) {
	v, err := s.seeAct(ctx, id, reason)
	if err != nil {
		return nil, err
	}
	return v, s.forbidden(ctx, v.who, actPerms[v.plan.Act], v.may(actPerms[v.plan.Act]))
}

// forbidden returns err, and makes it known to the audit log where it is that somebody
// may not do a thing that he was let in to do.
func (s *server) forbidden(ctx context.Context, p auth.Principal, perm auth.Permission, err error) error {
	if errors.Is(err, auth.ErrForbidden) {
		if rerr := s.audit(ctx, p.Denied(s.o.Now(), perm)); rerr != nil {
			return rerr
		}
	}
	return err
}

type planActInput struct {
	Body struct {
		Because
		Which

		Act  string  `json:"act" enum:"park,unpark,withdraw,inquire"`
		Rate float64 `json:"per_second,omitempty" minimum:"0" maximum:"10000" doc:"How many have their turn a second. Default: 500; inquiries, which the payer has to answer, 10."`
	}
}

func (s *server) planAct(ctx context.Context, in *planActInput) (*actOutput, error) {
	const op = "plan act"
	if s.o.Acts == nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Hint: "this process runs no jobs"}
	}
	b, p := &in.Body, who(ctx).For(in.Body.Reason)
	if given(len(b.IDs) > 0, b.Filter != nil) != 1 {
		return nil, invalid(op, "body", "name records (ids), or select them (filter)")
	}
	act := job.Act(b.Act)
	if err := s.forbidden(ctx, p, actPerms[act], p.MaySome(actPerms[act])); err != nil {
		return nil, err
	}
	sel, err := s.which(ctx, p, &b.Which, actPerms[act])
	if err != nil {
		return nil, err
	}
	plan, err := s.o.Acts.PlanAct(ctx, p.By(), act, sel, b.Rate)
	if err != nil {
		return nil, err
	}
	_, progress, err := s.o.Acts.Get(plan.ID)
	return actAnswer(plan, progress), err
}

func actAnswer(plan job.Plan, progress job.Progress) *actOutput {
	out := &actOutput{}
	out.Body.Plan, out.Body.Progress = toActPlan(plan), toActProgress(progress)
	return out
}

func (s *server) listActs(ctx context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"50"`
},
) (*struct {
	Body struct {
		Acts []ActProgress `json:"acts"`
	}
}, error,
) {
	out := &struct {
		Body struct {
			Acts []ActProgress `json:"acts"`
		}
	}{}
	out.Body.Acts = []ActProgress{}
	for _, now := range mine(ctx, s.o.Acts, in.Limit) {
		out.Body.Acts = append(out.Body.Acts, toActProgress(now))
	}
	return out, nil
}

func (s *server) getAct(ctx context.Context, in *JobPath) (*actOutput, error) {
	v, err := s.seeAct(ctx, in.ID, "")
	if err != nil {
		return nil, err
	}
	return actAnswer(v.plan, v.progress), nil
}

type actItemsInput struct {
	JobPath

	From    int    `query:"from" minimum:"0" maximum:"10000000" doc:"The next of the page before."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Verdict string `query:"verdict" enum:"done,refused,not_found"`
	Result  string `query:"result" enum:"done,refused,moved,not_found,failed,known,unknown,unanswered"`
}

func (s *server) listActItems(ctx context.Context, in *actItemsInput) (*itemsOutput, error) {
	v, err := s.seeAct(ctx, in.ID, "")
	if err != nil {
		return nil, err
	}
	return itemsOf(v, in.From, in.Limit, in.Verdict, in.Result, "")
}

func (s *server) runAct(ctx context.Context, in *runInput) (*actProgressOutput, error) {
	v, err := s.doAct(ctx, in.ID, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	p, err := s.runJob(ctx, v, in)
	if err != nil {
		return nil, err
	}
	return &actProgressOutput{toActProgress(p)}, nil
}

func (s *server) askAct(ctx context.Context, in *jobReason) (*approvalOutput, error) {
	v, err := s.doAct(ctx, in.ID, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return s.askJob(ctx, v, "ACT:")
}

// changeAct is a command that an act itself judges.
func (s *server) changeAct(f func(ctx context.Context, by claimdlq.By, id job.ID) (job.Progress, error)) func(context.Context, *jobReason) (*actProgressOutput, error) {
	return func(ctx context.Context, in *jobReason) (*actProgressOutput, error) {
		v, err := s.doAct(ctx, in.ID, in.Body.Reason)
		if err != nil {
			return nil, err
		}
		p, err := f(ctx, v.who.By(), v.plan.ID)
		if err != nil {
			return nil, err
		}
		return &actProgressOutput{toActProgress(p)}, nil
	}
}

func (s *server) followAct(ctx context.Context, in *struct {
	JobPath
	EventsInput
},
) (*eventsOutput, error) {
	v, err := s.seeAct(ctx, in.ID, "")
	if err != nil {
		return nil, err
	}
	return s.follow(v, in.LastEventID, func(p job.Progress) any { return toActProgress(p) })
}
