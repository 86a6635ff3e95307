package httptarget

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/phi"
	"claimdlq/target"
)

// Target posts parcels to one address. It is safe for concurrent use.
type Target struct {
	url    *url.URL
	status string
	o      Options
	client http.RoundTripper
}

var _ target.Target = (*Target)(nil)

// New returns a Target that posts to address. User and password in the address
// are sent as basic authorization and shown nowhere. Errors: Invalid.
func New(address string, o Options) (*Target, error) {
	u, err := parseURL(address, "the target's address", o.AllowPlainHTTP)
	if err != nil {
		return nil, err
	}
	if o.StatusURL != "" {
		if _, err := parseURL(fill(o.StatusURL, target.Parcel{}), "the status address", o.AllowPlainHTTP); err != nil {
			return nil, err
		}
	}
	if o.ContentType == "" {
		o.ContentType = defaultType
	}
	if _, _, err := mime.ParseMediaType(o.ContentType); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read the content type", Hint: "it must be one such as application/x-ncpdp"}
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = defaultMaxAnswer
	}
	return &Target{url: u, status: o.StatusURL, o: o, client: newTransport(o)}, nil
}

// Name implements target.Target.
func (t *Target) Name() string { return "http" }

// Deliver implements target.Target: a POST of Options.ContentType whose
// Idempotency-Key is the parcel's name. Redirects are not followed, and nothing
// is sent twice. The body of a 2xx is the answer, if it came whole and fits.
func (t *Target) Deliver(ctx context.Context, p target.Parcel) target.Delivery {
	content, err := p.Content()
	if err != nil {
		return failed("CONTENT", false)
	}
	ctx, cancel := context.WithTimeout(ctx, t.o.Timeout)
	defer cancel()
	w := new(watch)
	body := newSource(content)
	req := t.request(w.trace(ctx), http.MethodPost, t.url)
	req.Body, req.ContentLength = body, p.Size
	if p.Size <= 0 {
		req.ContentLength = -1
	}
	req.Header.Set("Content-Type", t.o.ContentType)
	req.Header.Set("Idempotency-Key", p.Name)
	resp, err := t.client.RoundTrip(req)
	if err != nil {
		wrote := w.stop()
		if body.wait() {
			return failed("CONTENT", wrote)
		}
		return target.Delivery{Outcome: classify.Transport(ended(ctx, err), wrote)}
	}
	d := t.judge(resp)
	_ = resp.Body.Close()
	body.wait()
	return d
}

// request returns a request without a body. It has no GetBody, so that the
// standard library cannot send it again.
func (t *Target) request(ctx context.Context, method string, u *url.URL) *http.Request {
	bare := *u
	bare.User = nil
	req := (&http.Request{Method: method, URL: &bare, Host: bare.Host, Header: t.o.Header.Clone()}).WithContext(ctx)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if u.User != nil && req.Header.Get("Authorization") == "" {
		password, _ := u.User.Password()
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	req.Header.Set("User-Agent", "claimdlq")
	return req
}

// judge turns a response into a delivery. From here on the status decides: an
// answer that breaks off does not undo it.
func (t *Target) judge(resp *http.Response) target.Delivery {
	now, retry := t.now(resp), resp.Header.Get("Retry-After")
	if _, err := strconv.ParseUint(retry, 10, 64); err != nil && now.IsZero() {
		retry = "" // a date means nothing without a clock
	}
	d := target.Delivery{Outcome: classify.HTTP(resp.StatusCode, retry, now)}
	if d.Outcome.Kind != claimdlq.OutcomeSubmitted {
		return d
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, t.o.MaxAnswer+1))
	switch {
	case err != nil:
		d.Outcome.Code = claimdlq.NewDetail("HTTP_ANSWER_CUT")
	case int64(len(b)) > t.o.MaxAnswer:
		d.Outcome.Code = claimdlq.NewDetail("HTTP_ANSWER_TOO_LONG")
	case len(bytes.TrimSpace(b)) > 0:
		d.Answer = phi.Wrap(b)
	}
	return d
}

// now is the clock that a Retry-After date is compared with; zero if there is none.
func (t *Target) now(resp *http.Response) time.Time {
	if t.o.Now != nil {
		return t.o.Now()
	}
	at, _ := http.ParseTime(resp.Header.Get("Date"))
	return at
}

// ended prefers the context's own reason: the transport may report the closed
// connection that followed from it.
func ended(ctx context.Context, err error) error {
	if c := ctx.Err(); c != nil {
		return c
	}
	return err
}

func failed(code string, ambiguous bool) target.Delivery {
	return target.Delivery{Outcome: claimdlq.Outcome{
		Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail(code), Ambiguous: ambiguous,
	}}
}

// source passes the parcel's bytes to the transport, which may still read them
// when it has given an error or an answer; wait returns when it no longer does.
type source struct {
	mu     sync.Mutex
	r      io.ReadCloser
	shut   bool
	bad    bool
	closed chan struct{}
}

func newSource(r io.ReadCloser) *source { return &source{r: r, closed: make(chan struct{})} }

func (s *source) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.bad = true
	}
	return n, err
}

// Close is called by the transport, always.
func (s *source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return nil
	}
	s.shut = true
	close(s.closed)
	return s.r.Close()
}

// wait reports whether reading the parcel failed.
func (s *source) wait() bool {
	<-s.closed
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}
