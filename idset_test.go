package claimdlq_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
)

func TestIDSet_SaysWhichIDsItHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfDistinct(rapid.OneOf(
			rapid.Uint64Range(1, 40), rapid.SampledFrom([]uint64{999, 1000, 1 << 32, 1<<63 - 1}),
		), rapid.ID).Draw(rt, "ids")
		slices.Sort(ids)
		set := claimdlq.NewIDSet(func(yield func(claimdlq.ID) bool) {
			for _, id := range ids {
				if !yield(claimdlq.ID(id)) {
					return
				}
			}
		})
		if !set.Valid() || set.Len() != len(ids) {
			rt.Fatalf("%q is valid: %v, and holds %d of %d", set, set.Valid(), set.Len(), len(ids))
		}
		if len(ids) > 0 && set.First() != claimdlq.ID(ids[0]) {
			rt.Fatalf("%q begins with %d", set, set.First())
		}
		for _, id := range append([]uint64{41, 998, 1001, 1 << 40}, ids...) {
			if set.Has(claimdlq.ID(id)) != slices.Contains(ids, id) {
				rt.Fatalf("%q has %d: %v", set, id, !slices.Contains(ids, id))
			}
		}
		e := claimdlq.Entry{Records: set}
		if e.About(0) || (len(ids) > 0 && !e.About(claimdlq.ID(ids[0]))) {
			rt.Fatalf("what the entry is about: %q", set)
		}
	})
}

func TestIDSet_TextThatIsNoneHoldsNothingBehindTheFault(t *testing.T) {
	t.Parallel()
	for _, s := range []claimdlq.IDSet{"x", "0", "-", "1-", "1--2", "2-1", "2-2", "1,2", "5,3", "1,", ",1", "01", "1 ,3", "99999999999999999999"} {
		if s.Valid() {
			t.Errorf("%q is valid", s)
		}
	}
	if s := claimdlq.IDSet("1-3,x,7"); s.Has(7) || !s.Has(2) || s.Len() != 3 {
		t.Errorf("%q holds %d, 7: %v", s, s.Len(), s.Has(7))
	}
	if s := claimdlq.IDSet(""); !s.Valid() || s.First() != 0 {
		t.Error("the empty set is none")
	}
}
