package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/flow/retain"
	"claimdlq/internal/app"
)

type plannedJSON struct {
	Within string           `json:"within"`
	At     string           `json:"at"`
	Park   map[string]int64 `json:"park"`
	Shred  int64            `json:"shred_units"`
	Loses  int64            `json:"shred_records"`
}

type retentionJSON struct {
	Plan []plannedJSON `json:"plan"`
	// Windows are the filing windows in days, by stream and STREAM/PARTNER.
	Windows map[string]int `json:"timely_filing_days"`
}

// planTimes are the times that retention tells about.
var planTimes = []time.Duration{0, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}

func newRetention(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "retention",
		Short: "Tell what retention would park and destroy, and when",
		Long: `Retention tells how many records their retention would park and how many payloads of
settled claims would be destroyed (shred_after) now, and within a day, a week and 30 days
from now, if nothing else happens. It changes nothing and opens nothing: a dry run. The
serving process parks once a minute and destroys every six hours.

Nothing is ever evicted: what is parked waits for a named person, what is destroyed is a
payload that no unresolved claim needs, and its record stays.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				var at []time.Time
				for _, d := range planTimes {
					at = append(at, s.env.Now().Add(d))
				}
				plan, err := a.Plan(c.Context(), at...)
				if err != nil {
					return err
				}
				return s.printPlan(a, plan)
			})
		},
	}
}

func (s *session) printPlan(a *app.App, plan []retain.Planned) error {
	out := retentionJSON{Plan: []plannedJSON{}, Windows: map[string]int{}}
	var rows [][]string
	for i, p := range plan {
		when := "now"
		if planTimes[i] > 0 {
			when = span(planTimes[i])
		}
		out.Plan = append(out.Plan, plannedJSON{when, stamp(p.At), p.Park, p.Shred, p.Settled})
		rows = append(rows, []string{
			when, number(uint64(p.Park[claimdlq.StreamX12])), number(uint64(p.Park[claimdlq.StreamNCPDP])), number(uint64(p.Park[claimdlq.StreamAcks])),
			number(uint64(p.Shred)), number(uint64(p.Settled)),
		})
	}
	for name, w := range a.Windows() {
		out.Windows[name] = int(w)
	}
	if s.json {
		return s.printJSON(out)
	}
	if err := s.table("WITHIN PARK_837 PARK_NCPDP PARK_ACKS SHRED_PAYLOADS OF_RECORDS", rows); err != nil {
		return err
	}
	for _, stream := range []string{claimdlq.StreamX12, claimdlq.StreamNCPDP} {
		p := a.Policies().For(stream)
		window := "no filing window"
		if w := a.Windows().For(stream, ""); w > 0 {
			window = "filing window " + strconv.Itoa(int(w)) + "d"
		}
		if _, err := fmt.Fprintf(s.env.Stdout, "%s: parked after %s; %s; payloads %s\n", stream, span(p.Retention), window, shreds(p.ShredAfter)); err != nil {
			return err
		}
	}
	return nil
}

// shreds says when payloads go.
func shreds(sh claimdlq.ShredAfter) string {
	var out []string
	for _, x := range []struct {
		name string
		d    time.Duration
	}{
		{"paid", sh.Paid}, {"accepted", sh.Accepted}, {"reversed", sh.Reversed}, {"rejected", sh.Rejected}, {"withdrawn", sh.Withdrawn}, {"answers", sh.Answers},
	} {
		if x.d > 0 {
			out = append(out, x.name+" "+span(x.d))
		}
	}
	if len(out) == 0 {
		return "are kept"
	}
	return "destroyed after " + strings.Join(out, ", ")
}
