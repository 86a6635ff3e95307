package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/auth/authtest"
)

// visit follows no redirect: it returns the status, where the browser is sent, and the
// cookies that it is given.
func (w *world) visit(path string, cookies ...*http.Cookie) (int, *url.URL, []*http.Cookie) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		w.t.Fatalf("%s: %d: %v", path, resp.StatusCode, err)
	}
	return resp.StatusCode, to, resp.Cookies()
}

func TestOIDC_WhoIsRefusedComesBackToTheConsole(t *testing.T) {
	t.Parallel()
	p := authtest.NewProvider(t, time.Now)
	w := setup(t, func(o *api.Options) {
		oidc, err := auth.NewOIDC(auth.OIDCConfig{
			Issuer: p.URL, ClientID: authtest.ClientID, ClientSecret: auth.NewSecret(authtest.ClientSecret), RedirectURL: "http://127.0.0.1/v1/session/oidc/callback",
			RolesClaim: "groups", Roles: map[string][]auth.Role{"dlq-analysts": {auth.Analyst}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if o.Desk, err = auth.Open(auth.Options{Dir: t.TempDir() + "/auth", Now: time.Now, LoopbackHTTP: true, OIDC: oidc}); err != nil {
			t.Fatal(err)
		}
	})
	const back = "/v1/session/oidc/callback?"
	signedIn := func(set []*http.Cookie) bool {
		return slices.ContainsFunc(set, func(c *http.Cookie) bool { return c.Name == "claimdlq" && c.Value != "" })
	}
	_, at, flow := w.visit("/v1/session/oidc")
	good := p.Consent(at.String())
	good.Set("authuser", "0") // what a provider adds is nobody's business
	for name, q := range map[string]url.Values{
		"the provider refuses": {"error": {"access_denied"}, "error_description": {"TESTSECRET"}, "state": good["state"]},
		"another state":        {"code": good["code"], "state": {"TESTSECRET"}},
		"nothing":              {},
		"too long a code":      {"code": {strings.Repeat("x", 3000)}},
	} {
		status, to, set := w.visit(back+q.Encode(), flow...)
		if status != http.StatusSeeOther || to.Path != "/" || to.Fragment != "sign-in-refused" || to.RawQuery != "" || signedIn(set) {
			t.Errorf("%s: %d %s %v", name, status, to, set)
		}
	}
	_, at, flow = w.visit("/v1/session/oidc")
	good = p.Consent(at.String())
	good.Set("authuser", "0")
	if status, to, set := w.visit(back+good.Encode(), flow...); to.Path != "/" || to.Fragment != "" || !signedIn(set) {
		t.Errorf("who is let in: %d %s", status, to)
	}
	plain := setup(t)
	for _, c := range []struct {
		w    *world
		path string
		want bool
	}{{w, "/v1/session", true}, {w, "/v1/records", true}, {w, "/v1/nothing", false}, {plain, "/v1/session", false}} {
		if got := into[api.Problem](c.w.get("", c.path)).SingleSignOn; got != c.want {
			t.Errorf("%s: single sign-on is offered: %v", c.path, got)
		}
	}
	if _, to, _ := plain.visit("/v1/session/oidc"); to.Path != "/" || to.Fragment != "no-single-sign-on" {
		t.Errorf("without a provider: %s", to)
	}
}
