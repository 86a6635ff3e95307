package cli

import (
	"fmt"

	"claimdlq/sizing"
)

// printSize prints the answer for people.
func (s *session) printSize(out *sizeJSON) error {
	p := &printer{s: s}
	if l := out.Learned; l != nil {
		p.line("learned: %s in %s from %s to %s, %s on average, %s in the busiest minute", plural(l.Claims, "claim"),
			plural(l.Records, "record"), stamp(l.From), stamp(l.To), l.Mean, l.Peak)
		p.line("learned: %d of %d deliveries failed, %s by chance; %s bad at first sight; %s, the longest %s", l.Failed,
			l.Deliveries, l.Transient, l.Bad, plural(l.Incidents, "incident"), l.Longest)
		p.line("")
	}
	p.line("survives: %s", out.Survives)
	p.levers(out.Levers)
	p.incidents(out.Incidents)
	p.line("")
	for _, a := range out.Storage.Arithmetic {
		p.line("storage: %s", a)
	}
	p.line("")
	for _, n := range out.Notes {
		p.line("note: %s", n)
	}
	p.checked(out.Checked)
	return p.err
}

// printer prints until the first error.
type printer struct {
	s   *session
	err error
}

func (p *printer) line(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.s.env.Stdout, format+"\n", a...)
	}
}

func (p *printer) table(header string, rows [][]string) {
	p.line("")
	if p.err == nil {
		p.err = p.s.table(header, rows)
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (p *printer) levers(ls []sizing.Lever) {
	rows := make([][]string, len(ls))
	for i, l := range ls {
		rows[i] = []string{l.Name, l.Chosen, l.Needed, yesNo(l.Enough)}
	}
	p.table("LEVER CHOSEN NEEDED ENOUGH", rows)
	for _, l := range ls {
		p.line("")
		for _, a := range l.Arithmetic {
			p.line("%s: %s", l.Name, a)
		}
	}
}

func (p *printer) incidents(is []sizing.Incident) {
	var costs, alarms, drains [][]string
	for _, i := range is {
		for _, x := range []struct {
			breaker bool
			sizing.Loss
		}{{false, i.Without}, {true, i.With}} {
			costs = append(costs, []string{
				i.Length.String(), yesNo(x.breaker), sizing.Count(x.DeadLettered), sizing.Count(x.FailedCalls), sizing.Count(x.PeakWaiting),
				x.FirstDead.String(), x.LateBy.String(), string(x.By),
			})
			for n, a := range x.Alarms {
				first := ""
				if n == 0 {
					first = "pages first"
				}
				alarms = append(alarms, []string{i.Length.String(), yesNo(x.breaker), a.Name, a.After.String(), dash(first)})
			}
		}
		outlasts := "none"
		if i.Receives > 0 {
			outlasts = sizing.Count(int64(i.Receives))
		}
		drains = append(drains, []string{
			i.Length.String(), outlasts, sizing.Count(i.Drain.Claims), sizing.Count(i.Drain.Canary), i.Drain.Spare.String(), i.Drain.Length.String(),
		})
	}
	p.table("INCIDENT BREAKER DEAD_LETTERED FAILED_CALLS PEAK_WAITING FIRST_DEAD RECOVERED_AFTER BY", costs)
	p.table("INCIDENT BREAKER ALARM AFTER PAGES", alarms)
	p.table("INCIDENT BUDGET_TO_OUTLAST REPLAYED CANARIES SPARE DRAIN_TAKES", drains)
}

func (p *printer) checked(v *sizing.Verification) {
	if v == nil {
		return
	}
	wrong := int64(0)
	for _, c := range v.Checks {
		if !c.Equal {
			wrong++
			p.line("checked: %s incident, %s: calculated %s, simulated %s", c.Incident, c.What, c.Calculated, c.Simulated)
		}
	}
	for _, n := range v.Skipped {
		p.line("not checked: %s", n)
	}
	if len(v.Checks) == 0 {
		return
	}
	verdict := "all agree"
	if wrong > 0 {
		verdict = plural(wrong, "figure") + " differ"
	}
	p.line("checked: %s against a simulation of %s calls: %s", plural(int64(len(v.Checks)), "figure"), sizing.Count(v.Calls), verdict)
}
