package sortedrun_test

import (
	"context"
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"testing"

	"claimdlq/store/filestore/sortedrun"
)

// hashed is the nth key of a run as an HMAC would spread it, in ascending order.
func hashed(n, of uint64) (k sortedrun.Key) {
	binary.BigEndian.PutUint64(k[:8], n*(^uint64(0)/of))
	binary.BigEndian.PutUint64(k[8:], n*0x9e3779b97f4a7c15)
	return k
}

// evens yields n entries with even numbers, so that odd ones are misses.
func evens(n uint64, value []byte) iter.Seq2[sortedrun.Key, []byte] {
	return func(yield func(sortedrun.Key, []byte) bool) {
		for i := range n {
			if !yield(hashed(2*i, 2*n), value) {
				return
			}
		}
	}
}

const benchEntries = 1 << 20

func benchSet(b *testing.B) *sortedrun.Set {
	b.Helper()
	s := open(b, b.TempDir(), sortedrun.Options{Fanout: 8})
	for range 4 {
		if err := s.Add(benchEntries, evens(benchEntries, make([]byte, 150))); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func BenchmarkGet(b *testing.B) {
	s := benchSet(b)
	for name, odd := range map[string]uint64{"hit": 0, "miss": 1} {
		b.Run(name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				if _, ok, err := s.Get(hashed(2*random.Uint64N(benchEntries)+odd, 2*benchEntries)); err != nil || ok != (odd == 0) {
					b.Fatalf("%t, %v", ok, err)
				}
			}
			b.ReportMetric(float64(s.Size().Memory)/float64(s.Size().Entries), "RAM-B/entry")
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	s := open(b, b.TempDir(), sortedrun.Options{})
	value := make([]byte, 150)
	for b.Loop() {
		if err := s.Add(benchEntries/8, evens(benchEntries/8, value)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(benchEntries / 8 * 166)
}

func BenchmarkMerge(b *testing.B) {
	value := make([]byte, 150)
	for b.Loop() {
		b.StopTimer()
		s := open(b, b.TempDir(), sortedrun.Options{})
		for range 4 {
			if err := s.Add(benchEntries/8, evens(benchEntries/8, value)); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if _, err := s.Merge(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(4 * benchEntries / 8 * 166)
}
