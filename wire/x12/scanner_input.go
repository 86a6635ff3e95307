package x12

import "io"

const (
	slack     = 8         // bytes that may be read past the end of the data
	firstSize = 256 << 10 // of the buffer; it grows with the sets that come
	leastRead = 64 << 10
)

// input is the window of the file that a Scanner looks at. Positions are indices
// of b; filling may move the data, and keeps from, pos and end right.
type input struct {
	r    io.Reader
	b    []byte
	from int // where the next event begins
	pos  int // where the current segment begins
	end  int // of the data
	base int64
	eof  bool
	err  error
}

func newInput(r io.Reader) input { return input{r: r, b: make([]byte, firstSize+slack)} }

// offset returns where in the file pos is.
func (in *input) offset() int64 { return in.base + int64(in.pos) }

// fill reads more. It returns false when there is no more, or on an error.
func (in *input) fill() bool {
	if in.eof || in.err != nil {
		return false
	}
	if len(in.b)-slack-in.end < leastRead {
		in.makeRoom()
	}
	for range 100 {
		n, err := in.r.Read(in.b[in.end : len(in.b)-slack])
		in.end += n
		switch {
		case err == io.EOF:
			in.eof = true
			return n > 0
		case err != nil:
			in.err = err
			return false
		case n > 0:
			return true
		}
	}
	in.err = io.ErrNoProgress
	return false
}

// makeRoom moves the data to the front, or takes a larger buffer where that does
// not give room enough.
func (in *input) makeRoom() {
	used := in.end - in.from
	b := in.b
	if len(b)-slack-used < max(leastRead, len(b)/4) {
		b = make([]byte, 2*(len(b)-slack)+slack)
	}
	copy(b, in.b[in.from:in.end])
	in.b = b
	in.base += int64(in.from)
	in.pos -= in.from
	in.end, in.from = used, 0
}

// ensure reads until n bytes stand from pos on, or there are no more.
func (in *input) ensure(n int) {
	for in.end-in.pos < n && in.fill() {
	}
}

// rest returns the data from pos on.
func (in *input) rest() []byte { return in.b[in.pos:in.end] }

// raw returns what the current event covers, up to pos.
func (in *input) raw() []byte { return in.b[in.from:in.pos:in.pos] }
