package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/testclaims"
)

var everyone = []string{auth.AllPartners}

func TestRecords_AreListedGroupedAndExplainedWithoutPHI(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	ids := w.take(partnerA, 1, 5, "missing-ndc@1,2,3")
	w.take(partnerB, 100, 1, "missing-ndc@1")

	page := into[api.RecordPage](w.get("vera", "/v1/records?state=quarantined").want(http.StatusOK))
	if len(page.Records) != 4 || page.Total == nil || *page.Total != 4 || page.NextCursor != "" {
		t.Fatalf("%+v", page)
	}
	groups := into[api.GroupList](w.get("vera", "/v1/groups").want(http.StatusOK))
	if groups.Records != 6 || groups.Groups[0].Records != 3 || groups.Groups[0].Partner != partnerA || groups.Groups[0].Meaning == "" {
		t.Errorf("%+v", groups)
	}
	a := w.get("vera", path(ids[0], "")).want(http.StatusOK)
	got := into[api.RecordDetails](a)
	if got.Record.State != "quarantined" || got.Outlook == "" || got.Meaning == "" || len(got.Timeline.Entries) == 0 || len(got.Next) == 0 || got.Next[0].Allowed {
		t.Errorf("%s", a.body)
	}
	if want, err := w.app.Timeline(t.Context(), w.rec(ids[0]), audit.Bound{}); err != nil || len(want.Entries) != len(got.Timeline.Entries) || !got.Timeline.Whole {
		t.Errorf("%d entries, want %d (%v)", len(got.Timeline.Entries), len(want.Entries), err)
	}
	failed := *got.Record.FirstFailedAt
	if l := got.Limits; l.MaxReceive != 5 || l.Replays != 3 || l.ParksAt == nil || !l.ParksAt.Equal(failed.Add(14*24*time.Hour)) {
		t.Errorf("%+v", l)
	}
	if last := got.Timeline.Entries[len(got.Timeline.Entries)-1]; last.Detail == "" || last.Meaning == "" {
		t.Errorf("%+v", last)
	}
	if a.header.Get("ETag") != `"1"` {
		t.Errorf("ETag %s", a.header.Get("ETag"))
	}
	w.do(call{as: "vera", method: http.MethodGet, path: path(ids[0], ""), header: map[string]string{"If-None-Match": `"1"`}}).want(http.StatusNotModified)
	w.get("vera", "/v1/records/999").want(http.StatusNotFound)
	for _, mark := range testclaims.RxMarks(testclaims.RxOptions{}) {
		if strings.Contains(a.body, mark) {
			t.Error("a value of the claim is in the answer")
		}
	}
}

func TestRecords_PagesMeetEveryRecordOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	w.user("lara", []string{partnerA}, auth.Viewer)
	want := map[string]int{"vera": 23, "lara": 13}
	w.take(partnerA, 1, 13, "missing-ndc@1,2,3")
	w.take(partnerB, 100, 10)
	for as, n := range want {
		seen, cursor := map[uint64]bool{}, ""
		for range 50 {
			q := "/v1/records?limit=3"
			if cursor != "" {
				q += "&cursor=" + cursor
			}
			page := into[api.RecordPage](w.get(as, q).want(http.StatusOK))
			for _, r := range page.Records {
				if seen[r.ID] {
					t.Fatalf("%s sees record %d twice", as, r.ID)
				}
				seen[r.ID] = true
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if len(seen) != n {
			t.Errorf("%s sees %d records, want %d", as, len(seen), n)
		}
	}
}

func TestRecords_AreFilteredByAmountRuleAndAge(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	ids := w.take(partnerA, 1, 6)
	r := w.rec(ids[0])
	for q, want := range map[string]bool{
		fmt.Sprintf("amount_min_cents=%d&amount_max_cents=%d", r.AmountCents, r.AmountCents): true,
		fmt.Sprintf("amount_min_cents=%d", int64(1)<<50):                                     false,
		"rule_version=" + url.QueryEscape(r.RuleVersion):                                     true,
		"rule_version=NONE":         false,
		"older_than=36h":            false,
		"older_than=0s":             true,
		"stream=ncpdp&format=ncpdp": true,
		"stream=837":                false,
	} {
		page := into[api.RecordPage](w.get("vera", "/v1/records?"+q).want(http.StatusOK))
		found := false
		for _, x := range page.Records {
			found = found || x.ID == uint64(r.ID)
		}
		if found != want {
			t.Errorf("%s: found %v, want %v", q, found, want)
		}
	}
}

// 28, F: who is limited to a partner sees nothing of another, by no way.
func TestScope_AnotherPartnersThingsDoNotExist(t *testing.T) {
	t.Parallel()
	w := setup(t, func(o *api.Options) { o.Rates = func() *api.Rates { return &api.Rates{Received: 7} } })
	w.user("lara", []string{partnerA}, auth.Viewer, auth.Operator, auth.Analyst)
	mine, other := w.take(partnerA, 1, 1, "missing-ndc@1")[0], w.take(partnerB, 100, 1, "missing-ndc@1")[0]
	w.get("lara", path(mine, "")).want(http.StatusOK)
	if a := w.get("lara", path(other, "")); a.status != http.StatusNotFound || strings.Replace(a.body, other.String(), "N", 1) != strings.Replace(w.get("lara", "/v1/records/999").body, "999", "N", 1) {
		t.Errorf("%d %s: tells that it exists", a.status, a.body)
	}
	because := map[string]any{"reason": "TEST"}
	for _, verb := range []string{"park", "unpark", "withdraw", "replay", "inquire", "unpark:ask"} {
		w.do(call{as: "lara", method: http.MethodPost, path: path(other, verb), body: because, match: 1}).want(http.StatusNotFound)
	}
	w.do(call{as: "lara", method: http.MethodPost, path: path(other, "reveal"), body: because, payload: true}).want(http.StatusNotFound)
	if w.rec(other).Revision != 1 {
		t.Error("the other partner's record has moved")
	}
	for _, p := range []string{"/v1/records", "/v1/groups", "/v1/overview", "/v1/records?partner=" + partnerB, "/v1/groups?partner=" + partnerB} {
		if a := w.get("lara", p).want(http.StatusOK); strings.Contains(a.body, partnerB) {
			t.Errorf("%s shows it: %s", p, a.body)
		}
	}
	o := into[api.Overview](w.get("lara", "/v1/overview"))
	if o.All || o.Rates != nil || o.Conservation != nil || o.States["quarantined"].Records != 1 {
		t.Errorf("%+v", o)
	}
	plan := map[string]any{"reason": "TEST", "filter": map[string]any{}}
	w.do(call{as: "lara", method: http.MethodPost, path: "/v1/replays", body: plan}).want(http.StatusNotFound)
	plan = map[string]any{"reason": "TEST", "ids": []claimdlq.ID{mine, other}}
	w.do(call{as: "lara", method: http.MethodPost, path: "/v1/replays", body: plan}).want(http.StatusNotFound)
}

func TestOverview_SaysWhatNeedsMe(t *testing.T) {
	t.Parallel()
	rates := api.Rates{Received: 120, DeadLettered: []api.DeadLetters{{Stream: "837", Rise: 3, Alarm: 300}, {Stream: "ncpdp"}}}
	w := setup(t, func(o *api.Options) { o.Rates = func() *api.Rates { return &rates } })
	w.user("anna", everyone, auth.Analyst)
	w.user("vera", everyone, auth.Viewer)
	w.take(partnerA, 1, 3, "missing-ndc@1,2")
	o := into[api.Overview](w.get("anna", "/v1/overview").want(http.StatusOK))
	if o.States["quarantined"].Records != 2 || o.ByReason["FATAL_SYNTAX"] != 2 || o.Conservation == nil || o.Conservation.Difference != 0 || o.Conservation.Received != 3 {
		t.Errorf("%+v", o)
	}
	if len(o.ByReason) != len(claimdlq.Reasons) {
		t.Errorf("by reason: %v", o.ByReason)
	}
	if o.Rates == nil || !reflect.DeepEqual(*o.Rates, rates) {
		t.Errorf("rates: %+v", o.Rates)
	}
	if len(o.NeedsMe) != 1 || o.NeedsMe[0].What != "quarantined" || o.NeedsMe[0].Count != 2 {
		t.Errorf("%+v", o.NeedsMe)
	}
	if v := into[api.Overview](w.get("vera", "/v1/overview")); len(v.NeedsMe) != 0 {
		t.Errorf("a viewer needs do nothing: %+v", v.NeedsMe)
	}
}

func TestRecords_AreFoundByTheirKeyAndPartner(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	w.user("lara", []string{partnerA}, auth.Viewer)
	mine := w.take(partnerA, 1, 2, "missing-ndc@1")[0]
	theirs := w.take(partnerB, 100, 1, "missing-ndc@1")[0]
	claim := w.ingest(testclaims.Options{Claims: 3}, "sbr01-bad@2")[0]
	find := func(as, key string) []api.Record {
		return into[api.RecordPage](w.get(as, "/v1/records?key="+escaped(key)).want(http.StatusOK)).Records
	}
	if rs := find("vera", w.rec(mine).DisplayKey()); len(rs) != 1 || rs[0].ID != uint64(mine) {
		t.Errorf("%+v", rs)
	}
	if rs := find("lara", w.rec(theirs).DisplayKey()); len(rs) != 0 {
		t.Errorf("%+v", rs)
	}
	if rs := find("vera", claim.DisplayKey()); len(rs) != 2 { // the set, and the claim that parted
		t.Errorf("%+v", rs)
	}
	if rs := find("vera", claim.DisplayKey()+":2"); len(rs) != 1 || rs[0].ID != uint64(claim.ID) {
		t.Errorf("%+v", rs)
	}
	w.get("vera", "/v1/records?key=1%3A2%3Ax").want(http.StatusBadRequest)
	type list struct{ Partners []api.Partner }
	if ps := into[list](w.get("vera", "/v1/partners").want(http.StatusOK)).Partners; len(ps) != 3 || ps[0].Quarantined != 1 {
		t.Errorf("%+v", ps)
	}
	if ps := into[list](w.get("lara", "/v1/partners").want(http.StatusOK)).Partners; len(ps) != 1 || ps[0].Partner != partnerA || ps[0].Records != 2 {
		t.Errorf("%+v", ps)
	}
}

func TestSizing_IsDrawn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	a := w.do(call{as: "vera", method: http.MethodPost, path: "/v1/sizing/plot", body: map[string]any{"rate": "40/s"}}).want(http.StatusOK)
	if a.header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(a.body, "<svg") {
		t.Errorf("%s %.200s", a.header.Get("Content-Type"), a.body)
	}
}
