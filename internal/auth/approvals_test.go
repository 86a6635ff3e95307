package auth_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
)

var (
	thisPlan  = strings.Repeat("0a", 32)
	otherPlan = strings.Repeat("0b", 32)
)

// office has an analyst, and approvers.
func office(t *testing.T) (w *world, ana, bob auth.Principal) {
	t.Helper()
	w = setup(t)
	w.user("ana", auth.Analyst, auth.Approver) // who has both roles
	w.user("bob", auth.Approver)
	_, ana = w.signIn("ana")
	_, bob = w.signIn("bob")
	return w, ana.For("TEST corrected"), bob
}

func replay(plan string) auth.Request {
	return auth.Request{Permission: auth.ReplayRun, On: "PLAN-7", Digest: plan, Partners: []string{"610097:PCN"}}
}

// 43: four eyes.
func TestApproval_GoesFromWhoAsksToWhoApprovesToItsOneUse(t *testing.T) {
	t.Parallel()
	w, ana, _ := office(t)
	a := must(w, w.d.Ask(ana, replay(thisPlan)))
	if a.State != auth.ApprovalAsked || a.AskedBy != "ana" || a.Reason != "TEST corrected" || a.ExpiresAt.Sub(a.AskedAt) != 24*time.Hour || w.last() != "approval_ask ana "+a.ID {
		t.Errorf("%+v %s", a, w.last())
	}
	_, err := do(w, w.d.Use(ana, a.ID, auth.ReplayRun, thisPlan))
	is(t, "before anybody approved", err, auth.ErrApproval)
	w.open() // it outlives a restart
	_, bob := w.signIn("bob")
	g := must(w, w.d.Approve(bob, a.ID, thisPlan))
	if g.State != auth.ApprovalGiven || g.DecidedBy != "bob" || w.last() != "approval_give bob "+a.ID {
		t.Errorf("%+v %s", g, w.last())
	}
	_, ana = w.signIn("ana")
	_, err = do(w, w.d.Use(ana, a.ID, auth.ReplayRun, otherPlan))
	is(t, "another plan", err, claimdlq.Conflict)
	_, err = do(w, w.d.Use(ana.For("TEST"), a.ID, auth.RecordUnpark, thisPlan))
	is(t, "another thing", err, claimdlq.Conflict)
	first, second := w.d.Use(ana, a.ID, auth.ReplayRun, thisPlan), w.d.Use(ana, a.ID, auth.ReplayRun, thisPlan)
	if u := must(w, first); u.State != auth.ApprovalUsed || u.UsedAt.IsZero() || w.last() != "approval_use ana "+a.ID {
		t.Errorf("%+v %s", u, w.last())
	}
	_, err = do(w, second)
	is(t, "twice", err, claimdlq.Conflict)
	w.open()
	_, ana = w.signIn("ana")
	_, err = do(w, w.d.Use(ana, a.ID, auth.ReplayRun, thisPlan))
	is(t, "after a restart", err, claimdlq.Conflict)
}

func TestApproval_NobodyApprovesWhatHeAskedFor(t *testing.T) {
	t.Parallel()
	w, ana, _ := office(t)
	a := must(w, w.d.Ask(ana, replay(thisPlan)))
	_, err := do(w, w.d.Approve(ana, a.ID, thisPlan))
	is(t, "himself, though an approver", err, auth.ErrForbidden)
	if got := w.last(); got != "denied ana REPLAY.APPROVE" {
		t.Error(got)
	}
	_, err = do(w, w.d.Approve(auth.Local("ANA", "TEST"), a.ID, thisPlan))
	is(t, "on the command line", err, auth.ErrForbidden)
	w.user("carl", auth.Operator, auth.Viewer, auth.Admin, auth.Analyst)
	w.limited("part", []string{"015199"}, auth.Approver)
	_, carl := w.signIn("carl")
	_, err = do(w, w.d.Approve(carl, a.ID, thisPlan))
	is(t, "every other role", err, auth.ErrForbidden)
	_, part := w.signIn("part")
	_, err = do(w, w.d.Approve(part, a.ID, thisPlan))
	is(t, "an approver of another partner", err, auth.ErrPartner)
	if got := w.d.Approvals(part); len(got) != 0 {
		t.Errorf("sees %v", got)
	}
	if !auth.SamePerson("oidc:Ana", "ana") || !auth.SamePerson("ana", "oidc:ana") || auth.SamePerson("ana", "anna") {
		t.Error("who is one person")
	}
}

func TestApproval_IsAskedForProperly(t *testing.T) {
	t.Parallel()
	w, ana, bob := office(t)
	for name, change := range map[string]func(*auth.Request){
		"needs none":    func(r *auth.Request) { r.Permission = auth.ReplayPlan },
		"on what":       func(r *auth.Request) { r.On = "" },
		"free text":     func(r *auth.Request) { r.On = "plan of Mrs Test" },
		"no digest":     func(r *auth.Request) { r.Digest = "" },
		"upper case":    func(r *auth.Request) { r.Digest = strings.ToUpper(r.Digest) },
		"too short":     func(r *auth.Request) { r.Digest = r.Digest[1:] },
		"many partners": func(r *auth.Request) { r.Partners = strings.Split(strings.Repeat("A:B ", 100)+"A:B", " ") },
	} {
		r := replay(thisPlan)
		change(&r)
		_, err := do(w, w.d.Ask(ana, r))
		is(t, name, err, claimdlq.Invalid)
	}
	_, err := do(w, w.d.Ask(ana.For(""), replay(thisPlan)))
	is(t, "without a reason", err, auth.ErrReason)
	_, err = do(w, w.d.Ask(ana.For(strings.Repeat("T", 201)), replay(thisPlan)))
	is(t, "with a long one", err, auth.ErrReason)
	_, err = do(w, w.d.Ask(bob.For("TEST"), replay(thisPlan)))
	is(t, "without the permission", err, auth.ErrForbidden)
	a := must(w, w.d.Ask(ana, replay(thisPlan)))
	_, err = do(w, w.d.Ask(ana, replay(thisPlan)))
	is(t, "twice", err, claimdlq.Conflict)
	must(w, w.d.Ask(ana, replay(otherPlan)))
	_, err = do(w, w.d.Approve(bob, a.ID, otherPlan))
	is(t, "what he did not see", err, claimdlq.Conflict)
	_, err = do(w, w.d.Approve(bob, "AP-NONE", otherPlan))
	is(t, "none", err, claimdlq.NotFound)
	w.limited("pat", []string{"610097"}, auth.Analyst)
	_, pat := w.signIn("pat")
	everywhere := replay(strings.Repeat("0c", 32))
	everywhere.Partners = nil
	_, err = do(w, w.d.Ask(pat.For("TEST"), everywhere))
	is(t, "for all partners", err, auth.ErrPartner)
	if got := w.d.Approvals(bob); len(got) != 2 || got[0].Digest != otherPlan {
		t.Errorf("bob sees %v", got)
	}
}

func TestApproval_IsRefusedTakenBackOrExpires(t *testing.T) {
	t.Parallel()
	w, ana, bob := office(t)
	bob = bob.For("TEST too many")
	ask := func(n string) auth.Approval { return must(w, w.d.Ask(ana, replay(strings.Repeat(n, 32)))) }
	a := ask("01")
	_, err := do(w, w.d.Refuse(bob.For(""), a.ID))
	is(t, "without a reason", err, auth.ErrReason)
	if r := must(w, w.d.Refuse(bob, a.ID)); r.State != auth.ApprovalRefused || r.Answer != "TEST too many" {
		t.Errorf("%+v", r)
	}
	_, err = do(w, w.d.Approve(bob, a.ID, a.Digest))
	is(t, "after a refusal", err, claimdlq.Conflict)
	_, err = do(w, w.d.Use(ana, a.ID, a.Permission, a.Digest))
	is(t, "refused", err, claimdlq.Conflict)
	a = ask("01") // asked again
	must(w, w.d.Refuse(ana, a.ID))
	a = ask("02")
	must(w, w.d.Approve(bob, a.ID, a.Digest))
	_, err = do(w, w.d.Approve(bob, a.ID, a.Digest))
	is(t, "twice", err, claimdlq.Conflict)
	must(w, w.d.Refuse(bob, a.ID)) // he thinks again
	_, err = do(w, w.d.Use(ana, a.ID, a.Permission, a.Digest))
	is(t, "refused after all", err, claimdlq.Conflict)
	a, b := ask("03"), ask("04")
	must(w, w.d.Approve(bob, a.ID, a.Digest))
	late, used := w.d.Approve(bob, b.ID, b.Digest), w.d.Use(ana, a.ID, a.Permission, a.Digest)
	is(t, "in time", late.Err(), nil)
	is(t, "in time", used.Err(), nil)
	w.pass(24 * time.Hour)
	_, err = do(w, w.d.Approve(bob, b.ID, b.Digest))
	is(t, "too late", err, claimdlq.Conflict)
	_, err = do(w, w.d.Use(ana, a.ID, a.Permission, a.Digest))
	is(t, "too late", err, claimdlq.Conflict)
	if !a.Expired(w.time()) {
		t.Error("it has expired")
	}
}

func TestApproval_IsUsedByWhoAskedAndWhileTheApproverStands(t *testing.T) {
	t.Parallel()
	w, ana, bob := office(t)
	w.user("carl", auth.Operator)
	_, carl := w.signIn("carl")
	a := must(w, w.d.Ask(ana, replay(thisPlan)))
	must(w, w.d.Approve(bob, a.ID, thisPlan))
	_, err := do(w, w.d.Use(carl, a.ID, auth.ReplayRun, thisPlan))
	is(t, "by another", err, auth.ErrForbidden)
	must(w, w.d.SetDisabled(w.root, "bob", true))
	_, err = do(w, w.d.Use(ana, a.ID, auth.ReplayRun, thisPlan))
	is(t, "the approver was disabled", err, auth.ErrApproval)
	must(w, w.d.SetDisabled(w.root, "bob", false))
	must(w, w.d.SetAccess(w.root, "ana", 0, auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: []string{"*"}}))
	_, ana = w.signIn("ana")
	_, err = do(w, w.d.Use(ana, a.ID, auth.ReplayRun, thisPlan))
	is(t, "who asked may no longer", err, auth.ErrForbidden)
}

func TestApproval_OfManyUsesAtOnceOneSucceeds(t *testing.T) {
	t.Parallel()
	w, ana, bob := office(t)
	a := must(w, w.d.Ask(ana, replay(thisPlan)))
	must(w, w.d.Approve(bob, a.ID, thisPlan))
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = do(w, w.d.Use(ana, a.ID, auth.ReplayRun, thisPlan)) })
	}
	wg.Wait()
	n := 0
	for _, err := range errs {
		if err == nil {
			n++
			continue
		}
		is(t, "the others", err, claimdlq.Conflict)
	}
	if n != 1 {
		t.Errorf("%d uses", n)
	}
}

func TestNeedsApproval_AlwaysForUnparkAndWithdrawAndForLargeReplays(t *testing.T) {
	t.Parallel()
	type row struct {
		perm          auth.Permission
		claims, cents int64
		want          bool
	}
	always := []row{{auth.RecordUnpark, 1, 1, true}, {auth.RecordWithdraw, 1, 1, true}, {auth.RecordPark, 1e6, 1e9, false}, {"x", 1e6, 1e9, false}}
	for name, rows := range map[string][]row{
		"default": {{auth.ReplayRun, 99, 999_999, false}, {auth.ReplayRun, 100, 0, true}, {auth.ReplayRun, 1, 1_000_000, true}},
		"said":    {{auth.ReplayRun, 4, 499, false}, {auth.ReplayRun, 5, 0, true}, {auth.ReplayRun, 1, 500, true}},
	} {
		w := setup(t, func(o *auth.Options) {
			if name == "said" {
				o.Second = auth.Second{Claims: 5, Cents: 500}
			}
		})
		check := func(when string) {
			for _, c := range append(rows, always...) {
				if got := w.d.NeedsApproval(c.perm, c.claims, c.cents); got != c.want {
					t.Errorf("%s, %s: %s of %d, %d: %v", name, when, c.perm, c.claims, c.cents, got)
				}
			}
		}
		check("given")
		w.o.Second = auth.Second{}
		w.open()
		check("by a process that is told nothing")
	}
}

// The command line asks whether there is anybody to ask.
func TestHasSecond_CountsPeopleWhoCanApprove(t *testing.T) {
	t.Parallel()
	w := setup(t)
	has := func(want bool, when string) {
		t.Helper()
		for _, perm := range []auth.Permission{auth.RecordUnpark, auth.RecordWithdraw, auth.ReplayRun} {
			if w.d.HasSecond(perm) != want {
				t.Errorf("%s: %s %v", when, perm, !want)
			}
		}
	}
	has(false, "no account")
	w.user("ana", auth.Analyst, auth.Operator, auth.Viewer, auth.Admin)
	has(false, "none who can approve")
	if w.d.HasSecond(auth.RecordPark) {
		t.Error("somebody approves what needs no approval")
	}
	must(w, w.d.CreateUser(t.Context(), w.root, auth.NewUser{Login: "bot", Machine: true, Access: auth.Access{Roles: []auth.Role{auth.Approver}, Partners: []string{"*"}}}))
	has(false, "a program")
	w.user("bob", auth.Approver)
	has(true, "an approver")
	must(w, w.d.SetDisabled(w.root, "bob", true))
	has(false, "a disabled one")

	provider, err := auth.NewOIDC(auth.OIDCConfig{
		Issuer: "https://login.example", ClientID: "x", RedirectURL: "https://dlq.example/v1/session/oidc/callback",
		RolesClaim: "groups", Roles: map[string][]auth.Role{"leads": {auth.Viewer, auth.Approver}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.o.OIDC, w.o.Second = provider, auth.DefaultSecond
	w.open()
	has(true, "the provider's people")
	w.o.OIDC, w.o.Second = nil, auth.Second{}
	w.open()
	has(true, "the provider's people, by a command that does not know the provider")
	w.o.Second = auth.DefaultSecond
	w.open()
	has(false, "the provider is gone")
}

func TestAlone_IsInTheAuditLog(t *testing.T) {
	t.Parallel()
	w := setup(t)
	must(w, w.d.Alone(w.root, auth.RecordWithdraw))
	if got := w.last(); got != "approval_skip cli:root RECORD.WITHDRAW" {
		t.Error(got)
	}
}
