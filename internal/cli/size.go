package cli

import (
	"context"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/sizing"
)

type sizeJSON struct {
	sizing.Answer

	Enough  bool                 `json:"enough"`
	Learned *sizing.Learned      `json:"learned,omitempty"`
	Checked *sizing.Verification `json:"checked,omitempty"`
}

func newSize(s *session) *cobra.Command {
	f := &sizeFlags{policy: claimdlq.DefaultPolicy()}
	c := &cobra.Command{
		Use:   "size",
		Short: "Size the retry budget, the back-off, the retention and the alarms",
		Long: `Size says how the four levers should stand for a stream, with the arithmetic behind each;
what the policy survives, with and without the breaker; how long the drain of an incident
takes, what disk it needs, and which alarm pages first. A simulation with the program's own
retry and breaker code checks the figures.

Rates are claims per s, min, h or d (400, 24000/min, 0.5/s); shares are 0.1% or 0.001;
times are 90s, 5m, 8h, 14d. With --learn, rate, shares and the longest incident come from
the data directory's own history, where no flag gives them. docs/sizing.md explains it all.`,
		Example: `  claimdlq size --rate 400 --incident 5m,30m --turnaround 8h
  claimdlq size --rate 400 --quota 500 --latency 150ms --workers 100 --plot incident.png
  claimdlq size --learn --data /var/lib/claimdlq`,
		RunE: func(c *cobra.Command, _ []string) error { return s.size(c.Context(), f) },
	}
	f.add(c)
	return c
}

func (s *session) size(ctx context.Context, f *sizeFlags) error {
	in, err := f.input()
	if err != nil {
		return err
	}
	out := sizeJSON{}
	if f.learn {
		l, err := s.learn(ctx)
		if err != nil {
			return err
		}
		out.Learned, in = &l, l.Apply(in)
	}
	if in.Rate.IsZero() {
		if f.learn {
			return &claimdlq.Error{Code: claimdlq.Invalid, Op: "learn from the history", Hint: "it holds no claims: give --rate"}
		}
		return usagef("size: how many claims arrive: --rate 400, or --learn (claimdlq help size)")
	}
	if out.Answer, err = sizing.Size(in); err != nil {
		return err
	}
	out.Enough = out.Answer.Enough()
	if f.simulate {
		v, err := sizing.Verify(out.Answer)
		if err != nil {
			return err
		}
		out.Checked = &v
	}
	if f.plot != "" {
		if err := plotTo(s.path(f.plot), &out.Answer); err != nil {
			return err
		}
	}
	if s.json {
		err = s.printJSON(out)
	} else {
		err = s.printSize(&out)
	}
	switch {
	case err != nil:
		return err
	case out.Checked != nil && !out.Checked.OK():
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "check the figures", Hint: "simulation and arithmetic disagree; please report it"}
	case f.strict && !out.Enough:
		return &silentError{exitInvalid}
	}
	return nil
}

// learn reads the history of the data directory: its records and its audit log.
func (s *session) learn(ctx context.Context) (l sizing.Learned, err error) {
	err = s.with(ctx, func(a *app.App) error {
		bar := s.bar("learn", -1, false)
		defer func() { _ = bar.Finish() }()
		l, err = a.Learn(ctx, func(n int) { _ = bar.Add(n) })
		return err
	})
	return l, err
}
