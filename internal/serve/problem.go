package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"claimdlq"
	"claimdlq/internal/api"
)

// problem is an error as RFC 9457 has it. Detail holds position and code, never a
// value of a claim.
type problem struct {
	Type   string        `json:"type"`
	Title  string        `json:"title"`
	Status int           `json:"status"`
	Code   claimdlq.Code `json:"code"`
	Detail string        `json:"detail,omitempty"`
	Hint   string        `json:"hint,omitempty"`
}

// problemOf says an error as a problem.
func problemOf(err error) problem {
	p := problem{Type: "about:blank", Code: claimdlq.Internal}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		p.Code, p.Status = claimdlq.Invalid, http.StatusRequestEntityTooLarge
		p.Detail, p.Hint = "body is longer than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes", "send fewer claims in one request, or use /v1/claims/batch"
	} else if e, ok := errors.AsType[*claimdlq.Error](err); ok {
		p.Code, p.Detail, p.Hint = e.Code, e.Op, e.Hint
		if e.On != "" {
			p.Detail += ": " + e.On
		}
	}
	if p.Status == 0 {
		p.Status = api.StatusOf(p.Code)
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// fail answers with the error.
func fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func busy() error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "take in", On: "intake is full", Hint: "nothing of it was kept: send it again"}
}
