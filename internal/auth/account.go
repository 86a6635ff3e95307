package auth

import (
	"slices"
	"strings"
	"time"

	"claimdlq"
)

const (
	minLogin  = 2
	maxLogin  = 64
	maxUsers  = 10000
	fileUsers = 1 // version of users.json
)

// loginOK allows [a-z0-9._-]{2,64}.
func loginOK(s string) bool {
	return len(s) >= minLogin && len(s) <= maxLogin && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// account is a user as users.json has him. Accounts are disabled and never removed: a
// login in the audit log is one person for ever.
type account struct {
	Login   string `json:"login"`
	Machine bool   `json:"machine,omitempty"` // has tokens and never signs in
	Hash    string `json:"hash,omitempty"`
	// MustChange: the password was set by somebody else.
	MustChange bool     `json:"must_change,omitempty"`
	Roles      []Role   `json:"roles"`
	Partners   []string `json:"partners"`
	Disabled   bool     `json:"disabled,omitempty"`
	// Code is the secret of his one-time codes; CodeStep the last step that was used.
	Code     []byte `json:"code,omitempty"`
	CodeStep uint64 `json:"code_step,omitempty"`
	// Pending is a secret that is not confirmed yet, good until PendingUntil.
	Pending      []byte    `json:"pending,omitempty"`
	PendingUntil time.Time `json:"pending_until,omitzero"`
	// Epoch is raised to end his sessions; Revision by every change of his access.
	Epoch     uint64    `json:"epoch"`
	Revision  uint64    `json:"revision"`
	CreatedAt time.Time `json:"created_at"`
}

type userFile struct {
	Version int       `json:"version"`
	Users   []account `json:"users"` // by login
}

func (f *userFile) find(login string) *account {
	i, ok := slices.BinarySearchFunc(f.Users, login, func(a account, l string) int { return strings.Compare(a.Login, l) })
	if !ok {
		return nil
	}
	return &f.Users[i]
}

func (f *userFile) add(a account) {
	i, _ := slices.BinarySearchFunc(f.Users, a.Login, func(a account, l string) int { return strings.Compare(a.Login, l) })
	f.Users = slices.Insert(f.Users, i, a)
	f.Version = fileUsers
}

// checkUsers judges what was read: an account that this version does not understand
// must not be taken for a lesser one.
func checkUsers(f *userFile) error {
	bad := func(on string) error {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read users", On: on, Hint: "restore users.json from its backup"}
	}
	if f.Version != fileUsers && (f.Version != 0 || len(f.Users) > 0) {
		return bad("version")
	}
	for i, a := range f.Users {
		if !loginOK(a.Login) || i > 0 && f.Users[i-1].Login >= a.Login {
			return bad("login")
		}
		if _, ok := parseStored(a.Hash); !ok && a.Hash != "" {
			return bad(a.Login)
		}
		if checkAccess(Access{a.Roles, a.Partners}) != "" || a.Machine && a.Hash != "" {
			return bad(a.Login)
		}
	}
	return nil
}

// Access is what an account may do, and for whom.
type Access struct {
	Roles []Role `json:"roles"`
	// Partners are patterns: BIN:PCN or ISA07:ISA08, the part before the colon for all
	// that begin with it, or a beginning and a star. Empty is none; AllPartners is all.
	Partners []string `json:"partners"`
}

func checkAccess(a Access) string {
	if slices.ContainsFunc(a.Roles, func(r Role) bool { return !r.Known() }) || len(a.Roles) > len(Roles) {
		return "the roles are viewer, operator, analyst, approver and admin"
	}
	return checkPatterns(a.Partners)
}

// admins counts the people who can sign in and administer everything.
func (f *userFile) admins() (n int) {
	for _, a := range f.Users {
		if !a.Disabled && !a.Machine && grantsOf(a.Roles).has(UsersAdmin) && covers(a.Partners, "") {
			n++
		}
	}
	return n
}

// User is an account as it may be shown.
type User struct {
	Login    string `json:"login"`
	Machine  bool   `json:"machine,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
	Access
	// HasCode says that one-time codes are confirmed; MustChange that his password is
	// another's.
	HasCode    bool      `json:"has_code"`
	MustChange bool      `json:"must_change,omitempty"`
	Revision   uint64    `json:"revision"` // of Access and Disabled
	CreatedAt  time.Time `json:"created_at"`
}

func (a *account) user() User {
	return User{
		Login: a.Login, Machine: a.Machine, Disabled: a.Disabled, Access: Access{slices.Clone(a.Roles), slices.Clone(a.Partners)},
		HasCode: len(a.Code) > 0, MustChange: a.MustChange, Revision: a.Revision, CreatedAt: a.CreatedAt,
	}
}

// duty returns what he has to do first. A machine has none.
func (a *account) duty(codeFor []Role) Duty {
	switch {
	case a.Machine:
		return MustNothing
	case a.MustChange:
		return MustChangePassword
	case len(a.Code) == 0 && slices.ContainsFunc(a.Roles, func(r Role) bool { return slices.Contains(codeFor, r) }):
		return MustEnrolCode
	}
	return MustNothing
}
