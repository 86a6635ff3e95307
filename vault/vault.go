// Package vault is the port to where sealed payloads rest: a directory or bucket
// of its own, under keys of its own, apart from the records. Only intake,
// attempt, correct, replay and settle reach it, and every Open needs the proof
// that an audit entry about it is durable (45 CFR 164.312(b)).
package vault

import (
	"context"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/phi"
)

// MaxAttributes bounds the attributes of one unit, in bytes.
const MaxAttributes = 1 << 20

// TooMany is the error of an adapter that is given more than MaxAttributes.
func TooMany() error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "stage payload", On: "its attributes are over 1 MiB"}
}

// ErrShredded is wrapped by the NotFound of a unit whose key was destroyed; that of one
// whose key is missing does not wrap it.
var ErrShredded = errors.New("its key was destroyed")

// Vault seals payloads. Errors carry a claimdlq.Code: NotFound (never stored, or
// shredded), Corrupt (the seal does not hold), Refused (no proof), Unavailable.
//
// Staged bytes are not durable until Sync returns; a crash before that leaves at
// most an orphan unit, which Sweep removes. All methods are safe for concurrent
// use; a Writer is for one goroutine.
type Vault interface {
	// Stage seals p as a unit of its own with a fresh data key.
	Stage(p phi.Bytes) (claimdlq.PayloadRef, error)
	// StageWith is Stage for a unit with attributes: what has to be known of it without
	// its payload. They are sealed under the unit's data key, apart from the payload, and
	// are gone with that key. More than MaxAttributes is Invalid; none is as Stage.
	StageWith(p, attributes phi.Bytes) (claimdlq.PayloadRef, error)
	// Create starts a unit that arrives in pieces, for payloads too large to hold.
	Create() (Writer, error)
	// Sync makes everything staged before the call durable: ciphertext and wrapped
	// keys. Concurrent callers share one flush. An fsync error stops the process.
	Sync(ctx context.Context) error

	// Open returns the plaintext of the ref's range, for ranges that fit in memory.
	Open(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error)
	// OpenReader returns the plaintext of the ref's range as a stream.
	OpenReader(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (io.ReadCloser, error)

	// Attributes returns what the ref's whole unit was staged with, and reads nothing of
	// its payload; empty where it was staged with none.
	Attributes(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error)

	// Shred destroys the data key of the ref's whole unit, durably on return. The
	// ciphertext stays and means nothing. Shredding twice is not an error.
	Shred(ctx context.Context, ref claimdlq.PayloadRef) error
	// Units calls f for every unit with a live data key until f returns false.
	Units(ctx context.Context, f func(unit string, size int64) bool) error
	// Verify checks the seals of the whole unit, its attributes included, without
	// returning its content.
	Verify(ctx context.Context, ref claimdlq.PayloadRef) error
	Close() error
}

// Writer is a unit being staged.
type Writer interface {
	io.Writer
	// Describe gives the unit its attributes; the last call before Close counts. They
	// are copied. Errors: Invalid for more than MaxAttributes.
	Describe(attributes phi.Bytes) error
	// Close ends the unit and returns its ref over the whole of it.
	Close() (claimdlq.PayloadRef, error)
	// Abort gives the unit up; its key is never stored.
	Abort()
}
