package alert_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
)

// A sentence about one record speaks of one, and of none or more of many.
func TestSummary_SpeaksOfOneOrOfMany(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64][]string{
		1: {
			"1 acknowledgment file answers nothing that was sent.",
			"1 answer of stream rx carried a code that no table knows; it was taken for a refusal.",
			"1 call of stream rx failed within a minute.",
			"1 record is in quarantine (stream rx).",
			"1 record more in five minutes (stream rx): EXPIRED, un-parked after its retention ended.",
			"1 record more in five minutes (stream rx): SEMANTIC_REJECT, the payer refuses what it says.",
			"1 record more in quarantine within a minute (stream rx): reason_spike says why.",
			"1 record of stream rx is in doubt: calls end without an answer.",
			"1 record of stream rx is parked and waits for a named person.",
			"1 record of stream rx was parked by its retention.",
			"1 unresolved record of stream rx has 80 % of its filing window behind it.",
			"1 unresolved record of stream rx has 80 % of its retention behind it and will be parked.",
			"1 unresolved record of stream rx has 90 % of its filing window behind it.",
			"1 unresolved record of stream rx is past the last day of its filing window.",
		},
		2: {
			"2 acknowledgment files answer nothing that was sent.",
			"2 answers of stream rx carried a code that no table knows; it was taken for a refusal.",
			"2 calls of stream rx failed within a minute.",
			"2 records are in quarantine (stream rx).",
			"2 records more in five minutes (stream rx): EXPIRED, un-parked after their retention ended.",
			"2 records more in five minutes (stream rx): SEMANTIC_REJECT, the payer refuses what they say.",
			"2 records more in quarantine within a minute (stream rx): reason_spike says why.",
			"2 records of stream rx are in doubt: calls end without an answer.",
			"2 records of stream rx are parked and wait for a named person.",
			"2 records of stream rx were parked by their retention.",
			"2 unresolved records of stream rx are past the last day of their filing window.",
			"2 unresolved records of stream rx have 80 % of their filing window behind them.",
			"2 unresolved records of stream rx have 80 % of their retention behind them and will be parked.",
			"2 unresolved records of stream rx have 90 % of their filing window behind them.",
		},
	} {
		w := newWatch(t, alert.Options{Levels: alert.Levels{RetryLeast: 1, Increase: 1, Spike: 1, Depth: 1, InDoubt: 1, Parked: 1, Unknown: 1}})
		w.see(0, alert.Stream{Name: "rx", ByReason: map[claimdlq.Reason]int64{}, Deliveries: 1000})
		rx := alert.Stream{
			Name: "rx", Depth: n, ByReason: map[claimdlq.Reason]int64{claimdlq.Expired: n, claimdlq.SemanticReject: n}, InDoubt: n, Parked: n, Ripe: n, Expired: n,
			UnknownCodes: n, Orphans: n, Deliveries: 1000 + n, Retries: n, Failures: n, Deadlines: map[string]int64{},
		}
		for _, stage := range alert.DeadlineStages {
			rx.Deadlines[stage] = n
		}
		said := map[string]bool{}
		for range 62 { // what has to hold for minutes does
			for _, e := range w.see(5*time.Second, rx) {
				said[e.Summary] = true
			}
		}
		if got := slices.Sorted(maps.Keys(said)); !slices.Equal(got, want) {
			t.Errorf("of %d:\n%s\nwant\n%s", n, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
