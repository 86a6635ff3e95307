package auth_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

const (
	right = "TEST correct horse 1"
	other = "TEST other staple 2"
)

var small = auth.Argon{MemoryKiB: 8, Passes: 1, Threads: 1}

// world is a desk with a clock, an audit log and the operating system's user.
type world struct {
	t    testing.TB
	d    *auth.Desk
	o    auth.Options
	root auth.Principal

	mu     sync.Mutex
	now    time.Time
	events []auth.Event
	fail   error // what recording returns
}

func setup(t testing.TB, change ...func(*auth.Options)) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), root: auth.Local("root", "TEST")}
	w.o = auth.Options{Dir: t.TempDir(), Argon: small, Now: w.time}
	for _, fn := range change {
		fn(&w.o)
	}
	w.open()
	return w
}

// open opens the directory, again where it was open: a restart.
func (w *world) open() {
	w.t.Helper()
	var err error
	if w.d, err = auth.Open(w.o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) record(_ context.Context, e auth.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return w.fail
	}
	w.events = append(w.events, e)
	return nil
}

// last returns the last event, as ACTION ACTOR DETAIL.
func (w *world) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) == 0 {
		return ""
	}
	e := w.events[len(w.events)-1]
	return string(e.Action) + " " + e.Actor + " " + e.Detail.String()
}

// do has an act happen.
func do[T any](w *world, a auth.Act[T]) (T, error) { return a.Do(w.t.Context(), w.record) }

// must has an act happen that is to succeed.
func must[T any](w *world, a auth.Act[T]) T {
	w.t.Helper()
	v, err := do(w, a)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// user makes an account of a person whose password is right, and his own.
func (w *world) user(login string, roles ...auth.Role) {
	w.t.Helper()
	w.limited(login, []string{auth.AllPartners}, roles...)
}

func (w *world) limited(login string, partners []string, roles ...auth.Role) {
	w.t.Helper()
	must(w, w.d.CreateUser(w.t.Context(), w.root, auth.NewUser{
		Login: login, Password: auth.NewSecret(other), Access: auth.Access{Roles: roles, Partners: partners},
	}))
	b := newBrowser(w)
	in := must(w, w.d.SignIn(w.t.Context(), b.post(), auth.Credentials{Login: login, Password: auth.NewSecret(other)}))
	b.set(in.Cookie)
	in = must(w, w.d.ChangePassword(w.t.Context(), b.post(), in.Principal, auth.NewSecret(other), auth.NewSecret(right)))
	b.set(in.Cookie)
	must(w, w.d.SignOut(b.post(), in.Principal))
}

// browser keeps the cookies of one origin.
type browser struct {
	w       *world
	origin  string // https://dlq.test, unless set
	from    string
	cookies map[string]string
}

func newBrowser(w *world) *browser {
	return &browser{w: w, origin: "https://dlq.test", from: "203.0.113.5:4000", cookies: map[string]string{}}
}

func (b *browser) request(method, path string) *http.Request {
	r := httptest.NewRequestWithContext(b.w.t.Context(), method, b.origin+path, nil)
	if strings.HasPrefix(b.origin, "https:") {
		r.TLS = &tls.ConnectionState{}
	}
	r.RemoteAddr = b.from
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

func (b *browser) get() *http.Request { return b.request(http.MethodGet, "/v1/records") }

func (b *browser) post() *http.Request {
	r := b.request(http.MethodPost, "/v1/sessions")
	r.Header.Set("Origin", b.origin)
	return r
}

func (b *browser) set(c *http.Cookie) {
	if c.MaxAge < 0 {
		delete(b.cookies, c.Name)
		return
	}
	b.cookies[c.Name] = c.Value
}

// signIn signs a person in whose password is right.
func (w *world) signIn(login string) (*browser, auth.Principal) {
	w.t.Helper()
	b := newBrowser(w)
	in := must(w, w.d.SignIn(w.t.Context(), b.post(), auth.Credentials{Login: login, Password: auth.NewSecret(right)}))
	b.set(in.Cookie)
	return b, in.Principal
}

// is says what is wrong unless the error is one of the wanted.
func is(t testing.TB, what string, err error, want ...error) {
	t.Helper()
	if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) || w == nil && err == nil }) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func code(err error) claimdlq.Code {
	e, _ := errors.AsType[*claimdlq.Error](err)
	if e == nil {
		return ""
	}
	return e.Code
}
