package filestore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

// TestFault_EachChangeFailsOnce lets the first, the second, ... change of the file
// system fail, half done, and goes on: a commit that failed left nothing, one that
// was answered is there, and the store works again as soon as the disk does. Only
// a flush that failed, or a failed write that could not be undone, stops it.
func TestFault_EachChangeFailsOnce(t *testing.T) {
	t.Parallel()
	clean := newMemFS()
	runFaulty(t, clean, 0)
	total := clean.ops
	if total < 200 {
		t.Fatalf("the workload makes only %d changes", total)
	}
	kinds := map[string]int{}
	for k := 1; k <= total; k += under {
		fs := newMemFS()
		fs.failAt = k
		runFaulty(t, fs, k)
		kinds[fs.failed]++
	}
	for _, what := range []string{"write", "sync", "create", "rename", "remove"} {
		if kinds[what] == 0 && under == 1 {
			t.Errorf("no %s failed", what)
		}
	}
}

func runFaulty(t *testing.T, fs *memFS, k int) {
	t.Helper()
	ctx := context.Background()
	var stopped atomic.Bool
	o := tiny(fs)
	o.Fatal = func(error) { stopped.Store(true) }
	s, err := filestore.Open("/store", o)
	if err != nil {
		if !errors.Is(err, claimdlq.Unavailable) {
			t.Fatalf("change %d fails: open: %v", k, err)
		}
		fs.failAt = 0
		if s, err = filestore.Open("/store", o); err != nil {
			t.Fatalf("change %d failed, opened again: %v", k, err)
		}
	}
	w := &workload{s: s, rnd: rand.New(rand.NewPCG(3, 4))}
	var refused []claimdlq.Key
	failures := 0
	for n := range 200 {
		before := w.next
		if err := w.step(ctx); err != nil {
			if !errors.Is(err, claimdlq.Unavailable) {
				t.Fatalf("change %d (%s) fails: step %d: %v", k, fs.failed, n, err)
			}
			failures++
			for i := before; i < w.next; i++ {
				refused = append(refused, key(i))
			}
		}
		if n%50 == 49 {
			w.audited = w.entries
			_ = s.AuditedTo(ctx, w.entries)
			_ = s.Compact(ctx)
		}
	}
	if (fs.failed == "sync") != stopped.Load() && fs.failed != "" {
		t.Fatalf("change %d (%s) failed: stopped %v", k, fs.failed, stopped.Load())
	}
	check := func(s *filestore.Store, refusals bool) {
		w.kept(t, s)
		for _, key := range refused {
			if _, err := s.Find(ctx, key); refusals && !errors.Is(err, claimdlq.NotFound) {
				t.Fatalf("change %d (%s) failed: a refused record is there: %v", k, fs.failed, err)
			}
		}
	}
	check(s, true)
	if !stopped.Load() {
		if failures > 1 {
			t.Fatalf("change %d (%s) failed once, %d commits were refused", k, fs.failed, failures)
		}
		sound(t, s)
	}
	err = s.Close()
	if err != nil && !stopped.Load() && !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("close: %v", err)
	}
	// After a flush that failed nobody knows what of it is on disk.
	again, err := filestore.Open("/store", tiny(fs.crash(rand.New(rand.NewPCG(uint64(k), 1)))))
	if err != nil {
		t.Fatalf("change %d (%s) failed, opened after a power loss: %v", k, fs.failed, err)
	}
	check(again, !stopped.Load())
	sound(t, again)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFault_AFailedFlushStopsTheStore pins that a flush is never tried again.
func TestFault_AFailedFlushStopsTheStore(t *testing.T) {
	t.Parallel()
	fs := newMemFS()
	o := tiny(fs)
	fatal := make(chan error, 10)
	o.Fatal = func(err error) { fatal <- err }
	s, err := filestore.Open("/store", o)
	if err != nil {
		t.Fatal(err)
	}
	insert(t, s, 1)
	fs.mu.Lock()
	fs.failOn = "sync"
	fs.mu.Unlock()
	if _, err := s.Commit(t.Context(), store.Batch{Insert: []claimdlq.Record{quarantined(2)}}); err == nil {
		t.Fatal("a commit whose flush failed was answered")
	}
	if err := <-fatal; !errors.Is(err, errInjected) {
		t.Fatalf("fatal was called with %v", err)
	}
	fs.mu.Lock()
	syncs := fs.calls["sync"]
	fs.mu.Unlock()
	if _, err := s.Commit(t.Context(), store.Batch{Insert: []claimdlq.Record{quarantined(3)}}); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("a commit after a failed flush gave %v", err)
	}
	if fs.calls["sync"] != syncs {
		t.Fatal("the flush was tried again")
	}
	_ = s.Close()
}

// TestFault_AFullDiskRefusesNewClaimsFirst pins what a full disk means: new claims
// are refused while steps of known ones still find room, reading goes on, and all
// goes on without a restart when there is space again.
func TestFault_AFullDiskRefusesNewClaimsFirst(t *testing.T) {
	t.Parallel()
	fs := newMemFS()
	s, err := filestore.Open("/store", tiny(fs))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := &workload{s: s, rnd: rand.New(rand.NewPCG(5, 6))}
	for range 40 {
		if err := w.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	fs.mu.Lock()
	fs.limit = fs.size()
	fs.mu.Unlock()
	full := false
	for range 2000 {
		if err := w.insert(t.Context()); err != nil {
			if !errors.Is(err, claimdlq.Unavailable) {
				t.Fatalf("a full disk gives %v", err)
			}
			full = true
			break
		}
	}
	if !full {
		t.Fatal("the disk was never full")
	}
	for n := range 10 {
		if err := w.change(t.Context()); err != nil {
			t.Fatalf("step %d of a known claim on a full disk: %v", n, err)
		}
	}
	if _, err := s.NextControl(t.Context(), "lane", 1); err != nil {
		t.Fatalf("a control number on a full disk: %v", err)
	}
	w.kept(t, s)
	for { // until not even that has room
		if err := w.change(t.Context()); err != nil {
			if !errors.Is(err, claimdlq.Unavailable) {
				t.Fatalf("a full disk gives %v", err)
			}
			break
		}
	}
	w.kept(t, s)
	sound(t, s)
	fs.mu.Lock()
	fs.limit = 0
	fs.mu.Unlock()
	if err := w.insert(t.Context()); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	w.kept(t, s)
	sound(t, s)
	again, err := filestore.Open("/store", tiny(fs.copy()))
	if err != nil {
		t.Fatal(err)
	}
	w.kept(t, again)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func insert(t testing.TB, s store.Store, n int) claimdlq.Record {
	t.Helper()
	r, err := s.Commit(context.Background(), store.Batch{
		Insert:  []claimdlq.Record{quarantined(n)},
		Entries: []claimdlq.Entry{{At: at(n), Actor: "system:test", Action: claimdlq.ActEnqueue, Record: store.ParentIndex(0)}},
	})
	if err != nil {
		t.Fatalf("insert: %v", err)
	}
	got, err := s.Get(context.Background(), r.Inserted[0].ID)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return got
}

// TestOpen_ADirectoryIsOpenOnce pins that two stores never write one journal.
func TestOpen_ADirectoryIsOpenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, small())
	link := t.TempDir() + "/link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{dir, dir + "/.", link} {
		if _, err := filestore.Open(again, small()); !errors.Is(err, claimdlq.Unavailable) {
			t.Fatalf("opened twice: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openStore(t, link, small()).Close(); err != nil {
		t.Fatal(err)
	}
}
