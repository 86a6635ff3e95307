package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"claimdlq/classify"
	"claimdlq/internal/app"
	"claimdlq/store"
)

type groupsJSON struct {
	Groups []store.Group `json:"groups"`
}

func newGroups(s *session) *cobra.Command {
	var f filterFlags
	var limit int
	c := &cobra.Command{
		Use:   "groups",
		Short: "Show what is unresolved by cause, the largest first",
		Long: `Groups counts the records that share state, reason, detail, partner and stream.
A spike of FATAL_SYNTAX is a bad file or rule; one of RETRIES_EXHAUSTED is an outage.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 || limit > 10_000 {
				return usagef("--limit is 1 to 10000")
			}
			flt, err := f.filter(s.env.Now())
			if err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				gs, err := a.Store.Groups(c.Context(), flt, limit)
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(groupsJSON{append([]store.Group{}, gs...)})
				}
				rows := make([][]string, len(gs))
				for i, g := range gs {
					age := "-"
					if !g.OldestAt.IsZero() {
						age = span(max(0, s.env.Now().Sub(g.OldestAt)))
					}
					rows[i] = []string{
						strconv.FormatInt(g.Records, 10), strconv.FormatInt(g.Claims, 10), g.State.String(), dash(g.Reason.String()),
						dash(g.Detail.String()), dash(g.Partner), dash(g.Stream), age, dash(classify.Words(g.Detail)),
					}
				}
				return s.table("RECORDS CLAIMS STATE REASON DETAIL PARTNER STREAM OLDEST MEANING", rows)
			})
		},
	}
	f.add(c)
	c.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return c
}
