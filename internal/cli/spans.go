package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// spanFlag is a time such as 5m, 8h or 14d.
type spanFlag struct {
	d   time.Duration
	set bool
}

func (s *spanFlag) String() string { return "" }
func (s *spanFlag) Type() string   { return "time" }

func (s *spanFlag) Set(t string) (err error) {
	s.set = true
	s.d, err = parseSpan(t)
	return err
}

// spansFlag is a list of them.
type spansFlag []time.Duration

func (s *spansFlag) String() string { return "" }
func (s *spansFlag) Type() string   { return "times" }

func (s *spansFlag) Set(t string) error {
	for part := range strings.SplitSeq(t, ",") {
		d, err := parseSpan(part)
		if err != nil {
			return err
		}
		*s = append(*s, d)
	}
	return nil
}

// parseSpan reads a Go duration that may begin with days: 14d, 1d12h.
func parseSpan(t string) (time.Duration, error) {
	rest, d := strings.TrimSpace(t), time.Duration(0)
	wrong := errors.New("say 90s, 5m, 8h or 14d")
	if days, after, ok := strings.Cut(rest, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, wrong
		}
		d, rest = time.Duration(n)*24*time.Hour, after
		if rest == "" {
			return d, nil
		}
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, wrong
	}
	return d + more, nil
}
