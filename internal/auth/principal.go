package auth

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"claimdlq"
)

// Source says how somebody was recognised.
type Source uint8

// The sources.
const (
	Nobody      Source = iota
	FromSession        // a browser's session, of a local user or through OpenID Connect
	FromToken          // an API token
	FromMachine        // the command line: the operating system's user
)

// Duty is what somebody has to do before anything else is allowed to him.
type Duty string

// The duties.
const (
	MustNothing        Duty = ""
	MustChangePassword Duty = "change_password" // it was set by somebody else
	MustEnrolCode      Duty = "enrol_code"      // one of his roles needs one-time codes
)

// Principal is who asks for something, as Authenticate found him for one request. It
// is a value and must not be kept beyond the request: roles, elevation and the session
// itself may be gone a moment later (see Desk.Still). The zero Principal is nobody.
type Principal struct {
	// Actor is the name in the audit log: a login, "oidc:" and the provider's name, or
	// "cli:" and a name of the command line.
	Actor  string
	Source Source
	Roles  []Role // of the account; a token may do less
	// Partners limits him, as patterns; see Covers.
	Partners []string
	// Reason is why he does what he asks for; see For.
	Reason string
	Must   Duty
	// ElevatedUntil is when a break-glass ends; zero without one.
	ElevatedUntil time.Time
	// ExpiresAt is when the session or token ends at the latest.
	ExpiresAt time.Time
	TokenID   string // of an API token

	grants  grants
	within  []string // the patterns of a token's owner, which hold as well
	bounded bool     // within holds
	local   bool     // an account of users.json
	session digest
}

// Local returns the user of the operating system who works on the command line. Who
// may run a command is the machine's business: he may do everything.
func Local(name, reason string) Principal {
	by := claimdlq.CommandLine(name, reason)
	return Principal{
		Actor: by.Actor, Source: FromMachine, Roles: slices.Clone(Roles), Partners: []string{AllPartners}, Reason: by.Reason,
		grants: grantsTo(Permissions()...),
	}
}

// For returns the principal with the reason for what he is about to ask for.
func (p Principal) For(reason string) Principal {
	p.Reason = strings.TrimSpace(reason)
	return p
}

// By returns the name and the reason for the audit log.
func (p Principal) By() claimdlq.By { return claimdlq.By{Actor: p.Actor, Reason: p.Reason} }

// May returns nil if he may do it to something of the partner; partner "" stands for
// everything of every partner, and for what has no partner. Errors, code Refused, wrap
// ErrUnauthenticated, ErrDuty, ErrForbidden, ErrReason (see For) or ErrPartner, in this
// order; Status says what each is in HTTP.
func (p Principal) May(perm Permission, partner string) error {
	if err := p.MaySome(perm); err != nil {
		return err
	}
	const op = "ask for permission"
	switch {
	case perm.NeedsReason() && p.Reason == "":
		return refuse(op, string(perm), ErrReason, "give a reason; it is kept in the audit log and must name no patient")
	case !perm.has(wide) && !p.Covers(partner):
		return refuse(op, string(perm), ErrPartner, "")
	}
	return nil
}

// MaySome returns nil if there may be partners to whose things he may do it, whatever
// the reason. Who lists or takes in several of them asks this first, and then May or
// Covers for each: it is never enough alone. Errors are those of May.
func (p Principal) MaySome(perm Permission) error {
	const op = "ask for permission"
	switch {
	case p.Source == Nobody || p.Actor == "":
		return refuse(op, string(perm), ErrUnauthenticated, "sign in")
	case p.Must != MustNothing:
		return refuse(op, string(perm), ErrDuty, "first: "+string(p.Must))
	case !p.grants.has(perm):
		return refuse(op, string(perm), ErrForbidden, "")
	}
	return nil
}

// Covers reports whether he may see things of the partner at all; "" is what has no
// partner, and all of them.
func (p Principal) Covers(partner string) bool {
	return covers(p.Partners, partner) && (!p.bounded || covers(p.within, partner))
}

// Permissions lists what he has, for a console that shows only what can be done.
func (p Principal) Permissions() []Permission {
	var out []Permission
	for _, perm := range Permissions() {
		if p.MaySome(perm) == nil {
			out = append(out, perm)
		}
	}
	return out
}

// Denied returns the event of a refusal by May, for callers that audit those too.
func (p Principal) Denied(now time.Time, perm Permission) Event {
	return event(now, cmp.Or(p.Actor, anonymous), ActDenied, string(perm), "")
}

// SamePerson reports whether two actors may be one person: a local account, one of the
// provider and a name of the command line are taken as one where they are the same,
// whatever their case.
func SamePerson(a, b string) bool { return strings.EqualFold(nameOf(a), nameOf(b)) }

func nameOf(actor string) string {
	for _, prefix := range []string{claimdlq.ActorProvider, claimdlq.ActorCommandLine} {
		if name, ok := strings.CutPrefix(actor, prefix); ok {
			return name
		}
	}
	return actor
}
