package filestore_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"claimdlq/store/filestore"
	"claimdlq/store/memstore"
)

// twins makes the same workload on a file store and on the model.
func twins(t *testing.T, s *filestore.Store, seed uint64, steps, every int) (w, model *workload) {
	t.Helper()
	w = &workload{s: s, rnd: rand.New(rand.NewPCG(seed, 9))}
	model = &workload{s: memstore.New(), rnd: rand.New(rand.NewPCG(seed, 9))}
	for n := range steps {
		if err := w.step(t.Context()); err != nil {
			t.Fatalf("seed %d step %d: %v", seed, n, err)
		}
		if err := model.step(t.Context()); err != nil {
			t.Fatalf("seed %d step %d of the model: %v", seed, n, err)
		}
		if every > 0 && n%every == every-1 {
			if err := s.Compact(t.Context()); err != nil {
				t.Fatalf("seed %d compact: %v", seed, err)
			}
		}
	}
	return w, model
}

// TestCompact_ChangesNothingThatCanBeRead pins that eviction, snapshots and
// compaction, as eager as can be, are not seen from outside, and that they keep the
// journal small.
func TestCompact_ChangesNothingThatCanBeRead(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 1+3/under; seed++ {
		fs := newMemFS()
		s, err := filestore.Open("/store", tiny(fs))
		if err != nil {
			t.Fatal(err)
		}
		w, model := twins(t, s, seed, 1500, 50)
		want := dump(t, model.s, model.prints)
		differ(t, "before closing", dump(t, s, w.prints), want)
		sound(t, s)
		if c := fs.chunks(); len(c) > 12 || c[0] < "/store/chunk-000000000015" {
			t.Fatalf("seed %d: chunks are left from %s on: %d", seed, c[0], len(c))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"with its snapshot", "without a snapshot"} {
			s, err := filestore.Open("/store", tiny(fs))
			if err != nil {
				t.Fatalf("seed %d opened %s: %v", seed, name, err)
			}
			differ(t, "opened "+name, dump(t, s, w.prints), want)
			sound(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			delete(fs.names, "/store/snapshot")
		}
	}
}

// TestCompact_WaitsForTheAuditLog pins that no audit entry goes before the audit
// log has it.
func TestCompact_WaitsForTheAuditLog(t *testing.T) {
	t.Parallel()
	fs := newMemFS()
	s, err := filestore.Open("/store", tiny(fs))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for ; len(fs.chunks()) < 5; n++ {
		insert(t, s, n)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(entries(t, s, 1)); got != n {
		t.Fatalf("%d entries are left of %d", got, n)
	}
	first := fs.chunks()[0]
	if err := s.AuditedTo(t.Context(), uint64(n)); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := fs.chunks()[0]; got == first {
		t.Fatalf("the oldest chunk is %s still", got)
	}
	sound(t, s)
}

// TestSnapshot_IsUsedAndNeverNeeded pins that opening reads the snapshot rather
// than the journal behind it, and that without it, or with a damaged one, the
// journal gives the same.
func TestSnapshot_IsUsedAndNeverNeeded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	o := small()
	o.KeepSettled = 1000
	s := openStore(t, dir, o)
	w, model := twins(t, s, 11, 400, 0)
	if err := s.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 20 { // and some that the snapshot does not have
		w.choice, model.choice = 0, 0
		if err := w.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := model.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := dump(t, model.s, model.prints)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "snapshot")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{"as it is": whole, "cut short": whole[:len(whole)/2], "empty": nil}
	for i := range max(1, 20/under) {
		b := append([]byte(nil), whole...)
		b[i*len(b)/20+len(b)/40] ^= 0x10
		damaged["one bit off at "+string(rune('a'+i))] = b
	}
	for what, b := range damaged {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openStore(t, dir, o)
		if replayed := filestore.Replayed(s); (replayed < 100) != (what == "as it is") {
			t.Fatalf("snapshot %s: %d changes were replayed", what, replayed)
		}
		differ(t, "snapshot "+what, dump(t, s, w.prints), want)
		sound(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
