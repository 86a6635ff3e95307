package audit_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/store"
	"claimdlq/store/memstore"
)

// snapshot is what a directory held at some moment.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range list(t, dir) {
		out[path] = read(t, path)
	}
	return out
}

// TestLog_SurvivesACrashAtEachStep takes the directory as it is after each write
// (whole and half done), opens it, and goes on.
func TestLog_SurvivesACrashAtEachStep(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{FileBytes: 900, CheckpointEvery: 4})
	type moment struct {
		files map[string]string
		acked uint64
	}
	var moments []moment
	var acked uint64
	take := func() { moments = append(moments, moment{snapshot(t, b.dir), acked}) }
	b.SetDisk(func(f *os.File, p []byte, off int64) error {
		take()
		if _, err := f.WriteAt(p[:len(p)/2], off); err != nil {
			return err
		}
		take()
		_, err := f.WriteAt(p, off)
		take()
		return err
	}, (*os.File).Sync)
	for seq := uint64(1); seq <= 9; seq += 3 {
		b.add(t, seq, seq+2)
		acked = seq + 2
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	take()
	for i, m := range moments {
		c := &bundle{dir: t.TempDir(), o: b.o, signer: b.signer, verifier: b.verifier}
		for path, content := range m.files {
			write(t, filepath.Join(c.dir, filepath.Base(path)), []byte(content))
		}
		c.open(t)
		if c.Size() < m.acked {
			t.Fatalf("moment %d: %d entries; %d were acknowledged", i, c.Size(), m.acked)
		}
		c.add(t, 1, 12) // the follower starts again where the log says it is
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c.sound(t, 12)
	}
	if len(moments) < 20 {
		t.Fatalf("only %d moments", len(moments))
	}
}

func TestOpen_MakesLostHashesAnew(t *testing.T) {
	t.Parallel()
	b, _ := closed(t, 20)
	path := filepath.Join(b.dir, "hashes")
	good := read(t, path)
	for _, n := range []int{0, 1, 32, 33, len(good) / 2, len(good) - 32, len(good)} {
		write(t, path, []byte(good[:n]))
		b.open(t)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		b.sound(t, 20)
	}
	write(t, path, []byte(good+strings.Repeat("x", 64)))
	b.open(t)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.sound(t, 20)
}

func TestOpen_KeepsADamagedTailAsideAndRefusesDamageToWhatIsSigned(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{})
	b.add(t, 1, 3)
	if _, err := b.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	b.add(t, 4, 6)
	path := filepath.Join(b.dir, "00000000000000000001.jsonl")
	good := read(t, path)

	write(t, path, []byte(strings.Replace(good, `"seq":5`, `"seq":x`, 1)))
	l, err := audit.Open(b.dir, b.signer)
	if err != nil || l.Size() != 4 {
		t.Fatalf("size %d, %v; want 4", l.Size(), err)
	}
	if aside := read(t, filepath.Join(b.dir, "00000000000000000005.damaged")); !strings.Contains(aside, `"seq":x`) {
		t.Fatalf("aside: %q", aside)
	}
	if err := l.Append(entries(5, 6)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b.sound(t, 6)
	if r := b.verify(t, nil); r.Aside != 1 {
		t.Fatalf("%d tails aside; want 1", r.Aside)
	}

	for what, bad := range map[string]string{
		"changed": strings.Replace(good, `"seq":3`, `"seq":x`, 1), "cut": good[:len(good)/3], "emptied": "",
	} {
		write(t, path, []byte(bad))
		if _, err := audit.Open(b.dir, b.signer); !errors.Is(err, claimdlq.Corrupt) {
			t.Errorf("%s: %v; want corrupt", what, err)
		}
		if read(t, path) != bad {
			t.Errorf("%s: opening changed the evidence", what)
		}
	}
}

func TestAppend_AFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{CheckpointEvery: 2})
	b.add(t, 1, 1)
	for fail := range 3 { // the lines, the hashes, the checkpoint
		n := 0
		b.SetDisk(func(f *os.File, p []byte, off int64) error {
			if n++; n == fail+1 {
				_, _ = f.WriteAt(p[:len(p)/2], off)
				return &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
			}
			_, err := f.WriteAt(p, off)
			return err
		}, (*os.File).Sync)
		first := b.Size() + 1
		err := b.Append(entries(first, first+1))
		if !errors.Is(err, claimdlq.Unavailable) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("write %d: %v; want unavailable", fail, err)
		}
		b.add(t, first, first+1)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.sound(t, 7)
}

func TestAppend_AFailedFsyncStopsTheLog(t *testing.T) {
	t.Parallel()
	var fatal error
	b := setup(t, audit.Options{Fatal: func(err error) { fatal = err }})
	b.add(t, 1, 1)
	b.SetDisk(func(f *os.File, p []byte, off int64) error { _, err := f.WriteAt(p, off); return err },
		func(*os.File) error { return syscall.EIO })
	if err := b.Append(entries(2, 2)); !errors.Is(err, claimdlq.Unavailable) || !errors.Is(fatal, syscall.EIO) {
		t.Fatalf("%v, fatal %v", err, fatal)
	}
	b.SetDisk(func(f *os.File, p []byte, off int64) error { _, err := f.WriteAt(p, off); return err }, (*os.File).Sync)
	if err := b.Append(entries(2, 2)); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("went on after a failed fsync: %v", err)
	}
}

// stored returns a memstore that holds entries 1 to n.
func stored(t *testing.T, n int) *memstore.Store {
	t.Helper()
	s := memstore.New()
	more(t, s, n)
	return s
}

func more(t *testing.T, s store.Store, n int) {
	t.Helper()
	if _, err := s.Commit(t.Context(), store.Batch{Entries: entries(1, uint64(n))}); err != nil {
		t.Fatal(err)
	}
}

func held(t *testing.T, s store.Store) (seqs []uint64) {
	t.Helper()
	err := s.Entries(t.Context(), 1, func(e claimdlq.Entry) bool { seqs = append(seqs, e.Seq); return true })
	if err != nil {
		t.Fatal(err)
	}
	return seqs
}

func TestDrain_MovesEntriesAndSignsWhenThereIsNothingNew(t *testing.T) {
	t.Parallel()
	b, s := setup(t, audit.Options{}), stored(t, 10)
	if n, err := audit.Drain(t.Context(), s, b.Log); n != 10 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if left := held(t, s); len(left) != 0 {
		t.Fatalf("the store still holds %v", left)
	}
	if r := b.verify(t, nil); r.Signed != 0 {
		t.Fatalf("signed in the middle of the work: %d", r.Signed)
	}
	if n, err := audit.Drain(t.Context(), s, b.Log); n != 0 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if r := b.verify(t, nil); !r.OK() || r.Signed != 10 {
		t.Fatalf("signed %d; want 10; %v", r.Signed, r.Problems)
	}
}

// dying is a source whose AuditedTo does not get through.
type dying struct{ store.Store }

func (dying) AuditedTo(context.Context, uint64) error { return claimdlq.Unavailable }

func TestDrain_RepeatsNothingAfterACrashBeforeAuditedTo(t *testing.T) {
	t.Parallel()
	b, s := setup(t, audit.Options{}), stored(t, 5)
	if _, err := audit.Drain(t.Context(), dying{s}, b.Log); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
	if len(held(t, s)) != 5 {
		t.Fatal("the store dropped entries it was not told about")
	}
	b.open(t)
	if n, err := audit.Drain(t.Context(), s, b.Log); n != 0 || err != nil {
		t.Fatalf("%d entries again, %v", n, err)
	}
	if len(held(t, s)) != 0 || b.Size() != 5 {
		t.Fatalf("store holds %v, log %d", held(t, s), b.Size())
	}
}

func TestDrain_RefusesAStoreThatHasLostEntries(t *testing.T) {
	t.Parallel()
	b, s := setup(t, audit.Options{}), stored(t, 5)
	if err := s.AuditedTo(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Drain(t.Context(), s, b.Log); !errors.Is(err, claimdlq.Corrupt) || b.Size() != 0 {
		t.Fatalf("%v, size %d", err, b.Size())
	}
}

func TestFollow_CopiesAtEachTickAndOnceMoreAtTheEnd(t *testing.T) {
	t.Parallel()
	b, s := setup(t, audit.Options{}), stored(t, 3)
	tick, done := make(chan time.Time), make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- audit.Follow(ctx, s, b.Log, tick) }()
	tick <- time.Time{} // taken after the first pass
	if b.Size() != 3 {
		t.Fatalf("size %d; want 3", b.Size())
	}
	more(t, s, 4)
	tick <- time.Time{}
	tick <- time.Time{} // the pass between the two has ended
	if b.Size() != 7 {
		t.Fatalf("size %d; want 7", b.Size())
	}
	more(t, s, 2)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if b.Size() != 9 || len(held(t, s)) != 0 {
		t.Fatalf("size %d; want 9", b.Size())
	}
}

// full is a source that cannot be used for a while, as on a full disk.
type full struct {
	audit.Source

	fails int
}

func (f *full) Entries(ctx context.Context, from uint64, each func(claimdlq.Entry) bool) error {
	if f.fails > 0 {
		f.fails--
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "test"}
	}
	return f.Source.Entries(ctx, from, each)
}

func TestFollow_GoesOnWhenTheDiskHasRoomAgain(t *testing.T) {
	t.Parallel()
	b, s := setup(t, audit.Options{}), stored(t, 3)
	tick, done := make(chan time.Time), make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- audit.Follow(ctx, &full{Source: s, fails: 2}, b.Log, tick) }()
	for range 3 {
		select {
		case tick <- time.Time{}:
		case err := <-done:
			t.Fatalf("it has ended: %v", err)
		}
	}
	tick <- time.Time{} // the third pass has ended
	if b.Size() != 3 {
		t.Errorf("size %d; want 3", b.Size())
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestExport_SelectsAndProves(t *testing.T) {
	t.Parallel()
	b, _ := closed(t, 20)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := b.lines(t)
	for name, tc := range map[string]struct {
		f    audit.Filter
		want []int
	}{
		"all":       {audit.Filter{}, seq(1, 20)},
		"range":     {audit.Filter{First: 5, Last: 7}, seq(5, 7)},
		"one":       {audit.Filter{First: 20, Last: 20}, seq(20, 20)},
		"none":      {audit.Filter{First: 21}, nil},
		"time":      {audit.Filter{From: at.Add(3 * time.Second), To: at.Add(5*time.Second + 5*time.Millisecond)}, seq(3, 4)},
		"record":    {audit.Filter{Record: 120}, seq(12, 12)},
		"actor":     {audit.Filter{Actor: "TESTANALYST", Last: 9}, []int{3, 6, 9}},
		"action":    {audit.Filter{Action: claimdlq.ActReplay, First: 18}, []int{18}},
		"no action": {audit.Filter{Action: claimdlq.ActPark}, nil},
	} {
		var plain, proved strings.Builder
		n, err := audit.Export(t.Context(), &plain, b.dir, tc.f)
		if err != nil || n != len(tc.want) {
			t.Fatalf("%s: %d entries, %v; want %d", name, n, err, len(tc.want))
		}
		lines := strings.SplitAfter(plain.String(), "\n")
		for i, s := range tc.want {
			if lines[i] != all[s-1] {
				t.Fatalf("%s: line %d is %s", name, i+1, lines[i])
			}
		}
		if !strings.HasPrefix(lines[len(tc.want)], `{"checkpoint":"claimdlq audit log`) {
			t.Fatalf("%s: no checkpoint", name)
		}
		tc.f.Proofs = true
		if _, err := audit.Export(t.Context(), &proved, b.dir, tc.f); err != nil {
			t.Fatal(err)
		}
		if n, err := audit.VerifyExport(strings.NewReader(proved.String()), b.verifier); err != nil || n != len(tc.want) {
			t.Fatalf("%s: %d proved, %v", name, n, err)
		}
	}
}

func seq(first, last int) (out []int) {
	for i := first; i <= last; i++ {
		out = append(out, i)
	}
	return out
}

// withProofOf returns the exported line a with the proof of b.
func withProofOf(a, b string) string {
	entry, _, _ := strings.Cut(a, `"proof"`)
	_, proof, _ := strings.Cut(b, `"proof"`)
	return entry + `"proof"` + proof
}

func TestVerifyExport_FindsChanges(t *testing.T) {
	t.Parallel()
	b, _ := closed(t, 9)
	var w strings.Builder
	if _, err := audit.Export(t.Context(), &w, b.dir, audit.Filter{First: 3, Last: 4, Proofs: true}); err != nil {
		t.Fatal(err)
	}
	good := w.String()
	if n, err := audit.VerifyExport(strings.NewReader(good), b.verifier); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(good, "\n"), "\n")
	bad := map[string]string{
		"changed":       strings.Replace(good, "system:intake", "system:intakf", 1),
		"renumbered":    strings.Replace(good, `\"seq\":4`, `\"seq\":5`, 1),
		"proof of next": withProofOf(lines[0], lines[1]) + lines[2],
		"no checkpoint": lines[0] + lines[1],
		"other head":    strings.Replace(good, `audit log\n9\n`, `audit log\n8\n`, 1),
		"nothing":       "",
		"no JSON":       "x",
	}
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		if _, err := audit.VerifyExport(strings.NewReader(bad[name]), b.verifier); !errors.Is(err, claimdlq.Corrupt) {
			t.Errorf("%s: %v; want corrupt", name, err)
		}
	}
}
