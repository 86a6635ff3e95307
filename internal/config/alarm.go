package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/alert"
)

// Apply returns the rules as the configuration changes them: those that are off are
// left out. A change is for every rule of its name, over all streams and reasons.
// Errors: Invalid, every fault at once, where a change makes a rule none.
func (a Alarms) Apply(rules []alert.Rule) ([]alert.Rule, error) {
	var out []alert.Rule
	var errs []error
	for _, r := range rules {
		change := a.Rules[r.Name]
		if change.Off {
			continue
		}
		errs = append(errs, change.apply(&r))
		out = append(out, r)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

func (c AlarmRule) apply(r *alert.Rule) error {
	bad := func(hint string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read alarm rule", On: r.Name, Hint: hint}
	}
	switch r.Test {
	case alert.NotZero, alert.Missing:
		if c.Threshold != nil {
			return bad("this rule has no threshold")
		}
	case alert.AtLeast, alert.Rise, alert.OfFirst:
	}
	if c.Window != nil && r.Window == 0 {
		return bad("this rule has no window: it looks at what is so now")
	}
	set(&r.Threshold, c.Threshold)
	set(&r.Window, c.Window)
	set(&r.For, c.For)
	set(&r.Severity, c.Severity)
	return r.Validate()
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (r *reader) alarmRules(n *node) {
	rules, err := alert.Rules(alert.Options{})
	if err != nil {
		r.wrong(n, "there are no rules") // which their own tests rule out
		return
	}
	var names []string
	for _, rule := range rules {
		names = append(names, rule.Name)
	}
	names = sortedSet(names)
	var known object
	for _, name := range names {
		known = append(known, field{name, table(func(r *reader, c *node) { r.alarmRule(c, name, rules) })})
	}
	known.read(r, n)
}

func (r *reader) alarmRule(n *node, name string, rules []alert.Rule) {
	var rule AlarmRule
	before := r.faults.count()
	object{
		{"threshold", threshold(&rule.Threshold)},
		{"window", optional(&rule.Window, second)},
		{"for", optional(&rule.For, 0)},
		{"severity", leaf(func(s string) string {
			what := severity(s)
			if to := alert.Severity(s); what == "" {
				rule.Severity = &to
			}
			return what
		})},
		{"off", yesNo(&rule.Off)},
	}.read(r, n)
	if r.faults.count() > before {
		return
	}
	r.config.Alarms.Rules[name] = rule
	for _, d := range rules {
		if d.Name != name {
			continue
		}
		if err := rule.apply(&d); err != nil {
			what := "makes no rule"
			if e, ok := errors.AsType[*claimdlq.Error](err); ok && e.Hint != "" {
				what = e.Hint
			}
			r.wrong(n, what)
			return
		}
	}
}

func optional(to **time.Duration, least time.Duration) leaf {
	return func(s string) string {
		var d time.Duration
		what := span(&d, least, day)(s)
		if what == "" {
			*to = &d
		}
		return what
	}
}

// threshold reads a number, a percentage, or a time in seconds.
func threshold(to **float64) leaf {
	const allowed = "must be a number above 0, a part such as 5%, or a time such as 4h"
	return func(s string) string {
		number, percent := strings.CutSuffix(s, "%")
		f, err := strconv.ParseFloat(number, 64)
		if err != nil {
			d, ok := parseSpan(s)
			if !ok {
				return allowed
			}
			f = d.Seconds()
		}
		if percent {
			f /= 100
		}
		if math.IsNaN(f) || f <= 0 || f > 1e15 {
			return allowed
		}
		*to = &f
		return ""
	}
}
