package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claimdlq/internal/bench"
)

type benchJSON struct {
	Results []bench.Result `json:"results"`
}

func newBench(s *session) *cobra.Command {
	var o bench.Options
	c := &cobra.Command{
		Use:   "bench [SCENARIO...]",
		Short: "Measure this machine: scanning, intake, inserts, state changes, a large store",
		Long: `Bench measures the program's own paths on this machine and disk: sealed, journaled,
audited and flushed. Scenarios: ` + strings.Join(bench.Scenarios, ", ") + `; default: all. It works in
a scratch folder that it removes.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if !slices.Contains(bench.Scenarios, a) {
					return usagef("scenarios are %s", strings.Join(bench.Scenarios, ", "))
				}
			}
			if len(args) == 0 {
				args = bench.Scenarios
			}
			dir, err := os.MkdirTemp(o.Dir, "claimdlq-bench-")
			if err != nil {
				return inputError("make a scratch folder", "", err)
			}
			defer func() { _ = os.RemoveAll(dir) }()
			o.Dir, o.Talk = dir, s.env.Stderr
			out := benchJSON{Results: []bench.Result{}}
			err = bench.Run(c.Context(), args, o, func(r bench.Result) {
				out.Results = append(out.Results, r)
				if !s.json {
					_, _ = fmt.Fprintf(s.env.Stdout, "%-10s %-30s %14s %s\n", r.Scenario, r.Figure, strconv.FormatFloat(r.Value, 'f', 2, 64), r.Unit)
				}
			})
			if s.json && err == nil {
				return s.printJSON(out)
			}
			return err
		},
	}
	c.Flags().StringVar(&o.Dir, "dir", "", "make the scratch folder in this `folder`: the disk to measure")
	c.Flags().DurationVar(&o.For, "for", 5*time.Second, "length of each timed load")
	c.Flags().IntVar(&o.Producers, "producers", 64, "how many write at the same time")
	c.Flags().IntVar(&o.Workers, "workers", 64, "deliveries of pharmacy claims under way at the same time")
	c.Flags().IntVar(&o.Records, "records", 1_000_000, "records in the store")
	c.Flags().Int64Var(&o.Bytes, "bytes", 200_000_000, "size of the file to scan and take in")
	return c
}
