package api_test

import (
	"net/http"
	"strings"
	"testing"

	"claimdlq/alert"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
)

// Who is limited to a partner sees what rings for a stream in which she has records, with
// her own figures and nothing of anybody else.
func TestAlarms_OfAStreamAreSeenByWhoHasAShareInIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("bea", []string{partnerB}, auth.Analyst, auth.Operator)
	w.user("lone", []string{"777777:TESTNONE"}, auth.Analyst)
	w.user("anna", everyone, auth.Analyst)
	w.take(partnerA, 1, 3, "missing-ndc@1,2,3")
	w.take(partnerB, 100, 2, "missing-ndc@1,2")
	rings := func(alarm string, l alert.Labels) alert.Event {
		return alert.Event{Status: alert.Firing, Alarm: alarm, Severity: alert.Page, Labels: l, Value: 98761, Threshold: 98762, Peak: 98763, Summary: "98764 records of " + partnerA}
	}
	w.alarms = []alert.Event{
		rings(alert.AlarmBreaker, alert.Labels{Stream: "ncpdp", Partner: partnerA}),
		rings(alert.AlarmDepth, alert.Labels{Stream: "ncpdp"}),
		rings(alert.AlarmSpike, alert.Labels{Stream: "ncpdp", Reason: "RETRIES_EXHAUSTED"}),
		rings(alert.AlarmDepth, alert.Labels{Stream: "837"}),
		rings(alert.AlarmParked, alert.Labels{Stream: "ncpdp"}),
		rings(alert.AlarmFigures, alert.Labels{}),
	}
	for who, want := range map[string]int{"bea": 1, "lone": 0, "anna": 6} {
		got := w.get(who, "/v1/alarms").want(http.StatusOK)
		if n := len(into[struct{ Alarms []api.Alarm }](got).Alarms); n != want {
			t.Errorf("%s sees %d, want %d: %s", who, n, want, got.body)
		}
		if o := into[api.Overview](w.get(who, "/v1/overview").want(http.StatusOK)); o.Alarms != want {
			t.Errorf("%s counts %d, want %d", who, o.Alarms, want)
		}
		if who != "anna" && (strings.Contains(got.body, "9876") || strings.Contains(got.body, partnerA)) {
			t.Errorf("%s sees what is another's: %s", who, got.body)
		}
	}
	got := into[struct{ Alarms []api.Alarm }](w.get("bea", "/v1/alarms")).Alarms[0]
	if got.Value != 2 || !strings.Contains(got.Summary, "2") || got.Alarm != alert.AlarmDepth {
		t.Errorf("%+v", got)
	}
	w.do(call{as: "bea", method: http.MethodPut, path: "/v1/alarms/" + got.Fingerprint + "/silence", body: map[string]any{"reason": "TEST", "minutes": 5}}).want(http.StatusNotFound)
}
