package filestore_test

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// unzip unpacks testdata into a directory.
func unzip(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	z, err := zip.OpenReader(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestOpen_ReadsTheFirstStores opens a store as the first version left it, with a
// snapshot, sorted runs and a compacted journal, goes on with it, and opens it again
// with the snapshot of today and without one.
func TestOpen_ReadsTheFirstStores(t *testing.T) {
	t.Parallel()
	dir := unzip(t, "store.v1.zip")
	o := small()
	o.KeepSettled, o.KeepFingerprints = 3, 20
	s := openStore(t, dir, o)
	sound(t, s)
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x12 := st.Streams[claimdlq.StreamX12]
	if st.Received != 631 || st.Records[claimdlq.StateQuarantined] != 164 || st.Records[claimdlq.StateWithdrawn] != 9 || !st.OldestAt.Equal(at(6)) {
		t.Fatalf("the store counts %+v", st)
	}
	for state, n := range st.Records {
		if x12.Records[state] != n {
			t.Fatalf("%v: %d of stream 837, there are %d", state, x12.Records[state], n)
		}
	}
	if !x12.OldestAt.Equal(st.OldestAt) || !x12.OldestParkedAt.Equal(st.OldestParkedAt) {
		t.Fatalf("the oldest of stream 837 are %v and %v", x12.OldestAt, x12.OldestParkedAt)
	}
	// A record of then takes a step of now: its encoding changes, its history goes on.
	old, err := s.List(t.Context(), store.Filter{State: claimdlq.StateQuarantined}, 0, 1)
	if err != nil || len(old) == 0 {
		t.Fatalf("list: %d, %v", len(old), err)
	}
	next, err := old[0].Replay("v2026.08", at(1000))
	if err != nil {
		t.Fatal(err)
	}
	next.Response = claimdlq.PayloadRef{Unit: "testanswer", Length: 9}
	if _, err := s.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{next}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Snapshot(t.Context()); err != nil { // with what compaction has moved
		t.Fatal(err)
	}
	want := dump(t, s, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"with a snapshot", "without a snapshot"} {
		s := openStore(t, dir, o)
		if replayed := filestore.Replayed(s); (replayed < 50) != (what == "with a snapshot") {
			t.Fatalf("opened %s: %d changes were replayed", what, replayed)
		}
		differ(t, "opened "+what, dump(t, s, 0), want)
		sound(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		removeSnapshot(t, dir)
	}
}

// removeSnapshot makes sure that a store is opened from its journal.
func removeSnapshot(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "snapshot")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestOpen_ReadsStoresFromBeforeReleases opens a store as the version before releases
// left it, by its snapshot and from its journal, releases what is quarantined, and opens
// it again.
func TestOpen_ReadsStoresFromBeforeReleases(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"by its snapshot", "from its journal"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := unzip(t, "store.v2.zip")
			if how == "from its journal" {
				removeSnapshot(t, dir)
			}
			o := small()
			o.KeepSettled, o.KeepFingerprints = 3, 20
			s := openStore(t, dir, o)
			sound(t, s)
			st, err := s.Stats(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if st.Received != 1253 || st.Records[claimdlq.StateQuarantined] != 335 || st.Records[claimdlq.StateQueued] != 80 || st.Difference() != 0 {
				t.Fatalf("the store counts %+v", st)
			}
			rs, err := s.List(t.Context(), store.Filter{State: claimdlq.StateQuarantined, Partner: "ZZ:TESTPAYER1"}, 0, 50)
			if err != nil || len(rs) != 50 {
				t.Fatalf("%d records, %v", len(rs), err)
			}
			slices.Reverse(rs)
			l := store.Release{At: at(1000), RuleVersion: "v2026.09", Partner: rs[0].Partner, Stream: rs[0].Stream, Bulk: true}
			for _, r := range rs {
				l.Records = append(l.Records, store.Released{ID: r.ID, Revision: r.Revision})
			}
			commitRelease(t, s, l)
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := dump(t, s, 502)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir, o)
			differ(t, "opened again", dump(t, s, 502), want)
			sound(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
