package filestore_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/store/filestore"
)

func entries(t testing.TB, s *filestore.Store, from uint64) (out []claimdlq.Entry) {
	t.Helper()
	if err := s.Entries(t.Context(), from, func(e claimdlq.Entry) bool {
		out = append(out, e)
		return true
	}); err != nil {
		t.Fatalf("entries: %v", err)
	}
	return out
}

// TestFlip_EveryChangedBitIsFoundOrHarmless changes one bit of a closed store at a
// time, anywhere in any file: either opening or verifying says so, or nothing that
// can be read is different. Nothing is dropped in silence.
func TestFlip_EveryChangedBitIsFoundOrHarmless(t *testing.T) {
	t.Parallel()
	fs := newMemFS()
	s, err := filestore.Open("/store", tiny(fs))
	if err != nil {
		t.Fatal(err)
	}
	w, _ := twins(t, s, 21, 300, 60)
	want := dump(t, s, w.prints)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 21))
	found, harmless := 0, 0
	for _, withSnapshot := range []bool{true, false} {
		closed := fs.copy()
		if !withSnapshot {
			delete(closed.names, "/store/snapshot")
		}
		for name, f := range closed.names {
			for range 120 / under {
				flipped := closed.copy()
				at := rnd.IntN(len(f.data))
				flipped.names[name].data[at] ^= 1 << rnd.IntN(8)
				if flipIsFound(t, flipped, w.prints, want, name, at) {
					found++
				} else {
					harmless++
				}
			}
		}
	}
	t.Logf("%d found, %d harmless", found, harmless)
	if found < harmless {
		t.Fatal("fewer were found than were harmless: the files are mostly empty")
	}
}

func flipIsFound(t *testing.T, fs *memFS, prints int, want, name string, at int) bool {
	t.Helper()
	s, err := filestore.Open("/store", tiny(fs))
	if errors.Is(err, claimdlq.Corrupt) {
		if strings.Contains(name, "chunk-") && !strings.Contains(err.Error(), "chunk ") {
			t.Fatalf("%s byte %d: the error does not name the chunk: %v", name, at, err)
		}
		return true
	}
	if err != nil {
		t.Fatalf("%s byte %d: open: %v", name, at, err)
	}
	defer s.Close()
	rep, err := s.Verify(t.Context())
	if err != nil && !errors.Is(err, claimdlq.Corrupt) {
		t.Fatalf("%s byte %d: verify: %v", name, at, err)
	}
	if err != nil || !rep.OK() {
		return true
	}
	differ(t, filepath.Base(name)+" with a bit changed that nobody noticed", dump(t, s, prints), want)
	return false
}

// TestTail_TornIsTakenOffAndDamagedIsNot pins the difference between a group that a
// crash cut short and one that was durable and has changed since.
func TestTail_TornIsTakenOffAndDamagedIsNot(t *testing.T) {
	t.Parallel()
	build := func() (fs *memFS, before, last, stop int) {
		fs = newMemFS()
		s, err := filestore.Open("/store", tiny(fs))
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			insert(t, s, n)
		}
		before = end(fs)
		insert(t, s, 5)
		last = end(fs)
		insert(t, s, 6)
		left := fs.copy() // as a kill leaves it: closing would change nothing
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return left, before, last, end(left)
	}
	first := "/store/chunk-000000000001"
	for _, c := range []struct {
		name    string
		damage  func(b []byte, before, last, end int)
		records int // that are there afterwards; 0: corrupt
	}{
		{"nothing", func([]byte, int, int, int) {}, 7},
		{"the last sector of the last frame was not written", func(b []byte, _, last, end int) { clear(b[max(last, (end-1)&^511):end]) }, 6},
		{"a byte of the last frame has changed", func(b []byte, _, _, end int) { b[end-40] ^= 1 }, 0},
		{"a byte of the frame before the last has changed", func(b []byte, before, _, _ int) { b[before+100] ^= 1 }, 0},
		{"a header before whole frames is gone", func(b []byte, before, _, _ int) { clear(b[before : before+72]) }, 0},
		{"bytes behind the end", func(b []byte, _, _, end int) { b[end+600] = 7 }, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs, before, last, end := build()
			c.damage(fs.names[first].data, before, last, end)
			s, err := filestore.Open("/store", tiny(fs))
			if c.records == 0 {
				if !errors.Is(err, claimdlq.Corrupt) || !strings.Contains(err.Error(), "chunk 1 offset ") {
					t.Fatalf("open: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if st, err := s.Stats(t.Context()); err != nil || st.Records[claimdlq.StateQuarantined] != int64(c.records) {
				t.Fatalf("%d records, %v, want %d", st.Records[claimdlq.StateQuarantined], err, c.records)
			}
			insert(t, s, 50)
			sound(t, s)
		})
	}
}

// end returns where the last frame of the first chunk ends, as far as one can see:
// a frame is padded to 8 bytes.
func end(fs *memFS) int {
	b := fs.names["/store/chunk-000000000001"].data
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return (len(b) + 7) &^ 7
}

// TestOpen_AMissingChunkIsCorrupt pins that files of the journal cannot vanish
// unnoticed, neither from its middle nor from its beginning.
func TestOpen_AMissingChunkIsCorrupt(t *testing.T) {
	t.Parallel()
	for _, missing := range []int{0, 1, 2} {
		fs := newMemFS()
		s, err := filestore.Open("/store", tiny(fs))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; len(fs.chunks()) < 4; n++ {
			insert(t, s, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		delete(fs.names, fs.chunks()[missing])
		if _, err := filestore.Open("/store", tiny(fs)); !errors.Is(err, claimdlq.Corrupt) {
			t.Fatalf("without chunk %d: %v", missing+1, err)
		}
	}
}
