package auth

import (
	"errors"
	"net/http"
	"time"

	"claimdlq"
)

// Why something is refused. All come inside a *claimdlq.Error.
var (
	// ErrUnauthenticated: nobody signed in, or the session or token is over.
	ErrUnauthenticated = errors.New("not signed in")
	// ErrSignIn is the one answer to a sign-in that failed, whatever was wrong.
	ErrSignIn = errors.New("login, password or code is wrong")
	// ErrForbidden: none of his roles has the permission, or the rule of two persons.
	ErrForbidden = errors.New("not permitted")
	// ErrPartner: it belongs to a partner he is not to see. Say that there is no such thing.
	ErrPartner = errors.New("another partner's")
	// ErrReason: it needs a reason.
	ErrReason = errors.New("a reason is needed")
	// ErrDuty: his password or one-time code has to be set first.
	ErrDuty = errors.New("something has to be done first")
	// ErrOrigin: no page of ours made the request.
	ErrOrigin = errors.New("request of another site")
	// ErrApproval: a second person has to approve it first.
	ErrApproval = errors.New("a second person must approve")
)

// TooManyError says how long to wait after too many failures.
type TooManyError struct{ RetryAfter time.Duration }

// Error implements error.
func (*TooManyError) Error() string { return "too many attempts" }

// Status returns the HTTP status of an error of this package, 0 for other errors: their
// code says it.
func Status(err error) int {
	if _, ok := errors.AsType[*TooManyError](err); ok {
		return http.StatusTooManyRequests
	}
	for _, s := range []struct {
		err    error
		status int
	}{
		{ErrUnauthenticated, http.StatusUnauthorized},
		{ErrSignIn, http.StatusUnauthorized},
		{ErrForbidden, http.StatusForbidden},
		{ErrDuty, http.StatusForbidden},
		{ErrOrigin, http.StatusForbidden},
		{ErrApproval, http.StatusForbidden},
		{ErrPartner, http.StatusNotFound},
		{ErrReason, http.StatusBadRequest},
	} {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	return 0
}

func refuse(op, on string, cause error, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: on, Err: cause, Hint: hint}
}

func invalid(op, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: hint}
}

func notFound(op string) error {
	return &claimdlq.Error{Code: claimdlq.NotFound, Op: op}
}

func conflict(op, on, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: on, Hint: hint}
}
