package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// tally collects the rates of every round.
type tally struct {
	figs   map[string][]figure // by queue and work
	claims map[string]int
	absent []string // what was left out, and why
}

// figure is what one measurement says.
type figure struct {
	perSecond float64
	micros    float64 // of processor time a claim
}

// queueFigure is one line of the JSON.
type queueFigure struct {
	Queue     string  `json:"queue"`
	Work      string  `json:"work"`
	PerSecond float64 `json:"per_second"` // median of the rounds
	Least     float64 `json:"least"`
	Most      float64 `json:"most"`
	// Micros is the processor time of a claim, clients and servers together; 0 where it
	// is not known.
	Micros float64 `json:"cpu_us"`
	Claims int     `json:"claims"` // in a round
	Rounds int     `json:"rounds"`
	// Ratio is claimdlq's rate over this queue's; 0 where claimdlq was not measured.
	Ratio float64 `json:"claimdlq_ratio,omitempty"`
	Goal  float64 `json:"goal_ratio,omitempty"`
	facts
}

func (t *tally) add(name, work string, claims int, took spent) figure {
	if t.figs == nil {
		t.figs, t.claims = map[string][]figure{}, map[string]int{}
	}
	f := figure{float64(claims) / took.wall.Seconds(), float64(took.cpu.Nanoseconds()) / 1000 / float64(claims)}
	k := name + "/" + work
	t.figs[k] = append(t.figs[k], f)
	t.claims[k] = claims
	return f
}

// sorted returns one side of the figures of every round, the least first.
func (t *tally) sorted(name, work string, side func(figure) float64) []float64 {
	var out []float64
	for _, f := range t.figs[name+"/"+work] {
		out = append(out, side(f))
	}
	slices.Sort(out)
	return out
}

func rateOf(f figure) float64 { return f.perSecond }

func microsOf(f figure) float64 { return f.micros }

// median returns 0 where nothing was measured.
func (t *tally) median(name, work string, side func(figure) float64) float64 {
	fs := t.sorted(name, work, side)
	if len(fs) == 0 {
		return 0
	}
	return fs[len(fs)/2]
}

func (t *tally) figures(open []running) []queueFigure {
	var out []queueFigure
	for _, q := range open {
		for _, w := range works {
			rates := t.sorted(q.name, w, rateOf)
			f := queueFigure{
				Queue: q.name, Work: w, PerSecond: t.median(q.name, w, rateOf), Least: rates[0], Most: rates[len(rates)-1],
				Micros: t.median(q.name, w, microsOf), Claims: t.claims[q.name+"/"+w], Rounds: len(rates), Goal: q.goals[w], facts: q.Facts(),
			}
			if !q.ours {
				f.Ratio = t.median(oursName, w, rateOf) / f.PerSecond
			}
			out = append(out, f)
		}
	}
	return out
}

// print writes the medians: as a table with claimdlq's ratio to each peer beside the
// peer's rate, or as JSON.
func (t *tally) print(w io.Writer, open []running, asJSON bool) error {
	figures := t.figures(open)
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			Figures []queueFigure `json:"figures"`
			Absent  []string      `json:"absent,omitempty"`
		}{figures, t.absent})
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, work := range works {
		fmt.Fprintf(tab, "%s\ta second\tclaimdlq\tgoal\tprocessor, a claim\t\n", work)
		for _, f := range figures {
			if f.Work == work {
				fmt.Fprintf(tab, "%s\t%.0f\t%s\t%s\t%.1f µs\t\n", f.Queue, f.PerSecond, times(f.Ratio, 2), times(f.Goal, 0), f.Micros)
			}
		}
		fmt.Fprintln(tab)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, q := range open {
		f := q.Facts()
		fmt.Fprintf(w, "%s: %s; %s\n", q.name, f.Version, f.Durability)
	}
	for _, a := range t.absent {
		fmt.Fprintln(w, a)
	}
	return nil
}

// times writes a ratio; nothing where there is none.
func times(x float64, decimals int) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf("%.*fx", decimals, x)
}
