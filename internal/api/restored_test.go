package api_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/internal/api"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
	"claimdlq/internal/recipe"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// A backup that is taken while a replay job and a recipe are under way: in the restored
// copy neither releases or corrects anything by itself.
func TestRestore_NoJobGoesOnByItself(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	fixed := w.corrected("anna", 4)
	w.take(partnerA, 100, 3, "missing-ndc@1,2,3")
	by := claimdlq.By{Actor: "anna", Reason: "TEST"}
	jobs := func(a *app.App, dir string) *job.Jobs {
		s, err := job.Open(job.Config{Dir: filepath.Join(dir, "jobs"), Replay: a.Replays(), Approvals: api.Approvals(a.Desk), Poll: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		s.Start(t.Context())
		return s
	}
	recipes := func(a *app.App, dir string) *recipe.Recipes {
		s, err := recipe.Open(recipe.Config{Dir: filepath.Join(dir, "recipes"), Store: a.Store, Correct: a.Flow.Correct, Keys: a.Keys, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, rs := jobs(w.app, w.dir), recipes(w.app, w.dir) // these do not start: applied, and not gone on with
	plan, err := rs.Preview(t.Context(), by, recipe.Selection{}, recipe.Part{}, correct.Recipe{RxRules: []ncpdp.Rule{{Op: "set", Segment: "07", Field: "D7", Value: "99999000102"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rs.Apply(t.Context(), by, plan.ID, plan.Digest); err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(t.Context(), by, job.Selection{IDs: fixed}, job.Policy{Canary: -1, StartRate: 2, MaxRate: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), by, p.ID); err != nil {
		t.Fatal(err)
	}
	for released := 0; released == 0 && t.Context().Err() == nil; {
		_, now, err := s.Get(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		released = now.Results["replayed"]
	}
	acts, err := job.Open(job.Config{Dir: filepath.Join(w.dir, "acts"), Replay: w.app.Replays()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acts.PlanAct(t.Context(), by, job.Park, job.Selection{}, 0); err != nil {
		t.Fatal(err)
	}
	if err := acts.Close(); err != nil {
		t.Error(err)
	}
	to := t.TempDir()
	sum, err := w.app.Backup(t.Context(), by, app.BackupTo{Dir: filepath.Join(to, "data"), Keys: filepath.Join(to, "keys"), Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	dir := filepath.Join(to, "restored")
	if _, err := app.Restore(t.Context(), by, app.RestoreFrom{From: filepath.Join(to, "data", sum.Name), Keys: filepath.Join(to, "keys", sum.Name), Dir: dir, Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	for _, none := range []string{"recipes", "acts"} {
		if _, err := os.Stat(filepath.Join(dir, none)); !os.IsNotExist(err) {
			t.Errorf("the copy has %s", none)
		}
	}
	a, err := app.Open(t.Context(), app.Options{Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	before, err := a.Store.List(t.Context(), store.Filter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	s = jobs(a, dir)
	for t.Context().Err() == nil {
		_, now, err := s.Get(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if done := now.Results["replayed"] + now.Results["moved"]; done == len(fixed) {
			if now.Results["replayed"] == len(fixed) {
				t.Error("the job was over before the backup")
			}
			break
		}
		if now.State != job.Running && now.State != job.Done {
			t.Fatalf("%+v", now)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, r := range before {
		now, err := a.Store.Get(t.Context(), r.ID)
		if err != nil || now.Revision != r.Revision || now.State == claimdlq.StateQueued {
			t.Errorf("record %d was moved to %v, %v", r.ID, now.State, err)
		}
	}
}
