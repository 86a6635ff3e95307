package filevault_test

import (
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"claimdlq/phi"
	"claimdlq/vault/filevault"
	"claimdlq/vault/vaulttest"
)

// BenchmarkStageSync is a quarantine insert's part of the vault: 64 producers,
// each seals 2.5 KB and waits until it is on the disk.
func BenchmarkStageSync(b *testing.B) {
	v := setupBench(b)
	const producers = 64
	p := vaulttest.Payload(1, 2500)
	waits := make([][]time.Duration, producers)
	b.SetBytes(int64(len(p)))
	b.ResetTimer()
	before := cpu()
	var wg sync.WaitGroup
	for g := range producers {
		wg.Go(func() {
			for range b.N/producers + 1 {
				t0 := time.Now()
				if _, err := v.Stage(phi.Wrap(p)); err != nil {
					b.Error(err)
					return
				}
				if err := v.Sync(b.Context()); err != nil {
					b.Error(err)
					return
				}
				waits[g] = append(waits[g], time.Since(t0))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(waits...)
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "units/s")
	b.ReportMetric(float64(len(all))/(cpu()-before).Seconds(), "units/cpu-s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
}

// BenchmarkStage is ingest's part: transaction sets of 26 KB, one goroutine, one
// flush per 1,000 sets.
func BenchmarkStage(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	v := setupBench(b)
	p := vaulttest.Payload(1, 26_000)
	b.SetBytes(int64(len(p)))
	n, before := 0, cpu()
	for b.Loop() {
		if _, err := v.Stage(phi.Wrap(p)); err != nil {
			b.Fatal(err)
		}
		if n++; n%1000 == 0 {
			if err := v.Sync(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(p))/1e6/(cpu()-before).Seconds(), "MB/cpu-s")
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

// BenchmarkOpen opens 2.5 KB units in turn.
func BenchmarkOpen(b *testing.B) {
	v := setupBench(b)
	p := vaulttest.Payload(1, 2500)
	ref, err := v.Stage(phi.Wrap(p))
	if err != nil {
		b.Fatal(err)
	}
	if err := v.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if _, err := v.Open(b.Context(), ref, vaulttest.Proof); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRewrap wraps 100,000 data keys anew, durably.
func BenchmarkRewrap(b *testing.B) {
	v := setupBench(b)
	for range 100_000 {
		if _, err := v.Stage(phi.Wrap([]byte("TEST"))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := v.Rotate(b.Context(), time.Unix(0, 0), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}

func setupBench(b *testing.B) *filevault.Vault {
	b.Helper()
	return setup(b, filevault.Options{}).Vault
}

// BenchmarkOpenOneOfMany opens four neighbours among 256 claims that were staged
// together, as a delivery does.
func BenchmarkOpenOneOfMany(b *testing.B) {
	v := setupBench(b)
	const claim = 400
	ref, err := v.Stage(phi.Wrap(vaulttest.Payload(1, 256*claim)))
	if err != nil {
		b.Fatal(err)
	}
	if err := v.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	n, before := 0, cpu()
	for b.Loop() {
		part := ref
		part.Offset, part.Length = int64(n%64*4*claim), 4*claim
		if _, err := v.Open(b.Context(), part, vaulttest.Proof); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64((cpu()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}
