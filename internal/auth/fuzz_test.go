package auth_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"claimdlq/internal/auth"
)

// FuzzAuthenticate: whatever stands in the headers, only the one cookie and the one
// token let somebody in.
func FuzzAuthenticate(f *testing.F) {
	w := setup(f)
	w.user("ana", auth.Viewer)
	b, p := w.signIn("ana")
	id := b.cookies["__Host-claimdlq"]
	text := must(w, w.d.CreateToken(p, auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}, Partners: []string{"*"}})).Text.Reveal()
	for _, s := range [][4]string{
		{"", "", "", ""},
		{"__Host-claimdlq=" + strings.Repeat("A", 43), "", "same-origin", "https://dlq.test"},
		{"__Host-claimdlq=a; __Host-claimdlq=b", "Bearer cdlq_" + strings.Repeat("A", 43), "none", "null"},
		{`__Host-claimdlq="x"; claimdlq=y`, "Basic eA==", "cross-site", "https://evil.test"},
		{"; ;=;__Host-claimdlq", "bearer", "\x00", "://"},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, cookie, authorization, site, origin string) {
		r := &http.Request{Method: http.MethodPost, Host: "dlq.test", RemoteAddr: origin, TLS: &tls.ConnectionState{}, Header: http.Header{}}
		set := func(name, v string) {
			if v != "" {
				r.Header[name] = []string{v}
			}
		}
		set("Cookie", cookie)
		set("Authorization", authorization)
		set("Sec-Fetch-Site", site)
		set("Origin", origin)
		if got, err := w.d.Authenticate(r); err == nil && !strings.Contains(cookie, id) && !strings.Contains(authorization, text) {
			t.Errorf("%+v came in", got)
		}
		_ = w.d.CheckOrigin(r)
		_ = w.d.SignIn(t.Context(), r, auth.Credentials{Login: cookie, Password: auth.NewSecret(authorization), Code: auth.NewSecret(site)}).Err()
	})
}

// FuzzParse: what is read is spelled one way only.
func FuzzParse(f *testing.F) {
	w := setup(f)
	for _, s := range []string{
		"", "cdlq_" + strings.Repeat("A", 43), "cdlq_" + strings.Repeat("A", 42) + "B", "cdlq_\n" + strings.Repeat("A", 42), strings.Repeat("A", 96),
		"$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=4294967295,t=9,p=255$AA$AA", "https://dlq.test", "http://[::1]:80", "https://a@b", "http://localhost\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if auth.ParseToken(s) && len(s) != 48 {
			t.Errorf("%q is a token", s)
		}
		if auth.ParseStored(s) && !strings.HasPrefix(s, "$argon2id$v=19$m=") {
			t.Errorf("%q is a hash", s)
		}
		if w.d.Unseal(s) {
			t.Errorf("%q is a sign-in under way", s)
		}
		if text, ok := auth.ParseOrigin(s); ok {
			if again, ok := auth.ParseOrigin(text); !ok || again != text {
				t.Errorf("%q becomes %q and then %q", s, text, again)
			}
		}
		if _, ok := auth.CheckCode([]byte(s), 1<<63, w.time(), s); ok {
			t.Error("a code of the past")
		}
		if auth.CheckPatterns([]string{s}) == "" && auth.Covers([]string{s}, "") != (s == "*") {
			t.Errorf("%q covers everything", s)
		}
		_ = auth.CheckPassword("ana", s)
	})
}
