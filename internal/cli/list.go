package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/app"
)

type listJSON struct {
	Records []recordJSON `json:"records"`
	// Before continues the list: the value for --before; 0 at the end.
	Before claimdlq.ID `json:"before"`
}

func newList(s *session) *cobra.Command {
	var f filterFlags
	var before uint64
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List records, newest first",
		Example: `  claimdlq list --state quarantined
  claimdlq list --state quarantined --reason-code FATAL_SYNTAX --detail IK4:CLM02:1
  claimdlq list --before 1200`,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 || limit > 10_000 {
				return usagef("--limit is 1 to 10000")
			}
			flt, err := f.filter(s.env.Now())
			if err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				rs, err := a.Store.List(c.Context(), flt, claimdlq.ID(before), limit)
				if err != nil {
					return err
				}
				out := listJSON{Records: make([]recordJSON, 0, len(rs))}
				for _, r := range rs {
					out.Records = append(out.Records, toJSON(r))
				}
				if len(rs) == limit {
					out.Before = rs[len(rs)-1].ID
				}
				if s.json {
					return s.printJSON(out)
				}
				if err := s.recordTable(rs); err != nil {
					return err
				}
				if out.Before != 0 {
					s.say("more: claimdlq list --before %d", out.Before)
				}
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().Uint64Var(&before, "before", 0, "continue below this record `number`")
	c.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return c
}

func (s *session) recordTable(rs []claimdlq.Record) error {
	rows := make([][]string, len(rs))
	now := s.env.Now()
	for i, r := range rs {
		age := "-"
		if !r.FirstFailedAt.IsZero() {
			age = span(r.Age(now))
		}
		rows[i] = []string{
			r.ID.String(), keyOf(r), r.State.String(), cause(r), strconv.FormatUint(uint64(r.Claims), 10), money(r.AmountCents),
			dash(r.Partner), strconv.FormatUint(uint64(r.AttemptCount), 10), strconv.FormatUint(uint64(r.ReplayCount), 10), age,
		}
	}
	return s.table("ID KEY STATE CAUSE CLAIMS AMOUNT PARTNER ATTEMPTS REPLAYS AGE", rows)
}
