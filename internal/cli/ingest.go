package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"claimdlq/flow/intake"
	"claimdlq/internal/app"
)

func newIngest(s *session) *cobra.Command {
	var deliver, noDeliver bool
	c := &cobra.Command{
		Use:   "ingest FILE...",
		Short: "Take files in, hold what is bad, deliver the rest",
		Long: `Ingest takes files of claims in: X12 837, pharmacy claims (NCPDP D.0, one or several
transmissions) and batches of them (Batch standard 1.2). When it returns, everything it
reports is on disk. One bad claim is held alone and the rest goes on; a file that cannot
be read is kept whole; a file that was taken in before changes nothing. FILE may be "-"
for standard input.

With a target (--target, or CLAIMDLQ_TARGET) what is due is delivered afterwards.
Claims that are held do not make the exit code other than 0: they are safe.`,
		Example: `  claimdlq ingest claims/*.x12 --target https://payer.example/x12
  claimdlq ingest monday.x12 --target PAYER01=/srv/sftp/payer01 --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if deliver && noDeliver {
				return usagef("--deliver and --no-deliver exclude each other")
			}
			s.create = true
			return s.with(c.Context(), func(a *app.App) error {
				if deliver && !a.HasTarget() {
					return usagef("--deliver needs a --target")
				}
				err := s.ingestAll(c.Context(), a, args)
				if noDeliver || !a.HasTarget() || c.Context().Err() != nil {
					return err
				}
				if derr := s.drainAndSay(c.Context(), a); derr != nil && err == nil {
					err = derr
				}
				return err
			})
		},
	}
	s.addTargets(c)
	c.Flags().BoolVar(&deliver, "deliver", false, "deliver what is due afterwards (the default where there is a target)")
	c.Flags().BoolVar(&noDeliver, "no-deliver", false, "deliver nothing now")
	return c
}

func (s *session) ingestAll(ctx context.Context, a *app.App, args []string) error {
	var errs failures
	for i, arg := range args {
		if ctx.Err() != nil {
			errs.add(s, arg, ctx.Err())
			break
		}
		res, err := s.ingestOne(ctx, a, arg, i+1)
		if err != nil {
			errs.add(s, arg, err)
			res.Error = oneLine(err.Error())
		}
		res.File = arg
		if err := s.printIngested(res, err != nil); err != nil {
			return err
		}
	}
	return errs.err()
}

func (s *session) ingestOne(ctx context.Context, a *app.App, arg string, place int) (intake.Result, error) {
	f, err := s.openInput(arg, place)
	if err != nil {
		return intake.Result{}, err
	}
	defer f.Close()
	bar := s.bar("ingest", sizeOf(f), true)
	defer func() { _ = bar.Finish() }()
	r := progressbar.NewReader(f, bar)
	return a.Flow.Intake.File(ctx, s.by(""), arg, io.Reader(&r))
}

func (s *session) printIngested(r intake.Result, failed bool) error {
	if s.json {
		return s.printLine(r)
	}
	if failed {
		return nil // said on standard error
	}
	why := ""
	if r.Error != "" {
		why = " (" + r.Error + ")"
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%s: %s: %d accepted, %d quarantined, %d duplicate, %d in conflict%s\n", r.File,
		found(r), r.Accepted, r.Quarantined, r.Duplicates, r.Conflicts, why)
	return err
}

// found says what was in a file. What cannot be read counts as a claim, for somebody must
// look at it, and is none that anybody has seen.
func found(r intake.Result) string {
	switch {
	case r.Transmissions > 0:
		return plural(r.Claims, "claim") + " in " + plural(int64(r.Transmissions), "transmission")
	case r.TransactionSets > 0:
		return plural(r.Claims, "claim") + " in " + plural(int64(r.TransactionSets), "transaction set")
	case r.Claims > 0:
		return "no readable claim"
	}
	return "no claims"
}
