package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
)

// DESIGN 6: deadlines tell days of service; they are shown through the payload role, with
// a reason, audited.
func TestDeadlines_AreListedForThePayloadRoleWithAReason(t *testing.T) {
	t.Parallel()
	w := setupWith(t, rules{windows: filing.Windows{"ncpdp/" + partnerA: 1, "ncpdp/" + partnerB: filing.MaxWindow}})
	w.user("anna", everyone, auth.Analyst)
	w.user("bert", []string{partnerB}, auth.Analyst)
	w.user("otto", everyone, auth.Operator, auth.Approver, auth.Admin, auth.Viewer)
	w.user("ada", everyone, auth.Admin)
	a := w.take(partnerA, 1, 5, "missing-ndc@1,2,3,4,5")
	b := w.take(partnerB, 100, 2, "missing-ndc@1,2")
	ask := func(as string, body map[string]any) answer {
		t.Helper()
		if _, said := body["reason"]; !said {
			body["reason"] = "TEST late"
		}
		return w.do(call{as: as, method: http.MethodPost, path: "/v1/deadlines", body: body, payload: true})
	}
	list := func(as string, body map[string]any) api.DeadlinePage {
		t.Helper()
		return into[api.DeadlinePage](ask(as, body).want(http.StatusOK))
	}
	ids := func(ds []api.Deadline) (out []claimdlq.ID) {
		for _, d := range ds {
			out = append(out, claimdlq.ID(d.Record.ID))
		}
		return out
	}

	all := list("anna", map[string]any{}) // those near their end, and past it: partner B has ten years
	if got := ids(all.Records); len(got) != len(a) || all.NextAfter != 0 || !all.Windows {
		t.Fatalf("%v of %v: %+v", got, a, all)
	}
	for i, d := range all.Records {
		if d.Stage != "passed" || d.DaysLeft == nil || *d.DaysLeft >= 0 || d.WindowDays != 1 || i > 0 && d.LastDay < all.Records[i-1].LastDay {
			t.Errorf("%+v", d)
		}
	}
	var paged []claimdlq.ID
	for after := uint64(0); ; {
		page := list("anna", map[string]any{"limit": 2, "after": after})
		paged = append(paged, ids(page.Records)...)
		if after = page.NextAfter; after == 0 {
			break
		}
	}
	if !slices.Equal(paged, ids(all.Records)) {
		t.Errorf("by the page: %v, want %v", paged, ids(all.Records))
	}
	if got := ids(list("anna", map[string]any{"stages": []string{"in_time"}}).Records); len(got) != len(b) || !slices.Contains(got, b[0]) {
		t.Errorf("in time: %v, want %v", got, b)
	}
	if got := list("anna", map[string]any{"state": "parked"}).Records; len(got) != 0 {
		t.Errorf("parked: %+v", got)
	}

	if got := ids(list("bert", map[string]any{"stages": []string{"in_time", "passed"}}).Records); len(got) != len(b) || slices.Contains(got, a[0]) {
		t.Errorf("of partner B: %v", got)
	}
	ask("bert", map[string]any{"partner": partnerA}).want(http.StatusNotFound)
	ask("bert", map[string]any{"after": a[0]}).want(http.StatusNotFound)
	ask("otto", map[string]any{}).want(http.StatusForbidden)
	for _, reason := range []string{"", "  "} {
		if got := ask("anna", map[string]any{"reason": reason}).status; got != http.StatusBadRequest && got != http.StatusForbidden {
			t.Errorf("without a reason: %d", got)
		}
	}
	log := w.get("ada", "/v1/audit?actor=anna&action=reveal").want(http.StatusOK).body
	if n := strings.Count(log, `"DEADLINES"`); n != 6 || strings.Count(log, "TEST late") != 6 {
		t.Errorf("%d looks are in the log: %s", n, log)
	}
}
