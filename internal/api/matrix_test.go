package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/auth"
)

// empty makes the least of a request for an operation, about things that are not there:
// whoever is let through is told so, or that something is missing.
func empty(op *operation, as string) call {
	c := call{as: as, method: op.method, path: op.path, payload: op.Payload, match: 1}
	for from, to := range map[string]string{
		"{id}": "999", "{login}": "nobody", "{stream}": "none", "{fingerprint}": "0000000000000000", "{actor}": "nobody",
	} {
		c.path = strings.ReplaceAll(c.path, from, to)
	}
	if op.Body != nil {
		c.body = map[string]any{}
	}
	return c
}

// allowed are the statuses of who is let through in the matrix: it is there, or it is
// not, or the request says too little.
var allowed = []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusBadRequest, http.StatusNotFound, http.StatusPreconditionFailed, http.StatusFound, http.StatusSeeOther}

// owned are operations about oneself that nobody here can do: there is no such session,
// token or code.
var owned = []string{"revoke-token", "sign-out-all", "confirm-code"}

// 28: deny by default. Every operation of the document, by every role, by nobody, by an
// API token and by somebody who has a duty: the table of package auth, and nothing else.
func TestMatrix_EveryRoleMayDoExactlyWhatTheTableSays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, ops := w.document()
	for _, role := range auth.Roles {
		w.user(string(role), everyone, role)
	}
	for _, op := range ops {
		perms := op.permissions()
		perm := perms[0]
		stream := strings.HasPrefix(op.ID, "follow-")
		if op.ID == "sign-out" || stream && perm != auth.RecordsRead {
			continue // it ends what the others need; it never ends
		}
		if a := w.do(empty(op, "")); perm != "none" && a.status != http.StatusUnauthorized {
			t.Errorf("%s by nobody: %d", op.ID, a.status)
		}
		for _, role := range auth.Roles {
			a := w.do(empty(op, string(role)))
			may := !perm.Known() || slices.ContainsFunc(perms, func(p auth.Permission) bool { return slices.Contains(p.Roles(), role) })
			switch {
			case !may && a.status != http.StatusForbidden:
				t.Errorf("%s by %s: %d, want 403: %s", op.ID, role, a.status, a.body)
			case may && perm != "none" && !slices.Contains(allowed, a.status) && !slices.Contains(owned, op.ID):
				t.Errorf("%s by %s: %d: %s", op.ID, role, a.status, a.body)
			}
		}
	}
}

func TestMatrix_ATokenDoesNothingThatIsForPeople(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, ops := w.document()
	w.user("all", everyone, auth.Roles...)
	var perms []auth.Permission
	for _, p := range auth.Permissions() {
		if !p.PeopleOnly() {
			perms = append(perms, p)
		}
	}
	text := into[struct {
		Text string `json:"text"`
	}](w.do(call{as: "all", method: http.MethodPost, path: "/v1/tokens", body: map[string]any{
		"name": "TEST", "permissions": perms, "partners": everyone,
	}}).want(http.StatusCreated)).Text
	for _, op := range ops {
		perm := op.permissions()[0]
		if !perm.Known() || strings.HasPrefix(op.ID, "follow-") {
			continue
		}
		c := empty(op, "")
		c.header = map[string]string{"Authorization": "Bearer " + text, "Sec-Fetch-Site": ""}
		a := w.do(c)
		if perm.PeopleOnly() != (a.status == http.StatusForbidden) {
			t.Errorf("%s (%s) by a token: %d %s", op.ID, perm, a.status, a.body)
		}
	}
}

func TestMatrix_WhoHasADutyDoesThatFirst(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, ops := w.document()
	root := auth.Local("root", "TEST")
	if _, err := w.desk.CreateUser(t.Context(), root, auth.NewUser{Login: "newcomer", Password: auth.NewSecret(password), Access: auth.Access{Roles: auth.Roles, Partners: everyone}}).Do(t.Context(), w.record); err != nil {
		t.Fatal(err)
	}
	w.cookies["newcomer"] = w.do(call{method: http.MethodPost, path: "/v1/session", body: map[string]any{"login": "newcomer", "password": password}}).want(http.StatusOK).cookie()
	for _, op := range ops {
		if op.permissions()[0].Known() && !strings.HasPrefix(op.ID, "follow-") {
			if a := w.do(empty(op, "newcomer")); a.status != http.StatusForbidden || !strings.Contains(a.body, "change_password") {
				t.Errorf("%s: %d %s", op.ID, a.status, a.body)
			}
		}
	}
}

func TestSession_AnotherSitesPageIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	for _, site := range []string{"cross-site", "same-site", "none"} {
		c := call{as: "anna", method: http.MethodPost, path: path(id, "park"), body: map[string]any{"reason": "TEST"}, match: 1, header: map[string]string{"Sec-Fetch-Site": site}}
		if a := w.do(c); a.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", site, a.status, a.body)
		}
	}
	if w.rec(id).Revision != 1 {
		t.Error("the record has moved")
	}
	w.do(call{as: "anna", method: http.MethodDelete, path: "/v1/session"}).want(http.StatusNoContent)
	w.get("anna", "/v1/session").want(http.StatusUnauthorized)
}

func TestMatrix_ARefusedCommandIsAudited(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	w.user("ada", everyone, auth.Admin)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	w.do(call{as: "vera", method: http.MethodPost, path: path(id, "park"), body: map[string]any{"reason": "TEST"}, match: 1}).want(http.StatusForbidden)
	if a := w.get("ada", "/v1/audit?actor=vera&action=denied").want(http.StatusOK); !strings.Contains(a.body, claimdlq.NewDetail("RECORD.PARK").String()) {
		t.Errorf("%s", a.body)
	}
}
