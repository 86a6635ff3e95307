package x12

import (
	"io"
	"strconv"

	"claimdlq"
)

// CutClaim writes one claim of a unit, with its provider and subscriber context,
// as a complete interchange: HL renumbered, SE01, GE01 and IEA01 right, delimiters
// as they were. ordinal is the CLM's place in its set, from 1. Errors: NotFound,
// with nothing written, where the set has no such claim; Invalid; those of the
// reader and writer.
func CutClaim(w io.Writer, unit io.Reader, ordinal int, n Numbers) (SetStats, error) {
	c := NewComposer(w)
	o := AddOptions{Drop: func(i int) bool { return i != ordinal }, Numbers: n}
	st, err := c.add(unit, o, true)
	if err == nil && st.Claims == 0 {
		return st, &claimdlq.Error{Code: claimdlq.NotFound, Op: "cut claim", On: strconv.Itoa(ordinal)}
	}
	if err == nil {
		_, err = c.Close()
	}
	return st, err
}
