package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"claimdlq"
	"claimdlq/internal/loopback"
)

// Options tune a Sender. URL and Now are required.
type Options struct {
	// URL is where events are posted: https, or http on this machine. It is never shown.
	URL string
	// Secret signs each post; see Verify. At least 16 bytes. Default: none; then posts
	// are not signed.
	Secret []byte
	// Header is sent with each post, such as Authorization. It is never shown.
	Header http.Header
	// Receiver and ExternalURL go into each post under their names; ExternalURL is the
	// console's address, and links begin with it. Default: claimdlq, and nothing.
	Receiver, ExternalURL string
	// Queue bounds the events that wait, 1 to 65,536. Default: 256.
	Queue int
	// Timeout bounds a post from connecting to the last byte of the answer. Default: 5 s.
	Timeout time.Duration
	// FirstWait is the wait after a post that failed; each further wait is twice the one
	// before, up to MaxWait. Default: 1 s, 60 s.
	FirstWait, MaxWait time.Duration
	// GiveUp is after how long an event that was never taken is dropped. Default: 1 h.
	GiveUp time.Duration
	// TLS configures https. Default: TLS 1.2 or later, the system's authorities.
	TLS *tls.Config
	// Transport replaces the HTTP client's; tests use it. Default: one without a proxy.
	Transport http.RoundTripper
	// Now is the clock.
	Now func() time.Time
	// Log is told of what is dropped. Default: nothing is logged.
	Log *slog.Logger
}

const (
	minSecret = 16
	maxQueue  = 1 << 16
)

func (o Options) withDefaults() Options {
	o.Receiver = cmp.Or(o.Receiver, "claimdlq")
	o.Queue = cmp.Or(o.Queue, 256)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.FirstWait, o.MaxWait = cmp.Or(o.FirstWait, time.Second), cmp.Or(o.MaxWait, time.Minute)
	o.GiveUp = cmp.Or(o.GiveUp, time.Hour)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Transport == nil {
		o.Transport = newTransport(o.TLS)
	}
	return o
}

// validate returns every fault at once, each with code Invalid.
func (o Options) validate() error {
	var errs []error
	want := func(ok bool, hint string) {
		if !ok {
			errs = append(errs, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read webhook", Hint: hint})
		}
	}
	u, err := url.Parse(o.URL)
	want(err == nil && allowed(u), "the address is https://…, or http://… on this machine")
	want(len(o.Secret) == 0 || len(o.Secret) >= minSecret, "the secret is at least 16 bytes")
	want(o.Queue >= 1 && o.Queue <= maxQueue, "the queue is 1 to 65536 events")
	want(o.Timeout > 0 && o.FirstWait > 0 && o.GiveUp > 0, "times are above 0")
	want(o.MaxWait >= o.FirstWait, "the longest wait is not shorter than the first")
	want(o.Now != nil, "a clock is required")
	return errors.Join(errs...)
}

// allowed reports whether alarms may be posted there: a plain connection must not
// leave this machine, and neither must a name and password in an address.
func allowed(u *url.URL) bool {
	switch {
	case u.Host == "" || u.User != nil:
		return false
	case u.Scheme == "https":
		return true
	}
	return u.Scheme == "http" && loopback.Host(u.Hostname())
}

// newTransport returns a transport that uses no proxy, which would see the alarms of
// a loopback receiver, and that connects a loopback name to nothing but this machine.
func newTransport(config *tls.Config) *http.Transport {
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		TLSClientConfig:        config,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        time.Minute,
		DisableCompression:     true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			host, _, _ := net.SplitHostPort(addr)
			if to, ok := conn.RemoteAddr().(*net.TCPAddr); loopback.Host(host) && (!ok || !to.IP.IsLoopback()) {
				_ = conn.Close()
				return nil, errors.New("a name of this machine that leads elsewhere")
			}
			return conn, nil
		},
	}
}
