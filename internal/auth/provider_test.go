package auth_test

import (
	"net/http"
	"net/url"
	"testing"

	"claimdlq/internal/auth"
	"claimdlq/internal/auth/authtest"
)

// federated is a desk with a provider.
func federated(t *testing.T, change ...func(*auth.OIDCConfig)) (*world, *authtest.Provider) {
	t.Helper()
	w := setup(t)
	p := authtest.NewProvider(t, w.time)
	c := auth.OIDCConfig{
		Issuer: p.URL, ClientID: authtest.ClientID, ClientSecret: auth.NewSecret(authtest.ClientSecret), RedirectURL: "https://dlq.test/oidc/callback",
		Scopes: []string{"profile"}, RolesClaim: "groups",
		Roles: map[string][]auth.Role{"dlq-analysts": {auth.Analyst}, "dlq-ops": {auth.Operator, auth.Viewer}},
	}
	for _, fn := range change {
		fn(&c)
	}
	var err error
	if w.o.OIDC, err = auth.NewOIDC(c); err != nil {
		t.Fatal(err)
	}
	w.open()
	return w, p
}

// begin has a browser begin a sign-in.
func (w *world) begin() (*browser, auth.Redirect) {
	w.t.Helper()
	b := newBrowser(w)
	to, err := w.d.BeginOIDC(w.t.Context(), b.get())
	if err != nil {
		w.t.Fatal(err)
	}
	b.set(to.Cookie)
	return b, to
}

// back is a browser that comes back from the provider.
func (b *browser) back(q url.Values) *http.Request {
	r := b.request(http.MethodGet, "/oidc/callback?"+q.Encode())
	r.Header.Set("Sec-Fetch-Site", "cross-site") // it is sent by the provider
	return r
}
