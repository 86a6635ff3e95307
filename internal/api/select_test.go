package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"claimdlq/internal/api"
	"claimdlq/internal/auth"
)

// Lists, groups, replay plans and recipes select alike.
func TestSelection_ByAmountAndRulesIsTheSameOfListsGroupsPlansAndRecipes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("otto", everyone, auth.Operator)
	w.user("lara", []string{partnerB}, auth.Viewer)
	ids := w.take(partnerA, 1, 6, "missing-ndc@1,2,3,4,5,6")
	w.take(partnerB, 100, 2, "missing-ndc@1,2")
	r := w.rec(ids[2])
	same := 0 // in how many records the amount of r is
	for _, id := range ids {
		if w.rec(id).AmountCents == r.AmountCents {
			same++
		}
	}
	if same == len(ids) {
		t.Fatal("every claim has the same amount")
	}
	for _, c := range []struct {
		about map[string]any
		want  int
	}{
		{map[string]any{"partner": partnerA, "amount_min_cents": r.AmountCents, "amount_max_cents": r.AmountCents}, same},
		{map[string]any{"partner": partnerA, "rule_version": r.RuleVersion}, len(ids)},
		{map[string]any{"rule_version": r.RuleVersion}, len(ids) + 2},
		{map[string]any{"rule_version": "NONE"}, 0},
		{map[string]any{"amount_min_cents": int64(1) << 50}, 0},
		{map[string]any{"rule_version": r.RuleVersion, "detail": "NONE"}, 0},
	} {
		q := url.Values{"state": {"quarantined"}}
		for k, v := range c.about {
			q.Set(k, fmt.Sprint(v))
		}
		if got := into[api.RecordPage](w.get("anna", "/v1/records?"+q.Encode()).want(http.StatusOK)); len(got.Records) != c.want {
			t.Errorf("%v: %d records, want %d", c.about, len(got.Records), c.want)
		}
		got := into[api.GroupList](w.get("anna", "/v1/groups?"+q.Encode()).want(http.StatusOK))
		n, claims := 0, 0
		for _, g := range got.Groups {
			n, claims = n+int(g.Records), claims+int(g.Claims)
			if g.OldestAt == nil || g.Detail == "" {
				t.Errorf("%v: %+v", c.about, g)
			}
		}
		if n != c.want || int(got.Records) != c.want || int(got.Claims) != claims {
			t.Errorf("%v: groups of %d records, want %d: %+v", c.about, n, c.want, got)
		}
		status := http.StatusCreated
		if c.want == 0 {
			status = http.StatusUnprocessableEntity // nothing is selected
		}
		plan := w.do(call{as: "otto", method: http.MethodPost, path: "/v1/replays", body: with("filter", c.about)}).want(status)
		recipe := w.preview("anna", with("filter", c.about, "rx_rules", []any{setNDC})).want(status)
		if c.want == 0 {
			continue
		}
		if got := into[planned](plan).Plan.Items; got != c.want {
			t.Errorf("%v: a plan of %d, want %d", c.about, got, c.want)
		}
		if got := into[api.Recipe](recipe).Items; got != c.want {
			t.Errorf("%v: a recipe of %d, want %d", c.about, got, c.want)
		}
	}
	// Of every state, and of one's own partners alone.
	w.take(partnerA, 50, 1)
	if got := into[api.GroupList](w.get("anna", "/v1/groups?rule_version="+url.QueryEscape(r.RuleVersion)).want(http.StatusOK)); got.Records != 9 || got.Groups[0].Records != 6 {
		t.Errorf("%+v", got)
	}
	if got := into[api.GroupList](w.get("lara", "/v1/groups?rule_version="+url.QueryEscape(r.RuleVersion)).want(http.StatusOK)); got.Records != 2 || len(got.Groups) != 1 {
		t.Errorf("%+v", got)
	}
	if got := into[api.GroupList](w.get("anna", "/v1/groups?limit=1&state=settled&rule_version="+url.QueryEscape(r.RuleVersion)).want(http.StatusOK)); got.Records != 0 {
		t.Errorf("%+v", got)
	}
}

func TestSelection_GroupsLookAtSoManyRecordsAndNoMore(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	w.user("lara", []string{"ZZ:TESTPAYER07"}, auth.Viewer)
	w.fill(100_001)
	a := w.get("vera", "/v1/groups?rule_version=v1").want(http.StatusUnprocessableEntity)
	if p := into[api.Problem](a); p.Code != "refused" || p.Hint == "" {
		t.Errorf("%s", a.body)
	}
	for as, q := range map[string]string{"vera": "&partner=ZZ:TESTPAYER07", "lara": ""} { // who may see a few is asked about those
		if got := into[api.GroupList](w.get(as, "/v1/groups?rule_version=v1"+q).want(http.StatusOK)); got.Records != 2500 {
			t.Errorf("%s: %d records", as, got.Records)
		}
	}
}
