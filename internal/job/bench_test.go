package job_test

import (
	"runtime"
	"testing"

	"claimdlq"
	"claimdlq/internal/job"
)

// BenchmarkPlan freezes and reads a million ids.
func BenchmarkPlan(b *testing.B) {
	w := newWorld(b.Context(), b, b.TempDir(), "")
	w.open()
	ids := make([]claimdlq.ID, 1_000_000)
	for i := range ids {
		ids[i] = claimdlq.ID(i + 1)
	}
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.ReadMemStats(&before)
		plan, err := w.jobs.Plan(w.ctx, ana, job.Selection{IDs: ids}, job.Policy{})
		w.must(err)
		runtime.ReadMemStats(&after)
		if plan.Items != len(ids) {
			b.Fatal(plan.Items)
		}
		_, err = w.jobs.Cancel(w.ctx, ana, plan.ID)
		w.must(err)
	}
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MiB/plan")
	w.must(w.jobs.Close())
}
