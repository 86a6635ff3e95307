package auth

import (
	"context"
	"net/http"
	"time"
)

// Credentials are what somebody types to sign in. Code is ignored for accounts without
// one-time codes: a console asks for all three at once, so that nothing tells whether
// the password alone was right.
type Credentials struct {
	Login    string `json:"login"`
	Password Secret `json:"password"`
	Code     Secret `json:"code"`
}

// SignedIn is a session with its new cookie, which the answer must set.
type SignedIn struct {
	Principal Principal
	Cookie    *http.Cookie
}

// SignIn begins a session of a local user. Errors: ErrOrigin, ErrSignIn, a TooManyError,
// Unavailable (the request was given up). A refusal has to be done too, to be audited.
func (d *Desk) SignIn(ctx context.Context, r *http.Request, c Credentials) Act[SignedIn] {
	const op = "sign in"
	if err := d.CheckOrigin(r); err != nil {
		return refused[SignedIn](Event{}, err)
	}
	now, from := d.o.Now(), d.o.Address(r)
	keys := []key{loginKey(c.Login), addressKey(from)}
	if wait, ok := d.throttle.enter(now, keys...); !ok {
		return refused[SignedIn](Event{}, tooMany(op, wait))
	}
	found, err := d.verify(ctx, now, c, true)
	if err != nil {
		return refused[SignedIn](Event{}, err)
	}
	note := "from " + from.String()
	if !found.ok {
		on := "UNKNOWN"
		if found.account.Login != "" {
			on = found.account.Login
		}
		return refused[SignedIn](event(now, anonymous, ActSignInRefused, on, note), refuse(op, "", ErrSignIn, d.firstAccount()))
	}
	if found.stale {
		if found.rehash, err = d.hasher.make(ctx, c.Password.Reveal()); err != nil {
			return refused[SignedIn](Event{}, err)
		}
	}
	how := "PASSWORD"
	if found.step > 0 {
		how = "PASSWORD_CODE"
	}
	return Act[SignedIn]{Event: event(now, found.account.Login, ActSignIn, how, note), do: func() (SignedIn, error) {
		epoch, err := d.admit(found)
		if err != nil {
			return SignedIn{}, err
		}
		d.throttle.forgive(keys...)
		d.end(r) // the session that the browser had
		id, dg := d.sessions.create(d.o.Now(), session{actor: found.account.Login, local: true, epoch: epoch})
		return d.signedIn(r, id, dg)
	}}
}

// finding is what verify found out.
type finding struct {
	account account // zero if there is none
	ok      bool
	step    uint64 // of the one-time code; 0 for accounts without
	stale   bool   // the hash is to be made again
	rehash  string
}

// verify looks at a password and, if asked for, a code. Whatever is wrong, it derives
// one key and computes the codes of three steps, so that an unknown login takes as long
// as a known one.
func (d *Desk) verify(ctx context.Context, now time.Time, c Credentials, withCode bool) (finding, error) {
	var f finding
	if a := d.users.get().find(c.Login); a != nil {
		f.account = *a
	}
	secret, hasCode := d.noCode, false
	if len(f.account.Code) > 0 {
		secret, hasCode = f.account.Code, true
	}
	right, stale, err := d.hasher.check(ctx, f.account.Hash, c.Password.Reveal())
	if err != nil {
		return finding{}, err
	}
	step, good := checkCode(secret, f.account.CodeStep, now, c.Code.Reveal())
	f.ok = right && !f.account.Disabled && (good || !hasCode || !withCode)
	f.stale = f.ok && stale
	if f.ok && hasCode && withCode {
		f.step = step
	}
	return f, nil
}

// admit judges again what verify found, now that it counts, and uses the code up. It
// returns the account's epoch.
func (d *Desk) admit(found finding) (epoch uint64, err error) {
	again := func(f *userFile) error {
		a := f.find(found.account.Login)
		if a == nil || a.Disabled || a.Epoch != found.account.Epoch || found.step > 0 && a.CodeStep >= found.step {
			return refuse("sign in", "", ErrSignIn, "")
		}
		if found.step > 0 {
			a.CodeStep = found.step
		}
		if found.rehash != "" && a.Hash == found.account.Hash {
			a.Hash = found.rehash
		}
		epoch = a.Epoch
		return nil
	}
	if found.step == 0 && found.rehash == "" {
		return epoch, again(&userFile{Users: d.users.get().Users}) // nothing is changed
	}
	err = d.users.change(again)
	return epoch, err
}

// signedIn returns the session with its cookie.
func (d *Desk) signedIn(r *http.Request, id string, dg digest) (SignedIn, error) {
	p, err := d.bySession(d.o.Now(), dg, false)
	if err != nil {
		return SignedIn{}, err
	}
	return SignedIn{p, d.cookie(r, sessionCookie, id, d.o.Absolute, http.SameSiteStrictMode)}, nil
}

// end ends the session that a request came with.
func (d *Desk) end(r *http.Request) {
	if dg, ok := d.sessionOf(r); ok {
		d.sessions.drop(dg)
	}
}

// SignOut ends the session and returns the cookie that takes it from the browser.
func (d *Desk) SignOut(r *http.Request, p Principal) Act[*http.Cookie] {
	if p.Source != FromSession {
		return refused[*http.Cookie](Event{}, refuse("sign out", "", ErrUnauthenticated, ""))
	}
	return Act[*http.Cookie]{Event: event(d.o.Now(), p.Actor, ActSignOut, "", ""), do: func() (*http.Cookie, error) {
		d.sessions.drop(p.session)
		return d.forget(r, sessionCookie, http.SameSiteStrictMode), nil
	}}
}

// SignOutAll ends every session of an actor, and returns how many: his own, or with
// users.admin anybody's. API tokens are revoked one by one.
func (d *Desk) SignOutAll(by Principal, actor string) Act[int] {
	if by.Source != FromSession || by.Actor != actor {
		if err := by.May(UsersAdmin, ""); err != nil {
			return refused[int](by.Denied(d.o.Now(), UsersAdmin), err)
		}
	}
	return Act[int]{Event: event(d.o.Now(), by.Actor, ActSignOutAll, eventName(actor), by.Reason), do: func() (int, error) {
		return d.sessions.dropAll(actor), nil
	}}
}

// Elevate breaks the glass: payload.reveal for a while, for somebody who has
// payload.breakglass and gives a reason (Principal.For). The session gets another id,
// and the answer must set its cookie; requests under way with the old one are refused.
// Errors are those of May.
func (d *Desk) Elevate(r *http.Request, p Principal) Act[SignedIn] {
	now := d.o.Now()
	if err := p.May(PayloadBreakGlass, ""); err != nil {
		return refused[SignedIn](p.Denied(now, PayloadBreakGlass), err)
	}
	if p.Source != FromSession {
		return refused[SignedIn](Event{}, refuse("elevate", "", ErrForbidden, "sign in with a browser"))
	}
	return Act[SignedIn]{Event: event(now, p.Actor, ActElevate, string(PayloadReveal), p.Reason), do: func() (SignedIn, error) {
		now := d.o.Now()
		id, dg, ok := d.sessions.rotate(now, p.session, func(s *session) { s.elevated = now.Add(d.o.Elevation) })
		if !ok {
			return SignedIn{}, refuse("elevate", "", ErrUnauthenticated, "sign in")
		}
		return d.signedIn(r, id, dg)
	}}
}

func tooMany(op string, wait time.Duration) error {
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return refuse(op, "", &TooManyError{wait}, "wait "+wait.String())
}
