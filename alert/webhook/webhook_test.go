package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
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

// The shape of a post is a contract: receivers of Alertmanager's webhook read it.
func TestSend_PostsAlertmanagersShape(t *testing.T) {
	t.Parallel()
	for _, status := range []alert.Status{alert.Firing, alert.Resolved} {
		synctest.Test(t, func(t *testing.T) {
			r := &receiver{}
			s := newSender(t, r, func(o *webhook.Options) { o.ExternalURL = "https://claims.test/" })
			running(t, s, func() { s.Send([]alert.Event{event("reason_spike", status)}); synctest.Wait() })
			var got bytes.Buffer
			if err := json.Indent(&got, r.posts[0].body, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			file := "testdata/" + string(status) + ".json"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(golden) {
				t.Errorf("differs from %s:\n%s", file, got.String())
			}
			if h := r.posts[0].header; h.Get("Content-Type") != "application/json" || h.Get(webhook.HeaderSignature) != "" {
				t.Errorf("header %v", h)
			}
			want(t, s, webhook.Counts{Sent: 1})
		})
	}
}

// An alarm is a group of its own: one that stops must not stop the others.
func TestSend_EachAlarmHasItsGroupAndKeepsItWhenItStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		s := newSender(t, r, nil)
		other := event("reason_spike", alert.Firing)
		other.Labels.Reason = "RETRIES_EXHAUSTED"
		running(t, s, func() {
			s.Send([]alert.Event{event("reason_spike", alert.Firing), other, event("reason_spike", alert.Resolved)})
			synctest.Wait()
		})
		a, b, c := r.posts[0].msg, r.posts[1].msg, r.posts[2].msg
		if a.GroupKey == b.GroupKey || a.GroupKey != c.GroupKey || a.Alerts[0].Fingerprint == b.Alerts[0].Fingerprint || a.Alerts[0].Fingerprint != c.Alerts[0].Fingerprint {
			t.Errorf("%s %s %s", a.GroupKey, b.GroupKey, c.GroupKey)
		}
	})
}

func TestSend_SignsWhatItPosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		s := newSender(t, r, func(o *webhook.Options) { o.Secret = secret; o.Header = http.Header{"Authorization": {"Bearer TEST"}} })
		running(t, s, func() { s.Send([]alert.Event{event("parked", alert.Firing)}); synctest.Wait() })
		p := r.posts[0]
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(p.header.Get("X-Claimdlq-Timestamp") + "." + string(p.body)))
		if got := p.header.Get("X-Claimdlq-Signature"); got != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("signature %q", got)
		}
		if p.header.Get("Authorization") != "Bearer TEST" {
			t.Error("the header was not sent")
		}
		if err := webhook.Verify(secret, p.header, p.body, p.at.Add(5*time.Minute), 5*time.Minute); err != nil {
			t.Error(err)
		}
		forged := p.header.Clone()
		forged.Set(webhook.HeaderTime, "1")
		for name, err := range map[string]error{
			"another body":     webhook.Verify(secret, p.header, append(bytes.Clone(p.body), ' '), p.at, time.Hour),
			"another secret":   webhook.Verify([]byte("a secret of somebody else"), p.header, p.body, p.at, time.Hour),
			"no secret":        webhook.Verify(nil, p.header, p.body, p.at, time.Hour),
			"another time":     webhook.Verify(secret, forged, p.body, p.at, time.Hour),
			"too old":          webhook.Verify(secret, p.header, p.body, p.at.Add(6*time.Minute), 5*time.Minute),
			"from the future":  webhook.Verify(secret, p.header, p.body, p.at.Add(-6*time.Minute), 5*time.Minute),
			"without a header": webhook.Verify(secret, http.Header{}, p.body, p.at, time.Hour),
		} {
			if !errors.Is(err, claimdlq.Refused) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestRun_TriesAgainWithBackoffUntilTheReceiverTakesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{f: func(n int, _ *http.Request) (*http.Response, error) {
			switch n {
			case 1:
				return answer(503), nil
			case 2:
				return nil, errors.New("connection refused")
			case 3:
				return answer(429, "Retry-After", "30"), nil
			case 4:
				return answer(429, "Retry-After", "9999"), nil
			}
			return answer(204), nil
		}}
		s := newSender(t, r, nil)
		running(t, s, func() {
			s.Send([]alert.Event{event("a", alert.Firing), event("b", alert.Firing)})
			time.Sleep(10 * time.Minute)
		})
		waits := []time.Duration{}
		for i := 1; i < len(r.posts); i++ {
			waits = append(waits, r.posts[i].at.Sub(r.posts[i-1].at))
		}
		if got := strings.Join(r.got(), ""); got != "aaaaab" {
			t.Errorf("posted %s", got)
		}
		for i, w := range []time.Duration{time.Second, 2 * time.Second, 30 * time.Second, time.Minute, 0} {
			if waits[i] != w {
				t.Errorf("waits %v", waits)
				break
			}
		}
		want(t, s, webhook.Counts{Sent: 2, Retried: 4})
	})
}

func TestRun_WhatIsRefusedIsDroppedCountedAndLogged(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 307, 400, 401, 404, 413} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			r := &receiver{f: func(n int, _ *http.Request) (*http.Response, error) {
				if n == 1 {
					return answer(status, "Location", "https://elsewhere.test/"), nil
				}
				return answer(200), nil
			}}
			s := newSender(t, r, func(o *webhook.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			running(t, s, func() {
				s.Send([]alert.Event{event("a", alert.Firing), event("b", alert.Firing)})
				synctest.Wait()
			})
			if got := strings.Join(r.got(), ""); got != "ab" {
				t.Errorf("%d: posted %s", status, got)
			}
			want(t, s, webhook.Counts{Sent: 1, Dropped: 1})
			if l := log.String(); strings.Count(l, "Alarm was not delivered") != 1 || !strings.Contains(l, "rule=a ") || !strings.Contains(l, "code=HTTP_") ||
				strings.Contains(l, "TESTTOKEN") || strings.Contains(l, "receiver.test") {
				t.Errorf("logged %s", l)
			}
		})
	}
}

func TestRun_AnEventThatIsNeverTakenIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{f: func(int, *http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }}
		s := newSender(t, r, nil)
		running(t, s, func() {
			s.Send([]alert.Event{event("a", alert.Firing)})
			time.Sleep(59 * time.Minute)
			if c := s.Counts(); c.Waiting != 1 || c.Dropped != 0 {
				t.Errorf("before an hour: %+v", c)
			}
			time.Sleep(2 * time.Minute)
			if c := s.Counts(); c.Waiting != 0 || c.Dropped != 1 {
				t.Errorf("after an hour: %+v", c)
			}
		})
	})
}

func TestRun_AReceiverThatHangsIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{f: func(n int, req *http.Request) (*http.Response, error) {
			if n > 1 {
				return answer(200), nil
			}
			<-req.Context().Done()
			return nil, req.Context().Err()
		}}
		s := newSender(t, r, nil)
		running(t, s, func() {
			s.Send([]alert.Event{event("a", alert.Firing)})
			time.Sleep(time.Minute)
		})
		if len(r.posts) != 2 || r.posts[1].at.Sub(r.posts[0].at) != 6*time.Second {
			t.Errorf("%d posts", len(r.posts))
		}
	})
}

func TestSend_NeverWaitsAndAFullQueueKeepsWhereEachAlarmStands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := &receiver{}
		s := newSender(t, r, func(o *webhook.Options) { o.Queue = 2; o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		start := time.Now()
		// Nobody runs it: all of this must return.
		s.Send([]alert.Event{event("a", alert.Firing), event("b", alert.Firing)})
		s.Send([]alert.Event{event("b", alert.Resolved)}) // in the place of b
		want(t, s, webhook.Counts{Waiting: 2, Dropped: 1})
		s.Send([]alert.Event{event("c", alert.Firing)}) // the oldest gives way
		want(t, s, webhook.Counts{Waiting: 2, Dropped: 2})
		if time.Since(start) != 0 {
			t.Error("it waited")
		}
		running(t, s, synctest.Wait)
		if got := strings.Join(r.got(), ""); got != "bc" || r.posts[0].msg.Status != "resolved" {
			t.Errorf("posted %s", got)
		}
		want(t, s, webhook.Counts{Sent: 2, Dropped: 2})
		if n := strings.Count(log.String(), "code=QUEUE_FULL"); n != 2 {
			t.Errorf("%d lines of\n%s", n, log.String())
		}
	})
}

func TestRun_WhenItEndsWhatIsLeftIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{f: func(n int, _ *http.Request) (*http.Response, error) {
			if n <= 2 { // the first try, and the last one of the same event
				return answer(503), nil
			}
			return answer(200), nil
		}}
		s := newSender(t, r, nil)
		running(t, s, func() {
			s.Send([]alert.Event{event("a", alert.Firing), event("b", alert.Firing), event("c", alert.Firing)})
			synctest.Wait()
		})
		if got := strings.Join(r.got(), ""); got != "aabc" {
			t.Errorf("posted %s", got)
		}
		want(t, s, webhook.Counts{Sent: 2, Dropped: 1, Retried: 1})
	})
}

// The whole way, by the clock: a sample every 5 s, a surge, a page, a quiet queue.
func TestEvaluatorToReceiver_ASurgeIsPostedWithinASampleAndEndsAfterFiveQuietMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rules, err := alert.Rules(alert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := alert.New(rules)
		if err != nil {
			t.Fatal(err)
		}
		r := &receiver{}
		s := newSender(t, r, nil)
		var surge time.Time
		running(t, s, func() {
			tick := time.NewTicker(5 * time.Second)
			defer tick.Stop()
			depth := int64(0)
			for i := range 120 {
				switch {
				case i >= 20:
					depth = 0
				case i >= 10:
					depth += 2000 // 400/s
				}
				if i == 10 {
					surge = time.Now()
				}
				s.Send(e.Observe(alert.Sample{At: time.Now(), Streams: []alert.Stream{{Name: "rx", Depth: depth}}}))
				<-tick.C
			}
		})
		if got := strings.Join(r.got(), " "); got != "dlq_increase dlq_increase" {
			t.Fatalf("posted %s", got)
		}
		if first := r.posts[0]; !first.at.Equal(surge) || first.msg.Status != alert.Firing {
			t.Errorf("paged %s after the surge began", first.at.Sub(surge))
		}
		if last := r.posts[1]; last.at.Sub(surge) != 50*time.Second+5*time.Minute || last.msg.Status != alert.Resolved {
			t.Errorf("ended %s after the surge began", last.at.Sub(surge))
		}
	})
}

// Over a real connection to this machine.
func TestSend_OverLoopback(t *testing.T) {
	t.Parallel()
	got := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = webhook.Verify(secret, r.Header, body, time.Now(), time.Minute)
		}
		got <- err
	}))
	defer server.Close()
	s, err := webhook.New(webhook.Options{URL: server.URL + "/alerts", Secret: secret, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Run(ctx) })
	s.Send([]alert.Event{event("a", alert.Firing)})
	if err := <-got; err != nil {
		t.Error(err)
	}
	stop()
	done.Wait()
	if c := s.Counts(); c.Dropped != 0 || c.Waiting != 0 {
		t.Errorf("%+v", c)
	}
}

func TestNew_RefusesWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]webhook.Options{
		"plain http to another machine": {URL: "http://receiver.test/TESTTOKEN"},
		"a name that begins like ours":  {URL: "http://localhost.receiver.test/TESTTOKEN"},
		"another scheme":                {URL: "ftp://127.0.0.1/TESTTOKEN"},
		"no host":                       {URL: "https:///TESTTOKEN"},
		"no address":                    {},
		"no URL":                        {URL: "://TESTTOKEN"},
		"a password in the address":     {URL: "https://user:TESTTOKEN@receiver.test/"},
		"a short secret":                {URL: where, Secret: []byte("TESTTOKEN")},
		"a negative queue":              {URL: where, Queue: -1},
		"a huge queue":                  {URL: where, Queue: 1 << 20},
		"a negative time":               {URL: where, Timeout: -1},
		"waits that shrink":             {URL: where, FirstWait: time.Hour},
	} {
		o.Now = time.Now
		_, err := webhook.New(o)
		if !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "TESTTOKEN") {
			t.Errorf("%s: the error shows it: %v", name, err)
		}
	}
	if _, err := webhook.New(webhook.Options{URL: where}); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("no clock: %v", err)
	}
	for _, url := range []string{"http://127.0.0.1:9/", "http://[::1]:9/", "http://LOCALHOST/", "https://receiver.test"} {
		if _, err := webhook.New(webhook.Options{URL: url, Now: time.Now}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
