package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/internal/testclaims"
)

// used makes a data directory that has taken a file in.
func used(t *testing.T) app.Options {
	t.Helper()
	o := options(filepath.Join(t.TempDir(), "data"))
	a, err := app.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ingest(t, a, testclaims.Options{Seed: 1, Claims: 3})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

// refused opens a directory that must not open, and checks what is said.
func refused(t *testing.T, o app.Options, code claimdlq.Code, says string) {
	t.Helper()
	a, err := app.Open(t.Context(), o)
	if err == nil {
		_ = a.Close()
	}
	if !errors.Is(err, code) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %s, saying %q", err, code, says)
	}
}

// TestOpen_RefusesADirectoryOfWhichAPartIsMissing: with an empty journal, or with
// new keys, every file taken in before would look new, and be sent again.
func TestOpen_RefusesADirectoryOfWhichAPartIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ part, says string }{
		{"journal", "journal"},
		{"audit", "audit"},
		{"keys", "keys"},
	} {
		t.Run(c.part, func(t *testing.T) {
			t.Parallel()
			o := used(t)
			part := filepath.Join(o.Dir, c.part)
			if err := os.RemoveAll(part); err != nil {
				t.Fatal(err)
			}
			refused(t, o, claimdlq.Corrupt, c.says)
			refused(t, o, claimdlq.Corrupt, c.says) // nor does it heal by trying
			if _, err := os.Stat(part); c.part != "audit" && !errors.Is(err, os.ErrNotExist) {
				t.Error("another was made in its place")
			}
		})
	}
}

func TestOpen_RefusesAJournalThatIsOlderThanTheAuditLog(t *testing.T) {
	t.Parallel()
	o := used(t)
	journal := filepath.Join(o.Dir, "journal")
	old := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(old, os.DirFS(journal)); err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ingest(t, a, testclaims.Options{Seed: 2, Claims: 3, ISA13: 7})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, o).Close() // as it is, it opens
	if err := os.RemoveAll(journal); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old, journal); err != nil {
		t.Fatal(err)
	}
	refused(t, o, claimdlq.Corrupt, "restore both from one backup")
}

func TestOpen_MakesNothingInADirectoryOfOtherThings(t *testing.T) {
	t.Parallel()
	for _, create := range []bool{true, false} {
		o := options(t.TempDir())
		o.Create = create
		if err := os.WriteFile(filepath.Join(o.Dir, "letter.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if create {
			refused(t, o, claimdlq.Invalid, "other files")
		} else {
			refused(t, o, claimdlq.NotFound, "claimdlq ingest")
		}
		if names, err := os.ReadDir(o.Dir); err != nil || len(names) != 1 {
			t.Errorf("create %v: the directory now holds %v, %v", create, names, err)
		}
	}
}

func TestOpen_AnEmptyDirectoryBecomesADataDirectoryOnlyByIntake(t *testing.T) {
	t.Parallel()
	o := options(t.TempDir())
	o.Create = false
	refused(t, o, claimdlq.NotFound, "claimdlq ingest")
	// The root of a file system is as good as empty.
	if err := os.Mkdir(filepath.Join(o.Dir, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	o.Create = true
	open(t, o)
}

func TestOpen_AWrongTargetLeavesNoDirectoryBehind(t *testing.T) {
	t.Parallel()
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Targets = []string{"nowhere="}
	refused(t, o, claimdlq.Invalid, "--target")
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("a directory was made")
	}
}

func TestOpen_ADirectoryThatTookNothingInOpensAgain(t *testing.T) {
	t.Parallel()
	o := options(filepath.Join(t.TempDir(), "data"))
	for range 3 {
		if err := open(t, o).Close(); err != nil {
			t.Fatal(err)
		}
	}
}
