package api_test

import (
	"net/http"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
)

type plannedAct struct {
	Plan     api.ActPlan     `json:"plan"`
	Progress api.ActProgress `json:"progress"`
}

func (w *world) send(as, path string, body any) answer {
	w.t.Helper()
	return w.do(call{as: as, method: http.MethodPost, path: path, body: body})
}

// acted follows an act to its end.
func (w *world) acted(as, id string) api.ActProgress {
	w.t.Helper()
	next, stop := w.follow(as, "/v1/acts/"+id+"/events", "")
	defer stop()
	for {
		e, ok := next()
		if !ok {
			w.t.Fatal("the events ended without the end")
		}
		if e.name == "end" {
			return into[plannedAct](w.get(as, "/v1/acts/"+id).want(http.StatusOK)).Progress
		}
	}
}

// A group is parked by one person and given back by two: one plan, one approval, one
// entry for each record.
func TestActs_AGroupIsParkedAndUnparkedByOnePlanEach(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("bert", everyone, auth.Approver)
	w.user("ada", everyone, auth.Admin)
	ids := w.take(partnerA, 1, 150, "missing-ndc@"+ones(150))
	other := w.take(partnerB, 1000, 1, "missing-ndc@1")[0]
	all := with("filter", map[string]any{"partner": partnerA}, "act", "park")

	park := into[plannedAct](w.send("anna", "/v1/acts", all).want(http.StatusCreated))
	if park.Plan.Items != 150 || park.Plan.Act != "park" || park.Progress.NeedsApproval || park.Plan.Verdicts["done"] != 150 || park.Plan.Rate != 500 {
		t.Fatalf("%+v", park)
	}
	at := "/v1/acts/" + park.Plan.ID
	w.send("anna", at+"/run:ask", because).want(http.StatusUnprocessableEntity)
	w.send("anna", at+"/run", with("digest", strings.Repeat("0", 64))).want(http.StatusPreconditionFailed)
	w.send("anna", at+"/run", with("digest", park.Plan.Digest)).want(http.StatusOK)
	if end := w.acted("anna", park.Plan.ID); end.State != "done" || end.Results["done"] != 150 || end.Runner != "anna" {
		t.Fatalf("%+v", end)
	}
	w.send("anna", at+"/run", with("digest", park.Plan.Digest)).want(http.StatusConflict)

	unpark := into[plannedAct](w.send("anna", "/v1/acts", with("filter", map[string]any{"partner": partnerA}, "act", "unpark")).want(http.StatusCreated))
	at = "/v1/acts/" + unpark.Plan.ID
	run := with("digest", unpark.Plan.Digest)
	if unpark.Plan.Items != 150 || !unpark.Progress.NeedsApproval {
		t.Fatalf("%+v", unpark)
	}
	w.send("anna", at+"/run", run).want(http.StatusForbidden)
	asked := into[api.Approval](w.send("anna", at+"/run:ask", because).want(http.StatusCreated))
	if asked.On != "ACT:"+unpark.Plan.ID || asked.Permission != auth.RecordUnpark || asked.Digest != unpark.Plan.Digest {
		t.Errorf("%+v", asked)
	}
	w.send("bert", at+"/run", run).want(http.StatusForbidden)
	w.send("bert", "/v1/approvals/"+asked.ID+"/approve", map[string]any{"digest": asked.Digest}).want(http.StatusOK)
	run["approval"] = asked.ID
	// One of them moves on after it was approved: it is left alone.
	w.send("anna", "/v1/acts", with("ids", ids[:1], "act", "withdraw")).want(http.StatusCreated)
	moved, err := w.app.Flow.Retain.Withdraw(t.Context(), claimdlq.By{Actor: "carl", Reason: "TEST"}, ids[3])
	if err != nil {
		t.Fatal(err)
	}
	if got := into[api.ActProgress](w.send("anna", at+"/run", run).want(http.StatusOK)); got.ApprovedBy != "bert" {
		t.Errorf("%+v", got)
	}
	if end := w.acted("anna", unpark.Plan.ID); end.Results["done"] != 149 || end.Results["moved"] != 1 {
		t.Errorf("%+v", end)
	}
	for i, id := range ids {
		if r := w.rec(id); i == 3 && r.Revision != moved.Revision || i != 3 && r.State != claimdlq.StateQuarantined {
			t.Errorf("record %d is %s", id, r.State)
		}
	}
	if r := w.rec(other); r.Revision != 1 {
		t.Errorf("another partner's record is %s", r.State)
	}
	log := w.get("ada", "/v1/audit?limit=1000&record="+ids[0].String()).want(http.StatusOK).body
	if strings.Count(log, "park job "+park.Plan.ID+": TEST") != 1 || strings.Count(log, "unpark job "+unpark.Plan.ID+": TEST") != 1 {
		t.Errorf("%s", log)
	}
	items := into[struct {
		Items []api.Item
		Next  *int
	}](w.get("anna", at+"/items?result=moved").want(http.StatusOK))
	if len(items.Items) != 1 || items.Items[0].Record != uint64(ids[3]) || items.Items[0].Verdict != "done" || items.Next != nil {
		t.Errorf("%+v", items)
	}
	// The approval was for this plan.
	again := into[plannedAct](w.send("anna", "/v1/acts", with("ids", ids[:2], "act", "withdraw")).want(http.StatusCreated))
	run["digest"] = again.Plan.Digest
	w.send("anna", "/v1/acts/"+again.Plan.ID+"/run", run).want(http.StatusConflict)
}

// What is asked for is the act's own permission, and each is somebody's.
func TestActs_AskForThePermissionOfTheAct(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("otto", everyone, auth.Operator)
	w.user("vera", everyone, auth.Viewer)
	w.user("ada", everyone, auth.Admin)
	w.user("lara", []string{partnerB}, auth.Analyst)
	ids := w.take(partnerA, 1, 3, "missing-ndc@1,2,3")
	w.take(partnerB, 1000, 1, "missing-ndc@1")
	plan := func(as, act string) answer { return w.send(as, "/v1/acts", with("ids", ids, "act", act)) }
	plan("otto", "withdraw").want(http.StatusForbidden)
	plan("vera", "park").want(http.StatusForbidden)
	plan("lara", "park").want(http.StatusNotFound)
	plan("anna", "replay").want(http.StatusBadRequest)
	plan("anna", "unpark").want(http.StatusUnprocessableEntity) // none is parked
	w.send("lara", "/v1/acts", with("filter", map[string]any{}, "act", "park")).want(http.StatusNotFound)
	w.send("anna", "/v1/acts", with("ids", ids, "filter", map[string]any{}, "act", "park")).want(http.StatusBadRequest)
	withdraw := into[plannedAct](plan("anna", "withdraw").want(http.StatusCreated))
	at := "/v1/acts/" + withdraw.Plan.ID
	for _, verb := range []string{"run", "run:ask", "pause", "resume", "cancel"} {
		body := any(because)
		if verb == "run" {
			body = with("digest", withdraw.Plan.Digest)
		}
		w.send("otto", at+"/"+verb, body).want(http.StatusForbidden)
		w.send("lara", at+"/"+verb, body).want(http.StatusNotFound)
		w.send("anna", "/v1/replays/"+withdraw.Plan.ID+"/"+verb, body).want(http.StatusNotFound)
	}
	if log := w.get("ada", "/v1/audit?actor=otto&action=denied").want(http.StatusOK).body; strings.Count(log, "RECORD.WITHDRAW") != 6 {
		t.Errorf("refusals are not audited: %s", log)
	}
	w.get("lara", at).want(http.StatusNotFound)
	w.get("lara", at+"/items").want(http.StatusNotFound)
	w.get("anna", "/v1/replays/"+withdraw.Plan.ID).want(http.StatusNotFound)
	if body := w.get("anna", "/v1/replays").want(http.StatusOK).body; strings.Contains(body, withdraw.Plan.ID) {
		t.Error("an act is listed as a replay")
	}
	if a := w.get("lara", "/v1/acts").want(http.StatusOK); strings.Contains(a.body, withdraw.Plan.ID) {
		t.Error("another partner's act is listed")
	}
	if a := w.get("vera", "/v1/acts").want(http.StatusOK); !strings.Contains(a.body, withdraw.Plan.ID) {
		t.Error("an act is not listed")
	}
	replay := into[planned](w.send("anna", "/v1/replays", with("ids", ids)).want(http.StatusCreated))
	w.get("anna", "/v1/acts/"+replay.Plan.ID).want(http.StatusNotFound)
	w.send("anna", "/v1/acts/"+replay.Plan.ID+"/cancel", because).want(http.StatusNotFound)
	if got := into[api.ActProgress](w.send("anna", at+"/cancel", because).want(http.StatusOK)); got.State != "cancelled" || got.Watching {
		t.Errorf("%+v", got)
	}
	for _, id := range ids {
		if w.rec(id).Revision != 1 {
			t.Errorf("record %d has moved", id)
		}
	}
}
