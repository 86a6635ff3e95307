package alert

import (
	"errors"
	"slices"
	"strings"
	"time"

	"claimdlq"
)

// Severity says who is told.
type Severity string

// The severities.
const (
	// Page wakes somebody: claims fail now.
	Page Severity = "page"
	// Ticket is for the next working day.
	Ticket Severity = "ticket"
)

// Test is how a rule looks at its metric.
type Test uint8

// The tests.
const (
	// AtLeast holds while the value is at least Threshold.
	AtLeast Test = iota + 1
	// Rise holds while the value lies Threshold or more above the lowest of the last
	// Window; of a counter, while it grew by so much. A drain of the same size as a
	// surge hides it: the rules by reason are for that.
	Rise
	// OfFirst holds while the counter's growth in Window is at least Threshold (a part
	// of 1) of the first deliveries in it, and at least Least.
	OfFirst
	// NotZero holds while the value is not 0.
	NotZero
	// Missing holds while there is no value at all.
	Missing
)

// Rule is one alarm. It rings once for each set of labels that its metric has.
type Rule struct {
	// Name is the alarm's name: [a-z0-9_]{1,64}.
	Name     string
	Severity Severity
	// Metric is one of this package's.
	Metric    string
	Test      Test
	Threshold float64
	Least     int64         // of OfFirst: a share of next to nothing is chance
	Window    time.Duration // of Rise and OfFirst: 1 s to a day
	// For is how long the test must hold before the alarm rings, KeepFor how long it
	// must not hold before it stops; so an alarm that flaps rings once.
	For, KeepFor time.Duration
	// Stream is the one stream it is for; otherwise it is for all but those of Except.
	Stream string
	Except []string
	// Reason is the one reason it is for; empty for all.
	Reason string
	// Stage is the one stage of MetricDeadlines it is for; empty for all.
	Stage string
	// Cause is the one cause of MetricRefusing or MetricHeldAge it is for; empty for all.
	Cause Cause
	// Summary is one sentence: {stream}, {reason}, {partner} and {value} are filled in, and
	// of {record|records} the one that fits the value.
	Summary string
	// Runbook is a path in this repository.
	Runbook string
	// Console is the path of the console's page that shows the cause; {stream}, {reason}
	// and {partner} are filled in.
	Console string
}

// matches reports whether the rule is for a figure with these labels.
func (r *Rule) matches(l Labels) bool {
	if r.Reason != "" && r.Reason != l.Reason || r.Stage != "" && r.Stage != l.Stage || r.Cause != "" && string(r.Cause) != l.Cause {
		return false
	}
	if r.Stream != "" {
		return r.Stream == l.Stream
	}
	return !slices.Contains(r.Except, l.Stream)
}

// isCounter reports whether a metric only grows, until it begins again at 0.
func isCounter(metric string) bool { return strings.HasSuffix(metric, "_total") }

// isTime reports whether a metric is in seconds.
func isTime(metric string) bool { return strings.HasSuffix(metric, "_seconds") }

var metrics = []string{
	MetricDepth, MetricByReason, MetricOldestAge, MetricParked, MetricInDoubt, MetricInDoubtAge, MetricDeliveries, MetricRetries,
	MetricFailures, MetricUnknown, MetricBreaker, MetricDifference, MetricOrphans, MetricDeadlines, MetricRipe, MetricExpired,
	MetricRefusing, MetricFill, MetricHeldAge,
}

const day = 24 * time.Hour

// maxCount bounds every figure, so that sums and floating point stay exact.
const maxCount = 1e15

// Validate returns every fault of the rule at once, each with code Invalid.
func (r *Rule) Validate() error {
	var errs []error
	want := func(ok bool, hint string) {
		if !ok {
			errs = append(errs, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read alarm rule", On: cleanName(r.Name), Hint: hint})
		}
	}
	want(isWord(r.Name), "a name is [a-z0-9_]{1,64}")
	want(r.Severity == Page || r.Severity == Ticket, "the severity is page or ticket")
	want(slices.Contains(metrics, r.Metric), "the metric is none of the program's")
	want(upToADay(0, r.For) && upToADay(0, r.KeepFor), "for and keep-for are between 0 and a day")
	want(len(r.Summary) > 0 && len(r.Summary) <= 200, "the summary is 1 to 200 bytes")
	want(len(r.Runbook) <= 200 && len(r.Console) <= 200, "the runbook and the console's page are at most 200 bytes")
	r.validateTest(want)
	r.validateLabels(want)
	return errors.Join(errs...)
}

func (r *Rule) validateTest(want func(ok bool, hint string)) {
	want(r.Test == NotZero || r.Test == Missing || r.Threshold > 0 && r.Threshold <= maxCount, "the threshold is above 0")
	switch r.Test {
	case AtLeast, NotZero:
	case Rise:
		want(upToADay(time.Second, r.Window), "the window is 1 s to a day")
		want(!isTime(r.Metric), "an age has no rise")
	case OfFirst:
		want(upToADay(time.Second, r.Window), "the window is 1 s to a day")
		want(r.Metric == MetricFailures && r.Threshold <= 1 && r.Least >= 1, "failed calls are compared with a part of the first deliveries, and with at least 1")
	case Missing:
		want(r.Stream == "" && len(r.Except) == 0, "figures are missing of all streams or none")
	default:
		want(false, "there is no such test")
	}
}

func (r *Rule) validateLabels(want func(ok bool, hint string)) {
	for _, s := range r.Except {
		want(isStream(s), "a stream is [A-Za-z0-9_.-]{1,64}")
	}
	want(r.Stream == "" || isStream(r.Stream), "a stream is [A-Za-z0-9_.-]{1,64}")
	want(r.Stage == "" || r.Metric == MetricDeadlines && slices.Contains(DeadlineStages, r.Stage), "only "+MetricDeadlines+" has a stage")
	want(r.Cause == "" || r.Metric == MetricRefusing && slices.Contains(Causes, r.Cause) || r.Metric == MetricHeldAge && slices.Contains(Holds, r.Cause),
		"only "+MetricRefusing+" and "+MetricHeldAge+" have a cause")
	if r.Reason != "" {
		_, err := claimdlq.ParseReason(r.Reason)
		want(err == nil && r.Metric == MetricByReason, "only "+MetricByReason+" has a reason")
	}
}

func upToADay(from, d time.Duration) bool { return from <= d && d <= day }

func isWord(s string) bool {
	return only(s, func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' })
}

func isStream(s string) bool {
	return only(s, func(c byte) bool {
		return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
	})
}

func only(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// maxName bounds the name of a stream or partner in a label, in bytes.
const maxName = 64

// cleanName makes a name safe for a log line, a URL and a page: what is not a
// printable ASCII character of a routing code becomes _, as does
// no name at all; what is too long is cut.
func cleanName(s string) string {
	if s == "" {
		return "_"
	}
	if len(s) > maxName {
		s = s[:maxName]
	}
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune(" _.:+/@-", c) {
			return c
		}
		return '_'
	}, s)
}
