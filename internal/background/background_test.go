package background_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimdlq/internal/background"
)

func TestIDs_AreThoseOfTheExtensionInOrderOfTime(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	if ids, err := background.IDs(dir, ".plan"); err != nil || len(ids) != 0 {
		t.Fatalf("%v, %v", ids, err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	first, second := background.NewID(at), background.NewID(at.Add(time.Second))
	if !background.IsID(first) || background.IsID(first+"A") || background.IsID("../"+first) || first[:15] != "20260301-110000" {
		t.Errorf("%q", first)
	}
	for _, name := range []string{second + ".plan", first + ".plan", first + ".journal", "other.plan"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if ids, err := background.IDs(dir, ".plan"); err != nil || !slices.Equal(ids, []string{first, second}) {
		t.Errorf("%v, %v", ids, err)
	}
}

func TestEach_EveryOneOnceAndNoMoreAtATime(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	var seen [100]atomic.Int32
	err := background.Each(len(seen), 4, nil, func(i int) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		seen[i].Add(1)
		now.Add(-1)
		return nil
	})
	if err != nil || most.Load() > 4 {
		t.Errorf("%d at a time, %v", most.Load(), err)
	}
	for i := range seen {
		if n := seen[i].Load(); n != 1 {
			t.Errorf("%d was called %d times", i, n)
		}
	}
}

func TestEach_EndsWithTheFirstFailureAndWhenToldTo(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	var mu sync.Mutex
	var seen []int
	note := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, i)
	}
	err := background.Each(100, 1, nil, func(i int) error {
		if note(i); i == 2 {
			return bad
		}
		return nil
	})
	if !errors.Is(err, bad) || len(seen) != 3 {
		t.Errorf("%v, %v", seen, err)
	}
	seen = nil
	err = background.Each(100, 1, func() bool { return len(seen) == 5 }, func(i int) error { note(i); return nil })
	if err != nil || len(seen) != 5 {
		t.Errorf("%v, %v", seen, err)
	}
}
