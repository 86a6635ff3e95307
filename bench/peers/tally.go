package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// tally collects the rates of every round.
type tally struct {
	rates  map[string][]float64 // by queue and work
	claims map[string]int
	absent []string // what was left out, and why
}

// queueFigure is one line of the JSON.
type queueFigure struct {
	Queue     string  `json:"queue"`
	Work      string  `json:"work"`
	PerSecond float64 `json:"per_second"` // median of the rounds
	Least     float64 `json:"least"`
	Most      float64 `json:"most"`
	Claims    int     `json:"claims"` // in a round
	Rounds    int     `json:"rounds"`
	// Ratio is claimdlq's rate over this queue's; 0 where claimdlq was not measured.
	Ratio float64 `json:"claimdlq_ratio,omitempty"`
	Goal  float64 `json:"goal_ratio,omitempty"`
	facts
}

func (t *tally) add(name, work string, claims int, rate float64) {
	if t.rates == nil {
		t.rates, t.claims = map[string][]float64{}, map[string]int{}
	}
	k := name + "/" + work
	t.rates[k] = append(t.rates[k], rate)
	t.claims[k] = claims
}

// median returns 0 where nothing was measured.
func (t *tally) median(name, work string) float64 {
	rs := slices.Sorted(slices.Values(t.rates[name+"/"+work]))
	if len(rs) == 0 {
		return 0
	}
	return rs[len(rs)/2]
}

func (t *tally) figures(open []running) []queueFigure {
	var out []queueFigure
	for _, q := range open {
		for _, w := range works {
			k := q.name + "/" + w
			f := queueFigure{
				Queue: q.name, Work: w, PerSecond: t.median(q.name, w), Least: slices.Min(t.rates[k]), Most: slices.Max(t.rates[k]),
				Claims: t.claims[k], Rounds: len(t.rates[k]), Goal: q.goals[w], facts: q.Facts(),
			}
			if q.name != oursName {
				f.Ratio = t.median(oursName, w) / f.PerSecond
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
	fmt.Fprintf(tab, "claims a second\t%s\t\n", strings.Join(works, "\tclaimdlq\t")+"\tclaimdlq")
	for i := 0; i < len(figures); i += len(works) {
		fmt.Fprint(tab, figures[i].Queue)
		for _, f := range figures[i : i+len(works)] {
			fmt.Fprintf(tab, "\t%.0f\t%s", f.PerSecond, ratio(f))
		}
		fmt.Fprintln(tab, "\t")
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, q := range open {
		f := q.Facts()
		fmt.Fprintf(w, "%s: %s; %s\n", q.name, f.Version, f.Durability)
	}
	for _, a := range t.absent {
		fmt.Fprintln(w, a)
	}
	return nil
}

// ratio is claimdlq's rate over the peer's, and the goal where there is one.
func ratio(f queueFigure) string {
	switch {
	case f.Ratio == 0:
		return ""
	case f.Goal == 0:
		return fmt.Sprintf("%.1fx", f.Ratio)
	default:
		return fmt.Sprintf("%.1fx (goal %.0fx)", f.Ratio, f.Goal)
	}
}
