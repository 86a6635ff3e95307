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
