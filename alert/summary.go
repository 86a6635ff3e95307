package alert

import (
	"strconv"
	"strings"
	"time"

	"claimdlq/sizing"
)

// summary fills in the rule's sentence.
func (r *Rule) summary(l Labels, value float64) string {
	text := strconv.FormatFloat(value, 'f', 0, 64)
	if isTime(r.Metric) {
		text = sizing.Span(time.Duration(min(value, 1e9) * float64(time.Second)).Round(time.Second)).String()
	}
	return r.fill(l.Stream, l.Reason, l.Partner, text)
}

// fill replaces each placeholder of the sentence once.
func (r *Rule) fill(stream, reason, partner, value string) string {
	return strings.NewReplacer("{stream}", stream, "{reason}", reason, "{partner}", partner, "{value}", value).Replace(r.Summary)
}
