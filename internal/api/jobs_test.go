package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
)

type planned struct {
	Plan     api.Plan     `json:"plan"`
	Progress api.Progress `json:"progress"`
}

// event is one server-sent event; what is no event is a comment.
type event struct{ name, id, data, comment string }

// follow opens a stream of events; next returns one after the other, false at the end.
func (w *world) follow(as, path, last string) (next func() (event, bool), stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	req := w.request(call{as: as, method: http.MethodGet, path: path, header: map[string]string{"Last-Event-ID": last}}).WithContext(ctx)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		w.t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	sc := bufio.NewScanner(resp.Body)
	next = func() (e event, ok bool) {
		for sc.Scan() {
			line := sc.Text()
			switch {
			case line == "":
				return e, true
			case strings.HasPrefix(line, ":"):
				e.comment = line
			case strings.HasPrefix(line, "event: "):
				e.name = line[7:]
			case strings.HasPrefix(line, "id: "):
				e.id = line[4:]
			case strings.HasPrefix(line, "data: "):
				e.data = line[6:]
			}
		}
		return e, false
	}
	return next, func() { cancel(); _ = resp.Body.Close() }
}

// until reads events until f is content.
func until(t *testing.T, next func() (event, bool), what string, f func(e event) bool) event {
	t.Helper()
	for {
		e, ok := next()
		if !ok {
			t.Fatalf("the stream ended without %s", what)
		}
		if f(e) {
			return e
		}
	}
}

func progressIs(t *testing.T, f func(p api.Progress) bool) func(e event) bool {
	return func(e event) bool {
		var p api.Progress
		if e.name != "progress" {
			return false
		}
		if err := json.Unmarshal([]byte(e.data), &p); err != nil {
			t.Fatal(err)
		}
		return f(p)
	}
}

// corrected returns n claims in quarantine that were corrected and may be replayed.
func (w *world) corrected(as string, n int) []claimdlq.ID {
	w.t.Helper()
	var out []claimdlq.ID
	for i := range n {
		id := w.take(partnerA, 1+i, 1, "missing-ndc@1")[0]
		w.do(call{
			as: as, method: http.MethodPost, path: path(id, "correct"), match: 1, payload: true,
			body: map[string]any{"reason": "TEST", "document": w.clean(1 + i)},
		}).want(http.StatusOK)
		out = append(out, id)
	}
	return out
}

// The whole path of a job: plan, dry run, run by what was shown, events, outcome.
func TestReplays_ArePlannedTriedRunAndFollowed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.corrected("anna", 4)
	engine, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.app.Flow.Attempt.Run(engine) }()
	t.Cleanup(func() { end(); <-done })
	tick := time.NewTicker(time.Millisecond)
	t.Cleanup(tick.Stop)
	go func() { // a job does not tell the engine that something is due
		for engine.Err() == nil {
			select {
			case <-engine.Done():
			case <-tick.C:
				w.app.Flow.Attempt.Wake()
			}
		}
	}()
	send := func(path string, body any) answer {
		return w.do(call{as: "anna", method: http.MethodPost, path: path, body: body})
	}
	plan := into[planned](send("/v1/replays", map[string]any{
		"reason": "TEST", "filter": map[string]any{"partner": partnerA}, "policy": map[string]any{"canary": -1, "start_rate": 1000, "max_rate": 1000},
	}).want(http.StatusCreated))
	at := "/v1/replays/" + plan.Plan.ID
	if plan.Plan.Items != 4 || plan.Progress.State != "planned" || len(plan.Plan.Digest) != 64 || plan.Progress.NeedsApproval {
		t.Fatalf("%+v", plan)
	}
	next, stop := w.follow("anna", at+"/events", "")
	defer stop()
	send(at+"/dry-run", because).want(http.StatusAccepted)
	until(t, next, "a dry run", progressIs(t, func(p api.Progress) bool { return p.DryRunAt != nil && p.DryRun["replayed"] == 4 }))
	for _, id := range []claimdlq.ID{1, 2, 3, 4} {
		if w.rec(id).Revision != 2 {
			t.Error("a dry run has moved a record")
		}
	}
	send(at+"/run", map[string]any{"reason": "TEST", "digest": strings.Repeat("0", 64)}).want(http.StatusPreconditionFailed)
	send(at+"/run", map[string]any{"reason": "TEST", "digest": plan.Plan.Digest}).want(http.StatusOK)
	last := until(t, next, "the end", progressIs(t, func(p api.Progress) bool { return p.State == "done" && p.Ends["settled"] == 4 }))
	until(t, next, "the end of events", func(e event) bool {
		if e.name == "progress" {
			last = e
		}
		return e.name == "end"
	})
	items := into[struct{ Items []api.Item }](w.get("anna", at+"/items?result=replayed&end=settled&limit=3").want(http.StatusOK))
	if len(items.Items) != 3 || items.Items[0].Verdict != "replayed" {
		t.Errorf("%+v", items)
	}
	again, stopAgain := w.follow("anna", at+"/events", last.id)
	defer stopAgain()
	until(t, again, "the end", func(e event) bool {
		if e.name == "progress" {
			t.Errorf("%s was seen", e.data)
		}
		return e.name == "end"
	})
	// A process that was started since counts anew: whatever id a page brings, it sees where the job stands.
	anew := &world{t: t, url: serve(t, api.New, w.options), cookies: w.cookies}
	for _, id := range []string{last.id, "18446744073709551615", "-", "x-9"} {
		after, stopAfter := anew.follow("anna", at+"/events", id)
		until(t, after, "where it stands, after "+id, func(e event) bool { return e.name == "progress" })
		stopAfter()
	}
	send(at+"/run", map[string]any{"reason": "TEST", "digest": plan.Plan.Digest}).want(http.StatusConflict)
}

// Four eyes on a large replay: not by who planned it, once, for this plan only.
func TestReplays_ARateIsChangedForAReasonThatIsAudited(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("ada", everyone, auth.Admin)
	ids := w.take(partnerA, 1, 1, "missing-ndc@1")
	plan := into[planned](w.do(call{as: "anna", method: http.MethodPost, path: "/v1/replays", body: with("ids", ids)}).want(http.StatusCreated))
	rate := func(body map[string]any) answer {
		return w.do(call{as: "anna", method: http.MethodPut, path: "/v1/replays/" + plan.Plan.ID + "/rate", body: body})
	}
	rate(map[string]any{"per_second": 2, "reason": "TEST the payer asks for less"}).want(http.StatusOK)
	rate(map[string]any{"per_second": 3}).want(http.StatusOK)
	rate(map[string]any{"per_second": 4, "reason": strings.Repeat("x", 201)}).want(http.StatusBadRequest)
	log := w.get("ada", "/v1/audit?action=job").want(http.StatusOK).body
	if !strings.Contains(log, "JOB:RATE:"+plan.Plan.ID) || !strings.Contains(log, "TEST the payer asks for less") {
		t.Errorf("%s", log)
	}
}

func TestReplays_AboveTheThresholdNeedASecondPerson(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst, auth.Approver)
	w.user("bert", everyone, auth.Approver)
	w.user("vera", everyone, auth.Viewer)
	ids := w.take(partnerA, 1000, 120, "missing-ndc@"+ones(120))
	send := func(as, path string, body any) answer {
		return w.do(call{as: as, method: http.MethodPost, path: path, body: body})
	}
	plan := into[planned](send("anna", "/v1/replays", map[string]any{"reason": "TEST", "ids": ids}).want(http.StatusCreated))
	at := "/v1/replays/" + plan.Plan.ID
	if !plan.Progress.NeedsApproval || plan.Plan.Items != 120 {
		t.Fatalf("%+v", plan.Progress)
	}
	run := map[string]any{"reason": "TEST", "digest": plan.Plan.Digest}
	send("anna", at+"/run", run).want(http.StatusForbidden)
	send("vera", at+"/run", run).want(http.StatusForbidden)
	asked := into[api.Approval](send("anna", at+"/run:ask", because).want(http.StatusCreated))
	yes := map[string]any{"digest": asked.Digest}
	send("anna", "/v1/approvals/"+asked.ID+"/approve", yes).want(http.StatusForbidden)
	send("bert", "/v1/approvals/"+asked.ID+"/approve", map[string]any{"digest": strings.Repeat("0", 64)}).want(http.StatusConflict)
	send("bert", "/v1/approvals/"+asked.ID+"/approve", yes).want(http.StatusOK)
	run["approval"] = asked.ID
	got := into[api.Progress](send("anna", at+"/run", run).want(http.StatusOK))
	if got.State != "running" && got.State != "done" || got.ApprovedBy != "bert" || got.Runner != "anna" {
		t.Errorf("%+v", got)
	}
	send("anna", at+"/cancel", because)
	other := into[planned](send("anna", "/v1/replays", map[string]any{"reason": "TEST", "ids": ids}).want(http.StatusCreated))
	run["digest"] = other.Plan.Digest
	send("anna", "/v1/replays/"+other.Plan.ID+"/run", run).want(http.StatusConflict)
}

func ones(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(out, ",")
}

func TestReplays_ArePausedSlowedResumedAndCancelled(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("lara", []string{partnerB}, auth.Analyst)
	ids := w.corrected("anna", 3)
	do := func(as, method, path string, body any) answer {
		return w.do(call{as: as, method: method, path: path, body: body})
	}
	plan := into[planned](do("anna", http.MethodPost, "/v1/replays", map[string]any{
		"reason": "TEST", "ids": ids, "policy": map[string]any{"canary": 1, "start_rate": 0.001, "max_rate": 0.001},
	}).want(http.StatusCreated))
	at := "/v1/replays/" + plan.Plan.ID
	do("lara", http.MethodGet, at, nil).want(http.StatusNotFound)
	do("lara", http.MethodPost, at+"/cancel", because).want(http.StatusNotFound)
	if a := do("lara", http.MethodGet, "/v1/replays", nil).want(http.StatusOK); strings.Contains(a.body, plan.Plan.ID) {
		t.Error("another partner's job is listed")
	}
	do("anna", http.MethodPost, at+"/run", map[string]any{"reason": "TEST", "digest": plan.Plan.Digest}).want(http.StatusOK)
	for _, step := range []struct {
		method, verb, state string
		body                any
	}{
		{http.MethodPost, "pause", "paused", because},
		{http.MethodPut, "rate", "paused", map[string]any{"per_second": 7}},
		{http.MethodPost, "resume", "running", because},
		{http.MethodPost, "cancel", "cancelled", because},
	} {
		got := into[api.Progress](do("anna", step.method, at+"/"+step.verb, step.body).want(http.StatusOK))
		if got.State != step.state {
			t.Errorf("after %s it is %s", step.verb, got.State)
		}
		if step.verb == "rate" && got.MaxRate != 7 {
			t.Errorf("rate %v", got.MaxRate)
		}
	}
	do("anna", http.MethodPost, at+"/resume", because).want(http.StatusConflict)
}

func TestStreams_EndWithTheProcess(t *testing.T) {
	t.Parallel()
	life, end := context.WithCancel(t.Context())
	w := setup(t, func(o *api.Options) { o.Until = life })
	w.user("vera", everyone, auth.Viewer)
	next, stop := w.follow("vera", "/v1/streams", "")
	defer stop()
	until(t, next, "an overview", func(e event) bool { return e.name == "overview" })
	end()
	for {
		if _, ok := next(); !ok {
			break
		}
	}
}

func TestStreams_TheOverviewFollowsWhatHappens(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	next, stop := w.follow("vera", "/v1/streams", "")
	defer stop()
	depth := func(n int64) func(e event) bool {
		return func(e event) bool {
			var o api.Overview
			if e.name != "overview" {
				return false
			}
			if err := json.Unmarshal([]byte(e.data), &o); err != nil {
				t.Fatal(err)
			}
			return o.States["quarantined"].Records == n
		}
	}
	until(t, next, "an overview", depth(0))
	w.take(partnerA, 1, 2, "missing-ndc@1,2")
	last := until(t, next, "what came in", depth(2))
	until(t, next, "a heartbeat", func(e event) bool { return e.comment != "" })
	again, stopAgain := w.follow("vera", "/v1/streams", last.id)
	defer stopAgain()
	for range 3 {
		if e, _ := again(); e.name != "" {
			t.Errorf("what was seen is sent again: %+v", e)
		}
	}
	// A reader who is no longer signed in is shown nothing more.
	w.do(call{as: "vera", method: http.MethodDelete, path: "/v1/session"}).want(http.StatusNoContent)
	for {
		if _, ok := next(); !ok {
			break
		}
	}
}
