package ncpdp

import "bytes"

// hintOrder is how the hints are tried: the surest first.
var hintOrder = []struct {
	hint Hint
	is   func([]byte) bool
}{
	{HintHTML, IsHTML},
	{HintPictures, hasAny("\u241c", "\u241d", "\u241e", "\u241f", "\u2402", "\u2403")},
	{HintNotation, hasAny("<1E>", "<1e>", "<1C>", "<1c>", "<RS>", "<FS>", "[1E]", "[RS]", `\x1e`, `\x1E`, `\u001e`, `\u001E`, "0x1E", "0x1e", "&#30;", "&#x1E;", "%1E", "^^")},
	{HintNUL, hasAny("\x00")},
	{HintLineBreak, hasAny("\r", "\n")},
	{HintNonASCII, hasNonASCII},
	{HintLowerCase, isLowerCase},
	{HintOldVersion, isOldVersion},
}

// hintFor guesses how the bytes came to be broken.
func hintFor(b []byte) Hint {
	for _, h := range hintOrder {
		if h.is(b) {
			return h.hint
		}
	}
	return HintNone
}

func hasAny(marks ...string) func([]byte) bool {
	return func(b []byte) bool {
		for _, s := range marks {
			if bytes.Contains(b, []byte(s)) {
				return true
			}
		}
		return false
	}
}

func hasNonASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return true
		}
	}
	return false
}

// isLowerCase sees small letters and no capital one.
func isLowerCase(b []byte) bool {
	small := false
	for _, c := range b {
		if c >= 'A' && c <= 'Z' {
			return false
		}
		small = small || c >= 'a' && c <= 'z'
	}
	return small
}

// isOldVersion sees the stamps 30 to 3C, and 32 and 3A among them, at offset 6.
func isOldVersion(b []byte) bool {
	for len(b) > 0 && b[0] == stx {
		b = b[1:]
	}
	return len(b) > 8 && b[6] == '3' && allDigits(b[:6]) && KnownTransaction(b[8:10:10])
}

// IsHTML reports whether b begins like a web page.
func IsHTML(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\xef\xbb\xbf")
	for _, s := range []string{"<!doctype html", "<html", "<head", "<title", "<body", "<h1"} {
		if len(b) >= len(s) && bytes.EqualFold(b[:len(s)], []byte(s)) {
			return true
		}
	}
	return false
}
