package httptarget_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/target"
	"claimdlq/target/httptarget"
)

var content = strings.Repeat("TEST CLAIM BYTES ", 1000)

func parcel() target.Parcel {
	return target.Parcel{
		Name: "837-000000042.x12", Size: int64(len(content)), ISA13: 42,
		Env:     claimdlq.Envelope{SenderQualifier: "ZZ", Sender: "TEST SENDER", ReceiverQualifier: "ZZ", Receiver: "TESTPAYER"},
		Content: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
}

func newTarget(t *testing.T, url string, o httptarget.Options) *httptarget.Target {
	t.Helper()
	h, err := httptarget.New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func outcome(kind claimdlq.OutcomeKind, code string, ambiguous bool) claimdlq.Outcome {
	return claimdlq.Outcome{Kind: kind, Code: claimdlq.NewDetail(code), Ambiguous: ambiguous}
}

// serve accepts connections, hands each to f, and returns the address and how
// many came.
func serve(t *testing.T, f func(c *net.TCPConn)) (string, *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	count, done := new(atomic.Int32), make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			f(c.(*net.TCPConn))
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String(), count
}

func reset(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() }

// request reads one whole request.
func request(c net.Conn) {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err == nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
}

func TestDeliver_WhatBreaksBeforeTheRequestIsCertain(t *testing.T) {
	t.Parallel()
	refuse := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		return "http://" + l.Addr().String()
	}()
	inHandshake, _ := serve(t, func(c *net.TCPConn) { _, _ = c.Read(make([]byte, 1)); reset(c) })
	noTLS, _ := serve(t, func(c *net.TCPConn) {
		_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		_, _ = c.Read(make([]byte, 1))
		_ = c.Close()
	})
	stranger := httptest.NewUnstartedServer(http.NotFoundHandler())
	stranger.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	stranger.StartTLS()
	t.Cleanup(stranger.Close)
	for name, c := range map[string]struct{ url, code string }{
		"nobody listens":        {refuse, "CONNECT_REFUSED"},
		"no such host":          {"https://no-such-host.invalid", "DNS"},
		"reset in handshake":    {"https://" + inHandshake, "RESET"},
		"the peer speaks http":  {"https://" + noTLS, "TLS"},
		"unknown authority":     {stranger.URL, "TLS"},
		"content does not open": {"http://127.0.0.1:9", "CONTENT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parcel()
			if c.code == "CONTENT" {
				p.Content = func() (io.ReadCloser, error) { return nil, errors.New("no") }
			}
			d := newTarget(t, c.url, httptarget.Options{}).Deliver(t.Context(), p)
			if want := outcome(claimdlq.OutcomeTransient, c.code, false); d.Outcome != want {
				t.Fatalf("got %+v, want %+v", d.Outcome, want)
			}
		})
	}
}

func TestDeliver_WhatBreaksAfterTheFirstByteIsAmbiguousAndSentOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server func(*net.TCPConn)
		code   string
	}{
		"reset after the first byte":  {func(c *net.TCPConn) { _, _ = c.Read(make([]byte, 1)); reset(c) }, "RESET"},
		"reset after the whole body":  {func(c *net.TCPConn) { request(c); reset(c) }, "RESET"},
		"closed after the whole body": {func(c *net.TCPConn) { request(c); _ = c.Close() }, "CLOSED"},
		"half closed after the whole body": {func(c *net.TCPConn) {
			request(c)
			_ = c.CloseWrite()
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}, "CLOSED"},
		"closed inside the answer's header": {func(c *net.TCPConn) {
			request(c)
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-"))
			_ = c.Close()
		}, "TRANSPORT"},
		"an answer that is no HTTP": {func(c *net.TCPConn) {
			request(c)
			_, _ = c.Write([]byte("220 ready for mail\r\n"))
			_ = c.Close()
		}, "TRANSPORT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, conns := serve(t, c.server)
			d := newTarget(t, "http://"+addr, httptarget.Options{}).Deliver(t.Context(), parcel())
			if want := outcome(claimdlq.OutcomeTransient, c.code, true); d.Outcome != want {
				t.Fatalf("got %+v, want %+v", d.Outcome, want)
			}
			if n := conns.Load(); n != 1 {
				t.Fatalf("%d connections: something was sent again", n)
			}
		})
	}
}

// ending is a context that ends when told, as if its deadline had passed.
type ending struct {
	context.Context
	done chan struct{}
}

func (e ending) Done() <-chan struct{} { return e.done }
func (e ending) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestDeliver_GivenUpWhileWaitingForTheAnswerIsAmbiguous(t *testing.T) {
	t.Parallel()
	for code, build := range map[string]func() (context.Context, func()){
		"CANCELLED": func() (context.Context, func()) { ctx, cancel := context.WithCancel(t.Context()); return ctx, cancel },
		"TIMEOUT": func() (context.Context, func()) {
			e := ending{t.Context(), make(chan struct{})}
			return e, func() { close(e.done) }
		},
	} {
		ctx, end := build()
		addr, _ := serve(t, func(c *net.TCPConn) { request(c); end(); _, _ = io.Copy(io.Discard, c); _ = c.Close() })
		d := newTarget(t, "http://"+addr, httptarget.Options{}).Deliver(ctx, parcel())
		if want := outcome(claimdlq.OutcomeTransient, code, true); d.Outcome != want {
			t.Fatalf("got %+v, want %+v", d.Outcome, want)
		}
	}
}

func TestDeliver_GivenUpBeforeConnectingIsCertain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := newTarget(t, "http://127.0.0.1:9", httptarget.Options{}).Deliver(ctx, parcel())
	if want := outcome(claimdlq.OutcomeTransient, "CANCELLED", false); d.Outcome != want {
		t.Fatalf("got %+v, want %+v", d.Outcome, want)
	}
}

func TestDeliver_OwnBytesThatFailAreAmbiguousOnceSomeLeft(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, func(c *net.TCPConn) { request(c); _ = c.Close() })
	p := parcel()
	p.Content = func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(content[:9000]), failing{})), nil
	}
	d := newTarget(t, "http://"+addr, httptarget.Options{}).Deliver(t.Context(), p)
	if want := outcome(claimdlq.OutcomeTransient, "CONTENT", true); d.Outcome != want {
		t.Fatalf("got %+v, want %+v", d.Outcome, want)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("bad disk") }

func TestDeliver_StatusDecides(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	const (
		transient = claimdlq.OutcomeTransient
		rejected  = claimdlq.OutcomeRejected
		submitted = claimdlq.OutcomeSubmitted
	)
	for _, c := range []struct {
		status    int
		retry     string
		kind      claimdlq.OutcomeKind
		ambiguous bool
		wait      time.Duration
	}{
		{status: 200, kind: submitted},
		{status: 202, kind: submitted},
		{status: 302, kind: rejected},
		{status: 307, kind: rejected},
		{status: 400, kind: rejected},
		{status: 401, kind: rejected},
		{status: 404, kind: rejected},
		{status: 409, kind: rejected},
		{status: 408, kind: transient},
		{status: 425, kind: transient},
		{status: 429, retry: "7", kind: transient, wait: 7 * time.Second},
		{status: 500, kind: transient},
		{status: 502, kind: transient, ambiguous: true},
		{status: 504, kind: transient, ambiguous: true},
		{status: 503, kind: transient},
		{status: 503, retry: "120", kind: transient, wait: 2 * time.Minute},
		{status: 503, retry: now.Add(90 * time.Second).Format(http.TimeFormat), kind: transient, wait: 90 * time.Second},
		{status: 503, retry: now.Add(-time.Hour).Format(http.TimeFormat), kind: transient},
		{status: 503, retry: "soon", kind: transient},
		{status: 503, retry: "-5", kind: transient},
		{status: 503, retry: "99999999999", kind: transient, wait: 24 * time.Hour},
	} {
		var elsewhere atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Location", other.URL)
			if c.retry != "" {
				w.Header().Set("Retry-After", c.retry)
			}
			w.WriteHeader(c.status)
		}))
		h := newTarget(t, s.URL, httptarget.Options{Now: func() time.Time { return now }})
		d := h.Deliver(t.Context(), parcel())
		s.Close()
		other.Close()
		want := outcome(c.kind, "HTTP_"+http.StatusText(c.status), c.ambiguous)
		want.Code, want.RetryAfter = d.Outcome.Code, c.wait
		if d.Outcome != want || !strings.HasPrefix(d.Outcome.Code.String(), "HTTP_") {
			t.Errorf("%d %q: got %+v, want %+v", c.status, c.retry, d.Outcome, want)
		}
		if elsewhere.Load() != 0 {
			t.Errorf("%d: the redirect was followed", c.status)
		}
	}
}

func TestDeliver_SendsTheParcelAsItIs(t *testing.T) {
	t.Parallel()
	var got []byte
	var header http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		got, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "ISA*TEST ANSWER")
	}))
	t.Cleanup(s.Close)
	o := httptarget.Options{Header: http.Header{"X-Partner": {"TEST"}}}
	d := newTarget(t, strings.Replace(s.URL, "http://", "http://tester:pass@", 1), o).Deliver(t.Context(), parcel())
	if d.Outcome.Kind != claimdlq.OutcomeSubmitted || string(d.Answer.Reveal()) != "ISA*TEST ANSWER" {
		t.Fatalf("got %+v", d)
	}
	if string(got) != content {
		t.Fatal("other bytes arrived")
	}
	for k, want := range map[string]string{
		"Content-Type": "application/EDI-X12", "Idempotency-Key": "837-000000042.x12",
		"X-Partner": "TEST", "Authorization": "Basic dGVzdGVyOnBhc3M=",
	} {
		if header.Get(k) != want {
			t.Errorf("header %s: %q, want %q", k, header.Get(k), want)
		}
	}
}

func TestDeliver_AStreamHasItsOwnContentTypeAndItsAnswerComesBackAsItIs(t *testing.T) {
	t.Parallel()
	const answer = "D0B11A01TEST\x1e\x1cAM21\x1cANP" // separators are not blanks
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	d := newTarget(t, s.URL, httptarget.Options{ContentType: "application/x-ncpdp"}).Deliver(t.Context(), parcel())
	if d.Outcome != outcome(claimdlq.OutcomeSubmitted, "HTTP_200", false) || string(d.Answer.Reveal()) != answer {
		t.Fatalf("got %+v", d)
	}
	for _, bad := range []string{"x/y\r\nX: 1", "/", "a b"} {
		if _, err := httptarget.New(s.URL, httptarget.Options{ContentType: bad}); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestDeliver_AnAnswerThatIsCutOrTooLongIsNotUsed(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write(bytes.Repeat([]byte("x"), 50))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/fits":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 64))
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 65))
		}
	}))
	t.Cleanup(s.Close)
	for path, want := range map[string]struct {
		code   string
		answer int
	}{"/cut": {"HTTP_ANSWER_CUT", 0}, "/fits": {"HTTP_200", 64}, "/long": {"HTTP_ANSWER_TOO_LONG", 0}, "/empty": {"HTTP_200", 0}} {
		d := newTarget(t, s.URL+path, httptarget.Options{MaxAnswer: 64}).Deliver(t.Context(), parcel())
		if d.Outcome != outcome(claimdlq.OutcomeSubmitted, want.code, false) || d.Answer.Len() != want.answer {
			t.Errorf("%s: got %+v", path, d)
		}
	}
}

func TestNew_RefusesAndNeverShowsTheAddress(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"other scheme": "ftp://user:secret@host/secret", "no host": "https:///secret",
		"unreadable": "https://user:secret@ho st\x7f/secret", "plain http to another machine": "http://user:secret@payer.test/secret",
	} {
		_, err := httptarget.New(url, httptarget.Options{})
		if !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", name, err)
		}
		_, err = httptarget.New("https://payer.test", httptarget.Options{StatusURL: url})
		if !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("status address, %s: got %v", name, err)
		}
	}
	if _, err := httptarget.New("http://payer.test", httptarget.Options{AllowPlainHTTP: true}); err != nil {
		t.Error(err)
	}
}

func TestInquire_OnlyAClearAnswerIsKnown(t *testing.T) {
	t.Parallel()
	var status int
	var body, query string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.String()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	h := newTarget(t, s.URL, httptarget.Options{StatusURL: s.URL + "/v1/{isa13}?sender={sender}&receiver={receiver}&name={name}"})
	for _, c := range []struct {
		status int
		body   string
		kind   claimdlq.OutcomeKind
		code   string
		known  bool
	}{
		{200, `{"status":"received"}`, claimdlq.OutcomeSubmitted, "STATUS_RECEIVED", true},
		{200, `{"status":"accepted"}`, claimdlq.OutcomeSubmitted, "STATUS_ACCEPTED", true},
		{200, `{"status":"rejected"}`, claimdlq.OutcomeRejected, "STATUS_REJECTED", true},
		{404, `{"status":"not_found"}`, claimdlq.OutcomeTransient, "STATUS_NOT_FOUND", true},
		{404, `<html>not found</html>`, 0, "", false},
		{404, `{"status":"received"}`, 0, "", false},
		{500, `{"status":"not_found"}`, claimdlq.OutcomeTransient, "HTTP_500", false},
		{429, ``, claimdlq.OutcomeTransient, "HTTP_429", false},
		{403, ``, 0, "", false},
		{200, `{"status":"perhaps"}`, 0, "", false},
		{200, ``, 0, "", false},
	} {
		status, body = c.status, c.body
		o, known := h.Inquire(t.Context(), parcel())
		if want := outcome(c.kind, c.code, false); known != c.known || o != want {
			t.Errorf("%d %s: got %+v, %v", c.status, c.body, o, known)
		}
	}
	if want := "/v1/000000042?sender=ZZ%3ATEST+SENDER&receiver=ZZ%3ATESTPAYER&name=837-000000042.x12"; query != want {
		t.Errorf("asked %s, want %s", query, want)
	}
	if _, known := newTarget(t, s.URL, httptarget.Options{}).Inquire(t.Context(), parcel()); known {
		t.Error("known without a status address")
	}
}

// Whoever asks is told why there was no answer, as after a delivery.
func TestInquire_SaysWhyThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	h := newTarget(t, s.URL, httptarget.Options{StatusURL: s.URL})
	o, known := h.Inquire(t.Context(), parcel())
	if known || o.Kind != claimdlq.OutcomeTransient || o.Code.IsZero() || o.Ambiguous {
		t.Errorf("broken off: %+v, %v", o, known)
	}
	s.Close()
	if o, known = h.Inquire(t.Context(), parcel()); known || o.Kind != claimdlq.OutcomeTransient || o.Code.IsZero() {
		t.Errorf("nobody there: %+v, %v", o, known)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o, known = h.Inquire(ctx, parcel()); known || o.Code.String() != "CANCELLED" {
		t.Errorf("interrupted: %+v, %v", o, known)
	}
}
