package serve_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/auth"
	"claimdlq/internal/serve"
)

// page stands in for the console.
var page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'")
	_, _ = io.WriteString(w, "console "+r.URL.Path)
})

func TestConsole_HasEveryPathThatIsNobodyElses(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *serve.Setup) { s.HTTP.Console = page })
	for _, path := range []string{"/", "/groups", "/records", "/records/17", "/replays/1", "/v1x", "/metricsx", "/openapi.jsonx"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if status, body := w.do(method, path, nil); status != http.StatusOK || method == http.MethodGet && body != "console "+path {
				t.Errorf("%s %s: %d %s", method, path, status, body)
			}
		}
		if status, body := w.do(http.MethodPost, path, nil); status != http.StatusNotFound || strings.Contains(body, "console") {
			t.Errorf("POST %s: %d %s", path, status, body)
		}
	}
	for _, path := range []string{"/v1", "/v1/", "/v1/nothing", "/v1/claims", "/v1/claims/nothing", "/v1/dead-letters", "/v1/session", "/openapi.json", "/metrics", "/healthz", "/readyz"} {
		if _, body := w.do(http.MethodGet, path, nil); strings.HasPrefix(body, "console ") {
			t.Errorf("GET %s is the console's", path)
		}
	}
}

func TestHeaders_EveryAnswerIsKeptFromPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *serve.Setup) { s.HTTP.Console, s.HTTP.Token = page, []byte("test-token-0123456789") })
	for _, path := range []string{"/", "/v1/session", "/v1/nothing", "/v1/claims", "/openapi.json", "/metrics", "/healthz"} {
		head := w.head(http.DefaultClient, path)
		for _, name := range []string{"Cache-Control", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Permissions-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options"} {
			if head.Get(name) == "" {
				t.Errorf("%s has no %s", path, name)
			}
		}
		csp := head.Get("Content-Security-Policy")
		if want := w.head(http.DefaultClient, "/healthz").Get("Content-Security-Policy"); path != "/" && csp != want || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: %s", path, csp)
		}
		if head.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s: HSTS without TLS", path)
		}
	}
}

// head returns the headers of the answer to a GET.
func (w *world) head(c *http.Client, path string) http.Header {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.Header
}

func TestTLS_ASelfSignedCertificateIsGoodForThisMachineAndItsCookiesAreSecure(t *testing.T) {
	t.Parallel()
	cert, err := serve.SelfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, func(s *serve.Setup) { s.Certificate = cert })
	known := x509.NewCertPool()
	known.AddCert(cert.Leaf)
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}}
	t.Cleanup(c.CloseIdleConnections)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(w.url, "http://"))
	for _, host := range []string{"127.0.0.1", "localhost"} {
		w.url = "https://" + host + ":" + port
		if got := w.head(c, "/healthz").Get("Strict-Transport-Security"); got != "" {
			t.Errorf("%s: a browser keeps for this machine: %s", host, got)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "dlq.example:8837"
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS under TLS")
	}
	in := w.signIn(c)
	if len(in) != 1 || !in[0].Secure || !in[0].HttpOnly || !strings.HasPrefix(in[0].Name, "__Host-") {
		t.Errorf("cookies %v", in)
	}
}

// signIn makes a person's account and returns the cookies of a sign-in.
func (w *world) signIn(c *http.Client) []*http.Cookie {
	w.t.Helper()
	by := auth.Local("test.officer", "a test")
	if _, err := w.app.Desk.CreateUser(w.t.Context(), by, auth.NewUser{
		Login: "ana", Password: auth.NewSecret("TEST correct horse 1"), Access: auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: []string{auth.AllPartners}},
	}).Do(w.t.Context(), w.app.Note); err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/v1/session", strings.NewReader(`{"login":"ana","password":"TEST correct horse 1"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", w.url)
	resp, err := c.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("sign-in: %d %s", resp.StatusCode, b)
	}
	return resp.Cookies()
}

func TestPayload_MayHaveAListenerOfItsOwn(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, func(s *serve.Setup) { s.Payload = l })
	reveal := func() int {
		status, _ := w.do(http.MethodPost, "/v1/records/1/reveal", strings.NewReader(`{"reason":"TEST"}`), "Content-Type", "application/json")
		return status
	}
	if status := reveal(); status != http.StatusNotFound {
		t.Errorf("at the listener for all: %d", status)
	}
	w.url = "http://" + l.Addr().String()
	if status := reveal(); status != http.StatusUnauthorized {
		t.Errorf("at its own: %d", status)
	}
	for _, path := range []string{"/v1/records", "/metrics", "/"} {
		if status, _ := w.do(http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s is there, too: %d", path, status)
		}
	}
}
