package auth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"claimdlq/internal/loopback"
)

const (
	sessionCookie = "claimdlq"
	flowCookie    = "claimdlq-oidc"
	// hostPrefix makes a browser refuse the cookie from a neighbouring host or over
	// plain HTTP (RFC 6265bis section 4.1.3.2).
	hostPrefix = "__Host-"
	bearer     = "Bearer "

	// Background is a header for requests that a console makes by itself, such as polls:
	// with any value they do not keep a session from getting idle.
	Background = "Claimdlq-Background"
)

// Authenticate returns who makes a request: by the API token in its Authorization
// header, else by its session cookie. A request that brings a header which is not good
// is not tried by its cookie. With a cookie it keeps CheckOrigin's rules. Errors:
// ErrUnauthenticated, ErrOrigin.
func (d *Desk) Authenticate(r *http.Request) (Principal, error) {
	const op = "authenticate"
	if hs := r.Header.Values("Authorization"); len(hs) > 0 {
		if text, ok := strings.CutPrefix(hs[0], bearer); ok && len(hs) == 1 {
			return d.byToken(d.o.Now(), text)
		}
		return Principal{}, refuse(op, "", ErrUnauthenticated, "the API takes a bearer token")
	}
	dg, ok := d.sessionOf(r)
	if !ok {
		return Principal{}, d.signInFirst()
	}
	if err := d.CheckOrigin(r); err != nil {
		return Principal{}, err
	}
	return d.bySession(d.o.Now(), dg, len(r.Header.Values(Background)) == 0)
}

// BringsToken reports whether a request brings what looks like an API token.
func BringsToken(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), bearer+tokenPrefix)
}

// Still returns the principal of a long answer, such as a stream of events, as he is
// now; it does not keep his session from getting idle. His reason stays. Errors:
// ErrUnauthenticated; the answer has to end then.
func (d *Desk) Still(p Principal) (Principal, error) {
	var now Principal
	var err error
	switch p.Source {
	case FromSession:
		now, err = d.bySession(d.o.Now(), p.session, false)
	case FromToken:
		now, err = d.byTokenID(d.o.Now(), p.TokenID)
	case FromMachine:
		return p, nil
	case Nobody:
		err = d.signInFirst()
	}
	now.Reason = p.Reason
	return now, err
}

// bySession returns the principal of a session that is not over.
func (d *Desk) bySession(now time.Time, dg digest, touch bool) (Principal, error) {
	gone := func() (Principal, error) { return Principal{}, d.signInFirst() }
	s, ok := d.sessions.look(now, dg, touch)
	if !ok {
		return gone()
	}
	p := s.principal(dg)
	if s.local {
		a := d.users.get().find(s.actor)
		if a == nil || a.Disabled || a.Epoch != s.epoch {
			d.sessions.drop(dg)
			return gone()
		}
		p = d.ofAccount(a)
		p.Source, p.session = FromSession, dg
	}
	p.ExpiresAt = s.began.Add(d.o.Absolute)
	if now.Before(s.elevated) && p.grants.has(PayloadBreakGlass) {
		p.ElevatedUntil = s.elevated
		p.grants |= grantsTo(PayloadReveal)
	}
	return p, nil
}

// ofAccount returns what a local account may do now.
func (d *Desk) ofAccount(a *account) Principal {
	u := a.user()
	return Principal{
		Actor: u.Login, Roles: u.Roles, Partners: u.Partners, Must: a.duty(d.o.CodeFor),
		grants: grantsOf(u.Roles), local: true,
	}
}

// CheckOrigin refuses a request that a page of another site made (ErrOrigin). Each rule
// is about what browsers send and no page can forge:
//
//   - Sec-Fetch-Site same-origin: good, if Origin does not say otherwise.
//   - Sec-Fetch-Site none, which is an address that a person typed: good for GET and HEAD.
//   - Sec-Fetch-Site with anything else, a neighbouring host among it: refused.
//   - Without it, from browsers of 2022 and earlier: GET and HEAD are good; for the rest
//     Origin must be there and be ours.
//
// Ours are Options.Origins; without those https and the request's Host; on plain HTTP of
// this machine, http and the Host, which must be a loopback name: an outside name that
// resolves to this machine is not ours. Authenticate asks it for every request with a
// session, and SignIn; a request with a token is no browser's.
func (d *Desk) CheckOrigin(r *http.Request) error {
	refusal := func() error { return refuse("check origin", "", ErrOrigin, "open the console at its own address") }
	sites, origins := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Origin")
	if len(sites) > 1 || len(origins) > 1 {
		return refusal()
	}
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	if len(origins) == 1 && !d.ours(r, origins[0]) {
		return refusal()
	}
	switch {
	case len(sites) == 0 && (safe || len(origins) == 1):
	case len(sites) == 1 && sites[0] == "same-origin":
	case len(sites) == 1 && sites[0] == "none" && safe:
	default:
		return refusal()
	}
	return nil
}

func (d *Desk) ours(r *http.Request, origin string) bool {
	text, ok := parseOrigin(origin)
	if !ok {
		return false
	}
	if len(d.origins) > 0 {
		return slices.Contains(d.origins, text)
	}
	if d.plain(r) {
		return text == "http://"+strings.ToLower(r.Host)
	}
	return strings.TrimSuffix(text, ":443") == "https://"+strings.TrimSuffix(strings.ToLower(r.Host), ":443")
}

// parseOrigin returns an origin in one spelling; plain http is for loopback hosts.
func parseOrigin(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", false
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback.Host(u.Hostname())) {
		return "", false
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), true
}

// plain reports whether the request is plain HTTP that stays on this machine.
func (d *Desk) plain(r *http.Request) bool {
	if !d.o.LoopbackHTTP || r.TLS != nil || !remote(r).IsLoopback() {
		return false
	}
	u := url.URL{Host: r.Host}
	return loopback.Host(u.Hostname())
}

// sessionOf reads the session's id. A cookie that is there twice was set by somebody
// else and counts for none.
func (d *Desk) sessionOf(r *http.Request) (digest, bool) {
	text, ok := d.read(r, sessionCookie)
	if !ok {
		return digest{}, false
	}
	return digestOf(text)
}

func (d *Desk) read(r *http.Request, name string) (string, bool) {
	cs := r.CookiesNamed(d.cookieName(r, name))
	if len(cs) != 1 {
		return "", false
	}
	return cs[0].Value, true
}

func (d *Desk) cookieName(r *http.Request, name string) string {
	if d.plain(r) {
		return name
	}
	return hostPrefix + name
}

func (d *Desk) cookie(r *http.Request, name, value string, age time.Duration, same http.SameSite) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure but for plain HTTP that stays on this machine
		Name: d.cookieName(r, name), Value: value, Path: "/", MaxAge: int(age / time.Second),
		Secure: !d.plain(r), HttpOnly: true, SameSite: same,
	}
}

// forget returns the cookie that takes another from the browser.
func (d *Desk) forget(r *http.Request, name string, same http.SameSite) *http.Cookie {
	return d.cookie(r, name, "", -time.Second, same)
}
