package sizing

import (
	"strconv"
	"strings"
	"time"
)

// Span is a time that prints for people and marshals as milliseconds, to the
// nanosecond. A negative one is the time of what never happens.
type Span time.Duration

// MarshalJSON implements json.Marshaler: milliseconds, such as 60000 or 22.5; null
// for never.
func (s Span) MarshalJSON() ([]byte, error) {
	if s < 0 {
		return []byte("null"), nil
	}
	return []byte(decimal(int64(s), 6)), nil
}

// decimal prints n/10^places without trailing zeros, for n >= 0.
func decimal(n int64, places int) string {
	t := strconv.FormatInt(n, 10)
	if len(t) <= places {
		t = strings.Repeat("0", places+1-len(t)) + t
	}
	whole, frac := t[:len(t)-places], strings.TrimRight(t[len(t)-places:], "0")
	if frac != "" {
		frac = "." + frac
	}
	return whole + frac
}

// String prints milliseconds below a second, seconds below two minutes, and above
// that the two largest units: 22.5 ms, 60 s, 5 min, 1 h 30 min, 14 d.
func (s Span) String() string {
	d := time.Duration(s)
	switch {
	case d < 0:
		return "never"
	case d > 0 && d < time.Second:
		return decimal(int64(max(d.Round(time.Microsecond), time.Microsecond)), 6) + " ms"
	case d < 2*time.Minute:
		return decimal(int64(d.Round(time.Millisecond)), 9) + " s"
	}
	d = d.Round(time.Second)
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		if d < 2*u.size && (u.size == 24*time.Hour || d < u.size) {
			continue
		}
		out := Count(int64(d/u.size)) + " " + u.name
		if rest := d % u.size; i+1 < len(units) && rest >= units[i+1].size {
			out += " " + Count(int64(rest/units[i+1].size)) + " " + units[i+1].name
		}
		return out
	}
	return "0 s"
}

// Count prints a whole number with separators: 558,400.
func Count(n int64) string {
	t := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(t) - 3; i > start; i -= 3 {
		t = t[:i] + "," + t[i:]
	}
	return t
}

// Short prints a number for a sentence: whole below a million, and above it to
// three figures: 558,400; 3.56 M; 13.8 G.
func Short(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}} {
		if n >= u.size {
			return figures(n, u.size) + " " + u.name
		}
	}
	return Count(n)
}

// Bytes prints a size in decimal units to three figures: 1.29 GB.
func Bytes(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n >= u.size {
			return figures(n, u.size) + " " + u.name
		}
	}
	return Count(n) + " B"
}

// figures prints n/size to three figures, for n >= size and size >= 1000.
func figures(n, size int64) string {
	places := 2
	for q := n / size; q >= 10 && places > 0; q /= 10 {
		places--
	}
	scale := int64(1)
	for range places {
		scale *= 10
	}
	v := n / (size / scale)
	if n%(size/scale)*2 >= size/scale {
		v++
	}
	return decimal(v, places)
}
