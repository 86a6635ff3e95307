package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq/internal/app"
)

func newFsck(s *session) *cobra.Command {
	var quick bool
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Check records, payloads and the audit log against each other",
		Long: `Fsck reads everything and compares it: each record's payload is there and its seal
holds, claims and sets belong together, the counters agree with the records and with each
other, the audit log is whole and complete. It changes nothing. Exit code 8: something is wrong.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				st, err := a.Store.Stats(c.Context())
				if err != nil {
					return err
				}
				var total int64
				for _, n := range st.Records {
					total += n
				}
				bar := s.bar("fsck", total, false)
				rep, err := a.Fsck(c.Context(), !quick, func(n int64) { _ = bar.Set64(n) })
				_ = bar.Finish()
				if err != nil {
					return err
				}
				if err := s.printReport(rep); err != nil {
					return err
				}
				if len(rep.Problems) > 0 {
					return &silentError{exitCorrupt}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "do not check the seals of the payloads")
	return c
}

func (s *session) printReport(r app.Report) error {
	if s.json {
		return s.printJSON(r)
	}
	for _, p := range r.Problems {
		where := "store"
		if p.Record != 0 {
			where = "record " + p.Record.String()
		}
		if _, err := fmt.Fprintf(s.env.Stdout, "%s: %s %s\n", where, p.What, oneLine(p.Err)); err != nil {
			return err
		}
	}
	verdict := "clean"
	if n := int64(len(r.Problems)) + r.More; n > 0 {
		verdict = plural(n, "problem")
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%s: %s, %s, %s, %s, %d audit entries\n", verdict,
		plural(r.Records, "record"), plural(r.Claims, "claim"), plural(r.Submissions, "submission"), plural(r.Units, "payload"), r.Entries)
	return err
}
