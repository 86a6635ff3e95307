// Package bench measures claimdlq on the machine it runs on: how fast it scans
// and takes in files, how many durable inserts and state changes it makes, what a
// large store costs in memory and time, and (rx-…) how many pharmacy claims go
// through it. Everything it times is the product's own path: sealed, journaled,
// audited, flushed to disk.
package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Result is one figure of one scenario.
type Result struct {
	Scenario string  `json:"scenario"`
	Figure   string  `json:"figure"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
}

// Options say where and how much to measure.
type Options struct {
	// Dir is a scratch folder on the disk to measure; it is left empty.
	Dir string
	// For is the length of each timed load. Default: 5 s.
	For time.Duration
	// Producers is how many goroutines wait for their own flush. Default: 64.
	Producers int
	// Workers is how many deliveries of the pharmacy scenarios are under way at the
	// same time. Default: 64.
	Workers int
	// Records is how many records the store holds for the state changes and the
	// large store. Default: 1,000,000.
	Records int
	// Bytes is the size of the file to scan and take in. Default: 200,000,000.
	Bytes int64
	// Talk gets progress lines; nil is silent.
	Talk io.Writer
}

func (o *Options) setDefaults() {
	if o.For == 0 {
		o.For = 5 * time.Second
	}
	if o.Producers == 0 {
		o.Producers = 64
	}
	if o.Workers == 0 {
		o.Workers = 64
	}
	if o.Records == 0 {
		o.Records = 1_000_000
	}
	if o.Bytes == 0 {
		o.Bytes = 200_000_000
	}
	if o.Talk == nil {
		o.Talk = io.Discard
	}
}

// scenarios are what Run takes, in order.
var scenarios = []struct {
	name string
	run  func(context.Context, Options, func(Result)) error
}{
	{"scan", scan},
	{"ingest", ingest},
	{"insert", insert},
	{"change", change},
	{"large", large},
	{"rx-codec", rxCodec},
	{"rx-accept", rxAccept},
	{"rx-e2e", rxEndToEnd},
	{"rx-fail", rxFail},
	{"rx-replay", rxReplay},
	{"rx-http", rxHTTP},
}

// Scenarios are the names Run takes, in order.
var Scenarios = func() (names []string) {
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}()

// Run measures the named scenarios and hands each figure to emit as it is known.
func Run(ctx context.Context, names []string, o Options, emit func(Result)) error {
	o.setDefaults()
	for _, n := range names {
		i := slices.Index(Scenarios, n)
		if i < 0 {
			return fmt.Errorf("no scenario %q: choose from %s", n, strings.Join(Scenarios, ", "))
		}
		_, _ = fmt.Fprintln(o.Talk, "measuring", n)
		if err := scenarios[i].run(ctx, o, emit); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	return nil
}

// load is what drive measured.
type load struct {
	rate     float64       // operations a second
	p50, p99 time.Duration // of one operation, as its producer saw it
	cpu      time.Duration // user and system time of the process, per operation
}

// drive runs f from n goroutines for the given time.
func drive(n int, d time.Duration, f func(r *rand.Rand) error) (load, error) {
	var (
		wg   sync.WaitGroup
		stop atomic.Bool
		mu   sync.Mutex
		lats []time.Duration
		fail error
	)
	t0, c0 := time.Now(), cpuTime()
	for p := range n {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(p), uint64(t0.UnixNano())))
			var mine []time.Duration
			var err error
			for !stop.Load() && err == nil {
				t := time.Now()
				err = f(r)
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
	time.Sleep(d)
	stop.Store(true)
	wg.Wait()
	el, cpu := time.Since(t0), cpuTime()-c0
	if fail != nil || len(lats) == 0 {
		return load{}, fail
	}
	return load{
		rate: float64(len(lats)) / el.Seconds(), p50: percentile(lats, .50), p99: percentile(lats, .99),
		cpu: cpu / time.Duration(len(lats)),
	}, nil
}

func (l load) emit(scenario string, emit func(Result)) {
	emit(Result{scenario, "rate", l.rate, "per second"})
	emit(Result{scenario, "p50", ms(l.p50), "ms"})
	emit(Result{scenario, "p99", ms(l.p99), "ms"})
	emit(Result{scenario, "cpu", float64(l.cpu.Nanoseconds()) / 1000, "us per operation"})
}

func percentile(d []time.Duration, p float64) time.Duration {
	slices.Sort(d)
	return d[int(float64(len(d)-1)*p)]
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func cpuTime() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// rssMB is the resident memory of the process in MB (10^6 bytes), from /proc; 0
// where there is none.
func rssMB(field string) float64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(l, field+":"); ok {
			var kb float64
			_, _ = fmt.Sscan(rest, &kb)
			return kb * 1024 / 1e6
		}
	}
	return 0
}

// resetPeak gives unused memory back and starts the peak (VmHWM) anew, so that one
// scenario's memory is not taken for another's.
func resetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // Linux only; elsewhere there is no figure either
}

// pseudo returns 16 bytes that look random and depend on n only.
func pseudo(n uint64) (k [16]byte) {
	h := sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
	copy(k[:], h[:])
	return k
}
