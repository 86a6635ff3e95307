// Package authtest is an OpenID Connect provider on this machine, for tests of what
// signs in through one.
package authtest

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
	"time"
)

var b64 = base64.RawURLEncoding

// The client that the provider knows.
const (
	ClientID     = "dlq"
	ClientSecret = "TEST-client-secret"
)

// Provider is an OpenID Connect provider on this machine. Its fields break it.
type Provider struct {
	URL string
	Key *rsa.PrivateKey

	t   *testing.T
	now func() time.Time

	mu     sync.Mutex
	grants map[string]url.Values // what a code was asked for with
	Claims map[string]any        // beside or instead of the usual; nil takes one out
	Sign   func(header, body map[string]any) string
	// The answers instead of the usual.
	Discovery, JWKS, Token http.HandlerFunc
	Asked                  []string // paths
}

var oneKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// NewProvider starts one whose clock is now; it ends with the test.
func NewProvider(t *testing.T, now func() time.Time) *Provider {
	t.Helper()
	key, err := oneKey()
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{t: t, now: now, Key: key, grants: map[string]url.Values{}}
	mux := http.NewServeMux()
	serve := func(path string, instead func() http.HandlerFunc, usual http.HandlerFunc) {
		mux.HandleFunc(path, func(rw http.ResponseWriter, r *http.Request) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.Asked = append(p.Asked, path)
			if h := instead(); h != nil {
				h(rw, r)
				return
			}
			usual(rw, r)
		})
	}
	serve("/.well-known/openid-configuration", func() http.HandlerFunc { return p.Discovery }, func(rw http.ResponseWriter, _ *http.Request) {
		Answer(rw, p.Document())
	})
	serve("/keys", func() http.HandlerFunc { return p.JWKS }, func(rw http.ResponseWriter, _ *http.Request) {
		Answer(rw, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "n": b64.EncodeToString(key.N.Bytes()), "e": b64.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	serve("/token", func() http.HandlerFunc { return p.Token }, func(rw http.ResponseWriter, r *http.Request) { p.exchange(rw, r) })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	p.URL = srv.URL
	return p
}

// Answer writes JSON.
func Answer(rw http.ResponseWriter, v any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(v)
}

// Document is what the provider says of itself.
func (p *Provider) Document() map[string]any {
	return map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}, // of which only one can be trusted
	}
}

// Consent is the person who signs in at the provider: it returns where his browser is
// sent back to.
func (p *Provider) Consent(to string) url.Values {
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
func (p *Provider) exchange(rw http.ResponseWriter, r *http.Request) {
	asked, ok := p.grants[r.FormValue("code")]
	delete(p.grants, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !ok || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != b64.EncodeToString(sum[:]) ||
		id != ClientID || secret != ClientSecret || r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = rw.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	claims := map[string]any{
		"iss": p.URL, "aud": ClientID, "sub": "u-17", "nonce": asked.Get("nonce"), "groups": []string{"dlq-analysts", "everybody"},
		"iat": p.now().Unix(), "exp": p.now().Unix() + 300,
	}
	maps.Copy(claims, p.Claims)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	sign := p.Sign
	if sign == nil {
		sign = RS256(p.Key)
	}
	out := map[string]any{"access_token": "TEST", "token_type": "Bearer"}
	if token := sign(map[string]any{"kid": "one", "typ": "JWT"}, claims); token != "" {
		out["id_token"] = token
	}
	Answer(rw, out)
}

// Signed makes a JWT whose text sign signs.
func Signed(header, body map[string]any, alg string, sign func(text []byte) []byte) string {
	header["alg"] = alg
	h, _ := json.Marshal(header)
	b, _ := json.Marshal(body)
	text := b64.EncodeToString(h) + "." + b64.EncodeToString(b)
	return text + "." + b64.EncodeToString(sign([]byte(text)))
}

// RS256 signs with a key.
func RS256(key *rsa.PrivateKey) func(header, body map[string]any) string {
	return func(header, body map[string]any) string {
		return Signed(header, body, "RS256", func(text []byte) []byte {
			sum := sha256.Sum256(text)
			sig, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
			return sig
		})
	}
}

// HS256 signs with the public key as if it were a secret.
func (p *Provider) HS256(header, body map[string]any) string {
	der, err := x509.MarshalPKIXPublicKey(&p.Key.PublicKey)
	if err != nil {
		p.t.Error(err)
	}
	return Signed(header, body, "HS256", func(text []byte) []byte {
		m := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		m.Write(text)
		return m.Sum(nil)
	})
}
