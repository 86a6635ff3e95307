package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/internal/fsck"
)

func newFsck(s *session) *cobra.Command {
	var quick, sweep bool
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Check records, payloads and the audit log against each other",
		Long: `Fsck reads everything and compares it: each record's payload is there and its seal
holds, claims and sets belong together, the counters agree with the records and with each
other, the audit log is whole and complete. Exit code 8: something is wrong.

It changes nothing, but with --sweep it first destroys the keys of payloads that no record
points at: what a crash left, and revisions that a correction has replaced.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				if sweep && s.env.shared != nil {
					// What is being taken in now is sealed before a record points at it.
					return &claimdlq.Error{
						Code: claimdlq.Refused, Op: "sweep payloads", On: "the directory is being served",
						Hint: "the serving process sweeps every six hours; or stop it first",
					}
				}
				if sweep {
					n, err := a.Sweep(c.Context())
					if err != nil {
						return err
					}
					s.say("swept %s that no record points at", plural(int64(n), "payload"))
				}
				bar := s.bar("fsck", -1, false)
				rep, err := a.Fsck(c.Context(), !quick, func(n int64) { _ = bar.Set64(n) })
				_ = bar.Finish()
				if err != nil {
					return err
				}
				if err := s.printReport(rep); err != nil {
					return err
				}
				if !rep.OK() {
					return &silentError{exitCorrupt}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "do not check the seals of the payloads")
	c.Flags().BoolVar(&sweep, "sweep", false, "destroy payloads that no record points at")
	return c
}

func (s *session) printReport(r fsck.Report) error {
	if s.json {
		return s.printJSON(r)
	}
	for _, p := range r.Findings {
		where := "store"
		switch {
		case p.Record != 0:
			where = "record " + p.Record.String()
		case p.Submission != 0:
			where = "submission " + number(uint64(p.Submission))
		}
		detail := ""
		if p.Detail != "" {
			detail = ": " + oneLine(p.Detail)
		}
		if _, err := fmt.Fprintf(s.env.Stdout, "%s: %s%s (%s)\n", where, p.Code, detail, p.Next); err != nil {
			return err
		}
	}
	verdict := "clean"
	if !r.OK() {
		verdict = plural(int64(len(r.Findings))+r.More, "problem")
	}
	if r.Unreferenced > 0 {
		s.say("%s that no record points at: claimdlq fsck --sweep", plural(r.Unreferenced, "payload"))
	}
	if r.Unfinished > 0 {
		s.say("%s of interrupted intake: give the file again", plural(r.Unfinished, "record"))
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%s: %s, %s, %s, %s, %d audit entries\n", verdict,
		plural(r.Records, "record"), plural(r.Claims, "claim"), plural(r.Submissions, "submission"), plural(r.Units, "payload"), r.Entries)
	return err
}
