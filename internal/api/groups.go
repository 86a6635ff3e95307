package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/auth"
	"claimdlq/internal/background"
	"claimdlq/store"
)

type groupsInput struct {
	Waiting

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
	sel, err := q.selection(s.o.Now())
	if err != nil {
		return nil, err
	}
	gs, err := s.groups(ctx, who(ctx), sel.Filter)
	if err == nil && sel.Narrow() {
		gs, err = s.narrowed(ctx, who(ctx), sel, gs)
	}
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

// narrowed counts what is meant of the groups that the filter alone selects, record by
// record.
func (s *server) narrowed(ctx context.Context, p auth.Principal, sel background.Selection, of []store.Group) ([]store.Group, error) {
	type lot struct {
		state   claimdlq.State
		partner string // where somebody may not see every partner's: one that he may
	}
	lots, records := map[lot]bool{}, int64(0)
	for i := range of {
		l := lot{of[i].State, of[i].Partner}
		if everything(p) {
			l.partner = sel.Filter.Partner
		}
		lots[l], records = true, records+of[i].Records
	}
	if records > lookGroups {
		return nil, &claimdlq.Error{
			Code: claimdlq.Refused, Op: "group records", On: "over 100,000 would have to be looked at for their rules, amounts or holds", Hint: "narrow it by state, cause or partner",
		}
	}
	found := map[store.Group]*store.Group{} // by what its records share
	for l := range lots {
		sel.Filter.State, sel.Filter.Partner = l.state, l.partner
		err := sel.Each(ctx, s.o.App.Store, func(r *claimdlq.Record) error {
			cause := store.Group{State: r.State, Reason: r.Reason, Detail: r.Detail, Partner: r.Partner, Stream: r.Stream}
			g := found[cause]
			if g == nil {
				g = &cause
				found[cause] = g
			}
			at := r.FirstFailedAt
			if at.IsZero() {
				at = r.CreatedAt
			}
			if g.Records == 0 || at.Before(g.OldestAt) {
				g.OldestAt = at
			}
			g.Records, g.Claims = g.Records+1, g.Claims+int64(r.Claims)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([]store.Group, 0, len(found))
	for _, g := range found {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b store.Group) int {
		return cmp.Or(
			cmp.Compare(b.Records, a.Records), cmp.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.Detail.String(), b.Detail.String()), cmp.Compare(a.Partner, b.Partner), cmp.Compare(a.Stream, b.Stream))
	})
	return out, nil
}

func codeIs(err error, c claimdlq.Code) bool { return errors.Is(err, c) }
