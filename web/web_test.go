package web_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"claimdlq/web"
)

func get(t *testing.T, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := web.Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
	return w
}

func TestHandler_EveryPathIsThePageUnderANonceOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, path := range []string{"/", "/groups", "/records/12/claim", "/index.html", "/../../etc/passwd"} {
		r := get(t, http.MethodGet, path)
		csp, page := r.Header().Get("Content-Security-Policy"), r.Body.String()
		m := regexp.MustCompile(`script-src 'self' 'nonce-([A-Za-z0-9+/]{24})'`).FindStringSubmatch(csp)
		if r.Code != http.StatusOK || m == nil {
			t.Fatalf("%s: status %d, policy %q", path, r.Code, csp)
		}
		if seen[m[1]] {
			t.Errorf("%s: the nonce of another page", path)
		}
		seen[m[1]] = true
		if !strings.Contains(page, `nonce="`+m[1]+`"`) || strings.Contains(page, "CSP_NONCE") {
			t.Errorf("%s: the page has not the nonce of its policy", path)
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "CSP_NONCE") || r.Header().Get("Cache-Control") != "" { // who serves it says no-store
			t.Errorf("%s: policy %q, cache %q", path, csp, r.Header().Get("Cache-Control"))
		}
	}
}

func TestHandler_BuiltFilesMayBeKeptAndOthersAreNotThere(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("dist"), "assets/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts were built: %v", err)
	}
	r := get(t, http.MethodGet, "/"+files[0])
	if r.Code != http.StatusOK || !strings.Contains(r.Header().Get("Cache-Control"), "immutable") || !strings.HasPrefix(r.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("%s: status %d, headers %v", files[0], r.Code, r.Header())
	}
	if r := get(t, http.MethodGet, "/assets/none.js"); r.Code != http.StatusNotFound {
		t.Errorf("a script that is not there: status %d", r.Code)
	}
	if r := get(t, http.MethodPost, "/"); r.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", r.Code)
	}
}

func TestHandler_ShowsTheRunbooksThatAlarmsName(t *testing.T) {
	t.Parallel()
	r := get(t, http.MethodGet, "/docs/runbooks/payer-down.md")
	if r.Code != http.StatusOK || !strings.HasPrefix(r.Header().Get("Content-Type"), "text/plain") || !strings.HasPrefix(r.Body.String(), "# ") {
		t.Errorf("status %d, headers %v", r.Code, r.Header())
	}
	for _, path := range []string{"/docs/runbooks/none.md", "/docs/docs.go", "/docs/runbooks/", "/docs/../docs/hipaa.md"} {
		if r := get(t, http.MethodGet, path); r.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, r.Code)
		}
	}
}

func TestDist_FirstPageIsSmall(t *testing.T) {
	t.Parallel()
	const most = 300 << 10
	if n := gzipped(t, "dist"); n > most {
		t.Errorf("the console is %d bytes when compressed, at most %d", n, most)
	}
}
