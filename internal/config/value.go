package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimdlq/retry"
)

const (
	millisecond = time.Millisecond
	second      = time.Second
	minute      = time.Minute
	hour        = time.Hour
	day         = 24 * time.Hour

	maxWorkers = 4096
	maxWindow  = retry.MaxWindow
)

// number is what a whole number is read into.
type number interface {
	~int | ~int64 | ~uint16 | ~uint32 | ~uint64
}

func whole[T number](to *T, least, most int64) leaf {
	return func(s string) string {
		n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Sprintf("must be a whole number from %d to %d", least, most)
		}
		*to = T(n)
		return ""
	}
}

func yesNo(to *bool) leaf {
	return func(s string) string {
		switch strings.ToLower(s) {
		case "true":
			*to = true
		case "false":
			*to = false
		default:
			return "must be true or false"
		}
		return ""
	}
}

func oneOf[T ~string](to *T, words ...T) leaf {
	return func(s string) string {
		if !slices.Contains(words, T(s)) {
			names := make([]string, len(words))
			for i, w := range words {
				names[i] = string(w)
			}
			return "must be one of " + strings.Join(names, ", ")
		}
		*to = T(s)
		return ""
	}
}

// text reads a word that check allows.
func text(to *string, check func(string) string) leaf {
	return func(s string) string {
		if what := check(s); what != "" {
			return what
		}
		*to = s
		return ""
	}
}

func span(to *time.Duration, least, most time.Duration) leaf {
	return func(s string) string {
		d, ok := parseSpan(s)
		if !ok {
			return "must be a time such as 800ms, 30s, 5m, 1h30m or 14d"
		}
		if d < least || d > most {
			return fmt.Sprintf("must be a time from %s to %s", sayspan(least), sayspan(most))
		}
		*to = d
		return ""
	}
}

// tier names a latency above which an answer counts as a failure.
func tier(to *time.Duration) leaf {
	return func(s string) string {
		switch s {
		case "retail":
			*to = retry.SlowRetail
		case "specialty":
			*to = retry.SlowSpecialty
		default:
			return "must be retail (800ms) or specialty (1200ms)"
		}
		return ""
	}
}

// parseSpan reads days, which time.ParseDuration has not, and what it has.
func parseSpan(s string) (time.Duration, bool) {
	var days time.Duration
	if before, after, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(before, 10, 32)
		if err != nil || n > math.MaxInt64/uint64(day) {
			return 0, false
		}
		days, s = time.Duration(n)*day, after
		if s == "" {
			return days, true
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > math.MaxInt64-days {
		return 0, false
	}
	return days + d, true
}

func sayspan(d time.Duration) string {
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var units = []struct {
	name string
	n    int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}

func size(to *int64, least, most int64) leaf {
	return func(s string) string {
		n, ok := parseSize(s)
		if !ok {
			return "must be a size in bytes, or such as 512KiB, 64MiB, 2GiB"
		}
		if n < least || n > most {
			return fmt.Sprintf("must be a size from %s to %s", saysize(least), saysize(most))
		}
		*to = n
		return ""
	}
}

func parseSize(s string) (int64, bool) {
	unit := int64(1)
	for _, u := range units {
		if before, ok := strings.CutSuffix(s, u.name); ok {
			s, unit = strings.TrimSpace(before), u.n
			break
		}
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(n) * unit, true
}

func saysize(n int64) string {
	for _, u := range slices.Backward(units) {
		if n >= u.n && n%u.n == 0 {
			return strconv.FormatInt(n/u.n, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
