package alert_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/testtool"
	"claimdlq/retry"
)

// promtool runs Prometheus' own tool.
func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testtool.Path(t, "promtool"), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%.4000s", strings.Join(args, " "), err, out)
	}
}

func TestPromtool_TheDeployedRulesAreValidAndPassTheirTests(t *testing.T) {
	t.Parallel()
	promtool(t, filepath.Dir(deployed), "check", "rules", "claimdlq.rules.yaml")
	promtool(t, filepath.Dir(deployed), "test", "rules", "claimdlq.rules.test.yaml")
}

func TestPromtool_RulesForStreamsOfTheirOwnAreValid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := written(t, rules(t, alert.Options{Streams: map[string]alert.Levels{"837": {PerMinute: 1200}, "rx.v2": {}}}))
	if err := os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "check", "rules", "rules.yaml")
}

// play is a random hour of one stream and one partner, a sample every 15 s.
type play struct {
	streams  []alert.Stream
	partners []alert.Partner
	intakes  []*alert.Intake
}

const samples = 200

func newPlay(r *rand.Rand) play {
	var p play
	s := alert.Stream{Name: "rx", Deliveries: 1e9, Retries: 1e8, Failures: 1e8, UnknownCodes: 5}
	reasons := []claimdlq.Reason{claimdlq.FatalSyntax, claimdlq.RetriesExhausted, claimdlq.SemanticReject}
	by := map[claimdlq.Reason]int64{}
	pace, failing, breaker := int64(0), int64(0), retry.Closed
	var reason claimdlq.Reason
	intake := alert.Intake{Limit: 10}
	for range samples {
		if r.IntN(12) == 0 { // the weather changes
			reason = reasons[r.IntN(len(reasons))]
			pace = []int64{0, 0, 2, 40, 200, 6000, -500, -100_000}[r.IntN(8)]
			failing = []int64{0, 0, 6, 310, 310, 6000}[r.IntN(6)] // 300 is 5 % of a sample's 6,000
			breaker = []retry.State{retry.Closed, retry.Closed, retry.Open, retry.HalfOpen}[r.IntN(4)]
			s.OldestAge = time.Duration(r.IntN(8)) * 20 * time.Minute
			s.Parked = max(int64(r.IntN(6)-3), 0)
			s.InDoubt, s.InDoubtAge = int64(r.IntN(3)*200), time.Duration(r.IntN(8))*20*time.Minute
			s.Difference = int64(max(r.IntN(10)-8, 0))
			s.Orphans = int64(max(r.IntN(4)-2, 0))
		}
		if r.IntN(12) == 0 {
			intake.Waiting, intake.Refusing = int64(r.IntN(13)), map[alert.Cause]bool{}
			for _, c := range alert.Causes {
				intake.Refusing[c] = r.IntN(4) == 0
			}
		}
		now := intake
		p.intakes = append(p.intakes, &now)
		if r.IntN(60) == 0 { // the process begins again
			s.Deliveries, s.Retries, s.Failures, s.UnknownCodes, s.Expired = 0, 0, 0, 0, 0
		}
		if r.IntN(60) == 0 {
			s.UnknownCodes++
			s.Expired++
		}
		if r.IntN(12) == 0 {
			s.Deadlines = map[string]int64{}
			for _, stage := range alert.DeadlineStages {
				s.Deadlines[stage] = int64(max(r.IntN(5)-2, 0))
			}
			s.Ripe = int64(max(r.IntN(5)-2, 0))
			s.Held = map[alert.Cause]alert.Held{}
			for _, c := range alert.Holds {
				s.Held[c] = alert.Held{Records: 1, Age: time.Duration(r.IntN(30)) * time.Hour}
			}
		}
		by[reason] = max(by[reason]+pace, 0)
		s.Depth, s.ByReason = 0, map[claimdlq.Reason]int64{}
		for k, n := range by {
			s.Depth += n
			s.ByReason[k] = n
		}
		s.Deliveries += 6000 + failing
		s.Retries += failing
		s.Failures += failing
		p.streams = append(p.streams, s)
		p.partners = append(p.partners, alert.Partner{Stream: "rx", Name: "999991:TESTPCN", Breaker: breaker})
	}
	return p
}

// series writes the play as promtool reads it.
func (p *play) series(b *strings.Builder) {
	part := func(name string, value func(i int) float64) {
		fmt.Fprintf(b, "      - series: '%s'\n        values: '", name)
		for i := range p.streams {
			fmt.Fprintf(b, "%v ", value(i))
		}
		b.WriteString("'\n")
	}
	line := func(name string, value func(i int) int64) {
		part(name, func(i int) float64 { return float64(value(i)) })
	}
	for metric, value := range map[string]func(s *alert.Stream) int64{
		alert.MetricDepth:      func(s *alert.Stream) int64 { return s.Depth },
		alert.MetricOldestAge:  func(s *alert.Stream) int64 { return int64(s.OldestAge.Seconds()) },
		alert.MetricParked:     func(s *alert.Stream) int64 { return s.Parked },
		alert.MetricInDoubt:    func(s *alert.Stream) int64 { return s.InDoubt },
		alert.MetricInDoubtAge: func(s *alert.Stream) int64 { return int64(s.InDoubtAge.Seconds()) },
		alert.MetricDeliveries: func(s *alert.Stream) int64 { return s.Deliveries },
		alert.MetricRetries:    func(s *alert.Stream) int64 { return s.Retries },
		alert.MetricFailures:   func(s *alert.Stream) int64 { return s.Failures },
		alert.MetricUnknown:    func(s *alert.Stream) int64 { return s.UnknownCodes },
		alert.MetricDifference: func(s *alert.Stream) int64 { return s.Difference },
		alert.MetricOrphans:    func(s *alert.Stream) int64 { return s.Orphans },
		alert.MetricExpired:    func(s *alert.Stream) int64 { return s.Expired },
		alert.MetricRipe:       func(s *alert.Stream) int64 { return s.Ripe },
	} {
		line(metric+`{stream="rx"}`, func(i int) int64 { return value(&p.streams[i]) })
	}
	for _, reason := range claimdlq.Reasons {
		line(alert.MetricByReason+`{stream="rx",reason="`+reason.String()+`"}`, func(i int) int64 { return p.streams[i].ByReason[reason] })
	}
	for _, stage := range alert.DeadlineStages {
		line(alert.MetricDeadlines+`{stream="rx",stage="`+stage+`"}`, func(i int) int64 { return p.streams[i].Deadlines[stage] })
	}
	for _, c := range alert.Holds {
		line(alert.MetricHeldAge+`{stream="rx",cause="`+string(c)+`"}`, func(i int) int64 { return int64(p.streams[i].Held[c].Age.Seconds()) })
	}
	for _, c := range alert.Causes {
		line(alert.MetricRefusing+`{cause="`+string(c)+`"}`, func(i int) int64 {
			if p.intakes[i].Refusing[c] {
				return 1
			}
			return 0
		})
	}
	part(alert.MetricFill, func(i int) float64 { return p.intakes[i].Fill() })
	line(alert.MetricBreaker+`{stream="rx",partner="999991:TESTPCN"}`, func(i int) int64 { return int64(min(p.partners[i].Breaker, 1)) })
}

// rang returns what rings at each sample, by alarm, as promtool expects it.
func (p *play) rang(t *testing.T, rs []alert.Rule) []map[string]string {
	t.Helper()
	e, err := alert.New(rs)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for i := range p.streams {
		e.Observe(alert.Sample{At: noon.Add(time.Duration(i) * alert.Scrape), Streams: p.streams[i : i+1], Partners: p.partners[i : i+1], Intake: p.intakes[i]})
		now := map[string]string{}
		for _, ev := range e.Active() {
			l := "              severity: " + string(ev.Severity) + "\n"
			for _, kv := range [...][2]string{{"stream", ev.Labels.Stream}, {"reason", ev.Labels.Reason}, {"partner", ev.Labels.Partner}, {"stage", ev.Labels.Stage}, {"cause", ev.Labels.Cause}} {
				if kv[1] != "" {
					l += "              " + kv[0] + ": '" + kv[1] + "'\n"
				}
			}
			now[ev.Alarm] += "          - exp_labels:\n" + l
		}
		out = append(out, now)
	}
	return out
}

// The built-in evaluator and Prometheus ring at the same minutes, whatever happens.
// A rise is looked at over a window in the one and over the window and a scrape in
// the other (one sample more or less, as they fall), so a moment counts where both
// windows come to the same.
func TestPromtool_PrometheusRingsWhenTheEvaluatorDoes(t *testing.T) {
	t.Parallel()
	rs := rules(t, alert.Options{})
	wide := slices.Clone(rs)
	names := []string{}
	for i := range wide {
		if wide[i].Test == alert.Rise && wide[i].Metric != alert.MetricUnknown && wide[i].Metric != alert.MetricExpired {
			wide[i].Window += alert.Scrape
		}
		if !slices.Contains(names, wide[i].Name) {
			names = append(names, wide[i].Name)
		}
	}
	var b strings.Builder
	b.WriteString("rule_files: [rules.yaml]\nevaluation_interval: 15s\ntests:\n")
	looked, skipped, ringing := 0, 0, map[string]bool{}
	plays := uint64(8)
	if testing.Short() {
		plays = 2
	}
	for seed := range plays {
		p := newPlay(rand.New(rand.NewPCG(seed, 22)))
		fmt.Fprintf(&b, "  - name: play %d\n    interval: 15s\n    input_series:\n", seed)
		p.series(&b)
		b.WriteString("    alert_rule_test:\n")
		narrow, wider := p.rang(t, rs), p.rang(t, wide)
		for i := 0; i < samples; i += 4 {
			for _, name := range names {
				if narrow[i][name] != wider[i][name] {
					skipped++
					continue
				}
				looked++
				fmt.Fprintf(&b, "      - eval_time: %ds\n        alertname: %s\n        exp_alerts:\n%s", 15*i, name, narrow[i][name])
				if narrow[i][name] != "" {
					ringing[name] = true
				}
			}
		}
	}
	if skipped > looked/20 {
		t.Errorf("%d moments were looked at, %d skipped", looked, skipped)
	}
	if !testing.Short() && len(ringing) < len(names)-1 { // all but figures_missing
		t.Errorf("only %v rang", ringing)
	}
	dir := t.TempDir()
	bare := slices.DeleteFunc(strings.SplitAfter(written(t, rs), "\n"), func(l string) bool {
		l = strings.TrimSpace(l)
		return l == "annotations:" || strings.HasPrefix(l, "summary:") || strings.HasPrefix(l, "runbook:") || strings.HasPrefix(l, "console:")
	})
	for name, text := range map[string]string{"rules.yaml": strings.Join(bare, ""), "test.yaml": b.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	promtool(t, dir, "test", "rules", "test.yaml")
	t.Logf("%d moments agree, %d skipped", looked, skipped)
}
