package api_test

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// ingest takes an 837 in and returns the records that were quarantined, oldest first.
func (w *world) ingest(o testclaims.Options, faults ...string) []claimdlq.Record {
	w.t.Helper()
	for _, f := range faults {
		x, err := testclaims.ParseFault(f)
		if err != nil {
			w.t.Fatal(err)
		}
		o.Faults = append(o.Faults, x)
	}
	o.Canary = true
	var b bytes.Buffer
	if _, err := testclaims.Generate(&b, o); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.app.Flow.Intake.File(w.t.Context(), claimdlq.System("intake"), "a.x12", &b); err != nil {
		w.t.Fatal(err)
	}
	rs, err := w.app.Store.List(w.t.Context(), store.Filter{State: claimdlq.StateQuarantined, Stream: claimdlq.StreamX12}, 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(rs)
	return rs
}

func (w *world) pay(as string, id claimdlq.ID, verb string, match, body any) answer {
	w.t.Helper()
	return w.do(call{as: as, method: http.MethodPost, path: path(id, verb), body: body, match: match, payload: true})
}

// with is a body with a reason and whatever else.
func with(pairs ...any) map[string]any {
	out := map[string]any{"reason": "TESTREASON"}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// entries counts the lines of the audit log with the action about the record.
func (w *world) entries(action string, id claimdlq.ID) int {
	w.t.Helper()
	a := w.get("ada", "/v1/audit?limit=1000&action="+action+"&record="+id.String()).want(http.StatusOK)
	return len(into[api.AuditPage](a).Entries)
}

func segment(t *testing.T, v api.ClaimView, id, first string) api.Segment {
	t.Helper()
	for _, s := range v.Segments {
		if s.ID == id && (first == "" || s.Elements[0].Value == first) {
			return s
		}
	}
	t.Fatalf("no %s %s in the view", id, first)
	return api.Segment{}
}

func TestView_NamesWhatAClaimHasAndWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("ada", everyone, auth.Admin)
	r := w.ingest(testclaims.Options{Claims: 3}, "sbr01-bad@1", "missing-hi@2")[1]
	v := into[api.ClaimView](w.pay("anna", r.ID, "view", nil, because).want(http.StatusOK))
	if !v.Readable || v.Total != len(v.Segments) || v.Next != nil || v.Delimiters == nil || v.Delimiters.Element != "*" {
		t.Errorf("%+v", v)
	}
	name := segment(t, v, "NM1", "IL")
	if name.Name != "Subscriber name" || name.Loop != "2010BA" || name.LoopName != "Subscriber" || name.Locked || name.Elements[2].Name != "Subscriber's last name" {
		t.Errorf("%+v", name)
	}
	if c := segment(t, v, "CLM", "").Elements[4]; len(c.Components) != 3 || c.Components[2].Name != "Frequency: original, replacement, void" {
		t.Errorf("%+v", c)
	}
	for _, id := range []string{"ISA", "GS", "ST", "SE", "GE", "IEA"} {
		if s := segment(t, v, id, ""); !s.Locked || !s.Elements[0].Locked {
			t.Errorf("%s can be edited", id)
		}
	}
	if !segment(t, v, "HL", "").Elements[0].Locked {
		t.Error("a counted number can be edited")
	}
	if len(v.Findings) != 1 || v.Findings[0].Code != "IK3:HI:3" || v.Findings[0].Meaning == "" || v.Findings[0].Number == 0 {
		t.Fatalf("%+v", v.Findings)
	}
	if s := v.Segments[v.Findings[0].Number-1]; !slices.Equal(s.Findings, []int{0}) || s.Number != v.Findings[0].Number {
		t.Errorf("%+v", s)
	}
	// Page by page, the same segments; each page is a look.
	var paged []api.Segment
	from, pages := 1, 0
	for {
		page := into[api.ClaimView](w.pay("anna", r.ID, "view", nil, with("from", from, "limit", 7)).want(http.StatusOK))
		paged, pages = append(paged, page.Segments...), pages+1
		if page.Next == nil {
			break
		}
		from = *page.Next
	}
	if len(paged) != v.Total || paged[len(paged)-1].ID != "IEA" {
		t.Errorf("%d of %d segments in pages", len(paged), v.Total)
	}
	if n := w.entries("reveal", r.ID); n != pages+1 {
		t.Errorf("%d looks are audited, want %d", n, pages+1)
	}
	m := into[api.FaultMap](w.get("anna", path(r.ID, "faults")).want(http.StatusOK))
	if len(m.Findings) != 1 || m.Findings[0].Loop != "2300" || m.Findings[0].SegmentName == "" {
		t.Errorf("%+v", m)
	}
	w.pay("ada", r.ID, "view", nil, because).want(http.StatusForbidden)
	w.pay("anna", r.ID, "view", nil, with("claim", 1)).want(http.StatusBadRequest)
}

func TestView_NamesWhatAPharmacyClaimHas(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1, "bad-money@1")[0]
	v := into[api.ClaimView](w.pay("anna", id, "view", nil, because).want(http.StatusOK))
	if !v.Readable || len(v.RxSegments) < 4 || v.RxSegments[0].Name != "Header" || !v.RxSegments[0].Locked {
		t.Fatalf("%+v", v)
	}
	seen := map[string]bool{}
	for _, s := range v.RxSegments {
		for _, f := range s.Fields {
			switch s.Segment + "-" + f.Field {
			case "07-D2":
				seen["locked"] = f.Locked
			case "07-D7":
				seen["named"] = f.Name == "407-D7 Product/Service ID" && !f.Locked
			case "11-DU":
				seen["decoded"] = strings.Contains(f.Meaning, ".")
			}
		}
		if s.Segment == "11" {
			seen["found"] = len(s.Findings) > 0 && v.Findings[s.Findings[0]].Field == "D9"
		}
	}
	for _, what := range []string{"locked", "named", "decoded", "found"} {
		if !seen[what] {
			t.Errorf("not %s: %+v", what, v)
		}
	}
	if m := into[api.FaultMap](w.get("anna", path(id, "faults")).want(http.StatusOK)); len(m.Findings) != 1 || m.Findings[0].FieldName != "409-D9 Ingredient Cost Submitted" {
		t.Errorf("%+v", m)
	}
}

func TestPropose_EditsShowFormsAndTheLookIsAuditedOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	w.user("ada", everyone, auth.Admin)
	r := w.ingest(testclaims.Options{Claims: 3}, "sbr01-bad@2")[0]
	v := into[api.ClaimView](w.pay("anna", r.ID, "view", nil, because).want(http.StatusOK))
	sbr, clm := segment(t, v, "SBR", "").Number, segment(t, v, "CLM", "").Number
	edits := func(es ...map[string]any) map[string]any { return with("edits", es) }
	fix := map[string]any{"op": "set", "segment": sbr, "element": 1, "value": "P"}
	before := w.entries("open", r.ID)
	for range 5 {
		p := into[api.Proposal](w.pay("anna", r.ID, "correct:propose", nil, edits(fix)).want(http.StatusOK))
		if !p.Clean || len(p.Differences) != 1 || !p.Masked || p.Differences[0].After != "A" || p.Differences[0].ElementName != "Payer's order of payment" || p.Differences[0].Loop != "2000B" {
			t.Fatalf("%+v", p)
		}
	}
	if n := w.entries("open", r.ID) - before; n != 0 { // the view's entry stands
		t.Errorf("five proposals behind a look made %d entries", n)
	}
	other := edits(fix)
	other["reason"] = "TESTOTHERREASON"
	for range 3 {
		w.pay("anna", r.ID, "correct:propose", nil, other).want(http.StatusOK)
	}
	if n := w.entries("open", r.ID) - before; n != 1 {
		t.Errorf("three proposals with another reason made %d entries", n)
	}
	name := map[string]any{"op": "set", "segment": clm, "element": 1, "value": "TESTPCN12"}
	masked := w.pay("anna", r.ID, "correct:propose", nil, edits(fix, name)).want(http.StatusOK)
	if p := into[api.Proposal](masked); strings.Contains(masked.body, "TESTPCN12") || len(p.Differences) != 2 || p.Differences[1].After != "AAAAAAA99" {
		t.Errorf("%s", masked.body)
	}
	reveals := w.entries("reveal", r.ID)
	shown := edits(fix, name)
	shown["reveal"] = true
	for range 2 {
		if a := w.pay("anna", r.ID, "correct:propose", nil, shown).want(http.StatusOK); !strings.Contains(a.body, "TESTPCN12") {
			t.Errorf("%s", a.body)
		}
	}
	if n := w.entries("reveal", r.ID) - reveals; n != 2 {
		t.Errorf("two looks at values made %d entries", n)
	}
	// Inserted and deleted segments keep the counts right and the numbers of the view.
	p := into[api.Proposal](w.pay("anna", r.ID, "correct:propose", nil, edits(
		map[string]any{"op": "insert", "segment": clm, "text": "REF*G1*TEST1"},
		fix,
		map[string]any{"op": "set", "segment": clm, "element": 5, "component": 3, "value": "1"},
	)).want(http.StatusOK))
	var kinds []string
	for _, d := range p.Differences {
		kinds = append(kinds, d.Segment+d.Element+" "+d.Kind)
	}
	if want := []string{"SBR01 changed", "REF added", "SE01 changed"}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	w.pay("anna", r.ID, "correct", r.Revision, edits(fix)).want(http.StatusOK)
	if now := w.rec(r.ID); now.PayloadRevision != r.PayloadRevision+1 || now.State != claimdlq.StateQuarantined {
		t.Errorf("%+v", now)
	}
}

func TestPropose_WhatIsLockedIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	r := w.ingest(testclaims.Options{Claims: 1}, "sbr01-bad@1")[0]
	rx := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	hl := segment(t, into[api.ClaimView](w.pay("anna", r.ID, "view", nil, because).want(http.StatusOK)), "HL", "").Number
	const mark = "TESTMARK"
	for _, c := range []struct {
		id     claimdlq.ID
		field  string
		edit   map[string]any
		status int
		want   string
	}{
		{r.ID, "edits", map[string]any{"op": "set", "segment": 1, "element": 6, "value": mark}, 422, "RULE:ENVELOPE_LOCKED"},
		{r.ID, "edits", map[string]any{"op": "delete", "segment": 2}, 422, "RULE:ENVELOPE_LOCKED"},
		{r.ID, "edits", map[string]any{"op": "insert", "segment": 3, "text": "SE*" + mark}, 422, "RULE:ENVELOPE_LOCKED"},
		{r.ID, "edits", map[string]any{"op": "insert", "segment": 4, "text": mark}, 400, "edit 1, segment 4"},
		{r.ID, "edits", map[string]any{"op": "set", "segment": hl, "element": 1, "value": mark}, 422, "HL-01"},
		{r.ID, "edits", map[string]any{"op": "set", "segment": 4, "element": 3, "value": mark + "*"}, 400, "BHT-03"},
		{r.ID, "edits", map[string]any{"op": "set", "segment": 9999, "element": 3, "value": mark}, 400, "segment 9999"},
		{r.ID, "rx_edits", map[string]any{"op": "set", "segment": "07", "field": "D7", "value": mark}, 400, "it is an interchange"},
		{rx, "edits", map[string]any{"op": "set", "segment": 1, "element": 1, "value": mark}, 400, "it is a pharmacy claim"},
		{rx, "rx_edits", map[string]any{"op": "set", "transaction": 1, "segment": "07", "field": "D2", "value": mark}, 422, "RULE:IDENTITY_LOCKED"},
		{rx, "rx_edits", map[string]any{"op": "set", "field": "B1", "value": mark}, 422, "RULE:IDENTITY_LOCKED"},
		{rx, "rx_edits", map[string]any{"op": "delete", "transaction": 1, "segment": "07"}, 422, "RULE:IDENTITY_LOCKED"},
		{rx, "rx_edits", map[string]any{"op": "set", "transaction": 1, "segment": "10", "field": "EF", "value": mark}, 400, "no such segment"},
	} {
		a := w.pay("anna", c.id, "correct:propose", nil, with(c.field, []any{c.edit})).want(c.status)
		if !strings.Contains(a.body, c.want) || strings.Contains(a.body, mark) {
			t.Errorf("%v: %s", c.edit, a.body)
		}
	}
	w.pay("anna", r.ID, "correct:propose", nil, with()).want(http.StatusBadRequest)
}

func TestPropose_EditsOfAPharmacyClaim(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	body := with("rx_edits", []any{
		map[string]any{"op": "set", "transaction": 1, "segment": "07", "field": "D7", "value": "99999000102"},
		map[string]any{"op": "insert", "transaction": 1, "segment": "17"},
		map[string]any{"op": "insert", "transaction": 1, "segment": "17", "field": "VE", "value": "1"},
		map[string]any{"op": "delete", "transaction": 1, "segment": "17"},
	})
	p := into[api.Proposal](w.pay("anna", id, "correct:propose", nil, body).want(http.StatusOK))
	if !p.Clean || len(p.Differences) != 1 || p.Differences[0].After != "99999999999" || p.Differences[0].FieldName != "407-D7 Product/Service ID" {
		t.Errorf("%+v", p)
	}
	w.pay("anna", id, "correct", 1, body).want(http.StatusOK)
}

// What no claim can be read from is not offered for correction: it would be refused.
func TestRecord_WhatCannotBeReadIsNotOfferedForCorrection(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("ana", []string{auth.AllPartners}, auth.Analyst)
	w.do(call{method: http.MethodPost, path: "/v1/claims", body: []byte("TEST no claim of any kind"), header: map[string]string{"Authorization": "Bearer " + sharedToken}}).want(http.StatusAccepted)
	held := into[struct{ Records []struct{ ID uint64 } }](w.get("ana", "/v1/records?state=quarantined").want(http.StatusOK))
	if len(held.Records) != 1 {
		t.Fatalf("%d are held", len(held.Records))
	}
	one := into[struct {
		Next []struct{ Action string } `json:"next"`
	}](w.get("ana", "/v1/records/"+strconv.FormatUint(held.Records[0].ID, 10)).want(http.StatusOK))
	var got []string
	for _, n := range one.Next {
		got = append(got, n.Action)
	}
	if !slices.Equal(got, []string{"park", "withdraw"}) {
		t.Errorf("offered: %v", got)
	}
}
