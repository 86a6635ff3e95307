package sortedrun_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/store/filestore/sortedrun"
)

// tb is what *testing.T, *testing.B and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func keyOf(n uint64) (k sortedrun.Key) {
	binary.BigEndian.PutUint64(k[8:], n)
	return k
}

// lastKey is above every key of the tests.
var lastKey = sortedrun.Key(bytes.Repeat([]byte{0xff}, 16))

func compareKeys(a, b sortedrun.Key) int { return bytes.Compare(a[:], b[:]) }

// sorted yields a map's entries as Add wants them.
func sorted(m map[sortedrun.Key][]byte) iter.Seq2[sortedrun.Key, []byte] {
	return func(yield func(sortedrun.Key, []byte) bool) {
		for _, k := range slices.SortedFunc(maps.Keys(m), compareKeys) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

func open(t testing.TB, dir string, o sortedrun.Options) *sortedrun.Set {
	t.Helper()
	s, err := sortedrun.Open(osFS{}, dir, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func add(t tb, s *sortedrun.Set, m map[sortedrun.Key][]byte) {
	t.Helper()
	if err := s.Add(len(m), sorted(m)); err != nil {
		t.Fatalf("add: %v", err)
	}
}

// mergeAll merges until nothing is due.
func mergeAll(t tb, s *sortedrun.Set) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.Merge(context.Background()); err != nil {
			t.Fatalf("merge: %v", err)
		}
	}
}

// holds fails unless the set is exactly the map: gets, misses, and both walks.
func holds(t tb, s *sortedrun.Set, want map[sortedrun.Key][]byte, misses ...sortedrun.Key) {
	t.Helper()
	for k, v := range want {
		got, ok, err := s.Get(k)
		if err != nil || !ok || !bytes.Equal(got, v) {
			t.Fatalf("key %x: %d bytes, %t, %v, want %d bytes", k, len(got), ok, err, len(v))
		}
	}
	for _, k := range misses {
		if _, wanted := want[k]; wanted {
			continue
		}
		if _, ok, err := s.Get(k); ok || err != nil {
			t.Fatalf("key %x: %t, %v, want none", k, ok, err)
		}
	}
	keys := slices.SortedFunc(maps.Keys(want), compareKeys)
	walked(t, s.Ascend, sortedrun.Key{}, keys, want)
	slices.Reverse(keys)
	walked(t, s.Descend, lastKey, keys, want)
	if err := s.Verify(context.Background()); err != nil {
		t.Fatalf("verify: %v", err)
	}
}

type walk func(sortedrun.Key, func(sortedrun.Key, []byte) bool) error

func walked(t tb, w walk, from sortedrun.Key, keys []sortedrun.Key, want map[sortedrun.Key][]byte) {
	t.Helper()
	i := 0
	err := w(from, func(k sortedrun.Key, v []byte) bool {
		if i >= len(keys) || k != keys[i] || !bytes.Equal(v, want[k]) {
			t.Fatalf("entry %d of the walk is key %x with %d bytes", i, k, len(v))
		}
		i++
		return true
	})
	if err != nil || i != len(keys) {
		t.Fatalf("walked %d of %d entries: %v", i, len(keys), err)
	}
}

func TestSet_IsAMapWhateverIsAddedMergedAndReopened(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		o := sortedrun.Options{
			BlockBytes: rapid.SampledFrom([]int{1, 40, 4096}).Draw(rt, "block"),
			Fanout:     rapid.IntRange(2, 4).Draw(rt, "fanout"),
			Prefix:     rapid.Bool().Draw(rt, "prefix"),
		}
		s := open(t, dir, o)
		want := map[sortedrun.Key][]byte{}
		key := rapid.Custom(func(t *rapid.T) sortedrun.Key {
			k := keyOf(rapid.Uint64Range(0, 60).Draw(t, "key"))
			k[7] = byte(2 * rapid.IntRange(0, 3).Draw(t, "half"))
			return k
		})
		value := rapid.SliceOfN(rapid.Byte(), 0, 50)
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				m := rapid.MapOfN(key, value, 0, 30).Draw(rt, "entries")
				add(rt, s, m)
				maps.Copy(want, m)
			},
			"merge": func(rt *rapid.T) {
				if _, err := s.Merge(context.Background()); err != nil {
					rt.Fatalf("merge: %v", err)
				}
			},
			"reopen": func(rt *rapid.T) {
				_ = s.Close()
				o.Prefix = rapid.Bool().Draw(rt, "prefix") // runs of both kinds lie together
				s = open(t, dir, o)
			},
			"walk from the middle": func(rt *rapid.T) {
				from := key.Draw(rt, "from")
				keys := slices.SortedFunc(maps.Keys(want), compareKeys)
				i, _ := slices.BinarySearchFunc(keys, from, compareKeys)
				walked(rt, s.Ascend, from, keys[i:], want)
				below := slices.Clone(keys[:i])
				slices.Reverse(below)
				walked(rt, s.Descend, from, below, want)
			},
			"walk a prefix": func(rt *rapid.T) {
				prefix := rapid.Uint64Range(0, 8).Draw(rt, "of")
				keys := slices.DeleteFunc(slices.SortedFunc(maps.Keys(want), compareKeys), func(k sortedrun.Key) bool {
					return binary.BigEndian.Uint64(k[:8]) != prefix
				})
				walked(rt, func(_ sortedrun.Key, f func(sortedrun.Key, []byte) bool) error { return s.Prefixed(prefix, f) }, sortedrun.Key{}, keys, want)
			},
			"": func(rt *rapid.T) { holds(rt, s, want, keyOf(0), keyOf(30), keyOf(60), keyOf(61), lastKey) },
		})
	})
}

// TestPrefixed_ReadsNothingWhereTheFiltersKnowNoSuchKey pins that a look-up that finds
// nothing costs no reading, and that a run of the other kind is read.
func TestPrefixed_ReadsNothingWhereTheFiltersKnowNoSuchKey(t *testing.T) {
	t.Parallel()
	for _, prefix := range []bool{true, false} {
		fsys := newMemFS(1 << 30)
		s, err := sortedrun.Open(fsys, "runs", sortedrun.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		m := map[sortedrun.Key][]byte{}
		for i := range uint64(2000) {
			var k sortedrun.Key
			binary.BigEndian.PutUint64(k[:8], 1000*i)
			m[k] = nil
		}
		add(t, s, m)
		before := fsys.reads.Load()
		for i := range uint64(1000) {
			if err := s.Prefixed(1000*i+1, func(sortedrun.Key, []byte) bool { t.Fatal("found"); return false }); err != nil {
				t.Fatal(err)
			}
		}
		if reads := fsys.reads.Load() - before; (reads < 50) != prefix {
			t.Fatalf("%d reads where filters know halves: %t", reads, prefix)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSet_TheNewestValueOfAKeyWinsAfterEveryMerge(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), sortedrun.Options{Fanout: 2})
	want := map[sortedrun.Key][]byte{}
	for round := range 9 {
		m := map[sortedrun.Key][]byte{keyOf(1): {byte(round)}, keyOf(uint64(10 + round)): {1}}
		add(t, s, m)
		maps.Copy(want, m)
		holds(t, s, want)
		mergeAll(t, s)
		holds(t, s, want)
	}
	if n := s.Size().Runs; n != 1 {
		t.Fatalf("%d runs, want 1", n)
	}
}

func TestSet_ValuesUpTo64KiBAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, sortedrun.Options{})
	want := map[sortedrun.Key][]byte{}
	for i, n := range []int{0, 1, 127, 128, 8191, 8192, sortedrun.MaxValue - 1, sortedrun.MaxValue} {
		want[keyOf(uint64(i))] = bytes.Repeat([]byte{byte(i)}, n)
	}
	add(t, s, want)
	holds(t, s, want)
	err := s.Add(1, sorted(map[sortedrun.Key][]byte{keyOf(99): make([]byte, sortedrun.MaxValue+1)}))
	if !errors.Is(err, claimdlq.Invalid) {
		t.Fatalf("one byte more: %v, want invalid", err)
	}
	_ = s.Close()
	holds(t, open(t, dir, sortedrun.Options{}), want, keyOf(99))
}

func TestAdd_RefusesWhatIsNotSortedOrNotAnnounced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, sortedrun.Options{})
	pairs := func(ns ...uint64) iter.Seq2[sortedrun.Key, []byte] {
		return func(yield func(sortedrun.Key, []byte) bool) {
			for _, n := range ns {
				if !yield(keyOf(n), []byte{1}) {
					return
				}
			}
		}
	}
	for name, err := range map[string]error{
		"descending": s.Add(9, pairs(1, 3, 2)), "twice": s.Add(9, pairs(1, 1)), "more than n": s.Add(2, pairs(1, 2, 3)),
		"none announced": s.Add(0, pairs(1)), "negative": s.Add(-1, pairs(1)),
	} {
		if !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	if err := s.Add(5, pairs()); err != nil {
		t.Fatalf("no entries: %v", err)
	}
	holds(t, s, nil, keyOf(1))
	if got := names(t, dir); !slices.Equal(got, []string{"MANIFEST"}) {
		t.Fatalf("left behind: %v", got)
	}
}

func TestMerge_WritesEachEntryOncePerTierAndKeepsRunsFew(t *testing.T) {
	t.Parallel()
	fsys := &countingFS{}
	s, err := sortedrun.Open(fsys, t.TempDir(), sortedrun.Options{Fanout: 4, FilterBits: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	const rounds, each = 64, 1000 // 64 = 4*4*4: three tiers above the first
	for range rounds {
		m := map[sortedrun.Key][]byte{}
		for range each {
			m[keyOf(random.Uint64())] = make([]byte, 100)
		}
		add(t, s, m)
		mergeAll(t, s)
		if n := s.Size().Runs; n > 3*4 {
			t.Fatalf("%d runs", n)
		}
	}
	size := s.Size()
	if size.Entries != rounds*each {
		t.Fatalf("%d entries, want %d", size.Entries, rounds*each)
	}
	if written := fsys.written.Load(); written > 5*size.Bytes {
		t.Fatalf("wrote %d bytes for %d: more than once per tier", written, size.Bytes)
	}
}

func TestMerge_StoppedByItsContextChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, sortedrun.Options{Fanout: 2})
	want := map[sortedrun.Key][]byte{}
	for i := range uint64(2) {
		m := map[sortedrun.Key][]byte{keyOf(i): {byte(i)}}
		add(t, s, m)
		maps.Copy(want, m)
	}
	before := names(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Merge(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("merge: %v", err)
	}
	holds(t, s, want)
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Fatalf("files are %v, were %v", after, before)
	}
}

func TestSet_AReaderKeepsTheRunsItStartedWith(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), sortedrun.Options{Fanout: 2, BlockBytes: 1})
	want := map[sortedrun.Key][]byte{keyOf(1): {1}, keyOf(2): {2}, keyOf(3): {3}}
	add(t, s, want)
	seen := 0
	err := s.Ascend(sortedrun.Key{}, func(k sortedrun.Key, v []byte) bool {
		if seen == 0 { // the file that is being read is merged away
			add(t, s, map[sortedrun.Key][]byte{keyOf(2): {99}, keyOf(9): {9}})
			mergeAll(t, s)
		}
		seen++
		return bytes.Equal(v, want[k])
	})
	if err != nil || seen != 3 {
		t.Fatalf("saw %d entries, %v", seen, err)
	}
	if got, _, _ := s.Get(keyOf(2)); !bytes.Equal(got, []byte{99}) {
		t.Fatalf("afterwards the value is %v", got)
	}
}

func TestSet_ClosedDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), sortedrun.Options{})
	add(t, s, map[sortedrun.Key][]byte{keyOf(1): {1}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Get(keyOf(1))
	for name, err := range map[string]error{
		"get": err, "walk": s.Ascend(sortedrun.Key{}, nil), "verify": s.Verify(t.Context()),
		"add": s.Add(1, sorted(map[sortedrun.Key][]byte{keyOf(2): nil})), "close": errors.Join(s.Close(), claimdlq.Unavailable),
	} {
		if !errors.Is(err, claimdlq.Unavailable) {
			t.Errorf("%s: %v, want unavailable", name, err)
		}
	}
}
