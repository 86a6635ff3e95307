package storetest

import (
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"claimdlq/store"
	"claimdlq/store/memstore"
)

// Durable is a store that outlives its process.
type Durable struct {
	// Open opens the store in dir, which is empty at first. It is called again after
	// a stop, and must then give what was there.
	Open func(dir string) (store.Store, error)
	// Maintain does what the store does now and then by itself, such as snapshots
	// and compaction. Nil if there is nothing.
	Maintain func(store.Store) error
}

// home is where a durable store lives during a test.
type home struct {
	d     Durable
	t     *testing.T
	dir   string
	store store.Store
}

func (h *home) open(t tb) {
	t.Helper()
	s, err := h.d.Open(h.dir)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	h.store = s
}

// reopen stops the store cleanly and opens it again.
func (h *home) reopen(t tb) {
	t.Helper()
	if err := h.store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	h.open(t)
}

// kill opens what a SIGKILL at this moment would have left: the files as they
// are, in a directory of their own.
func (h *home) kill(t tb) {
	t.Helper()
	left := h.t.TempDir()
	if err := os.CopyFS(left, os.DirFS(h.dir)); err != nil {
		t.Fatalf("copy: %v", err)
	}
	old := h.store
	h.dir = left
	h.open(t)
	if err := old.Close(); err != nil {
		t.Fatalf("close what was killed: %v", err)
	}
}

func (h *home) maintain(t tb) {
	t.Helper()
	if h.d.Maintain == nil {
		return
	}
	if err := h.d.Maintain(h.store); err != nil {
		t.Fatalf("maintain: %v", err)
	}
}

// RunReopen tests that a store's contract holds across stops: every rule of Run
// that one caller can test, with a stop between any two calls, and the random
// operations of RunModel with clean stops, kills and maintenance among them.
func RunReopen(t *testing.T, d Durable) {
	for name, stop := range map[string]func(*home, tb){
		"stopped between calls":    (*home).reopen,
		"killed between calls":     (*home).kill,
		"maintained between calls": (*home).maintain,
		"maintained and killed between calls": func(h *home, t tb) {
			h.maintain(t)
			h.kill(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, sequential, func(t *testing.T) store.Store {
				h := &home{d: d, t: t, dir: filepath.Join(t.TempDir(), "data")}
				if err := os.Mkdir(h.dir, 0o700); err != nil {
					t.Fatal(err)
				}
				h.open(t)
				return &restless{h: h, stop: stop}
			})
		})
	}
	t.Run("random operations and stops", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) {
			h := &home{d: d, t: t, dir: t.TempDir()}
			h.open(rt)
			m := &machine{model: memstore.New(), tested: h.store}
			defer func() {
				if err := h.store.Close(); err != nil {
					rt.Fatalf("close: %v", err)
				}
			}()
			actions := m.actions()
			for name, stop := range map[string]func(*home, tb){"stop": (*home).reopen, "kill": (*home).kill, "maintain": (*home).maintain} {
				actions[name] = func(rt *rapid.T) {
					stop(h, rt)
					m.tested = h.store
				}
			}
			rt.Repeat(actions)
		})
	})
}
