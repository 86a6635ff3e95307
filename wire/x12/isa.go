package x12

import (
	"slices"

	"claimdlq"
)

// isaOffsets are where the sixteen element separators of a well padded ISA stand
// (X12.5: the ISA is 105 bytes and a terminator).
var isaOffsets = [16]int{3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103}

// isaWidths are the widths of ISA01 to ISA16.
var isaWidths = [17]int{0, 2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1}

// isaNotes are the TA105 codes for a bad ISA01 to ISA16.
var isaNotes = [17]string{
	"", "010", "011", "012", "013", "005", "006", "007", "008", "014", "015", "016", "017", "018", "019", "020", "027",
}

const (
	isaLen    = 106
	isaWindow = 512 // of input in which an ISA with line breaks and wrong widths must end
)

// Header is what an ISA says. It holds no PHI.
type Header struct {
	Delims   Delims
	Envelope claimdlq.Envelope
	// ISA13 is as written; Number is its value, 0 if it is not nine digits.
	ISA13  string
	Number uint32
	// AckWanted reports ISA14 1.
	AckWanted bool
	// Len is the length of the ISA in the input, terminator and suffix included.
	Len int
	// Note is the TA105 code that rejects the interchange for the value or the
	// width of one of its elements; empty where all are good.
	Note string
	// ZeroNumber, LetterRepetition and Wrapped are tolerated: an ISA13 of zeros, a
	// letter U where the repetition separator should be, line breaks inside.
	ZeroNumber, LetterRepetition, Wrapped bool
}

// ParseISA reads the ISA at the start of b. ta1 is empty when its delimiters
// could be read, even where an element is bad (see Header.Note). Otherwise it is
// the TA105 code to answer with: 022 not the shape of an ISA, 023 the input ends
// inside it, 004, 026 or 027 a delimiter that cannot be one. It never panics.
func ParseISA(b []byte) (h Header, ta1 string) {
	if len(b) < 4 {
		if string(b) == "ISA"[:min(len(b), 3)] && len(b) > 0 {
			return h, "023"
		}
		return h, "022"
	}
	if string(b[:3]) != "ISA" {
		return h, "022"
	}
	b = b[:min(len(b), isaWindow)]
	flat, raw, wrapped := flattenISA(b)
	sep := b[3]
	if fixedShape(flat, sep) {
		if len(flat) < isaLen {
			return h, "023"
		}
		var el [17][]byte
		for i, o := range isaOffsets {
			el[i+1] = flat[o+1 : o+1+isaWidths[i+1]]
		}
		h.Wrapped = wrapped
		h, ta1 = finishISA(h, el, sep, flat[104], flat[105], b[raw:])
		h.Len = raw + len(h.Delims.Suffix)
		return h, ta1
	}
	return countedISA(b, sep)
}

// flattenISA returns the first 106 bytes of b without the line breaks that a
// hard wrap puts into them, and how many bytes of b they took. The 106th byte is
// the terminator whatever it is, a line break included.
func flattenISA(b []byte) (flat []byte, raw int, wrapped bool) {
	if len(b) >= isaLen && b[104] != '\r' && b[104] != '\n' && fixedShape(b[:isaLen], b[3]) {
		return b[:isaLen], isaLen, false
	}
	flat = make([]byte, 0, isaLen)
	for raw < len(b) && len(flat) < isaLen {
		c := b[raw]
		raw++
		if (c == '\r' || c == '\n') && len(flat) < isaLen-1 {
			wrapped = true
			continue
		}
		flat = append(flat, c)
	}
	return flat, raw, wrapped
}

func fixedShape(flat []byte, sep byte) bool {
	for _, o := range isaOffsets {
		if o >= len(flat) {
			break
		}
		if flat[o] != sep {
			return false
		}
	}
	return len(flat) > 3
}

// countedISA reads an ISA whose elements have wrong widths by counting its
// separators. It is believed only where a segment that may follow an ISA follows.
func countedISA(b []byte, sep byte) (h Header, ta1 string) {
	if noDelimiter(sep) {
		return h, "022"
	}
	var el [17][]byte
	n, from := 0, 4
	for i := 4; i < len(b); i++ {
		if b[i] != sep {
			continue
		}
		n++
		el[n] = b[from:i]
		from = i + 1
		if n == 15 {
			break
		}
	}
	if n < 15 || from+1 >= len(b) {
		if len(b) < isaLen && n < 15 {
			return h, "023"
		}
		return h, "022"
	}
	comp, term := b[from], b[from+1]
	rest := b[from+2:]
	if noDelimiter(term) || term == sep || comp == sep || alnum(comp) || !followsISA(trimBreaks(rest), sep) {
		return h, "022"
	}
	for i := 1; i < 16; i++ {
		if len(el[i]) != isaWidths[i] {
			h.Note = isaNotes[i]
			break
		}
	}
	note := h.Note
	h, ta1 = finishISA(h, el, sep, comp, term, rest)
	if note != "" {
		h.Note = note
	}
	h.Len = len(b) - len(rest) + len(h.Delims.Suffix)
	return h, ta1
}

// noDelimiter reports whether c cannot separate or end anything: it occurs in
// data, or it is the NUL that stands for "none" in Delims.
func noDelimiter(c byte) bool { return alnum(c) || c == ' ' || c == 0 }

func trimBreaks(b []byte) []byte {
	for len(b) > 0 && (b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

func followsISA(b []byte, sep byte) bool {
	for _, id := range []string{"GS", "TA1", "IEA"} {
		if len(b) > len(id) && string(b[:len(id)]) == id && b[len(id)] == sep {
			return true
		}
	}
	return false
}

// finishISA judges delimiters and elements. rest is what follows the terminator.
func finishISA(h Header, el [17][]byte, sep, comp, term byte, rest []byte) (Header, string) {
	switch {
	case noDelimiter(sep):
		return h, "026"
	case alnum(term) && term != comp && !alnum(comp) && followsISA(append([]byte{term}, rest[:min(len(rest), 3)]...), sep):
		return h, "027" // ISA16 is missing: what stands for the terminator begins the next segment
	case term == sep:
		return h, "022" // one element too many
	case noDelimiter(term):
		return h, "004"
	}
	h.Delims = Delims{Element: sep, Component: comp, Segment: term, Suffix: suffixOf(rest, term)}
	el[16] = []byte{comp}
	str := func(i int) string { return trimSpace(el[i]) }
	h.Envelope = claimdlq.Envelope{
		SenderQualifier: str(5), Sender: str(6), ReceiverQualifier: str(7), Receiver: str(8),
		Date: str(9), Time: str(10), Usage: str(15),
	}
	h.ISA13 = string(el[13])
	if n, ok := digits(el[13]); ok && len(el[13]) <= 9 {
		h.Number = uint32(n)
		h.ZeroNumber = n == 0
	}
	h.AckWanted = string(el[14]) == "1"
	h.Note = judgeISA(el, sep, comp, term)
	h.repetition(el[11], sep, comp, term)
	if comp == sep || comp == term || alnum(comp) || comp == ' ' {
		h.Delims.Component = 0
	}
	return h, ""
}

func (h *Header) repetition(isa11 []byte, sep, comp, term byte) {
	if len(isa11) != 1 {
		return
	}
	c := isa11[0]
	switch {
	case c == 'U':
		h.LetterRepetition = true
	case alnum(c) || c == ' ' || c == sep || c == comp || c == term:
	default:
		h.Delims.Repetition = c
	}
}

// judgeISA returns the TA105 code of the first bad element, or "".
func judgeISA(el [17][]byte, sep, comp, term byte) string {
	for i := 1; i <= 16; i++ {
		if !goodISA(i, el[i], sep, comp, term) {
			if i == 12 && allDigits(el[12]) && len(el[12]) == 5 {
				return "003" // a version of the controls, but not one that is supported
			}
			return isaNotes[i]
		}
	}
	return ""
}

func goodISA(i int, e []byte, sep, comp, term byte) bool {
	for _, c := range e {
		if i != 11 && i != 16 && (c == sep || c == term || c < ' ' || c > '~') {
			return false
		}
	}
	s := string(e)
	switch i {
	case 1:
		return oneOf(s, "00", "01", "02", "03", "04", "05", "06")
	case 3:
		return oneOf(s, "00", "01")
	case 5, 7:
		return oneOf(s, "01", "14", "20", "27", "28", "29", "30", "33", "ZZ")
	case 6, 8:
		return trimSpace(e) != ""
	case 9:
		return len(e) == 6 && allDigits(e) && goodDay(2000+two(e[0:]), two(e[2:]), two(e[4:]))
	case 10:
		return len(e) == 4 && allDigits(e) && two(e) < 24 && two(e[2:]) < 60
	case 11:
		return len(e) == 1 && (e[0] == 'U' || !alnum(e[0]) && e[0] != sep && e[0] != comp && e[0] != term && e[0] != ' ')
	case 12:
		return s == "00501"
	case 13:
		return len(e) == 9 && allDigits(e)
	case 14:
		return s == "0" || s == "1"
	case 15:
		return oneOf(s, "P", "T", "I")
	case 16:
		return !alnum(comp) && comp != ' ' && comp != sep && comp != term
	}
	return true
}

// suffixOf returns the line break after the first terminator; it is expected
// after every other.
func suffixOf(rest []byte, term byte) string {
	switch {
	case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' && term != '\r' && term != '\n':
		return "\r\n"
	case len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r') && rest[0] != term:
		return string(rest[:1])
	}
	return ""
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func oneOf(s string, list ...string) bool { return slices.Contains(list, s) }

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// digits returns b as a number of at most 18 digits.
func digits(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// two returns the number that the first two digits of b make.
func two(b []byte) int { return int(b[0]-'0')*10 + int(b[1]-'0') }

// goodDay reports whether a calendar has such a day.
func goodDay(y, m, d int) bool {
	if m < 1 || m > 12 || d < 1 || d > 31 || y < 1 {
		return false
	}
	switch m {
	case 4, 6, 9, 11:
		return d < 31
	case 2:
		leap := y%4 == 0 && (y%100 != 0 || y%400 == 0)
		return d < 29 || d == 29 && leap
	}
	return true
}

func trimSpace(b []byte) string {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return string(b)
}
