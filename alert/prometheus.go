package alert

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"claimdlq"
)

// Scrape is how often Prometheus must ask for the rules of WriteRules to ring in
// time; a rise is measured over the window and one scrape, so that the value from
// before the window is in it.
const Scrape = 15 * time.Second

// WriteRules writes the rules to w as a Prometheus rule file (2.42 or later, for
// keep_firing_for). Errors: those of w; Invalid for a rule that is not valid.
func WriteRules(w io.Writer, rules []Rule) error {
	var b strings.Builder
	b.WriteString(`# The alarms of docs/alarms.md. Code generated from package alert; DO NOT EDIT.
# Scrape at least every 15 s. Check with: promtool check rules, promtool test rules.
groups:
  - name: claimdlq
    interval: 15s
    rules:
`)
	for i := range rules {
		if err := rules[i].Validate(); err != nil {
			return err
		}
		rules[i].write(&b)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "write alarm rules", Err: err}
	}
	return nil
}

func (r *Rule) write(b *strings.Builder) {
	fmt.Fprintf(b, "      - alert: %s\n        expr: %s\n", r.Name, quoted(r.expr()))
	if r.For > 0 {
		fmt.Fprintf(b, "        for: %s\n", span(r.For))
	}
	if r.KeepFor > 0 {
		fmt.Fprintf(b, "        keep_firing_for: %s\n", span(r.KeepFor))
	}
	fmt.Fprintf(b, "        labels:\n          severity: %s\n", r.Severity)
	for _, l := range [...]struct{ name, value string }{{"stream", r.Stream}, {"reason", r.Reason}, {"stage", r.Stage}, {"cause", string(r.Cause)}} {
		if l.value != "" { // what the figure says already: it keeps rules of one name apart
			fmt.Fprintf(b, "          %s: %s\n", l.name, quoted(l.value))
		}
	}
	value := `{{ $value | printf "%.0f" }}`
	if isTime(r.Metric) {
		value = "{{ $value | humanizeDuration }}"
	}
	labelled := func(sentence, value string) string {
		return fill(sentence, "{{ $labels.stream }}", "{{ $labels.reason }}", "{{ $labels.partner }}", value)
	}
	summary := labelled(numbered(r.Summary, false), value)
	if one := numbered(r.Summary, true); one != numbered(r.Summary, false) {
		summary = `{{ if eq (printf "%.0f" $value) "1" }}` + labelled(one, "1") + "{{ else }}" + summary + "{{ end }}"
	}
	fmt.Fprintf(b, "        annotations:\n          summary: %s\n          runbook: %s\n", quoted(summary), quoted(r.Runbook))
	if r.Console != "" {
		in := func(label string) string { return "{{ $labels." + label + " | urlquery }}" }
		fmt.Fprintf(b, "          console: %s\n", quoted(fill(r.Console, in("stream"), in("reason"), in("partner"), "")))
	}
}

// expr returns the rule's test in PromQL.
func (r *Rule) expr() string {
	m, threshold := r.Metric+r.selector(), number(r.Threshold)
	grew := func(metric string) string { return "increase(" + metric + r.selector() + "[" + span(r.Window) + "])" }
	switch r.Test {
	case AtLeast:
		return m + " >= " + threshold
	case Rise:
		if isCounter(r.Metric) {
			return grew(r.Metric) + " >= " + threshold
		}
		return m + " - min_over_time(" + m + "[" + span(r.Window+Scrape) + "]) >= " + threshold
	case OfFirst:
		return grew(r.Metric) + " >= " + threshold + " * (" + grew(MetricDeliveries) + " - " + grew(MetricRetries) + ")" +
			" and " + grew(r.Metric) + " >= " + strconv.FormatInt(r.Least, 10)
	case NotZero:
		return m + " != 0"
	case Missing:
		return "absent(" + m + ")"
	}
	return ""
}

// selector returns the label matchers, or nothing. Names need no escaping: Validate
// saw to that, and a dot is quoted for the expression.
func (r *Rule) selector() string {
	var ms []string
	if r.Stream != "" {
		ms = append(ms, `stream="`+r.Stream+`"`)
	} else if len(r.Except) > 0 {
		ms = append(ms, `stream!~"`+strings.ReplaceAll(strings.Join(r.Except, "|"), ".", `\\.`)+`"`)
	}
	if r.Reason != "" {
		ms = append(ms, `reason="`+r.Reason+`"`)
	}
	if r.Stage != "" {
		ms = append(ms, `stage="`+r.Stage+`"`)
	}
	if r.Cause != "" {
		ms = append(ms, `cause="`+string(r.Cause)+`"`)
	}
	if len(ms) == 0 {
		return ""
	}
	return "{" + strings.Join(ms, ",") + "}"
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// span prints a duration as Prometheus does: 15m, 75s.
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	case d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	case d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return strconv.FormatInt(int64(d/time.Millisecond), 10) + "ms"
}

// quoted returns s as a YAML scalar: single quotes leave everything else alone.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
