package filestore_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"claimdlq/store/filestore"
)

// tiny makes chunks, snapshots and compactions frequent.
func tiny(fs filestore.FS) filestore.Options {
	return filestore.Options{
		SegmentBytes: 64 << 10, PreallocBytes: 8 << 10, KeepSettled: 3, KeepFingerprints: 20, GarbageBytes: -1, Manual: true, FS: fs,
	}
}

// image is what a power loss left, and what had been promised by then.
type image struct {
	fs       *memFS
	promised workload
	seed     uint64
	op       int
}

// camera takes images at random changes of a file system.
type camera struct {
	mu       sync.Mutex
	promised workload // as it was before the step under way
	taken    []image
}

func (c *camera) promise(w *workload) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promised = *w
	c.promised.records, c.promised.moved = slices.Clone(w.records), maps.Clone(w.moved)
	if w.choice == auditing { // the step may let entries go
		c.promised.audited = w.entries
	}
}

func (c *camera) take() (out []image) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out, c.taken = c.taken, nil
	return out
}

// TestPowerLoss_LosesNothingThatWasPromised stops the power at thousands of
// moments: what comes back must open, hold together, and have all that was
// answered; a batch is there whole or not at all.
func TestPowerLoss_LosesNothingThatWasPromised(t *testing.T) {
	t.Parallel()
	const images = 2000 / under
	checked := 0
	for seed := uint64(1); checked < images; seed++ {
		fs, cam := newMemFS(), &camera{}
		rnd := rand.New(rand.NewPCG(seed, 7))
		fs.hook = func(op int) {
			cam.mu.Lock()
			defer cam.mu.Unlock()
			if rnd.IntN(4) == 0 {
				cam.taken = append(cam.taken, image{fs.crash(rnd), cam.promised, seed, op})
			}
		}
		s, err := filestore.Open("/store", tiny(fs))
		if err != nil {
			t.Fatal(err)
		}
		w := &workload{s: s, rnd: rand.New(rand.NewPCG(seed, 8))}
		for n := range 150 {
			cam.promise(w)
			if err := w.step(t.Context()); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, n, err)
			}
			if n%40 == 39 {
				cam.promise(w)
				if err := s.Compact(t.Context()); err != nil {
					t.Fatalf("seed %d compact: %v", seed, err)
				}
			}
			for _, i := range cam.take() {
				i.check(t)
				checked++
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d images", checked)
}

func (i *image) check(t *testing.T) {
	t.Helper()
	s, err := filestore.Open("/store", tiny(i.fs))
	if err != nil {
		t.Fatalf("seed %d, power lost at change %d: %v", i.seed, i.op, err)
	}
	w := i.promised
	w.kept(t, s)
	sound(t, s)
	// It goes on from there, and comes back once more.
	w.s, w.rnd, w.next = s, rand.New(rand.NewPCG(i.seed, uint64(i.op))), 500_000+i.op
	w.prints += 500_000
	if err := w.insert(context.Background()); err != nil {
		t.Fatalf("seed %d, change %d, commit afterwards: %v", i.seed, i.op, err)
	}
	w.prints = i.promised.prints
	if first, err := s.NextControl(context.Background(), "lane", 1); err != nil || first <= w.numbers {
		t.Fatalf("control number %d was given before, up to %d: %v", first, w.numbers, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := filestore.Open("/store", tiny(i.fs.crash(rand.New(rand.NewPCG(i.seed, uint64(i.op))))))
	if err != nil {
		t.Fatalf("seed %d, change %d, opened again: %v", i.seed, i.op, err)
	}
	w.kept(t, again)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
