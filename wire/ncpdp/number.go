package ncpdp

import "strconv"

// Decimal is an exact decimal number: Units times 10 to the power of minus Scale.
// An amount of 12.34 is 1234 with scale 2.
type Decimal struct {
	Units int64
	Scale uint8
}

// String returns the number with all its decimals, such as -0.10.
func (d Decimal) String() string {
	neg := d.Units < 0
	digits := strconv.FormatUint(magnitude(d.Units), 10)
	for len(digits) <= int(d.Scale) {
		digits = "0" + digits
	}
	if cut := len(digits) - int(d.Scale); d.Scale > 0 {
		digits = digits[:cut] + "." + digits[cut:]
	}
	if neg {
		return "-" + digits
	}
	return digits
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-(n + 1)) + 1 // the least int64 has no positive twin
	}
	return uint64(n)
}

// maxDigits keeps every number inside an int64.
const maxDigits = 18

// ParseAmount reads a signed number whose last character carries the sign with
// the digit: { and A to I are +0 to +9, } and J to R are -0 to -9. Leading zeros
// may be left out. A last character that is a plain digit is read as positive;
// signed is false then, for it breaks the standard. ok is false for anything
// else, and for nothing at all: blank is not zero.
func ParseAmount(b []byte, scale uint8) (d Decimal, signed, ok bool) {
	if len(b) == 0 || len(b) > maxDigits {
		return Decimal{}, false, false
	}
	digit, negative, signed := punched(b[len(b)-1])
	if digit < 0 {
		return Decimal{}, false, false
	}
	n, ok := digits(b[:len(b)-1])
	if !ok {
		return Decimal{}, false, false
	}
	n = n*10 + int64(digit)
	if negative {
		n = -n
	}
	return Decimal{n, scale}, signed, true
}

// punched reads an overpunched digit; -1 if it is none.
func punched(c byte) (digit int, negative, signed bool) {
	switch {
	case c == '{':
		return 0, false, true
	case c == '}':
		return 0, true, true
	case c >= 'A' && c <= 'I':
		return int(c-'A') + 1, false, true
	case c >= 'J' && c <= 'R':
		return int(c-'J') + 1, true, true
	case isDigit(c):
		return int(c - '0'), false, false
	}
	return -1, false, false
}

func digits(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// ParseQuantity reads an unsigned number with implied decimals, such as a
// quantity with three. ok is false for anything but digits, and for none.
func ParseQuantity(b []byte, scale uint8) (d Decimal, ok bool) {
	if len(b) == 0 || len(b) > maxDigits {
		return Decimal{}, false
	}
	n, ok := digits(b)
	return Decimal{n, scale}, ok
}

// AppendAmount appends units as a signed number of exactly width characters. ok is
// false, and nothing is appended, where it does not fit: 8 characters hold up to
// 999999.99 either way.
func AppendAmount(dst []byte, units int64, width int) (out []byte, ok bool) {
	n := magnitude(units)
	last := "{ABCDEFGHI"
	if units < 0 {
		last = "}JKLMNOPQR"
	}
	s := strconv.FormatUint(n/10, 10)
	if n < 10 {
		s = ""
	}
	if len(s) >= width {
		return dst, false
	}
	for range width - 1 - len(s) {
		dst = append(dst, '0')
	}
	return append(append(dst, s...), last[n%10]), true
}

// AppendQuantity appends units as exactly width digits; ok is false where they do
// not fit or are negative.
func AppendQuantity(dst []byte, units int64, width int) (out []byte, ok bool) {
	if units < 0 {
		return dst, false
	}
	s := strconv.FormatInt(units, 10)
	if len(s) > width {
		return dst, false
	}
	for range width - len(s) {
		dst = append(dst, '0')
	}
	return append(dst, s...), true
}
