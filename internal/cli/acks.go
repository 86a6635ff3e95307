package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"claimdlq/flow/settle"
	"claimdlq/internal/app"
	"claimdlq/target/foldertarget"
)

func newAcks(s *session) *cobra.Command {
	var dirs []string
	c := &cobra.Command{
		Use:   "acks [FILE...]",
		Short: "Take the payer's acknowledgments in",
		Long: `Acks reads TA1, 999 and 277CA files and matches them to what was sent. What answers
nothing that was sent is kept and alarmed. A file that was read before changes nothing.

With --dir it picks up the finished files of a folder and moves each to done or bad below
it. FILE may be "-" for standard input.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(dirs) == 0 {
				return usagef("name files, or a folder with --dir")
			}
			return s.with(c.Context(), func(a *app.App) error {
				var errs failures
				for i, arg := range args {
					res, err := s.ackFile(c.Context(), a, arg, i+1)
					if err != nil {
						errs.add(s, arg, err)
						res.Error = oneLine(err.Error())
					}
					res.File = arg
					if err := s.printAcks(res, err != nil); err != nil {
						return err
					}
				}
				for _, dir := range dirs {
					if err := s.ackDir(c.Context(), a, dir, &errs); err != nil {
						errs.add(s, dir, err)
					}
				}
				return errs.err()
			})
		},
	}
	c.Flags().StringArrayVar(&dirs, "dir", nil, "pick up the finished files of this `folder`; repeatable")
	return c
}

func (s *session) ackFile(ctx context.Context, a *app.App, arg string, place int) (settle.Result, error) {
	f, err := s.openInput(arg, place)
	if err != nil {
		return settle.Result{}, err
	}
	defer f.Close()
	bar := s.bar("acks", sizeOf(f), true)
	defer func() { _ = bar.Finish() }()
	r := progressbar.NewReader(f, bar)
	return a.Flow.Settle.Acks(ctx, s.by(""), arg, &r)
}

func (s *session) ackDir(ctx context.Context, a *app.App, dir string, errs *failures) error {
	p := foldertarget.Pickup{Dir: dir, Settle: -1, Now: s.env.Now}
	_, err := p.Run(ctx, func(ctx context.Context, name string, r io.Reader) error {
		full := filepath.Join(dir, name)
		res, err := a.Flow.Settle.Acks(ctx, s.by(""), full, r)
		if err != nil {
			errs.add(s, full, err)
			res.Error = oneLine(err.Error())
		}
		res.File = full
		if perr := s.printAcks(res, err != nil); perr != nil && err == nil {
			err = perr
		}
		return err
	})
	return err
}

func (s *session) printAcks(r settle.Result, failed bool) error {
	if s.json {
		return s.printLine(r)
	}
	if failed {
		return nil // said on standard error
	}
	var parts []string
	for _, x := range []struct {
		n    int64
		what string
	}{
		{r.Accepted, "accepted"},
		{r.Rejected, "rejected"},
		{r.Requeued, "to be sent again"},
	} {
		if x.n > 0 {
			parts = append(parts, plural(x.n, "claim")+" "+x.what)
		}
	}
	if r.Pending > 0 {
		parts = append(parts, fmt.Sprintf("%d pending", r.Pending))
	}
	if r.Orphans > 0 {
		parts = append(parts, fmt.Sprintf("%d match nothing that was sent: kept, look at claimdlq list --stream acks", r.Orphans))
	}
	if r.Duplicate {
		parts = append(parts, "read before, nothing changed")
	}
	if r.Error != "" {
		parts = append(parts, r.Error)
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing to settle")
	}
	_, err := fmt.Fprintf(s.env.Stdout, "%s: %s: %s\n", r.File, plural(int64(r.Answers), "answer"), strings.Join(parts, ", "))
	return err
}
