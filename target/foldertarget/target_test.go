package foldertarget_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claimdlq"
	"claimdlq/target"
	"claimdlq/target/foldertarget"
)

const name = "837-000000042.x12"

var content = strings.Repeat("TEST CLAIM BYTES ", 10000)

func parcel() target.Parcel { return holding(content) }

func holding(s string) target.Parcel {
	return target.Parcel{Name: name, Size: int64(len(s)), ISA13: 42, Content: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(s)), nil
	}}
}

func newTarget(t *testing.T, o foldertarget.Options) (*foldertarget.Target, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := foldertarget.New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

func outcome(kind claimdlq.OutcomeKind, code string, ambiguous bool) claimdlq.Outcome {
	return claimdlq.Outcome{Kind: kind, Code: claimdlq.NewDetail(code), Ambiguous: ambiguous}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		names = append(names, e.Name())
	}
	return names
}

func TestDeliver_DropsTheFileOnceAndWhole(t *testing.T) {
	t.Parallel()
	f, dir := newTarget(t, foldertarget.Options{Perm: 0o600})
	for _, want := range []string{"FOLDER_WRITTEN", "FOLDER_PRESENT"} {
		if d := f.Deliver(t.Context(), parcel()); d.Outcome != outcome(claimdlq.OutcomeSubmitted, want, false) {
			t.Fatalf("got %+v, want %s", d.Outcome, want)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || string(got) != content || len(files(t, dir)) != 1 {
		t.Fatalf("folder holds %v, %v", files(t, dir), err)
	}
	if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("permissions %v, %v", info.Mode(), err)
	}
}

func TestDeliver_NeverReplacesOtherBytes(t *testing.T) {
	t.Parallel()
	for what, other := range map[string]string{"longer": content + "X", "same length": "X" + content[1:], "empty": ""} {
		f, dir := newTarget(t, foldertarget.Options{})
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if d := f.Deliver(t.Context(), parcel()); d.Outcome != outcome(claimdlq.OutcomeRejected, "FOLDER_NAME_TAKEN", false) {
			t.Errorf("%s: got %+v", what, d.Outcome)
		}
		if got, _ := os.ReadFile(path); string(got) != other {
			t.Errorf("%s: the file was replaced", what)
		}
	}
}

func TestDeliver_OneTheClientTookCountsAsDelivered(t *testing.T) {
	t.Parallel()
	archive := t.TempDir()
	f, dir := newTarget(t, foldertarget.Options{Archive: archive})
	f.Deliver(t.Context(), parcel())
	if err := os.Rename(filepath.Join(dir, name), filepath.Join(archive, name)); err != nil {
		t.Fatal(err)
	}
	if d := f.Deliver(t.Context(), parcel()); d.Outcome != outcome(claimdlq.OutcomeSubmitted, "FOLDER_PRESENT", false) {
		t.Fatalf("got %+v", d.Outcome)
	}
	if n := files(t, dir); len(n) != 0 {
		t.Fatalf("delivered again: %v", n)
	}
}

func TestDeliver_EachStepThatFailsHasItsOutcome(t *testing.T) {
	t.Parallel()
	const transient = claimdlq.OutcomeTransient
	for what, c := range map[string]struct {
		disk foldertarget.Broken
		want claimdlq.Outcome
		left int
	}{
		"create: folder gone":       {foldertarget.Broken{Create: syscall.ENOENT}, outcome(transient, "FOLDER_MISSING", false), 0},
		"create: no permission":     {foldertarget.Broken{Create: syscall.EACCES}, outcome(transient, "FOLDER_DENIED", false), 0},
		"create: disk error":        {foldertarget.Broken{Create: syscall.EIO}, outcome(transient, "FOLDER_CREATE", false), 0},
		"write: disk full":          {foldertarget.Broken{Write: syscall.ENOSPC}, outcome(transient, "FOLDER_FULL", false), 0},
		"write: quota":              {foldertarget.Broken{Write: syscall.EDQUOT}, outcome(transient, "FOLDER_FULL", false), 0},
		"write: disk error":         {foldertarget.Broken{Write: syscall.EIO}, outcome(transient, "FOLDER_WRITE", false), 0},
		"sync: disk full":           {foldertarget.Broken{Sync: syscall.ENOSPC}, outcome(transient, "FOLDER_FULL", false), 0},
		"close: disk error":         {foldertarget.Broken{Close: syscall.EIO}, outcome(transient, "FOLDER_WRITE", false), 0},
		"rename: refused":           {foldertarget.Broken{Rename: syscall.EACCES}, outcome(transient, "FOLDER_DENIED", false), 0},
		"rename: no answer":         {foldertarget.Broken{Rename: syscall.EIO}, outcome(transient, "FOLDER_RENAME", true), 0},
		"rename: done, answer lost": {foldertarget.Broken{Rename: syscall.ETIMEDOUT, RenameDone: true}, outcome(transient, "FOLDER_RENAME", true), 1},
		"folder fsync: disk error":  {foldertarget.Broken{SyncDir: syscall.EIO}, outcome(transient, "FOLDER_SYNC", true), 1},
	} {
		f, dir := newTarget(t, foldertarget.Options{})
		f.Break(c.disk)
		if d := f.Deliver(t.Context(), parcel()); d.Outcome != c.want {
			t.Errorf("%s: got %+v, want %+v", what, d.Outcome, c.want)
		}
		if n := files(t, dir); len(n) != c.left {
			t.Errorf("%s: folder holds %v", what, n)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("bad disk") }

func TestDeliver_OwnBytesThatFailLeaveNothing(t *testing.T) {
	t.Parallel()
	open := func(r io.Reader, err error) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(r), err }
	}
	for what, content := range map[string]func() (io.ReadCloser, error){
		"does not open": open(nil, errors.New("no")),
		"breaks":        open(io.MultiReader(strings.NewReader("start"), failing{}), nil),
		"too short":     open(strings.NewReader("start"), nil),
	} {
		f, dir := newTarget(t, foldertarget.Options{})
		p := parcel()
		p.Content = content
		if d := f.Deliver(t.Context(), p); d.Outcome != outcome(claimdlq.OutcomeTransient, "CONTENT", false) {
			t.Errorf("%s: got %+v", what, d.Outcome)
		}
		if n := files(t, dir); len(n) != 0 {
			t.Errorf("%s: folder holds %v", what, n)
		}
	}
}

func TestDeliver_CancelledLeavesNothing(t *testing.T) {
	t.Parallel()
	f, dir := newTarget(t, foldertarget.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d := f.Deliver(ctx, parcel()); d.Outcome != outcome(claimdlq.OutcomeTransient, "CANCELLED", false) {
		t.Fatalf("got %+v", d.Outcome)
	}
	if n := files(t, dir); len(n) != 0 {
		t.Fatalf("folder holds %v", n)
	}
}

func TestDeliver_NamesStayInTheFolder(t *testing.T) {
	t.Parallel()
	f, dir := newTarget(t, foldertarget.Options{})
	for _, bad := range []string{"", ".hidden", "../up", "a/b", "A", "a b", "a\x00", strings.Repeat("a", 81)} {
		p := parcel()
		p.Name = bad
		if d := f.Deliver(t.Context(), p); d.Outcome != outcome(claimdlq.OutcomeRejected, "FOLDER_NAME_INVALID", false) {
			t.Errorf("%q: got %+v", bad, d.Outcome)
		}
		if _, known := f.Inquire(t.Context(), p); known {
			t.Errorf("%q: known", bad)
		}
	}
	if n := files(t, dir); len(n) != 0 {
		t.Fatalf("folder holds %v", n)
	}
}

func TestInquire_KnowsWhatItSees(t *testing.T) {
	t.Parallel()
	archive := t.TempDir()
	f, dir := newTarget(t, foldertarget.Options{Archive: archive})
	ask := func(want bool, when string) {
		t.Helper()
		o, known := f.Inquire(t.Context(), parcel())
		if known != want || known && o != outcome(claimdlq.OutcomeSubmitted, "FOLDER_PRESENT", false) {
			t.Fatalf("%s: got %+v, %v", when, o, known)
		}
	}
	ask(false, "before the delivery")
	f.Deliver(t.Context(), parcel())
	ask(true, "in the folder")
	if err := os.Rename(filepath.Join(dir, name), filepath.Join(archive, name)); err != nil {
		t.Fatal(err)
	}
	ask(true, "in the archive")
	if err := os.Remove(filepath.Join(archive, name)); err != nil {
		t.Fatal(err)
	}
	ask(false, "gone")
	if err := os.WriteFile(filepath.Join(dir, name), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask(false, "other bytes under the name")
}

func TestNew_WantsFoldersAndShowsNoPath(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "SECRETPATH")
	for _, c := range []struct{ dir, archive string }{{missing, ""}, {"", ""}, {t.TempDir(), missing}} {
		_, err := foldertarget.New(c.dir, foldertarget.Options{Archive: c.archive})
		if !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "SECRETPATH") {
			t.Errorf("got %v", err)
		}
	}
}

func TestSweep_RemovesWhatACrashLeft(t *testing.T) {
	t.Parallel()
	f, dir := newTarget(t, foldertarget.Options{})
	f.Deliver(t.Context(), parcel())
	if err := os.WriteFile(filepath.Join(dir, "."+name+".tmp-abc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Sweep(); err != nil {
		t.Fatal(err)
	}
	if n := files(t, dir); len(n) != 1 || n[0] != name {
		t.Fatalf("folder holds %v", n)
	}
}
