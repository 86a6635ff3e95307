package api

import (
	"context"
	"errors"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

type groupsInput struct {
	Selection

	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

// Group is one cause: records that share state, reason, detail, partner and stream.
type Group struct {
	State    string     `json:"state"`
	Reason   string     `json:"reason_code"`
	Detail   string     `json:"error_detail"`
	Meaning  string     `json:"meaning,omitempty" doc:"The detail in words."`
	Partner  string     `json:"partner"`
	Stream   string     `json:"stream"`
	Records  int64      `json:"records"`
	Claims   int64      `json:"claims"`
	OldestAt *time.Time `json:"oldest_at,omitempty"`
}

// GroupList is the causes that match, largest first.
type GroupList struct {
	Groups  []Group `json:"groups"`
	More    bool    `json:"more" doc:"There are more than were asked for."`
	Records int64   `json:"records" doc:"Records in all groups that match, also in those that are not listed."`
	Claims  int64   `json:"claims"`
}

type groupsOutput struct{ Body GroupList }

func (s *server) listGroups(ctx context.Context, q *groupsInput) (*groupsOutput, error) {
	f, err := q.filter(s.o.Now())
	if err != nil {
		return nil, err
	}
	gs, err := s.groups(ctx, who(ctx), f)
	if err != nil {
		return nil, err
	}
	out := &groupsOutput{GroupList{Groups: []Group{}}}
	for i := range gs {
		g := &gs[i]
		out.Body.Records, out.Body.Claims = out.Body.Records+g.Records, out.Body.Claims+g.Claims
		if len(out.Body.Groups) == q.Limit {
			out.Body.More = true
			continue
		}
		out.Body.Groups = append(out.Body.Groups, Group{
			State: g.State.String(), Reason: g.Reason.String(), Detail: g.Detail.String(), Meaning: classify.Words(g.Detail), Partner: g.Partner,
			Stream: g.Stream, Records: g.Records, Claims: g.Claims, OldestAt: moment(g.OldestAt),
		})
	}
	return out, nil
}

// groups returns the causes that somebody may see, at most mostCause.
func (s *server) groups(ctx context.Context, p auth.Principal, f store.Filter) ([]store.Group, error) {
	gs, err := s.o.App.Store.Groups(ctx, f, mostCause)
	if err != nil || everything(p) {
		return gs, err
	}
	out := gs[:0]
	for i := range gs {
		if p.Covers(gs[i].Partner) {
			out = append(out, gs[i])
		}
	}
	return out, nil
}

func codeIs(err error, c claimdlq.Code) bool { return errors.Is(err, c) }
