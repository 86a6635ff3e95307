package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"claimdlq/internal/testclaims"
)

// TestCrashBackup_AKilledBackupIsNoneOrAWholeOne kills the program at chosen system calls
// of a backup that follows another. What it leaves is no backup, or one that restores;
// the data directory is as it was, and the next backup is made (DESIGN promises 1, 7).
func TestCrashBackup_AKilledBackupIsNoneOrAWholeOne(t *testing.T) {
	trace := tracer(t)
	type point struct {
		call string
		k    int
	}
	counts, left := backupWorld(t).calls(trace, backupArgs...), 0
	rnd, turns := rand.New(rand.NewPCG(2026, 1201)), map[string][]int{}
	for _, call := range syscalls {
		turns[call] = rnd.Perm(counts[call])
		left += counts[call]
	}
	var all []point
	for n := 0; len(all) < left; n++ { // each kind of call in turn: most of them open files
		for _, call := range syscalls {
			if n < len(turns[call]) {
				all = append(all, point{call, turns[call][n] + 1})
			}
		}
	}
	points := min(crashPoints(t)/2, len(all))
	var kills, half, whole atomic.Int64
	t.Run("points", func(t *testing.T) {
		for n, p := range all[:points] {
			t.Run(fmt.Sprintf("%d at %s %d", n, p.call, p.k), func(t *testing.T) {
				t.Parallel()
				w := backupWorld(t)
				before := fmt.Sprint(w.figures(), w.records())
				if w.run(trace(p.call, p.k), backupArgs...).killed {
					kills.Add(1)
				}
				if got := fmt.Sprint(w.figures(), w.records()); got != before {
					t.Errorf("the data directory was\n%s\nand is\n%s", before, got)
				}
				w.sound("after the crash")
				made := w.backups("to")
				whole.Add(int64(len(made) - 1))
				half.Add(int64(len(w.parts())))
				for _, name := range made { // whatever looks like a backup is one
					w.do(0, "restore", "--check", "--from", filepath.Join("to", name), "--keys-from", "keys")
				}
				for _, part := range w.parts() { // not found, or the half with the keys
					r := w.run(nil, "restore", "--check", "--from", part, "--keys-from", "keys")
					if r.code == 0 && !strings.Contains(r.stdout, "is whole") || r.code != 0 && r.code != 3 && r.code != 4 {
						t.Errorf("%s: exit %d\n%s%s", part, r.code, r.stdout, r.stderr)
					}
				}
				w.do(0, backupArgs...)
				if left := w.parts(); len(left) > 0 || len(w.backups("to")) != len(made)+1 {
					t.Errorf("after the next: %v, %v", left, w.backups("to"))
				}
				w.do(0, "ingest", w.claims("more.x12", testclaims.Options{Seed: 9, Claims: 4, ISA13: 3, FirstClaim: 100}))
				w.sound("at the end")
				w.do(0, "restore", "--from", "to", "--keys-from", "keys", "--data", "new", "--reason", "drill") // with fsck
			})
		}
	})
	t.Logf("%d points of %d, %d kills: %d left parts, %d a whole backup", points, len(all), kills.Load(), half.Load(), whole.Load())
	// Which thread makes a call is a matter of chance: some points are never reached.
	if n := int(kills.Load()); points >= 20 && (n < points/2 || half.Load() == 0) {
		t.Fatalf("only %d of %d points killed the program: the test does not test", n, points)
	}
}

var backupArgs = []string{"backup", "--to", "to", "--keys-to", "keys", "--reason", "nightly"}

// backupWorld has claims in every place, and a backup of some of them.
func backupWorld(t *testing.T) *world {
	w := newWorld(t, "answer box\ninterchanges any")
	w.do(0, "ingest", w.claims("first.x12", testclaims.Options{Seed: 7, Claims: 8, ClaimsPerSet: 4, Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{6}}}}))
	w.do(0, backupArgs...)
	w.do(0, "acks", w.box())
	w.do(0, "ingest", w.claims("second.x12", testclaims.Options{Seed: 8, Claims: 4, ISA13: 2, FirstClaim: 50}))
	return w
}

// backups returns the names of the backups in a place.
func (w *world) backups(place string) (out []string) {
	w.t.Helper()
	es, err := os.ReadDir(filepath.Join(w.dir, place))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range es {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out
}

// parts returns what an unfinished backup has left.
func (w *world) parts() []string {
	w.t.Helper()
	out, err := filepath.Glob(filepath.Join(w.dir, "*", ".part-*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}
