package email_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/alert/email"
)

func TestRun_OneMailForWhatComesTogether(t *testing.T) {
	t.Parallel()
	srv := newServer(t, func(s *server) { s.password = "TEST-password" })
	o := srv.options()
	o.User, o.Password, o.Group = "desk", []byte("TEST-password"), 50*time.Millisecond
	c := running(t, o, func(s *email.Sender) {
		s.Send([]alert.Event{event("dlq_increase", alert.Page), event("dlq_depth", alert.Ticket)})
		s.Send([]alert.Event{over(event("parked", alert.Ticket))})
		srv.got(1)
	})
	if len(srv.mails) != 1 || srv.signed != 1 || srv.plain != 0 || c != (email.Counts{Sent: 3, Mails: 1}) {
		t.Fatalf("%d mails, %d sign-ins, %d in plain text, %+v", len(srv.mails), srv.signed, srv.plain, c)
	}
	m := srv.mails[0]
	for name, want := range map[string]string{"To": "<desk@dlq.test>", "From": "<claimdlq@dlq.test>", "Auto-Submitted": "auto-generated"} {
		if m.header.Get(name) != want {
			t.Errorf("%s: %s", name, m.header.Get(name))
		}
	}
	if _, err := m.header.Date(); err != nil {
		t.Error(err)
	}
	const want = `PAGE  dlq_increase 837
6000 records more.
  since    2026-07-16T12:00:00Z
  see      https://dlq.test/groups?state=quarantined&stream=837
  runbook  docs/runbooks/quarantine.md

TICKET  dlq_depth 837
6000 records more.
  since    2026-07-16T12:00:00Z
  see      https://dlq.test/groups?state=quarantined&stream=837
  runbook  docs/runbooks/quarantine.md

OVER  parked 837
6000 records more.
  since    2026-07-16T12:00:00Z
  until    2026-07-16T13:00:00Z
  see      https://dlq.test/groups?state=quarantined&stream=837
  runbook  docs/runbooks/quarantine.md
`
	if strings.TrimSpace(m.body) != strings.TrimSpace(want) {
		t.Errorf("the body is\n%s", m.body)
	}
}

func TestRun_SpeaksTLSFromTheFirstByteOrPlainToThisMachine(t *testing.T) {
	t.Parallel()
	for how, change := range map[email.TLS]func(*server){
		email.Implicit: func(s *server) { s.implicit, s.password = true, "TEST-password" },
		email.None:     func(s *server) { s.noTLS, s.password = true, "TEST-password" },
	} {
		srv := newServer(t, change)
		o := srv.options()
		o.TLS, o.User, o.Password = how, "desk", []byte("TEST-password")
		running(t, o, func(s *email.Sender) {
			s.Send([]alert.Event{event("parked", alert.Ticket)})
			if got := srv.got(1)[0].header.Get("Subject"); got != "claimdlq ticket: parked 837" {
				t.Errorf("%s: %s", how, got)
			}
		})
		if srv.signed != 1 {
			t.Errorf("%s: %d sign-ins", how, srv.signed)
		}
	}
}

// A server that offers no TLS gets nothing, whoever took the offer out on the way.
func TestRun_NothingIsSaidInPlainTextWhereTLSIsAskedFor(t *testing.T) {
	t.Parallel()
	srv := newServer(t, func(s *server) { s.noTLS, s.password = true, "TEST-password" })
	o := srv.options()
	o.User, o.Password, o.GiveUp = "desk", []byte("TEST-password"), time.Nanosecond
	c := until(t, o, func(c email.Counts) bool { return c.Dropped == 1 })
	if srv.plain != 0 || srv.signed != 0 || c.Sent != 0 {
		t.Errorf("%d mails, %d sign-ins in plain text", srv.plain, srv.signed)
	}
}

// until sends one event and waits until the counts are so.
func until(t *testing.T, o email.Options, so func(email.Counts) bool) email.Counts {
	t.Helper()
	return running(t, o, func(s *email.Sender) {
		s.Send([]alert.Event{event("parked", alert.Ticket)})
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(time.Minute); !so(s.Counts()); <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("%+v", s.Counts())
			}
		}
	})
}

func TestRun_TriesAgainWhatMayPassAndDropsWhatIsRefused(t *testing.T) {
	t.Parallel()
	const password = "TEST-password"
	for name, c := range map[string]struct {
		answer string
		want   func(email.Counts) bool
		log    string
	}{
		"greylisted": {"451 4.7.1 later desk@dlq.test", func(c email.Counts) bool { return c.Sent == 1 && c.Retried >= 1 && c.Dropped == 0 }, ""},
		"refused":    {"550 5.1.1 no desk@dlq.test", func(c email.Counts) bool { return c.Dropped == 1 && c.Retried == 0 }, "SMTP_550"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, func(s *server) {
				s.password = password
				s.refuse = func(_ string, n int) string {
					if n > 2 {
						return ""
					}
					return c.answer
				}
			})
			var log bytes.Buffer
			o := srv.options()
			o.User, o.Password, o.Log = "desk", []byte(password), slog.New(slog.NewTextHandler(&log, nil))
			until(t, o, c.want)
			if l := log.String(); !strings.Contains(l, c.log) || (c.log == "") != (l == "") {
				t.Errorf("logged %s", l)
			}
			for _, secret := range []string{password, "desk@", "dlq.test", "127.0.0.1"} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log has %s", secret)
				}
			}
		})
	}
}

func TestRun_AnAddressThatIsRefusedKeepsNothingFromTheOthers(t *testing.T) {
	t.Parallel()
	srv := newServer(t, func(s *server) {
		s.refuse = func(to string, _ int) string {
			if strings.HasPrefix(to, "gone") {
				return "550 5.1.1 no such mailbox"
			}
			return ""
		}
	})
	o := srv.options()
	o.To = []string{"gone@dlq.test", "desk@dlq.test", "lead@dlq.test"}
	c := until(t, o, func(c email.Counts) bool { return c.Waiting == 0 })
	var to []string
	for _, m := range srv.mails {
		to = append(to, m.to)
	}
	slices.Sort(to)
	if !slices.Equal(to, []string{"desk@dlq.test", "lead@dlq.test"}) || c.Sent != 2 || c.Dropped != 1 {
		t.Errorf("mailed %v, %+v", to, c)
	}
}

func TestSend_WhatIsOvertakenGivesWayAndTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	srv := newServer(t, nil)
	o := srv.options()
	s, err := email.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Send([]alert.Event{event("dlq_depth", alert.Ticket), over(event("dlq_depth", alert.Ticket))})
	if c := s.Counts(); c != (email.Counts{Waiting: 1, Dropped: 1}) || s.Idle() {
		t.Errorf("%+v", c)
	}
	for i := range 300 {
		e := event("dlq_depth", alert.Ticket)
		e.Labels.Partner = strings.Repeat("9", i%30) + strings.Repeat("8", i/30)
		s.Send([]alert.Event{e})
	}
	if c := s.Counts(); c.Waiting != 256 || c.Waiting+c.Dropped != 302 {
		t.Errorf("%+v", c)
	}
	// When it ends what is left is tried once.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx)
	if c := s.Counts(); c.Sent != 256 || c.Waiting != 0 || c.Mails != 1 {
		t.Errorf("%+v", c)
	}
}

func TestNew_NamesEveryFault(t *testing.T) {
	t.Parallel()
	good := newServer(t, nil).options()
	for name, spoil := range map[string]func(*email.Options){
		"no port":         func(o *email.Options) { o.Server = "mail.test" },
		"no host":         func(o *email.Options) { o.Server = ":25" },
		"no such way":     func(o *email.Options) { o.TLS = "ssl" },
		"plain elsewhere": func(o *email.Options) { o.TLS, o.Server = email.None, "mail.test:25" },
		"no password":     func(o *email.Options) { o.User = "desk" },
		"a name":          func(o *email.Options) { o.From = "Desk <desk@dlq.test>" },
		"two lines":       func(o *email.Options) { o.To = []string{"desk@dlq.test\r\nBcc: x@dlq.test"} },
		"nobody":          func(o *email.Options) { o.To = nil },
		"too many":        func(o *email.Options) { o.To = slices.Repeat(o.To, 21) },
		"waits":           func(o *email.Options) { o.FirstWait = time.Hour },
		"no clock":        func(o *email.Options) { o.Now = nil },
	} {
		o := good
		spoil(&o)
		if _, err := email.New(o); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := email.New(email.Options{Server: "x", TLS: "y", From: "z"}); err == nil || strings.Count(err.Error(), "read e-mail receiver") < 4 {
		t.Errorf("not at once: %v", err)
	}
}
