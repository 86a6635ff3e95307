package auth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/auth/authtest"
)

func TestOIDC_SignsInWithTheRolesOfTheClaims(t *testing.T) {
	t.Parallel()
	w, p := federated(t, func(c *auth.OIDCConfig) {
		c.Partners = map[string][]string{"dlq-analysts": {"610097"}, "everybody": {"ZZ:R"}}
	})
	b, to := w.begin()
	if c := to.Cookie; c.Name != "__Host-claimdlq-oidc" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 600 || c.Path != "/" {
		t.Error(c)
	}
	u, err := url.Parse(to.URL)
	if err != nil || !strings.HasPrefix(to.URL, p.URL+"/authorize?") {
		t.Fatal(to.URL)
	}
	q := u.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != "dlq" || q.Get("redirect_uri") != "https://dlq.test/oidc/callback" || q.Get("scope") != "openid profile" ||
		q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) != 43 || len(q.Get("nonce")) != 43 || q.Get("state") == q.Get("nonce") {
		t.Error(to.URL)
	}
	if strings.Contains(to.URL, to.Cookie.Value) {
		t.Error("the address holds the cookie's secret")
	}
	in := must(w, w.d.FinishOIDC(t.Context(), b.back(p.Consent(to.URL))))
	b.set(in.Cookie)
	b.set(w.d.ForgetOIDC(b.get()))
	if got := w.last(); got != "sign_in oidc:u-17 OIDC" || len(b.cookies) != 1 {
		t.Error(got, b.cookies)
	}
	if in.Cookie.SameSite != http.SameSiteStrictMode {
		t.Error(in.Cookie)
	}
	who, err := w.d.Authenticate(b.get())
	is(t, "signed in", err, nil)
	if who.Actor != "oidc:u-17" || !slices.Equal(who.Roles, []auth.Role{auth.Analyst}) {
		t.Errorf("%+v", who)
	}
	is(t, "his role", who.For("TEST").May(auth.PayloadReveal, "610097:A"), nil)
	is(t, "another's", who.May(auth.SwitchesSet, "610097:A"), auth.ErrForbidden)
	is(t, "his partner", who.May(auth.RecordsRead, "ZZ:R"), nil)
	is(t, "another's", who.May(auth.RecordsRead, "015199"), auth.ErrPartner)
	_, err = do(w, w.d.CreateToken(who, auth.NewToken{Owner: "u-17", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}}))
	is(t, "a token, which needs a local account", err, auth.ErrForbidden)
	_, err = do(w, w.d.ChangePassword(t.Context(), b.post(), who, auth.NewSecret(right), auth.NewSecret(other)))
	is(t, "a password", err, auth.ErrUnauthenticated)
	if n := must(w, w.d.SignOutAll(who, "oidc:u-17")); n != 1 {
		t.Error(n)
	}
	_, err = w.d.Authenticate(b.get())
	is(t, "signed out", err, auth.ErrUnauthenticated)
}

// Every step that somebody between could manipulate, by what it has to end as.
func TestOIDC_RefusesEveryManipulatedStep(t *testing.T) {
	t.Parallel()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		w  *world
		p  *authtest.Provider
		b  *browser
		to auth.Redirect
		q  url.Values
		r  *http.Request // instead of b.back(q)
	}
	claim := func(name string, v any) func(*step) {
		return func(s *step) { s.p.Claims = map[string]any{name: v} }
	}
	at := func(name string, d time.Duration) func(*step) {
		return func(s *step) { s.p.Claims = map[string]any{name: s.w.time().Add(d).Unix()} }
	}
	cookie := func(fn func(string) string) func(*step) {
		return func(s *step) { s.b.cookies["__Host-claimdlq-oidc"] = fn(s.b.cookies["__Host-claimdlq-oidc"]) }
	}
	for name, c := range map[string]struct {
		change func(*step)
		why    string
	}{
		"no cookie":                {func(s *step) { s.b.cookies = map[string]string{} }, "COOKIE"},
		"another browser's cookie": {func(s *step) { s.b, _ = s.w.begin() }, "STATE"},
		"the cookie's secret":      {cookie(func(v string) string { return flip(v[0]) + v[1:] }), "COOKIE"},
		"the cookie's time":        {cookie(func(v string) string { return v[:45] + flip(v[45]) + v[46:] }), "COOKIE"},
		"the cookie's seal":        {cookie(func(v string) string { return v[:70] + flip(v[70]) + v[71:] }), "COOKIE"},
		"the cookie cut":           {cookie(func(v string) string { return v[:43] }), "COOKIE"},
		"a cookie of before a restart": {func(s *step) {
			s.w.open()
		}, "COOKIE"},
		"too late":          {func(s *step) { s.w.pass(10 * time.Minute) }, "COOKIE"},
		"no state":          {func(s *step) { s.q.Del("state") }, "STATE"},
		"another state":     {func(s *step) { s.q.Set("state", flip(s.q.Get("state")[0])+s.q.Get("state")[1:]) }, "STATE"},
		"two states":        {func(s *step) { s.q.Add("state", s.q.Get("state")) }, "STATE"},
		"another issuer":    {func(s *step) { s.q.Set("iss", "https://evil.test") }, "ISSUER"},
		"two issuers":       {func(s *step) { s.q["iss"] = []string{s.p.URL, s.p.URL} }, "ISSUER"},
		"an error":          {func(s *step) { s.q = url.Values{"state": s.q["state"], "error": {"access_denied"}} }, "NO_CODE"},
		"an error and code": {func(s *step) { s.q.Set("error", "access_denied") }, "NO_CODE"},
		"no code":           {func(s *step) { s.q.Del("code") }, "NO_CODE"},
		"two codes":         {func(s *step) { s.q.Add("code", "x") }, "NO_CODE"},
		"an unknown code":   {func(s *step) { s.q.Set("code", "TEST") }, "CODE"},
		"a post": {func(s *step) {
			s.r = s.b.back(s.q)
			s.r.Method = http.MethodPost
		}, "METHOD"},
		"a code of another browser": {func(s *step) { // PKCE: our verifier is not its
			_, to := s.w.begin()
			s.q.Set("code", s.p.Consent(to.URL).Get("code"))
		}, "CODE"},
		"a code that was used": {func(s *step) {
			b, to := s.w.begin()
			q := s.p.Consent(to.URL)
			must(s.w, s.w.d.FinishOIDC(s.w.t.Context(), b.back(q)))
			s.q.Set("code", q.Get("code"))
		}, "CODE"},
		"the same answer twice": {func(s *step) { must(s.w, s.w.d.FinishOIDC(s.w.t.Context(), s.b.back(s.q))) }, "USED"},

		"no ID token": {func(s *step) { s.p.Sign = func(_, _ map[string]any) string { return "" } }, "NO_ID_TOKEN"},
		"no JWT":      {func(s *step) { s.p.Sign = func(_, _ map[string]any) string { return "TEST" } }, "ID_TOKEN"},
		"alg none": {func(s *step) {
			s.p.Sign = func(h, b map[string]any) string {
				return authtest.Signed(h, b, "none", func([]byte) []byte { return nil })
			}
		}, "ID_TOKEN"},
		"alg HS256":   {func(s *step) { s.p.Sign = s.p.HS256 }, "ID_TOKEN"},
		"another key": {func(s *step) { s.p.Sign = authtest.RS256(stranger) }, "ID_TOKEN"},
		"another key id": {func(s *step) {
			s.p.Sign = func(h, b map[string]any) string { h["kid"] = "two"; return authtest.RS256(stranger)(h, b) }
		}, "ID_TOKEN"},
		"a key brought along": {func(s *step) {
			s.p.Sign = func(h, b map[string]any) string {
				h["jwk"] = map[string]any{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(stranger.N.Bytes()), "e": "AQAB"}
				return authtest.RS256(stranger)(h, b)
			}
		}, "ID_TOKEN"},
		"other claims under the signature": {func(s *step) {
			s.p.Sign = func(h, b map[string]any) string {
				good := strings.Split(authtest.RS256(s.p.Key)(h, b), ".")
				b["groups"] = []string{"dlq-ops"}
				bad := strings.Split(authtest.RS256(s.p.Key)(h, b), ".")
				return good[0] + "." + bad[1] + "." + good[2]
			}
		}, "ID_TOKEN"},
		"another's issuer":   {claim("iss", "https://evil.test"), "ID_TOKEN"},
		"no issuer":          {claim("iss", nil), "ID_TOKEN"},
		"for another client": {claim("aud", "other"), "ID_TOKEN"},
		"for nobody":         {claim("aud", nil), "ID_TOKEN"},
		"expired":            {at("exp", -time.Second), "ID_TOKEN"},
		"without an end":     {claim("exp", nil), "ID_TOKEN"},
		"not yet":            {at("nbf", 6*time.Minute), "ID_TOKEN"},
		"issued later":       {at("iat", 6*time.Minute), "ISSUED_LATER"},
		"another nonce":      {claim("nonce", strings.Repeat("A", 43)), "NONCE"},
		"no nonce":           {claim("nonce", nil), "NONCE"},
		"for many":           {claim("aud", []string{"dlq", "other"}), "AUDIENCE"},
		"issued to another":  {claim("azp", "other"), "AUDIENCE"},
		"azp of no text":     {claim("azp", []string{"dlq"}), "AUDIENCE"},
		"no name":            {claim("sub", nil), "NAME"},
		"an empty name":      {claim("sub", ""), "NAME"},
		"a name of no text":  {claim("sub", 17), "ID_TOKEN"},
		"a name with a line": {claim("sub", "u\n17"), "NAME"},
		"a long name":        {claim("sub", strings.Repeat("u", 65)), "NAME"},
		"no groups":          {claim("groups", nil), "NO_ROLE"},
		"unknown groups":     {claim("groups", []string{"everybody", "DLQ-ANALYSTS"}), "NO_ROLE"},
		"groups of no text":  {claim("groups", map[string]any{"dlq-analysts": true}), "NO_ROLE"},

		"the provider is ill": {func(s *step) {
			s.p.Token = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) }
		}, "PROVIDER"},
		"the provider redirects": {func(s *step) {
			s.p.Token = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "/elsewhere", http.StatusTemporaryRedirect)
			}
		}, "PROVIDER"},
		"no keys": {func(s *step) {
			s.p.JWKS = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNotFound) }
		}, "ID_TOKEN"},
		"keys without end": {func(s *step) {
			s.p.JWKS = func(rw http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(rw, `{"keys":["`+strings.Repeat("A", 2<<20)+`"]}`)
			}
		}, "ID_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := federated(t)
			b, to := w.begin()
			s := &step{w: w, p: p, b: b, to: to, q: p.Consent(to.URL)}
			c.change(s)
			sessions := w.d.Sessions()
			if s.r == nil {
				s.r = s.b.back(s.q)
			}
			_, err := do(w, w.d.FinishOIDC(t.Context(), s.r))
			want := auth.ErrSignIn
			if c.why == "PROVIDER" {
				want = claimdlq.Unavailable
			}
			is(t, name, err, want)
			if got := w.last(); got != "sign_in_refused anonymous OIDC:"+c.why {
				t.Errorf("%s: %s", name, got)
			}
			if got := w.d.Sessions(); got != sessions {
				t.Error("there is a session")
			}
			if err != nil && strings.Contains(err.Error(), "TEST") {
				t.Errorf("the error tells too much: %v", err)
			}
		})
	}
}

func TestOIDC_TakesWhatTheStandardAllows(t *testing.T) {
	t.Parallel()
	for name, claims := range map[string]map[string]any{
		"many audiences, issued to us": {"aud": []string{"dlq", "other"}, "azp": "dlq"},
		"one group as a text":          {"groups": "dlq-ops"},
		"a clock that is a little off": {"iat": float64(time.Date(2026, 3, 2, 9, 4, 59, 0, time.UTC).Unix())},
		"more claims":                  {"email": "TEST@example.test", "extra": []any{1, nil}},
	} {
		w, p := federated(t)
		p.Claims = claims
		b, to := w.begin()
		q := p.Consent(to.URL)
		q.Set("iss", p.URL)
		_, err := do(w, w.d.FinishOIDC(t.Context(), b.back(q)))
		is(t, name, err, nil)
	}
}

func TestOIDC_NamesThePersonByTheClaimThatIsConfigured(t *testing.T) {
	t.Parallel()
	for name, want := range map[any]string{"Ana.B@clinic.test": "sign_in oidc:Ana.B@clinic.test OIDC", 17: "sign_in_refused anonymous OIDC:NAME", "a b": "sign_in_refused anonymous OIDC:NAME"} {
		w, p := federated(t, func(c *auth.OIDCConfig) { c.LoginClaim = "email" })
		p.Claims = map[string]any{"email": name}
		b, to := w.begin()
		_, _ = do(w, w.d.FinishOIDC(t.Context(), b.back(p.Consent(to.URL))))
		if got := w.last(); got != want {
			t.Errorf("%v: %s", name, got)
		}
	}
}

func TestOIDC_AManipulatedAnswerAsksNothingOfTheProvider(t *testing.T) {
	t.Parallel()
	w, p := federated(t)
	b, to := w.begin()
	q := p.Consent(to.URL)
	q.Set("state", "TEST")
	for range 3 {
		_, err := do(w, w.d.FinishOIDC(t.Context(), b.back(q)))
		is(t, "a wrong state", err, auth.ErrSignIn)
	}
	if !slices.Equal(p.Asked, []string{"/.well-known/openid-configuration"}) {
		t.Error(p.Asked)
	}
	q.Set("state", p.Consent(to.URL).Get("state")) // the right one is still good
	_, err := do(w, w.d.FinishOIDC(t.Context(), b.back(q)))
	is(t, "the right one", err, nil)
}

func TestOIDC_AProviderThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	way := &watchedWay{}
	w, p := federated(t, func(c *auth.OIDCConfig) { c.Transport = way })
	for name, h := range map[string]http.HandlerFunc{
		"away": func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusServiceUnavailable) },
		"another's": func(rw http.ResponseWriter, _ *http.Request) {
			d := p.Document()
			d["issuer"] = "https://evil.test"
			authtest.Answer(rw, d)
		},
		"elsewhere": func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/keys", http.StatusFound) },
	} {
		p.Discovery = h
		_, err := w.d.BeginOIDC(t.Context(), newBrowser(w).get())
		is(t, name, err, claimdlq.Unavailable)
	}
	p.Discovery = func(rw http.ResponseWriter, _ *http.Request) {
		d := p.Document()
		d["token_endpoint"] = "http://192.0.2.1/token" // where anybody could read the code
		authtest.Answer(rw, d)
	}
	b, to := w.begin()
	_, err := do(w, w.d.FinishOIDC(t.Context(), b.back(p.Consent(to.URL))))
	is(t, "an address that is not https", err, claimdlq.Unavailable)
	if len(way.hosts) == 0 || slices.ContainsFunc(way.hosts, func(h string) bool { return "http://"+h != p.URL }) {
		t.Errorf("asked %v", way.hosts)
	}
}

// watchedWay says which hosts were asked, and asks none but this machine.
type watchedWay struct{ hosts []string }

func (w *watchedWay) RoundTrip(r *http.Request) (*http.Response, error) {
	w.hosts = append(w.hosts, r.URL.Host)
	if !strings.HasPrefix(r.URL.Host, "127.0.0.1:") {
		return nil, errors.New("not of this machine")
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestOIDC_IsNotThereUnlessConfigured(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, err := w.d.BeginOIDC(t.Context(), newBrowser(w).get())
	is(t, "begin", err, claimdlq.NotFound)
	_, err = do(w, w.d.FinishOIDC(t.Context(), newBrowser(w).get()))
	is(t, "finish", err, claimdlq.NotFound)
	good := auth.OIDCConfig{Issuer: "https://id.example", ClientID: "dlq", RedirectURL: "https://dlq.example/cb", RolesClaim: "groups", Roles: map[string][]auth.Role{"a": {auth.Viewer}}}
	if _, err := auth.NewOIDC(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*auth.OIDCConfig){
		"plain issuer":   func(c *auth.OIDCConfig) { c.Issuer = "http://id.example" },
		"no issuer":      func(c *auth.OIDCConfig) { c.Issuer = "" },
		"plain redirect": func(c *auth.OIDCConfig) { c.RedirectURL = "http://dlq.example/cb" },
		"no client":      func(c *auth.OIDCConfig) { c.ClientID = "" },
		"no claim":       func(c *auth.OIDCConfig) { c.RolesClaim = "" },
		"no roles":       func(c *auth.OIDCConfig) { c.Roles = nil },
		"unknown role":   func(c *auth.OIDCConfig) { c.Roles = map[string][]auth.Role{"a": {"root"}} },
		"bad partner":    func(c *auth.OIDCConfig) { c.Partners = map[string][]string{"a": {"**"}} },
	} {
		c := good
		change(&c)
		if _, err := auth.NewOIDC(c); code(err) != claimdlq.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
