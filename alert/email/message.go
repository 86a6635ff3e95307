package email

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"claimdlq"
	"claimdlq/alert"
)

// message returns the mail about the events.
func (o *Options) message(to string, events []alert.Event) (*mail.Msg, error) {
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if m.From(o.From) != nil || m.To(to) != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "write mail", Hint: "the addresses are none"}
	}
	_, domain, _ := strings.Cut(o.From, "@")
	m.SetMessageIDWithValue(rand.Text() + "@" + domain)
	m.SetDateWithValue(o.Now())
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no holiday notice comes back
	m.SetGenHeader("X-Auto-Response-Suppress", "All")
	m.Subject(subject(events))
	m.SetBodyString(mail.TypeTextPlain, o.body(events))
	return m, nil
}

// kind is how an event is called.
func kind(e alert.Event) string {
	if e.Status == alert.Resolved {
		return "over"
	}
	return string(e.Severity)
}

// subject says one alarm, or how many of which kind.
func subject(events []alert.Event) string {
	if len(events) == 1 {
		return "claimdlq " + kind(events[0]) + ": " + about(events[0])
	}
	counted := map[string]int{}
	for _, e := range events {
		counted[kind(e)]++
	}
	var parts []string
	for _, k := range []string{string(alert.Page), string(alert.Ticket), "over"} {
		if n := counted[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, k))
		}
	}
	return "claimdlq: " + strings.Join(parts, ", ")
}

// about names an alarm and what it is about.
func about(e alert.Event) string {
	return strings.Join(slices.DeleteFunc([]string{e.Alarm, e.Labels.Stream, e.Labels.Reason, e.Labels.Partner, e.Labels.Cause}, func(s string) bool { return s == "" }), " ")
}

// body says each alarm: what it is, since when, where to look and what ends it.
func (o *Options) body(events []alert.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s  %s\n%s\n", strings.ToUpper(kind(e)), about(e), e.Summary)
		line := func(name, value string) { fmt.Fprintf(&b, "  %-8s %s\n", name, value) }
		line("since", e.StartsAt.UTC().Format(time.RFC3339))
		if e.Status == alert.Resolved {
			line("until", e.EndsAt.UTC().Format(time.RFC3339))
		}
		line("see", alert.Link(o.Console, e))
		line("runbook", e.Runbook)
		b.WriteByte('\n')
	}
	return b.String()
}
