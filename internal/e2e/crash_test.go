package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimdlq/internal/testclaims"
	"claimdlq/internal/testtool"
)

// syscalls are the calls at which the program is killed: all by which it changes
// anything outside itself.
var syscalls = []string{"pwrite64", "write", "fdatasync", "fsync", "openat", "renameat,renameat2,rename", "ftruncate", "unlinkat,unlink", "mkdirat", "linkat"}

// crashPoints is how many kills the run makes: CLAIMDLQ_CRASH_POINTS, or a few.
func crashPoints(t *testing.T) int {
	s := os.Getenv("CLAIMDLQ_CRASH_POINTS")
	if s == "" {
		if testing.Short() {
			t.Skip("crash points are not run with -short")
		}
		return 40
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("CLAIMDLQ_CRASH_POINTS: %v", err)
	}
	return n
}

// tracer returns the command line before the program that kills it at the kth of
// the named system calls.
func tracer(t *testing.T) func(call string, k int) []string {
	path := testtool.Path(t, "strace")
	return func(call string, k int) []string {
		return []string{path, "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, k)}
	}
}

// A step is one command of the scenario. Every step can be given again after a
// crash; that is what an operator does.
type step struct {
	name string
	args func(w *world) []string
}

// scenario is the life of a small file: three sets of four claims, one bad; the
// bad claim is corrected and replayed; the payer's acknowledgments come in a box.
var scenario = []step{
	{"ingest", func(w *world) []string { return []string{"ingest", filepath.Join(w.dir, "claims.x12")} }},
	{"acks", func(w *world) []string { return []string{"acks", w.box()} }},
	{"correct", func(w *world) []string {
		return []string{"correct", w.held(), "--insert", "REF[2]=HI*ABK:J069*ABF:E119*ABF:I10", "--reason", "diagnosis was left out"}
	}},
	{"replay", func(w *world) []string { return []string{"replay", w.held(), "--reason", "corrected"} }},
	{"acks of the replay", func(w *world) []string { return []string{"acks", w.box()} }},
}

// held names the record of the claim that was bad.
func (w *world) held() string {
	w.t.Helper()
	for _, r := range w.records() {
		if r.Scope == "claim" {
			return strconv.FormatUint(r.ID, 10)
		}
	}
	w.t.Fatal("no claim was held")
	return ""
}

func crashWorld(t *testing.T) *world {
	w := newWorld(t, "answer box\ninterchanges any")
	w.claims("claims.x12", testclaims.Options{Seed: 7, Claims: 12, ClaimsPerSet: 4, Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{6}}}})
	return w
}

// TestCrash_KilledAtAnySystemCallNothingIsLostOrSentTwice kills the program at
// chosen system calls and at random moments of each step, starts it again, and
// finishes the scenario (DESIGN promises 1, 2, 3 and 9).
func TestCrash_KilledAtAnySystemCallNothingIsLostOrSentTwice(t *testing.T) {
	points := crashPoints(t)
	trace := tracer(t)
	// First see how many calls each step makes, so that the points are spread evenly.
	type point struct {
		step int
		call string
		k    int
		wait time.Duration
	}
	var all []point
	counts, lengths := countCalls(t, trace), timeSteps(t)
	for i := range scenario {
		for _, call := range syscalls {
			for k := 1; k <= counts[i][call]; k++ {
				all = append(all, point{step: i, call: call, k: k})
			}
		}
		for n := range 40 {
			all = append(all, point{step: i, wait: lengths[i] * time.Duration(n) / 40})
		}
	}
	rnd := rand.New(rand.NewPCG(2026, 837))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	t.Logf("%d points exist; %d are taken", len(all), min(points, len(all)))
	var kills atomic.Int64
	t.Run("points", func(t *testing.T) {
		for n, p := range all[:min(points, len(all))] {
			name := fmt.Sprintf("%d %s at %s %d", n, scenario[p.step].name, p.call, p.k)
			if p.call == "" {
				name = fmt.Sprintf("%d %s after %s", n, scenario[p.step].name, p.wait)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := crashWorld(t)
				for i, s := range scenario {
					args := s.args(w)
					if i != p.step {
						w.do(0, args...)
						continue
					}
					var r result
					if p.call != "" {
						r = w.run(trace(p.call, p.k), args...)
					} else {
						r = w.killAfter(p.wait, args...)
					}
					if r.killed {
						kills.Add(1)
					}
					// Killed before it had made a data directory, there is none to check.
					if _, err := os.Stat(filepath.Join(w.data, "LOCK")); err == nil {
						w.sound("after the crash")
					}
					w.once("after the crash")
					w.again(s)
				}
				w.finish()
			})
		}
	})
	t.Logf("%d points, %d kills", min(points, len(all)), kills.Load())
	// Which thread makes a call is a matter of chance: some points are never reached.
	if n := int(kills.Load()); points >= 40 && n < points/2 {
		t.Fatalf("only %d of %d points killed the program: the test does not test", n, points)
	}
}

// timeSteps returns how long each step takes when nothing disturbs it, so that the
// random moments lie within it on a fast machine and on a slow one.
func timeSteps(t *testing.T) []time.Duration {
	t.Helper()
	w := crashWorld(t)
	var out []time.Duration
	for _, s := range scenario {
		args := s.args(w)
		began := time.Now()
		w.do(0, args...)
		out = append(out, time.Since(began))
	}
	return out
}

// again gives a step after a crash as an operator would: what has happened
// already is suppressed, and what is in doubt is asked for.
func (w *world) again(s step) {
	w.t.Helper()
	r := w.run(nil, s.args(w)...)
	switch {
	case r.code == 0:
	case r.code == 6 && s.name == "replay", r.code == 3 && s.name == "correct":
		// Done before the crash: the guard suppresses a second replay, and a second HI
		// is one too many.
	default:
		w.t.Fatalf("%s again: exit %d\n%s%s", s.name, r.code, r.stdout, r.stderr)
	}
	// One inquiry settles all that went out with the record.
	for d := w.records("--state", "in_doubt"); len(d) > 0; d = w.records("--state", "in_doubt") {
		w.do(0, "inquire", strconv.FormatUint(d[0].ID, 10), "--reason", "the program was stopped")
	}
	w.do(0, "deliver", "--wait=30s")
}

// finish lets what is still open come to its end and checks it.
func (w *world) finish() {
	w.t.Helper()
	w.do(0, "acks", w.box())
	w.sound("at the end")
	w.once("at the end")
	f := w.figures()
	if f.Received != 12 || f.Claims["settled"] != 12 || f.Difference != 0 {
		w.t.Fatalf("12 claims went in, want 12 settled: %+v\n%v", f, w.records())
	}
	if n := len(w.payer.Accepted()); n != 12 {
		w.t.Fatalf("the payer accepted %d claims, want 12", n)
	}
}

// killAfter starts the program and kills it after the given time.
func (w *world) killAfter(d time.Duration, args ...string) result {
	w.t.Helper()
	return w.run([]string{"timeout", "--signal=KILL", fmt.Sprintf("%.3fs", max(d, time.Millisecond).Seconds())}, args...)
}

// countCalls runs the scenario once under the tracer and counts each call of
// each step.
func countCalls(t *testing.T, trace func(string, int) []string) []map[string]int {
	w := crashWorld(t)
	counts := make([]map[string]int, len(scenario))
	for i, s := range scenario {
		counts[i] = w.calls(trace, s.args(w)...)
	}
	w.finish()
	return counts
}

// calls runs a command to its end under the tracer and counts its calls.
func (w *world) calls(trace func(string, int) []string, args ...string) map[string]int {
	w.t.Helper()
	log := filepath.Join(w.dir, "calls")
	wrap := trace(strings.Join(syscalls, ","), 1<<15)
	wrap[4] = log
	wrap[3] = "-o"
	r := w.run(wrap[:len(wrap)-2], args...)
	if r.code != 0 {
		w.t.Fatalf("%s under the tracer: exit %d\n%s%s", args[0], r.code, r.stdout, r.stderr)
	}
	return tally(w.t, log)
}
