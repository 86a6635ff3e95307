package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

// signIn tries to sign in from an address.
func (w *world) try(from, login, password string, code auth.Secret) (auth.SignedIn, error) {
	w.t.Helper()
	b := newBrowser(w)
	b.from = from + ":4000"
	return do(w, w.d.SignIn(w.t.Context(), b.post(), auth.Credentials{Login: login, Password: auth.NewSecret(password), Code: code}))
}

const here = "203.0.113.5"

// enrol gives a person one-time codes and returns the key.
func (w *world) enrol(login string) string {
	w.t.Helper()
	b, p := w.signIn(login)
	e := must(w, w.d.EnrolCode(p, auth.Secret{}))
	must(w, w.d.ConfirmCode(b.post(), p, auth.CodeAt(e.Key.Reveal(), w.time())))
	w.pass(time.Minute)
	return e.Key.Reveal()
}

func TestSignIn_GivesASessionInACookieThatOnlyThisHostGets(t *testing.T) {
	t.Parallel()
	w := setup(t, func(o *auth.Options) { o.LoopbackHTTP = true })
	w.user("ana", auth.Analyst)
	for _, c := range []struct {
		origin, from, name string
		secure             bool
	}{
		{"https://dlq.test", "203.0.113.5:1", "__Host-claimdlq", true},
		{"https://localhost:8443", "127.0.0.1:1", "__Host-claimdlq", true},
		{"http://localhost:8080", "127.0.0.1:1", "claimdlq", false},
		{"http://[::1]:8080", "[::1]:1", "claimdlq", false},
	} {
		b := newBrowser(w)
		b.origin, b.from = c.origin, c.from
		in := must(w, w.d.SignIn(t.Context(), b.post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(right)}))
		k := in.Cookie
		if k.Name != c.name || k.Secure != c.secure || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Path != "/" || k.Domain != "" || k.MaxAge != 12*3600 || k.Valid() != nil {
			t.Errorf("%s: %v", c.origin, k)
		}
		b.set(k)
		if p, err := w.d.Authenticate(b.get()); err != nil || p.Actor != "ana" || p.Source != auth.FromSession {
			t.Errorf("%s: %v %v", c.origin, p, err)
		}
		if got := w.last(); got != "sign_in ana PASSWORD" {
			t.Error(got)
		}
	}
	// The name of the other kind counts for nothing, nor does a plain request from outside.
	b, _ := w.signIn("ana")
	b.cookies["claimdlq"] = b.cookies["__Host-claimdlq"]
	delete(b.cookies, "__Host-claimdlq")
	_, err := w.d.Authenticate(b.get())
	is(t, "the plain name over TLS", err, auth.ErrUnauthenticated)
	b.origin = "http://localhost:8080"
	_, err = w.d.Authenticate(b.get())
	is(t, "plain HTTP from another machine", err, auth.ErrUnauthenticated)
}

// One answer and one derivation, whatever is wrong.
func TestSignIn_TellsNothingOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, login := range []string{"ana", "coded", "gone"} {
		w.user(login, auth.Analyst)
	}
	key := w.enrol("coded")
	must(w, w.d.SetDisabled(w.root, "gone", true))
	must(w, w.d.CreateUser(t.Context(), w.root, auth.NewUser{Login: "robot", Machine: true}))
	var derived []auth.Argon
	w.d.OnDerive(func(a auth.Argon) { derived = append(derived, a) })
	good := auth.CodeAt(key, w.time())
	answers := map[string]bool{}
	for i, c := range []struct {
		login, password string
		code            auth.Secret
		detail          string
	}{
		{"ana", "TEST wrong", auth.Secret{}, "ANA"},
		{"ana", "", auth.Secret{}, "ANA"},
		{"ana", right + "\x00", auth.Secret{}, "ANA"},
		{"ana", strings.Repeat("TEST", 1000), auth.Secret{}, "ANA"},
		{"nobody", right, auth.Secret{}, "UNKNOWN"},
		{"", right, auth.Secret{}, "UNKNOWN"},
		{right, right, auth.Secret{}, "UNKNOWN"},
		{"ANA", right, auth.Secret{}, "UNKNOWN"},
		{"gone", right, auth.Secret{}, "GONE"},
		{"robot", "", auth.Secret{}, "ROBOT"},
		{"coded", right, auth.Secret{}, "CODED"},
		{"coded", right, auth.NewSecret("000000"), "CODED"},
		{"coded", "TEST wrong", good, "CODED"},
	} {
		w.pass(time.Hour)
		derived = nil
		_, err := w.try(here, c.login, c.password, c.code)
		is(t, fmt.Sprint(i), err, auth.ErrSignIn)
		answers[fmt.Sprint(err)] = true
		if len(derived) != 1 || derived[0] != small {
			t.Errorf("%d: derived %v", i, derived)
		}
		if got := w.last(); got != "sign_in_refused anonymous "+c.detail {
			t.Errorf("%d: %s", i, got)
		}
	}
	if len(answers) != 1 {
		t.Errorf("answers differ: %v", answers)
	}
	derived = nil
	if _, err := w.try(here, "ana", right, auth.Secret{}); err != nil || len(derived) != 1 {
		t.Errorf("%v %v", err, derived)
	}
}

func TestSignIn_TakesACodeOnceAcrossARestart(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	key := w.enrol("ana")
	code := auth.CodeAt(key, w.time())
	if _, err := w.try(here, "ana", right, code); err != nil {
		t.Fatal(err)
	}
	if got := w.last(); got != "sign_in ana PASSWORD_CODE" {
		t.Error(got)
	}
	_, err := w.try(here, "ana", right, code)
	is(t, "again", err, auth.ErrSignIn)
	w.open()
	_, err = w.try(here, "ana", right, code)
	is(t, "after a restart", err, auth.ErrSignIn)
	_, err = w.try(here, "ana", right, auth.CodeAt(key, w.time().Add(-30*time.Second)))
	is(t, "one before it", err, auth.ErrSignIn)
	w.pass(30 * time.Second)
	_, err = w.try(here, "ana", right, auth.CodeAt(key, w.time()))
	is(t, "the next", err, nil)
}

func TestSignIn_OfManyAtOnceWithOneCodeOneComesIn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	code := auth.CodeAt(w.enrol("ana"), w.time())
	var acts []auth.Act[auth.SignedIn]
	for range 5 {
		acts = append(acts, w.d.SignIn(t.Context(), newBrowser(w).post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(right), Code: code}))
	}
	errs := make([]error, len(acts))
	var wg sync.WaitGroup
	for i, a := range acts {
		is(t, "judged alone", a.Err(), nil)
		wg.Go(func() { _, errs[i] = do(w, a) })
	}
	wg.Wait()
	in := 0
	for _, err := range errs {
		if err == nil {
			in++
			continue
		}
		is(t, "the others", err, auth.ErrSignIn)
	}
	if in != 1 {
		t.Errorf("%d came in", in)
	}
}

func TestSignIn_IsJudgedAgainWhenItHappens(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	sign := func() auth.Act[auth.SignedIn] {
		return w.d.SignIn(t.Context(), newBrowser(w).post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(right)})
	}
	a := sign()
	must(w, w.d.SetPassword(t.Context(), w.root, "ana", auth.NewSecret(other)))
	_, err := do(w, a)
	is(t, "the password was changed", err, auth.ErrSignIn)
	w = setup(t)
	w.user("ana", auth.Analyst)
	a = sign()
	must(w, w.d.SetDisabled(w.root, "ana", true))
	_, err = do(w, a)
	is(t, "the account was disabled", err, auth.ErrSignIn)
}

// 43: no act without its audit entry.
func TestAct_DoesNotHappenUnlessItIsRecorded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst, auth.Operator)
	_, p := w.signIn("ana")
	before := w.d.Sessions()
	w.fail = errors.New("disk full")
	_, err := w.try(here, "ana", right, auth.Secret{})
	is(t, "sign in", err, claimdlq.Unavailable)
	if got := w.d.Sessions(); got != before {
		t.Errorf("%d sessions, were %d", got, before)
	}
	_, err = do(w, w.d.SetDisabled(w.root, "ana", true))
	is(t, "disable", err, claimdlq.Unavailable)
	_, err = do(w, w.d.CreateToken(p, auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}}))
	is(t, "token", err, claimdlq.Unavailable)
	_, err = do(w, w.d.Ask(p.For("TEST"), auth.Request{Permission: auth.RecordUnpark, On: "1", Digest: strings.Repeat("a", 64)}))
	is(t, "ask", err, claimdlq.Unavailable)
	_, err = do(w, w.d.SignOutAll(p, "ana"))
	is(t, "sign out", err, claimdlq.Unavailable)
	w.fail = nil
	if u, err := w.d.User(w.root, "ana"); err != nil || u.Disabled || len(w.d.Tokens(w.root)) != 0 || len(w.d.Approvals(w.root)) != 0 || w.d.Sessions() != before {
		t.Errorf("something happened: %v %v", u, err)
	}
	if _, err := do(w, auth.Act[int]{}); !errors.Is(err, claimdlq.Internal) {
		t.Error(err)
	}
}

func TestSignIn_SlowsGuessersDownKnownLoginOrNot(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	for _, login := range []string{"ana", "nobody"} {
		for i := range 5 {
			w.pass(time.Millisecond)
			_, err := w.try(here, login, "TEST wrong", auth.Secret{})
			is(t, fmt.Sprintf("%s, attempt %d", login, i), err, auth.ErrSignIn)
		}
		events := len(w.events)
		for range 10 { // trying while one has to wait changes nothing, and is not audited
			_, err := w.try("198.51.100.7", login, right, auth.Secret{})
			many, ok := errors.AsType[*auth.TooManyError](err)
			if !ok || many.RetryAfter != time.Second || auth.Status(err) != http.StatusTooManyRequests {
				t.Fatalf("%s: %v", login, err)
			}
		}
		if len(w.events) != events {
			t.Error("waiting is audited")
		}
		for _, wait := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900} {
			w.pass(time.Duration(wait)*time.Second - time.Nanosecond)
			_, err := w.try(here, login, right, auth.Secret{})
			if _, ok := errors.AsType[*auth.TooManyError](err); !ok {
				t.Fatalf("%s: before %d s: %v", login, wait, err)
			}
			w.pass(time.Nanosecond)
			_, err = w.try(here, login, "TEST wrong", auth.Secret{})
			is(t, fmt.Sprintf("%s: after %d s", login, wait), err, auth.ErrSignIn)
		}
	}
	w.pass(15 * time.Minute)
	_, err := w.try(here, "ana", right, auth.Secret{})
	is(t, "the right one at last", err, nil)
	for range 4 {
		_, err = w.try(here, "ana", "TEST wrong", auth.Secret{})
		is(t, "which is a new beginning", err, auth.ErrSignIn)
	}
	_, err = w.try(here, "ana", right, auth.Secret{})
	is(t, "for his login", err, nil)
}

func TestSignIn_SlowsAnAddressDownThatTriesManyLogins(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	for _, c := range []struct{ from, same, another string }{
		{"192.0.2.1", "192.0.2.1", "192.0.2.2"},
		{"[2001:db8::1]", "[2001:db8::ffff:1]", "[2001:db8:0:1::1]"},
		{"[::ffff:192.0.2.77]", "192.0.2.77", "192.0.2.78"},
	} {
		for i := range 30 {
			_, err := w.try(c.from, fmt.Sprintf("guess%d", i), right, auth.Secret{})
			is(t, "guess", err, auth.ErrSignIn)
		}
		_, err := w.try(c.same, "ana", right, auth.Secret{})
		if _, ok := errors.AsType[*auth.TooManyError](err); !ok {
			t.Errorf("%s: %v", c.same, err)
		}
		_, err = w.try(c.another, "ana", right, auth.Secret{})
		is(t, c.another, err, nil)
		w.pass(time.Hour)
	}
}

func TestSignIn_ManyAtOnceGainNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	derived := 0
	w.d.OnDerive(func(auth.Argon) { derived++ }) // one at a time: Hashing is 1 below
	w.o.Hashing = 1
	w.open()
	w.d.OnDerive(func(auth.Argon) { derived++ })
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { _, _ = w.try(here, "ana", "TEST wrong", auth.Secret{}) })
	}
	wg.Wait()
	if derived != 5 {
		t.Errorf("%d passwords were tried", derived)
	}
}

func TestThrottle_IsBoundedAndCannotBeFlushed(t *testing.T) {
	t.Parallel()
	th, now := auth.NewThrottle(), time.Unix(1e9, 0)
	for range 3 {
		th.Enter(now, "target", 2, 0)
	}
	for i := range auth.MaxWatched + 200 {
		th.Enter(now.Add(time.Duration(i)), fmt.Sprint(i), 2, 0)
	}
	if got := th.Len(); got != auth.MaxWatched {
		t.Errorf("%d are watched", got)
	}
	if _, ok := th.Enter(now, "target", 2, 0); ok {
		t.Error("its failures were pushed out")
	}
	if _, ok := th.Enter(now.Add(time.Hour), "target", 2, 0); !ok {
		t.Error("they are never forgotten")
	}
}

func TestThrottle_ForgetsAnAddressOneByOneWhileItIsUsed(t *testing.T) {
	t.Parallel()
	th, now := auth.NewThrottle(), time.Unix(1e9, 0)
	for i := range 24 * 60 { // somebody mistypes every minute, all day
		if wait, ok := th.Enter(now.Add(time.Duration(i)*time.Minute), "clinic", 30, time.Minute); !ok {
			t.Fatalf("after %d minutes he waits %v", i, wait)
		}
	}
	const guesses = 6 * 60 * 24
	in := 0
	for i := range guesses { // and somebody guesses every ten seconds
		if _, ok := th.Enter(now.Add(time.Duration(i)*10*time.Second), "guesser", 30, time.Minute); ok {
			in++
		}
	}
	if in > 36+24*60 { // the free ones, those with waits under ten seconds, and one a minute
		t.Errorf("%d of %d guesses were let through", in, guesses)
	}
}

func TestSignIn_EndsTheSessionThatTheBrowserHad(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	b, _ := w.signIn("ana")
	old := b.cookies["__Host-claimdlq"]
	b.set(must(w, w.d.SignIn(t.Context(), b.post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(right)})).Cookie)
	if b.cookies["__Host-claimdlq"] == old || w.d.Sessions() != 1 {
		t.Errorf("%d sessions", w.d.Sessions())
	}
	b.cookies["__Host-claimdlq"] = old
	_, err := w.d.Authenticate(b.get())
	is(t, "the old id", err, auth.ErrUnauthenticated)
}

func TestSignIn_MakesAWeakHashAgain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	stronger := auth.Argon{MemoryKiB: 16, Passes: 2, Threads: 1}
	hash := func() string {
		b, err := os.ReadFile(filepath.Join(w.o.Dir, "users.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if !strings.Contains(hash(), "$m=8,t=1,p=1$") {
		t.Fatal("the parameters are not kept")
	}
	w.o.Argon = stronger
	w.open()
	for range 2 {
		if _, err := w.try(here, "ana", right, auth.Secret{}); err != nil {
			t.Fatal(err)
		}
		if got := hash(); !strings.Contains(got, "$m=16,t=2,p=1$") || strings.Contains(got, "$m=8,") {
			t.Error("it is not made again")
		}
	}
	w.o.Argon = small
	w.open()
	if _, err := w.try(here, "ana", right, auth.Secret{}); err != nil || !strings.Contains(hash(), "$m=16,t=2,p=1$") {
		t.Errorf("a stronger one is made weaker: %v", err)
	}
}

func TestSignIn_WhoGoesAwayWaitsForNoHash(t *testing.T) {
	t.Parallel()
	w := setup(t, func(o *auth.Options) { o.Hashing = 1 })
	w.user("ana", auth.Analyst)
	begun, goOn := make(chan struct{}), make(chan struct{})
	w.d.OnDerive(func(auth.Argon) {
		close(begun)
		<-goOn
	})
	done := make(chan error)
	go func() {
		_, err := w.try(here, "ana", right, auth.Secret{})
		done <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := w.d.SignIn(ctx, newBrowser(w).post(), auth.Credentials{Login: "ana", Password: auth.NewSecret(right)})
	is(t, "gave up", a.Err(), claimdlq.Unavailable)
	close(goOn)
	is(t, "the other", <-done, nil)
}

// No secret in an event, an error, or in what prints.
func TestSecrets_AreNotToldToAnybody(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	key := w.enrol("ana")
	c := auth.Credentials{Login: "ana", Password: auth.NewSecret(right), Code: auth.CodeAt(key, w.time())}
	_, err := w.try(here, right, right, auth.Secret{})
	out := fmt.Sprintf("%v %+v %#v %s %v", c, c, c.Password, c.Code, err)
	b := newBrowser(w)
	in := must(w, w.d.SignIn(t.Context(), b.post(), c))
	made := must(w, w.d.CreateToken(in.Principal, auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{auth.RecordsRead}}))
	out += fmt.Sprintf("%+v %+v", in.Principal, made)
	for _, e := range w.events {
		out += fmt.Sprintf("%+v %+v", e, e.Entry())
		if e.Detail.String() == "DETAIL_INVALID" || e.Actor == "" || e.At.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	for _, secret := range []string{right, other, key, c.Code.Reveal(), in.Cookie.Value, made.Text.Reveal(), strings.TrimPrefix(made.Text.Reveal(), "cdlq_")} {
		if strings.Contains(strings.ToUpper(out), strings.ToUpper(secret)) {
			t.Errorf("%.8s... is told: %s", secret, out)
		}
	}
	for _, name := range []string{"users.json", "tokens.json"} {
		b, err := os.ReadFile(filepath.Join(w.o.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{right, other, in.Cookie.Value, strings.TrimPrefix(made.Text.Reveal(), "cdlq_")} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s holds %.8s...", name, secret)
			}
		}
		if info, err := os.Stat(filepath.Join(w.o.Dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}
