package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"claimdlq/internal/auth"
)

// keyless are the operations that are no GET and take no Idempotency-Key, and why.
var keyless = map[string][]string{
	"they change nothing":                            {"verify-audit", "size", "plot-size", "propose-correction", "history-record", "reveal-record", "view-record", "list-deadlines"},
	"the same content again is recognised by itself": {"take-acknowledgments", "take-claim", "take-batch", "take-stream", "take-dead-letter"},
	"nobody is signed in yet":                        {"sign-in"},
	"they give the session another id, or end it: the same request again is nobody's": {"sign-out", "change-password", "break-glass", "confirm-code"},
}

// Every operation that changes something takes an Idempotency-Key.
func TestCommands_TakeAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, ops := w.document()
	var without, want []string
	for _, op := range ops {
		key := slices.ContainsFunc(op.Parameters, func(p parameter) bool { return p.Name == "Idempotency-Key" })
		if op.method != http.MethodGet && !key {
			without = append(without, op.ID)
		}
		if op.method == http.MethodGet && key {
			t.Errorf("%s changes nothing", op.ID)
		}
	}
	for _, ids := range keyless {
		want = append(want, ids...)
	}
	slices.Sort(without)
	slices.Sort(want)
	if !slices.Equal(without, want) {
		t.Errorf("without a key: %v", without)
	}
}

// The same key again makes no second token, and gives the same answer, its secret with it.
func TestTokens_TheSameCommandTwiceIsDoneOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	twice := func(c call) answer {
		c.as, c.key = "anna", "once-"+strings.ToLower(c.method)
		first, second := w.do(c), w.do(c)
		if first.status >= 300 || second.status != first.status || second.body != first.body || second.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s %s: %d %s, and again %d %s", c.method, c.path, first.status, first.body, second.status, second.body)
		}
		return first
	}
	made := into[struct{ ID, Text string }](twice(call{method: http.MethodPost, path: "/v1/tokens", body: map[string]any{
		"name": "TEST", "permissions": []string{"records.read"}, "partners": everyone,
	}}))
	if n := strings.Count(w.get("anna", "/v1/tokens").want(http.StatusOK).body, `"id"`); n != 1 || made.Text == "" {
		t.Errorf("%d tokens, %+v", n, made)
	}
	twice(call{method: http.MethodDelete, path: "/v1/tokens/" + made.ID})
	// Without a key it is done each time: consoles of before send none.
	w.do(call{as: "anna", method: http.MethodPost, path: "/v1/session/code", body: map[string]any{}, header: map[string]string{"Idempotency-Key": ""}}).want(http.StatusOK)
	c := call{as: "anna", method: http.MethodPost, path: "/v1/session/code", body: map[string]any{}, key: "code"}
	if a, b := w.do(c), w.do(c); a.status != http.StatusOK || a.body != b.body {
		t.Errorf("%d %d", a.status, b.status)
	}
}
