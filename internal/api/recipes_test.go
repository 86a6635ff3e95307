package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/testclaims"
)

// setNDC is the rule that mends missing-ndc.
var setNDC = map[string]any{"op": "set", "segment": "07", "field": "D7", "value": "99999000102"}

func (w *world) preview(as string, body any) answer {
	w.t.Helper()
	return w.do(call{as: as, method: http.MethodPost, path: "/v1/recipes:preview", body: body, payload: true})
}

// over asks for a recipe until it is over.
func (w *world) over(as, id string) api.Recipe {
	w.t.Helper()
	for {
		r := into[api.Recipe](w.get(as, "/v1/recipes/"+id).want(http.StatusOK))
		switch r.State {
		case "done", "cancelled":
			return r
		case "stopped":
			w.t.Fatalf("it has stopped: %+v", r)
		}
		if w.t.Context().Err() != nil {
			w.t.Fatal("it does not end")
		}
	}
}

type items struct {
	Items []api.RecipeItem
	Next  *int
}

// One recipe mends a group, its records are replayed by its name, and no value of it is
// anywhere but in the vault.
func TestRecipe_MendsAGroupThatIsReplayedByItsName(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("otto", everyone, auth.Operator)
	w.user("ada", everyone, auth.Admin)
	bad := w.take(partnerA, 1, 6, "missing-ndc@1,2,3,4,5")
	worse := w.take(partnerA, 50, 1, "missing-ndc@1", "bad-money@1")[0]
	other := w.take(partnerA, 60, 1, "bad-money@1")[0]
	w.pay("anna", bad[4], "correct", 1, with("rx_edits", []any{map[string]any{"op": "set", "transaction": 1, "segment": "07", "field": "D7", "value": "99999000102"}})).want(http.StatusOK)

	const value = "99999000102"
	body := with("filter", map[string]any{"stream": "ncpdp"}, "rx_rules", []any{setNDC})
	w.preview("otto", body).want(http.StatusForbidden)
	a := w.preview("anna", body).want(http.StatusCreated)
	r := into[api.Recipe](a)
	if r.State != "previewed" || r.Items != 6 || r.Corrected != 1 || r.Counts["clean"] != 4 || r.Counts["faulty"] != 2 || strings.Contains(a.body, value) {
		t.Fatalf("%s", a.body)
	}
	if again := into[api.Recipe](w.preview("anna", with("filter", map[string]any{"stream": "ncpdp"}, "rx_rules", []any{setNDC}, "again", true)).want(http.StatusCreated)); again.Items != 7 || again.Counts["unchanged"] != 1 {
		t.Errorf("%+v", again)
	}
	rest := into[api.Recipe](w.preview("anna", with("filter", map[string]any{"stream": "ncpdp"}, "rx_rules", []any{setNDC}, "before", bad[2])).want(http.StatusCreated))
	if rest.Items != 2 || rest.Remaining != 0 || rest.Next != nil {
		t.Errorf("%+v", rest)
	}
	clean := w.get("anna", "/v1/recipes/"+r.ID+"/items?verdict=clean&limit=3").want(http.StatusOK)
	page := into[items](clean)
	if len(page.Items) != 3 || page.Next == nil || page.Items[0].Places[0].After != "99999999999" || page.Items[0].Places[0].FieldName != "407-D7 Product/Service ID" || strings.Contains(clean.body, value) {
		t.Errorf("%s", clean.body)
	}
	for _, x := range into[items](w.get("anna", "/v1/recipes/"+r.ID+"/items?verdict=faulty").want(http.StatusOK)).Items {
		if x.Code != "NCPDP:11-D9:MONEY" || x.Record != uint64(worse) && x.Record != uint64(other) || x.Meaning == "" {
			t.Errorf("%+v", x)
		}
	}
	if w.rec(bad[0]).Revision != 1 {
		t.Error("a preview has changed a record")
	}
	// Somebody parks one in between: it is left alone.
	w.post("anna", bad[1], "park", 1, because).want(http.StatusOK)
	apply := func(as, digest string) answer {
		return w.do(call{as: as, method: http.MethodPost, path: "/v1/recipes/" + r.ID + "/apply", body: with("digest", digest)})
	}
	plan := with("recipe", r.ID)
	w.do(call{as: "otto", method: http.MethodPost, path: "/v1/replays", body: plan}).want(http.StatusUnprocessableEntity)
	apply("otto", r.Digest).want(http.StatusForbidden)
	apply("anna", strings.Repeat("0", 64)).want(http.StatusPreconditionFailed)
	apply("anna", r.Digest).want(http.StatusOK)
	end := w.over("anna", r.ID)
	if end.State != "done" || end.Outcomes["applied"] != 3 || end.Outcomes["moved"] != 1 || end.Left != 0 || end.Runner != "anna" {
		t.Errorf("%+v", end)
	}
	apply("anna", r.Digest).want(http.StatusConflict)
	for _, i := range []int{0, 2, 3} {
		if now := w.rec(bad[i]); now.PayloadRevision != 2 || now.State != claimdlq.StateQuarantined || now.Revision != 2 {
			t.Errorf("%+v", now)
		}
		if w.entries("correct", bad[i]) != 1 {
			t.Error("a correction is not audited")
		}
	}
	if now := w.rec(bad[1]); now.State != claimdlq.StateParked || now.PayloadRevision != 1 {
		t.Errorf("%+v", now)
	}
	job := into[struct{ Plan api.Plan }](w.do(call{as: "otto", method: http.MethodPost, path: "/v1/replays", body: plan}).want(http.StatusCreated))
	if job.Plan.Items != 3 {
		t.Errorf("%+v", job.Plan)
	}
	if log := w.get("ada", "/v1/audit?limit=1000").want(http.StatusOK).body; strings.Contains(log, value) || !strings.Contains(log, "RECIPE:APPLY:"+r.ID) || !strings.Contains(log, "recipe "+r.ID) {
		t.Errorf("%s", log)
	}
}

func TestRecipe_AnX12GroupByLoopAndQualifier(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	rs := w.ingest(testclaims.Options{Claims: 5}, "sbr01-bad@2,4")
	rule := map[string]any{"op": "set", "loop": "2000B", "segment": "SBR", "element": 1, "value": "P"}
	r := into[api.Recipe](w.preview("anna", with("ids", []any{rs[0].ID, rs[1].ID}, "rules", []any{rule})).want(http.StatusCreated))
	if r.Counts["clean"] != 2 {
		t.Fatalf("%+v", r)
	}
	none := map[string]any{"op": "set", "loop": "2000B", "segment": "SBR", "where": []any{map[string]any{"element": 1, "value": "QQ"}}, "element": 1, "value": "P"}
	if x := into[api.Recipe](w.preview("anna", with("ids", []any{rs[0].ID}, "rules", []any{none})).want(http.StatusCreated)); x.Counts["not_applicable"] != 1 {
		t.Errorf("%+v", x)
	}
	w.do(call{as: "anna", method: http.MethodPost, path: "/v1/recipes/" + r.ID + "/apply", body: with("digest", r.Digest)}).want(http.StatusOK)
	if end := w.over("anna", r.ID); end.Outcomes["applied"] != 2 {
		t.Errorf("%+v", end)
	}
	for _, bad := range []map[string]any{
		{"op": "set", "segment": "ISA", "element": 6, "value": "TESTMARK"},
		{"op": "set", "segment": "SE", "element": 1, "value": "TESTMARK"},
		{"op": "insert_after", "segment": "CLM", "text": "TESTMARK"},
	} {
		if a := w.preview("anna", with("ids", []any{rs[0].ID}, "rules", []any{bad})); a.status < 400 || a.status >= 500 || strings.Contains(a.body, "TESTMARK") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

func TestRecipe_OfAnotherPartnerDoesNotExist(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("lara", []string{partnerA}, auth.Analyst)
	w.take(partnerA, 1, 1, "missing-ndc@1")
	w.take(partnerB, 100, 1, "missing-ndc@1")
	r := into[api.Recipe](w.preview("anna", with("filter", map[string]any{}, "rx_rules", []any{setNDC})).want(http.StatusCreated))
	if r.Items != 2 {
		t.Fatalf("%+v", r)
	}
	w.get("lara", "/v1/recipes/"+r.ID).want(http.StatusNotFound)
	w.get("lara", "/v1/recipes/"+r.ID+"/items").want(http.StatusNotFound)
	w.do(call{as: "lara", method: http.MethodPost, path: "/v1/recipes/" + r.ID + "/apply", body: with("digest", r.Digest)}).want(http.StatusNotFound)
	w.preview("lara", with("filter", map[string]any{}, "rx_rules", []any{setNDC})).want(http.StatusNotFound)
	mine := into[api.Recipe](w.preview("lara", with("filter", map[string]any{"partner": partnerA}, "rx_rules", []any{setNDC})).want(http.StatusCreated))
	if got := into[struct{ Recipes []api.Recipe }](w.get("lara", "/v1/recipes").want(http.StatusOK)).Recipes; len(got) != 1 || got[0].ID != mine.ID {
		t.Errorf("%+v", got)
	}
}

// No canary of the claims and no value of the rules is in the files.
func TestRecipe_FilesHoldNoValue(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.take(partnerA, 1, 3, "missing-ndc@1,2,3")
	w.ingest(testclaims.Options{Claims: 3}, "sbr01-bad@1")
	const mark = "TESTVALUE77"
	name := map[string]any{"op": "set", "segment": "NM1", "where": []any{map[string]any{"element": 1, "value": "IL"}}, "element": 3, "value": mark}
	rx := map[string]any{"op": "set", "segment": "01", "field": "CB", "value": mark}
	r := into[api.Recipe](w.preview("anna", with("filter", map[string]any{}, "rules", []any{name}, "rx_rules", []any{rx, setNDC})).want(http.StatusCreated))
	look := func(when string) {
		dir, _ := filepath.Glob(filepath.Join(w.recipeDir, "*"))
		if len(dir) == 0 {
			t.Fatal("no files")
		}
		for _, f := range dir {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range append(append(testclaims.Marks(testclaims.Options{}), testclaims.RxMarks(testclaims.RxOptions{})...), mark, "TESTREASON") {
				if strings.Contains(string(b), m) {
					t.Errorf("%s: %s holds %q", when, filepath.Base(f), m)
				}
			}
			if when == "done" && strings.HasSuffix(f, ".recipe") && !strings.Contains(string(b), `"sealed":null`) {
				t.Errorf("the values are still sealed in %s", filepath.Base(f))
			}
		}
	}
	look("previewed")
	marks := append(append(testclaims.Marks(testclaims.Options{}), testclaims.RxMarks(testclaims.RxOptions{})...), mark)
	for _, at := range []string{"/v1/recipes", "/v1/recipes/" + r.ID, "/v1/recipes/" + r.ID + "/items", "/v1/records/1/faults", "/v1/partners"} {
		a := w.get("anna", at).want(http.StatusOK)
		for _, m := range marks {
			if strings.Contains(a.body, m) {
				t.Errorf("%s shows %q", at, m)
			}
		}
	}
	w.do(call{as: "anna", method: http.MethodPost, path: "/v1/recipes/" + r.ID + "/apply", body: with("digest", r.Digest)}).want(http.StatusOK)
	if end := w.over("anna", r.ID); end.Outcomes["applied"] == 0 {
		t.Errorf("%+v", end)
	}
	look("done")
}
