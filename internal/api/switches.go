package api

import (
	"context"
	"net/http"
	"strings"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// note makes durable that somebody does something that is about no record.
func (s *server) note(ctx context.Context, p auth.Principal, a claimdlq.Action, detail string) error {
	_, err := s.o.App.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: s.o.Now(), Actor: p.Actor, Action: a, Detail: claimdlq.NewDetail(strings.ToUpper(detail)), Note: p.Reason,
	}}})
	return err
}

type switchList struct {
	Body struct {
		Stopped []Switch `json:"stopped"`
	}
}

type switchInput struct {
	Stream string `path:"stream" enum:"837,ncpdp"`
	Body   struct {
		Because

		Partner string `json:"partner,omitempty" maxLength:"64" doc:"BIN:PCN, or ISA07:ISA08; BIN or ISA08 alone for all who have it. Default: the whole stream."`
	}
}

type stopInput struct {
	Stream string `path:"stream" enum:"837,ncpdp"`
	Body   struct {
		Because

		Partner string `json:"partner,omitempty" maxLength:"64" doc:"BIN:PCN, or ISA07:ISA08; BIN or ISA08 alone for all who have it. Default: the whole stream."`
		Unseen  bool   `json:"unseen,omitempty" doc:"Stop a partner of whom no claim has come yet. Without it a name that is not known is refused: GET /v1/partners lists those with something unresolved."`
	}
}

func (s *server) switchOperations() {
	add(s, operation{
		id: "list-switches", method: http.MethodGet, path: "/v1/switches", tag: "switches", perm: auth.MetricsRead, summary: "What people have stopped",
	}, func(ctx context.Context, _ *struct{}) (*switchList, error) { return s.stopped(ctx), nil })
	add(s, operation{
		id: "stop-stream", method: http.MethodPut, path: "/v1/switches/{stream}", tag: "switches", perm: auth.SwitchesSet, command: true,
		summary: "Stop a stream, or one partner of it, at once", about: "What is not with the payer yet stays here and spends no budget.",
	}, func(ctx context.Context, in *stopInput) (*switchList, error) {
		return s.turn(ctx, in.Body.Reason, app.Turn{Switch: attempt.Switch{Stream: in.Stream, Partner: in.Body.Partner}, Stop: true, Unseen: in.Body.Unseen})
	})
	add(s, operation{
		id: "start-stream", method: http.MethodDelete, path: "/v1/switches/{stream}", tag: "switches", perm: auth.SwitchesSet, command: true,
		summary: "Let it go on", about: "Like any command it has a body: the reason does not belong into an address.",
	}, func(ctx context.Context, in *switchInput) (*switchList, error) {
		return s.turn(ctx, in.Body.Reason, app.Turn{Switch: attempt.Switch{Stream: in.Stream, Partner: in.Body.Partner}})
	})
}

func (s *server) stopped(ctx context.Context) *switchList {
	out := &switchList{}
	out.Body.Stopped = stoppedFor(who(ctx), s.o.App.Flow.Attempt.Stopped())
	return out
}

func (s *server) turn(ctx context.Context, reason string, t app.Turn) (*switchList, error) {
	p := who(ctx).For(reason)
	if err := p.May(auth.SwitchesSet, t.Partner); err != nil {
		return nil, err
	}
	if err := s.o.App.Switch(ctx, p.By(), t); err != nil {
		return nil, err
	}
	return s.stopped(ctx), nil
}
