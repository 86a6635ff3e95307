package auth_test

import (
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

func (w *world) bearer(text auth.Secret) (auth.Principal, error) {
	r := newBrowser(w).get()
	r.Header.Set("Authorization", "Bearer "+text.Reveal())
	return w.d.Authenticate(r)
}

func TestToken_MayNoMoreThanItsOwnerMayNow(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.limited("ops", []string{"610097", "015199"}, auth.Operator)
	_, p := w.signIn("ops")
	made := must(w, w.d.CreateToken(p, auth.NewToken{
		Owner: "ops", Name: "TEST intake", Permissions: []auth.Permission{auth.ClaimsIntake, auth.RecordsRead, auth.RecordInquire, auth.AuditRead}, Partners: []string{"610097", "ZZ:R"},
	}))
	if !strings.HasPrefix(made.Text.Reveal(), "cdlq_") || len(made.Text.Reveal()) != 48 || w.last() != "token_create ops "+made.ID {
		t.Errorf("%s %d", w.last(), len(made.Text.Reveal()))
	}
	tp, err := w.bearer(made.Text)
	is(t, "the token", err, nil)
	is(t, "both", tp.May(auth.ClaimsIntake, "610097:A"), nil)
	is(t, "the owner's partner alone", tp.May(auth.ClaimsIntake, "015199:A"), auth.ErrPartner)
	is(t, "the token's partner alone", tp.May(auth.ClaimsIntake, "ZZ:R"), auth.ErrPartner)
	is(t, "the owner's permission alone", tp.May(auth.ReplayRun, "610097:A"), auth.ErrForbidden)
	is(t, "the token's permission alone", tp.May(auth.AuditRead, "610097:A"), auth.ErrForbidden)
	all := must(w, w.d.CreateToken(p, auth.NewToken{Owner: "ops", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}, Partners: []string{"*"}}))
	ap, err := w.bearer(all.Text)
	is(t, "all", err, nil)
	is(t, "of the owner's", ap.May(auth.RecordsRead, ""), auth.ErrPartner)
	must(w, w.d.SetAccess(w.root, "ops", 0, auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: []string{"*"}}))
	tp, err = w.bearer(made.Text)
	is(t, "the token of a viewer", err, nil)
	is(t, "intake", tp.May(auth.ClaimsIntake, "610097:A"), auth.ErrForbidden)
	is(t, "records", tp.May(auth.RecordsRead, "610097:A"), nil)
	is(t, "of its own partners", tp.May(auth.RecordsRead, "015199:A"), auth.ErrPartner)
	still, err := w.d.Still(tp)
	is(t, "a stream", err, nil)
	if still.TokenID != tp.TokenID || still.Source != auth.FromToken {
		t.Error(still)
	}
	must(w, w.d.SetDisabled(w.root, "ops", true))
	_, err = w.bearer(made.Text)
	is(t, "of who is disabled", err, auth.ErrUnauthenticated)
	_, err = w.d.Still(tp)
	is(t, "a stream of who is disabled", err, auth.ErrUnauthenticated)
}

func TestToken_EndsInTimeOrAtOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ops", auth.Operator)
	w.user("bob", auth.Operator)
	_, p := w.signIn("ops")
	n := auth.NewToken{Owner: "ops", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}, Partners: []string{"*"}, Life: time.Hour}
	short := must(w, w.d.CreateToken(p, n))
	n.Life = 0
	long := must(w, w.d.CreateToken(p, n))
	if got := long.ExpiresAt.Sub(long.CreatedAt); got != 90*24*time.Hour {
		t.Error(got)
	}
	w.pass(time.Hour - 1)
	_, err := w.bearer(short.Text)
	is(t, "before", err, nil)
	w.pass(1)
	_, err = w.bearer(short.Text)
	is(t, "after", err, auth.ErrUnauthenticated)
	_, q := w.signIn("bob")
	_, err = do(w, w.d.RevokeToken(q, long.ID))
	is(t, "another's", err, auth.ErrForbidden)
	_, p = w.signIn("ops")
	got := must(w, w.d.RevokeToken(p, long.ID))
	if got.RevokedAt.IsZero() || w.last() != "token_revoke ops "+long.ID {
		t.Errorf("%+v %s", got, w.last())
	}
	_, err = w.bearer(long.Text)
	is(t, "revoked", err, auth.ErrUnauthenticated)
	_, err = do(w, w.d.RevokeToken(p, long.ID))
	is(t, "twice", err, claimdlq.Refused)
	_, err = do(w, w.d.RevokeToken(p, "TK-NONE"))
	is(t, "none", err, claimdlq.NotFound)
	w.open()
	_, err = w.bearer(long.Text)
	is(t, "after a restart", err, auth.ErrUnauthenticated)
}

func TestToken_IsMadeByItsOwnerOrForAMachine(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("adm", auth.Admin)
	w.user("ana", auth.Analyst)
	_, admin := w.signIn("adm")
	_, ana := w.signIn("ana")
	must(w, w.d.CreateUser(t.Context(), admin, auth.NewUser{Login: "robot", Machine: true, Access: auth.Access{Roles: []auth.Role{auth.Operator}, Partners: []string{"*"}}}))
	n := auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}, Partners: []string{"*"}}
	_, err := do(w, w.d.CreateToken(admin, n))
	is(t, "in another person's name", err, auth.ErrForbidden)
	n.Owner = "robot"
	made := must(w, w.d.CreateToken(admin, n))
	rp, err := w.bearer(made.Text)
	is(t, "a machine", err, nil)
	is(t, "a machine", rp.May(auth.RecordsRead, ""), nil)
	_, err = do(w, w.d.CreateToken(ana, n))
	is(t, "a machine's by who is no admin", err, auth.ErrForbidden)
	_, err = do(w, w.d.CreateToken(rp, n))
	is(t, "by a token", err, auth.ErrForbidden)
	_, err = do(w, w.d.SetPassword(t.Context(), admin, "robot", auth.NewSecret(other)))
	is(t, "a machine's password", err, claimdlq.Invalid)
	n.Owner = "nobody"
	_, err = do(w, w.d.CreateToken(admin, n))
	is(t, "nobody's", err, claimdlq.NotFound)
	n.Owner = "ana"
	for name, change := range map[string]func(*auth.NewToken){
		"no name":        func(n *auth.NewToken) { n.Name = "" },
		"no permission":  func(n *auth.NewToken) { n.Permissions = nil },
		"no such":        func(n *auth.NewToken) { n.Permissions = []auth.Permission{"all"} },
		"for people":     func(n *auth.NewToken) { n.Permissions = []auth.Permission{auth.RecordsRead, auth.PayloadReveal} },
		"partner":        func(n *auth.NewToken) { n.Partners = []string{""} },
		"for ever":       func(n *auth.NewToken) { n.Life = 367 * 24 * time.Hour },
		"for no time":    func(n *auth.NewToken) { n.Life = -1 },
		"a line in name": func(n *auth.NewToken) { n.Name = "a\nb" },
	} {
		bad := n
		change(&bad)
		_, err := do(w, w.d.CreateToken(ana, bad))
		is(t, name, err, claimdlq.Invalid)
	}
	mine := must(w, w.d.CreateToken(ana, n))
	if got := w.d.Tokens(ana); len(got) != 1 || got[0].ID != mine.ID {
		t.Errorf("ana's: %v", got)
	}
	if got := w.d.Tokens(admin); len(got) != 2 {
		t.Errorf("all: %v", got)
	}
	if got := w.d.Tokens(rp); len(got) != 0 {
		t.Errorf("a token's: %v", got)
	}
	must(w, w.d.RevokeToken(admin, mine.ID)) // any, by an admin
}

func TestToken_RemembersItsLastUseToTheHour(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ops", auth.Operator)
	_, p := w.signIn("ops")
	made := must(w, w.d.CreateToken(p, auth.NewToken{Owner: "ops", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}, Partners: []string{"*"}}))
	if !w.d.Tokens(p)[0].LastUsed.IsZero() {
		t.Error("it was never used")
	}
	is(t, "nothing to write", w.d.Flush(), nil)
	w.pass(10 * time.Minute)
	if _, err := w.bearer(made.Text); err != nil {
		t.Fatal(err)
	}
	want := w.time().Truncate(time.Hour)
	if got := w.d.Tokens(w.root)[0].LastUsed; !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
	is(t, "flush", w.d.Flush(), nil)
	w.open()
	if got := w.d.Tokens(w.root)[0].LastUsed; !got.Equal(want) {
		t.Errorf("after a restart %v, want %v", got, want)
	}
}
