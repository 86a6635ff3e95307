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

// BenchmarkSignIn is what a sign-in costs with the parameters that are the default.
func BenchmarkSignIn(b *testing.B) {
	w := setup(b, func(o *auth.Options) { o.Argon = auth.Argon{} })
	w.user("ana", auth.Analyst)
	for b.Loop() {
		w.signIn("ana")
	}
}
