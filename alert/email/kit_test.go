package email_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq/alert"
	"claimdlq/alert/email"
)

var noon = time.Date(2026, 7, 16, 12, 0, 0, 0, time.UTC)

func event(alarm string, severity alert.Severity) alert.Event {
	return alert.Event{
		Status: alert.Firing, Alarm: alarm, Severity: severity, Labels: alert.Labels{Stream: "837"}, StartsAt: noon,
		Summary: "6000 records more.", Runbook: "docs/runbooks/quarantine.md", Console: "/groups?state=quarantined&stream=837",
	}
}

func over(e alert.Event) alert.Event {
	e.Status, e.EndsAt = alert.Resolved, noon.Add(time.Hour)
	return e
}

// server is a mail server on this machine.
type server struct {
	t        *testing.T
	addr     string
	tls      *tls.Config
	client   *tls.Config // knows its certificate
	implicit bool
	noTLS    bool
	password string // "" asks for none

	mu     sync.Mutex
	refuse func(to string, n int) string // the answer to the nth RCPT; "" takes it
	asked  int
	mails  []received
	signed int // sign-ins
	plain  int // mails begun without TLS
	came   chan struct{}
}

type received struct {
	to     string
	header mail.Header
	body   string
}

// newServer starts one; change is before it listens.
func newServer(t *testing.T, change func(*server)) *server {
	t.Helper()
	web := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	web.Close()
	known := x509.NewCertPool()
	known.AddCert(web.Certificate())
	s := &server{
		t: t, tls: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: web.TLS.Certificates},
		client: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: known, ServerName: "127.0.0.1"}, came: make(chan struct{}, 100),
	}
	if change != nil {
		change(s)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return s
}

func (s *server) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	secure := s.implicit
	if secure {
		c = tls.Server(c, s.tls)
	}
	r := bufio.NewReader(c)
	say := func(text string) { _, _ = io.WriteString(c, text+"\r\n") }
	say("220 test ESMTP")
	to := ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-test")
			if !secure && !s.noTLS {
				say("250-STARTTLS")
			}
			if s.password != "" {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go ahead")
			c, secure = tls.Server(c, s.tls), true
			r = bufio.NewReader(c)
		case "AUTH":
			_, cred, _ := strings.Cut(rest, " ")
			b, _ := base64.StdEncoding.DecodeString(cred)
			if string(b) != "\x00desk\x00"+s.password {
				say("535 5.7.8 no")
				continue
			}
			s.mu.Lock()
			s.signed++
			s.mu.Unlock()
			say("235 2.7.0 yes")
		case "MAIL":
			if !secure {
				s.mu.Lock()
				s.plain++
				s.mu.Unlock()
			}
			say("250 2.1.0 ok")
		case "RCPT":
			to = strings.TrimSuffix(strings.TrimPrefix(rest, "TO:<"), ">")
			say(s.recipient(to))
		case "DATA":
			say("354 go ahead")
			s.receive(to, r)
			say("250 2.0.0 kept")
		case "QUIT":
			say("221 2.0.0 bye")
			return
		default:
			say("250 2.0.0 ok")
		}
	}
}

func (s *server) recipient(to string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.refuse != nil {
		if answer := s.refuse(to, s.asked); answer != "" {
			return answer
		}
	}
	return "250 2.1.5 ok"
}

func (s *server) receive(to string, r *bufio.Reader) {
	var text strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "."))
	}
	m, err := mail.ReadMessage(strings.NewReader(text.String()))
	if err != nil {
		s.t.Error(err)
		return
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		s.t.Error(err)
	}
	s.mu.Lock()
	s.mails = append(s.mails, received{to, m.Header, strings.ReplaceAll(string(body), "\r\n", "\n")})
	s.mu.Unlock()
	s.came <- struct{}{}
}

// got waits for so many mails and returns all.
func (s *server) got(n int) []received {
	s.t.Helper()
	for range n {
		select {
		case <-s.came:
		case <-s.t.Context().Done():
			s.t.Fatal("no mail came")
		case <-time.After(time.Minute):
			s.t.Fatal("no mail came within a minute")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mails
}

// options are of a sender that is quick and knows the server.
func (s *server) options() email.Options {
	return email.Options{
		Server: s.addr, From: "claimdlq@dlq.test", To: []string{"desk@dlq.test"}, Console: "https://dlq.test", TLSConfig: s.client,
		Group: time.Millisecond, FirstWait: time.Millisecond, MaxWait: 2 * time.Millisecond, Now: time.Now,
	}
}

// running runs f while the sender runs.
func running(t *testing.T, o email.Options, f func(*email.Sender)) email.Counts {
	t.Helper()
	s, err := email.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Run(ctx) })
	f(s)
	stop()
	done.Wait()
	return s.Counts()
}
