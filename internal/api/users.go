package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

// User is an account as it may be shown.
type User struct {
	Login      string      `json:"login"`
	Machine    bool        `json:"machine" doc:"For programs: it has tokens and no password."`
	Disabled   bool        `json:"disabled"`
	Roles      []auth.Role `json:"roles"`
	Partners   []string    `json:"partners"`
	HasCode    bool        `json:"has_code" doc:"One-time codes are confirmed."`
	MustChange bool        `json:"must_change" doc:"The password is another's: it has to be changed at sign-in."`
	Revision   uint64      `json:"revision" doc:"Of roles, partners and disabled; the ETag."`
	CreatedAt  time.Time   `json:"created_at"`
}

func toUser(u auth.User) User {
	return User{
		Login: u.Login, Machine: u.Machine, Disabled: u.Disabled, Roles: append([]auth.Role{}, u.Roles...), Partners: append([]string{}, u.Partners...),
		HasCode: u.HasCode, MustChange: u.MustChange, Revision: u.Revision, CreatedAt: u.CreatedAt,
	}
}

type userOutput struct {
	ETag string `header:"ETag"`
	Body User
}

func userAnswer(u auth.User, err error) (*userOutput, error) {
	if err != nil {
		return nil, err
	}
	return &userOutput{`"` + strconv.FormatUint(u.Revision, 10) + `"`, toUser(u)}, nil
}

type userList struct {
	Body struct {
		Users []User `json:"users"`
	}
}

// Access is what an account may do, and for whom.
type Access struct {
	Roles    []string `json:"roles" maxItems:"5" nullable:"false" enum:"viewer,operator,analyst,approver,admin"`
	Partners []string `json:"partners" maxItems:"64" nullable:"false" doc:"Patterns: BIN:PCN or ISA07:ISA08, the part before the colon, a beginning and a star, or * for all."`
}

func (a Access) access() auth.Access {
	out := auth.Access{Partners: a.Partners}
	for _, r := range a.Roles {
		out.Roles = append(out.Roles, auth.Role(r))
	}
	return out
}

// LoginPath is the part of a request that says what it is about.
type LoginPath struct {
	Login string `path:"login" maxLength:"64"`
}

func (s *server) userOperations() {
	op := func(id, method, path, summary string) operation {
		return operation{id: id, method: method, path: path, tag: "users", perm: auth.UsersAdmin, summary: summary, command: method != http.MethodGet}
	}
	add(s, op("list-users", http.MethodGet, "/v1/users", "List accounts"), func(ctx context.Context, _ *struct{}) (*userList, error) {
		us, err := s.o.Desk.Users(who(ctx))
		out := &userList{}
		out.Body.Users = []User{}
		for _, u := range us {
			out.Body.Users = append(out.Body.Users, toUser(u))
		}
		return out, err
	})
	add(s, op("get-user", http.MethodGet, "/v1/users/{login}", "One account"),
		func(ctx context.Context, in *LoginPath) (*userOutput, error) {
			return userAnswer(s.o.Desk.User(who(ctx), in.Login))
		})
	create := op("create-user", http.MethodPost, "/v1/users", "Make an account")
	create.status = http.StatusCreated
	add(s, create, s.createUser)
	set := op("set-access", http.MethodPut, "/v1/users/{login}/access", "Change roles and partners, at once")
	set.match = true
	add(s, set, s.setAccess)
	add(s, op("set-disabled", http.MethodPut, "/v1/users/{login}/disabled", "Disable an account, or let it sign in again"), s.setDisabled)
	add(s, op("set-password", http.MethodPut, "/v1/users/{login}/password", "Give somebody a password that he has to change"), s.setPassword)
	add(s, op("reset-code", http.MethodDelete, "/v1/users/{login}/code", "Take somebody's one-time codes away"),
		func(ctx context.Context, in *LoginPath) (*userOutput, error) {
			return userAnswer(s.o.Desk.ResetCode(who(ctx), in.Login).Do(ctx, s.audit))
		})
}

func (s *server) createUser(ctx context.Context, in *struct {
	Body struct {
		Access

		Login    string `json:"login" minLength:"2" maxLength:"64" pattern:"^[a-z0-9._-]{2,64}$"`
		Machine  bool   `json:"machine,omitempty"`
		Password string `json:"password,omitempty" maxLength:"256" doc:"12 to 256 bytes; none for a machine."`
	}
},
) (*userOutput, error) {
	b := &in.Body
	return userAnswer(s.o.Desk.CreateUser(ctx, who(ctx), auth.NewUser{
		Login: b.Login, Machine: b.Machine, Password: auth.NewSecret(b.Password), Access: b.Access.access(),
	}).Do(ctx, s.audit))
}

func (s *server) setAccess(ctx context.Context, in *struct {
	LoginPath

	Body Access
},
) (*userOutput, error) {
	rev, err := ifMatch(ctx)
	if err != nil {
		return nil, err
	}
	if rev == 0 {
		return nil, moved("change access", "account")
	}
	out, err := userAnswer(s.o.Desk.SetAccess(who(ctx), in.Login, rev, in.Body.access()).Do(ctx, s.audit))
	if codeIs(err, claimdlq.Conflict) {
		return nil, moved("change access", "account")
	}
	return out, err
}

func (s *server) setDisabled(ctx context.Context, in *struct {
	LoginPath

	Body struct {
		Disabled bool `json:"disabled"`
	}
},
) (*userOutput, error) {
	return userAnswer(s.o.Desk.SetDisabled(who(ctx), in.Login, in.Body.Disabled).Do(ctx, s.audit))
}

func (s *server) setPassword(ctx context.Context, in *struct {
	LoginPath

	Body struct {
		Password string `json:"password" minLength:"12" maxLength:"256"`
	}
},
) (*userOutput, error) {
	return userAnswer(s.o.Desk.SetPassword(ctx, who(ctx), in.Login, auth.NewSecret(in.Body.Password)).Do(ctx, s.audit))
}
