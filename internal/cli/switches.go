package cli

import (
	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/internal/app"
)

type switchesJSON struct {
	Stopped []attempt.Switch `json:"stopped"`
}

func newSwitches(s *session) *cobra.Command {
	c := &cobra.Command{
		Use:   "switches",
		Short: "Stop a stream or partner at once, and let it go on",
		Long: `Switches stops deliveries of a stream, or of one partner of it, at once: what is not with
the payer yet stays here and spends no budget. It stays stopped until somebody starts it
again, over restarts too.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("say switches list, switches stop or switches start (claimdlq help switches)")
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "list", Short: "List what is stopped",
		RunE: func(c *cobra.Command, _ []string) error { return s.with(c.Context(), s.printSwitches) },
	}, newSwitch(s, "stop", "Deliver nothing of a stream, or of one partner of it", true), newSwitch(s, "start", "Let deliveries go on", false))
	return c
}

func newSwitch(s *session, name, short string, stop bool) *cobra.Command {
	var partner, reason string
	var unseen bool
	c := &cobra.Command{
		Use: name + " STREAM", Short: short, Args: cobra.ExactArgs(1),
		Example: `  claimdlq switches ` + name + ` ncpdp --partner 999999:TESTPCN --reason "the payer asks for it"`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			if args[0] != claimdlq.StreamX12 && args[0] != claimdlq.StreamNCPDP {
				return usagef("the streams are %s and %s", claimdlq.StreamX12, claimdlq.StreamNCPDP)
			}
			return s.with(c.Context(), func(a *app.App) error {
				if err := a.Switch(c.Context(), s.by(reason), app.Turn{Switch: attempt.Switch{Stream: args[0], Partner: partner}, Stop: stop, Unseen: unseen}); err != nil {
					return err
				}
				return s.printSwitches(a)
			})
		},
	}
	c.Flags().StringVar(&partner, "partner", "", "this `partner` only (BIN:PCN or ISA07:ISA08, or BIN or ISA08 for all who have it; default: the whole stream)")
	if stop {
		c.Flags().BoolVar(&unseen, "unseen", false, "stop a partner of whom no claim has come yet")
	}
	addReason(c, &reason)
	return c
}

// printSwitches prints what is stopped.
func (s *session) printSwitches(a *app.App) error {
	stopped := append([]attempt.Switch{}, a.Flow.Attempt.Stopped()...)
	if s.json {
		return s.printJSON(switchesJSON{stopped})
	}
	rows := make([][]string, len(stopped))
	for i, x := range stopped {
		rows[i] = []string{x.Stream, dash(x.Partner)}
	}
	return s.table("STREAM PARTNER", rows)
}
