package audit_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/audit"
)

// closed returns a log of n entries in several files, cleanly closed, and its last
// checkpoint.
func closed(t testing.TB, n uint64) (*bundle, []byte) {
	t.Helper()
	b := setup(t, audit.Options{FileBytes: 900, CheckpointEvery: 5})
	for seq := uint64(1); seq <= n; seq++ {
		b.add(t, seq, seq)
	}
	kept, err := b.Checkpoint()
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	b.sound(t, n)
	return b, kept
}

func list(t testing.TB, dir string) (paths []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	return paths
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVerify_FindsAChangeOfAnyByte changes a bit of every byte of every file of a
// small log, and removes, doubles, cuts or overwrites there as well, in turns.
func TestVerify_FindsAChangeOfAnyByte(t *testing.T) {
	t.Parallel()
	b, _ := closed(t, 6)
	for _, path := range list(t, b.dir) {
		good := []byte(read(t, path))
		for i := range good {
			others := [][]byte{
				slices.Concat(good[:i], good[i+1:]),
				slices.Concat(good[:i+1], good[i:]),
				slices.Concat(good[:i], []byte{'\n'}, good[i+1:]),
				good[:i],
			}
			flipped := slices.Concat(good[:i], []byte{good[i] ^ 1<<(i%8)}, good[i+1:])
			for _, bad := range [][]byte{flipped, others[i%len(others)]} {
				if bytes.Equal(bad, good) || cutAtSeam(path, good, bad) {
					continue
				}
				write(t, path, bad)
				if r := b.verify(t, nil); r.OK() {
					t.Fatalf("%s: a change at byte %d of %d went unseen:\n%q", filepath.Base(path), i, len(good), bad)
				}
			}
		}
		write(t, path, good)
	}
	b.sound(t, 6)
}

// cutAtSeam reports whether bad only lacks the newest checkpoints: without a kept
// checkpoint that looks like a log that was not signed again yet, and the report
// says how much is signed.
func cutAtSeam(path string, good, bad []byte) bool {
	return filepath.Base(path) == "checkpoints" && bytes.HasPrefix(good, bad) &&
		(len(bad) == 0 || bytes.HasSuffix(bad, []byte("\n\n")) && bytes.Count(bad, []byte("\n\n"))%2 == 0)
}

// lines returns the lines of all files in order, each with its newline.
func (b *bundle) lines(t testing.TB) (out []string) {
	t.Helper()
	for _, path := range list(t, b.dir) {
		if strings.HasSuffix(path, ".jsonl") {
			out = append(out, strings.SplitAfter(strings.TrimSuffix(read(t, path), "\n"), "\n")...)
			out[len(out)-1] += "\n"
		}
	}
	return out
}

// TestVerify_SaysWhatWasDoneAndWhere does to one file what a person with an editor
// would do.
func TestVerify_SaysWhatWasDoneAndWhere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(lines []string) []string
		kind audit.Kind
		seq  uint64
		line int
	}{
		"an actor was changed": {func(l []string) []string {
			l[5] = strings.Replace(l[5], "TESTANALYST", "TESTNOBODY", 1)
			return l
		}, audit.Changed, 6, 6},
		"an entry was blanked":  {func(l []string) []string { l[5] = "\n"; return l }, audit.Changed, 6, 6},
		"an entry was removed":  {func(l []string) []string { return slices.Delete(l, 3, 4) }, audit.Removed, 4, 4},
		"several were removed":  {func(l []string) []string { return slices.Delete(l, 3, 6) }, audit.Removed, 4, 4},
		"the first was removed": {func(l []string) []string { return l[1:] }, audit.Removed, 1, 1},
		"an entry was doubled":  {func(l []string) []string { return slices.Insert(l, 4, l[3]) }, audit.Inserted, 4, 5},
		"a line was put in":     {func(l []string) []string { return slices.Insert(l, 4, "{}\n") }, audit.Changed, 5, 5},
		"two were swapped":      {func(l []string) []string { l[2], l[3] = l[3], l[2]; return l }, audit.Reordered, 3, 4},
		"the first was moved last": {
			func(l []string) []string { return append(l[1:], l[0]) },
			audit.Reordered, 1, 12,
		},
		"the last was removed":     {func(l []string) []string { return l[:11] }, audit.Truncated, 12, 0},
		"everything was removed":   {func([]string) []string { return nil }, audit.Truncated, 1, 0},
		"the number was rewritten": {func(l []string) []string { l[3] = strings.Replace(l[3], `"seq":4`, `"seq":400000000`, 1); return l }, audit.Changed, 4, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, audit.Options{})
			b.add(t, 1, 12)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(b.dir, "00000000000000000001.jsonl")
			write(t, path, []byte(strings.Join(tc.do(b.lines(t)), "")))
			r := b.verify(t, nil)
			if !slices.ContainsFunc(r.Problems, func(p audit.Problem) bool {
				return p.Kind == tc.kind && p.Seq == tc.seq && p.Line == tc.line
			}) {
				t.Fatalf("want %s at entry %d, line %d; got %v", tc.kind, tc.seq, tc.line, r.Problems)
			}
		})
	}
}

func TestVerify_FindsARemovedOrExchangedFile(t *testing.T) {
	t.Parallel()
	b, _ := closed(t, 20)
	files := slices.DeleteFunc(list(t, b.dir), func(p string) bool { return !strings.HasSuffix(p, ".jsonl") })
	for i, path := range files {
		good := []byte(read(t, path))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if b.verify(t, nil).OK() {
			t.Fatalf("removal of file %d of %d went unseen", i+1, len(files))
		}
		write(t, path, []byte(read(t, files[(i+1)%len(files)])+""))
		if path != files[(i+1)%len(files)] && b.verify(t, nil).OK() {
			t.Fatalf("exchange of file %d went unseen", i+1)
		}
		write(t, path, good)
	}
	for _, name := range []string{"hashes", "checkpoints"} {
		path := filepath.Join(b.dir, name)
		good := []byte(read(t, path))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		r := b.verify(t, nil)
		if name == "hashes" && r.OK() || name == "checkpoints" && r.Signed != 0 {
			t.Fatalf("removal of %s went unseen: %+v", name, r)
		}
		write(t, path, good)
	}
	b.sound(t, 20)
}

// forge makes a log of its own of n entries, the eighth of which is another, and
// puts its entries and hashes in the place of b's: chain and tree are right then.
func (b *bundle) forge(t *testing.T, n uint64) *bundle {
	t.Helper()
	f := setup(t, b.o)
	for _, e := range entries(1, n) {
		if e.Seq == 8 {
			e.Actor = "TESTNOBODY"
		}
		if err := f.Append([]claimdlq.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range list(t, f.dir) {
		if filepath.Base(path) != "checkpoints" {
			write(t, filepath.Join(b.dir, filepath.Base(path)), []byte(read(t, path)))
		}
	}
	return f
}

func TestVerify_FindsALogThatWasWrittenAnew(t *testing.T) {
	t.Parallel()
	b, kept := closed(t, 12)
	f := b.forge(t, 12)
	r := b.verify(t, nil)
	want := audit.Problem{Kind: audit.Rewritten, Seq: 6, Last: 10}
	if !slices.Contains(r.Problems, want) {
		t.Fatalf("want %v; got %v", want, r.Problems)
	}
	// With checkpoints of the forger's own key in place of ours:
	write(t, filepath.Join(b.dir, "checkpoints"), []byte(read(t, filepath.Join(f.dir, "checkpoints"))))
	if r := b.verify(t, nil); r.OK() || r.Problems[0].Kind != audit.Unsigned {
		t.Fatalf("another key's checkpoints went unseen: %v", r.Problems)
	}
	// Without any checkpoint only a kept one tells.
	write(t, filepath.Join(b.dir, "checkpoints"), nil)
	if r := b.verify(t, nil); r.Signed != 0 {
		t.Fatalf("nothing is signed, yet the report says %d", r.Signed)
	}
	if r := b.verify(t, kept); r.OK() || r.Problems[0].Kind != audit.RolledBack {
		t.Fatalf("the kept checkpoint did not tell: %v", r.Problems)
	}
}

func TestVerify_FindsARollbackAgainstAKeptCheckpoint(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{})
	b.add(t, 1, 6)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	backup := map[string]string{}
	for _, path := range list(t, b.dir) {
		backup[path] = read(t, path)
	}
	b.open(t)
	b.add(t, 7, 9)
	kept, err := b.Checkpoint()
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	if r := b.verify(t, kept); !r.OK() || r.KeptAt != 9 {
		t.Fatalf("the log itself: %+v", r)
	}
	for path, content := range backup {
		write(t, path, []byte(content))
	}
	b.sound(t, 6) // by itself it is a perfect log
	r := b.verify(t, kept)
	want := audit.Problem{Kind: audit.RolledBack, Seq: 7, Last: 9}
	if !slices.Contains(r.Problems, want) {
		t.Fatalf("want %v; got %v", want, r.Problems)
	}
	// It goes on from there, with the same key, past the size that was kept.
	b.open(t)
	for _, e := range entries(7, 12) {
		e.Actor = "TESTNOBODY"
		if err := b.Append([]claimdlq.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.sound(t, 12)
	if r := b.verify(t, kept); r.OK() || r.Problems[0].Kind != audit.RolledBack {
		t.Fatalf("went unseen: %v", r.Problems)
	}
}

func TestVerify_RefusesAKeptCheckpointOfAnotherKey(t *testing.T) {
	t.Parallel()
	b, _ := closed(t, 3)
	_, kept := closed(t, 3)
	for _, bad := range [][]byte{kept, []byte("claimdlq audit log\n"), kept[:len(kept)-2]} {
		if _, err := audit.Verify(t.Context(), b.dir, b.verifier, bad); !errors.Is(err, claimdlq.Corrupt) {
			t.Fatalf("got %v; want corrupt", err)
		}
	}
	if _, err := audit.Verify(t.Context(), filepath.Join(b.dir, "no"), b.verifier, nil); !errors.Is(err, claimdlq.NotFound) {
		t.Fatalf("got %v; want not_found", err)
	}
}

func TestVerify_ReportsAtMostAHundredProblems(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{})
	b.add(t, 1, 300)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(b.dir, "00000000000000000001.jsonl")
	write(t, path, []byte(strings.ReplaceAll(read(t, path), "2026", "2025")))
	r := b.verify(t, nil)
	if len(r.Problems) != 100 || r.More < 200 {
		t.Fatalf("%d problems and %d more", len(r.Problems), r.More)
	}
}
