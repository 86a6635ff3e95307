package api_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/testclaims"
)

var because = map[string]any{"reason": "TESTREASON"}

// post sends a command on a record as it was seen.
func (w *world) post(as string, id claimdlq.ID, verb string, match any, body any) answer {
	w.t.Helper()
	return w.do(call{as: as, method: http.MethodPost, path: path(id, verb), body: body, match: match})
}

// 25, F: a key is good for one command: pressing twice does it once.
func TestCommands_TheSameKeyGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("otto", everyone, auth.Operator)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	c := call{as: "anna", method: http.MethodPost, path: path(id, "park"), body: because, match: 1, key: "K1"}
	first := w.do(c).want(http.StatusOK)
	again := w.do(c).want(http.StatusOK)
	if first.body != again.body || again.header.Get("Idempotent-Replayed") != "true" || first.header.Get("Idempotent-Replayed") != "" || again.header.Get("ETag") != `"2"` {
		t.Errorf("%s\n%s", first.body, again.body)
	}
	if r := w.rec(id); r.Revision != 2 || r.State != claimdlq.StateParked {
		t.Errorf("%+v", r)
	}
	c.body = map[string]any{"reason": "ANOTHER"}
	w.do(c).want(http.StatusUnprocessableEntity)
	c.as, c.body = "otto", because // another person's key is another key
	w.do(c).want(http.StatusPreconditionFailed)
	c.header = map[string]string{"Idempotency-Key": ""}
	w.do(c).want(http.StatusBadRequest)
}

// 35, F68: two people on one record: one of them is told, nothing is lost.
func TestCommands_OfTwoAtOnceOneIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("otto", everyone, auth.Operator)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	var wg sync.WaitGroup
	statuses := make([]int, 2)
	for i, as := range []string{"anna", "otto"} {
		wg.Go(func() { statuses[i] = w.post(as, id, "park", 1, because).status })
	}
	wg.Wait()
	if statuses[0]+statuses[1] != http.StatusOK+http.StatusPreconditionFailed {
		t.Errorf("%v", statuses)
	}
	w.do(call{as: "anna", method: http.MethodPost, path: path(id, "park"), body: because}).want(http.StatusPreconditionRequired)
}

func TestCommands_NeedAReason(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	for _, verb := range []string{"park", "unpark", "withdraw", "replay", "resolve"} {
		for _, body := range []any{map[string]any{}, map[string]any{"reason": ""}, map[string]any{"reason": "   ", "arrived": true}} {
			if a := w.post("anna", id, verb, 1, body); a.status != http.StatusBadRequest && a.status != http.StatusUnprocessableEntity {
				t.Errorf("%s %v: %d %s", verb, body, a.status, a.body)
			}
		}
	}
	if w.rec(id).Revision != 1 {
		t.Error("the record has moved")
	}
}

// Four eyes: un-park and withdraw need a second person, for this revision, once.
func TestCommands_UnparkNeedsASecondPerson(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst, auth.Approver)
	w.user("bert", everyone, auth.Approver)
	w.user("lara", []string{partnerB}, auth.Approver)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	w.post("anna", id, "unpark:ask", 1, because).want(http.StatusUnprocessableEntity) // it is not parked
	w.post("anna", id, "park", 1, because).want(http.StatusOK)
	if a := w.post("anna", id, "unpark", 2, because); a.status != http.StatusForbidden || !strings.Contains(a.body, "POST /v1/records/{id}/unpark:ask;") {
		t.Errorf("%d %s", a.status, a.body)
	}
	asked := into[api.Approval](w.post("anna", id, "unpark:ask", 2, because).want(http.StatusCreated))
	body := map[string]any{"reason": "TESTREASON", "approval": asked.ID}
	w.post("anna", id, "unpark", 2, body).want(http.StatusForbidden) // nobody has approved it
	yes := func(as string) answer {
		return w.do(call{as: as, method: http.MethodPost, path: "/v1/approvals/" + asked.ID + "/approve", body: map[string]any{"digest": asked.Digest}})
	}
	yes("anna").want(http.StatusForbidden) // his own
	if a := yes("lara"); a.status == http.StatusOK {
		t.Error("somebody approved for a partner who is not his")
	}
	list := into[struct{ Approvals []api.Approval }](w.get("bert", "/v1/approvals?state=asked").want(http.StatusOK))
	if len(list.Approvals) != 1 || !list.Approvals[0].Decidable {
		t.Errorf("%+v", list)
	}
	if o := into[api.Overview](w.get("bert", "/v1/overview")); len(o.NeedsMe) == 0 || o.NeedsMe[0].What != "approvals" {
		t.Errorf("%+v", o.NeedsMe)
	}
	yes("bert").want(http.StatusOK)
	w.post("anna", id, "withdraw", 2, body).want(http.StatusConflict) // something else was approved
	w.post("anna", id, "unpark", 2, body).want(http.StatusOK)
	if r := w.rec(id); r.State != claimdlq.StateQuarantined || r.Revision != 3 {
		t.Errorf("%+v", r)
	}
	w.post("anna", id, "park", 3, because).want(http.StatusOK)
	w.post("anna", id, "unpark", 4, body).want(http.StatusConflict) // it was for another revision, and is used
}

// An analyst corrects a claim and releases it; every look is audited in his name.
func TestPayload_IsSeenCorrectedAndReplayedInSomebodysName(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("otto", everyone, auth.Operator)
	w.user("ada", everyone, auth.Admin)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	pay := func(as, verb string, match, body any) answer {
		return w.do(call{as: as, method: http.MethodPost, path: path(id, verb), body: body, match: match, payload: true})
	}
	w.do(call{as: "anna", method: http.MethodPost, path: path(id, "reveal"), body: because}).want(http.StatusNotFound) // not on this listener
	pay("otto", "reveal", nil, because).want(http.StatusForbidden)
	pay("anna", "reveal", nil, map[string]any{}).want(http.StatusBadRequest)
	if n := strings.Count(w.get("ada", "/v1/audit?action=reveal").want(http.StatusOK).body, `"action":"reveal"`); n != 0 {
		t.Errorf("%d looks are audited that were refused", n)
	}
	seen := pay("anna", "reveal", nil, because).want(http.StatusOK)
	if !strings.Contains(seen.body, testclaims.RxMarks(testclaims.RxOptions{})[0]) || seen.header.Get("Content-Type") != "application/octet-stream" {
		t.Error("the document is not what came in")
	}
	if a := w.get("ada", "/v1/audit?action=reveal").want(http.StatusOK).body; !strings.Contains(a, `"actor":"anna"`) || !strings.Contains(a, "TESTREASON") {
		t.Errorf("%s", a)
	}
	p := into[api.Proposal](pay("anna", "correct:propose", nil, map[string]any{"reason": "TESTREASON", "document": []byte(seen.body)}).want(http.StatusOK))
	if p.Clean || len(p.Codes) == 0 {
		t.Errorf("%+v", p)
	}
	fixed := w.clean(1)
	body := map[string]any{"reason": "TESTREASON", "document": fixed}
	a := pay("anna", "correct:propose", nil, body).want(http.StatusOK)
	if p = into[api.Proposal](a); !p.Clean || len(p.RxChanges) == 0 || p.Revision != 1 {
		t.Fatalf("%s", a.body)
	}
	pay("anna", "correct", 7, body).want(http.StatusPreconditionFailed)
	pay("otto", "correct", 1, body).want(http.StatusForbidden)
	pay("anna", "correct", 1, body).want(http.StatusOK)
	pay("anna", "correct", 1, body).want(http.StatusPreconditionFailed)
	dry := into[api.Moved](w.post("anna", id, "replay", 2, map[string]any{"reason": "TESTREASON", "dry_run": true}).want(http.StatusOK))
	if dry.Result != "replayed" || dry.Record.State != "quarantined" {
		t.Errorf("%+v", dry)
	}
	got := into[api.Moved](w.post("anna", id, "replay", 2, because).want(http.StatusOK))
	if got.Result != "replayed" || got.Record.State != "queued" || got.Record.ReplayCount != 1 {
		t.Errorf("%+v", got)
	}
	d := into[api.RecordDetails](w.get("otto", path(id, "")).want(http.StatusOK))
	for _, e := range d.Timeline.Entries {
		if (e.Action == "correct" || e.Action == "replay" || e.Action == "reveal") && e.Actor != "anna" {
			t.Errorf("%s by %s", e.Action, e.Actor)
		}
	}
}

// Break-glass: who has no payload access by role gets it for a while, in the audit log.
func TestPayload_BreakingTheGlassIsForAWhileAndAudited(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ada", everyone, auth.Admin)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	look := call{as: "ada", method: http.MethodPost, path: path(id, "reveal"), body: because, payload: true}
	w.do(look).want(http.StatusForbidden)
	a := w.do(call{as: "ada", method: http.MethodPost, path: "/v1/session/elevation", body: because}).want(http.StatusOK)
	w.cookies["ada"] = a.cookie()
	if s := into[api.Session](a); s.ElevatedUntil == nil {
		t.Errorf("%s", a.body)
	}
	w.do(look).want(http.StatusOK)
	if a := w.get("ada", "/v1/audit?action=elevate").want(http.StatusOK); !strings.Contains(a.body, "TESTREASON") {
		t.Errorf("%s", a.body)
	}
}

// clean returns the claim with the given number as it would be without a fault.
func (w *world) clean(n int) []byte {
	w.t.Helper()
	bin, pcn, _ := strings.Cut(partnerA, ":")
	var out []byte
	_, err := testclaims.EachRx(testclaims.RxOptions{Claims: 1, FirstClaim: n, Seed: uint64(n), BIN: bin, PCN: pcn, Canary: true}, func(_ int, b []byte) error {
		out = bytes.Clone(b)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func TestErrors_NeverRepeatWhatWasSent(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	const mark = "TESTSECRETVALUE"
	for _, c := range []call{
		{method: http.MethodGet, path: "/v1/records?state=" + mark},
		{method: http.MethodGet, path: "/v1/records?" + mark + "=1"},
		{method: http.MethodGet, path: "/v1/records?cursor=" + mark},
		{method: http.MethodGet, path: "/v1/records/" + mark},
		{method: http.MethodGet, path: "/v1/replays/" + mark},
		{method: http.MethodGet, path: "/" + mark},
		{method: http.MethodPost, path: path(id, "park"), match: 1, body: map[string]any{"reason": "x", mark: mark}},
		{method: http.MethodPost, path: path(id, "park"), match: 1, body: []byte(`{"reason": ` + mark)},
		{method: http.MethodPost, path: path(id, "park"), match: 1, body: map[string]any{"reason": 5, "x" + mark: map[string]any{mark: mark}}},
		{method: http.MethodPost, path: path(id, "reveal"), payload: true, body: map[string]any{"reason": "x", "claim": mark}},
		{method: http.MethodPost, path: path(id, "correct:propose"), payload: true, body: map[string]any{"reason": "x", "document": mark + "~"}},
		{method: http.MethodPost, path: path(id, "correct:propose"), payload: true, body: map[string]any{"reason": "x", "document": []byte(mark)}},
		{method: http.MethodPost, path: path(id, "park"), match: mark, body: because},
		{method: http.MethodPost, path: path(id, "park"), match: 1, key: mark + "!", body: because},
		{method: http.MethodPost, path: "/v1/sizing", body: map[string]any{"rate": mark}},
	} {
		c.as = "anna"
		if a := w.do(c); a.status < 400 || strings.Contains(a.body, mark) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
}

// The amount counts as the number of claims does, whether one record is replayed or a
// plan of it.
func TestReplay_OfALargeAmountNeedsASecondPerson(t *testing.T) {
	t.Parallel()
	w := setupSecond(t, auth.Second{Claims: 100, Cents: 2})
	w.user("anna", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	if r := w.rec(id); r.Claims != 1 || r.AmountCents < 2 {
		t.Fatalf("%d claims of %d cents show nothing", r.Claims, r.AmountCents)
	}
	w.post("anna", id, "replay", 1, map[string]any{"reason": "TEST", "unchanged": true, "dry_run": true}).want(http.StatusOK)
	if a := w.post("anna", id, "replay", 1, map[string]any{"reason": "TEST", "unchanged": true}).want(http.StatusForbidden); !strings.Contains(a.body, "run:ask") {
		t.Errorf("no way on: %s", a.body)
	}
	plan := into[planned](w.do(call{as: "anna", method: http.MethodPost, path: "/v1/replays", body: map[string]any{"reason": "TEST", "ids": []any{id}}}).want(http.StatusCreated))
	if !plan.Progress.NeedsApproval {
		t.Errorf("%+v", plan.Progress)
	}
}
