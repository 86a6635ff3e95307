package alert

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"claimdlq/sizing"
)

// summary fills in the rule's sentence. Of one that is quiet it says what was at the
// worst, and since when it is.
func (r *Rule) summary(e Event) string {
	if e.QuietSince.IsZero() {
		return r.sentence(e.Labels, e.Value)
	}
	text := r.sentence(e.Labels, e.Peak)
	if strings.Contains(r.Summary, "{value}") {
		text += " That was the worst."
	}
	return text + " It has been quiet since " + e.QuietSince.UTC().Format("15:04") + " UTC."
}

func (r *Rule) sentence(l Labels, value float64) string {
	text := strconv.FormatFloat(value, 'f', 0, 64)
	if isTime(r.Metric) {
		text = sizing.Span(time.Duration(min(value, 1e9) * float64(time.Second)).Round(time.Second)).String()
	}
	return fill(numbered(r.Summary, text == "1"), l.Stream, l.Reason, l.Partner, text)
}

var twoForms = regexp.MustCompile(`\{([^{}|]*)\|([^{}|]*)\}`)

// numbered takes of each {one|many} of a rule's sentence the one that fits, before
// anything is filled in.
func numbered(text string, one bool) string {
	if one {
		return twoForms.ReplaceAllString(text, "$1")
	}
	return twoForms.ReplaceAllString(text, "$2")
}

// console fills in the path of the console's page. A name may hold what means something
// in an address.
func (r *Rule) console(l Labels) string {
	return fill(r.Console, url.QueryEscape(l.Stream), url.QueryEscape(l.Reason), url.QueryEscape(l.Partner), "")
}

// fill replaces each placeholder of a text once.
func fill(text, stream, reason, partner, value string) string {
	return strings.NewReplacer("{stream}", stream, "{reason}", reason, "{partner}", partner, "{value}", value).Replace(text)
}

// Link returns the address of the console's page that shows an alarm's cause: base is
// the console's, such as https://dlq.example; without one it is the path alone.
func Link(base string, e Event) string { return strings.TrimSuffix(base, "/") + e.Console }
