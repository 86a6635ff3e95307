package auth_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/internal/auth"
)

func TestCreateUser_ChecksWhatItIsGiven(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Admin)
	_, admin := w.signIn("ana")
	good := auth.NewUser{Login: "bob", Password: auth.NewSecret(right), Access: auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: []string{"*"}}}
	for name, change := range map[string]func(*auth.NewUser){
		"short login":     func(u *auth.NewUser) { u.Login = "b" },
		"long login":      func(u *auth.NewUser) { u.Login = strings.Repeat("b", 65) },
		"capital":         func(u *auth.NewUser) { u.Login = "Bob" },
		"blank":           func(u *auth.NewUser) { u.Login = "bo b" },
		"colon":           func(u *auth.NewUser) { u.Login = "oidc:bob" },
		"role":            func(u *auth.NewUser) { u.Roles = []auth.Role{"root"} },
		"partner":         func(u *auth.NewUser) { u.Partners = []string{"a*b"} },
		"short password":  func(u *auth.NewUser) { u.Password = auth.NewSecret("TEST 567890") },
		"long password":   func(u *auth.NewUser) { u.Password = auth.NewSecret(strings.Repeat("TEST of", 37)) },
		"no password":     func(u *auth.NewUser) { u.Password = auth.Secret{} },
		"of one letter":   func(u *auth.NewUser) { u.Password = auth.NewSecret("aaaaaaaaaaaabcd") },
		"has the login":   func(u *auth.NewUser) { u.Password = auth.NewSecret("TEST Bob 4567890") },
		"too many places": func(u *auth.NewUser) { u.Partners = make([]string, 101) },
	} {
		u := good
		change(&u)
		if _, err := do(w, w.d.CreateUser(t.Context(), admin, u)); code(err) != claimdlq.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	u := must(w, w.d.CreateUser(t.Context(), admin, good))
	if !u.MustChange || u.HasCode || u.Revision != 1 || w.last() != "user_create ana BOB" {
		t.Errorf("%+v %s", u, w.last())
	}
	_, err := do(w, w.d.CreateUser(t.Context(), admin, good))
	is(t, "taken", err, claimdlq.Conflict)
	must(w, w.d.SetDisabled(admin, "bob", true))
	_, err = do(w, w.d.CreateUser(t.Context(), admin, good))
	is(t, "taken by who was disabled", err, claimdlq.Conflict)
	longest := good
	longest.Login, longest.Password = strings.Repeat("b", 64), auth.NewSecret(strings.Repeat("TEST of8", 32))
	must(w, w.d.CreateUser(t.Context(), admin, longest))
}

func TestUsers_AreAdministeredByAdminsOnly(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer, auth.Operator, auth.Analyst, auth.Approver)
	w.user("bob", auth.Viewer)
	_, p := w.signIn("ana")
	secret := auth.NewSecret(other)
	for name, try := range map[string]func() error{
		"create":   func() error { _, err := do(w, w.d.CreateUser(t.Context(), p, auth.NewUser{Login: "cyd"})); return err },
		"access":   func() error { _, err := do(w, w.d.SetAccess(p, "bob", 0, auth.Access{})); return err },
		"disable":  func() error { _, err := do(w, w.d.SetDisabled(p, "bob", true)); return err },
		"password": func() error { _, err := do(w, w.d.SetPassword(t.Context(), p, "bob", secret)); return err },
		"code":     func() error { _, err := do(w, w.d.ResetCode(p, "bob")); return err },
		"look":     func() error { _, err := w.d.User(p, "bob"); return err },
		"list":     func() error { _, err := w.d.Users(p); return err },
	} {
		is(t, name, try(), auth.ErrForbidden)
	}
	if u, err := w.d.User(p, "ana"); err != nil || u.Login != "ana" {
		t.Error(err)
	}
	if us, err := w.d.Users(w.root); err != nil || len(us) != 2 || us[0].Login != "ana" {
		t.Errorf("%v %v", us, err)
	}
}

// 43: separation: nobody gives himself a role.
func TestUsers_NobodyAdministersHimselfOrLocksAllOut(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Admin)
	w.user("bob", auth.Admin)
	w.limited("part", []string{"610097"}, auth.Admin)
	_, ana := w.signIn("ana")
	for _, login := range []string{"ana"} {
		_, err := do(w, w.d.SetAccess(ana, login, 0, auth.Access{Roles: auth.Roles, Partners: []string{"*"}}))
		is(t, "roles", err, auth.ErrForbidden)
		_, err = do(w, w.d.SetDisabled(ana, login, true))
		is(t, "disable", err, auth.ErrForbidden)
		_, err = do(w, w.d.SetPassword(t.Context(), ana, login, auth.NewSecret(other)))
		is(t, "password", err, auth.ErrForbidden)
		_, err = do(w, w.d.ResetCode(ana, login))
		is(t, "code", err, auth.ErrForbidden)
	}
	must(w, w.d.SetAccess(ana, "bob", 0, auth.Access{Roles: []auth.Role{auth.Viewer}}))
	for name, a := range map[string]auth.Act[auth.User]{
		"disable":  w.d.SetDisabled(w.root, "ana", true),
		"roles":    w.d.SetAccess(w.root, "ana", 0, auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: []string{"*"}}),
		"partners": w.d.SetAccess(w.root, "ana", 0, auth.Access{Roles: []auth.Role{auth.Admin}, Partners: []string{"610097"}}),
	} {
		if _, err := do(w, a); code(err) != claimdlq.Refused {
			t.Errorf("the last admin: %s: %v", name, err)
		}
	}
	_, err := do(w, w.d.SetDisabled(ana, "nobody", true))
	is(t, "nobody", err, claimdlq.NotFound)
	if strings.Contains(w.last(), "NOBODY") {
		t.Error("a login that is not there is written down")
	}
}

func TestSetAccess_IsOfTheRevisionThatWasRead(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer)
	u, err := w.d.User(w.root, "ana")
	is(t, "read", err, nil)
	a := w.d.SetAccess(w.root, "ana", u.Revision, auth.Access{Roles: []auth.Role{auth.Operator}})
	b := w.d.SetAccess(w.root, "ana", u.Revision, auth.Access{Roles: []auth.Role{auth.Analyst}})
	if got := must(w, a); got.Revision != u.Revision+1 || got.Roles[0] != auth.Operator {
		t.Errorf("%+v", got)
	}
	_, err = do(w, b)
	is(t, "another was first", err, claimdlq.Conflict)
	_, err = do(w, w.d.SetAccess(w.root, "ana", u.Revision, auth.Access{}))
	is(t, "an old one", err, claimdlq.Conflict)
}

func TestPassword_OfAnotherHasToBeChangedFirst(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	must(w, w.d.SetPassword(t.Context(), w.root, "ana", auth.NewSecret(other)))
	b := newBrowser(w)
	in := must(w, w.d.SignIn(t.Context(), b.post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(other)}))
	b.set(in.Cookie)
	p := in.Principal
	is(t, "anything else", p.For("TEST").May(auth.RecordsRead, ""), auth.ErrDuty)
	is(t, "anything else", p.MaySome(auth.RecordsRead), auth.ErrDuty)
	_, err := do(w, w.d.CreateToken(p, auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}}))
	is(t, "a token", err, auth.ErrDuty)
	if p.Must != auth.MustChangePassword || len(p.Permissions()) != 0 {
		t.Error(p.Must)
	}
	change := func(old, to string) (auth.SignedIn, error) {
		return do(w, w.d.ChangePassword(t.Context(), b.post(), p, auth.NewSecret(old), auth.NewSecret(to)))
	}
	_, err = change(other, other)
	is(t, "the same", err, claimdlq.Invalid)
	_, err = change(other, "short")
	is(t, "a short one", err, claimdlq.Invalid)
	_, err = change("TEST wrong", right)
	is(t, "with a wrong one", err, auth.ErrSignIn)
	stranger, _ := newBrowser(w), 0
	second := must(w, w.d.SignIn(t.Context(), stranger.post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(other)}))
	stranger.set(second.Cookie)
	in, err = change(other, right)
	is(t, "changed", err, nil)
	is(t, "now", in.Principal.May(auth.RecordsRead, ""), nil)
	if w.last() != "password_change ana ANA" {
		t.Error(w.last())
	}
	_, err = w.d.Authenticate(b.get())
	is(t, "the id before", err, auth.ErrUnauthenticated)
	b.set(in.Cookie)
	_, err = w.d.Authenticate(b.get())
	is(t, "the new one", err, nil)
	_, err = w.d.Authenticate(stranger.get())
	is(t, "his other sessions", err, auth.ErrUnauthenticated)
	_, err = do(w, w.d.ChangePassword(t.Context(), b.post(), w.root, auth.NewSecret(right), auth.NewSecret(other)))
	is(t, "of nobody here", err, auth.ErrUnauthenticated)
}

func TestPassword_IsGuessedNoFasterFromInside(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	b, p := w.signIn("ana")
	for i := range 6 {
		_, err := do(w, w.d.ChangePassword(t.Context(), b.post(), p, auth.NewSecret("TEST wrong"), auth.NewSecret(other)))
		_, many := errors.AsType[*auth.TooManyError](err)
		if many != (i == 5) {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
}

func TestCode_IsEnrolledConfirmedAndNeeded(t *testing.T) {
	t.Parallel()
	w := setup(t, func(o *auth.Options) { o.CodeFor = []auth.Role{auth.Approver}; o.Issuer = "claimdlq demo" })
	w.user("vera", auth.Viewer)
	w.user("ann", auth.Approver)
	_, p := w.signIn("vera")
	is(t, "a viewer needs none", p.May(auth.RecordsRead, ""), nil)
	b, p := w.signIn("ann")
	is(t, "an approver does", p.May(auth.RecordsRead, ""), auth.ErrDuty)
	if p.Must != auth.MustEnrolCode {
		t.Error(p.Must)
	}
	_, err := do(w, w.d.ConfirmCode(b.post(), p, auth.NewSecret("123456")))
	is(t, "nothing to confirm", err, auth.ErrSignIn)
	first := must(w, w.d.EnrolCode(p, auth.Secret{}))
	e := must(w, w.d.EnrolCode(p, auth.Secret{})) // the first window was closed
	if !strings.HasPrefix(e.URL.Reveal(), "otpauth://totp/claimdlq%20demo:ann?") || !strings.Contains(e.URL.Reveal(), e.Key.Reveal()) {
		t.Error("no address for an authenticator")
	}
	_, err = do(w, w.d.ConfirmCode(b.post(), p, auth.CodeAt(first.Key.Reveal(), w.time())))
	is(t, "of the first", err, auth.ErrSignIn)
	in := must(w, w.d.ConfirmCode(b.post(), p, auth.CodeAt(e.Key.Reveal(), w.time())))
	is(t, "now", in.Principal.May(auth.ReplayApprove, ""), nil)
	_, err = w.try(here, "ann", right, auth.CodeAt(e.Key.Reveal(), w.time()))
	is(t, "the code that confirmed", err, auth.ErrSignIn)
	w.pass(30 * 1e9)
	_, err = do(w, w.d.EnrolCode(in.Principal, auth.Secret{}))
	is(t, "another authenticator without a code", err, auth.ErrSignIn)
	next := must(w, w.d.EnrolCode(in.Principal, auth.CodeAt(e.Key.Reveal(), w.time())))
	w.pass(15 * 60 * 1e9)
	_, err = do(w, w.d.ConfirmCode(b.post(), in.Principal, auth.CodeAt(next.Key.Reveal(), w.time())))
	is(t, "too late", err, auth.ErrSignIn)
	_, err = w.try(here, "ann", right, auth.CodeAt(e.Key.Reveal(), w.time()))
	is(t, "the old one counts still", err, nil)
	must(w, w.d.ResetCode(w.root, "ann"))
	_, p = w.signIn("ann")
	if p.Must != auth.MustEnrolCode {
		t.Error("a lost authenticator")
	}
}

func TestFiles_OutliveARestart(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.limited("ana", []string{"610097", "ZZ:R*"}, auth.Analyst, auth.Viewer)
	want, err := w.d.User(w.root, "ana")
	is(t, "read", err, nil)
	w.open()
	got, err := w.d.User(w.root, "ana")
	is(t, "read again", err, nil)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, was %+v", got, want)
	}
}

func TestOpen_RefusesFilesThatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	w.user("bob", auth.Approver)
	_, p := w.signIn("ana")
	must(w, w.d.CreateToken(p, auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}, Partners: []string{"*"}}))
	ask := must(w, w.d.Ask(p.For("TEST"), auth.Request{Permission: auth.RecordUnpark, On: "1", Digest: strings.Repeat("a", 64)}))
	_, q := w.signIn("bob")
	must(w, w.d.Approve(q, ask.ID, ask.Digest))
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(w.o.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct{ file, old, to string }{
		{"users.json", `"version": 1`, `"version": 2`},
		{"users.json", `"version": 1`, `"version": 0`},
		{"users.json", `"roles"`, `"rolls"`},
		{"users.json", `"analyst"`, `"superuser"`},
		{"users.json", `"login": "ana"`, `"login": "zoe"`}, // out of order
		{"users.json", `"login": "bob"`, `"login": "ana"`},
		{"users.json", `$argon2id$v=19$m=8,t=1`, `$argon2id$v=19$m=8,t=0`},
		{"users.json", `$argon2id`, `$argon2i`},
		{"users.json", `"*"`, `"**"`},
		{"users.json", "}\n", "} {}\n"},
		{"tokens.json", `"records.read"`, `"payload.reveal"`},
		{"tokens.json", `"records.read"`, `"records.all"`},
		{"tokens.json", `"digest": "`, `"digest": "A`},
		{"tokens.json", `"version": 1`, `"version": 9`},
		{"approvals.json", `"decided_by": "bob"`, `"decided_by": "ana"`},
		{"approvals.json", `"decided_by": "bob"`, `"decided_by": ""`},
		{"approvals.json", `"state": "given"`, `"state": "yes"`},
		{"approvals.json", `"record.unpark"`, `"records.read"`},
		{"approvals.json", `"version": 1`, `"version": 9`},
	} {
		was := read(c.file)
		bad := strings.Replace(was, c.old, c.to, 1)
		if bad == was {
			t.Fatalf("%s has no %s", c.file, c.old)
		}
		path := filepath.Join(w.o.Dir, c.file)
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.Open(w.o); code(err) != claimdlq.Corrupt {
			t.Errorf("%s with %s: %v", c.file, c.to, err)
		}
		if err := os.WriteFile(path, []byte(was), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	if err := os.Chmod(filepath.Join(w.o.Dir, "users.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.Open(w.o); code(err) != claimdlq.Refused {
		t.Errorf("others can read it: %v", err)
	}
}

func TestChange_ThatCannotBeWrittenDoesNotHappen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer)
	if err := os.RemoveAll(w.o.Dir); err != nil {
		t.Fatal(err)
	}
	_, err := do(w, w.d.SetDisabled(w.root, "ana", true))
	is(t, "without a directory", err, claimdlq.Unavailable)
	if strings.Contains(err.Error(), w.o.Dir) {
		t.Errorf("the error tells a path: %v", err)
	}
	if u, err := w.d.User(w.root, "ana"); err != nil || u.Disabled {
		t.Errorf("%v %v", u, err)
	}
}

func TestUsers_AreChangedByManyAtOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			login := fmt.Sprintf("user%d", i)
			if _, err := do(w, w.d.CreateUser(t.Context(), w.root, auth.NewUser{Login: login, Machine: true})); err != nil {
				t.Error(err)
			}
			if _, err := do(w, w.d.SetAccess(w.root, login, 1, auth.Access{Roles: []auth.Role{auth.Operator}})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.open()
	us, err := w.d.Users(w.root)
	if err != nil || len(us) != 8 {
		t.Fatalf("%v %v", us, err)
	}
	for _, u := range us {
		if len(u.Roles) != 1 || u.Revision != 2 {
			t.Errorf("%+v", u)
		}
	}
}

func TestEmpty_SaysHowTheFirstAccountIsMadeUntilThereIsOne(t *testing.T) {
	t.Parallel()
	w := setup(t)
	b := newBrowser(w)
	_, byCookie := w.d.Authenticate(b.get())
	_, byPassword := do(w, w.d.SignIn(t.Context(), b.post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(right)}))
	is(t, "a cookie", byCookie, auth.ErrUnauthenticated)
	is(t, "a password", byPassword, auth.ErrSignIn)
	for _, err := range []error{byCookie, byPassword} {
		if e, ok := errors.AsType[*claimdlq.Error](err); !ok || e.Hint != auth.FirstAccount {
			t.Error(err)
		}
	}
	if !w.d.Empty() {
		t.Error("somebody is there already")
	}
	w.user("ana", auth.Admin)
	_, err := w.d.Authenticate(b.get())
	is(t, "afterwards", err, auth.ErrUnauthenticated)
	if e, ok := errors.AsType[*claimdlq.Error](err); w.d.Empty() || !ok || e.Hint != "sign in" {
		t.Errorf("the account is not seen: %v", err)
	}
}
