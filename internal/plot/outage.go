package plot

import (
	"time"

	"claimdlq/sizing"
)

// Outage draws the longest incident of a sizing answer: what waits, what is
// dead-lettered and what fails, with a breaker and without. Errors: those of
// sizing.Answer.Timeline.
func Outage(a *sizing.Answer) (Chart, error) {
	longest := 0
	for i := range a.Incidents {
		if a.Incidents[i].Length > a.Incidents[longest].Length {
			longest = i
		}
	}
	t, err := a.Timeline(longest)
	if err != nil {
		return Chart{}, err
	}
	return outage(a, &t), nil
}

func outage(a *sizing.Answer, t *sizing.Timeline) Chart {
	down := Range{Name: "outage", To: t.Length}
	line := func(name string, c Color, dashed bool, o *sizing.Outcome, value func(sizing.Sample) int64) Line {
		l := Line{Name: name, Color: c, Dashed: dashed}
		for _, s := range o.Series {
			if at := time.Duration(s.At); at <= t.End {
				l.Points = append(l.Points, Point{At: at, Value: float64(value(s))})
			}
		}
		return l
	}
	var marks []Mark
	for _, x := range []struct {
		name string
		at   time.Duration
	}{{"breaker_open", t.With.Opened}, {"retry_rate (no breaker)", t.Without.RetryRang}, {"dlq_increase (no breaker)", t.Without.DepthRang}} {
		if x.at >= 0 && x.at <= t.End {
			marks = append(marks, Mark{Name: x.name + " after " + sizing.Span(x.at).String(), At: x.at})
		}
	}
	dead := func(s sizing.Sample) int64 { return s.Dead }
	waiting := func(s sizing.Sample) int64 { return s.Waiting }
	failed := func(s sizing.Sample) int64 { return s.FailedCalls }
	return Chart{
		Title: "A " + sizing.Span(t.Length).String() + " outage at " + a.Rate.String(), To: t.End,
		Panels: []Panel{
			{
				Title: "claims that are not settled", Shaded: down, Marks: marks,
				Lines: []Line{
					line("dead letters, no breaker", Red, false, &t.Without, dead),
					line("waiting, no breaker", Orange, true, &t.Without, waiting),
					line("waiting, breaker", Blue, false, &t.With, waiting),
				},
			},
			{
				Title: "failed calls so far", Shaded: down,
				Lines: []Line{
					line("no breaker", Red, false, &t.Without, failed),
					line("breaker", Blue, false, &t.With, failed),
				},
			},
		},
	}
}
