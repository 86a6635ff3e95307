package serve_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq/alert"
	"claimdlq/internal/auth"
	"claimdlq/internal/serve"
)

// ear hears alarms.
type ear struct {
	mu    sync.Mutex
	heard []alert.Event
	looks int
}

func (e *ear) Send(events []alert.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard, e.looks = append(e.heard, events...), e.looks+1
}

func (e *ear) Run(ctx context.Context) { <-ctx.Done() }
func (e *ear) Idle() bool              { return true }

// looked waits until the figures were looked at twice more: once may be under way.
func (e *ear) looked(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	from := e.looks
	e.mu.Unlock()
	e.until(t, func() bool { return e.looks >= from+2 })
}

func (e *ear) until(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		e.mu.Lock()
		ok := so()
		e.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("heard %+v", e.heard)
		}
	}
}

// said is what was heard, such as "+held" for an alarm that began and "-held" for its end.
func (e *ear) said() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, ev := range e.heard {
		out = append(out, map[alert.Status]string{alert.Firing: "+", alert.Resolved: "-"}[ev.Status]+ev.Alarm)
	}
	return strings.Join(out, " ")
}

// rules are of quarantine: a page, and a ticket.
var rules = []alert.Rule{
	{Name: "held", Severity: alert.Page, Metric: alert.MetricDepth, Test: alert.AtLeast, Threshold: 1, Summary: "s", Runbook: "r", Console: "/groups?stream={stream}"},
	{Name: "held_long", Severity: alert.Ticket, Metric: alert.MetricDepth, Test: alert.AtLeast, Threshold: 1, Summary: "s", Runbook: "r", Console: "/"},
}

func hear(all, pages *ear) func(*serve.Setup) {
	return func(s *serve.Setup) {
		s.Rules, s.Every = rules, 2*time.Millisecond
		s.Receivers = []serve.Receiver{{Name: "all", Sender: all}, {Name: "pages", Sender: pages, Severities: []alert.Severity{alert.Page}}}
	}
}

func TestAlarms_EachReceiverHearsItsSeveritiesOnceOverRestarts(t *testing.T) {
	t.Parallel()
	all, pages := &ear{}, &ear{}
	w := start(t, hear(all, pages))
	w.do(http.MethodPost, "/v1/claims", strings.NewReader("not a claim")) // quarantined
	all.until(t, func() bool { return len(all.heard) == 2 })
	pages.until(t, func() bool { return len(pages.heard) == 1 })
	pages.looked(t)
	if all.said() != "+held +held_long" || pages.said() != "+held" || pages.heard[0].Console != "/groups?stream=ncpdp" && pages.heard[0].Console != "/groups?stream=837" {
		t.Errorf("all: %s, pages: %s (%+v)", all.said(), pages.said(), pages.heard)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	all, pages = &ear{}, &ear{}
	w.serve(hear(all, pages))
	pages.looked(t)
	if all.said()+pages.said() != "" {
		t.Errorf("after a restart it rings anew: %s, %s", all.said(), pages.said())
	}
	if got := w.activeAlarms(); len(got) != 2 || got[0].StartsAt.IsZero() {
		t.Errorf("%+v", got)
	}
}

type alarmJSON struct {
	Fingerprint string    `json:"fingerprint"`
	Alarm       string    `json:"alarm"`
	Cause       string    `json:"cause"`
	StartsAt    time.Time `json:"starts_at"`
}

func (w *world) activeAlarms() []alarmJSON {
	w.t.Helper()
	status, body := w.do(http.MethodGet, "/v1/alarms", nil, "Authorization", w.account(auth.Operator, auth.MetricsRead, auth.AlarmsAck))
	if status != http.StatusOK {
		w.t.Fatal(status, body)
	}
	return decode[struct{ Alarms []alarmJSON }](w.t, body).Alarms
}

func TestAlarms_WhatIsSilencedIsNotHeardUntilTheSilenceIsOver(t *testing.T) {
	t.Parallel()
	all, pages := &ear{}, &ear{}
	w := start(t, hear(all, pages))
	w.do(http.MethodPost, "/v1/claims", strings.NewReader("not a claim"))
	all.until(t, func() bool { return len(all.heard) == 2 })
	head := []string{"Authorization", w.account(auth.Operator, auth.MetricsRead, auth.AlarmsAck), "Content-Type", "application/json", "Idempotency-Key"}
	var held string
	for _, a := range w.activeAlarms() {
		if a.Alarm == "held" {
			held = a.Fingerprint
		}
	}
	path := "/v1/alarms/" + held + "/silence"
	if status, body := w.do(http.MethodPut, path, strings.NewReader(`{"reason":"TEST","minutes":60}`), append(head, "1")...); status != http.StatusOK {
		t.Fatal(status, body)
	}
	pages.looked(t)
	if pages.said() != "+held" {
		t.Errorf("heard %s", pages.said())
	}
	if status, body := w.do(http.MethodDelete, path, nil, append(head, "2")...); status != http.StatusOK {
		t.Fatal(status, body)
	}
	pages.until(t, func() bool { return len(pages.heard) == 2 })
	if all.looked(t); pages.said() != "+held +held" || all.said() != "+held +held_long +held" {
		t.Errorf("after the silence %s, %s", pages.said(), all.said())
	}
}

func TestAlarms_AFileThatCannotBeReadRingsAnew(t *testing.T) {
	t.Parallel()
	all, pages := &ear{}, &ear{}
	w := start(t, hear(all, pages))
	w.do(http.MethodPost, "/v1/claims", strings.NewReader("not a claim"))
	all.until(t, func() bool { return len(all.heard) == 2 })
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "alarms.json"), []byte(`{"alarms": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	all = &ear{}
	w.serve(hear(all, pages))
	all.until(t, func() bool { return len(all.heard) == 2 })
}
