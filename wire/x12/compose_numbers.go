package x12

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// Numbers replace what identifies an interchange. A zero field keeps what the
// unit has.
type Numbers struct {
	ISA13, GS06 uint32 // 1 to 999999999
	ST02        string // 4 to 9 letters and digits
	BHT03       string // at most 50 characters
	Date, Time  string // CCYYMMDD and HHMM, for ISA09/10 and GS04/05
}

// The ISA is fixed: 105 characters and the terminator (X12.5). These are the
// offsets of what is replaced in it.
const (
	isaDate    = 70
	isaTime    = 77
	isaControl = 90
)

const maxControl = 999_999_999

func (n Numbers) check(d Delims) error {
	bad := func(what string) error { return composeError("the new number is not one", what) }
	switch {
	case n.ISA13 > maxControl:
		return bad("ISA13")
	case n.GS06 > maxControl:
		return bad("GS06")
	case n.ST02 != "" && (len(n.ST02) < 4 || len(n.ST02) > 9 || !allAlnum(n.ST02)):
		return bad("ST02")
	case len(n.BHT03) > 50 || checkValue([]byte(n.BHT03), d, false) != "":
		return bad("BHT03")
	case n.Date != "" && !parsesAs("20060102", n.Date):
		return bad("GS04")
	case n.Time != "" && !parsesAs("1504", n.Time):
		return bad("GS05")
	}
	return nil
}

func parsesAs(layout, v string) bool {
	_, err := time.Parse(layout, v)
	return err == nil && len(v) == len(layout)
}

func allAlnum(s string) bool {
	for i := range len(s) {
		if !alnum(s[i]) {
			return false
		}
	}
	return true
}

// isaWith returns the ISA, without the breaks of a hard wrap, with its number,
// date and time replaced. It is refused unless exactly 106 bytes with every
// separator where the standard wants it: a header that is not cannot be read by
// the other side.
func isaWith(raw []byte, d Delims, n Numbers) ([]byte, error) {
	seg := raw[:len(raw)-len(d.Suffix)]
	if len(seg) != isaLen {
		seg = withoutWrap(seg, d)
	}
	if len(seg) != isaLen || seg[isaLen-1] != d.Segment {
		return nil, composeError("the ISA is not 106 bytes", "ISA")
	}
	for _, at := range isaOffsets {
		if seg[at] != d.Element {
			return nil, composeError("the ISA's elements are not of the fixed widths", "ISA")
		}
	}
	out := bytes.Clone(seg)
	if n.ISA13 != 0 {
		copy(out[isaControl:], fmt.Sprintf("%09d", n.ISA13))
	}
	if n.Date != "" {
		copy(out[isaDate:], n.Date[2:])
	}
	copy(out[isaTime:], n.Time)
	return append(out, d.Suffix...), nil
}

// gsWith returns the GS with its number, date and time replaced.
func gsWith(raw []byte, d Delims, n Numbers) []byte {
	out := bytes.Clone(trimIndent(raw, d))
	if n.GS06 != 0 {
		out = setElement(out, d, 6, 0, strconv.AppendUint(nil, uint64(n.GS06), 10))
	}
	if n.Date != "" {
		out = setElement(out, d, 4, 0, []byte(n.Date))
	}
	if n.Time != "" {
		out = setElement(out, d, 5, 0, []byte(n.Time))
	}
	return out
}

// clm02 returns the amount of a CLM in cents; 0 if it cannot be read.
func clm02(seg []byte, d Delims) int64 {
	e := bytes.TrimSpace(nthElement(seg, d, 2))
	sign := int64(1)
	if len(e) > 0 && e[0] == '-' {
		sign, e = -1, e[1:]
	}
	units, cents, _ := bytes.Cut(e, []byte{'.'})
	if len(units)+len(cents) == 0 || len(units) > 15 {
		return 0
	}
	var v int64
	for i := range len(units) + 2 {
		c := byte('0')
		switch {
		case i < len(units):
			c = units[i]
		case i-len(units) < len(cents):
			c = cents[i-len(units)]
		}
		if c < '0' || c > '9' {
			return 0
		}
		v = v*10 + int64(c-'0')
	}
	return sign * v
}
