package api_test

import (
	"net/http"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/phi"
)

// Nobody approves his own work: not the plan that he made, nor a correction of a record
// that is released, made by himself at the console or the command line, or by a recipe
// that he wrote or applied. Another approver may, and he may approve what is not his.
func TestApproval_NobodyReleasesHisOwnWork(t *testing.T) {
	t.Parallel()
	w := setupSecond(t, auth.Second{Claims: 2, Cents: 1 << 40})
	w.user("anna", everyone, auth.Analyst)
	for _, both := range []string{"bert", "carl", "dora"} {
		w.user(both, everyone, auth.Analyst, auth.Approver)
	}
	w.user("eric", everyone, auth.Approver)
	w.user("ada", everyone, auth.Admin)
	ids := w.take(partnerA, 1, 8, "missing-ndc@1,2,3,4,5,6,7,8")
	edit := with("rx_edits", []any{map[string]any{"op": "set", "transaction": 1, "segment": "07", "field": "D7", "value": "99999000102"}})
	w.pay("bert", ids[0], "correct", 1, edit).want(http.StatusOK)
	w.correctAs("cli:Bert", ids[1], 2)
	// carl writes a recipe, dora applies it.
	r := into[api.Recipe](w.preview("carl", with("ids", []any{ids[2], ids[3]}, "rx_rules", []any{setNDC})).want(http.StatusCreated))
	w.do(call{as: "dora", method: http.MethodPost, path: "/v1/recipes/" + r.ID + "/apply", body: with("digest", r.Digest)}).want(http.StatusOK)
	w.over("dora", r.ID)
	w.pay("anna", ids[4], "correct", 1, edit).want(http.StatusOK)

	run := func(planner string, ids ...claimdlq.ID) api.Approval {
		plan := into[planned](w.do(call{as: planner, method: http.MethodPost, path: "/v1/replays", body: with("ids", ids)}).want(http.StatusCreated))
		return into[api.Approval](w.do(call{as: "anna", method: http.MethodPost, path: "/v1/replays/" + plan.Plan.ID + "/run:ask", body: because}).want(http.StatusCreated))
	}
	unpark := func(id claimdlq.ID) api.Approval {
		rev := w.rec(id).Revision
		w.post("anna", id, "park", rev, because).want(http.StatusOK)
		return into[api.Approval](w.post("anna", id, "unpark:ask", rev+1, because).want(http.StatusCreated))
	}
	yes := func(as string, a api.Approval) answer {
		return w.do(call{as: as, method: http.MethodPost, path: "/v1/approvals/" + a.ID + "/approve", body: map[string]any{"digest": a.Digest}})
	}
	for name, c := range map[string]struct {
		asked api.Approval
		not   []string
		may   string
	}{
		"a correction":                            {run("anna", ids[0], ids[5], ids[6]), []string{"bert"}, "carl"},
		"a correction at the command line":        {run("anna", ids[5], ids[1], ids[7]), []string{"bert"}, "dora"},
		"a recipe":                                {run("anna", ids[2], ids[5]), []string{"carl", "dora"}, "bert"},
		"a plan":                                  {run("bert", ids[5], ids[7]), []string{"bert"}, "carl"},
		"somebody else's correction":              {run("anna", ids[4], ids[5]), nil, "bert"},
		"an un-park of a correction":              {unpark(ids[0]), []string{"bert"}, "eric"},
		"an un-park of a recipe's":                {unpark(ids[2]), []string{"carl", "dora"}, "eric"},
		"an un-park of what nobody has corrected": {unpark(ids[6]), nil, "bert"},
	} {
		for _, as := range c.not {
			if a := yes(as, c.asked); a.status != http.StatusForbidden || !strings.Contains(a.body, "your own") {
				t.Errorf("%s, by %s: %d %s", name, as, a.status, a.body)
			}
		}
		if a := yes(c.may, c.asked); a.status != http.StatusOK {
			t.Errorf("%s, by %s: %d %s", name, c.may, a.status, a.body)
		}
	}
	if n := strings.Count(w.get("ada", "/v1/audit?action=denied&limit=1000").want(http.StatusOK).body, `"action":"denied"`); n != 8 {
		t.Errorf("%d refusals are audited", n)
	}
}

// correctAs mends the nth claim of the tests in somebody's name.
func (w *world) correctAs(actor string, id claimdlq.ID, n int) {
	w.t.Helper()
	by := claimdlq.By{Actor: actor, Reason: "TEST"}
	p, err := w.app.Flow.Correct.Propose(w.t.Context(), by, id, phi.Wrap(w.clean(n)))
	if err == nil {
		_, err = w.app.Flow.Correct.Apply(w.t.Context(), by, p)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
