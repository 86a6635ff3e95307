package filing

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"claimdlq/phi"
)

// Day is a calendar day, from 1970-01-02 to 2149-06-06; the zero Day is none. It may be a
// date of service: however it is printed, it does not show.
type Day struct{ n uint16 }

const hidden = "[phi day]"

// ParseDay reads CCYYMMDD; the zero Day where it is no such day.
func ParseDay(b []byte) Day {
	if len(b) != 8 {
		return Day{}
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return Day{}
		}
		n = n*10 + int(c-'0')
	}
	year, month, day := n/10000, time.Month(n/100%100), n%100
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if t.Month() != month || t.Day() != day || t.Year() != year {
		return Day{}
	}
	return dayOf(t.Unix() / secondsADay)
}

const secondsADay = 24 * 60 * 60

func dayOf(n int64) Day {
	if n <= 0 || n > 1<<16-1 {
		return Day{}
	}
	return Day{uint16(n)}
}

// IsZero reports whether it is no day.
func (d Day) IsZero() bool { return d.n == 0 }

// Before reports whether d is earlier than o.
func (d Day) Before(o Day) bool { return d.n < o.n }

// Start returns when the day begins, in UTC.
func (d Day) Start() time.Time { return time.Unix(int64(d.n)*secondsADay, 0).UTC() }

// String does not show the day.
func (d Day) String() string { return hidden }

// Format implements fmt.Formatter for every verb.
func (d Day) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// LogValue implements slog.LogValuer.
func (d Day) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText always fails.
func (d Day) MarshalText() ([]byte, error) { return nil, phi.ErrMarshal }
