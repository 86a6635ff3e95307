package filestore_test

import (
	"fmt"
	"slices"
	"testing"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// released puts n records into quarantine and releases every second one.
func released(t *testing.T, s *filestore.Store, n int) (in, out []claimdlq.ID) {
	t.Helper()
	b := store.Batch{}
	for i := range n {
		r := quarantined(3 * i) // all of one partner
		b.Insert = append(b.Insert, r)
		b.Entries = append(b.Entries, claimdlq.Entry{At: at(1), Actor: "system:test", Action: claimdlq.ActEnqueue, Record: store.ParentIndex(i)})
	}
	receipt, err := s.Commit(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	l := store.Release{At: at(1000), RuleVersion: "v2026.09", Partner: b.Insert[0].Partner, Stream: b.Insert[0].Stream, Bulk: true}
	for i, r := range receipt.Inserted {
		if i%2 == 0 {
			in = append(in, r.ID)
			continue
		}
		out = append(out, r.ID)
		m := store.Released{ID: r.ID, Revision: 1, Bytes: uint32(i), Digest: claimdlq.Digest{byte(i)}}
		if i%3 == 0 {
			m.NotBefore = at(2000 + i)
		}
		l.Records = append(l.Records, m)
	}
	commitRelease(t, s, l)
	return in, out
}

// release releases the records with the ids, which are as they were inserted.
func release(t testing.TB, s *filestore.Store, ids ...claimdlq.ID) {
	t.Helper()
	for _, id := range ids {
		r, err := s.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		commitRelease(t, s, store.Release{
			At: at(999), RuleVersion: "v2026.09", Partner: r.Partner, Stream: r.Stream, Records: []store.Released{{ID: id, Revision: r.Revision}},
		})
	}
}

func commitRelease(t testing.TB, s *filestore.Store, l store.Release) {
	t.Helper()
	ids := make([]claimdlq.ID, 0, len(l.Records))
	for _, m := range l.Records {
		ids = append(ids, m.ID)
	}
	if _, err := s.Commit(t.Context(), store.Batch{Releases: []store.Release{l}, Entries: []claimdlq.Entry{{
		At: at(1001), Actor: "ANALYST", Action: claimdlq.ActReplay, Records: claimdlq.NewIDSet(slices.Values(ids)), Note: "the payer is back",
	}}}); err != nil {
		t.Fatal(err)
	}
}

// everything is dump and every submission.
func everything(t *testing.T, s *filestore.Store, subs int) string {
	t.Helper()
	text := dump(t, s, 0)
	for i := range subs {
		sub, err := s.Submission(t.Context(), claimdlq.SubmissionID(i+1))
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("submission %+v\n", sub)
	}
	return text
}

// TestRelease_IsTheSameHoweverTheStoreIsOpened releases records and opens the store by
// its snapshot, taken before the release, between two and after both, and from the
// journal alone, and after the compaction that writes them whole.
func TestRelease_IsTheSameHoweverTheStoreIsOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"nothing", "a snapshot before", "a snapshot between", "a snapshot after", "a compaction"} {
		t.Run(c, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openStore(t, dir, small())
			_, out := released(t, s, 300)
			if c == "a snapshot before" {
				snapshot(t, s)
			}
			again, err := s.Get(t.Context(), out[7])
			if err != nil || again.State != claimdlq.StateQueued || again.Revision != 2 || again.ReplayCount != 1 {
				t.Fatalf("record %+v, %v", again, err)
			}
			// One goes its way, comes back, and is released once more.
			for _, f := range []func() (claimdlq.Record, error){
				func() (claimdlq.Record, error) { return again.Lease(8, at(1100)) },
				func() (claimdlq.Record, error) {
					return again.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Detail: claimdlq.NewDetail("HTTP_503")}, at(1101))
				},
			} {
				if again, err = f(); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{again}}); err != nil {
					t.Fatal(err)
				}
				again.Revision++
			}
			if c == "a snapshot between" {
				snapshot(t, s)
			}
			commitRelease(t, s, store.Release{
				At: at(1102), RuleVersion: "v2026.10", Partner: again.Partner, Stream: again.Stream,
				Records: []store.Released{{ID: again.ID, Revision: again.Revision, Bytes: 5}},
			})
			if c == "a snapshot after" {
				snapshot(t, s)
			}
			if c == "a compaction" {
				if err := s.AuditedTo(t.Context(), 1<<40); err != nil {
					t.Fatal(err)
				}
				fill(t, s)
				if err := s.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			sound(t, s)
			want := everything(t, s, 151)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, how := range []string{"as it was closed", "from the journal"} {
				s := openStore(t, dir, small())
				differ(t, how, everything(t, s, 151), want)
				sound(t, s)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				removeSnapshot(t, dir)
			}
		})
	}
}

func snapshot(t *testing.T, s *filestore.Store) {
	t.Helper()
	if err := s.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// fill begins chunks, so that the first may go.
func fill(t *testing.T, s *filestore.Store) {
	t.Helper()
	for i := range 400 {
		r := quarantined(10_000 + i)
		if _, err := s.Commit(t.Context(), store.Batch{Insert: []claimdlq.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRelease_IsSmall pins why there is one: what a released record takes in the journal.
func TestRelease_IsSmall(t *testing.T) {
	t.Parallel()
	l := store.Release{At: at(1), RuleVersion: "v2026.09", Partner: "610000:TESTPCN", Stream: claimdlq.StreamNCPDP}
	for i := range 1000 {
		l.Records = append(l.Records, store.Released{ID: claimdlq.ID(i + 1), Revision: 3, Bytes: 400})
	}
	if b := filestore.EncodeRelease(&l); len(b) > 40*len(l.Records) {
		t.Fatalf("%d bytes for %d records", len(b), len(l.Records))
	}
}
