package cli

import (
	"context"
	"errors"
	"fmt"

	"claimdlq"
)

// The exit codes. They are stable: scripts depend on them.
const (
	exitOK          = 0 // done
	exitInternal    = 1 // a defect of ours, or the machine's
	exitUsage       = 2 // the command was called wrongly
	exitInvalid     = 3 // the input is not what it must be, or faults were found
	exitNotFound    = 4 // no such record, payload or key
	exitConflict    = 5 // the record moved on meanwhile: read it again
	exitRefused     = 6 // the state table, the guard or the cap forbids it
	exitUnavailable = 7 // disk, target or lock cannot be used now
	exitCorrupt     = 8 // stored bytes fail their checksum, chain or seal

	// 70 is the store's and the vault's own: a flush to disk failed, and nobody
	// knows what is on it. The program ends at once and recovers when started again.
)

// exitCodes is the one table from error codes to exit codes.
var exitCodes = []struct {
	code claimdlq.Code
	exit int
}{
	{claimdlq.Corrupt, exitCorrupt},
	{claimdlq.Unavailable, exitUnavailable},
	{claimdlq.Refused, exitRefused},
	{claimdlq.Conflict, exitConflict},
	{claimdlq.NotFound, exitNotFound},
	{claimdlq.Invalid, exitInvalid},
}

const exitHelp = `Exit codes:
  0  done
  1  internal error
  2  wrong usage
  3  invalid input, or faults were found
  4  not found
  5  conflict: somebody else's step came first
  6  refused: the record's state, the replay guard or the cap forbids it
  7  unavailable: disk, target or lock cannot be used now
  8  corrupt: stored data fails its checksum, chain or seal
  70 a flush to disk failed: the program ends at once; check the disk, start again`

// usageError is a wrong call: exit code 2.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, a ...any) error { return &usageError{fmt.Sprintf(format, a...)} }

// silentError ends the program with a code; everything was said already.
type silentError struct{ exit int }

func (e *silentError) Error() string { return fmt.Sprintf("exit %d", e.exit) }

// message says an error to people, on one line. One that a signal made is not of
// interest; that nothing is lost by it is.
func message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "stopped before it was done; what was acknowledged is kept: give the same command again"
	}
	return oneLine(err.Error())
}

// exitCode returns the exit code that err deserves. Of joined errors the one
// that comes first in the table counts.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*silentError](err); ok {
		return e.exit
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	for _, row := range exitCodes {
		if errors.Is(err, row.code) {
			return row.exit
		}
	}
	if errors.Is(err, context.Canceled) {
		return exitUnavailable
	}
	return exitInternal
}
