package x12

import "bytes"

// setElement returns raw, one segment with or without its terminator, with the
// nth element set; with c > 0 only the cth component of its first repetition.
// Missing separators are padded. An empty value takes trailing separators away.
// What is before and after the segment stays to the byte.
func setElement(raw []byte, d Delims, n, c int, value []byte) []byte {
	start := len(raw) - len(trimIndent(raw, d))
	end := start + lenOfSegment(raw[start:], d)
	head, tail := raw[:start], raw[end:]
	seg := raw[start:end]

	from := offsetBehind(seg, d.Element, n)
	var out []byte
	out = append(out, head...)
	if from < 0 {
		out = append(out, seg...)
		for range n - bytes.Count(seg, []byte{d.Element}) {
			out = append(out, d.Element)
		}
		out = appendComponent(out, nil, d, c, value)
	} else {
		to := from + lenTo(seg[from:], d.Element)
		out = append(out, seg[:from]...)
		out = appendComponent(out, seg[from:to], d, c, value)
		out = append(out, seg[to:]...)
	}
	if len(value) == 0 {
		out = bytes.TrimRight(out, string([]byte{d.Element}))
	}
	return append(out, tail...)
}

// appendComponent appends the element old with component c set, or value where c is 0.
func appendComponent(out, old []byte, d Delims, c int, value []byte) []byte {
	if c == 0 {
		return append(out, value...)
	}
	rest := []byte(nil)
	if d.Repetition != 0 {
		n := lenTo(old, d.Repetition)
		old, rest = old[:n], old[n:]
	}
	from := offsetBehind(old, d.Component, c-1)
	if from < 0 {
		out = append(out, old...)
		for range c - 1 - bytes.Count(old, []byte{d.Component}) {
			out = append(out, d.Component)
		}
		out = append(out, value...)
		return append(out, rest...)
	}
	at := len(out)
	to := from + lenTo(old[from:], d.Component)
	out = append(out, old[:from]...)
	out = append(out, value...)
	out = append(out, old[to:]...)
	if len(value) == 0 {
		out = append(out[:at], bytes.TrimRight(out[at:], string([]byte{d.Component}))...)
	}
	return append(out, rest...)
}

// lenOfSegment returns the length of a segment without terminator and suffix.
func lenOfSegment(seg []byte, d Delims) int { return lenTo(seg, d.Segment) }

// lenTo returns how far it is to the separator, or the whole length.
func lenTo(b []byte, sep byte) int {
	if i := bytes.IndexByte(b, sep); i >= 0 {
		return i
	}
	return len(b)
}

// offsetBehind returns the offset behind the nth separator, -1 if there are fewer.
func offsetBehind(b []byte, sep byte, n int) int {
	off := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(b[off:], sep)
		if i < 0 {
			return -1
		}
		off += i + 1
	}
	return off
}
