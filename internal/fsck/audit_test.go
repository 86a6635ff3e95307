package fsck_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/internal/fsck"
	"claimdlq/store"
)

// audited moves the world's entries into an audit log and returns what fsck needs
// to read it.
func audited(t *testing.T, w *world) func(*fsck.Deps) {
	t.Helper()
	skey, vkey, err := note.GenerateKey(rand.Reader, "claimdlq-test")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l, err := audit.Open(dir, signer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Drain(t.Context(), w.store, l); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return func(d *fsck.Deps) { d.AuditDir, d.Verifier = dir, verifier }
}

func TestRun_AuditLogAndStoreTogetherHoldEveryEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	with := audited(t, w)
	rep := check(t, &seen{}, w, with)
	if !rep.OK() || rep.Entries != 7 || rep.Unaudited != 0 {
		t.Fatalf("found %+v, %d entries, %d unaudited", rep.Findings, rep.Entries, rep.Unaudited)
	}
	w.commit(store.Batch{Entries: make([]claimdlq.Entry, 3)})
	rep = check(t, &seen{}, w, with)
	if !rep.OK() || rep.Entries != 7 || rep.Unaudited != 3 {
		t.Fatalf("found %+v, %d entries, %d unaudited", rep.Findings, rep.Entries, rep.Unaudited)
	}
	if err := w.store.AuditedTo(t.Context(), 9); err != nil { // entries 8 and 9 are nowhere now
		t.Fatal(err)
	}
	rep = check(t, &seen{}, w, with)
	if len(rep.Findings) != 1 || rep.Findings[0].Code != fsck.AuditGap || rep.Findings[0].Detail != "entries 8 to 9" {
		t.Errorf("found %+v", rep.Findings)
	}
}

func TestRun_AChangedAuditLogIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	with := audited(t, w)
	var d fsck.Deps
	with(&d)
	files, err := filepath.Glob(filepath.Join(d.AuditDir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files are %v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	b[strings.Index(string(b), `"seq":3`)+20] ^= 1
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	rep := check(t, &seen{}, w, with)
	if rep.OK() || rep.Findings[0].Code != fsck.AuditDamaged || !strings.Contains(rep.Findings[0].Detail, "entry 3") {
		t.Errorf("found %+v", rep.Findings)
	}
}

func TestRun_AnAuditLogThatIsNotThereYetIsEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	with := audited(t, newWorld(t))
	rep := check(t, &seen{}, w, func(d *fsck.Deps) {
		with(d)
		d.AuditDir = filepath.Join(t.TempDir(), "none")
	})
	if !rep.OK() || rep.Entries != 0 || rep.Unaudited != 7 {
		t.Errorf("found %+v, %d entries, %d unaudited", rep.Findings, rep.Entries, rep.Unaudited)
	}
}
