package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claimdlq/internal/app"
	"claimdlq/internal/auth"
)

// accountJSON is a user as the command prints him.
type accountJSON struct {
	auth.User

	Password string `json:"password,omitempty"` // set anew, and shown this once
}

func newUsers(s *session) *cobra.Command {
	c := &cobra.Command{
		Use:   "users",
		Short: "Who may sign in to the console and the API of a serving process",
		Long: `Users manages who may sign in to the console and API that serve has, and what he may do there:
viewer, operator, analyst, approver, admin. The first account is made here. While a
process serves the data directory it knows a new account at once.`,
	}
	c.AddCommand(newUsersAdd(s), newUsersList(s), newUsersDisable(s), newUsersPassword(s), newUsersToken(s))
	return c
}

// accessFlags are what somebody may do.
type accessFlags struct {
	roles    []string
	partners []string
	machine  bool
	reason   string
}

func (f *accessFlags) access() auth.Access {
	a := auth.Access{Partners: f.partners}
	for _, r := range f.roles {
		a.Roles = append(a.Roles, auth.Role(r))
	}
	if len(a.Partners) == 0 {
		a.Partners = []string{auth.AllPartners}
	}
	return a
}

func newUsersAdd(s *session) *cobra.Command {
	var f accessFlags
	c := &cobra.Command{
		Use:     "add LOGIN",
		Short:   "Make an account, and print its first password",
		Example: `  claimdlq users add mary --role analyst --reason "joins the desk"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(f.reason); err != nil {
				return err
			}
			s.create = true
			return s.with(c.Context(), func(a *app.App) error {
				n := auth.NewUser{Login: args[0], Machine: f.machine, Access: f.access()}
				password := ""
				if !f.machine {
					password = newPassword()
					n.Password = auth.NewSecret(password)
				}
				u, err := a.Desk.CreateUser(c.Context(), s.local(f.reason), n).Do(c.Context(), a.Note)
				return s.printUser(u, password, err)
			})
		},
	}
	c.Flags().StringSliceVar(&f.roles, "role", nil, "`role`: viewer, operator, analyst, approver or admin; repeatable")
	c.Flags().StringSliceVar(&f.partners, "partner", nil, "sees this `partner` only (BIN:PCN or ISA07:ISA08); repeatable (default: all)")
	c.Flags().BoolVar(&f.machine, "machine", false, "an account for a program: it has tokens, no password")
	addReason(c, &f.reason)
	return c
}

// local is who works at the command line.
func (s *session) local(reason string) auth.Principal { return auth.Local(s.who(), reason) }

// newPassword returns a password of 125 bits that can be read out.
func newPassword() string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789" // 32 of them
	b := make([]byte, 25)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[b[i]%32]
	}
	return string(b)
}

func (s *session) printUser(u auth.User, password string, err error) error {
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(accountJSON{u, password})
	}
	_, _ = fmt.Fprintf(s.env.Stdout, "%s  %s  partners %s\n", u.Login, rolesOf(u), strings.Join(u.Partners, " "))
	if password != "" {
		_, err = fmt.Fprintf(s.env.Stdout, "password %s (to be changed at the first sign-in; it is not shown again)\n", password)
	}
	return err
}

func rolesOf(u auth.User) string {
	out := make([]string, len(u.Roles))
	for i, r := range u.Roles {
		out[i] = string(r)
	}
	return dash(strings.Join(out, ","))
}

func newUsersList(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the accounts",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.with(c.Context(), func(a *app.App) error {
				us, err := a.Desk.Users(s.local(""))
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(map[string]any{"users": us})
				}
				rows := make([][]string, len(us))
				for i, u := range us {
					state := "active"
					if u.Disabled {
						state = "disabled"
					}
					rows[i] = []string{u.Login, rolesOf(u), strings.Join(u.Partners, " "), state}
				}
				return s.table("LOGIN ROLES PARTNERS STATE", rows)
			})
		},
	}
}

func newUsersDisable(s *session) *cobra.Command {
	var reason string
	var enable bool
	c := &cobra.Command{
		Use:   "disable LOGIN",
		Short: "End somebody's access, or with --enable give it back",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				u, err := a.Desk.SetDisabled(s.local(reason), args[0], !enable).Do(c.Context(), a.Note)
				return s.printUser(u, "", err)
			})
		},
	}
	c.Flags().BoolVar(&enable, "enable", false, "let the account sign in again")
	addReason(c, &reason)
	return c
}

func newUsersPassword(s *session) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "password LOGIN",
		Short: "Give somebody a new first password; his sessions end",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error {
				password := newPassword()
				u, err := a.Desk.SetPassword(c.Context(), s.local(reason), args[0], auth.NewSecret(password)).Do(c.Context(), a.Note)
				return s.printUser(u, password, err)
			})
		},
	}
	addReason(c, &reason)
	return c
}

func newUsersToken(s *session) *cobra.Command {
	var reason, name string
	var perms []string
	var days int
	c := &cobra.Command{
		Use:     "token LOGIN",
		Short:   "Make an API token for a machine account, and print it",
		Example: `  claimdlq users token feed --permission claims.intake --days 90 --reason "feed of the switch"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(reason); err != nil {
				return err
			}
			return s.with(c.Context(), func(a *app.App) error { return s.token(c.Context(), a, args[0], name, perms, days, reason) })
		},
	}
	c.Flags().StringSliceVar(&perms, "permission", nil, "`permission`, such as records.read; repeatable")
	c.Flags().StringVar(&name, "name", "command line", "what the token is called")
	c.Flags().IntVar(&days, "days", 90, "how many `days` it is good")
	addReason(c, &reason)
	return c
}

// issuedJSON is a token with its text, which is shown this once.
type issuedJSON struct {
	auth.Token

	Text string `json:"text"`
}

func (s *session) token(ctx context.Context, a *app.App, login, name string, perms []string, days int, reason string) error {
	n := auth.NewToken{Owner: login, Name: name, Partners: []string{auth.AllPartners}, Life: time.Duration(days) * 24 * time.Hour}
	for _, p := range perms {
		n.Permissions = append(n.Permissions, auth.Permission(p))
	}
	t, err := a.Desk.CreateToken(s.local(reason), n).Do(ctx, a.Note)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(issuedJSON{t.Token, t.Text.Reveal()})
	}
	_, err = fmt.Fprintf(s.env.Stdout, "%s\n", t.Text.Reveal())
	return err
}
