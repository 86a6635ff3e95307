package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// unparkedJSON is what became of a selection.
type unparkedJSON struct {
	Unparked int `json:"unparked"`
	Moved    int `json:"moved"` // somebody else moved them meanwhile
}

func newUnpark(s *session) *cobra.Command {
	var f filterFlags
	var reason string
	var alone bool
	c := &cobra.Command{
		Use:   "unpark [ID...]",
		Short: "Give parked records back, with one more replay allowed",
		Long: `Unpark returns parked records to quarantine, with one more replay allowed. A record whose
fate was never learned goes to in_doubt instead.

Name records by ID, or select parked ones with the filter flags: after a restore all that
was quarantined is parked. Each record has its own entry in the audit log.

` + secondHelp + `

` + argID,
		Example: `  claimdlq unpark 000000123:0001 --reason "supervisor agreed"
  claimdlq unpark --partner ZZ:PAYER --detail IK4:SV102 --reason "restored; none was replayed since"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			flt, err := f.instead(c, args, s.env.Now())
			if err != nil {
				return err
			}
			if flt.State != 0 && flt.State != claimdlq.StateParked {
				return usagef("--state is parked here, or left out: nothing else can be un-parked")
			}
			flt.State = claimdlq.StateParked
			return s.with(c.Context(), func(a *app.App) error {
				if err := s.second(c.Context(), a, auth.RecordUnpark, weight{}, alone, reason); err != nil {
					return err
				}
				if len(args) > 0 {
					return s.stepAll(c.Context(), a, reason, args, func(ctx context.Context, a *app.App, by claimdlq.By, id claimdlq.ID) (claimdlq.Record, error) {
						return a.Flow.Retain.Unpark(ctx, by, id)
					})
				}
				return s.unparkAll(c.Context(), a, reason, flt)
			})
		},
	}
	f.add(c)
	addReason(c, &reason)
	addAlone(c, &alone)
	return c
}

// unparkPage is how many records are read at a time.
const unparkPage = 1000

// unparkAll gives back what matches, the newest first. What somebody else moves
// meanwhile is left as it is; another failure ends it.
func (s *session) unparkAll(ctx context.Context, a *app.App, reason string, f store.Filter) error {
	var out unparkedJSON
	err := s.eachParked(ctx, a, f, func(r claimdlq.Record) error {
		_, err := a.Flow.Retain.Unpark(ctx, s.by(reason), r.ID)
		switch {
		case err == nil:
			out.Unparked++
		case errors.Is(err, claimdlq.Refused):
			out.Moved++
		default:
			return err
		}
		return nil
	})
	if s.json {
		return errors.Join(err, s.printJSON(out))
	}
	_, _ = fmt.Fprintf(s.env.Stdout, "unparked %d, moved meanwhile %d\n", out.Unparked, out.Moved)
	return err
}

func (s *session) eachParked(ctx context.Context, a *app.App, f store.Filter, do func(claimdlq.Record) error) error {
	for before := claimdlq.ID(0); ; {
		page, err := a.Store.List(ctx, f, before, unparkPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			if err := do(page[i]); err != nil {
				return err
			}
		}
		before = page[len(page)-1].ID
	}
}
