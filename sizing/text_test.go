package sizing_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/sizing"
)

func TestSpan_PrintsForPeople(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-1: "never", 0: "0 s", 1: "0.001 ms", 22500 * time.Microsecond: "22.5 ms", 999999999: "1000 ms", time.Second: "1 s", 60 * time.Second: "60 s",
		60747500 * time.Microsecond: "60.748 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min", 150 * time.Second: "2 min 30 s",
		30 * time.Minute: "30 min", 90 * time.Minute: "1 h 30 min", 24 * time.Hour: "24 h", 47 * time.Hour: "47 h", 14 * 24 * time.Hour: "14 d",
		50 * time.Hour: "2 d 2 h", time.Hour + time.Second: "1 h", 1000 * 24 * time.Hour: "1,000 d",
	} {
		if got := sizing.Span(d).String(); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}

func TestNumbers_PrintForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 558_400: "558,400", 3_558_400: "3,558,400"} {
		if got := sizing.Count(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		999_999: "999,999", 1_000_000: "1 M", 3_558_400: "3.56 M", 34_560_000: "34.6 M", 999_600_000: "1000 M", 13_824_000_000: "13.8 G", math.MaxInt64: "9223372 T",
	} {
		if got := sizing.Short(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 1_466_418_800: "1.47 GB", 43_200_000_000: "43.2 GB"} {
		if got := sizing.Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestParseRate_ReadsWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct {
		rate sizing.Rate
		text string
	}{
		"400":       {sizing.Rate{Claims: 400, Seconds: 1}, "400/s"},
		"400/s":     {sizing.Rate{Claims: 400, Seconds: 1}, "400/s"},
		"24000/min": {sizing.Rate{Claims: 400, Seconds: 1}, "400/s"},
		"0.5":       {sizing.Rate{Claims: 1, Seconds: 2}, "30/min"},
		"90/h":      {sizing.Rate{Claims: 1, Seconds: 40}, "90/h"},
		"1/d":       {sizing.Rate{Claims: 1, Seconds: 86400}, "1/d"},
		"1.25/m":    {sizing.Rate{Claims: 1, Seconds: 48}, "75/h"},
		"0.7/d":     {sizing.Rate{Claims: 7, Seconds: 864_000}, "7 in 864,000 s"},
	} {
		got, err := sizing.ParseRate(s)
		if err != nil || got != want.rate || got.String() != want.text {
			t.Errorf("%q is %+v %q, %v", s, got, got, err)
		}
	}
	for _, s := range []string{"", "x", "-1", "400/week", "0", "1.1234567", ".5", "1e3", "99999999999999999999", "1/s/s"} {
		if r, err := sizing.ParseRate(s); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%q is %+v, %v", s, r, err)
		}
	}
}

func TestParseShare_ReadsPercentAndFractions(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]sizing.Share{"0.1%": 1000, "0.1 %": 1000, "0.001": 1000, "100%": sizing.All, "1": sizing.All, "0": 0, "0.0001%": 1, "5%": 50_000} {
		if got, err := sizing.ParseShare(s); err != nil || got != want {
			t.Errorf("%q is %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "%", "101%", "1.1", "0.00001%", "-1%", "x"} {
		if got, err := sizing.ParseShare(s); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%q is %d, %v", s, got, err)
		}
	}
	for s, want := range map[sizing.Share]string{0: "0 %", 1: "0.0001 %", 1000: "0.1 %", 50_000: "5 %", 12_500: "1.25 %", sizing.All: "100 %"} {
		if got := s.String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
		}
	}
	if got := sizing.ShareOf(1, 3); got != 333_334 {
		t.Errorf("a third is %d", got)
	}
	if got := sizing.ShareOf(1, 0); got != 0 {
		t.Errorf("of nothing it is %d", got)
	}
}
