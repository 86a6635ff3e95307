package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
)

// hold makes a queued record wait.
func (w *world) hold(id claimdlq.ID, h claimdlq.Hold) {
	w.t.Helper()
	n, err := w.rec(id).Held(h, time.Now())
	if err == nil {
		_, err = w.app.Store.Commit(w.t.Context(), store.Batch{Update: []claimdlq.Record{n}})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// reversal takes the reversal of a partner's nth claim in.
func (w *world) reversal(partner string, n int) claimdlq.ID {
	w.t.Helper()
	bin, pcn, _ := strings.Cut(partner, ":")
	var id claimdlq.ID
	_, err := testclaims.EachRx(testclaims.RxOptions{Claims: 1, FirstClaim: n, Seed: uint64(n), BIN: bin, PCN: pcn, Code: "B2", Canary: true}, func(_ int, b []byte) error {
		res, err := w.app.Flow.Intake.Message(w.t.Context(), claimdlq.System("intake"), phi.Wrap(b), intake.MessageOptions{})
		id = res.Records[0].ID
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func TestRecords_AreListedByWhatHoldsThem(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("lara", []string{partnerB}, auth.Viewer)
	a, b := w.take(partnerA, 1, 4), w.take(partnerB, 100, 1)
	w.take(partnerA, 200, 1, "missing-ndc@1")
	w.hold(a[1], claimdlq.HoldTarget)
	w.hold(a[2], claimdlq.HoldStopped)
	w.hold(b[0], claimdlq.HoldTarget)
	list := func(as, query string) []claimdlq.ID {
		t.Helper()
		var out []claimdlq.ID
		for _, r := range into[api.RecordPage](w.get(as, "/v1/records?"+query).want(http.StatusOK)).Records {
			out = append(out, claimdlq.ID(r.ID))
		}
		return out
	}
	for _, c := range []struct {
		as, query string
		want      []claimdlq.ID
	}{
		{"anna", "hold=target", []claimdlq.ID{b[0], a[1]}},
		{"anna", "hold=target&state=queued&partner=" + partnerA, []claimdlq.ID{a[1]}},
		{"anna", "hold=stopped", []claimdlq.ID{a[2]}},
		{"anna", "hold=lineage", nil},
		{"anna", "hold=target&state=quarantined", nil},
		{"anna", "hold=target&older_than=1h", nil},
		{"lara", "hold=target", []claimdlq.ID{b[0]}},
		{"lara", "hold=stopped", nil},
	} {
		if got := list(c.as, c.query); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.as, c.query, got, c.want)
		}
	}
	gs := into[api.GroupList](w.get("anna", "/v1/groups?hold=target").want(http.StatusOK))
	if gs.Records != 2 {
		t.Errorf("groups: %+v", gs)
	}
	w.get("anna", "/v1/records?hold=intake").want(http.StatusBadRequest)
}

func TestRecord_SaysWhatItWaitsForAndWhatEndsIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	ids := w.take(partnerA, 1, 4)
	back := w.reversal(partnerA, 1)
	if w.rec(back).Hold != claimdlq.HoldLineage {
		t.Fatalf("%+v", w.rec(back))
	}
	outlook := func(id claimdlq.ID) string {
		t.Helper()
		return into[api.RecordDetails](w.get("anna", path(id, "")).want(http.StatusOK)).Outlook
	}
	want := func(id claimdlq.ID, parts ...string) {
		t.Helper()
		got := outlook(id)
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("no %q in: %s", p, got)
			}
		}
	}
	want(back, "record "+ids[0].String(), "queued", "settled")
	w.hold(ids[1], claimdlq.HoldTarget)
	want(ids[1], "no target", partnerA, "configuration")
	w.hold(ids[2], claimdlq.HoldStopped)
	want(ids[2], "stopped", "started again")
	w.hold(ids[3], claimdlq.HoldBreaker)
	want(ids[3], "breaker", "by itself")
}
