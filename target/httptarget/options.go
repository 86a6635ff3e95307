package httptarget

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"claimdlq"
	"claimdlq/internal/loopback"
)

// Options tune a Target. The zero value is usable.
type Options struct {
	// Header is sent with each request, such as Authorization. It is never shown.
	Header http.Header
	// ContentType is that of the parcels. Default: application/EDI-X12.
	ContentType string
	// Timeout bounds a delivery from connecting to the last byte of the answer.
	// Default: 60 s.
	Timeout time.Duration
	// StatusURL is where Inquire asks. {isa13}, {sender}, {receiver} and {name} in it
	// are replaced, escaped. Default: none; then Inquire knows nothing.
	StatusURL string
	// MaxAnswer bounds the answer that is kept, in bytes. Default: 16 MiB.
	MaxAnswer int64
	// TLS configures https. Default: TLS 1.2 or later, the system's authorities.
	TLS *tls.Config
	// AllowPlainHTTP permits http to hosts other than this machine. Without it PHI
	// never leaves unencrypted (45 CFR 164.312(e)(1)).
	AllowPlainHTTP bool
	// Now is the clock for Retry-After dates. Default: the date of the answer itself.
	Now func() time.Time
}

const (
	defaultType      = "application/EDI-X12"
	defaultTimeout   = 60 * time.Second
	defaultMaxAnswer = 16 << 20
	maxStatusAnswer  = 64 << 10
)

// parseURL reads an address without ever showing it. Errors: Invalid.
func parseURL(raw, what string, plainHTTP bool) (*url.URL, error) {
	bad := func(hint string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read " + what, Hint: hint}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, bad("it must be an address that starts with https:// or http://")
	}
	if u.Scheme == "http" && !plainHTTP && !loopback.Host(u.Hostname()) {
		return nil, bad("claims must not leave this machine unencrypted: use https")
	}
	return u, nil
}

// newTransport returns a transport that uses each connection once and speaks
// HTTP/1.1 only: a kept connection may turn out dead at the first byte, and
// HTTP/2 sends again by itself what it thinks was not processed.
func newTransport(o Options) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	config := o.TLS
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialCounted(dialer),
		TLSClientConfig:        config,
		Protocols:              protocols,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 1 << 20,
	}
}
