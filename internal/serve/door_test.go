package serve_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/serve"
)

// machine makes a machine account and returns the header with a token of it.
func (w *world) machine(login string, partners []string, perms ...auth.Permission) string {
	w.t.Helper()
	by := auth.Local("test.officer", "a test")
	_, err := w.app.Desk.CreateUser(w.t.Context(), by, auth.NewUser{
		Login: login, Machine: true, Access: auth.Access{Roles: []auth.Role{auth.Operator}, Partners: partners},
	}).Do(w.t.Context(), w.app.Note)
	if err != nil {
		w.t.Fatal(err)
	}
	issued, err := w.app.Desk.CreateToken(by, auth.NewToken{
		Owner: login, Name: "test", Permissions: perms, Partners: []string{auth.AllPartners},
	}).Do(w.t.Context(), w.app.Note)
	if err != nil {
		w.t.Fatal(err)
	}
	return "Bearer " + issued.Text.Reveal()
}

// actors lists who took records in. It reads the audit log, not the store, from which
// the follower of a running process takes entries away at any moment.
func (w *world) actors() (out []string) {
	w.t.Helper()
	var text bytes.Buffer
	if _, err := w.app.Export(w.t.Context(), claimdlq.By{Actor: "test.officer"}, &text, audit.Filter{}); err != nil {
		w.t.Fatal(err)
	}
	for line := range bytes.Lines(text.Bytes()) {
		e, err := audit.Decode(line)
		if err != nil {
			w.t.Fatal(err)
		}
		if e.Action == claimdlq.ActReceive || e.Action == "denied" {
			out = append(out, e.Actor+" "+string(e.Action))
		}
	}
	return out
}

// The document and the paths of a serving process are one list: each door is there,
// and asks for what the document says.
func TestDoors_AreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *serve.Setup) { s.HTTP.Token = []byte("test-token-0123456789") })
	type operation struct {
		ID         string              `json:"operationId"`
		Permission string              `json:"x-permission"`
		Security   []map[string][]bool `json:"security"`
	}
	_, text := w.do(http.MethodGet, "/openapi.json", nil)
	doc := decode[struct {
		Paths map[string]map[string]operation `json:"paths"`
	}](t, text)
	for path, item := range doc.Paths {
		for method, op := range item {
			method := strings.ToUpper(method)
			status, body := w.do(method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)
			switch {
			case strings.HasPrefix(path, "/v1/session/oidc"): // it leads a browser elsewhere
			case strings.Contains(body, "find operation"):
				t.Errorf("%s %s is in the document and not there", method, path)
			case op.Permission != "none" && status != http.StatusUnauthorized:
				t.Errorf("%s %s by nobody: %d %s", method, path, status, body)
			case op.Permission == "none" && status == http.StatusUnauthorized && op.ID != "sign-in":
				t.Errorf("%s %s: %d %s", method, path, status, body)
			}
		}
	}
	for _, d := range api.Doors() {
		if got := doc.Paths[d.Path][strings.ToLower(d.Method)]; got.ID != d.ID || got.Permission != string(d.Permission) || (len(got.Security) > 0) != d.Permission.Known() {
			t.Errorf("%s is %+v in the document", d.ID, got)
		}
	}
}

func TestDoors_ATokenOfAnAccountIsHeldToWhatItMay(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *serve.Setup) { s.HTTP.Token = []byte("test-token-0123456789") })
	sender := w.machine("sender", []string{auth.AllPartners}, auth.ClaimsIntake)
	narrow := w.machine("narrow", []string{"999999"}, auth.ClaimsIntake)
	scraper := w.machine("scraper", []string{auth.AllPartners}, auth.MetricsRead)
	cs := claims(t, 1, 3)
	take := func(token, path string, body []byte) int {
		status, _ := w.do(http.MethodPost, path, bytes.NewReader(body), "Authorization", token)
		return status
	}
	for _, c := range []struct {
		token, path string
		body        []byte
		want        int
	}{
		{sender, "/v1/claims", cs[0], http.StatusAccepted},
		{"Bearer test-token-0123456789", "/v1/claims", cs[1], http.StatusAccepted},
		{sender, "/v1/claims/batch", cs[0], http.StatusAccepted},
		{sender, "/v1/claims/stream", cs[0], http.StatusOK},
		{sender, "/v1/dead-letters?detail=HTTP_503", cs[2], http.StatusForbidden},
		{sender, "/v1/acknowledgments", cs[2], http.StatusForbidden},
		{narrow, "/v1/claims", cs[2], http.StatusForbidden}, // a file may be about any partner
		{scraper, "/v1/claims", cs[2], http.StatusForbidden},
		{sender + "x", "/v1/claims", cs[2], http.StatusUnauthorized},
	} {
		if got := take(c.token, c.path, c.body); got != c.want {
			t.Errorf("%s: %d, want %d", c.path, got, c.want)
		}
	}
	if status, _ := w.do(http.MethodGet, "/metrics", nil, "Authorization", scraper); status != http.StatusOK {
		t.Errorf("figures: %d", status)
	}
	if status, _ := w.do(http.MethodGet, "/metrics", nil, "Authorization", sender); status != http.StatusForbidden {
		t.Errorf("figures without the permission: %d", status)
	}
	got := w.actors()
	for _, want := range []string{"sender receive", "system:intake:http receive", "sender denied", "scraper denied"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in the audit log: %v", want, got)
		}
	}
}

// Where nobody is asked, who says who he is is still held to it, and a page of another
// site gets nothing in.
func TestDoors_OpenOnLoopback(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	sender := w.machine("sender", []string{auth.AllPartners}, auth.ClaimsIntake)
	scraper := w.machine("scraper", []string{auth.AllPartners}, auth.MetricsRead)
	for name, c := range map[string]struct {
		header []string
		want   int
	}{
		"nobody":                  {nil, http.StatusAccepted},
		"a token of another kind": {[]string{"Authorization", "Bearer test-token-0123456789"}, http.StatusAccepted},
		"a sender":                {[]string{"Authorization", sender}, http.StatusAccepted},
		"a scraper":               {[]string{"Authorization", scraper}, http.StatusForbidden},
		"a token that is over":    {[]string{"Authorization", sender + "x"}, http.StatusUnauthorized},
		"a session that is over":  {[]string{"Cookie", "claimdlq=TEST"}, http.StatusAccepted},
		"our page":                {[]string{"Sec-Fetch-Site", "same-origin"}, http.StatusAccepted},
		"another site's page":     {[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"an old browser's":        {[]string{"Origin", "https://elsewhere.example"}, http.StatusForbidden},
	} {
		if status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 1, 1)[0]), c.header...); status != c.want {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}
