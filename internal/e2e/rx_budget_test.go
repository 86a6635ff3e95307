package e2e_test

import (
	"bytes"
	"fmt"
	"testing"

	"claimdlq/internal/testclaims"
)

// TestCrashRx_TheBudgetIsExactUnderKills: max_receive counts deliveries, the first
// among them, whatever the number of workers and however often the process is killed
// (DESIGN promise 3). The payer refuses every claim for now, and counts what comes: no
// claim comes more often than its budget, and one that no kill interrupted comes
// exactly so often.
func TestCrashRx_TheBudgetIsExactUnderKills(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ budget, workers, kills int }{
		{1, 1, 2}, {1, 16, 3}, {2, 4, 3}, {3, 16, 0}, {5, 8, 4}, {8, 2, 2}, {13, 16, 3}, {20, 16, 4}, {20, 1, 0},
	} {
		t.Run(fmt.Sprintf("max_receive %d, %d workers, %d kills", tt.budget, tt.workers, tt.kills), func(t *testing.T) {
			t.Parallel()
			rxBudget(t, tt.budget, tt.workers, tt.kills)
		})
	}
}

func rxBudget(t *testing.T, budget, workers, kills int) {
	n := max(50, 400/budget) // deliveries in all are fewer than the window of the breaker
	w := newRxWorld(t, "claim all reject 92", fmt.Sprintf("policy: {max_receive: %d, max_receive_low: 1, base: 1ms, cap: 4ms}\n", budget)+steady, workers)
	messages := rxClaims(t, testclaims.RxOptions{Seed: 7, Claims: n})
	s := w.serve()
	code, body, err := s.post(t.Context(), "/batch", bytes.Join(messages, nil))
	if err != nil || code/100 != 2 {
		t.Fatalf("handed in: %d, %v, %s", code, err, body)
	}
	for k := range kills {
		// So many come whatever the kills cut off.
		at := (n*budget - kills*workers) * (k + 1) / (kills + 2)
		w.until("kill", func() bool { return w.payer.Stats().Requests >= at })
		s.kill()
		s = w.serve()
	}
	f := w.rest(n)
	w.sound("at the end") // by the serving process: it knows the budget
	s.stop()
	if f.Received != int64(n) || f.Claims["quarantined"]+f.Claims["in_doubt"] != int64(n) || f.Difference != 0 {
		t.Errorf("figures %+v, want %d dead-lettered or in doubt", f, n)
	}
	came := w.payer.Deliveries()
	seen, short := map[string]int{}, 0
	for _, d := range came {
		seen[d.Rx] = d.Count
	}
	for _, number := range w.keys(messages) {
		if seen[number] > budget {
			t.Errorf("a claim came %d times, of %d", seen[number], budget)
		}
		short += max(0, budget-seen[number])
	}
	// Each kill cuts off at most as many deliveries as there are workers.
	if short > kills*workers {
		t.Errorf("%d deliveries did not come, %d at most were cut off", short, kills*workers)
	}
	for _, r := range w.allRecords() {
		if r.AttemptCount != budget {
			t.Errorf("record %d (%s, %s) was delivered %d times by its own count, of %d", r.ID, r.State, r.Detail, r.AttemptCount, budget)
		}
	}
}
