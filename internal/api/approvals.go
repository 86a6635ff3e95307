package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
)

// Approvals lets jobs check the approvals of a desk: a token is an approval's
// id, which was given for exactly the plan's digest.
func Approvals(d *auth.Desk) job.Approvals { return deskApprovals{d} }

type deskApprovals struct{ desk *auth.Desk }

// Needed implements job.Approvals.
func (d deskApprovals) Needed(p job.Plan) bool {
	return d.desk.NeedsApproval(actPerms[p.Act], p.Claims, p.Cents)
}

// Approver implements job.Approvals. That the approval is used once is the desk's to
// see to, before the job is told.
func (d deskApprovals) Approver(_ context.Context, token string, p job.Plan) (string, error) {
	if a, ok := d.desk.Approval(token); ok {
		if a.State == auth.ApprovalUsed && a.Permission == actPerms[p.Act] && a.Digest == p.Digest.String() {
			return a.DecidedBy, nil
		}
	}
	return "", needsSecond(string(p.ID), askForRun(p.Act))
}

// Approval is a request for a second person.
type Approval struct {
	ID         string          `json:"id"`
	Permission auth.Permission `json:"permission"`
	On         string          `json:"on" doc:"What it is about: RECORD:17, or JOB: and a replay's id, or ACT: and the id of an act on many records."`
	Digest     string          `json:"digest" doc:"SHA-256 of exactly what is to be done: who approves sends it back, as he was shown it."`
	Partners   []string        `json:"partners" doc:"Whose things it is about; none for all."`
	State      string          `json:"state" enum:"asked,given,refused,used"`
	Expired    bool            `json:"expired"`
	AskedBy    string          `json:"asked_by"`
	AskedAt    time.Time       `json:"asked_at"`
	Reason     string          `json:"reason"`
	ExpiresAt  time.Time       `json:"expires_at"`
	DecidedBy  string          `json:"decided_by,omitempty"`
	DecidedAt  *time.Time      `json:"decided_at,omitempty"`
	Answer     string          `json:"answer,omitempty"`
	UsedAt     *time.Time      `json:"used_at,omitempty"`
	Mine       bool            `json:"mine" doc:"Who asks here asked for it."`
	Decidable  bool            `json:"decidable" doc:"Who asks here may decide it."`
}

func (s *server) toApproval(p auth.Principal, a auth.Approval) Approval {
	now := s.o.Now()
	out := Approval{
		ID: a.ID, Permission: a.Permission, On: a.On, Digest: a.Digest, Partners: append([]string{}, a.Partners...), State: string(a.State),
		Expired: a.Expired(now), AskedBy: a.AskedBy, AskedAt: a.AskedAt, Reason: a.Reason, ExpiresAt: a.ExpiresAt, DecidedBy: a.DecidedBy,
		DecidedAt: moment(a.DecidedAt), Answer: a.Answer, UsedAt: moment(a.UsedAt), Mine: a.AskedBy == p.Actor,
	}
	out.Decidable = a.State == auth.ApprovalAsked && !out.Expired && !out.Mine && p.MaySome(a.Permission.Second()) == nil
	return out
}

type approvalOutput struct{ Body Approval }

type approvalList struct {
	Body struct {
		Approvals []Approval `json:"approvals" doc:"Newest first."`
	}
}

// ApprovalPath is the part of a request that says what it is about.
type ApprovalPath struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *server) approvalAnswer(ctx context.Context, a auth.Approval, err error) (*approvalOutput, error) {
	if err != nil {
		return nil, err
	}
	return &approvalOutput{s.toApproval(who(ctx), a)}, nil
}

func (s *server) approvalOperations() {
	op := func(id, method, path string, perm auth.Permission, summary string) operation {
		return operation{id: id, method: method, path: path, tag: "approvals", perm: perm, summary: summary, command: method != http.MethodGet}
	}
	add(s, op("list-approvals", http.MethodGet, "/v1/approvals", auth.RecordsRead, "Requests for a second person: one's own, and those about one's partners"), s.listApprovals)
	for verb, perm := range map[string]auth.Permission{"unpark": auth.RecordUnpark, "withdraw": auth.RecordWithdraw} {
		ask := op("ask-"+verb, http.MethodPost, "/v1/records/{id}/"+verb+":ask", perm, "Ask a second person for it")
		ask.match, ask.status = true, http.StatusCreated
		ask.about = "The approval is for the record's present revision: where that changes, ask again."
		add(s, ask, func(ctx context.Context, in *reasonInput) (*approvalOutput, error) { return s.askStep(ctx, in, perm) })
	}
	run := op("ask-run", http.MethodPost, "/v1/replays/{id}/run:ask", auth.ReplayRun, "Ask a second person for the run of a plan")
	run.status = http.StatusCreated
	add(s, run, s.askRun)
	approve := op("approve", http.MethodPost, "/v1/approvals/{id}/approve", auth.RecordApprove, "Say yes to exactly what has the digest")
	approve.about = "Neither who asked may, nor who planned it or corrected one of the records that it releases, himself or by a recipe."
	add(s, approve, s.approve)
	add(s, op("refuse", http.MethodPost, "/v1/approvals/{id}/refuse", permSelf, "Say no, or take back what one asked for"), s.refuse)
}

func (s *server) listApprovals(ctx context.Context, in *struct {
	State string `query:"state" enum:"asked,given,refused,used"`
},
) (*approvalList, error) {
	out := &approvalList{}
	out.Body.Approvals = []Approval{}
	for _, a := range s.o.Desk.Approvals(who(ctx)) {
		if in.State == "" || in.State == string(a.State) {
			out.Body.Approvals = append(out.Body.Approvals, s.toApproval(who(ctx), a))
		}
	}
	return out, nil
}

func (s *server) askStep(ctx context.Context, in *reasonInput, perm auth.Permission) (*approvalOutput, error) {
	rev, err := ifMatch(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case uint64(r.Revision) != rev:
		return nil, moved("ask for approval", "record "+r.ID.String())
	case !legalStep(perm, r):
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: "ask for approval", On: "record " + r.ID.String(), Hint: outlook(r)}
	}
	a, err := s.o.Desk.Ask(who(ctx).For(in.Body.Reason), auth.Request{
		Permission: perm, On: "RECORD:" + strconv.FormatUint(in.ID, 10), Digest: recordDigest(perm, r), Partners: named(r.Partner),
	}).Do(ctx, s.audit)
	return s.approvalAnswer(ctx, a, err)
}

// named is the list of partners as package auth takes it: none stands for all.
func named(partners ...string) []string {
	if slices.Contains(partners, "") {
		return nil
	}
	return partners
}

func (s *server) askRun(ctx context.Context, in *jobReason) (*approvalOutput, error) {
	v, err := s.job(ctx, in.ID, auth.ReplayRun, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return s.askJob(ctx, v, "JOB:")
}

// askJob asks a second person for the run of a plan.
func (s *server) askJob(ctx context.Context, v *jobView, kind string) (*approvalOutput, error) {
	id, perm := string(v.plan.ID), actPerms[v.plan.Act]
	if v.progress.State != job.Planned {
		return nil, &claimdlq.Error{Code: claimdlq.Conflict, Op: "ask for approval", On: id, Hint: "it was run or cancelled"}
	}
	if perm.Second() == "" {
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: "ask for approval", On: id, Hint: "it needs no second person: run it"}
	}
	partners := v.partners()
	if len(partners) > 64 {
		partners = nil // only who sees all of them decides
	}
	a, err := s.o.Desk.Ask(v.who, auth.Request{
		Permission: perm, On: kind + id, Digest: v.plan.Digest.String(), Partners: named(partners...),
	}).Do(ctx, s.audit)
	return s.approvalAnswer(ctx, a, err)
}

func (s *server) approve(ctx context.Context, in *struct {
	ApprovalPath

	Body struct {
		Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" maxLength:"64" doc:"Of the request, as it was shown."`
		Reason string `json:"reason,omitempty" maxLength:"200"`
	}
},
) (*approvalOutput, error) {
	p := who(ctx).For(in.Body.Reason)
	act := s.o.Desk.Approve(p, in.ID, in.Body.Digest)
	if asked, ok := s.o.Desk.Approval(in.ID); ok && act.Err() == nil {
		own, err := s.ownWork(ctx, p, asked)
		if err != nil {
			return nil, err
		}
		if own {
			act = s.o.Desk.OwnWork(p, asked)
		}
	}
	a, err := act.Do(ctx, s.audit)
	return s.approvalAnswer(ctx, a, err)
}

func (s *server) refuse(ctx context.Context, in *struct {
	ApprovalPath

	Body Because
},
) (*approvalOutput, error) {
	a, err := s.o.Desk.Refuse(who(ctx).For(in.Body.Reason), in.ID).Do(ctx, s.audit)
	return s.approvalAnswer(ctx, a, err)
}
