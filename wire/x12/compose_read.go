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
	seg         []byte // raw without leading blanks, terminator and suffix
	id          string // of the segment; empty if not first, or if it is empty
	first, last bool
}

// segments returns how many segments end with the piece: none if it does not
// end one, or if that is empty (a doubled terminator).
func (p piece) segments() int {
	if !p.last || p.first && len(p.seg) == 0 {
		return 0
	}
	return 1
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
			for end < len(rest) && rest[end] <= '\r' && isBreak(rest[end], u.d) {
				end++
			}
			// The suffix may go on behind the buffer.
			if end < len(rest) || u.eof || len(rest) == len(u.buf) {
				return u.take(u.scanned+at, end, true), nil
			}
		} else {
			u.scanned = len(rest)
			switch {
			case u.eof && len(rest) == 0:
				return piece{}, io.EOF
			case u.eof:
				return u.take(len(rest), len(rest), true), nil
			case len(rest) == len(u.buf):
				return u.take(len(rest), len(rest), false), nil
			}
		}
		if _, err := u.fill(); err != nil {
			return piece{}, err
		}
	}
}

// take returns the next n bytes as a piece; its text ends before text.
func (u *unit) take(text, n int, last bool) piece {
	raw := u.buf[u.lo : u.lo+n : u.lo+n]
	p := piece{raw: raw, seg: raw[:text], first: !u.partial, last: last}
	if p.first {
		p.seg = trimIndent(p.seg, u.d)
		p.id = idOfSegment(p.seg, u.d)
	}
	u.lo, u.scanned, u.partial = u.lo+n, 0, !last
	return p
}

// plain returns the whole segments that come next and need no look inside, as
// one piece of the input, and how many they are. It may return none.
func (u *unit) plain() (raw []byte, segments int) {
	rest := u.buf[u.lo:u.hi]
	n := 0
	for u.scanned == 0 && !u.partial {
		at := rest[n:]
		if len(at) < 4 || !ordinary(at, u.d.Element) {
			break
		}
		i := bytes.IndexByte(at, u.d.Segment)
		if i < 0 {
			break
		}
		for i++; i < len(at) && at[i] <= '\r' && isBreak(at[i], u.d); i++ {
		}
		if i == len(at) {
			break // its suffix may go on behind the buffer
		}
		n += i
		segments++
	}
	u.lo += n
	return rest[:n:n], segments
}

// ordinary reports whether a segment certainly is none that the adder handles:
// CLM, HL, BHT and the envelope. Its id must stand at the start, unbroken.
func ordinary(b []byte, element byte) bool {
	if b[0] < 'A' || b[0] > 'Z' || !alnum(b[1]) || !alnum(b[2]) && b[2] != element {
		return false
	}
	switch b[0] {
	case 'C':
		return b[1] != 'L'
	case 'H':
		return b[1] != 'L'
	case 'S':
		return b[1] != 'T' && b[1] != 'E'
	case 'B':
		return b[1] != 'H'
	case 'G', 'I':
		return false
	}
	return true
}

func composeError(hint, on string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "compose interchange", On: on, Hint: hint}
}
