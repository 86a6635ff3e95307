package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// Partner is one that something unresolved is for.
type Partner struct {
	Partner     string `json:"partner"`
	Stream      string `json:"stream"`
	Records     int64  `json:"records" doc:"That are neither settled nor withdrawn."`
	Quarantined int64  `json:"quarantined"`
}

type partnersOutput struct {
	Body struct {
		Partners []Partner `json:"partners" doc:"Those with the most in quarantine first."`
		More     bool      `json:"more" doc:"There are more than were asked for."`
	}
}

func (s *server) partnerOperations() {
	add(s, operation{
		id: "list-partners", method: http.MethodGet, path: "/v1/partners", tag: "records", perm: auth.GroupsRead,
		summary: "The partners that unresolved records are for",
	}, s.listPartners)
}

func (s *server) listPartners(ctx context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"200"`
},
) (*partnersOutput, error) {
	gs, err := s.groups(ctx, who(ctx), store.Filter{})
	if err != nil {
		return nil, err
	}
	at := map[[2]string]int{}
	out := &partnersOutput{}
	ps := []Partner{}
	for i := range gs {
		g := &gs[i]
		if g.Partner == "" {
			continue
		}
		key := [2]string{g.Stream, g.Partner}
		k, ok := at[key]
		if !ok {
			k, at[key], ps = len(ps), len(ps), append(ps, Partner{Partner: g.Partner, Stream: g.Stream})
		}
		ps[k].Records += g.Records
		if g.State == claimdlq.StateQuarantined {
			ps[k].Quarantined += g.Records
		}
	}
	slices.SortFunc(ps, func(a, b Partner) int {
		return cmp.Or(cmp.Compare(b.Quarantined, a.Quarantined), cmp.Compare(b.Records, a.Records), cmp.Compare(a.Partner, b.Partner), cmp.Compare(a.Stream, b.Stream))
	})
	out.Body.More = len(ps) > in.Limit
	out.Body.Partners = ps[:min(len(ps), in.Limit)]
	return out, nil
}
