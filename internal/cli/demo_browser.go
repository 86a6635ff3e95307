package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"time"

	"claimdlq"
)

// browser works as the console does: over HTTP, with a session of its own.
type browser struct {
	base  string
	now   func() time.Time
	c     *http.Client
	match string // If-Match of the next call
}

func newBrowser(base string, now func() time.Time) *browser {
	jar, _ := cookiejar.New(nil) // it fails on bad options alone
	return &browser{base: base, now: now, c: &http.Client{
		Timeout: patient, Jar: jar,
		// The certificate was made a moment ago, in this process.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // to this process, over loopback
	}}
}

// another is a browser of somebody else.
func (b *browser) another() *browser { return newBrowser(b.base, b.now) }

func (b *browser) signIn(ctx context.Context, login, password string) error {
	return b.call(ctx, http.MethodPost, "/v1/session", map[string]string{"login": login, "password": password}, nil)
}

// call runs one operation of the API.
func (b *browser) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		j, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(j)
	}
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", b.base)
	req.Header.Set("Idempotency-Key", rand.Text())
	if b.match != "" {
		req.Header.Set("If-Match", b.match)
		b.match = ""
	}
	return b.do(req, out)
}

// raw hands something in.
func (b *browser) raw(ctx context.Context, path string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	return b.do(req, nil)
}

func (b *browser) do(req *http.Request, out any) error {
	r, err := b.c.Do(req)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "work with the console", Err: err}
	}
	defer discard(r)
	if r.StatusCode >= http.StatusBadRequest {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "work with the console", On: req.Method + " " + req.URL.Path + ": " + r.Status}
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(r.Body).Decode(out)
}
