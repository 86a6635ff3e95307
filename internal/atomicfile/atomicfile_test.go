package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"claimdlq/internal/atomicfile"
)

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteFile_ReplacesWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, want := range []string{"a longer first content", "second"} {
		if err := atomicfile.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if n := names(t, dir); len(n) != 1 {
		t.Fatalf("left behind: %v", n)
	}
}

func TestFile_IsInvisibleUntilCommitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("visible before commit: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Fatalf("second commit: %v; want ErrClosed", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "x" {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestFile_AbortLeavesTheOldContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := atomicfile.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	f.Abort()
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Fatalf("got %q; want old", got)
	}
	if n := names(t, dir); len(n) != 1 {
		t.Fatalf("left behind: %v", n)
	}
}

func TestFile_CommitOverADirectoryFailsAndCleansUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteFile(path, []byte("x"), 0o600); err == nil {
		t.Fatal("no error")
	}
	if n := names(t, dir); len(n) != 1 {
		t.Fatalf("left behind: %v", n)
	}
}

func TestCreate_InAMissingDirectoryFails(t *testing.T) {
	t.Parallel()
	_, err := atomicfile.Create(filepath.Join(t.TempDir(), "no", "a"), 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v; want ErrNotExist", err)
	}
}

func TestMkdirAll_MakesParentsAndAcceptsWhatExists(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	for range 2 {
		if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.MkdirAll(file, 0o700); err == nil {
		t.Fatal("a file in the way is no error")
	}
}

func TestSweep_RemovesOnlyTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := atomicfile.Create(filepath.Join(dir, "crashed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []string{"data", ".hidden", "a.tmp-b"} {
		if err := os.WriteFile(filepath.Join(dir, keep), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	if n := names(t, dir); len(n) != 3 {
		t.Fatalf("left: %v; want .hidden a.tmp-b data", n)
	}
}
