package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// engine is one store under test. Both methods return when the change is durable.
type engine interface {
	// Insert quarantines record n: seals payload, writes it, the record and an
	// audit entry.
	Insert(ctx context.Context, n int64, payload []byte) error
	// Load inserts records from..to without payloads, in large batches.
	Load(ctx context.Context, from, to int64) error
	// Change moves record n to its next state, with an audit entry.
	Change(ctx context.Context, n int64) error
	Close() error
}

type result struct {
	Engine string  `json:"engine"`
	Work   string  `json:"work"`
	Rate   float64 `json:"per_second"`
	P50    float64 `json:"p50_ms"`
	P99    float64 `json:"p99_ms"`
}

// storesMain runs claimdlq's embedded store and vault beside SQLite and Pebble: 64
// producers that each wait until their record is durable.
func storesMain(args []string) error {
	fs := flag.NewFlagSet("peers stores", flag.ContinueOnError)
	dir := fs.String("dir", "", "scratch folder on the disk to measure (default: a temporary one)")
	secs := fs.Duration("for", 4*time.Second, "length of each measurement")
	rounds := fs.Int("rounds", 3, "rounds; the engines take turns and the median is shown")
	producers := fs.Int("producers", 64, "concurrent producers")
	rows := fs.Int64("rows", 1_000_000, "records in the store for the state changes")
	asJSON := fs.Bool("json", false, "print JSON")
	if err := fs.Parse(args); err != nil {
		return err
	}
	debug.SetGCPercent(400) // as the program does; for every engine alike
	return run(*dir, *secs, *rounds, *producers, *rows, *asJSON)
}

var engines = []struct {
	name string
	open func(dir string) (engine, error)
}{
	{"claimdlq", openOurs},
	{"sqlite", openSQLite},
	{"pebble", openPebble},
}

func run(dir string, secs time.Duration, rounds, producers int, rows int64, asJSON bool) error {
	if dir == "" {
		d, err := os.MkdirTemp("", "claimdlq-peers-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(d)
		dir = d
	}
	all := map[string][]result{}
	for round := range rounds {
		for _, e := range engines {
			d := filepath.Join(dir, fmt.Sprintf("%s-%d", e.name, round))
			rs, err := measure(e.name, e.open, d, secs, producers, rows)
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			for _, r := range rs {
				all[r.Engine+"/"+r.Work] = append(all[r.Engine+"/"+r.Work], r)
				fmt.Fprintf(os.Stderr, "round %d  %-9s %-14s %9.0f/s  p50 %6.2f ms  p99 %6.2f ms\n", round+1, r.Engine, r.Work, r.Rate, r.P50, r.P99)
			}
			if err := os.RemoveAll(d); err != nil {
				return err
			}
		}
	}
	var medians []result
	for _, e := range engines {
		for _, w := range []string{"insert", "state change"} {
			rs := all[e.name+"/"+w]
			slices.SortFunc(rs, func(a, b result) int { return int(a.Rate - b.Rate) })
			medians = append(medians, rs[len(rs)/2])
		}
	}
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(medians)
	}
	ours := map[string]float64{medians[0].Work: medians[0].Rate, medians[1].Work: medians[1].Rate}
	for _, m := range medians {
		fmt.Printf("%-9s %-14s %9.0f/s  p50 %6.2f ms  p99 %6.2f ms  claimdlq is %.1fx\n", m.Engine, m.Work, m.Rate, m.P50, m.P99, ours[m.Work]/m.Rate)
	}
	return nil
}

func measure(name string, open func(string) (engine, error), dir string, secs time.Duration, producers int, rows int64) ([]result, error) {
	ctx := context.Background()
	e, err := open(dir)
	if err != nil {
		return nil, err
	}
	var next atomic.Int64
	ins, err := drive(producers, secs, func(_ *rand.Rand, buf []byte) error {
		return e.Insert(ctx, next.Add(1)-1, buf[:1024+rand.IntN(3072)]) // 2.5 KB on average
	})
	if err != nil {
		return nil, err
	}
	ins.Engine, ins.Work = name, "insert"
	if n := next.Load(); n < rows {
		if err := e.Load(ctx, n, rows); err != nil {
			return nil, err
		}
	}
	chg, err := drive(producers, secs, func(r *rand.Rand, _ []byte) error { return e.Change(ctx, r.Int64N(rows)) })
	if err != nil {
		return nil, err
	}
	chg.Engine, chg.Work = name, "state change"
	return []result{ins, chg}, e.Close()
}

// drive runs f from n goroutines for the given time.
func drive(n int, secs time.Duration, f func(*rand.Rand, []byte) error) (result, error) {
	var (
		wg   sync.WaitGroup
		stop atomic.Bool
		mu   sync.Mutex
		lats []time.Duration
		fail error
	)
	t0 := time.Now()
	for p := range n {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(p), uint64(t0.UnixNano())))
			buf := make([]byte, 4096)
			for i := range buf {
				buf[i] = byte(r.Uint32())
			}
			var mine []time.Duration
			var err error
			for !stop.Load() && err == nil {
				t := time.Now()
				err = f(r, buf)
				mine = append(mine, time.Since(t))
			}
			mu.Lock()
			defer mu.Unlock()
			lats = append(lats, mine...)
			if err != nil {
				fail = err
				stop.Store(true)
			}
		})
	}
	time.Sleep(secs)
	stop.Store(true)
	wg.Wait()
	el := time.Since(t0)
	if fail != nil || len(lats) == 0 {
		return result{}, fail
	}
	slices.Sort(lats)
	ms := func(p float64) float64 { return float64(lats[int(float64(len(lats)-1)*p)].Microseconds()) / 1000 }
	return result{Rate: float64(len(lats)) / el.Seconds(), P50: ms(.5), P99: ms(.99)}, nil
}
