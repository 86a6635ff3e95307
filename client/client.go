package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"claimdlq"
)

// Options say who calls, and where what is sent and asked for rests.
type Options struct {
	// Token is an API token: claimdlq users token. It is sent to the given addresses only.
	Token string
	// Payload is the address of the listener with payloads, where there is one. Default:
	// the same as the others.
	Payload string
	// HTTP makes the requests. Default: http.DefaultClient.
	HTTP *http.Client
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base, payload string
	o             Options
}

// New returns a client of the server at base, such as https://claims.example:8837.
// Errors: Invalid.
func New(base string, o Options) (*Client, error) {
	c := &Client{base: strings.TrimRight(base, "/"), payload: strings.TrimRight(cmp.Or(o.Payload, base), "/"), o: o}
	for _, a := range []string{c.base, c.payload} {
		if u, err := url.Parse(a); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "make client", On: "the address", Hint: "such as https://claims.example:8837"}
		}
	}
	if c.o.HTTP == nil {
		c.o.HTTP = http.DefaultClient
	}
	return c, nil
}

// Error is a problem that a server has answered with.
type Error struct {
	Operation string
	Problem   Problem
}

// Error implements error.
func (e *Error) Error() string {
	text := e.Operation + ": " + strconv.FormatInt(e.Problem.Status, 10) + " " + e.Problem.Code
	if e.Problem.Detail != "" {
		text += ": " + e.Problem.Detail
	}
	if e.Problem.Hint != "" {
		text += " (" + e.Problem.Hint + ")"
	}
	return text
}

// Unwrap returns it as the library's error.
func (e *Error) Unwrap() error {
	return &claimdlq.Error{Code: claimdlq.Code(e.Problem.Code), Op: e.Operation, On: e.Problem.Detail, Hint: e.Problem.Hint}
}

type keyOf struct{}

// WithKey lets the commands under ctx have the given Idempotency-Key: 1 to 64 letters,
// digits and . _ -.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOf{}, key)
}

// call is one request.
type call struct {
	op, method, path string
	query            url.Values
	body             any
	file             io.Reader // instead of body: as it is
	match, last      string
	command, payload bool
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 128 << 20

func (c *Client) do(ctx context.Context, x call) (*http.Response, error) {
	req, err := c.request(ctx, x)
	if err != nil {
		return nil, err
	}
	resp, err := c.o.HTTP.Do(req)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: x.op, Err: err}
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		return resp, nil
	}
	defer resp.Body.Close()
	e := &Error{Operation: x.op, Problem: Problem{Status: int64(resp.StatusCode), Code: string(claimdlq.Internal)}}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") {
		_ = json.Unmarshal(b, &e.Problem) // what is no problem keeps its status
	}
	return nil, e
}

func (c *Client) request(ctx context.Context, x call) (*http.Request, error) {
	base := c.base
	if x.payload {
		base = c.payload
	}
	if len(x.query) > 0 {
		x.path += "?" + x.query.Encode()
	}
	body, kind := x.file, "application/octet-stream"
	if x.body != nil {
		b, err := json.Marshal(x.body)
		if err != nil {
			return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: x.op, On: "the body", Err: err}
		}
		body, kind = bytes.NewReader(b), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, x.method, base+x.path, body)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: x.op, Err: err}
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if c.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Token)
	}
	if x.match != "" {
		req.Header.Set("If-Match", x.match)
	}
	if x.last != "" {
		req.Header.Set("Last-Event-ID", x.last)
	}
	if x.command {
		key, ok := ctx.Value(keyOf{}).(string)
		if !ok {
			key = rand.Text()
		}
		req.Header.Set("Idempotency-Key", key)
	}
	return req, nil
}

func (c *Client) bytes(ctx context.Context, x call) ([]byte, error) {
	resp, err := c.do(ctx, x)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: x.op, Err: err}
	case len(b) > maxAnswer:
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: x.op, On: "the answer is longer than 128 MiB"}
	}
	return b, nil
}

func (c *Client) json(ctx context.Context, x call, into any) error {
	b, err := c.bytes(ctx, x)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: x.op, On: "the answer is not what the document says"}
	}
	return nil
}

// part writes a part of a path.
func part(v any) string { return url.PathEscape(fmt.Sprint(v)) }

// tag writes a revision as If-Match has it.
func tag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// put sets a query's value unless it is zero.
func put[T comparable](v url.Values, name string, x T) {
	var zero T
	if x != zero {
		v.Set(name, fmt.Sprint(x))
	}
}
