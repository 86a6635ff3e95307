package claimdlq

import "strings"

// Code tells callers what kind of failure an error is. One table maps codes to
// exit status and HTTP status.
type Code string

// The codes.
const (
	// Invalid: the input is not what it must be.
	Invalid Code = "invalid"
	// NotFound: no such record, payload or key.
	NotFound Code = "not_found"
	// Conflict: the record has moved on since it was read; read it again.
	Conflict Code = "conflict"
	// Refused: the state table, the guard or the cap forbids the step.
	Refused Code = "refused"
	// Corrupt: stored bytes fail their checksum, hash chain or seal.
	Corrupt Code = "corrupt"
	// Unavailable: disk, target or lock cannot be used now.
	Unavailable Code = "unavailable"
	// Internal: a defect of ours.
	Internal Code = "internal"
)

// Error implements error, so that errors.Is(err, claimdlq.NotFound) works.
func (c Code) Error() string { return string(c) }

// Error is a failure with what was being done, on what, and what to do next.
// It never holds a value of a claim: position and code only.
type Error struct {
	Code Code
	Op   string // what was being done, such as "open vault"
	On   string // record id, file position or control number; no PHI
	Hint string // the operator's next command; optional
	Err  error  // cause; optional
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.On != "" {
		b.WriteString(" " + e.On)
	}
	b.WriteString(": " + string(e.Code))
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Unwrap makes both the code and the cause visible to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Err}
}
