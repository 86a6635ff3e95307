package x12

import (
	"encoding/binary"
	"math/bits"
)

const (
	lows   = 0x0101010101010101
	highs  = 0x8080808080808080
	blanks = 0x2020202020202020
	most   = 96 // elements of a segment that are kept apart
)

// masks keep the first n bytes of a word.
var masks = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

// splitter cuts a segment into elements.
type splitter struct {
	sep, comp, rep    uint64 // delimiters, each in all eight bytes
	sepB, compB, repB byte
	plain             bool // every delimiter is a printable character

	ends [most + 8]int32 // where element i of the segment ends; 0 is its id
	n    int             // elements, the id not counted; at most most
	over bool            // it has more
	odd  bool            // component or repetition separators in it
	bad  bool            // characters that are not in the X12 sets
}

func newSplitter(d Delims) splitter {
	sp := splitter{sepB: d.Element, compB: d.Component, repB: d.Repetition}
	// Where there is no such separator, a byte stands for it that is bad anyway.
	if sp.compB == 0 {
		sp.compB = noSeparator
	}
	if sp.repB == 0 {
		sp.repB = noSeparator
	}
	sp.sep, sp.comp, sp.rep = uint64(sp.sepB)*lows, uint64(sp.compB)*lows, uint64(sp.repB)*lows
	sp.plain = printable(sp.sepB) && (printable(sp.compB) || d.Component == 0) && (printable(sp.repB) || d.Repetition == 0)
	return sp
}

const noSeparator = 0xff

func printable(c byte) bool { return c >= ' ' && c <= '~' }

// split finds the elements of b, eight bytes at a time. Behind b eight more bytes
// must be readable. The X12 basic and extended character sets are together what
// ASCII prints (X12.6, appendix A), so a control character or a byte over 0x7e is
// out of them.
func (sp *splitter) split(b []byte) {
	if !sp.plain {
		sp.splitSlow(b)
		return
	}
	w8 := b[:len(b)+slack]
	n := 0
	var odd, bad uint64
	sep, comp, rep := sp.sep, sp.comp, sp.rep
	ends := &sp.ends
	for i := 0; i < len(b); i += 8 {
		w := binary.LittleEndian.Uint64(w8[i:])
		if left := len(b) - i; left < 8 {
			m := masks[left]
			w = w&m | blanks&^m
		}
		bad |= (w - blanks) | w | (w + lows)
		x, y, z := w^sep, w^comp, w^rep
		odd |= (y-lows)&^y | (z-lows)&^z
		hit := ^((x&^highs + ^uint64(highs)) | x) & highs
		// Four at once without a branch that would be guessed wrong: what is written
		// beyond those that are there is written over by the next.
		at := ends[n : n+8 : n+8]
		at[0] = int32(i + bits.TrailingZeros64(hit)>>3)
		n += bits.OnesCount64(hit)
		hit &= hit - 1
		at[1] = int32(i + bits.TrailingZeros64(hit)>>3)
		hit &= hit - 1
		at[2] = int32(i + bits.TrailingZeros64(hit)>>3)
		for k := 3; ; k++ {
			if hit &= hit - 1; hit == 0 {
				break
			}
			at[k] = int32(i + bits.TrailingZeros64(hit)>>3)
		}
		if n >= most {
			ends[most] = int32(len(b))
			sp.n, sp.over, sp.odd, sp.bad = most, true, true, true
			return
		}
	}
	ends[n] = int32(len(b))
	sp.n, sp.over, sp.odd, sp.bad = n, false, odd&highs != 0, bad&highs != 0
}

// splitSlow is split for delimiters that are control characters.
func (sp *splitter) splitSlow(b []byte) {
	n := 0
	sp.odd, sp.bad, sp.over = false, false, false
	for i, c := range b {
		switch {
		case c == sp.sepB:
			if n == most {
				sp.over = true
				sp.n = n
				return
			}
			sp.ends[n] = int32(i)
			n++
		case (c == sp.compB || c == sp.repB) && c != noSeparator:
			sp.odd = true
		case c < ' ' || c > '~':
			sp.bad = true
		}
	}
	sp.ends[n] = int32(len(b))
	sp.n = n
}

// badChar reports whether a character of e is out of the X12 character sets. A
// component or repetition separator is none here.
func (sp *splitter) badChar(e []byte) bool {
	for _, c := range e {
		if !printable(c) && (c != sp.compB && c != sp.repB || c == noSeparator) {
			return true
		}
	}
	return false
}
