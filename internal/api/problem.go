package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"claimdlq"
	"claimdlq/internal/auth"
)

// Problem is an error as RFC 9457 has it. Nothing in it is a value of a request or of
// a claim.
type Problem struct {
	Type   string  `json:"type" doc:"Always about:blank: the code says what kind it is."`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Code   string  `json:"code" doc:"What kind of failure it is." enum:"invalid,not_found,conflict,refused,corrupt,unavailable,internal"`
	Detail string  `json:"detail,omitempty" doc:"What was being done, and on what: ids and positions."`
	Hint   string  `json:"hint,omitempty" doc:"What to do next."`
	Errors []Fault `json:"errors,omitempty" doc:"What is wrong with the request, field by field."`
	// A page that asks people to sign in shows that way only where it is one.
	SingleSignOn bool `json:"single_sign_on,omitempty" doc:"Of 401: a browser can also sign in at /v1/session/oidc."`

	header http.Header
}

// Fault is what is wrong with one field of a request.
type Fault struct {
	Location string `json:"location,omitempty" doc:"Such as body.reason or query.limit."`
	Message  string `json:"message"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// statuses is the one table from error codes to HTTP statuses.
var statuses = map[claimdlq.Code]int{
	claimdlq.Invalid:     http.StatusBadRequest,
	claimdlq.NotFound:    http.StatusNotFound,
	claimdlq.Conflict:    http.StatusConflict,
	claimdlq.Refused:     http.StatusUnprocessableEntity,
	claimdlq.Corrupt:     http.StatusInternalServerError,
	claimdlq.Unavailable: http.StatusServiceUnavailable,
	claimdlq.Internal:    http.StatusInternalServerError,
}

// StatusOf returns the HTTP status of an error with the code.
func StatusOf(c claimdlq.Code) int { return statuses[c] }

// codeOf says which code stands for a status that is no error's of ours.
func codeOf(status int) claimdlq.Code {
	switch {
	case status == http.StatusNotFound:
		return claimdlq.NotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return claimdlq.Conflict
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return claimdlq.Refused
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return claimdlq.Unavailable
	case status >= 500:
		return claimdlq.Internal
	}
	return claimdlq.Invalid
}

// statusError is an error with a status that its code alone does not have.
type statusError struct {
	status int
	err    *claimdlq.Error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// problemOf says an error as a problem.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	p := &Problem{Type: "about:blank", Code: string(claimdlq.Internal), header: http.Header{}}
	if e, ok := errors.AsType[*claimdlq.Error](err); ok {
		p.Code, p.Detail, p.Hint = string(e.Code), e.Op, e.Hint
		if e.On != "" {
			p.Detail += ": " + e.On
		}
	} else if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		p.Code, p.Detail = string(claimdlq.Unavailable), "the request took too long or was given up"
	}
	p.Status = statuses[claimdlq.Code(p.Code)]
	if s := auth.Status(err); s != 0 {
		p.Status = s
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		p.Status = s.status
	}
	p.Title = http.StatusText(p.Status)
	switch p.Status {
	case http.StatusServiceUnavailable:
		p.header.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		p.header.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		if t, ok := errors.AsType[*auth.TooManyError](err); ok {
			p.header.Set("Retry-After", strconv.FormatInt(int64((t.RetryAfter+time.Second-1)/time.Second), 10))
		}
	}
	return p
}

// fromHuma makes a problem of what the framework found wrong with a request. What it
// says of values is left out, and names that are the sender's are, too.
func fromHuma(status int, _ string, errs ...error) huma.StatusError {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	p := &Problem{Type: "about:blank", Status: status, Title: http.StatusText(status), Code: string(codeOf(status)), header: http.Header{}}
	p.Detail = "read request"
	if status >= http.StatusInternalServerError {
		p.Detail = "answer request"
		return p
	}
	for _, err := range errs {
		d, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok || len(p.Errors) == 20 {
			continue
		}
		p.Errors = append(p.Errors, faultOf(d))
	}
	return p
}

func faultOf(d *huma.ErrorDetail) Fault {
	f := Fault{Location: d.Location, Message: "it is not what the document asks for"}
	switch {
	case strings.HasPrefix(d.Message, "unexpected property"), strings.HasPrefix(d.Message, "unknown query parameter"):
		f.Location, f.Message = beforeDot(d.Location), "there is no such field: see /openapi.json"
	case strings.HasPrefix(d.Message, "expected string to be RFC"):
		f.Message = "it has not the form that the document asks for"
	case strings.HasPrefix(d.Message, "expected "), strings.HasPrefix(d.Message, "required "):
		f.Message = d.Message
	case d.Location == "body":
		f.Message = "it is no JSON of the form that the document asks for"
	}
	return f
}

func beforeDot(s string) string {
	first, _, _ := strings.Cut(s, ".")
	return first
}

// ProblemOf says an error as a problem.
func ProblemOf(err error) *Problem { return problemOf(err) }

// writeProblem answers with an error outside the framework.
func writeProblem(w http.ResponseWriter, err error) { problemOf(err).Write(w) }

// Write answers with the problem.
func (p *Problem) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// missing is the error for a record that is not there, or another partner's.
func missing(what, on string) error {
	return &claimdlq.Error{Code: claimdlq.NotFound, Op: "find " + what, On: on}
}

func invalid(op, on, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: on, Hint: hint}
}

func withStatus(status int, code claimdlq.Code, op, on, hint string) error {
	return &statusError{status, &claimdlq.Error{Code: code, Op: op, On: on, Hint: hint}}
}
