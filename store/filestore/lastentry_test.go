package filestore_test

import (
	"testing"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

func TestLastEntry_OutlivesTheEntriesAndTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := func(s *filestore.Store, committed, audited uint64) {
		t.Helper()
		if c, a := s.LastEntry(); c != committed || a != audited {
			t.Errorf("last entry is %d, audited to %d; want %d, %d", c, a, committed, audited)
		}
	}
	s, err := filestore.Open(dir, filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want(s, 0, 0)
	if _, err := s.Commit(t.Context(), store.Batch{Entries: make([]claimdlq.Entry, 3)}); err != nil {
		t.Fatal(err)
	}
	if err := s.AuditedTo(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	want(s, 3, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = filestore.Open(dir, filestore.Options{}); err != nil {
		t.Fatal(err)
	}
	want(s, 3, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
