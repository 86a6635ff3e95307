package filestore_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// TestStore_WorksWhileItTidiesUp commits and reads from many goroutines while
// snapshots, evictions and compactions run behind them, and checks all that was
// promised, before and after opening it again.
func TestStore_WorksWhileItTidiesUp(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	o := filestore.Options{
		SegmentBytes: 64 << 10, PreallocBytes: 16 << 10, SnapshotEvery: 100, KeepSettled: 5, KeepFingerprints: 50, GarbageBytes: -1,
	}
	s := openStore(t, dir, o)
	const workers, steps = 6, 250
	ws := make([]*workload, workers)
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	for i := range ws {
		w := &workload{s: s, rnd: rand.New(rand.NewPCG(31, uint64(i))), next: i * 100_000, printsAt: i * 100_000}
		ws[i] = w
		writers.Go(func() {
			for n := range steps {
				if err := w.step(t.Context()); err != nil {
					t.Errorf("step %d: %v", n, err)
					return
				}
			}
		})
	}
	for i := range 2 {
		readers.Go(func() {
			rnd := rand.New(rand.NewPCG(32, uint64(i)))
			for !done.Load() {
				if err := readSomething(t, s, rnd); err != nil {
					t.Errorf("read: %v", err)
					return
				}
			}
		})
	}
	readers.Go(func() {
		for !done.Load() {
			if err := s.Compact(t.Context()); err != nil {
				t.Errorf("compact: %v", err)
				return
			}
		}
	})
	writers.Wait()
	done.Store(true)
	readers.Wait()
	audited := uint64(0)
	for _, w := range ws {
		audited = max(audited, w.audited)
	}
	check := func(s *filestore.Store) {
		t.Helper()
		for _, w := range ws {
			w.audited = audited
			w.kept(t, s)
		}
		sound(t, s)
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, dir, o)
	check(again)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func readSomething(t *testing.T, s *filestore.Store, rnd *rand.Rand) error {
	ctx := t.Context()
	switch rnd.IntN(6) {
	case 0:
		f := filters()[rnd.IntN(len(filters()))]
		rs, err := s.List(ctx, f, 0, 20)
		for i := 1; i < len(rs); i++ {
			if rs[i].ID >= rs[i-1].ID || (f.State != 0 && rs[i].State != f.State) {
				t.Errorf("a list of %+v has %d %v", f, rs[i].ID, rs[i].State)
			}
		}
		return err
	case 1:
		_, err := s.Groups(ctx, store.Filter{}, 10)
		return err
	case 2:
		st, err := s.Stats(ctx)
		sum := int64(0)
		for _, n := range st.ByState {
			sum += n
		}
		if sum != st.Received {
			t.Errorf("%d claims received, %d accounted for", st.Received, sum)
		}
		return err
	case 3:
		_, err := s.Lookup(ctx, claimdlq.Ref(rnd.IntN(7)+1), 10)
		return err
	case 4:
		_, err := s.Due(ctx, store.DueQuery{State: claimdlq.SubmissionReady, Now: at(1000), Limit: 10})
		return err
	}
	last := uint64(0)
	return s.Entries(ctx, 1, func(e claimdlq.Entry) bool {
		if e.Seq <= last { // others let entries go meanwhile, so there may be gaps
			t.Errorf("entry %d follows %d", e.Seq, last)
		}
		last = e.Seq
		return true
	})
}

// TestClose_AClosedStoreSaysNothing pins that whoever still asks is not told that
// something does not exist.
func TestClose_AClosedStoreSaysNothing(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), small())
	r := insert(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("closed twice: %v", err)
	}
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"get":         func() error { _, err := s.Get(ctx, r.ID); return err },
		"find":        func() error { _, err := s.Find(ctx, r.Key); return err },
		"lookup":      func() error { _, err := s.Lookup(ctx, r.Batch, 1); return err },
		"list":        func() error { _, err := s.List(ctx, store.Filter{}, 0, 1); return err },
		"groups":      func() error { _, err := s.Groups(ctx, store.Filter{}, 1); return err },
		"stats":       func() error { _, err := s.Stats(ctx); return err },
		"submission":  func() error { _, err := s.Submission(ctx, 1); return err },
		"submissions": func() error { _, err := s.FindSubmissions(ctx, 1, 1); return err },
		"due": func() error {
			_, err := s.Due(ctx, store.DueQuery{State: claimdlq.SubmissionReady, Now: at(1), Limit: 1})
			return err
		},
		"seen":     func() error { _, err := s.Seen(ctx, []claimdlq.Key{r.Key}); return err },
		"entries":  func() error { return s.Entries(ctx, 1, func(claimdlq.Entry) bool { return true }) },
		"control":  func() error { _, err := s.NextControl(ctx, "lane", 1); return err },
		"audited":  func() error { return s.AuditedTo(ctx, 1) },
		"snapshot": func() error { return s.Snapshot(ctx) },
		"commit": func() error {
			_, err := s.Commit(ctx, store.Batch{Insert: []claimdlq.Record{quarantined(2)}})
			return err
		},
		"update": func() error { _, err := s.Commit(ctx, store.Batch{Update: []claimdlq.Record{r}}); return err },
	} {
		if err := ask(); !errors.Is(err, claimdlq.Unavailable) {
			t.Errorf("%s of a closed store gives %v", name, err)
		}
	}
}
