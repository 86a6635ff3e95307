package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/api"
)

// problemOf says an error as a problem. Detail holds position and code, never a value of
// a claim.
func problemOf(err error) *api.Problem {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &api.Problem{
			Type: "about:blank", Title: http.StatusText(http.StatusRequestEntityTooLarge), Status: http.StatusRequestEntityTooLarge, Code: string(claimdlq.Invalid),
			Detail: "body is longer than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes", Hint: "send fewer claims in one request, or use /v1/claims/batch",
		}
	}
	return api.ProblemOf(err)
}

// fail answers with the error.
func fail(w http.ResponseWriter, err error) { problemOf(err).Write(w) }

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// turnedAway is the error of who finds no place at the gate.
func turnedAway(why alert.Cause) error {
	e := &claimdlq.Error{Code: claimdlq.Unavailable, Op: "take in", On: "intake is full", Hint: "nothing of it was kept: send it again"}
	if why == alert.CauseMemory {
		e.On, e.Hint = "memory is short", "nothing of it was kept: send it again later"
	}
	return e
}
