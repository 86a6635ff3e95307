package auth

import (
	"cmp"
	"context"
	"strings"

	"claimdlq"
)

// Users lists the accounts by login, for those who have users.admin.
func (d *Desk) Users(p Principal) ([]User, error) {
	if err := p.May(UsersAdmin, ""); err != nil {
		return nil, err
	}
	f := d.users.get()
	out := make([]User, len(f.Users))
	for i := range f.Users {
		out[i] = f.Users[i].user()
	}
	return out, nil
}

// User returns an account: his own, or any with users.admin. Errors: NotFound, and
// those of May.
func (d *Desk) User(p Principal, login string) (User, error) {
	if !p.local || p.Actor != login {
		if err := p.May(UsersAdmin, ""); err != nil {
			return User{}, err
		}
	}
	a := d.users.get().find(login)
	if a == nil {
		return User{}, notFound("read user")
	}
	return a.user(), nil
}

// Empty reports whether nobody can sign in yet: there is no account and no provider.
// The command line makes the first account; whoever has the directory open knows it at
// once.
func (d *Desk) Empty() bool { return d.o.OIDC == nil && len(d.users.get().Users) == 0 }

// SingleSignOn reports whether there is a provider to sign in through.
func (d *Desk) SingleSignOn() bool { return d.o.OIDC != nil }

// signInFirst refuses who is not signed in, and says what to do about it.
func (d *Desk) signInFirst() error {
	return refuse("authenticate", "", ErrUnauthenticated, cmp.Or(d.firstAccount(), "sign in"))
}

// firstAccount is FirstAccount while there is none.
func (d *Desk) firstAccount() string {
	if d.Empty() {
		return FirstAccount
	}
	return ""
}

// FirstAccount is how the first account is made: the hint of every refusal until then.
const FirstAccount = `claimdlq users add LOGIN --role admin --reason "first account"`

// NewUser is an account to be made.
type NewUser struct {
	Login string `json:"login"` // [a-z0-9._-]{2,64}
	// Machine is an account for programs: it has API tokens, no password.
	Machine  bool   `json:"machine,omitempty"`
	Password Secret `json:"password"` // 12 to 256 bytes; he has to change it when he signs in
	Access
}

// CreateUser makes an account. Errors: Invalid, Conflict (the login is taken, if only
// by somebody who is disabled), and those of May.
func (d *Desk) CreateUser(ctx context.Context, by Principal, u NewUser) Act[User] {
	const op = "create user"
	if err := by.May(UsersAdmin, ""); err != nil {
		return refused[User](by.Denied(d.o.Now(), UsersAdmin), err)
	}
	if !loginOK(u.Login) {
		return refused[User](Event{}, invalid(op, "a login is 2 to 64 of a-z, 0-9, dot, underscore and hyphen"))
	}
	if hint := checkAccess(u.Access); hint != "" {
		return refused[User](Event{}, invalid(op, hint))
	}
	a := account{
		Login: u.Login, Machine: u.Machine, MustChange: !u.Machine, Roles: nonNil(u.Roles), Partners: nonNil(u.Partners),
		Epoch: 1, Revision: 1, CreatedAt: d.o.Now().UTC(),
	}
	if !u.Machine {
		if hint := checkPassword(u.Login, u.Password.Reveal()); hint != "" {
			return refused[User](Event{}, invalid(op, hint))
		}
		var err error
		if a.Hash, err = d.hasher.make(ctx, u.Password.Reveal()); err != nil {
			return refused[User](Event{}, err)
		}
	}
	return d.onUsers(event(a.CreatedAt, by.Actor, ActUserCreate, u.Login, by.Reason), func(f *userFile) (*account, error) {
		if f.find(u.Login) != nil {
			return nil, conflict(op, "", "the login is taken")
		}
		if len(f.Users) >= maxUsers {
			return nil, refuse(op, "", nil, "there are too many users")
		}
		f.add(a)
		return f.find(u.Login), nil
	})
}

func nonNil[T any](s []T) []T { return append([]T{}, s...) }

// onUsers is an act that changes an account. Fn is tried now, and judges again when it
// is done.
func (d *Desk) onUsers(e Event, fn func(*userFile) (*account, error)) Act[User] {
	if err := d.users.try(func(f *userFile) error { _, err := fn(f); return err }); err != nil {
		return refused[User](Event{}, err)
	}
	return Act[User]{Event: e, do: func() (u User, err error) {
		err = d.users.change(func(f *userFile) error {
			a, err := fn(f)
			if err == nil {
				u = a.user()
			}
			return err
		})
		return u, err
	}}
}

// administer is an act of an administrator on another's account.
func (d *Desk) administer(by Principal, what claimdlq.Action, login string, fn func(*account) error) Act[User] {
	op := strings.ReplaceAll(string(what), "_", " ")
	if err := by.May(UsersAdmin, ""); err != nil {
		return refused[User](by.Denied(d.o.Now(), UsersAdmin), err)
	}
	if by.Source != FromMachine && SamePerson(by.Actor, login) {
		return refused[User](by.Denied(d.o.Now(), UsersAdmin), refuse(op, "of oneself", ErrForbidden, "ask another admin"))
	}
	if d.users.get().find(login) == nil {
		return refused[User](Event{}, notFound(op)) // which is not written down: it may be anything
	}
	return d.onUsers(event(d.o.Now(), by.Actor, what, login, by.Reason), func(f *userFile) (*account, error) {
		a := f.find(login)
		if a == nil {
			return nil, notFound(op)
		}
		before := f.admins()
		if err := fn(a); err != nil {
			return nil, err
		}
		if before > 0 && f.admins() == 0 {
			return nil, refuse(op, login, nil, "nobody would be left to administer users")
		}
		return a, nil
	})
}

// SetAccess changes roles and partners, at once for sessions and tokens too. Revision is
// the User's when it was read; 0 is any. Errors: Invalid, NotFound, Conflict (another
// revision), Refused (his own; the last admin), and those of May.
func (d *Desk) SetAccess(by Principal, login string, revision uint64, to Access) Act[User] {
	if hint := checkAccess(to); hint != "" {
		return refused[User](Event{}, invalid("change user", hint))
	}
	to = Access{nonNil(to.Roles), nonNil(to.Partners)}
	return d.administer(by, ActUserAccess, login, func(a *account) error {
		if revision != 0 && revision != a.Revision {
			return conflict("change user", login, "somebody changed it: read it again")
		}
		a.Roles, a.Partners = to.Roles, to.Partners
		a.Revision++
		return nil
	})
}

// SetDisabled disables an account, or lets it sign in again. Disabling ends its sessions
// for good; its tokens are refused as long as it lasts. Errors: NotFound, Refused (his
// own; the last admin), and those of May.
func (d *Desk) SetDisabled(by Principal, login string, disabled bool) Act[User] {
	what := ActUserEnable
	if disabled {
		what = ActUserDisable
	}
	return d.administer(by, what, login, func(a *account) error {
		if disabled != a.Disabled {
			a.Disabled = disabled
			a.Epoch++
			a.Revision++
		}
		return nil
	})
}

// SetPassword gives somebody a password that he has to change, and ends his sessions.
// Errors: Invalid, NotFound, Refused (his own), and those of May.
func (d *Desk) SetPassword(ctx context.Context, by Principal, login string, password Secret) Act[User] {
	const op = "set password"
	if err := by.May(UsersAdmin, ""); err != nil { // before the work of hashing
		return refused[User](by.Denied(d.o.Now(), UsersAdmin), err)
	}
	if hint := checkPassword(login, password.Reveal()); hint != "" {
		return refused[User](Event{}, invalid(op, hint))
	}
	hash, err := d.hasher.make(ctx, password.Reveal())
	if err != nil {
		return refused[User](Event{}, err)
	}
	return d.administer(by, ActPasswordSet, login, func(a *account) error {
		if a.Machine {
			return invalid(op, "an account for programs has no password: give it a token")
		}
		a.Hash, a.MustChange = hash, true
		a.Epoch++
		return nil
	})
}

// ResetCode takes somebody's one-time codes away, when his authenticator is lost, and
// ends his sessions. Errors: NotFound, Refused (his own), and those of May.
func (d *Desk) ResetCode(by Principal, login string) Act[User] {
	return d.administer(by, ActCodeReset, login, func(a *account) error {
		a.Code, a.CodeStep, a.Pending = nil, 0, nil
		a.Epoch++
		return nil
	})
}
