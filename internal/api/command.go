package api

import (
	"context"
	"net/http"
	"strconv"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/auth"
)

// IDPath is the part of a request that says what it is about.
type IDPath struct {
	ID uint64 `path:"id" minimum:"1" maximum:"9223372036854775807"`
}

// Moved is a record after a command.
type Moved struct {
	Record Record `json:"record"`
	Next   []Next `json:"next"`
	Result string `json:"result,omitempty" doc:"Of a replay: replayed, or what kept it back: duplicate_suppressed, parked, not_corrected, in_doubt. Of an inquiry: known, or unknown where the payer cannot tell."`
}

type movedOutput struct {
	ETag string `header:"ETag"`
	Body Moved
}

func (s *server) moved(ctx context.Context, r claimdlq.Record, result string) *movedOutput {
	return &movedOutput{etag(r), Moved{toRecord(r), s.next(ctx, r), result}}
}

func (s *server) commandOperations() {
	op := func(verb string, perm auth.Permission, summary string) operation {
		return operation{
			id: verb + "-record", method: http.MethodPost, path: "/v1/records/{id}/" + verb, tag: "commands", perm: perm, summary: summary,
			command: true, match: true,
		}
	}
	add(s, op("park", auth.RecordPark, "Take it out of reach of replays"), s.park)
	unpark := op("unpark", auth.RecordUnpark, "Give it back, with one more replay allowed")
	unpark.about = "A second person has to approve it: ask with POST /v1/records/{id}/unpark:ask, then send the approval's id."
	add(s, unpark, s.unpark)
	withdraw := op("withdraw", auth.RecordWithdraw, "Write it off, for good")
	withdraw.about = "A second person has to approve it: ask with POST /v1/records/{id}/withdraw:ask, then send the approval's id."
	add(s, withdraw, s.withdraw)
	add(s, op("replay", auth.ReplayRun, "Release it for delivery, or say why not"), s.replay)
	resolve := op("resolve", auth.RecordResolve, "Say what became of what was sent: it arrived, or it did not")
	resolve.about = "All that went out in the same interchange and is in doubt is resolved with it."
	add(s, resolve, s.resolve)
	add(s, op("inquire", auth.RecordInquire, "Ask the payer what became of it"), s.inquire)
}

// act runs a command on a record that is as its sender saw it, for somebody who may do
// that to its partner's things. Two commands on one record wait for each other.
func (s *server) act(ctx context.Context, id uint64, perm auth.Permission, reason string, f func(p auth.Principal, r claimdlq.Record) (claimdlq.Record, string, error)) (*movedOutput, error) {
	rev, err := ifMatch(ctx)
	if err != nil {
		return nil, err
	}
	lock := s.o.Locks.of(claimdlq.ID(id))
	lock.Lock()
	defer lock.Unlock()
	r, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	p := who(ctx).For(reason)
	if err := p.May(perm, r.Partner); err != nil {
		return nil, err
	}
	if uint64(r.Revision) != rev {
		return nil, moved("command on record", strconv.FormatUint(id, 10))
	}
	now, result, err := f(p, r)
	if err != nil {
		return nil, err
	}
	s.o.App.Flow.Attempt.Wake()
	return s.moved(ctx, now, result), nil
}

// step is the shape of what moves one record.
type step func(ctx context.Context, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error)

type reasonInput struct {
	IDPath

	Body Because
}

func (s *server) park(ctx context.Context, in *reasonInput) (*movedOutput, error) {
	return s.act(ctx, in.ID, auth.RecordPark, in.Body.Reason, func(p auth.Principal, r claimdlq.Record) (claimdlq.Record, string, error) {
		now, err := s.o.App.Flow.Retain.Park(ctx, p.By(), r.ID)
		return now, "", err
	})
}

type approvedInput struct {
	IDPath

	Body struct {
		Because

		Approval string `json:"approval,omitempty" maxLength:"64" doc:"The id of the approval that a second person gave."`
	}
}

func (s *server) unpark(ctx context.Context, in *approvedInput) (*movedOutput, error) {
	return s.approved(ctx, in, auth.RecordUnpark, s.o.App.Flow.Retain.Unpark)
}

func (s *server) withdraw(ctx context.Context, in *approvedInput) (*movedOutput, error) {
	return s.approved(ctx, in, auth.RecordWithdraw, s.o.App.Flow.Retain.Withdraw)
}

// approved runs a step that a second person has approved for exactly this revision. The
// approval is used up before the step: a crash between the two loses it.
func (s *server) approved(ctx context.Context, in *approvedInput, perm auth.Permission, f step) (*movedOutput, error) {
	return s.act(ctx, in.ID, perm, in.Body.Reason, func(p auth.Principal, r claimdlq.Record) (claimdlq.Record, string, error) {
		if s.o.Desk.NeedsApproval(perm, int64(r.Claims), r.AmountCents) {
			if in.Body.Approval == "" {
				return r, "", needsSecond("record "+r.ID.String(), askFor[perm])
			}
			if !legalStep(perm, r) {
				return r, "", &claimdlq.Error{Code: claimdlq.Refused, Op: "command on record", On: r.ID.String(), Hint: outlook(r)}
			}
			if _, err := s.o.Desk.Use(p, in.Body.Approval, perm, recordDigest(perm, r)).Do(ctx, s.audit); err != nil {
				return r, "", err
			}
		}
		now, err := f(ctx, p.By(), r.ID)
		return now, "", err
	})
}

// legalStep reports whether the state allows the step at all, so that no approval is
// spent on what cannot be done.
func legalStep(perm auth.Permission, r claimdlq.Record) bool {
	if perm == auth.RecordUnpark {
		return r.State == claimdlq.StateParked
	}
	return claimdlq.CanMove(r.State, claimdlq.StateWithdrawn)
}

// askFor is how a second person is asked for it.
var askFor = map[auth.Permission]string{
	auth.RecordUnpark:   "POST /v1/records/{id}/unpark:ask",
	auth.RecordWithdraw: "POST /v1/records/{id}/withdraw:ask",
	auth.ReplayRun:      "POST /v1/replays/{id}/run:ask",
}

func needsSecond(on, ask string) error {
	return &claimdlq.Error{
		Code: claimdlq.Refused, Op: "look for an approval", On: on, Err: auth.ErrApproval,
		Hint: "ask a second person: " + ask + "; then send the approval's id",
	}
}

type replayInput struct {
	IDPath

	Body struct {
		Because

		Unchanged bool `json:"unchanged,omitempty" doc:"The payload was refused as it is: the cause lies outside it and is gone."`
		DryRun    bool `json:"dry_run,omitempty" doc:"Decide, and change nothing. The payload may be opened for it, which is audited."`
	}
}

func (s *server) replay(ctx context.Context, in *replayInput) (*movedOutput, error) {
	return s.act(ctx, in.ID, auth.ReplayRun, in.Body.Reason, func(p auth.Principal, r claimdlq.Record) (claimdlq.Record, string, error) {
		if !in.Body.DryRun && s.o.Desk.NeedsApproval(auth.ReplayRun, int64(r.Claims), r.AmountCents) {
			return r, "", &claimdlq.Error{
				Code: claimdlq.Refused, Op: "replay record", On: r.ID.String(), Err: auth.ErrApproval,
				Hint: "it is large: plan a job of it (POST /v1/replays), which a second person can approve (POST /v1/replays/{id}/run:ask)",
			}
		}
		res, now, err := s.o.App.Flow.Replay.One(ctx, p.By(), r.ID, replay.Options{Unchanged: in.Body.Unchanged, DryRun: in.Body.DryRun})
		if err == nil && res == claimdlq.ReplayNotFound {
			err = missing("record", r.ID.String())
		}
		return now, string(res), err
	})
}

func (s *server) resolve(ctx context.Context, in *struct {
	IDPath

	Body struct {
		Because

		Arrived bool `json:"arrived" doc:"true: it waits for its acknowledgment; false: it may be replayed as it is."`
	}
},
) (*movedOutput, error) {
	return s.act(ctx, in.ID, auth.RecordResolve, in.Body.Reason, func(p auth.Principal, r claimdlq.Record) (claimdlq.Record, string, error) {
		now, err := s.o.App.Flow.Settle.Resolve(ctx, p.By(), r.ID, in.Body.Arrived)
		return now, "", err
	})
}

func (s *server) inquire(ctx context.Context, in *struct {
	IDPath

	Body struct {
		Reason string `json:"reason,omitempty" maxLength:"200"`
	}
},
) (*movedOutput, error) {
	return s.act(ctx, in.ID, auth.RecordInquire, in.Body.Reason, func(p auth.Principal, r claimdlq.Record) (claimdlq.Record, string, error) {
		now, known, err := s.o.App.Flow.Settle.Inquire(ctx, p.By(), r.ID)
		if err == nil && !known {
			return now, "unknown", nil
		}
		return now, "known", err
	})
}
