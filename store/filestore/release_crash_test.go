package filestore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// TestRelease_ACrashReleasesAllOrNone leaves sectors of a release unwritten, from each of
// them on and each alone, and changes its bytes: what opens has released all of its records
// or none, and can release them.
func TestRelease_ACrashReleasesAllOrNone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"from the journal", "by its snapshot"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openStore(t, dir, small())
			var b store.Batch
			for i := range 80 {
				b.Insert = append(b.Insert, quarantined(3*i))
			}
			receipt, err := s.Commit(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			if how == "by its snapshot" {
				snapshot(t, s)
			}
			none, before := dump(t, s, 0), journal(t, dir)
			l := store.Release{At: at(1000), RuleVersion: "v2026.09", Partner: b.Insert[0].Partner, Stream: b.Insert[0].Stream}
			for i, r := range receipt.Inserted {
				l.Records = append(l.Records, store.Released{ID: r.ID, Revision: 1, Bytes: uint32(i), NotBefore: at(2000 + i)})
			}
			commitRelease(t, s, l)
			all, after := dump(t, s, 0), journal(t, dir)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			from, to := differs(before, after)
			if to-from < 5*sector {
				t.Fatalf("the frame is at %d to %d", from, to)
			}
			for k := from; k < to; k += sector - k%sector {
				next := min(to, k+sector-k%sector)
				for what, end := range map[string]int{"from here on": len(after), "here": next} {
					torn := bytes.Clone(after)
					clear(torn[k:end])
					if got := reopened(t, dir, torn, l, all); got != none {
						t.Fatalf("not written %s: byte %d of %d to %d", what, k, from, to)
					}
				}
			}
			for k := from; k < to; k += 11 {
				changed := bytes.Clone(after)
				changed[k] ^= 0x41
				if got := reopened(t, dir, changed, l, all); got != "" && got != none && got != all {
					t.Fatalf("changed at byte %d of %d to %d", k, from, to)
				}
			}
		})
	}
}

const sector = 512

const firstChunk = "chunk-000000000001"

func journal(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, firstChunk))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func differs(a, b []byte) (from, to int) {
	for from < len(a) && a[from] == b[from] {
		from++
	}
	for to = len(b); to > from && a[to-1] == b[to-1]; {
		to--
	}
	return from, to
}

// reopened opens a copy of the store with another journal and returns what is in it, or
// nothing if it is refused. What was not released is then released.
func reopened(t *testing.T, dir string, chunk []byte, l store.Release, all string) string {
	t.Helper()
	at := t.TempDir()
	if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, firstChunk), chunk, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := filestore.Open(at, small())
	if err != nil {
		return ""
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	sound(t, s)
	got := dump(t, s, 0)
	if r, err := s.Get(t.Context(), l.Records[0].ID); err == nil && r.State == claimdlq.StateQuarantined {
		commitRelease(t, s, l)
		sound(t, s)
		differ(t, "released again", dump(t, s, 0), all)
	}
	return got
}
