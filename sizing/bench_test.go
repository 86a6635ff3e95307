package sizing_test

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/retry"
	"claimdlq/sizing"
)

// BenchmarkSimulate plays an incident of half an hour: a million claims.
func BenchmarkSimulate(b *testing.B) {
	jitter := claimdlq.DefaultPolicy()
	jitter.Jitter = true
	for _, c := range []struct {
		name    string
		policy  claimdlq.Policy
		breaker *retry.Options
		latency time.Duration
	}{
		{"bare", claimdlq.DefaultPolicy(), nil, 0},
		{"breaker", claimdlq.DefaultPolicy(), &retry.Options{}, 0},
		{"latency", claimdlq.DefaultPolicy(), nil, 150 * time.Millisecond},
		{"jitter", jitter, nil, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			calls := int64(0)
			for range b.N {
				o, err := sizing.Simulate(sizing.Scenario{
					Rate: sizing.PerSecond(400), For: 2500 * time.Second, Policy: c.policy, Breaker: c.breaker, Latency: c.latency,
					Outages: []sizing.Outage{{To: 30 * time.Minute, Latency: c.latency}}, DepthAlarm: 300, RetryAlarm: 1200,
				})
				if err != nil {
					b.Fatal(err)
				}
				calls += o.Calls
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
		})
	}
}
