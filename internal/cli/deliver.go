package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claimdlq/flow/attempt"
	"claimdlq/internal/app"
)

type deliverJSON struct {
	attempt.Summary

	Overdue int `json:"overdue"` // records whose acknowledgment did not come in time
	Expired int `json:"expired"` // records parked past their retention
}

// forever is longer than any retry horizon.
const forever = 400 * 24 * time.Hour

func newDeliver(s *session) *cobra.Command {
	var wait string
	c := &cobra.Command{
		Use:   "deliver",
		Short: "Deliver what is due",
		Long: `Deliver sends everything that is due now to its target. What fails in a way that may
pass is due again after its back-off; --wait stays for that, until nothing is due any
more, and --wait=DURATION at most so long.

It also looks after what falls due with time: what waits for its acknowledgment past the
deadline goes into doubt, and what is unresolved past its retention is parked. Run it from
a timer, every minute.`,
		Example: `  claimdlq deliver --target https://payer.example/x12 --wait=10m`,
		RunE: func(c *cobra.Command, _ []string) error {
			patience := time.Duration(0)
			if c.Flags().Changed("wait") {
				patience = forever
				if wait != "forever" {
					d, err := time.ParseDuration(wait)
					if err != nil || d < 0 {
						return usagef("--wait takes a duration such as 90s, with an equals sign: --wait=90s")
					}
					patience = d
				}
			}
			return s.with(c.Context(), func(a *app.App) error {
				if !a.HasTarget() {
					return usagef("deliver needs a --target, or CLAIMDLQ_TARGET")
				}
				overdue, expired, err := a.LookAfter(c.Context())
				if err != nil {
					return err
				}
				sum, err := s.drain(c.Context(), a, patience)
				if s.json {
					if perr := s.printJSON(deliverJSON{sum, overdue, expired}); perr != nil {
						return perr
					}
					return err
				}
				s.printSummary(s.env.Stdout, sum)
				if overdue+expired > 0 {
					s.say("%d in doubt because no acknowledgment came in time, %d parked past their retention", overdue, expired)
				}
				return err
			})
		},
	}
	s.addTargets(c)
	c.Flags().StringVar(&wait, "wait", "", "stay until nothing is due, or at most this `duration`")
	c.Flags().Lookup("wait").NoOptDefVal = "forever"
	return c
}

// drain delivers until nothing is due, or patience ends, with a bar that counts
// submissions.
func (s *session) drain(ctx context.Context, a *app.App, patience time.Duration) (attempt.Summary, error) {
	bar := s.bar("deliver", -1, false)
	defer func() { _ = bar.Finish() }()
	return a.Deliver(ctx, patience, func(t attempt.Summary) {
		_ = bar.Set(t.Sent + t.Requeued + t.InDoubt + t.Dead)
	})
}

// printSummary says what a delivery run did, in submissions.
func (s *session) printSummary(w io.Writer, sum attempt.Summary) {
	parts := []string{"delivered " + plural(int64(sum.Sent), "submission")}
	for _, x := range []struct {
		n    int
		what string
	}{
		{sum.Requeued, "failed, due again later (claimdlq deliver --wait)"},
		{sum.InDoubt, "in doubt (claimdlq list --state in_doubt)"},
		{sum.Dead, "refused or out of budget (claimdlq groups)"},
		{sum.Held, "held: no target, or the payer is down"},
	} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	_, _ = fmt.Fprintln(w, strings.Join(parts, "; "))
}

// drainAndSay delivers what is due now and says on standard error what came of it.
func (s *session) drainAndSay(ctx context.Context, a *app.App) error {
	sum, err := s.drain(ctx, a, 0)
	s.printSummary(s.env.Stderr, sum)
	return err
}
