package api_test

import (
	"net/http"
	"testing"

	"claimdlq/internal/api"
	"claimdlq/internal/auth"
)

// Whoever is limited to a partner sends none of its claims to another: the BIN and the
// PCN say whose a pharmacy claim is, and may be corrected.
func TestCorrect_NobodySendsAClaimToAPartnerThatIsNotHis(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("lara", []string{partnerA}, auth.Analyst)
	w.user("both", []string{partnerA, "999999:ELSEWHERE"}, auth.Analyst)
	ids := w.take(partnerA, 1, 4, "missing-ndc@1,2,3,4")
	ndc := map[string]any{"op": "set", "transaction": 1, "segment": "07", "field": "D7", "value": "99999000102"}
	pcn := map[string]any{"op": "set", "field": "A4", "value": "ELSEWHERE"}
	body := with("rx_edits", []any{ndc, pcn})

	w.pay("lara", ids[0], "correct:propose", nil, body).want(http.StatusUnprocessableEntity)
	w.pay("lara", ids[0], "correct", 1, body).want(http.StatusUnprocessableEntity)
	if r := w.rec(ids[0]); r.Partner != partnerA || r.Revision != 1 {
		t.Errorf("%+v", r)
	}
	w.pay("both", ids[0], "correct", 1, body).want(http.StatusOK)
	w.pay("lara", ids[1], "correct", 1, with("rx_edits", []any{ndc})).want(http.StatusOK)

	// A recipe neither: not his own, and not one that another has made of his claims.
	rules := with("filter", map[string]any{"partner": partnerA}, "again", true, "rx_rules", []any{setNDC, map[string]any{"op": "set", "field": "A4", "value": "ELSEWHERE"}})
	w.preview("lara", rules).want(http.StatusUnprocessableEntity)
	r := into[api.Recipe](w.preview("anna", rules).want(http.StatusCreated))
	if r.Counts["clean"] != 3 {
		t.Fatalf("%+v", r)
	}
	apply := call{as: "lara", method: http.MethodPost, path: "/v1/recipes/" + r.ID + "/apply", body: with("digest", r.Digest)}
	w.do(apply).want(http.StatusNotFound)
	apply.as = "both"
	w.do(apply).want(http.StatusOK)
	if end := w.over("anna", r.ID); end.Outcomes["applied"] != 3 {
		t.Errorf("%+v", end)
	}
}
