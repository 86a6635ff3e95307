package auth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"claimdlq"
	"claimdlq/internal/loopback"
)

const (
	providerTimeout = 10 * time.Second
	// maxAnswer bounds what a provider may answer.
	maxAnswer = 1 << 20
	// clockSkew is how much later than ours the provider's clock may be.
	clockSkew = 5 * time.Minute
)

// OIDCConfig says which OpenID Connect provider to trust, and with what. What it says of
// somebody holds as long as his session, Options.Absolute at most: it is not asked again.
type OIDCConfig struct {
	// Issuer is its address: https, or http on this machine.
	Issuer   string
	ClientID string
	// ClientSecret is optional: PKCE protects the code without it.
	ClientSecret Secret
	// RedirectURL is where FinishOIDC is asked, on one of Options.Origins.
	RedirectURL string
	// Scopes are asked for beside openid. Default: none.
	Scopes []string
	// LoginClaim names the person: [A-Za-z0-9._@+-]{1,64}, and never given to another
	// by the provider. Default: sub.
	LoginClaim string
	// RolesClaim holds a value or a list; Roles maps each to roles, Partners to partner
	// patterns. Values that are in no map count for nothing. Without any role nobody is
	// let in. Default of Partners: all of them, for everybody.
	RolesClaim string
	Roles      map[string][]Role
	Partners   map[string][]string
	// Transport is how the provider is reached. Default: http.DefaultTransport.
	Transport http.RoundTripper
}

// OIDC is a provider to sign in through. It is safe for concurrent use.
type OIDC struct {
	c      OIDCConfig
	client *http.Client
	known  atomic.Pointer[oidc.Provider] // once it has answered
}

// NewOIDC checks a configuration; the provider is asked with the first sign-in. Errors:
// Invalid.
func NewOIDC(c OIDCConfig) (*OIDC, error) {
	const op = "configure the provider"
	if c.LoginClaim == "" {
		c.LoginClaim = "sub"
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	switch {
	case !safeURL(c.Issuer) || !safeURL(c.RedirectURL):
		return nil, invalid(op, "the issuer and the redirect address begin with https://, or with http:// on this machine")
	case c.ClientID == "" || c.RolesClaim == "" || len(c.Roles) == 0:
		return nil, invalid(op, "the client id, the claim of the roles and their map are needed")
	}
	for _, roles := range c.Roles {
		if hint := checkAccess(Access{Roles: roles}); hint != "" {
			return nil, invalid(op, hint)
		}
	}
	for _, partners := range c.Partners {
		if hint := checkPatterns(partners); hint != "" {
			return nil, invalid(op, hint)
		}
	}
	o := &OIDC{c: c}
	o.client = &http.Client{
		Transport: bounded{c.Transport}, Timeout: providerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("the provider redirects") },
	}
	return o, nil
}

func safeURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && u.User == nil && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http" && loopback.Host(u.Hostname()))
}

// bounded cuts off answers that are too long, and sends nothing where anybody could
// read it.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !loopback.Host(r.URL.Hostname()) {
		return nil, errors.New("the provider has an address that is not https")
	}
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	return resp, nil
}

// provider asks the provider for its addresses once. Two at a time may: it changes
// nothing.
func (o *OIDC) provider(ctx context.Context) (*oidc.Provider, error) {
	if p := o.known.Load(); p != nil {
		return p, nil
	}
	p, err := oidc.NewProvider(ctx, o.c.Issuer)
	if err != nil {
		return nil, unavailableProvider(errors.New("its configuration cannot be read"))
	}
	o.known.Store(p)
	return p, nil
}

func (o *OIDC) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.c.ClientID, ClientSecret: o.c.ClientSecret.Reveal(), Endpoint: p.Endpoint(), RedirectURL: o.c.RedirectURL,
		Scopes: append([]string{oidc.ScopeOpenID}, o.c.Scopes...),
	}
}

// start returns where the browser goes.
func (o *OIDC) start(ctx context.Context, f flow) (string, error) {
	p, err := o.provider(oidc.ClientContext(ctx, o.client))
	if err != nil {
		return "", err
	}
	return o.oauth(p).AuthCodeURL(f.derive("state"), oidc.Nonce(f.derive("nonce")), oauth2.S256ChallengeOption(f.derive("verifier"))), nil
}

// rejection says why what the provider's answer holds is not good enough: a word for
// the audit log, never a text of the provider.
type rejection string

// Error implements error.
func (r rejection) Error() string { return string(r) }

// finish exchanges the code and judges the ID token. Errors: a rejection; Unavailable,
// the provider could not be asked.
func (o *OIDC) finish(ctx context.Context, f flow, code string, now time.Time) (session, error) {
	ctx = oidc.ClientContext(ctx, o.client)
	p, err := o.provider(ctx)
	if err != nil {
		return session{}, err
	}
	token, err := o.oauth(p).Exchange(ctx, code, oauth2.VerifierOption(f.derive("verifier")))
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refusal.Response != nil && refusal.Response.StatusCode < http.StatusInternalServerError {
		return session{}, rejection("CODE")
	}
	if err != nil {
		return session{}, unavailableProvider(errors.New("the code cannot be exchanged"))
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return session{}, rejection("NO_ID_TOKEN")
	}
	id, err := p.Verifier(&oidc.Config{ClientID: o.c.ClientID, Now: func() time.Time { return now }}).Verify(ctx, raw)
	if err != nil {
		return session{}, rejection("ID_TOKEN")
	}
	return o.judge(id, f, now)
}

// judge looks at the claims of an ID token whose signature, issuer, audience and expiry
// are good.
func (o *OIDC) judge(id *oidc.IDToken, f flow, now time.Time) (session, error) {
	if id.Nonce != f.derive("nonce") {
		return session{}, rejection("NONCE")
	}
	if now.Before(id.IssuedAt.Add(-clockSkew)) {
		return session{}, rejection("ISSUED_LATER")
	}
	var claims map[string]json.RawMessage
	if err := id.Claims(&claims); err != nil {
		return session{}, rejection("CLAIMS")
	}
	// OpenID Connect Core 3.1.3.7, 4 and 5: for us, and for nobody beside us unless we
	// are named as the party it was issued to.
	azp, given := claims["azp"]
	if given && text(azp) != o.c.ClientID || !given && len(id.Audience) > 1 {
		return session{}, rejection("AUDIENCE")
	}
	name := text(claims[o.c.LoginClaim])
	if !oidcName(name) {
		return session{}, rejection("NAME")
	}
	roles, partners := o.c.roleOf(texts(claims[o.c.RolesClaim]))
	if len(roles) == 0 {
		return session{}, rejection("NO_ROLE")
	}
	return session{actor: claimdlq.ActorProvider + name, roles: roles, partners: partners}, nil
}

// text reads a claim that is a string; anything else is empty.
func text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// texts reads a claim that is a string or a list of them.
func texts(raw json.RawMessage) (list []string) {
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	if s := text(raw); s != "" {
		return []string{s}
	}
	return nil
}
