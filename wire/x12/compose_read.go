package x12

import (
	"bytes"
	"errors"
	"io"

	"claimdlq"
)

// unitBuffer is how much of a unit is in memory; a longer segment comes in pieces.
const unitBuffer = 256 << 10

// unit reads a sealed unit once, segment by segment, in flat memory.
type unit struct {
	r       io.Reader
	buf     []byte
	lo, hi  int // unread bytes are buf[lo:hi]
	scanned int // from lo on, how many bytes hold no terminator
	eof     bool
	d       Delims
	partial bool // the last piece did not end its segment
}

// piece is a segment, or a part of one that is larger than unitBuffer. Its bytes
// are valid until the next one is read.
type piece struct {
	raw         []byte
	first, last bool
}

func newUnit(r io.Reader) *unit { return &unit{r: r, buf: make([]byte, unitBuffer)} }

// fill reads more bytes behind those in the buffer and reports whether any came.
func (u *unit) fill() (bool, error) {
	if u.lo > 0 {
		copy(u.buf, u.buf[u.lo:u.hi])
		u.lo, u.hi = 0, u.hi-u.lo
	}
	for idle := 0; !u.eof && u.hi < len(u.buf); idle++ {
		n, err := u.r.Read(u.buf[u.hi:])
		u.hi += n
		switch {
		case errors.Is(err, io.EOF):
			u.eof = true
		case err != nil:
			return false, err
		}
		if n > 0 {
			return true, nil
		}
		if idle == 100 {
			return false, io.ErrNoProgress
		}
	}
	return false, nil
}

// header reads the ISA, with its terminator and suffix, and takes its delimiters.
func (u *unit) header() (Header, []byte, error) {
	for u.hi-u.lo < 512 {
		more, err := u.fill()
		if err != nil {
			return Header{}, nil, err
		}
		if !more {
			break
		}
	}
	rest := u.buf[u.lo:u.hi]
	if !bytes.HasPrefix(rest, []byte("ISA")) {
		return Header{}, nil, composeError("the unit does not start with an ISA", "")
	}
	h, ta1 := ParseISA(rest)
	if ta1 != "" || h.Len < isaLen || h.Len > len(rest) {
		return Header{}, nil, composeError("the ISA cannot be read", "TA1:"+ta1)
	}
	u.d = h.Delims
	u.lo += h.Len
	return h, rest[:h.Len:h.Len], nil
}

// next returns the next piece, or io.EOF.
func (u *unit) next() (piece, error) {
	for {
		rest := u.buf[u.lo:u.hi]
		at := bytes.IndexByte(rest[u.scanned:], u.d.Segment)
		if at >= 0 {
			end := u.scanned + at + 1
			for end < len(rest) && isBreak(rest[end], u.d) {
				end++
			}
			// The suffix may go on behind the buffer.
			if end < len(rest) || u.eof || len(rest) == len(u.buf) {
				return u.take(end, true), nil
			}
		} else {
			u.scanned = len(rest)
			switch {
			case u.eof && len(rest) == 0:
				return piece{}, io.EOF
			case u.eof:
				return u.take(len(rest), true), nil
			case len(rest) == len(u.buf):
				return u.take(len(rest), false), nil
			}
		}
		if _, err := u.fill(); err != nil {
			return piece{}, err
		}
	}
}

func (u *unit) take(n int, last bool) piece {
	p := piece{raw: u.buf[u.lo : u.lo+n : u.lo+n], first: !u.partial, last: last}
	u.lo, u.scanned, u.partial = u.lo+n, 0, !last
	return p
}

func composeError(hint, on string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "compose interchange", On: on, Hint: hint}
}
