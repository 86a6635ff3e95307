package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"claimdlq/internal/metrics"
	"claimdlq/internal/testtool"
)

// name is what a metric of ours looks like in an expression.
var name = regexp.MustCompile(`\b(dlq|claimdlq)_[a-z0-9_]+`)

// alarms begin like metrics and are none.
var alarms = []string{"dlq_increase", "dlq_oldest_age"}

// described finds the name in what a collector says of itself.
var described = regexp.MustCompile(`fqName: "([a-z0-9_]+)"`)

// exported are the names of all metrics, those that have no figure yet included.
func exported(t *testing.T) []string {
	t.Helper()
	ch := make(chan *prometheus.Desc, 100)
	metrics.New(source{}, streams(nil), nil).Describe(ch)
	close(ch)
	var out []string
	for d := range ch {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatal(d)
		}
		out = append(out, m[1])
	}
	if len(out) < 15 {
		t.Fatalf("%d metrics", len(out))
	}
	return out
}

type panel struct {
	ID          int
	Type, Title string
	Description string
	GridPos     struct{ H, W, X, Y int }
	Targets     []struct{ Expr string }
}

type dashboard struct {
	Title, UID string
	Panels     []panel
	Templating struct{ List []struct{ Name string } }
}

func readDashboard(t *testing.T, path string) dashboard {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

const board = "../../deploy/grafana/claimdlq.json"

func TestDeploy_NothingUsesAMetricThatIsNotExported(t *testing.T) {
	t.Parallel()
	known := exported(t)
	used := map[string]bool{}
	files := []string{board}
	for _, pattern := range []string{"../../deploy/prometheus/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) < 3 {
			t.Fatal(found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllString(string(b), -1) {
			used[m] = true
			if !slices.Contains(known, m) && !slices.Contains(alarms, m) {
				t.Errorf("%s: nothing exports %s", filepath.Base(file), m)
			}
		}
	}
	shown, err := os.ReadFile(board)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range known {
		if !strings.Contains(string(shown), m) {
			t.Errorf("the dashboard does not show %s", m)
		}
	}
}

func TestDashboard_EachPanelHasAPlaceAndSaysWhatItIs(t *testing.T) {
	t.Parallel()
	d := readDashboard(t, board)
	if d.Title == "" || d.UID == "" || len(d.Templating.List) != 2 || len(d.Panels) < 15 {
		t.Fatalf("%+v", d)
	}
	place, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := place[[2]int{x, y}]; other != "" {
					t.Fatalf("%s lies on %s", p.Title, other)
				}
				place[[2]int{x, y}] = p.Title
			}
		}
	}
}

// promtool runs Prometheus' own tool; see package alert.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), testtool.Path(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%.4000s", strings.Join(args, " "), err, out)
	}
}

func TestDashboard_EveryExpressionIsPromQL(t *testing.T) {
	t.Parallel()
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	for _, p := range readDashboard(t, board).Panels {
		for _, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "1m", "$stream", ".*").Replace(target.Expr)
			rules = append(rules, rule{fmt.Sprintf("test:panel_%d_%d", p.ID, len(rules)), expr})
		}
	}
	b, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}

func TestPrometheus_TheExampleIsAConfiguration(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "config", "--syntax-only", "../../deploy/prometheus/prometheus.yaml")
}
