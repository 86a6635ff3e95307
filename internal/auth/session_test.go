package auth_test

import (
	"testing"
	"testing/synctest"
	"time"

	"claimdlq/internal/auth"
)

// bubble runs a test on the fake clock of synctest.
func bubble(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, func(o *auth.Options) { o.Dir, o.Now = dir, time.Now })
		fn(t, w)
	})
}

// 43: automatic logoff, 45 CFR 164.312(a)(2)(iii).
func TestSession_EndsWhenItIsIdle(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *world) {
		w.user("ana", auth.Analyst)
		b, p := w.signIn("ana")
		for range 3 {
			time.Sleep(15*time.Minute - 1)
			_, err := w.d.Authenticate(b.get())
			is(t, "used", err, nil)
		}
		time.Sleep(10 * time.Minute)
		r := b.get()
		r.Header.Set(auth.Background, "1")
		_, err := w.d.Authenticate(r)
		is(t, "a poll", err, nil)
		_, err = w.d.Still(p)
		is(t, "a stream", err, nil)
		cross := b.get()
		cross.Header.Set("Sec-Fetch-Site", "cross-site")
		_, err = w.d.Authenticate(cross)
		is(t, "another site", err, auth.ErrOrigin)
		time.Sleep(5 * time.Minute) // none of them was a person
		_, err = w.d.Still(p)
		is(t, "the stream", err, auth.ErrUnauthenticated)
		_, err = w.d.Authenticate(b.get())
		is(t, "idle", err, auth.ErrUnauthenticated)
		if w.d.Sessions() != 0 {
			t.Error("it is kept")
		}
	})
}

func TestSession_EndsAfterTwelveHoursWhateverIsDone(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *world) {
		w.user("ana", auth.Operator)
		b, p := w.signIn("ana")
		if got := time.Until(p.ExpiresAt); got != 12*time.Hour {
			t.Errorf("it expires in %v", got)
		}
		for range 12*6 - 1 {
			time.Sleep(10 * time.Minute)
			p, err := w.d.Authenticate(b.get())
			is(t, "used", err, nil)
			b.set(must(w, w.d.Elevate(b.post(), p.For("TEST"))).Cookie) // rotating prolongs nothing
		}
		time.Sleep(10*time.Minute - 1)
		_, err := w.d.Authenticate(b.get())
		is(t, "before", err, nil)
		time.Sleep(time.Nanosecond)
		_, err = w.d.Authenticate(b.get())
		is(t, "after twelve hours", err, auth.ErrUnauthenticated)
	})
}

// 43: break-glass: with a reason, for a while, audited, under another session id.
func TestElevate_OpensPayloadsForAWhile(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *world) {
		w.limited("ops", []string{"610097"}, auth.Operator)
		w.user("vera", auth.Viewer)
		b, p := w.signIn("ops")
		is(t, "before", p.For("TEST").May(auth.PayloadReveal, "610097:PCN"), auth.ErrForbidden)
		_, err := do(w, w.d.Elevate(b.post(), p))
		is(t, "without a reason", err, auth.ErrReason)
		_, err = do(w, w.d.Elevate(b.post(), p.For(" \n")))
		is(t, "with a blank one", err, auth.ErrReason)
		old := b.cookies["__Host-claimdlq"]
		in := must(w, w.d.Elevate(b.post(), p.For("TEST patient waits at the counter")))
		if got, note := w.last(), w.events[len(w.events)-1].Note; got != "elevate ops PAYLOAD.REVEAL" || note != "TEST patient waits at the counter" {
			t.Error(got, note)
		}
		b.set(in.Cookie)
		p, err = w.d.Authenticate(b.get())
		is(t, "elevated", err, nil)
		is(t, "elevated", p.For("TEST").May(auth.PayloadReveal, "610097:PCN"), nil)
		is(t, "each look has its reason", p.May(auth.PayloadReveal, "610097:PCN"), auth.ErrReason)
		is(t, "of his partners", p.For("TEST").May(auth.PayloadReveal, "015199:PCN"), auth.ErrPartner)
		is(t, "nothing else", p.For("TEST").May(auth.RecordCorrect, "610097:PCN"), auth.ErrForbidden)
		if got := time.Until(p.ElevatedUntil); got != 15*time.Minute {
			t.Errorf("for %v", got)
		}
		stolen := newBrowser(w)
		stolen.cookies["__Host-claimdlq"] = old
		_, err = w.d.Authenticate(stolen.get())
		is(t, "the id before", err, auth.ErrUnauthenticated)
		time.Sleep(10 * time.Minute)
		_, _ = w.d.Authenticate(b.get())
		time.Sleep(5*time.Minute - 1)
		p, _ = w.d.Authenticate(b.get())
		is(t, "just before", p.For("TEST").May(auth.PayloadReveal, "610097:PCN"), nil)
		time.Sleep(time.Nanosecond)
		p, err = w.d.Authenticate(b.get())
		is(t, "signed in still", err, nil)
		is(t, "after it", p.For("TEST").May(auth.PayloadReveal, "610097:PCN"), auth.ErrForbidden)
		b, p = w.signIn("vera")
		_, err = do(w, w.d.Elevate(b.post(), p.For("TEST")))
		is(t, "a viewer", err, auth.ErrForbidden)
		if got := w.last(); got != "denied vera PAYLOAD.BREAKGLASS" {
			t.Error(got)
		}
	})
}

func TestElevate_EndsWithTheRole(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ops", auth.Operator)
	b, p := w.signIn("ops")
	b.set(must(w, w.d.Elevate(b.post(), p.For("TEST"))).Cookie)
	must(w, w.d.SetAccess(w.root, "ops", 0, auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: []string{"*"}}))
	p, err := w.d.Authenticate(b.get())
	is(t, "signed in", err, nil)
	is(t, "as a viewer", p.For("TEST").May(auth.PayloadReveal, ""), auth.ErrForbidden)
}

func TestSession_FollowsTheAccountAtOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Analyst)
	b, p := w.signIn("ana")
	must(w, w.d.SetAccess(w.root, "ana", 0, auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: []string{"610097"}}))
	now, err := w.d.Authenticate(b.get())
	is(t, "signed in", err, nil)
	is(t, "less", now.May(auth.ReplayRun, "610097"), auth.ErrForbidden)
	is(t, "elsewhere", now.May(auth.RecordsRead, "015199"), auth.ErrPartner)
	now, err = w.d.Still(p.For("TEST"))
	is(t, "a stream", err, nil)
	if now.Reason != "TEST" || now.May(auth.ReplayRun, "") == nil {
		t.Error("a stream goes on as before")
	}
	for _, name := range []string{"disabled", "password", "code", "all"} {
		w := setup(t)
		w.user("ana", auth.Analyst)
		b, p := w.signIn("ana")
		switch name {
		case "disabled":
			must(w, w.d.SetDisabled(w.root, "ana", true))
		case "password":
			must(w, w.d.SetPassword(t.Context(), w.root, "ana", auth.NewSecret(other)))
		case "code":
			must(w, w.d.ResetCode(w.root, "ana"))
		case "all":
			must(w, w.d.SignOutAll(w.root, "ana"))
		}
		_, err := w.d.Authenticate(b.get())
		is(t, name, err, auth.ErrUnauthenticated)
		_, err = w.d.Still(p)
		is(t, name, err, auth.ErrUnauthenticated)
		if name == "disabled" {
			must(w, w.d.SetDisabled(w.root, "ana", false))
			_, err := w.d.Authenticate(b.get())
			is(t, "enabled again", err, auth.ErrUnauthenticated)
		}
	}
}

func TestSignOut_EndsThisSessionOrAllOfThem(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer)
	w.user("bob", auth.Viewer)
	b1, p1 := w.signIn("ana")
	b2, _ := w.signIn("ana")
	b3, p3 := w.signIn("bob")
	c := must(w, w.d.SignOut(b1.post(), p1))
	if c.Name != "__Host-claimdlq" || c.MaxAge >= 0 || c.Value != "" || !c.Secure {
		t.Error(c)
	}
	_, err := w.d.Authenticate(b1.get())
	is(t, "this one", err, auth.ErrUnauthenticated)
	_, err = w.d.Authenticate(b2.get())
	is(t, "the other", err, nil)
	_, err = do(w, w.d.SignOutAll(p3, "ana"))
	is(t, "another's", err, auth.ErrForbidden)
	_, p1 = w.signIn("ana")
	if n := must(w, w.d.SignOutAll(p1, "ana")); n != 2 {
		t.Errorf("%d sessions", n)
	}
	_, err = w.d.Authenticate(b2.get())
	is(t, "everywhere", err, auth.ErrUnauthenticated)
	_, err = w.d.Authenticate(b3.get())
	is(t, "bob's", err, nil)
	w.open()
	_, err = w.d.Authenticate(b3.get())
	is(t, "after a restart", err, auth.ErrUnauthenticated)
}

func TestSessions_OfOnePersonAreBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Viewer)
	first, _ := w.signIn("ana")
	second, _ := w.signIn("ana")
	w.pass(time.Second)
	_, _ = w.d.Authenticate(first.get())
	for range auth.MaxOfOne - 1 {
		w.signIn("ana")
	}
	if got := w.d.Sessions(); got != auth.MaxOfOne {
		t.Errorf("%d sessions", got)
	}
	_, err := w.d.Authenticate(first.get())
	is(t, "the one that was used", err, nil)
	_, err = w.d.Authenticate(second.get())
	is(t, "the one that was not", err, auth.ErrUnauthenticated)
}
