package api_test

import (
	"net/http"
	"strings"
	"testing"

	"claimdlq/internal/api"
	"claimdlq/internal/auth"
)

func TestKeys_AreRotatedByWhoHasTheRightAndSaysWhy(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ada", everyone, auth.Admin)
	w.user("ana", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1)[0]
	type list struct {
		Keys []api.Key `json:"keys"`
	}
	before := into[list](w.get("ada", "/v1/keys").want(http.StatusOK)).Keys
	if len(before) != 2 || !before[0].Primary || before[0].Use != "payload" || before[1].Use != "identity" {
		t.Fatalf("%+v", before)
	}
	w.get("ana", "/v1/keys").want(http.StatusForbidden)
	body := map[string]string{"use": "payload", "reason": "yearly"}
	w.do(call{as: "ana", method: http.MethodPost, path: "/v1/keys/rotate", body: body}).want(http.StatusForbidden)
	w.do(call{as: "ada", method: http.MethodPost, path: "/v1/keys/rotate", body: map[string]string{"use": "payload"}}).want(http.StatusBadRequest)
	after := into[list](w.do(call{as: "ada", method: http.MethodPost, path: "/v1/keys/rotate", body: body}).want(http.StatusOK)).Keys
	if len(after) != 3 || after[0].Primary || !after[1].Primary || after[1].Term == after[0].Term {
		t.Errorf("%+v", after)
	}
	log := w.get("ada", "/v1/audit?action=key_rotate").want(http.StatusOK).body
	if !strings.Contains(log, `"note":"yearly"`) || !strings.Contains(log, `"actor":"ada"`) {
		t.Errorf("the audit log says %s", log)
	}
	// What was sealed before can be opened.
	w.do(call{as: "ana", method: http.MethodPost, path: path(id, "reveal"), body: map[string]string{"reason": "look"}, payload: true}).want(http.StatusOK)
}
