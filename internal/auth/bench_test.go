package auth_test

import (
	"testing"

	"claimdlq/internal/auth"
)

// BenchmarkAuthenticate is what a request of a console costs.
func BenchmarkAuthenticate(b *testing.B) {
	w := setup(b)
	w.user("ana", auth.Analyst)
	br, _ := w.signIn("ana")
	r := br.get()
	b.ReportAllocs()
	for b.Loop() {
		p, err := w.d.Authenticate(r)
		if err != nil || p.May(auth.RecordsRead, "610097:PCN") != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAuthenticateToken is what a request of a machine costs.
func BenchmarkAuthenticateToken(b *testing.B) {
	w := setup(b)
	must(w, w.d.CreateUser(b.Context(), w.root, auth.NewUser{Login: "bot", Machine: true, Access: auth.Access{Roles: []auth.Role{auth.Operator}, Partners: []string{auth.AllPartners}}}))
	t := must(w, w.d.CreateToken(w.root, auth.NewToken{Owner: "bot", Name: "TEST", Permissions: []auth.Permission{auth.ClaimsIntake}, Partners: []string{auth.AllPartners}}))
	r := newBrowser(w).get()
	r.Header.Set("Authorization", "Bearer "+t.Text.Reveal())
	b.ReportAllocs()
	for b.Loop() {
		p, err := w.d.Authenticate(r)
		if err != nil || p.May(auth.ClaimsIntake, "") != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSignIn is what a sign-in costs with the parameters that are the default.
func BenchmarkSignIn(b *testing.B) {
	w := setup(b, func(o *auth.Options) { o.Argon = auth.Argon{} })
	w.user("ana", auth.Analyst)
	for b.Loop() {
		w.signIn("ana")
	}
}
