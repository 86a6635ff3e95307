package api_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

func TestAudit_IsReadInPagesAndVerified(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ada", everyone, auth.Admin)
	w.user("lara", []string{partnerA}, auth.Approver)
	mine := w.take(partnerA, 1, 3)
	theirs := w.take(partnerB, 100, 3)
	seen, cursor := map[uint64]bool{}, ""
	for range 100 {
		q := "/v1/audit?limit=2"
		if cursor != "" {
			q += "&cursor=" + cursor
		}
		page := into[api.AuditPage](w.get("ada", q).want(http.StatusOK))
		for _, e := range page.Entries {
			if seen[e.Seq] {
				t.Fatalf("entry %d twice", e.Seq)
			}
			seen[e.Seq] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) < 10 || !seen[1] {
		t.Errorf("%d entries were seen", len(seen))
	}
	only := into[api.AuditPage](w.get("ada", "/v1/audit?action=receive&record="+mine[0].String()).want(http.StatusOK))
	if len(only.Entries) != 1 || only.Entries[0].Record != uint64(mine[0]) {
		t.Errorf("%+v", only)
	}
	// One act on many records is one entry, found by each of them.
	_, err := w.app.Store.Commit(t.Context(), store.Batch{Entries: []claimdlq.Entry{
		{At: time.Now(), Actor: "ada", Action: claimdlq.ActReplay, Records: claimdlq.NewIDSet(slices.Values(mine[1:]))},
		{At: time.Now(), Actor: "ada", Action: claimdlq.ActReplay, Records: claimdlq.NewIDSet(slices.Values(theirs))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range mine {
		all := into[api.AuditPage](w.get("ada", "/v1/audit?action=replay&record="+id.String()).want(http.StatusOK)).Entries
		body := w.get("ada", "/v1/records/"+id.String()).want(http.StatusOK).body
		if want := min(i, 1); len(all) != want || strings.Count(body, `"action":"replay"`) != want {
			t.Errorf("record %d is in %+v and %s", i, all, body)
		}
	}
	ours := 0
	for _, e := range into[api.AuditPage](w.get("lara", "/v1/audit?action=replay").want(http.StatusOK)).Entries {
		if ours++; !claimdlq.IDSet(e.Records).Has(mine[1]) {
			t.Errorf("%+v is not about his partner", e)
		}
	}
	if ours != 1 {
		t.Errorf("%d acts on his partner's records", ours)
	}
	for _, e := range into[api.AuditPage](w.get("lara", "/v1/audit?limit=1000").want(http.StatusOK)).Entries {
		if e.Records == "" && (e.Record == 0 || e.Record > uint64(mine[2])) {
			t.Errorf("%+v is not about his partner", e)
		}
	}
	got := into[struct {
		Whole      bool
		Entries    uint64
		Signed     uint64
		Checkpoint string
	}](w.do(call{as: "ada", method: http.MethodPost, path: "/v1/audit/verify", body: map[string]any{}}).want(http.StatusOK))
	if !got.Whole || got.Entries == 0 || got.Signed == 0 {
		t.Errorf("%+v", got)
	}
	w.do(call{as: "ada", method: http.MethodPost, path: "/v1/audit/verify", body: map[string]any{"kept": got.Checkpoint}}).want(http.StatusOK)
	w.do(call{as: "ada", method: http.MethodPost, path: "/v1/audit/verify", body: map[string]any{"kept": "TEST"}}).want(http.StatusBadRequest)
}

func TestAlarms_AreSeenAndSilencedForAWhile(t *testing.T) {
	t.Parallel()
	w := setup(t)
	own := alert.Event{Status: alert.Firing, Alarm: alert.AlarmBreaker, Severity: alert.Page, Labels: alert.Labels{Stream: "ncpdp", Partner: partnerA}, StartsAt: time.Now()}
	all := alert.Event{Status: alert.Firing, Alarm: alert.AlarmDepth, Severity: alert.Ticket, Labels: alert.Labels{Stream: "ncpdp"}, StartsAt: time.Now()}
	w.alarms = []alert.Event{own, all}
	w.user("otto", everyone, auth.Operator)
	w.user("lara", []string{partnerA}, auth.Operator)
	w.user("vera", everyone, auth.Viewer)
	list := func(as string) []api.Alarm {
		return into[struct{ Alarms []api.Alarm }](w.get(as, "/v1/alarms").want(http.StatusOK)).Alarms
	}
	if n, m := len(list("otto")), len(list("lara")); n != 2 || m != 1 {
		t.Errorf("%d and %d alarms", n, m)
	}
	silence := func(as string, e alert.Event, minutes int) answer {
		return w.do(call{
			as: as, method: http.MethodPut, path: "/v1/alarms/" + e.Fingerprint() + "/silence",
			body: map[string]any{"reason": "TEST", "minutes": minutes},
		})
	}
	silence("vera", own, 5).want(http.StatusForbidden)
	silence("lara", all, 5).want(http.StatusNotFound)
	silence("lara", own, 5).want(http.StatusOK)
	if !w.options.Silences.Silenced(own) || w.options.Silences.Silenced(all) {
		t.Error("another alarm is silenced, or none")
	}
	if x := list("otto")[0].Silence; x == nil || x.By != "lara" || x.Reason != "TEST" {
		t.Errorf("%+v", x)
	}
	w.do(call{as: "otto", method: http.MethodDelete, path: "/v1/alarms/" + own.Fingerprint() + "/silence"}).want(http.StatusOK)
	if w.options.Silences.Silenced(own) {
		t.Error("it is still silenced")
	}
}

func TestSwitches_StopAndStartInSomebodysName(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("otto", everyone, auth.Operator)
	w.user("lara", []string{partnerA}, auth.Operator)
	w.user("ada", everyone, auth.Admin)
	turn := func(as, method, partner string) answer {
		return w.do(call{as: as, method: method, path: "/v1/switches/ncpdp", body: map[string]any{"reason": "TESTREASON", "partner": partner}})
	}
	w.take(partnerA, 1, 1)
	w.take(partnerB, 1, 1)
	turn("lara", http.MethodPut, "").want(http.StatusNotFound)
	turn("lara", http.MethodPut, partnerB).want(http.StatusNotFound)
	turn("lara", http.MethodPut, partnerA).want(http.StatusOK)
	turn("otto", http.MethodPut, partnerB).want(http.StatusOK)
	if a := w.get("lara", "/v1/switches").want(http.StatusOK); !strings.Contains(a.body, partnerA) || strings.Contains(a.body, partnerB) {
		t.Errorf("%s", a.body)
	}
	turn("otto", http.MethodDelete, partnerA).want(http.StatusOK)
	if s := w.app.Flow.Attempt.Stopped(); len(s) != 1 || s[0].Partner != partnerB {
		t.Errorf("%+v", s)
	}
	if a := w.get("ada", "/v1/audit?action=setting").want(http.StatusOK); strings.Count(a.body, "TESTREASON") != 3 || !strings.Contains(a.body, `"actor":"lara"`) {
		t.Errorf("%s", a.body)
	}
}

// A name that nobody has is a slip of the pen: the partner who was meant would go on.
func TestSwitches_ANameThatNobodyHasIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("otto", everyone, auth.Operator)
	w.take(partnerA, 1, 1)
	turn := func(method string, partner string, more ...any) answer {
		return w.do(call{as: "otto", method: method, path: "/v1/switches/ncpdp", body: with(append([]any{"partner", partner}, more...)...)})
	}
	for _, typo := range []string{"99999:TESTPCN", "999999:TESTPC", "999999:", "TESTPCN", "999998"} {
		if a := turn(http.MethodPut, typo).want(http.StatusUnprocessableEntity); !strings.Contains(a.body, "/v1/partners") || !strings.Contains(a.body, "unseen") {
			t.Errorf("%s: no way on: %s", typo, a.body)
		}
	}
	if s := w.app.Flow.Attempt.Stopped(); len(s) != 0 {
		t.Errorf("%+v", s)
	}
	turn(http.MethodPut, partnerA).want(http.StatusOK)
	turn(http.MethodPut, "999999").want(http.StatusOK) // all of the BIN
	turn(http.MethodPut, "777777:NEW", "unseen", true).want(http.StatusOK)
	turn(http.MethodPut, "777777:NEW").want(http.StatusOK) // it is stopped already
	turn(http.MethodDelete, "777777:NEW").want(http.StatusOK)
	if s := w.app.Flow.Attempt.Stopped(); len(s) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestSizing_LearnsFromTheHistory(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	w.user("lara", []string{partnerA}, auth.Viewer)
	size := func(as string, body map[string]any) answer {
		return w.do(call{as: as, method: http.MethodPost, path: "/v1/sizing", body: body})
	}
	size("vera", map[string]any{"learn": true}).want(http.StatusBadRequest) // there is no history
	w.take(partnerA, 1, 20, "missing-ndc@1,2")
	w.take(partnerB, 1, 10)
	got := into[struct{ Learned struct{ Claims int64 } }](size("vera", map[string]any{"learn": true}).want(http.StatusOK))
	if got.Learned.Claims != 30 {
		t.Errorf("%+v", got)
	}
	said := size("vera", map[string]any{"learn": true, "rate": "400/s"}).want(http.StatusOK)
	if !strings.Contains(said.body, `"learned"`) {
		t.Errorf("%s", said.body)
	}
	size("lara", map[string]any{"learn": true, "rate": "400/s"}).want(http.StatusNotFound) // others' claims are in it
	size("lara", map[string]any{"rate": "400/s"}).want(http.StatusOK)
}

func TestSizing_AnswersAndRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	size := func(body map[string]any) answer {
		return w.do(call{as: "vera", method: http.MethodPost, path: "/v1/sizing", body: body})
	}
	if a := size(map[string]any{"rate": "400/s"}).want(http.StatusOK); !strings.Contains(a.body, `"survives"`) || !strings.Contains(a.body, `"enough"`) {
		t.Errorf("%s", a.body)
	}
	size(map[string]any{"rate": "lots"}).want(http.StatusBadRequest)
	size(map[string]any{}).want(http.StatusBadRequest)
}

func TestUsers_AreMadeChangedAndDisabledByAnAdmin(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ada", everyone, auth.Admin)
	body := map[string]any{"login": "newcomer", "password": password, "roles": []string{"viewer"}, "partners": everyone}
	made := into[api.User](w.do(call{as: "ada", method: http.MethodPost, path: "/v1/users", body: body}).want(http.StatusCreated))
	w.do(call{as: "ada", method: http.MethodPost, path: "/v1/users", body: body}).want(http.StatusConflict)
	set := func(rev uint64) answer {
		return w.do(call{
			as: "ada", method: http.MethodPut, path: "/v1/users/newcomer/access", match: rev,
			body: map[string]any{"roles": []string{"operator"}, "partners": []string{partnerA}},
		})
	}
	set(made.Revision + 1).want(http.StatusPreconditionFailed)
	if a := set(made.Revision).want(http.StatusOK); into[api.User](a).Roles[0] != auth.Operator || a.header.Get("ETag") == `"`+strconv.FormatUint(made.Revision, 10)+`"` {
		t.Errorf("%s", a.body)
	}
	w.do(call{as: "ada", method: http.MethodPut, path: "/v1/users/newcomer/disabled", body: map[string]any{"disabled": true}}).want(http.StatusOK)
	w.do(call{method: http.MethodPost, path: "/v1/session", body: map[string]any{"login": "newcomer", "password": password}}).want(http.StatusUnauthorized)
	if a := w.get("ada", "/v1/audit?limit=1000"); strings.Contains(a.body, password) {
		t.Error("a password is in the audit log")
	}
}
