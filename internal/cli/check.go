package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq/internal/check"
)

func newCheck(s *session) *cobra.Command {
	var o check.Options
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Judge files without storing anything",
		Long: `Check reads X12 and NCPDP files and says what a payer would: a verdict, and each fault with segment,
position, loop, element and code, never a value. It stores nothing and needs no data
directory. With --ack-out it writes the TA1 and 999 files that answer each file.

Of a pharmacy file it says what each transaction is: fit to be sent, or what the payer's
answer means. What identifies a claim is masked unless --reveal is given.

Exit code 3: some file has a fault.`,
		Example: `  claimdlq check claims/*.x12
  claimdlq check monday.x12 --json --ack-out acks/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var errs failures
			bad := false
			for i, arg := range args {
				ok, err := s.checkOne(c.Context(), arg, i+1, o)
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
	c.Flags().StringVar(&o.AckOut, "ack-out", "", "write acknowledgments into this `folder`")
	c.Flags().StringArrayVar(&o.Sent, "sent", nil, "claim `file or folder` in which to look for what a 999 or a pharmacy answer answers; repeatable (default: the folder of the 999)")
	c.Flags().BoolVar(&o.Reveal, "reveal", false, "show prescription, fill, product and quantity of pharmacy claims (PHI)")
	c.Flags().BoolVar(&o.Answer, "answer", false, "pharmacy files are answers: a request among them is an echo (default: by their names, res_* or *.rsp)")
	return c
}

// checkOne judges one file, and reports whether it can be sent as it is.
func (s *session) checkOne(ctx context.Context, arg string, place int, o check.Options) (ok bool, err error) {
	f, err := s.openInput(arg, place)
	if err != nil {
		return false, err
	}
	bar := s.bar("check", sizeOf(f), true)
	_ = f.Close() // opened only to say what is wrong with the argument, and for its size
	defer func() { _ = bar.Finish() }()
	o.Progress = func(n int64) { _ = bar.Set64(n) }
	rep, err := check.File(ctx, arg, o)
	if err != nil {
		return false, err
	}
	if s.json {
		return rep.OK(), s.printLine(rep)
	}
	_, err = fmt.Fprintln(s.env.Stdout, rep)
	return rep.OK(), err
}
