package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"claimdlq/flow/filing"
	"claimdlq/flow/retain"
	"claimdlq/internal/app"
)

type dueJSON struct {
	recordJSON

	Stage      string `json:"stage"`
	LastDay    string `json:"last_day,omitempty"` // PHI
	DaysLeft   *int   `json:"days_left,omitempty"`
	WindowDays int    `json:"window_days"`
}

type deadlinesJSON struct {
	Records []dueJSON `json:"records"`
}

func newDeadlines(s *session) *cobra.Command {
	var f filterFlags
	var stages []string
	var reason string
	var limit int
	c := &cobra.Command{
		Use:   "deadlines",
		Short: "List unresolved records by the end of their filing windows",
		Long: `Deadlines lists the unresolved records of partners with a filing window
(timely_filing_days), the nearest last day first. The last day tells a date of service,
which is PHI: the listing needs a reason and is one entry in the audit log. No payload is
opened.

Stages: warning (80 % of the window have gone), alert (90 %), passed (the last day is
over), in_time, unknown (no date of service could be read, or the payload was taken in
before there were deadlines).`,
		Example: `  claimdlq deadlines --reason "before the weekend"
  claimdlq deadlines --stage alert --partner ZZ:PAYER --reason "payer calls"`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			if limit < 1 || limit > 10_000 {
				return usagef("--limit is 1 to 10000")
			}
			flt, err := f.filter(s.env.Now())
			if err != nil {
				return err
			}
			due := retain.DueFilter{Filter: flt}
			for _, text := range stages {
				stage, err := filing.ParseStage(text)
				if err != nil {
					return usagef("--stage is one of %s", names(filing.Stages))
				}
				due.Stages = append(due.Stages, stage)
			}
			return s.with(c.Context(), func(a *app.App) error {
				if !a.Windows().Any() {
					s.say("no filing window is configured: timely_filing_days (claimdlq serve --example)")
				}
				list, err := a.Due(c.Context(), s.by(reason), due, limit)
				if err != nil {
					return err
				}
				return s.printDue(list)
			})
		},
	}
	f.add(c)
	addReason(c, &reason)
	c.Flags().StringSliceVar(&stages, "stage", []string{"warning", "alert", "passed"}, "only these `stages`: "+names(filing.Stages))
	c.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return c
}

func (s *session) printDue(list []retain.Due) error {
	out, rows := deadlinesJSON{Records: []dueJSON{}}, make([][]string, len(list))
	now := s.env.Now()
	for i, d := range list {
		r := d.Record
		j := dueJSON{recordJSON: toJSON(r), Stage: d.Stage.String(), WindowDays: int(d.Window)}
		left := "-"
		if n, ok := d.DaysLeft(now); ok {
			j.LastDay, j.DaysLeft, left = d.LastDay.Format(time.DateOnly), &n, strconv.Itoa(n)
		}
		out.Records = append(out.Records, j)
		rows[i] = []string{
			r.ID.String(), keyOf(r), r.State.String(), cause(r), strconv.FormatUint(uint64(r.Claims), 10), money(r.AmountCents), dash(r.Partner),
			j.Stage, dash(j.LastDay), left,
		}
	}
	if s.json {
		return s.printJSON(out)
	}
	return s.table("ID KEY STATE CAUSE CLAIMS AMOUNT PARTNER STAGE LAST_DAY DAYS_LEFT", rows)
}
