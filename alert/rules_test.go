package alert_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/sizing"
)

const deployed = "../deploy/prometheus/claimdlq.rules.yaml"

func rules(t *testing.T, o alert.Options) []alert.Rule {
	t.Helper()
	rs, err := alert.Rules(o)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func written(t *testing.T, rs []alert.Rule) string {
	t.Helper()
	var out bytes.Buffer
	if err := alert.WriteRules(&out, rs); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The file for Prometheus is what the code says; UPDATE_GOLDEN=1 writes it.
func TestWriteRules_TheDeployedFileIsUpToDate(t *testing.T) {
	t.Parallel()
	got := written(t, rules(t, alert.Options{}))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(deployed, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(deployed)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is stale: run UPDATE_GOLDEN=1 go test ./alert\n%s", deployed, got)
	}
}

func TestWriteRules_StreamsWithLevelsOfTheirOwnAreLeftOutOfTheOthers(t *testing.T) {
	t.Parallel()
	got := written(t, rules(t, alert.Options{Streams: map[string]alert.Levels{"837": {PerMinute: 1200}, "rx.v2": {OldestAge: 10 * time.Minute}}}))
	for _, want := range []string{
		`dlq_depth{stream!~"837|rx\\.v2"} - min_over_time(dlq_depth{stream!~"837|rx\\.v2"}[75s]) >= 300`,
		`dlq_depth{stream="837"} - min_over_time(dlq_depth{stream="837"}[75s]) >= 15`,
		`dlq_depth_by_reason{stream="837",reason="FATAL_SYNTAX"} - `,
		`dlq_oldest_age_seconds{stream="rx.v2"} >= 600`,
		`increase(claimdlq_delivery_failures_total{stream="837"}[1m]) >= 0.05 * (increase(claimdlq_deliveries_total{stream="837"}[1m]) - increase(claimdlq_retries_total{stream="837"}[1m]))`,
		`'absent(dlq_depth)'`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// The names are those of the sizing calculator; 22: 300 a minute at 400/s.
func TestRules_TheDefaultsAreThoseOfTheCalculator(t *testing.T) {
	t.Parallel()
	answer, err := sizing.Size(sizing.Input{Rate: sizing.PerSecond(400)}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	l := alert.Levels{}.WithDefaults()
	if l.Increase != 300 || l.Increase != answer.DepthAlarm {
		t.Errorf("the increase alarm rings at %d, the calculator says %d", l.Increase, answer.DepthAlarm)
	}
	if in := answer.Input(); l.OldestAge != in.AgeAlarm || int64(l.RetryShare)*l.PerMinute/int64(sizing.All) != in.RetryAlarm {
		t.Errorf("%+v, the calculator says %+v", l, in)
	}
	for perMinute, want := range map[int64]int64{1: 5, 400: 5, 401: 6, 24_000: 300, 24_001: 301, 49_980: 625} {
		if got := (alert.Levels{PerMinute: perMinute}).WithDefaults().Increase; got != want {
			t.Errorf("%d a minute: %d, want %d", perMinute, got, want)
		}
	}
	names := []string{}
	for _, r := range rules(t, alert.Options{}) {
		names = append(names, r.Name)
	}
	for _, want := range []string{sizing.AlarmBreaker, sizing.AlarmRetries, sizing.AlarmDepth, sizing.AlarmAge} {
		if !slices.Contains(names, want) {
			t.Errorf("no rule %s", want)
		}
	}
}

func TestRules_EveryRunbookExistsAndEverySentenceIsWhole(t *testing.T) {
	t.Parallel()
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	page, err := os.ReadFile("../docs/alarms.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules(t, alert.Options{}) {
		if text, err := os.ReadFile("../" + r.Runbook); err != nil || filepath.Dir(r.Runbook) != "docs/runbooks" || !strings.Contains(string(text), "**End it.**") && !strings.Contains(string(text), "**Ends**") {
			t.Errorf("%s: %s does not say how it ends (%v)", r.Name, r.Runbook, err)
		}
		if text, _ := os.ReadFile("../" + r.Runbook); !strings.Contains(strings.ToLower(string(text)), "console") {
			t.Errorf("%s: %s has no way through the console", r.Name, r.Runbook)
		}
		if !strings.Contains(string(page), "`"+r.Name+"`") {
			t.Errorf("docs/alarms.md does not name %s", r.Name)
		}
		may := "{value}{stream}"
		switch r.Metric {
		case alert.MetricByReason:
			may += "{reason}"
		case alert.MetricBreaker:
			may += "{partner}"
		}
		for _, p := range placeholder.FindAllString(r.Summary+r.Console, -1) {
			if !strings.Contains(may, p) && !strings.Contains(p, "|") {
				t.Errorf("%s: %s cannot be filled in", r.Name, p)
			}
		}
		if strings.HasPrefix(r.Console, "/records?") && !strings.Contains(r.Console, "state=") {
			t.Errorf("%s: its page lists what is settled, too: %s", r.Name, r.Console)
		}
		if !strings.HasPrefix(r.Console, "/") || strings.Contains(r.Console, "{value}") {
			t.Errorf("%s: its page is %s", r.Name, r.Console)
		}
	}
}

func TestRules_SeverityCanBeChanged(t *testing.T) {
	t.Parallel()
	for _, r := range rules(t, alert.Options{Severity: map[string]alert.Severity{alert.AlarmSpike: alert.Ticket}}) {
		if r.Name == alert.AlarmSpike && r.Severity != alert.Ticket {
			t.Errorf("%s %s is a %s", r.Name, r.Reason, r.Severity)
		}
	}
}

func TestRules_WrongOptionsAreRefused(t *testing.T) {
	t.Parallel()
	many := map[string]alert.Levels{}
	for i := range alert.MaxStreams + 1 {
		many[strings.Repeat("s", i+1)] = alert.Levels{}
	}
	for name, o := range map[string]alert.Options{
		"a negative level":        {Levels: alert.Levels{Increase: -1}},
		"a share above the whole": {Levels: alert.Levels{RetryShare: sizing.All + 1}},
		"a stream that is PromQL": {Streams: map[string]alert.Levels{`x"} or vector(1) #`: {}}},
		"a stream without a name": {Streams: map[string]alert.Levels{"": {}}},
		"too many streams":        {Streams: many},
		"an unknown severity":     {Severity: map[string]alert.Severity{alert.AlarmSpike: "shout"}},
		"a severity for no alarm": {Severity: map[string]alert.Severity{"reason-spike": alert.Ticket}},
		"a negative age":          {Levels: alert.Levels{InDoubtAge: -time.Hour}},
		"a negative rate":         {Levels: alert.Levels{PerMinute: -80}},
	} {
		if _, err := alert.Rules(o); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNew_RefusesRulesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	good := alert.Rule{Name: "a", Severity: alert.Page, Metric: alert.MetricDepth, Test: alert.Rise, Threshold: 1, Window: time.Minute, Summary: "s"}
	if _, err := alert.New([]alert.Rule{good}); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*alert.Rule){
		"name":      func(r *alert.Rule) { r.Name = "a b" },
		"severity":  func(r *alert.Rule) { r.Severity = "" },
		"metric":    func(r *alert.Rule) { r.Metric = "up" },
		"test":      func(r *alert.Rule) { r.Test = 9 },
		"threshold": func(r *alert.Rule) { r.Threshold = 0 },
		"window":    func(r *alert.Rule) { r.Window = 25 * time.Hour },
		"no window": func(r *alert.Rule) { r.Window = 0 },
		"age":       func(r *alert.Rule) { r.Metric = alert.MetricOldestAge },
		"for":       func(r *alert.Rule) { r.For = -1 },
		"keep":      func(r *alert.Rule) { r.KeepFor = 25 * time.Hour },
		"stream":    func(r *alert.Rule) { r.Stream = "a|b" },
		"except":    func(r *alert.Rule) { r.Except = []string{`a"`} },
		"reason":    func(r *alert.Rule) { r.Reason = "FATAL_SYNTAX" },
		"no reason": func(r *alert.Rule) { r.Metric, r.Reason = alert.MetricByReason, "FATAL" },
		"share":     func(r *alert.Rule) { r.Test, r.Least = alert.OfFirst, 5 },
		"cause":     func(r *alert.Rule) { r.Cause = alert.CauseDisk },
		"no cause":  func(r *alert.Rule) { r.Metric, r.Test, r.Cause = alert.MetricRefusing, alert.AtLeast, "weather" },
		"missing":   func(r *alert.Rule) { r.Test, r.Stream = alert.Missing, "rx" },
		"summary":   func(r *alert.Rule) { r.Summary = "" },
	} {
		r := good
		spoil(&r)
		if _, err := alert.New([]alert.Rule{r}); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
		if err := alert.WriteRules(&bytes.Buffer{}, []alert.Rule{r}); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s is written: %v", name, err)
		}
	}
	if _, err := alert.New(nil); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("no rules: %v", err)
	}
}
