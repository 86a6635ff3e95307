package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/audit"
)

// bundle is a log with its key in a directory of its own.
type bundle struct {
	*audit.Log
	dir      string
	o        audit.Options
	signer   note.Signer
	verifier note.Verifier
}

func newKey(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, "claimdlq-audit")
	if err != nil {
		t.Fatal(err)
	}
	s, err1 := note.NewSigner(skey)
	v, err2 := note.NewVerifier(vkey)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return s, v
}

func setup(t testing.TB, o audit.Options) *bundle {
	t.Helper()
	b := &bundle{dir: filepath.Join(t.TempDir(), "audit"), o: o}
	b.signer, b.verifier = newKey(t)
	b.open(t)
	return b
}

func (b *bundle) open(t testing.TB) {
	t.Helper()
	l, err := audit.OpenWith(b.dir, b.signer, b.o)
	if err != nil {
		t.Fatal(err)
	}
	b.Log = l
	t.Cleanup(func() { _ = l.Close() })
}

// entries returns entries first to last, each with another shape.
func entries(first, last uint64) (out []claimdlq.Entry) {
	for seq := first; seq <= last; seq++ {
		e := claimdlq.Entry{
			Seq: seq, At: time.Date(2026, 3, 1, 12, 0, int(seq), 5_000_000, time.UTC),
			Actor: "system:intake", Action: claimdlq.ActReceive, Record: claimdlq.ID(seq * 10), To: claimdlq.StateQueued,
		}
		if seq%3 == 0 {
			e.Actor, e.Action, e.Note = "TESTANALYST", claimdlq.ActReplay, fmt.Sprintf(`fixed "payer id" \ %d`, seq)
			e.Submission, e.PayloadRevision, e.Detail = 7, 2, claimdlq.NewDetail("IK4:CLM05")
			e.From = claimdlq.StateQuarantined
		}
		out = append(out, e)
	}
	return out
}

func (b *bundle) add(t testing.TB, first, last uint64) {
	t.Helper()
	if err := b.Append(entries(first, last)); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) verify(t testing.TB, kept []byte) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), b.dir, b.verifier, kept)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bundle) sound(t testing.TB, size uint64) {
	t.Helper()
	if r := b.verify(t, nil); !r.OK() || r.Entries != size {
		t.Fatalf("%d entries, want %d; problems: %v", r.Entries, size, r.Problems)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAppend_LinesAreCanonical(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{})
	e := entries(3, 3)[0]
	e.Seq, e.At = 1, e.At.In(time.FixedZone("", 3600))
	if err := b.Append([]claimdlq.Entry{e}); err != nil {
		t.Fatal(err)
	}
	got := read(t, filepath.Join(b.dir, "00000000000000000001.jsonl"))
	want := `{"seq":1,"at":"2026-03-01T12:00:03.005Z","actor":"TESTANALYST","action":"replay","record":30,"submission":7,` +
		`"payload_revision":2,"detail":"IK4:CLM05","from":"quarantined","to":"queued","note":"fixed \"payer id\" \\ 3","chain":"`
	if !strings.HasPrefix(got, want) || len(got) != len(want)+44+len("\"}\n") {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAppend_FreeTextIsBoundedAndHarmless(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"200 bytes stay":      {strings.Repeat("a", 200), strings.Repeat("a", 200)},
		"201 bytes are cut":   {strings.Repeat("a", 201), strings.Repeat("a", 200)},
		"cut between letters": {strings.Repeat("a", 199) + "é", strings.Repeat("a", 199)},
		"control characters":  {"a\n{\"seq\":2}\x00\x1b[31m\u202e\u2028b", `a{\"seq\":2}[31mb`},
		"not UTF-8":           {"a\xff\xfeb", "ab"},
		"quotes":              {`\"`, `\\\"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, audit.Options{})
			if err := b.Append([]claimdlq.Entry{{Seq: 1, Actor: "TEST", Action: claimdlq.ActPark, Note: tc.in}}); err != nil {
				t.Fatal(err)
			}
			got := read(t, filepath.Join(b.dir, "00000000000000000001.jsonl"))
			if !strings.Contains(got, `"note":"`+tc.want+`","chain"`) || strings.Count(got, "\n") != 1 {
				t.Fatalf("got %q", got)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b.sound(t, 1)
		})
	}
}

func TestAppend_PassesOverWhatItHoldsAndRefusesGaps(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{})
	b.add(t, 1, 5)
	b.add(t, 1, 5)
	b.add(t, 4, 7)
	if b.Size() != 7 {
		t.Fatalf("size %d; want 7", b.Size())
	}
	for _, gap := range [][]claimdlq.Entry{entries(9, 9), append(entries(8, 8), entries(10, 10)...)} {
		if err := b.Append(gap); !errors.Is(err, claimdlq.Corrupt) {
			t.Fatalf("got %v; want corrupt", err)
		}
	}
	if b.Size() != 7 {
		t.Fatalf("size %d after a gap; want 7", b.Size())
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.sound(t, 7)
}

func TestLog_SpansFilesAndReopens(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{FileBytes: 700, CheckpointEvery: 4})
	for seq := uint64(1); seq <= 40; seq++ {
		b.add(t, seq, seq)
		if seq%7 == 0 {
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b.sound(t, seq)
			b.open(t)
			if b.Size() != seq {
				t.Fatalf("size %d after reopen; want %d", b.Size(), seq)
			}
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.sound(t, 40)
	r := b.verify(t, nil)
	if r.Files < 10 || r.Checkpoints < 10 || r.Signed != 40 {
		t.Fatalf("%d files, %d checkpoints, signed to %d", r.Files, r.Checkpoints, r.Signed)
	}
}

func TestCheckpoint_IsSignedAndOnlyMadeForSomethingNew(t *testing.T) {
	t.Parallel()
	b := setup(t, audit.Options{CheckpointEvery: 3})
	if msg, err := b.Checkpoint(); err != nil || msg != nil {
		t.Fatalf("an empty log was signed: %q, %v", msg, err)
	}
	b.add(t, 1, 2)
	if r := b.verify(t, nil); r.Checkpoints != 0 || r.Signed != 0 {
		t.Fatalf("signed after 2 of 3 entries")
	}
	b.add(t, 3, 3)
	if r := b.verify(t, nil); r.Checkpoints != 1 || r.Signed != 3 {
		t.Fatalf("not signed after 3 of 3 entries")
	}
	b.add(t, 4, 4)
	first, err1 := b.Checkpoint()
	again, err2 := b.Checkpoint()
	if err := errors.Join(err1, err2); err != nil || string(first) != string(again) {
		t.Fatalf("two checkpoints of one size, %v", err)
	}
	h, err := audit.ParseCheckpoint(first, b.verifier)
	if err != nil || h.Size != 4 {
		t.Fatalf("%+v, %v", h, err)
	}
	if last, err := audit.LastCheckpoint(b.dir); err != nil || string(last) != string(first) {
		t.Fatalf("last checkpoint: %v", err)
	}
	_, other := newKey(t)
	if _, err := audit.ParseCheckpoint(first, other); !errors.Is(err, claimdlq.Corrupt) {
		t.Fatalf("another key verified it: %v", err)
	}
}
