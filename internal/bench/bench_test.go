package bench_test

import (
	"strings"
	"testing"
	"time"

	"claimdlq/internal/bench"
)

// Each scenario once, small: its figures as benchmark metrics. `claimdlq bench`
// runs them at full size.
func BenchmarkScenarios(b *testing.B) {
	for _, name := range bench.Scenarios {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				err := bench.Run(b.Context(), []string{name}, bench.Options{Dir: b.TempDir(), For: 2 * time.Second, Records: 100_000, Bytes: 50_000_000}, func(r bench.Result) {
					b.ReportMetric(r.Value, strings.ReplaceAll(r.Figure+"_"+r.Unit, " ", "_"))
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestRun_EachScenarioGivesFigures(t *testing.T) {
	t.Parallel()
	for _, name := range bench.Scenarios {
		figures := 0
		err := bench.Run(t.Context(), []string{name}, bench.Options{Dir: t.TempDir(), For: 10 * time.Millisecond, Records: 2000, Bytes: 100_000, Producers: 4}, func(r bench.Result) {
			figures++
			if r.Value < 0 || r.Unit == "" || r.Figure == "" {
				t.Errorf("%s: %+v", name, r)
			}
		})
		if err != nil || figures < 3 {
			t.Errorf("%s: %d figures, %v", name, figures, err)
		}
	}
}
