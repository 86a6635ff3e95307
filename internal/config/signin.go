package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

// SignIn is how people sign in to the console and the API (sign_in).
type SignIn struct {
	// Origins are the public addresses of the console (sign_in.origins): https and a
	// host, or http and this machine. They are needed behind a proxy that changes the
	// Host header, and for OIDC. Default: https and the request's host.
	Origins []string
	// CodesFor are the roles that need one-time codes (sign_in.codes_for). Default: none.
	CodesFor []auth.Role
	// Idle ends a session that nobody uses (sign_in.idle): 1m to 12h. Longest ends any
	// (sign_in.longest): Idle to 7d. Default: 15m, 12h.
	Idle, Longest time.Duration
	// ReplayClaims and ReplayDollars are from where on a replay needs a second person
	// (sign_in.second_person.replay_claims, .replay_dollars): 1 to 1,000,000,000 each;
	// either is enough. Default: 100, 10000.
	ReplayClaims, ReplayDollars int64
	// OIDC is the provider to sign in through, beside local accounts (sign_in.oidc).
	// Default: none.
	OIDC *auth.OIDCConfig
}

// callback is where the provider sends a browser back to: package api has it.
const callback = "/v1/session/oidc/callback"

// oidcDraft is the provider while it is read.
type oidcDraft struct {
	auth.OIDCConfig

	secret Secret
}

func (r *reader) signIn() object {
	s, o := &r.config.SignIn, &r.oidc
	return object{
		{"origins", words(&s.Origins, origin)},
		{"codes_for", words(&s.CodesFor, role)},
		{"idle", span(&s.Idle, minute, 12*hour)},
		{"longest", span(&s.Longest, minute, 7*day)},
		{"second_person", object{
			{"replay_claims", whole(&s.ReplayClaims, 1, 1_000_000_000)},
			{"replay_dollars", whole(&s.ReplayDollars, 1, 1_000_000_000)},
		}},
		{"oidc", object{
			{"issuer", text(&o.Issuer, address)},
			{"client_id", text(&o.ClientID, plainWord)},
			{"client_secret_file", secret{&o.secret, headerValue}},
			{"redirect", text(&o.RedirectURL, redirect)},
			{"scopes", words(&o.Scopes, plainWord)},
			{"login_claim", text(&o.LoginClaim, plainWord)},
			{"roles_claim", text(&o.RolesClaim, plainWord)},
			{"roles", lists(&o.Roles, role)},
			{"partners", lists(&o.Partners, plainWord)},
		}},
	}
}

// checkSignIn checks the keys of sign_in against each other and makes the provider.
func (r *reader) checkSignIn() {
	s, o := &r.config.SignIn, &r.oidc
	if s.Idle > s.Longest {
		r.wrongAt("sign_in.idle", "must not be longer than longest, which is "+sayspan(s.Longest))
	}
	const at = "sign_in.oidc"
	if !r.isGiven(at) {
		return
	}
	missing := false
	for _, key := range []string{"issuer", "client_id", "roles_claim", "roles"} {
		if !r.isGiven(at + "." + key) {
			r.wrongAt(at+"."+key, "must be said")
			missing = true
		}
	}
	switch {
	case o.RedirectURL == "" && len(s.Origins) > 0:
		o.RedirectURL = s.Origins[0] + callback
	case o.RedirectURL == "" && !r.isGiven(at+".redirect"):
		r.wrongAt(at+".redirect", "must be said, or sign_in.origins: the provider sends browsers back to it")
	case o.RedirectURL != "" && len(s.Origins) > 0 && !slices.Contains(s.Origins, strings.TrimSuffix(o.RedirectURL, callback)):
		r.wrongAt(at+".redirect", "must begin with one of sign_in.origins")
	}
	if missing || r.faults.count() > 0 {
		return
	}
	o.ClientSecret = auth.NewSecret(string(o.secret.Reveal()))
	if _, err := auth.NewOIDC(o.OIDCConfig); err != nil {
		what := "describes no provider"
		if e, ok := errors.AsType[*claimdlq.Error](err); ok && e.Hint != "" {
			what = e.Hint
		}
		r.wrongAt(at, what)
		return
	}
	s.OIDC = &o.OIDCConfig
}

// maxWords bounds lists.
const maxWords = 100

// words reads a list of values that check allows.
func words[T ~string](to *[]T, check func(string) string) sequence {
	return func(r *reader, n *node) {
		var out []T
		if len(n.items) > maxWords {
			r.wrong(n, fmt.Sprintf("must be at most %d values", maxWords))
			return
		}
		for _, item := range n.items {
			if !r.one(item) {
				continue
			}
			if allowed := check(item.text); allowed != "" {
				r.wrong(item, allowed)
				continue
			}
			out = append(out, T(item.text))
		}
		*to = out
	}
}

// lists reads a mapping from names to lists.
func lists[T ~string](to *map[string][]T, check func(string) string) table {
	return func(r *reader, n *node) {
		out := map[string][]T{}
		for _, c := range n.items {
			var list []T
			if c.kind != mapping && c.kind != scalar {
				words(&list, check).read(r, c)
			} else {
				r.wrong(c, "must be a list: lines that begin with -")
			}
			out[c.name] = list
		}
		*to = out
	}
}

func role(s string) string {
	if !auth.Role(s).Known() {
		return "must be one of viewer, operator, analyst, approver, admin"
	}
	return ""
}

// origin allows https and a host, or http and this machine, and nothing behind it.
func origin(s string) string {
	if what := address(s); what != "" {
		return what
	}
	if u, err := url.Parse(s); err != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(s, "#") {
		return "must be an address without a path, such as https://dlq.example"
	}
	return ""
}

func redirect(s string) string {
	at, found := strings.CutSuffix(s, callback)
	if !found || origin(at) != "" {
		return "must be the console's public address and " + callback
	}
	return ""
}

// plainWord allows what a name in another system may be: no blanks.
func plainWord(s string) string {
	if s == "" || len(s) > 200 || !printable([]byte(s), '!') {
		return "must be 1 to 200 characters of printable ASCII, no blanks"
	}
	return ""
}
