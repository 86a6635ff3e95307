package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claimdlq/internal/plot"
	"claimdlq/sizing"
)

// plotFormat returns what draws a file of that name; nil if nothing does.
func plotFormat(name string) func(io.Writer, plot.Chart) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg":
		return plot.SVG
	case ".png":
		return plot.PNG
	}
	return nil
}

// plotTo draws the longest incident of the answer into the file.
func plotTo(name string, a *sizing.Answer) error {
	longest := 0
	for i := range a.Incidents {
		if a.Incidents[i].Length > a.Incidents[longest].Length {
			longest = i
		}
	}
	t, err := a.Timeline(longest)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := plotFormat(name)(&b, chart(a, &t)); err != nil {
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil { //nolint:gosec // a chart of counts, to be shown
		return inputError("write chart", "", err)
	}
	return nil
}

func chart(a *sizing.Answer, t *sizing.Timeline) plot.Chart {
	outage := plot.Range{Name: "outage", To: t.Length}
	line := func(name string, c plot.Color, dashed bool, o *sizing.Outcome, value func(sizing.Sample) int64) plot.Line {
		l := plot.Line{Name: name, Color: c, Dashed: dashed}
		for _, s := range o.Series {
			if at := time.Duration(s.At); at <= t.End {
				l.Points = append(l.Points, plot.Point{At: at, Value: float64(value(s))})
			}
		}
		return l
	}
	var marks []plot.Mark
	for _, x := range []struct {
		name string
		at   time.Duration
	}{{"breaker_open", t.With.Opened}, {"retry_rate (no breaker)", t.Without.RetryRang}, {"dlq_increase (no breaker)", t.Without.DepthRang}} {
		if x.at >= 0 && x.at <= t.End {
			marks = append(marks, plot.Mark{Name: x.name + " after " + sizing.Span(x.at).String(), At: x.at})
		}
	}
	dead := func(s sizing.Sample) int64 { return s.Dead }
	waiting := func(s sizing.Sample) int64 { return s.Waiting }
	failed := func(s sizing.Sample) int64 { return s.FailedCalls }
	return plot.Chart{
		Title: "A " + sizing.Span(t.Length).String() + " outage at " + a.Rate.String(), To: t.End,
		Panels: []plot.Panel{
			{
				Title: "claims that are not settled", Shaded: outage, Marks: marks,
				Lines: []plot.Line{
					line("dead letters, no breaker", plot.Red, false, &t.Without, dead),
					line("waiting, no breaker", plot.Orange, true, &t.Without, waiting),
					line("waiting, breaker", plot.Blue, false, &t.With, waiting),
				},
			},
			{
				Title: "failed calls so far", Shaded: outage,
				Lines: []plot.Line{
					line("no breaker", plot.Red, false, &t.Without, failed),
					line("breaker", plot.Blue, false, &t.With, failed),
				},
			},
		},
	}
}
