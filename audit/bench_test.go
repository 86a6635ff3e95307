package audit_test

import (
	"syscall"
	"testing"
	"time"

	"claimdlq/audit"
)

// BenchmarkVerify verifies a log of a million entries.
func BenchmarkVerify(b *testing.B) {
	const n = 1_000_000
	l := setup(b, audit.Options{})
	for seq := uint64(1); seq <= n; seq += 10_000 {
		l.add(b, seq, seq+9_999)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	before := cpu()
	for b.Loop() {
		l.sound(b, n)
	}
	b.ReportMetric(n*float64(b.N)/(cpu()-before).Seconds(), "entries/cpu-s")
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkAppend appends batches of 4,096 entries, durably.
func BenchmarkAppend(b *testing.B) {
	l := setup(b, audit.Options{})
	batch := entries(1, 4096)
	before := cpu()
	for b.Loop() {
		if err := l.Append(batch); err != nil {
			b.Fatal(err)
		}
		for i := range batch {
			batch[i].Seq += 4096
		}
	}
	b.ReportMetric(4096*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(4096*float64(b.N)/(cpu()-before).Seconds(), "entries/cpu-s")
}

// cpu returns the processor time that the process has taken: what a machine that
// does other things as well does not change.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
