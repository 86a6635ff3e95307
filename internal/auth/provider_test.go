package auth_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"claimdlq/internal/auth"
)

var b64 = base64.RawURLEncoding

// provider is an OpenID Connect provider on this machine. Its fields break it.
type provider struct {
	t   *testing.T
	url string
	key *rsa.PrivateKey

	mu     sync.Mutex
	grants map[string]url.Values // what a code was asked for with
	claims map[string]any        // beside or instead of the usual; nil takes one out
	sign   func(header, body map[string]any) string
	// The answers instead of the usual.
	discovery, jwks, token http.HandlerFunc
	asked                  []string // paths
}

var oneKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newProvider(t *testing.T, w *world) *provider {
	t.Helper()
	key, err := oneKey()
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key, grants: map[string]url.Values{}}
	mux := http.NewServeMux()
	serve := func(path string, instead func() http.HandlerFunc, usual http.HandlerFunc) {
		mux.HandleFunc(path, func(rw http.ResponseWriter, r *http.Request) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.asked = append(p.asked, path)
			if h := instead(); h != nil {
				h(rw, r)
				return
			}
			usual(rw, r)
		})
	}
	serve("/.well-known/openid-configuration", func() http.HandlerFunc { return p.discovery }, func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, p.document())
	})
	serve("/keys", func() http.HandlerFunc { return p.jwks }, func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "n": b64.EncodeToString(key.N.Bytes()), "e": b64.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	serve("/token", func() http.HandlerFunc { return p.token }, func(rw http.ResponseWriter, r *http.Request) { p.exchange(w, rw, r) })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	p.url = srv.URL
	return p
}

func answer(rw http.ResponseWriter, v any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(v)
}

func (p *provider) document() map[string]any {
	return map[string]any{
		"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token", "jwks_uri": p.url + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}, // of which only one can be trusted
	}
}

// consent is the person who signs in at the provider: it returns where his browser is
// sent back to.
func (p *provider) consent(to string) url.Values {
	p.t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := rand.Text()
	p.grants[code] = u.Query()
	return url.Values{"state": {u.Query().Get("state")}, "code": {code}}
}

// exchange is the token endpoint: a code is good once, for who has the verifier.
func (p *provider) exchange(w *world, rw http.ResponseWriter, r *http.Request) {
	asked, ok := p.grants[r.FormValue("code")]
	delete(p.grants, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !ok || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != b64.EncodeToString(sum[:]) ||
		id != "dlq" || secret != "TEST-client-secret" || r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = rw.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	claims := map[string]any{
		"iss": p.url, "aud": "dlq", "sub": "u-17", "nonce": asked.Get("nonce"), "groups": []string{"dlq-analysts", "everybody"},
		"iat": w.time().Unix(), "exp": w.time().Unix() + 300,
	}
	maps.Copy(claims, p.claims)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	sign := p.sign
	if sign == nil {
		sign = p.rs256
	}
	out := map[string]any{"access_token": "TEST", "token_type": "Bearer"}
	if token := sign(map[string]any{"kid": "one", "typ": "JWT"}, claims); token != "" {
		out["id_token"] = token
	}
	answer(rw, out)
}

func signed(header, body map[string]any, alg string, sign func(text []byte) []byte) string {
	header["alg"] = alg
	h, _ := json.Marshal(header)
	b, _ := json.Marshal(body)
	text := b64.EncodeToString(h) + "." + b64.EncodeToString(b)
	return text + "." + b64.EncodeToString(sign([]byte(text)))
}

func (p *provider) rs256(header, body map[string]any) string { return rs256(p.key)(header, body) }

func rs256(key *rsa.PrivateKey) func(header, body map[string]any) string {
	return func(header, body map[string]any) string {
		return signed(header, body, "RS256", func(text []byte) []byte {
			sum := sha256.Sum256(text)
			sig, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
			return sig
		})
	}
}

// hs256 signs with the public key as if it were a secret.
func (p *provider) hs256(header, body map[string]any) string {
	der, err := x509.MarshalPKIXPublicKey(&p.key.PublicKey)
	if err != nil {
		p.t.Error(err)
	}
	return signed(header, body, "HS256", func(text []byte) []byte {
		m := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		m.Write(text)
		return m.Sum(nil)
	})
}

// federated is a desk with a provider.
func federated(t *testing.T, change ...func(*auth.OIDCConfig)) (*world, *provider) {
	t.Helper()
	w := setup(t)
	p := newProvider(t, w)
	c := auth.OIDCConfig{
		Issuer: p.url, ClientID: "dlq", ClientSecret: auth.NewSecret("TEST-client-secret"), RedirectURL: "https://dlq.test/oidc/callback",
		Scopes: []string{"profile"}, RolesClaim: "groups",
		Roles: map[string][]auth.Role{"dlq-analysts": {auth.Analyst}, "dlq-ops": {auth.Operator, auth.Viewer}},
	}
	for _, fn := range change {
		fn(&c)
	}
	var err error
	if w.o.OIDC, err = auth.NewOIDC(c); err != nil {
		t.Fatal(err)
	}
	w.open()
	return w, p
}

// begin has a browser begin a sign-in.
func (w *world) begin() (*browser, auth.Redirect) {
	w.t.Helper()
	b := newBrowser(w)
	to, err := w.d.BeginOIDC(w.t.Context(), b.get())
	if err != nil {
		w.t.Fatal(err)
	}
	b.set(to.Cookie)
	return b, to
}

// back is a browser that comes back from the provider.
func (b *browser) back(q url.Values) *http.Request {
	r := b.request(http.MethodGet, "/oidc/callback?"+q.Encode())
	r.Header.Set("Sec-Fetch-Site", "cross-site") // it is sent by the provider
	return r
}
