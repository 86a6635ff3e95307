//go:build never

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq/internal/check"
)

func newCheck(s *session) *cobra.Command {
	var ackOut string
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Judge files without storing anything",
		Long: `Check reads X12 files and says what a payer would: a verdict, and each fault with segment,
position, loop, element and code, never a value. It stores nothing and needs no data
directory. With --ack-out it writes the TA1 and 999 files that answer each file.

Exit code 3: some file has a fault.`,
		Example: `  claimdlq check claims/*.x12
  claimdlq check monday.x12 --json --ack-out acks/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var errs failures
			bad := false
			for i, arg := range args {
				ok, err := s.checkOne(c.Context(), arg, i+1, ackOut)
				if err != nil {
					errs.add(s, arg, err)
				}
				bad = bad || !ok
			}
			if err := errs.err(); err != nil {
				return err
			}
			if bad {
				return &silentError{exitInvalid}
			}
			return nil
		},
	}
	c.Flags().StringVar(&ackOut, "ack-out", "", "write acknowledgments into this `folder`")
	return c
}

func (s *session) checkOne(ctx context.Context, arg string, place int, ackOut string) (ok bool, err error) {
	f, err := s.openInput(arg, place)
	if err != nil {
		return false, err
	}
	size := sizeOf(f)
	if err := f.Close(); err != nil {
		return false, err
	}
	bar := s.bar("check", size, true)
	defer func() { _ = bar.Finish() }()
	rep, err := check.File(ctx, arg, check.Options{AckOut: ackOut})
	if err != nil {
		return false, err
	}
	if s.json {
		return false, s.printLine(rep)
	}
	_, err = fmt.Fprintln(s.env.Stdout, rep)
	return false, err
}
