package recipe_test

import (
	"testing"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/internal/recipe"
	"claimdlq/wire/ncpdp"
)

// Two recipes over the same records at once: each record is corrected by one of them, and
// each says truly by which.
func TestApply_OfTwoRecipesAtOnceEachRecordHasOne(t *testing.T) {
	t.Parallel()
	w := setup(t, 200)
	s := w.open(nil)
	s.Start(t.Context())
	other := correct.Recipe{RxRules: []ncpdp.Rule{{Op: "set", Segment: "07", Field: "D7", Value: "99999000103"}}}
	a := w.preview(s)
	b, err := s.Preview(t.Context(), by, recipe.Selection{}, recipe.Part{}, other)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []recipe.Plan{a, b} {
		if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); err != nil {
			t.Fatal(err)
		}
	}
	one, two := w.end(s, a.ID), w.end(s, b.ID)
	if one.State != recipe.Done || two.State != recipe.Done || one.Outcomes["applied"]+two.Outcomes["applied"] != 200 || one.Outcomes["moved"] != two.Outcomes["applied"] {
		t.Errorf("%+v and %+v", one, two)
	}
	w.corrected(200)
	seen := map[claimdlq.ID]bool{}
	for _, p := range []recipe.Plan{a, b} {
		ids, err := s.Corrected(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if seen[id] {
				t.Errorf("record %d was corrected by both", id)
			}
			seen[id] = true
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
