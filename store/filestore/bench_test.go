package filestore_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// benchRows is how many records the stores of the larger benchmarks hold: set
// FILESTORE_ROWS, such as to 10000000.
func benchRows(def int) int {
	if n, err := strconv.Atoi(os.Getenv("FILESTORE_ROWS")); err == nil && n > 0 {
		return n
	}
	return def
}

var benchEpoch = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// benchRecord is a record of about 250 bytes as encoded, 400 with its entry and frame.
func benchRecord(n int) claimdlq.Record {
	r := claimdlq.Record{
		KeyTerm: 1, Format: claimdlq.Format837P, Batch: claimdlq.Ref(n)*0x9e3779b97f4a7c15 + 1,
		InterchangeID: fmt.Sprintf("%09d", n%1_000_000_000), GroupID: "1", TransactionID: "0001",
		Sender: "ZZ:TESTSENDER", Partner: fmt.Sprintf("ZZ:TESTPAYER%02d", n%40), Stream: "837", Usage: "T",
		State: claimdlq.StateQuarantined, Reason: claimdlq.Reasons[n%len(claimdlq.Reasons)], Class: claimdlq.Terminal,
		Detail: claimdlq.NewDetail(fmt.Sprintf("IK4:SV1%02d:%d", n%17, n%9)), RuleVersion: "v2026.07",
		Payload: claimdlq.PayloadRef{Unit: fmt.Sprintf("testunit%024d", n), Length: 2500}, PayloadRevision: 1, RefusedRevision: 1,
		Claims: 1, AmountCents: 12_345, CreatedAt: benchEpoch.Add(time.Duration(n) * time.Millisecond),
		FirstFailedAt: benchEpoch.Add(time.Duration(n) * time.Millisecond), UpdatedAt: benchEpoch.Add(time.Duration(n) * time.Millisecond),
	}
	x := uint64(n+1) * 0x9e3779b97f4a7c15
	binary.LittleEndian.PutUint64(r.Key[:], x^x>>29)
	binary.LittleEndian.PutUint64(r.Key[8:], uint64(n))
	r.Digest[0] = byte(n)
	return r
}

func benchEntry(a claimdlq.Action, id claimdlq.ID) claimdlq.Entry {
	return claimdlq.Entry{At: benchEpoch, Actor: "system:intake", Action: a, Record: id, Detail: claimdlq.NewDetail("IK4:SV102:2"), PayloadRevision: 1}
}

// load fills a store with n records, 2,000 a commit.
func load(tb testing.TB, s *filestore.Store, n int) {
	tb.Helper()
	for i := 0; i < n; i += 2000 {
		var b store.Batch
		for j := i; j < min(n, i+2000); j++ {
			b.Insert = append(b.Insert, benchRecord(j))
		}
		if _, err := s.Commit(tb.Context(), b); err != nil {
			tb.Fatal(err)
		}
	}
}

// produce runs f b.N times from 64 goroutines and reports the rate and how long
// the slowest hundredth waited.
func produce(b *testing.B, f func(n int) error) {
	const producers = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	waits := make([][]time.Duration, producers)
	b.ResetTimer()
	start := time.Now()
	for w := range producers {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= b.N {
					return
				}
				t := time.Now()
				if err := f(n); err != nil {
					b.Error(err)
					return
				}
				waits[w] = append(waits[w], time.Since(t))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "commits/s")
	report(b, slices.Concat(waits...))
}

func report(b *testing.B, waits []time.Duration) {
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
}

func BenchmarkCommitInsert(b *testing.B) {
	s := openStore(b, b.TempDir(), filestore.Options{})
	defer s.Close()
	produce(b, func(n int) error {
		_, err := s.Commit(b.Context(), store.Batch{
			Insert: []claimdlq.Record{benchRecord(n)}, Entries: []claimdlq.Entry{benchEntry(claimdlq.ActEnqueue, store.ParentIndex(0))},
		})
		return err
	})
}

func BenchmarkCommitInsertRecordOnly(b *testing.B) {
	s := openStore(b, b.TempDir(), filestore.Options{})
	defer s.Close()
	produce(b, func(n int) error {
		_, err := s.Commit(b.Context(), store.Batch{Insert: []claimdlq.Record{benchRecord(n)}})
		return err
	})
}

func BenchmarkStateChange(b *testing.B) {
	s := openStore(b, b.TempDir(), filestore.Options{})
	defer s.Close()
	rows := benchRows(1_000_000)
	load(b, s, rows)
	produce(b, func(n int) error {
		// Every record once, in an order that is not theirs.
		id := claimdlq.ID(uint64(n)*2_654_435_761%uint64(rows)) + 1
		r, err := s.Get(b.Context(), id)
		if err != nil {
			return err
		}
		var next claimdlq.Record
		if r.State == claimdlq.StateQuarantined {
			next, err = r.Replay("v2026.08", r.UpdatedAt.Add(time.Second))
		} else {
			next, err = r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Detail: r.Detail}, r.UpdatedAt.Add(time.Second))
		}
		if err != nil {
			return err
		}
		_, err = s.Commit(b.Context(), store.Batch{
			Update: []claimdlq.Record{next}, Entries: []claimdlq.Entry{benchEntry(claimdlq.ActReplay, id)},
		})
		return err
	})
}

// rss returns the process's resident memory in bytes, or 0 where it cannot be told.
func rss() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	_, _ = fmt.Sscan(string(b), &size, &resident)
	return resident * int64(os.Getpagesize())
}

// each runs f b.N times and reports how long the slowest hundredth took.
func each(b *testing.B, f func(n int)) {
	waits := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for n := range b.N {
		t := time.Now()
		f(n)
		waits = append(waits, time.Since(t))
	}
	b.StopTimer()
	report(b, waits)
}

// BenchmarkLarge fills one store and then measures reading it: lists of 50 by every
// combination of filters, figures, groups, snapshots and opening.
func BenchmarkLarge(b *testing.B) {
	dir, rows := b.TempDir(), benchRows(100_000)
	s := openStore(b, dir, filestore.Options{Manual: true})
	start := time.Now()
	load(b, s, rows)
	b.Logf("loaded %d in %v, %d MB resident", rows, time.Since(start), rss()>>20)
	lists := map[string]store.Filter{
		"all":                   {},
		"state":                 {State: claimdlq.StateQuarantined},
		"state+reason":          {State: claimdlq.StateQuarantined, Reason: claimdlq.SemanticReject},
		"state+partner":         {State: claimdlq.StateQuarantined, Partner: "ZZ:TESTPAYER07"},
		"state+detail":          {State: claimdlq.StateQuarantined, Detail: claimdlq.NewDetail("IK4:SV103:2")},
		"state+reason+partner":  {State: claimdlq.StateQuarantined, Reason: claimdlq.SemanticReject, Partner: "ZZ:TESTPAYER08"},
		"nothing matches":       {Reason: claimdlq.SemanticReject, Partner: "ZZ:TESTPAYER07", Detail: claimdlq.NewDetail("IK4:SV103:2")},
		"nothing matches, two":  {Partner: "ZZ:TESTPAYER07", Reason: claimdlq.FatalSyntax},
		"reason+partner+detail": {Reason: claimdlq.SemanticReject, Partner: "ZZ:TESTPAYER08", Detail: claimdlq.NewDetail("IK4:SV111:1")},
		"older":                 {State: claimdlq.StateQuarantined, Older: benchEpoch.Add(time.Duration(rows/10) * time.Millisecond)},
	}
	for name, f := range lists {
		b.Run("List50/"+name, func(b *testing.B) {
			found := 0
			each(b, func(n int) {
				before := claimdlq.ID(0)
				if n%2 == 1 {
					before = claimdlq.ID(uint64(n)*2_654_435_761%uint64(rows)) + 1
				}
				rs, err := s.List(b.Context(), f, before, 50)
				if err != nil {
					b.Fatal(err)
				}
				found += len(rs)
			})
			b.ReportMetric(float64(found)/float64(b.N), "records")
		})
	}
	b.Run("Stats", func(b *testing.B) {
		each(b, func(int) {
			if _, err := s.Stats(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("Groups20", func(b *testing.B) {
		each(b, func(int) {
			if _, err := s.Groups(b.Context(), store.Filter{State: claimdlq.StateQuarantined}, 20); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("Get", func(b *testing.B) {
		each(b, func(n int) {
			if _, err := s.Get(b.Context(), claimdlq.ID(uint64(n)*2_654_435_761%uint64(rows))+1); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("Find", func(b *testing.B) {
		each(b, func(n int) {
			if _, err := s.Find(b.Context(), benchRecord(int(uint64(n)*2_654_435_761%uint64(rows))).Key); err != nil {
				b.Fatal(err)
			}
		})
	})
	start = time.Now()
	if err := s.Snapshot(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("snapshot written in %v", time.Since(start))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	debug.FreeOSMemory()
	for range 3 {
		start = time.Now()
		s := openStore(b, dir, filestore.Options{Manual: true})
		b.Logf("opened from the snapshot in %v, %d MB resident", time.Since(start), rss()>>20)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "snapshot")); err != nil {
		b.Fatal(err)
	}
	start = time.Now()
	s = openStore(b, dir, filestore.Options{Manual: true})
	b.Logf("opened without a snapshot in %v", time.Since(start))
	_ = s.Close()
}
