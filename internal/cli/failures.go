package cli

import (
	"errors"
	"slices"
)

// failures collects what went wrong with some of many arguments, each said at
// once, so that one does not stop the others.
type failures struct{ errs []error }

func (f *failures) add(s *session, what string, err error) {
	s.say("claimdlq: %s: %s", what, message(err))
	f.errs = append(f.errs, err)
}

// err returns nothing, or an error with the exit code of what went wrong that is
// the most serious: corrupt before unavailable before the rest.
func (f *failures) err() error {
	if len(f.errs) == 0 {
		return nil
	}
	codes := make([]int, len(f.errs))
	for i, err := range f.errs {
		codes[i] = exitCode(err)
	}
	if slices.Contains(codes, exitInternal) {
		return &silentError{exitInternal}
	}
	if slices.Contains(codes, exitUsage) {
		return &silentError{exitUsage}
	}
	return &silentError{exitCode(errors.Join(f.errs...))}
}
