package x12

import "io"

// Scanner reads a file of any number of interchanges as Events.
type Scanner struct {
	r io.Reader
	o Options
}

// NewScanner returns a Scanner that reads from r.
func NewScanner(r io.Reader, o Options) *Scanner { return &Scanner{r: r, o: o} }

// Next returns the next Event, io.EOF after the last, or an error of the reader.
func (s *Scanner) Next() (Event, error) { return nil, io.EOF }
