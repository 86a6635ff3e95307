package webhook_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq/alert"
	"claimdlq/alert/webhook"
)

var (
	noon   = time.Date(2026, 7, 16, 12, 0, 0, 0, time.UTC)
	secret = []byte("a secret of the TEST receiver")
)

const where = "https://receiver.test/hook?token=TESTTOKEN"

func event(alarm string, status alert.Status) alert.Event {
	e := alert.Event{
		Status: status, Alarm: alarm, Severity: alert.Page, Labels: alert.Labels{Stream: "rx", Reason: "FATAL_SYNTAX"}, Value: 315, Threshold: 300,
		StartsAt: noon, Summary: "315 records more.", Runbook: "docs/runbooks/one-cause.md",
		Console: "/groups?state=quarantined&stream=rx&reason=FATAL_SYNTAX",
	}
	if status == alert.Resolved {
		e.EndsAt = noon.Add(10 * time.Minute)
	}
	return e
}

// receiver stands in for the network; it answers by f.
type receiver struct {
	mu    sync.Mutex
	f     func(n int, r *http.Request) (*http.Response, error)
	posts []post
}

type post struct {
	at     time.Time
	header http.Header
	body   []byte
	msg    webhook.Message
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	p := post{at: time.Now(), header: req.Header, body: body}
	if err := json.Unmarshal(body, &p.msg); err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.posts = append(r.posts, p)
	n := len(r.posts)
	r.mu.Unlock()
	if r.f == nil {
		return answer(200), nil
	}
	return r.f(n, req)
}

// got returns the alarms that were posted, in order.
func (r *receiver) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, p := range r.posts {
		out = append(out, p.msg.Alerts[0].Labels["alertname"])
	}
	return out
}

func answer(status int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("no"))}
}

func newSender(t *testing.T, r *receiver, tune func(*webhook.Options)) *webhook.Sender {
	t.Helper()
	o := webhook.Options{URL: where, Transport: r, Now: time.Now}
	if tune != nil {
		tune(&o)
	}
	s, err := webhook.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// running runs f while s runs, in a bubble.
func running(t *testing.T, s *webhook.Sender, f func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Run(ctx) })
	f()
	stop()
	done.Wait()
}

func want(t *testing.T, s *webhook.Sender, c webhook.Counts) {
	t.Helper()
	if got := s.Counts(); got != c {
		t.Errorf("counts %+v, want %+v", got, c)
	}
}
