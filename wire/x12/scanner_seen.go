package x12

import (
	"hash/maphash"
	"slices"
)

const (
	maxRuns = 4096    // of consecutive numbers kept apart
	maxOdd  = 1 << 20 // numbers out of order remembered, per scope
	longRun = 8
)

// numberSet remembers control numbers of one scope. Senders count up, so it keeps
// runs of consecutive numbers, and single ones only where they jump about: memory
// does not grow with a well numbered file. Beyond a million jumps it forgets new
// ones; the store finds those duplicates by key.
type numberSet struct {
	cur  run
	runs []run // sorted, not overlapping
	odd  map[uint64]struct{}
	seed maphash.Seed
}

// run is the numbers from lo to hi, written with the same width.
type run struct {
	width  uint8
	lo, hi uint64
}

func (r run) has(w uint8, n uint64) bool { return w == r.width && n >= r.lo && n <= r.hi }

// add puts a number into the set and reports whether it was in already.
func (s *numberSet) add(b []byte) (again bool) {
	n, ok := digits(b)
	if !ok {
		return s.addOdd(maphash.Bytes(s.seeded(), b))
	}
	w, v := uint8(len(b)), uint64(n)
	switch {
	case s.cur.width == 0:
		s.cur = run{w, v, v}
		return s.has(w, v)
	case s.cur.has(w, v):
		return true
	case w == s.cur.width && v == s.cur.hi+1:
		if s.has(w, v) {
			return true
		}
		s.cur.hi++
		return false
	}
	again = s.has(w, v)
	s.close()
	s.cur = run{w, v, v}
	return again
}

// contains reports whether the number is in the set.
func (s *numberSet) contains(b []byte) bool {
	n, ok := digits(b)
	if !ok {
		_, in := s.odd[maphash.Bytes(s.seeded(), b)]
		return in
	}
	w, v := uint8(len(b)), uint64(n)
	return s.cur.has(w, v) || s.has(w, v)
}

func (s *numberSet) seeded() maphash.Seed {
	if s.seed == (maphash.Seed{}) {
		s.seed = maphash.MakeSeed()
	}
	return s.seed
}

func (s *numberSet) addOdd(h uint64) (again bool) {
	if _, again = s.odd[h]; again || len(s.odd) >= maxOdd {
		return again
	}
	if s.odd == nil {
		s.odd = map[uint64]struct{}{}
	}
	s.odd[h] = struct{}{}
	return false
}

func oddKey(w uint8, v uint64) uint64 { return uint64(w)<<60 | v }

// has looks into the closed runs and the odd numbers.
func (s *numberSet) has(w uint8, v uint64) bool {
	i, ok := slices.BinarySearchFunc(s.runs, run{w, v, v}, compareRuns)
	if ok || i > 0 && s.runs[i-1].has(w, v) {
		return true
	}
	_, ok = s.odd[oddKey(w, v)]
	return ok
}

func compareRuns(a, b run) int {
	if a.width != b.width {
		return int(a.width) - int(b.width)
	}
	switch {
	case a.lo < b.lo:
		return -1
	case a.lo > b.lo:
		return 1
	}
	return 0
}

// close puts the current run away.
func (s *numberSet) close() {
	if s.cur.hi-s.cur.lo+1 >= longRun && len(s.runs) < maxRuns {
		i, _ := slices.BinarySearchFunc(s.runs, s.cur, compareRuns)
		s.runs = slices.Insert(s.runs, i, s.cur)
		return
	}
	for v := s.cur.lo; v <= s.cur.hi; v++ {
		s.addOdd(oddKey(s.cur.width, v))
	}
}

// reset empties the set.
func (s *numberSet) reset() {
	s.cur, s.runs = run{}, s.runs[:0]
	clear(s.odd)
}
