package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"claimdlq"
)

const (
	// flowFor is how long a sign-in at the provider may take.
	flowFor = 10 * time.Minute
	// maxSpent bounds the finished sign-ins that are remembered, so that each answer of
	// the provider is taken once.
	maxSpent = 4096
)

// flow is a sign-in under way. Everything about it derives from one secret, which the
// browser keeps in a cookie with the time and our seal: the server remembers nothing,
// and nobody can fill its memory. The cookie ties the answer to the browser that asked.
type flow struct {
	secret []byte
	began  time.Time
}

// flowBytes is the length of a cookie's value: secret, time, seal.
const flowBytes = secretBytes + 8 + sha256.Size

// derive returns the state, nonce or verifier of the flow: 43 characters, as RFC 7636
// section 4.1 wants them.
func (f flow) derive(what string) string {
	return base64.RawURLEncoding.EncodeToString(mac(f.secret, what))
}

func mac(key []byte, parts ...string) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		_, _ = m.Write([]byte(p))
	}
	return m.Sum(nil)
}

// seal returns the cookie's value.
func (f flow) seal(key []byte) string {
	b := append(make([]byte, 0, flowBytes), f.secret...)
	b = binary.BigEndian.AppendUint64(b, uint64(f.began.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, mac(key, "flow", string(b))...))
}

// unseal reads what seal wrote with the same key, if it is not too old.
func unseal(key []byte, text string, now time.Time) (f flow, ok bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(flowBytes) {
		return f, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != flowBytes {
		return f, false
	}
	body, seal := b[:secretBytes+8], b[secretBytes+8:]
	if !hmac.Equal(seal, mac(key, "flow", string(body))) {
		return f, false
	}
	f = flow{secret: body[:secretBytes], began: time.Unix(int64(binary.BigEndian.Uint64(body[secretBytes:])), 0)}
	return f, now.Sub(f.began) < flowFor
}

// spent remembers which flows are finished, as long as their cookies are good.
type spent struct {
	mu sync.Mutex
	m  map[string]time.Time // state -> when it began
}

// take reports whether the flow is finished for the first time. When it is full, which
// takes thousands of sign-ins at the provider within ten minutes, it takes none.
func (s *spent) take(now time.Time, f flow) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for state, began := range s.m {
		if now.Sub(began) >= flowFor {
			delete(s.m, state)
		}
	}
	state := f.derive("state")
	if _, used := s.m[state]; used || len(s.m) >= maxSpent {
		return false
	}
	if s.m == nil {
		s.m = map[string]time.Time{}
	}
	s.m[state] = f.began
	return true
}

// Redirect is where a browser goes to sign in, and the cookie that it has to bring back.
type Redirect struct {
	URL    string
	Cookie *http.Cookie
}

const opOIDC = "sign in through the provider"

// BeginOIDC begins a sign-in at the provider. The cookie is SameSite=Lax: the way back
// is a navigation from the provider's site. Errors: NotFound (no provider), Unavailable
// (it does not answer).
func (d *Desk) BeginOIDC(ctx context.Context, r *http.Request) (Redirect, error) {
	if d.o.OIDC == nil {
		return Redirect{}, notFound(opOIDC)
	}
	now := d.o.Now()
	f := flow{secret: make([]byte, secretBytes), began: now}
	_, _ = rand.Read(f.secret)
	to, err := d.o.OIDC.start(ctx, f)
	if err != nil {
		return Redirect{}, err
	}
	return Redirect{to, d.cookie(r, flowCookie, f.seal(d.flowKey), flowFor, http.SameSiteLaxMode)}, nil
}

// FinishOIDC takes the provider's answer, a GET of the redirect address, and begins a
// session. The answer to it must set the session's cookie, and ForgetOIDC's. It is
// refused, ErrSignIn, unless: this browser began it within ten minutes and its state is
// ours; it was not finished before; the code is exchanged with our verifier (PKCE); the
// ID token is signed by the provider for us alone, in time, with our nonce; and the
// claims give a name and a role. Errors also: NotFound, Unavailable, a TooManyError.
func (d *Desk) FinishOIDC(ctx context.Context, r *http.Request) Act[SignedIn] {
	if d.o.OIDC == nil {
		return refused[SignedIn](Event{}, notFound(opOIDC))
	}
	now, from := d.o.Now(), d.o.Address(r)
	k := addressKey(from)
	if wait, ok := d.throttle.enter(now, k); !ok {
		return refused[SignedIn](Event{}, tooMany(opOIDC, wait))
	}
	note := "from " + from.String()
	var who session
	f, err := d.returned(r, now)
	if err == nil {
		who, err = d.o.OIDC.finish(ctx, f, r.URL.Query().Get("code"), now)
	}
	if why, ok := errors.AsType[rejection](err); ok {
		return refused[SignedIn](event(now, anonymous, ActSignInRefused, "OIDC:"+string(why), note), refuse(opOIDC, string(why), ErrSignIn, "begin again"))
	}
	if err != nil {
		return refused[SignedIn](event(now, anonymous, ActSignInRefused, "OIDC:PROVIDER", note), err)
	}
	return Act[SignedIn]{Event: event(now, who.actor, ActSignIn, "OIDC", note), do: func() (SignedIn, error) {
		d.throttle.forgive(k)
		d.end(r)
		id, dg := d.sessions.create(d.o.Now(), who)
		return d.signedIn(r, id, dg)
	}}
}

// returned looks at what the browser brings back, before anything is asked of the
// provider, and uses the flow up. The error is a rejection.
func (d *Desk) returned(r *http.Request, now time.Time) (flow, error) {
	sealed, _ := d.read(r, flowCookie)
	f, ok := unseal(d.flowKey, sealed, now)
	q := r.URL.Query()
	switch {
	case r.Method != http.MethodGet:
		return f, rejection("METHOD")
	case !ok:
		return f, rejection("COOKIE")
	case len(q["state"]) != 1 || subtle.ConstantTimeCompare([]byte(q["state"][0]), []byte(f.derive("state"))) != 1:
		return f, rejection("STATE")
	case len(q["iss"]) > 1 || len(q["iss"]) == 1 && q["iss"][0] != d.o.OIDC.c.Issuer: // RFC 9207
		return f, rejection("ISSUER")
	case !d.spent.take(now, f):
		return f, rejection("USED")
	case q.Has("error") || len(q["code"]) != 1 || q["code"][0] == "":
		return f, rejection("NO_CODE")
	}
	return f, nil
}

// ForgetOIDC returns the cookie that takes BeginOIDC's from the browser.
func (d *Desk) ForgetOIDC(r *http.Request) *http.Cookie {
	return d.forget(r, flowCookie, http.SameSiteLaxMode)
}

// roleOf maps what the provider said to roles and partners; several values add up.
func (c OIDCConfig) roleOf(values []string) (roles []Role, partners []string) {
	for _, v := range values {
		for _, r := range c.Roles[v] {
			if !slices.Contains(roles, r) {
				roles = append(roles, r)
			}
		}
		for _, p := range c.Partners[v] {
			if !slices.Contains(partners, p) {
				partners = append(partners, p)
			}
		}
	}
	if len(c.Partners) == 0 {
		partners = []string{AllPartners}
	}
	return roles, partners
}

// oidcName allows what may stand in an actor's name.
func oidcName(s string) bool {
	return s != "" && len(s) <= maxLogin && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._@+-", r)
	})
}

func unavailableProvider(err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: opOIDC, Err: err, Hint: "the provider does not answer as it should: try again, or ask who runs it"}
}
