package auth_test

import (
	"slices"
	"strings"
	"testing"

	"claimdlq/internal/auth"
)

// matrix says who may do what, written apart from the table: v viewer, o operator, a
// analyst, p approver, d admin; after the slash t for what a token may do, r for what
// needs a reason.
var matrix = map[auth.Permission]string{
	"records.read":       "voapd/t",
	"groups.read":        "voapd/t",
	"metrics.read":       "voapd/t",
	"sizing.read":        "voapd/t",
	"audit.read":         "pd/t",
	"audit.verify":       "opd/t",
	"claims.intake":      "o/t",
	"deadletters.intake": "o/t",
	"acks.intake":        "o/t",
	"payload.reveal":     "a/r",
	"payload.breakglass": "opd/r",
	"record.correct":     "a/r",
	"record.park":        "oa/tr",
	"record.unpark":      "oa/tr",
	"record.withdraw":    "a/tr",
	"record.resolve":     "a/r",
	"record.inquire":     "oa/t",
	"record.approve":     "p/",
	"replay.plan":        "oa/t",
	"replay.run":         "oa/t",
	"replay.approve":     "p/",
	"switches.set":       "o/tr",
	"alarms.ack":         "oa/t",
	"users.admin":        "d/",
	"keys.admin":         "d/",
}

var initials = map[auth.Role]string{auth.Viewer: "v", auth.Operator: "o", auth.Analyst: "a", auth.Approver: "p", auth.Admin: "d"}

// 43, F43: the whole matrix, by the ways people and programs come in.
func TestMay_WalksTheWholeMatrix(t *testing.T) {
	t.Parallel()
	if len(matrix) != len(auth.Permissions()) || len(initials) != len(auth.Roles) {
		t.Fatal("the matrix of the test is not that of the table")
	}
	for _, role := range auth.Roles {
		w := setup(t)
		w.user("ana", role)
		_, p := w.signIn("ana")
		for perm, want := range matrix {
			who, how, _ := strings.Cut(want, "/")
			allowed := strings.Contains(who, initials[role])
			if got := p.For("TEST").May(perm, "610097:PCN"); (got == nil) != allowed {
				t.Errorf("%s %s: %v", role, perm, got)
			}
			if got := p.May(perm, ""); (got == nil) != (allowed && !strings.Contains(how, "r")) {
				t.Errorf("%s %s without a reason: %v", role, perm, got)
			}
			if got := perm.Roles(); slices.Contains(got, role) != allowed {
				t.Errorf("%s has the roles %v", perm, got)
			}
			if slices.Contains(p.Permissions(), perm) != allowed {
				t.Errorf("%s lists %v", role, p.Permissions())
			}
			made, err := do(w, w.d.CreateToken(p, auth.NewToken{Owner: "ana", Name: "TEST", Permissions: []auth.Permission{perm}, Partners: []string{"*"}}))
			if byToken := strings.Contains(how, "t"); (err == nil) != byToken {
				t.Errorf("a token for %s: %v", perm, err)
			} else if byToken {
				r := newBrowser(w).get()
				r.Header.Set("Authorization", "Bearer "+made.Text.Reveal())
				tp, err := w.d.Authenticate(r)
				if err != nil {
					t.Fatal(err)
				}
				if got := tp.For("TEST").May(perm, "610097:PCN"); (got == nil) != allowed {
					t.Errorf("token of %s %s: %v", role, perm, got)
				}
			}
		}
	}
}

func TestMay_WhatIsNotInTheTableIsNobodys(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", auth.Roles...)
	_, p := w.signIn("ana")
	for _, perm := range []auth.Permission{"", "records", "records.read ", "RECORDS.READ", "records.write", "*"} {
		is(t, string(perm), p.For("TEST").May(perm, "610097:PCN"), auth.ErrForbidden)
		is(t, "root "+string(perm), w.root.May(perm, ""), auth.ErrForbidden)
	}
	for _, perm := range auth.Permissions() {
		is(t, "the zero principal", auth.Principal{}.For("TEST").May(perm, ""), auth.ErrUnauthenticated)
		is(t, "a principal without a grant", auth.Principal{Actor: "eve", Source: auth.FromSession, Roles: auth.Roles, Partners: []string{"*"}}.For("TEST").May(perm, ""), auth.ErrForbidden)
	}
}

func TestMay_RolesAddUpAndNoRoleIsNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("both", auth.Viewer, auth.Approver)
	w.user("none")
	_, p := w.signIn("both")
	is(t, "viewer and approver", p.May(auth.ReplayApprove, ""), nil)
	is(t, "viewer and approver", p.May(auth.ReplayRun, ""), auth.ErrForbidden)
	_, p = w.signIn("none")
	if got := p.Permissions(); len(got) != 0 {
		t.Errorf("without a role: %v", got)
	}
}

func TestMay_IsLimitedToPartners(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.limited("ana", []string{"610097", "ZZ:RECEIVER1", "0151*"}, auth.Analyst, auth.Operator)
	_, p := w.signIn("ana")
	for partner, want := range map[string]error{
		"610097": nil, "610097:PCN": nil, "ZZ:RECEIVER1": nil, "015199:A": nil,
		"61009": auth.ErrPartner, "6100970:PCN": auth.ErrPartner, "ZZ:RECEIVER": auth.ErrPartner, "ZZ:RECEIVER11": auth.ErrPartner,
		"zz:RECEIVER1": auth.ErrPartner, "015:A": auth.ErrPartner, "": auth.ErrPartner, "*": auth.ErrPartner,
	} {
		is(t, partner, p.May(auth.RecordsRead, partner), want)
		if p.Covers(partner) != (want == nil) {
			t.Errorf("covers %q", partner)
		}
	}
	is(t, "some", p.MaySome(auth.RecordsRead), nil)
	is(t, "what is about no partner", p.May(auth.SizingRead, ""), nil)
	w.limited("nowhere", nil, auth.Analyst)
	_, p = w.signIn("nowhere")
	is(t, "no partner", p.May(auth.RecordsRead, "610097:PCN"), auth.ErrPartner)
	w.limited("half", []string{"610097"}, auth.Admin)
	_, p = w.signIn("half")
	if _, err := w.d.Users(p); err == nil {
		t.Error("an admin of one partner administers users")
	}
}

func TestCovers_KnowsThreePatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, partner string
		want             bool
	}{
		{"*", "", true},
		{"*", "A:B", true},
		{"A*", "", false},
		{"A*", "A", true},
		{"A:*", "A:B", true},
		{"A:*", "AB:B", false},
		{"A", "A:B", true},
		{"A", "AB:B", false},
		{"A:B", "A:B", true},
		{"A:B", "A:BC", false},
		{"A:B", "A", false},
		{"", "", false},
		{"", "A", false},
	} {
		if got := auth.Covers([]string{c.pattern}, c.partner); got != c.want {
			t.Errorf("%q of %q: %v", c.partner, c.pattern, got)
		}
	}
	for _, bad := range []string{"", "**", "*A", "A*B", "A|B", "é", "A\x00", strings.Repeat("A", 41)} {
		if auth.CheckPatterns([]string{bad}) == "" {
			t.Errorf("%q is a pattern", bad)
		}
	}
	if hint := auth.CheckPatterns([]string{"*", "610097", "ZZ:RECEIVER 1", "01:*"}); hint != "" {
		t.Error(hint)
	}
}

// 43: separation: no payload by role for an admin, only behind glass.
func TestRoles_OnlyAnAnalystHasPayloads(t *testing.T) {
	t.Parallel()
	for _, perm := range []auth.Permission{auth.PayloadReveal, auth.RecordCorrect} {
		if got := perm.Roles(); !slices.Equal(got, []auth.Role{auth.Analyst}) || !perm.PeopleOnly() || !perm.NeedsReason() {
			t.Errorf("%s: %v", perm, got)
		}
	}
	for _, perm := range auth.Permissions() {
		second := perm.Second()
		if second == "" {
			continue
		}
		if second.Second() != "" || !second.PeopleOnly() || !second.Known() {
			t.Errorf("%s is approved by %s", perm, second)
		}
		for _, r := range perm.Roles() {
			if slices.Contains(second.Roles(), r) {
				t.Errorf("%s does and approves %s", r, perm)
			}
		}
	}
	for perm, second := range map[auth.Permission]auth.Permission{
		auth.RecordUnpark: auth.RecordApprove, auth.RecordWithdraw: auth.RecordApprove, auth.ReplayRun: auth.ReplayApprove, auth.RecordPark: "", "x": "",
	} {
		if perm.Second() != second {
			t.Errorf("%s: %q", perm, perm.Second())
		}
	}
}
