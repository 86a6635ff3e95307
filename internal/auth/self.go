package auth

import (
	"context"
	"net/http"

	"claimdlq"
)

// ChangePassword sets one's own password: 12 to 256 bytes. Every other session of his
// ends, and this one gets another id. Errors: Invalid (the new one), ErrSignIn (the old
// one), a TooManyError, ErrUnauthenticated.
func (d *Desk) ChangePassword(ctx context.Context, r *http.Request, p Principal, old, password Secret) Act[SignedIn] {
	const op = "change password"
	if p.Source != FromSession || !p.local {
		return refused[SignedIn](Event{}, refuse(op, "", ErrUnauthenticated, "only local users have a password"))
	}
	if hint := checkPassword(p.Actor, password.Reveal()); hint != "" {
		return refused[SignedIn](Event{}, invalid(op, hint))
	}
	if old.Reveal() == password.Reveal() {
		return refused[SignedIn](Event{}, invalid(op, "it is the old one"))
	}
	now := d.o.Now()
	keys := []key{loginKey(p.Actor), addressKey(d.o.Address(r))}
	if wait, ok := d.throttle.enter(now, keys...); !ok {
		return refused[SignedIn](Event{}, tooMany(op, wait))
	}
	found, err := d.verify(ctx, now, Credentials{Login: p.Actor, Password: old}, false)
	if err != nil {
		return refused[SignedIn](Event{}, err)
	}
	if !found.ok {
		return refused[SignedIn](event(now, p.Actor, ActSignInRefused, p.Actor, op), refuse(op, "", ErrSignIn, ""))
	}
	hash, err := d.hasher.make(ctx, password.Reveal())
	if err != nil {
		return refused[SignedIn](Event{}, err)
	}
	return d.renew(r, p, ActPasswordChange, keys, func(a *account) error {
		if a.Hash != found.account.Hash {
			return conflict(op, "", "it was changed meanwhile: sign in again")
		}
		a.Hash, a.MustChange = hash, false
		return nil
	})
}

// Enrolment is a secret of one-time codes that is not confirmed yet: the address for a
// QR code, and the same as text to type. It is shown once.
type Enrolment struct {
	URL Secret
	Key Secret
}

// EnrolCode makes a secret of one-time codes for oneself, which counts once ConfirmCode
// has seen a code of it, within 15 minutes. Whoever has codes already gives one. Errors:
// ErrSignIn (the code), a TooManyError, ErrUnauthenticated.
func (d *Desk) EnrolCode(p Principal, code Secret) Act[Enrolment] {
	const op = "enrol one-time codes"
	if p.Source != FromSession || !p.local {
		return refused[Enrolment](Event{}, refuse(op, "", ErrUnauthenticated, "only local users have codes here"))
	}
	now := d.o.Now()
	keys := []key{loginKey(p.Actor)}
	if wait, ok := d.throttle.enter(now, keys...); !ok {
		return refused[Enrolment](Event{}, tooMany(op, wait))
	}
	secret := newCodeSecret()
	fn := func(f *userFile) error {
		a := f.find(p.Actor)
		if a == nil || a.Disabled {
			return refuse(op, "", ErrUnauthenticated, "")
		}
		if len(a.Code) > 0 {
			step, ok := checkCode(a.Code, a.CodeStep, now, code.Reveal())
			if !ok {
				return refuse(op, "", ErrSignIn, "")
			}
			a.CodeStep = step
		}
		a.Pending, a.PendingUntil = secret, now.Add(enrolWithin).UTC()
		return nil
	}
	if err := d.users.try(fn); err != nil {
		return refused[Enrolment](event(now, p.Actor, ActSignInRefused, p.Actor, op), err)
	}
	return Act[Enrolment]{Event: event(now, p.Actor, ActCodeEnrol, p.Actor, ""), do: func() (Enrolment, error) {
		if err := d.users.change(fn); err != nil {
			return Enrolment{}, err
		}
		d.throttle.forgive(keys...)
		return Enrolment{NewSecret(codeURL(d.o.Issuer, p.Actor, secret)), NewSecret(base32Text.EncodeToString(secret))}, nil
	}}
}

// ConfirmCode makes the enrolled secret count, with a code of it. Every other session of
// his ends, and this one gets another id. Errors: ErrSignIn (the code, or no enrolment),
// a TooManyError, ErrUnauthenticated.
func (d *Desk) ConfirmCode(r *http.Request, p Principal, code Secret) Act[SignedIn] {
	const op = "confirm one-time codes"
	if p.Source != FromSession || !p.local {
		return refused[SignedIn](Event{}, refuse(op, "", ErrUnauthenticated, "only local users have codes here"))
	}
	now := d.o.Now()
	keys := []key{loginKey(p.Actor)}
	if wait, ok := d.throttle.enter(now, keys...); !ok {
		return refused[SignedIn](Event{}, tooMany(op, wait))
	}
	return d.renew(r, p, ActCodeConfirm, keys, func(a *account) error {
		step, ok := checkCode(a.Pending, 0, now, code.Reveal())
		if !ok || len(a.Pending) == 0 || !now.Before(a.PendingUntil) {
			return refuse(op, "", ErrSignIn, "")
		}
		a.Code, a.CodeStep, a.Pending = a.Pending, step, nil
		return nil
	})
}

// renew changes one's own account, ends all his sessions but this one, and gives it
// another id. The attempt that was counted under the keys is taken back.
func (d *Desk) renew(r *http.Request, p Principal, what claimdlq.Action, keys []key, fn func(*account) error) Act[SignedIn] {
	var epoch uint64
	change := func(f *userFile) error {
		a := f.find(p.Actor)
		if a == nil || a.Disabled {
			return refuse("change account", "", ErrUnauthenticated, "")
		}
		if err := fn(a); err != nil {
			return err
		}
		a.Epoch++
		epoch = a.Epoch
		return nil
	}
	if err := d.users.try(change); err != nil {
		return refused[SignedIn](Event{}, err)
	}
	return Act[SignedIn]{Event: event(d.o.Now(), p.Actor, what, p.Actor, ""), do: func() (SignedIn, error) {
		if err := d.users.change(change); err != nil {
			return SignedIn{}, err
		}
		d.throttle.forgive(keys...)
		id, dg, ok := d.sessions.rotate(d.o.Now(), p.session, func(s *session) { s.epoch = epoch })
		if !ok {
			return SignedIn{}, refuse("change account", "", ErrUnauthenticated, "it was changed: sign in again")
		}
		return d.signedIn(r, id, dg)
	}}
}
