package recipe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/flow/intake"
	"claimdlq/internal/app"
	"claimdlq/internal/recipe"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
)

var (
	by  = claimdlq.By{Actor: "anna", Reason: "TESTREASON"}
	ndc = correct.Recipe{RxRules: []ncpdp.Rule{{Op: "set", Segment: "07", Field: "D7", Value: "99999000102"}}}
)

// world is a data directory with quarantined pharmacy claims.
type world struct {
	t   *testing.T
	app *app.App
	dir string
	ids []claimdlq.ID
}

func setup(t *testing.T, n int) *world {
	t.Helper()
	a, err := app.Open(t.Context(), app.Options{Dir: filepath.Join(t.TempDir(), "data"), Create: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, app: a, dir: filepath.Join(t.TempDir(), "recipes")}
	f, err := testclaims.ParseRxFault("missing-ndc/1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = testclaims.EachRx(testclaims.RxOptions{Claims: n, Faults: []testclaims.Fault{f}}, func(_ int, b []byte) error {
		res, err := a.Flow.Intake.Message(t.Context(), claimdlq.System("intake"), phi.Wrap(bytes.Clone(b)), intake.MessageOptions{})
		for _, r := range res.Records {
			w.ids = append(w.ids, r.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// open opens the recipes; step may end their work, which a crash would.
func (w *world) open(step func(string) error) *recipe.Recipes {
	w.t.Helper()
	c := recipe.Config{Dir: w.dir, Store: w.app.Store, Correct: w.app.Flow.Correct, Keys: w.app.Keys, Now: time.Now, Fatal: func(err error) { w.t.Error(err) }}
	c.SetStep(step)
	s, err := recipe.Open(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) preview(s *recipe.Recipes) recipe.Plan {
	w.t.Helper()
	p, err := s.Preview(w.t.Context(), by, recipe.Selection{}, recipe.Part{}, ndc)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// end waits until a recipe does not run any more.
func (w *world) end(s *recipe.Recipes, id recipe.ID) recipe.Progress {
	w.t.Helper()
	for w.t.Context().Err() == nil {
		_, p, err := s.Get(id)
		if err != nil {
			w.t.Fatal(err)
		}
		if p.State != recipe.Running {
			return p
		}
	}
	w.t.Fatal("it does not end")
	return recipe.Progress{}
}

// corrected fails unless each record was corrected exactly once.
func (w *world) corrected(n int) {
	w.t.Helper()
	done := 0
	for _, id := range w.ids {
		r, err := w.app.Store.Get(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		switch {
		case r.PayloadRevision == 2 && r.Revision == 2:
			done++
		case r.PayloadRevision > 2:
			w.t.Errorf("record %d has %d revisions", id, r.PayloadRevision)
		}
	}
	if done != n {
		w.t.Errorf("%d of %d records are corrected, want %d", done, len(w.ids), n)
	}
}

// Whatever step a crash comes before, and however often: each record is corrected once,
// and each correction is known.
func TestApply_ACrashAtAnyStepCorrectsNothingTwice(t *testing.T) {
	t.Parallel()
	const n = 150 // more than two turns
	crash := errors.New("crash")
	for _, step := range []string{"commit", "outcome"} {
		for at := range 3 {
			t.Run(fmt.Sprintf("%s %d", step, at), func(t *testing.T) {
				t.Parallel()
				w := setup(t, n)
				seen := 0
				s := w.open(func(name string) error {
					if name == step {
						if seen++; seen == at+1 {
							return crash
						}
					}
					return nil
				})
				p := w.preview(s)
				if p.Counts["clean"] != n {
					t.Fatalf("%v", p.Counts)
				}
				s.Start(t.Context())
				if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); err != nil {
					t.Fatal(err)
				}
				if got := w.end(s, p.ID); got.State != recipe.Stopped {
					t.Fatalf("%+v", got)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				again := w.open(nil)
				again.Start(t.Context())
				got := w.end(again, p.ID)
				if got.State != recipe.Done || got.Outcomes["applied"] != n || got.Left != 0 {
					t.Errorf("%+v", got)
				}
				w.corrected(n)
				if ids, err := again.Corrected(p.ID); err != nil || len(ids) != n {
					t.Errorf("%d, %v", len(ids), err)
				}
				if err := again.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// The journal may end anywhere: what is behind the last whole line is cut off, and the
// records say the rest.
func TestOpen_ATornJournalIsReadAsFarAsItIsWhole(t *testing.T) {
	t.Parallel()
	const n = 70
	w := setup(t, n)
	s := w.open(nil)
	p := w.preview(s)
	s.Start(t.Context())
	if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); err != nil {
		t.Fatal(err)
	}
	w.end(s, p.ID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.dir, string(p.ID)+".journal")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The values are gone by now; what is left to do is not: only what an intent covers may
	// be cut, which is all of it here but the first intent.
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for _, keep := range []int{len(whole), len(whole) - 1, len(whole) - 20, len(whole) - len(lines[len(lines)-2])} {
		if err := os.WriteFile(path, whole[:keep], 0o600); err != nil {
			t.Fatal(err)
		}
		again := w.open(nil)
		_, got, err := again.Get(p.ID)
		if err != nil || got.Outcomes["applied"] != n {
			t.Errorf("%d of %d bytes: %+v, %v", keep, len(whole), got, err)
		}
	}
	damaged := slices.Clone(whole)
	damaged[len(damaged)/3] ^= 1
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.open(nil).Get(p.ID); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("a damaged journal is believed: %v", err)
	}
}

func TestCancel_LeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	const n = 150
	w := setup(t, n)
	var s *recipe.Recipes
	var p recipe.Plan
	var once sync.Once
	s = w.open(func(name string) error {
		if name == "outcome" {
			once.Do(func() {
				if _, err := s.Cancel(context.WithoutCancel(t.Context()), by, p.ID); err != nil {
					t.Error(err)
				}
			})
		}
		return nil
	})
	p = w.preview(s)
	s.Start(t.Context())
	if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); err != nil {
		t.Fatal(err)
	}
	got := w.end(s, p.ID)
	if got.State != recipe.Cancelled || got.Outcomes["applied"] == 0 || got.Left == 0 {
		t.Errorf("%+v", got)
	}
	w.corrected(got.Outcomes["applied"])
	if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); !errors.Is(err, claimdlq.Conflict) {
		t.Errorf("%v", err)
	}
	if _, err := s.Cancel(t.Context(), by, p.ID); !errors.Is(err, claimdlq.Conflict) {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A crash right behind the answer does not take it back.
func TestCancel_HoldsThroughACrash(t *testing.T) {
	t.Parallel()
	const n = 150
	w := setup(t, n)
	var s *recipe.Recipes
	var p recipe.Plan
	s = w.open(func(name string) error {
		if name != "outcome" {
			return nil
		}
		if _, err := s.Cancel(context.WithoutCancel(t.Context()), by, p.ID); err != nil {
			t.Error(err)
		}
		return errors.New("crash")
	})
	p = w.preview(s)
	s.Start(t.Context())
	if _, err := s.Apply(t.Context(), by, p.ID, p.Digest); err != nil {
		t.Fatal(err)
	}
	w.end(s, p.ID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := w.open(nil)
	again.Start(t.Context())
	got := w.end(again, p.ID)
	if got.State != recipe.Cancelled || got.Outcomes["applied"] == 0 || got.Left == 0 {
		t.Errorf("%+v", got)
	}
	w.corrected(got.Outcomes["applied"])
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestPreview_NeedsANameAReasonAndRules(t *testing.T) {
	t.Parallel()
	w := setup(t, 1)
	s := w.open(nil)
	for _, c := range []struct {
		by   claimdlq.By
		sel  recipe.Selection
		rc   correct.Recipe
		want claimdlq.Code
	}{
		{claimdlq.By{Actor: "anna"}, recipe.Selection{}, ndc, claimdlq.Refused},
		{by, recipe.Selection{}, correct.Recipe{}, claimdlq.Invalid},
		{by, recipe.Selection{}, correct.Recipe{RxRules: []ncpdp.Rule{{Op: "set", Segment: "07", Field: "D2", Value: "TESTMARK"}}}, claimdlq.Refused},
	} {
		if _, err := s.Preview(t.Context(), c.by, c.sel, recipe.Part{}, c.rc); !errors.Is(err, c.want) || strings.Contains(err.Error(), "TESTMARK") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	p, err := s.Preview(t.Context(), by, recipe.Selection{IDs: []claimdlq.ID{w.ids[0], 999}}, recipe.Part{}, ndc)
	if err != nil || p.Counts["not_found"] != 1 || p.Counts["clean"] != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Previews that nobody applies do not pile up.
func TestPreview_TheOldestGoes(t *testing.T) {
	t.Parallel()
	w := setup(t, 1)
	s := w.open(nil)
	for range 70 {
		w.preview(s)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	if err != nil || len(files) != 64 || len(s.List()) != 64 {
		t.Errorf("%d files, %d recipes, %v", len(files), len(s.List()), err)
	}
}
