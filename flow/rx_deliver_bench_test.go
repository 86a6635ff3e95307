package flow_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/store/memstore"
	"claimdlq/vault/memvault"
)

// benchmarkDeliver delivers claims that are queued to a payer in the process, and
// settles them by its answers.
func benchmarkDeliver(b *testing.B, on func(*testing.B) *counter) {
	const claims = 50_000
	b.ReportAllocs()
	total, used := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		c := on(b)
		c.queue(claims, testclaims.RxOptions{Pharmacies: 100})
		before := processorTime()
		b.StartTimer()
		sum := c.drain()
		b.StopTimer()
		used += processorTime() - before
		if got := c.states(); sum.Sent != claims || got[claimdlq.StateSettled] != claims {
			b.Fatalf("%+v %v", sum, got)
		}
		total += claims
		b.StartTimer()
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "claims/s")
	b.ReportMetric(float64(used.Microseconds())/float64(total), "cpu-µs/claim")
}

// processorTime is what the process has used: unlike the rate, it says the same on a
// machine that others use too.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Each transmission was taken in alone.
func BenchmarkDeliver_Disk(b *testing.B) {
	benchmarkDeliver(b, func(b *testing.B) *counter {
		st, v := onDisk(b)
		c := counterOn(b, st, v, nil)
		c.apart = true
		return c
	})
}

// The transmissions came in a batch, and are sealed together.
func BenchmarkDeliver_DiskBatch(b *testing.B) {
	benchmarkDeliver(b, func(b *testing.B) *counter {
		st, v := onDisk(b)
		return counterOn(b, st, v, nil)
	})
}

func BenchmarkDeliver_Memory(b *testing.B) {
	benchmarkDeliver(b, func(b *testing.B) *counter { return counterOn(b, memstore.New(), memvault.New(), nil) })
}

// Every claim fails and waits for its next delivery, at many partners, so that none is
// left alone.
func BenchmarkDeliver_DiskFailing(b *testing.B) {
	const claims, each = 20_000, 8
	total, used := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		st, v := onDisk(b)
		c := counterOn(b, st, v, nil)
		c.script("claim all reject 92")
		c.apart = true
		for i := range claims / each {
			c.queue(each, testclaims.RxOptions{PCN: fmt.Sprintf("P%d", i)})
		}
		before := processorTime()
		b.StartTimer()
		sum := c.drain()
		b.StopTimer()
		used += processorTime() - before
		if sum.Requeued != claims {
			b.Fatalf("%+v", sum)
		}
		total += claims
		b.StartTimer()
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "claims/s")
	b.ReportMetric(float64(used.Microseconds())/float64(total), "cpu-µs/claim")
}
