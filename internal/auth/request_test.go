package auth_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"claimdlq/internal/auth"
)

func TestCheckOrigin_TakesOnlyRequestsOfOurPages(t *testing.T) {
	t.Parallel()
	plain, public := setup(t, func(o *auth.Options) { o.LoopbackHTTP = true }), setup(t, func(o *auth.Options) { o.Origins = []string{"https://DLQ.example:8443"} })
	const none = "-"
	for _, c := range []struct {
		w                         *world
		method, url, site, origin string
		good                      bool
	}{
		{plain, "GET", "https://dlq.test", "same-origin", none, true},
		{plain, "GET", "https://dlq.test", "none", none, true}, // typed into the address line
		{plain, "HEAD", "https://dlq.test", none, none, true},  // an old browser
		{plain, "GET", "https://dlq.test", "cross-site", none, false},
		{plain, "GET", "https://dlq.test", "same-site", none, false}, // a neighbouring host
		{plain, "GET", "https://dlq.test", "", none, false},
		{plain, "GET", "https://dlq.test", "SAME-ORIGIN", none, false},
		{plain, "GET", "https://dlq.test", none, "https://evil.test", false},
		{plain, "POST", "https://dlq.test", "same-origin", "https://dlq.test", true},
		{plain, "POST", "https://dlq.test", "same-origin", none, true},
		{plain, "POST", "https://dlq.test", "same-origin", "https://evil.test", false},
		{plain, "POST", "https://dlq.test", "none", none, false},
		{plain, "POST", "https://dlq.test", "cross-site", "https://dlq.test", false},
		{plain, "POST", "https://dlq.test", "same-site", "https://dlq.test", false},
		{plain, "POST", "https://dlq.test", none, none, false},
		{plain, "POST", "https://dlq.test", none, "https://dlq.test", true},
		{plain, "POST", "https://dlq.test", none, "https://DLQ.test:443", true},
		{plain, "POST", "https://dlq.test", none, "http://dlq.test", false},
		{plain, "POST", "https://dlq.test", none, "https://dlq.test:444", false},
		{plain, "POST", "https://dlq.test", none, "https://dlq.test.evil.test", false},
		{plain, "POST", "https://dlq.test", none, "https://evil.test/https://dlq.test", false},
		{plain, "POST", "https://dlq.test", none, "https://dlq.test@evil.test", false},
		{plain, "POST", "https://dlq.test", none, "null", false},
		{plain, "POST", "https://dlq.test", none, "", false},
		{plain, "PUT", "https://dlq.test", none, none, false},
		{plain, "DELETE", "https://dlq.test", none, none, false},
		{plain, "OPTIONS", "https://dlq.test", none, none, false},
		{plain, "get", "https://dlq.test", none, none, false},
		{plain, "POST", "http://localhost:8080", none, "http://localhost:8080", true},
		{plain, "POST", "http://127.0.0.1:8080", none, "http://127.0.0.1:8080", true},
		{plain, "POST", "http://127.0.0.1:8080", none, "http://localhost:8080", false},
		{plain, "POST", "http://localhost:8080", none, "http://localhost:3000", false}, // another program of this machine
		{plain, "POST", "http://rebound.test:8080", none, "http://rebound.test:8080", false},
		{plain, "POST", "http://rebound.test:8080", "same-origin", "http://rebound.test:8080", false},
		{public, "POST", "https://10.0.0.9:9000", none, "https://dlq.example:8443", true}, // behind a proxy
		{public, "POST", "https://10.0.0.9:9000", none, "https://10.0.0.9:9000", false},
		{public, "POST", "https://10.0.0.9:9000", none, "https://dlq.example", false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.url+"/v1/x", nil)
		r.RemoteAddr = "127.0.0.1:5000"
		if c.site != none {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if c.origin != none {
			r.Header.Set("Origin", c.origin)
		}
		if err := c.w.d.CheckOrigin(r); (err == nil) != c.good {
			t.Errorf("%s %s site %q origin %q: %v", c.method, c.url, c.site, c.origin, err)
		}
	}
	for _, name := range []string{"Sec-Fetch-Site", "Origin"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://dlq.test/", nil)
		r.Header["Sec-Fetch-Site"], r.Header["Origin"] = []string{"same-origin"}, []string{"https://dlq.test"}
		is(t, "once", plain.d.CheckOrigin(r), nil)
		r.Header[name] = append(r.Header[name], r.Header[name]...)
		is(t, name+" twice", plain.d.CheckOrigin(r), auth.ErrOrigin)
	}
}

func TestAuthenticate_AndSignInRefuseAnotherSite(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer)
	b, _ := w.signIn("ana")
	r := b.post()
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	_, err := w.d.Authenticate(r)
	is(t, "with a session", err, auth.ErrOrigin)
	sign := newBrowser(w).post()
	sign.Header.Set("Origin", "https://evil.test")
	_, err = do(w, w.d.SignIn(t.Context(), sign, auth.Credentials{Login: "ana", Password: auth.NewSecret(right)}))
	is(t, "signing in", err, auth.ErrOrigin)
	if auth.Status(err) != http.StatusForbidden {
		t.Error(auth.Status(err))
	}
}

func TestAuthenticate_TakesOneCookieAndNothingLikeIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer)
	b, _ := w.signIn("ana")
	id := b.cookies["__Host-claimdlq"]
	for name, values := range map[string][]string{
		"none": {}, "twice": {id, id}, "another before": {"x", id}, "empty": {""}, "longer": {id + "A"}, "shorter": {id[1:]},
		"padded": {id + "="}, "another end": {id[:42] + flip(id[42])}, "unknown": {flip(id[0]) + id[1:]}, "blank": {" " + id[1:]}, "percent": {"%41" + id[3:]},
	} {
		r := newBrowser(w).get()
		for _, v := range values {
			r.AddCookie(&http.Cookie{Name: "__Host-claimdlq", Value: v})
		}
		_, err := w.d.Authenticate(r)
		is(t, name, err, auth.ErrUnauthenticated)
	}
	_, err := w.d.Authenticate(b.get())
	is(t, "the one", err, nil)
}

// flip returns another character of the same alphabet.
func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func TestAuthenticate_ABadHeaderIsNotMadeUpForByACookie(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer)
	b, p := w.signIn("ana")
	text := must(w, w.d.CreateToken(p, auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}, Partners: []string{"*"}})).Text.Reveal()
	for name, values := range map[string][]string{
		"empty": {""}, "basic": {"Basic YW5hOnRlc3Q="}, "two": {"Bearer " + text, "Bearer " + text}, "lower case": {"bearer " + text},
		"no prefix": {"Bearer " + text[5:]}, "unknown": {"Bearer " + text[:47] + flip(text[47])}, "blank": {"Bearer  " + text}, "session": {"Bearer cdlq_" + b.cookies["__Host-claimdlq"]},
	} {
		r := b.get()
		r.Header["Authorization"] = values
		_, err := w.d.Authenticate(r)
		is(t, name, err, auth.ErrUnauthenticated)
	}
	r := newBrowser(w).get()
	r.URL.RawQuery = "access_token=" + text
	r.AddCookie(&http.Cookie{Name: "__Host-claimdlq", Value: text[5:]})
	_, err := w.d.Authenticate(r)
	is(t, "a token elsewhere", err, auth.ErrUnauthenticated)
	r = newBrowser(w).post()
	r.Header = http.Header{"Authorization": {"Bearer " + text}} // no browser
	q, err := w.d.Authenticate(r)
	is(t, "a token", err, nil)
	if q.Source != auth.FromToken || q.Actor != "ana" || q.TokenID == "" {
		t.Error(q)
	}
}

func TestOptions_AreChecked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, change := range map[string]func(*auth.Options){
		"no directory":  func(o *auth.Options) { o.Dir = "" },
		"no clock":      func(o *auth.Options) { o.Now = nil },
		"weak":          func(o *auth.Options) { o.Argon = auth.Argon{MemoryKiB: 7, Passes: 1, Threads: 1} },
		"huge":          func(o *auth.Options) { o.Argon = auth.Argon{MemoryKiB: 1 << 21, Passes: 1, Threads: 1} },
		"negative":      func(o *auth.Options) { o.Idle = -1 },
		"role":          func(o *auth.Options) { o.CodeFor = []auth.Role{"root"} },
		"plain origin":  func(o *auth.Options) { o.Origins = []string{"http://dlq.example"} },
		"origin's path": func(o *auth.Options) { o.Origins = []string{"https://dlq.example/"} },
	} {
		o := w.o
		o.Dir = t.TempDir()
		change(&o)
		if _, err := auth.Open(o); code(err) != "invalid" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAddress_CanBeGivenByAProxy(t *testing.T) {
	t.Parallel()
	w := setup(t, func(o *auth.Options) {
		o.Address = func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("X-Real-Ip")) }
	})
	r := newBrowser(w).post()
	r.TLS = &tls.ConnectionState{}
	r.Header.Set("X-Real-Ip", "192.0.2.9")
	_, err := do(w, w.d.SignIn(t.Context(), r, auth.Credentials{Login: "ana"}))
	is(t, "nobody", err, auth.ErrSignIn)
	if got := w.events[0].Note; got != "from 192.0.2.9" {
		t.Error(got)
	}
}
