package webhook_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq/alert"
	"claimdlq/alert/webhook"
)

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
			<-time.After(10 * time.Minute)
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
			<-time.After(59 * time.Minute)
			if c := s.Counts(); c.Waiting != 1 || c.Dropped != 0 {
				t.Errorf("before an hour: %+v", c)
			}
			<-time.After(2 * time.Minute)
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
			<-time.After(time.Minute)
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
