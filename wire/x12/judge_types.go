package x12

// goodDT reports whether b is a date CCYYMMDD that a calendar has.
func goodDT(b []byte) bool {
	return len(b) == 8 && allDigits(b) && goodDay(two(b)*100+two(b[2:]), two(b[4:]), two(b[6:]))
}

// goodTM reports whether b is a time HHMM, HHMMSS, HHMMSSD or HHMMSSDD.
func goodTM(b []byte) bool {
	if len(b) != 4 && (len(b) < 6 || len(b) > 8) || !allDigits(b) {
		return false
	}
	return two(b) < 24 && two(b[2:]) < 60 && (len(b) < 6 || two(b[4:]) < 60)
}

// decimal reports whether b is a number with an optional sign and point, and how
// many digits it has: sign and point do not count to its length (X12.6).
func decimal(b []byte) (n int, ok bool) {
	point := false
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n++
		case c == '-' && i == 0:
		case c == '.' && !point:
			point = true
		default:
			return 0, false
		}
	}
	return n, n > 0
}

// The forms of date and time that an element 1250 names, packed.
var (
	formD8  = packCode([]byte("D8"))
	formRD8 = packCode([]byte("RD8"))
	formD6  = packCode([]byte("D6"))
	formRD6 = packCode([]byte("RD6"))
	formDT  = packCode([]byte("DT"))
	formTM  = packCode([]byte("TM"))
)

// goodQualified returns the IK403 code of a date or time that is not what its
// form says, or "". Other forms are not judged.
func goodQualified(b []byte, form uint64) string {
	switch form {
	case formD8:
		if !goodDT(b) {
			return "8"
		}
	case formRD8:
		if len(b) != 17 || b[8] != '-' || !goodDT(b[:8]) || !goodDT(b[9:]) || string(b[:8]) > string(b[9:]) {
			return "8"
		}
	case formD6:
		if !goodD6(b) {
			return "8"
		}
	case formRD6:
		if len(b) != 13 || b[6] != '-' || !goodD6(b[:6]) || !goodD6(b[7:]) {
			return "8"
		}
	case formDT:
		if len(b) < 12 || !goodDT(b[:8]) || !goodTM(b[8:]) {
			return "8"
		}
	case formTM:
		if !goodTM(b) {
			return "9"
		}
	}
	return ""
}

// goodD6 reports whether b is a date YYMMDD.
func goodD6(b []byte) bool {
	return len(b) == 6 && allDigits(b) && goodDay(2000+two(b), two(b[2:]), two(b[4:]))
}

// dayWord returns a day CCYYMMDD as the word that its eight characters make, the
// first the highest: the order of the words is that of the days.
func dayWord(day int) (w uint64) {
	for i := range 8 {
		w |= uint64('0'+day%10) << (8 * i)
		day /= 10
	}
	return w
}

// luhn reports whether b is a national provider identifier: ten digits, the last
// of which checks the others behind the prefix 80840 (45 CFR 162.406).
func luhn(b []byte) bool {
	if len(b) != 10 {
		return false
	}
	sum := 24 // what the prefix adds
	for i, c := range b {
		if c < '0' || c > '9' {
			return false
		}
		d := int(c - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// digitsIn reports whether the first n bytes of a word, of at most eight, are
// digits; the others are zero.
func digitsIn(w uint64, n int) bool {
	x := w ^ 0x3030303030303030
	return ((x+0x7676767676767676)|x)&highs&masks[n] == 0
}

// goodDay8 reports whether a calendar has the day CCYYMMDD whose digits are the
// bytes of w.
func goodDay8(w uint64) bool {
	x := w & 0x0f0f0f0f0f0f0f0f
	x = x*10 + x>>8 // of each pair of digits, in its lower byte
	y, m, d := int(x&0xff)*100+int(x>>16&0xff), int(x>>32&0xff), int(x>>48&0xff)
	return goodDay(y, m, d)
}
