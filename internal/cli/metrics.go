package cli

import (
	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/internal/metrics"
	"claimdlq/store"
)

type metricsJSON struct {
	Received    int64                     `json:"received"`
	Claims      map[claimdlq.State]int64  `json:"claims"`
	Rejected    int64                     `json:"rejected"`
	Difference  int64                     `json:"difference"` // received less the sum of claims: 0
	Records     map[claimdlq.State]int64  `json:"records"`
	Quarantined map[claimdlq.Reason]int64 `json:"quarantined"`
	Orphans     int64                     `json:"orphans"`
}

func statsJSON(st store.Stats) metricsJSON {
	m := metricsJSON{
		Received: st.Received, Rejected: st.Rejected, Orphans: st.Orphans, Difference: st.Difference(),
		Claims: map[claimdlq.State]int64{}, Records: map[claimdlq.State]int64{}, Quarantined: map[claimdlq.Reason]int64{},
	}
	for _, x := range claimdlq.States {
		m.Claims[x], m.Records[x] = st.ByState[x], st.Records[x]
	}
	for _, x := range claimdlq.Reasons {
		m.Quarantined[x] = st.Quarantined[x]
	}
	return m
}

func newMetrics(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "metrics",
		Short: "Print the figures as Prometheus text",
		Long: `Metrics prints the figures in the Prometheus text format, for a file that a node
exporter picks up, or for people. With --json it prints the counters themselves.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				if s.json {
					st, err := a.Store.Stats(c.Context())
					if err != nil {
						return err
					}
					return s.printJSON(statsJSON(st))
				}
				return metrics.WriteText(s.env.Stdout, metrics.New(a.Store, a, s.env.Now))
			})
		},
	}
}
