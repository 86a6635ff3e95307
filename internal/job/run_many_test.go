package job_test

import (
	"bytes"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/job"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

func TestRun_TenThousand(t *testing.T) {
	t.Parallel()
	inTime(t, "claim 7% reject 70", func(w *world) {
		w.failed(10_000)
		plan := w.run(job.Policy{Canary: 10, StartRate: 50, MaxRate: 800, Step: time.Second, StopFailures: 2})
		p := w.is(plan.ID, job.Done)
		same(w.t, "results", p.Results, map[string]int{"replayed": 10_000})
		if p.Ends["settled"]+p.Ends["rejected"] != 10_000 || p.Ends["rejected"] < 500 {
			w.t.Fatalf("ends %v", p.Ends)
		}
		if took := p.EndedAt.Sub(p.StartedAt); took > 25*time.Second {
			w.t.Errorf("it took %v at up to 800/s", took)
		}
		for id, n := range w.byJob(plan.ID) {
			if n != 1 {
				w.t.Fatalf("record %d was released %d times", id, n)
			}
		}
		items := w.items(plan.ID)
		for i, it := range items {
			if it.Index != i || it.Result != job.Replayed || it.End != job.Settled && it.End != job.Rejected {
				w.t.Fatalf("item %d is %+v", i, it)
			}
		}
	})
}

func TestRun_AnX12ClaimToo(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		var file bytes.Buffer
		_, err := testclaims.Generate(&file, testclaims.Options{Claims: 3, ClaimsPerSet: 1})
		w.must(err)
		w.flow.Attempt.Stop(claimdlq.StreamX12, "")
		_, err = w.flow.Intake.File(w.ctx, claimdlq.System("intake"), "TEST.x12", &file)
		w.must(err)
		rs, err := w.st.List(w.ctx, store.Filter{Stream: claimdlq.StreamX12}, 0, 10)
		w.must(err)
		if len(rs) == 0 {
			w.t.Fatal("nothing was taken in")
		}
		w.step(rs[0].ID, func(r claimdlq.Record) (claimdlq.Record, error) {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Detail: claimdlq.NewDetail("HTTP_503")}, time.Now().UTC())
		})
		plan := w.run(job.Policy{})
		p := w.until(plan.ID, func(p job.Progress) bool { return p.Results["replayed"] == 1 })
		if p.Phase != job.PhaseWatch || w.record(rs[0].ID).ReplayCount != 1 {
			w.t.Fatalf("%+v", p)
		}
	})
}
