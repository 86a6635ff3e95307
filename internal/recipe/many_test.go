package recipe_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/recipe"
)

// few opens recipes that may have so many records.
func (w *world) few(n int) *recipe.Recipes {
	w.t.Helper()
	s, err := recipe.Open(recipe.Config{
		Dir: w.dir, Store: w.app.Store, Correct: w.app.Flow.Correct, Keys: w.app.Keys, Now: time.Now, MaxItems: n, Fatal: func(err error) { w.t.Error(err) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// A group that is larger than a recipe is corrected by one recipe after another, and by
// the same filter: what is corrected is not in the next.
func TestPreview_AGroupOverTheLimitIsCorrectedPartByPart(t *testing.T) {
	t.Parallel()
	w := setup(t, 8)
	s := w.few(3)
	s.Start(t.Context())
	for _, want := range []recipe.Plan{{Remaining: 5}, {Corrected: 3, Remaining: 2}, {Corrected: 6}} {
		p := w.preview(s)
		if p.Corrected != want.Corrected || p.Remaining != want.Remaining || (p.Next != 0) != (want.Remaining > 0) || len(p.Items) != min(3, 8-want.Corrected) {
			t.Fatalf("%d items, %d corrected, %d remain, next %d", len(p.Items), p.Corrected, p.Remaining, p.Next)
		}
		if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); err != nil {
			t.Fatal(err)
		}
		if got := w.end(s, p.ID); got.Outcomes["applied"] != len(p.Items) {
			t.Fatalf("%+v", got)
		}
	}
	w.corrected(8)
	if _, err := s.Preview(t.Context(), by, recipe.Selection{}, recipe.Part{}, ndc); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("what is corrected is selected: %v", err)
	}
	p, err := s.Preview(t.Context(), by, recipe.Selection{}, recipe.Part{Again: true}, ndc)
	if err != nil || p.Counts["unchanged"] != 3 || p.Remaining != 5 {
		t.Errorf("again: %v, %d remain, %v", p.Counts, p.Remaining, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// What a recipe does not mend does not stand before the others: the next preview begins
// behind it. Each record is in one.
func TestPreview_TheNextBeginsBehindIt(t *testing.T) {
	t.Parallel()
	w := setup(t, 8)
	s := w.few(3)
	var seen []claimdlq.ID
	for part := (recipe.Part{}); ; {
		p, err := s.Preview(t.Context(), by, recipe.Selection{}, part, ndc)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Items {
			seen = append(seen, p.Items[i].Record)
		}
		if p.Remaining != 8-len(seen) {
			t.Fatalf("%d remain after %v", p.Remaining, seen)
		}
		if part.Before = p.Next; p.Next == 0 {
			break
		}
	}
	slices.Sort(seen)
	if !slices.Equal(seen, w.ids) {
		t.Errorf("%v, want %v", seen, w.ids)
	}
	if _, err := s.Preview(t.Context(), by, recipe.Selection{IDs: w.ids}, recipe.Part{}, ndc); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("over the limit by name: %v", err)
	}
}
