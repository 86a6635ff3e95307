package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

type replayedJSON struct {
	Arg    string                `json:"arg"`
	Result claimdlq.ReplayResult `json:"result"`
	Record *recordJSON           `json:"record,omitempty"`
}

type replayJSON struct {
	DryRun  bool            `json:"dry_run"`
	Results []replayedJSON  `json:"results,omitempty"` // for IDs
	Summary *replay.Summary `json:"summary,omitempty"` // for a selection
}

func newReplay(s *session) *cobra.Command {
	var f filterFlags
	var reason string
	var opts replay.Options
	var noDeliver, alone bool
	c := &cobra.Command{
		Use:   "replay [ID...]",
		Short: "Release corrected records for delivery",
		Long: `Replay releases quarantined records for delivery, each with a new budget of deliveries.
The guard lets through only what may be sent: a settled record, or one under way, is a
duplicate; one in doubt must be resolved first; one that was replayed too often is parked;
one that was refused needs a correction.

Name records by ID, or select quarantined ones with the filter flags. With --unchanged a
named person says that the cause lies outside the payload and is gone.

A large replay needs a second person, as in the console. ` + secondHelp + `

` + argID,
		Example: `  claimdlq replay 000000123:0001 --reason "modifier corrected"
  claimdlq replay --reason-code RETRIES_EXHAUSTED --reason "clearinghouse is back" --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			flt, err := f.instead(c, args, s.env.Now())
			if err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				out := replayJSON{DryRun: opts.DryRun}
				if flt.State == 0 {
					flt.State = claimdlq.StateQuarantined
				}
				err := s.secondForReplay(c.Context(), a, args, flt, opts.DryRun, alone, reason)
				if err != nil {
					return err
				}
				if len(args) > 0 {
					out.Results, err = s.replayIDs(c.Context(), a, reason, args, opts)
				} else {
					var sum replay.Summary
					sum, err = a.Flow.Replay.Select(c.Context(), s.by(reason), flt, opts)
					out.Summary = &sum
				}
				if perr := s.printReplayed(out); perr != nil {
					return perr
				}
				if opts.DryRun || noDeliver || !a.HasTarget() || c.Context().Err() != nil {
					return err
				}
				if derr := s.drainAndSay(c.Context(), a); derr != nil && err == nil {
					err = derr
				}
				return err
			})
		},
	}
	f.add(c)
	s.addTargets(c)
	addReason(c, &reason)
	addAlone(c, &alone)
	c.Flags().BoolVar(&opts.DryRun, "dry-run", false, "say what would happen, change nothing")
	c.Flags().BoolVar(&opts.Unchanged, "unchanged", false, "the cause lay outside the payload and is gone")
	c.Flags().BoolVar(&opts.WrittenOff, "written-off", false, "an earlier sending that was withdrawn in doubt did not reach the payer (one record by ID)")
	c.Flags().BoolVar(&noDeliver, "no-deliver", false, "release only, deliver nothing now")
	return c
}

// secondForReplay keeps the rule of two persons for what is named, or else selected.
func (s *session) secondForReplay(ctx context.Context, a *app.App, args []string, f store.Filter, dry, alone bool, reason string) error {
	if dry || !a.Desk.HasSecond(auth.ReplayRun) {
		return nil
	}
	w := s.weighIDs(ctx, a, args)
	if len(args) == 0 {
		var err error
		if w, err = weighAll(ctx, a, f); err != nil {
			return err
		}
	}
	return s.second(ctx, a, auth.ReplayRun, w, alone, reason)
}

// replayIDs replays named records. What the guard holds back is not an error of
// the others, but the exit code tells: 4 for not found, 6 for the rest.
func (s *session) replayIDs(ctx context.Context, a *app.App, reason string, args []string, o replay.Options) ([]replayedJSON, error) {
	var errs failures
	var out []replayedJSON
	for _, arg := range args {
		rec, err := s.resolve(ctx, a.Store, arg)
		if errors.Is(err, claimdlq.NotFound) {
			out = append(out, replayedJSON{Arg: arg, Result: claimdlq.ReplayNotFound})
			errs.errs = append(errs.errs, err)
			continue
		}
		if err != nil {
			errs.add(s, arg, err)
			continue
		}
		res, rec, err := a.Flow.Replay.One(ctx, s.by(reason), rec.ID, o)
		if err != nil {
			errs.add(s, arg, err)
			continue
		}
		j := toJSON(rec)
		out = append(out, replayedJSON{Arg: arg, Result: res, Record: &j})
		if res != claimdlq.Replayed {
			errs.errs = append(errs.errs, claimdlq.Refused)
		}
	}
	return out, errs.err()
}

// nextStep says what to do about a record that the guard held back.
var nextStep = map[claimdlq.ReplayResult]string{
	claimdlq.DuplicateSuppressed: "it is settled or under way: nothing to do",
	claimdlq.ParkedAtCap:         "a named person must look at it: claimdlq unpark ID --reason ...",
	claimdlq.ReplayNotFound:      "claimdlq list",
	claimdlq.NotCorrected:        "claimdlq correct ID --set ... --reason ..., or replay --unchanged",
	claimdlq.InDoubtFirst:        "claimdlq inquire ID, or claimdlq resolve ID arrived|not-arrived --reason ...",
}

func (s *session) printReplayed(out replayJSON) error {
	if s.json {
		return s.printJSON(out)
	}
	would := ""
	if out.DryRun {
		would = "would be "
	}
	for _, r := range out.Results {
		line := fmt.Sprintf("%s: %s%s", r.Arg, would, r.Result)
		if r.Record != nil {
			line = fmt.Sprintf("record %d  %s  %s%s", r.Record.ID, r.Record.Key, would, r.Result)
		}
		if next := nextStep[r.Result]; next != "" {
			line += "  (" + next + ")"
		}
		if _, err := fmt.Fprintln(s.env.Stdout, line); err != nil {
			return err
		}
	}
	if m := out.Summary; m != nil {
		_, err := fmt.Fprintf(s.env.Stdout, "%srequeued %d, skipped_duplicate %d, parked %d, not corrected %d, in doubt %d\n", would,
			m.Requeued, m.SkippedDuplicate, m.Parked, m.NotCorrected, m.InDoubt)
		return err
	}
	return nil
}
