package recipe_test

import (
	"bytes"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/internal/recipe"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// weighed is a vault that looks how much memory is held when a payload is opened.
type weighed struct {
	vault.Vault
	held []uint64
}

func (v *weighed) Open(ctx context.Context, ref claimdlq.PayloadRef, p claimdlq.Proof) (phi.Bytes, error) {
	v.held = append(v.held, heap())
	return v.Vault.Open(ctx, ref, p)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Documents of sets are megabytes. A recipe holds those that it works on and not those of
// all its records. It is not parallel: other tests would be weighed with it.
func TestRecipe_HoldsTheDocumentsThatItWorksOn(t *testing.T) { //nolint:paralleltest // see above
	w := setup(t, 0)
	const sets, claims = 14, 1500
	size := 0
	for n := range sets {
		var b bytes.Buffer
		o := testclaims.Options{Claims: claims, ClaimsPerSet: claims, ISA13: uint32(n + 1), GS06: uint32(n + 1), FirstClaim: 1 + claims*n, Faults: []testclaims.Fault{{Name: "se01-low", At: []int{1}}}}
		if _, err := testclaims.Generate(&b, o); err != nil {
			t.Fatal(err)
		}
		size = b.Len()
		if _, err := w.app.Flow.Intake.File(t.Context(), claimdlq.By{Actor: "test"}, "a.837", &b); err != nil {
			t.Fatal(err)
		}
	}
	v := &weighed{Vault: w.app.Vault}
	s, err := recipe.Open(recipe.Config{
		Dir: filepath.Join(t.TempDir(), "recipes"), Store: w.app.Store, Keys: w.app.Keys, Now: time.Now, Workers: 1,
		Correct: correct.New(correct.Options{Store: w.app.Store, Vault: v, Rules: x12.LatestRules(), Now: time.Now}),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	before := heap()
	light := func(when string) {
		t.Helper()
		// What was held of all before is held at each of the last; others' garbage is not.
		last := slices.Min(v.held[len(v.held)-sets/3:])
		if held := int(last) - int(before); held > sets/2*size {
			t.Errorf("%s: %d bytes are held, a set has %d", when, held, size)
		}
		v.held = nil
	}
	rule := x12.Rule{Op: "set", Segment: "BHT", Element: 4, Value: "20260101"}
	p, err := s.Preview(t.Context(), by, recipe.Selection{}, recipe.Part{}, correct.Recipe{Rules: []x12.Rule{rule}})
	if err != nil || p.Counts["clean"] != sets {
		t.Fatalf("%+v, %v", p.Counts, err)
	}
	light("preview")
	if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); err != nil {
		t.Fatal(err)
	}
	if got := w.end(s, p.ID); got.Outcomes["applied"] != sets {
		t.Errorf("%+v", got)
	}
	light("apply")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
