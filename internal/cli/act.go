package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
)

// A step moves one record and returns it as it is now.
type step func(ctx context.Context, a *app.App, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error)

type actJSON struct {
	Records []recordJSON `json:"records"`
}

// stepCommand is a verb that takes records, by ID, one step further, and needs a
// reason. One record that cannot be moved does not stop the others.
// One that a second person has to approve names the permission.
func stepCommand(s *session, use, short, long string, perm auth.Permission, do step) *cobra.Command {
	var reason string
	var alone bool
	c := &cobra.Command{
		Use:   use + " ID...",
		Short: short,
		Long:  long + "\n\n" + argID,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				if err := s.second(c.Context(), a, perm, weight{}, alone, reason); err != nil {
					return err
				}
				return s.stepAll(c.Context(), a, reason, args, do)
			})
		},
	}
	addReason(c, &reason)
	if perm.Second() != "" {
		addAlone(c, &alone)
	}
	return c
}

func (s *session) stepAll(ctx context.Context, a *app.App, reason string, args []string, do step) error {
	var out actJSON
	var errs failures
	for _, arg := range args {
		r, err := s.resolve(ctx, a.Store, arg)
		if err == nil {
			was := r.State
			r, err = do(ctx, a, s.by(reason), r.ID)
			err = hintState(err, was)
		}
		if err != nil {
			errs.add(s, arg, err)
			continue
		}
		out.Records = append(out.Records, toJSON(r))
		if !s.json {
			_, _ = fmt.Fprintf(s.env.Stdout, "record %d  %s  %s  %s\n", r.ID, keyOf(r), r.State, cause(r))
		}
	}
	if s.json {
		out.Records = append([]recordJSON{}, out.Records...)
		if err := s.printJSON(out); err != nil {
			return err
		}
	}
	return errs.err()
}

// hintState adds what the state means to a refusal that says no more than that.
func hintState(err error, was claimdlq.State) error {
	e, ok := errors.AsType[*claimdlq.Error](err)
	if !ok || e.Code != claimdlq.Refused || e.Hint != "" {
		return err
	}
	hints := map[claimdlq.State]string{
		claimdlq.StateSettled:     "it is settled: nothing is left to do",
		claimdlq.StateWithdrawn:   "it is withdrawn, for good",
		claimdlq.StateParked:      "it is parked already: claimdlq unpark",
		claimdlq.StateQuarantined: "it is in quarantine: claimdlq correct, or claimdlq replay",
		claimdlq.StateLeased:      "it is being delivered: claimdlq deliver ends that",
		claimdlq.StateSubmitted:   "it waits for its acknowledgment: claimdlq acks FILE",
	}
	hinted := *e
	hinted.Hint = hints[was]
	return &hinted
}

func addReason(c *cobra.Command, reason *string) {
	c.Flags().StringVar(reason, "reason", "", "why, for the audit log; must name no `patient` (required)")
	c.Flags().Lookup("reason").Usage = "why, in `words` for the audit log that name no patient (required)"
}

func (s *session) needReason(reason string) error {
	switch {
	case reason == "":
		return usagef("--reason is required: it goes into the audit log and must name no patient")
	case len(reason) > 200:
		return usagef("--reason is at most 200 bytes")
	}
	return nil
}

func newPark(s *session) *cobra.Command {
	return stepCommand(s, "park", "Take records out of reach of replays",
		"Park takes unresolved records out of reach of replays until a named person un-parks them.", auth.RecordPark,
		func(ctx context.Context, a *app.App, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
			return a.Flow.Retain.Park(ctx, by, id)
		})
}

func newWithdraw(s *session) *cobra.Command {
	return stepCommand(s, "withdraw", "Write records off",
		"Withdraw writes unresolved records off: they will never be sent. The payload stays until\nit is shredded. "+secondHelp, auth.RecordWithdraw,
		func(ctx context.Context, a *app.App, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
			return a.Flow.Retain.Withdraw(ctx, by, id)
		})
}

func newResolve(s *session) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "resolve ID arrived|not-arrived",
		Short: "Say what became of a submission in doubt",
		Long: `Resolve settles the doubt about a record that was sent with unknown outcome, because a
person has asked the payer: "arrived" waits for its acknowledgment; "not-arrived" goes to
quarantine, from where it can be replayed as it is. All that went out in the same
interchange is resolved with it.

` + argID,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if args[1] != "arrived" && args[1] != "not-arrived" {
				return usagef("say arrived or not-arrived")
			}
			if err := s.needReason(reason); err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				return s.stepAll(c.Context(), a, reason, args[:1],
					func(ctx context.Context, a *app.App, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
						return a.Flow.Settle.Resolve(ctx, by, id, args[1] == "arrived")
					})
			})
		},
	}
	addReason(c, &reason)
	return c
}

func newInquire(s *session) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "inquire ID...",
		Short: "Ask the target what became of submissions in doubt",
		Long: `Inquire asks the target whether it has what was sent with unknown outcome. Where the
target can tell, the record moves on; where it cannot, it stays in doubt.

` + argID,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				return s.stepAll(c.Context(), a, reason, args,
					func(ctx context.Context, a *app.App, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
						r, known, err := a.Flow.Settle.Inquire(ctx, by, id)
						if err == nil && !known {
							s.say("record %d: the target cannot tell; it stays in doubt", id)
						}
						return r, err
					})
			})
		},
	}
	s.addTargets(c)
	addReason(c, &reason)
	c.Flags().Lookup("reason").Usage = "why, in `words` for the audit log that name no patient"
	return c
}
