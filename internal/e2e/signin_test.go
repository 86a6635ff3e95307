package e2e_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/auth/authtest"
)

// TestServe_SignInThroughAProvider is a browser that signs in at a program with nothing
// but a configuration, through a provider on this machine.
func TestServe_SignInThroughAProvider(t *testing.T) {
	t.Parallel()
	w := newRxWorld(t, "", "", 1)
	p := authtest.NewProvider(t, time.Now)
	if err := os.WriteFile(filepath.Join(w.dir, "oidc-secret"), []byte(authtest.ClientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conf, err := os.OpenFile(w.conf, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conf.WriteString(`
sign_in:
  origins: ["http://localhost:8837"]
  oidc:
    issuer: ` + p.URL + `
    client_id: ` + authtest.ClientID + `
    client_secret_file: oidc-secret
    roles_claim: groups
    roles: {dlq-analysts: [analyst]}
`)
	if err := errors.Join(err, conf.Close()); err != nil {
		t.Fatal(err)
	}
	s := w.serve()
	defer s.stop()
	base := strings.TrimSuffix(s.url, "/v1/claims")

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string) (status int, location, body string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get("Location"), string(b)
	}
	if status, _, body := get("/v1/session"); status != http.StatusUnauthorized || strings.Contains(body, "users add") {
		t.Errorf("before: %d %s", status, body)
	}
	status, to, body := get("/v1/session/oidc")
	if status != http.StatusFound || !strings.HasPrefix(to, p.URL+"/authorize?") {
		t.Fatalf("%d %s %s", status, to, body)
	}
	if status, to, body = get("/v1/session/oidc/callback?" + p.Consent(to).Encode()); status != http.StatusSeeOther || to != "/" {
		t.Fatalf("%d %s", status, body)
	}
	if status, _, body = get("/v1/session"); status != http.StatusOK || !strings.Contains(body, `"actor":"oidc:u-17"`) || !strings.Contains(body, `"roles":["analyst"]`) {
		t.Errorf("afterwards: %d %s", status, body)
	}
}
