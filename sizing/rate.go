package sizing

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"claimdlq"
)

// Rate is claims per time, as a fraction: 400/s is {400, 1}, one in a minute is
// {1, 60}. The zero Rate is none.
type Rate struct {
	Claims  int64 `json:"claims"`
	Seconds int64 `json:"seconds"`
}

const (
	maxClaims  = 1_000_000_000_000 // of a Rate; with maxSeconds all products fit 128 bits
	maxSeconds = 1_000_000
)

// PerSecond returns the rate of n claims a second.
func PerSecond(n int64) Rate { return Rate{n, 1} }

// ParseRate reads "400", "400/s", "24000/min", "0.5/h": a decimal number with at
// most six places, per s, min, h or d; per second where no unit is given. The
// error has code Invalid.
func ParseRate(s string) (Rate, error) {
	num, unit, _ := strings.Cut(s, "/")
	per, ok := map[string]int64{"": 1, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}[unit]
	whole, frac, _ := strings.Cut(num, ".")
	n, err := strconv.ParseUint(whole+frac, 10, 63)
	if !ok || err != nil || len(frac) > 6 || whole == "" {
		return Rate{}, invalid("read rate", "say 400/s, 24000/min, 90/h or 0.5/s")
	}
	for range len(frac) {
		per *= 10
	}
	r := Rate{int64(n), per}.reduced()
	if !r.valid() {
		return Rate{}, invalid("read rate", "it is 0 or out of range")
	}
	return r, nil
}

func invalid(op, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: hint}
}

func (r Rate) valid() bool {
	return r.Claims > 0 && r.Seconds > 0 && r.Claims <= maxClaims && r.Seconds <= maxSeconds
}

// IsZero reports whether there is no rate.
func (r Rate) IsZero() bool { return r.Claims <= 0 }

func (r Rate) reduced() Rate {
	a, b := r.Claims, r.Seconds
	for b != 0 {
		a, b = b, a%b
	}
	if a == 0 {
		return r
	}
	return Rate{r.Claims / a, r.Seconds / a}
}

// at returns when claim k arrives, k from 0.
func (r Rate) at(k int64) time.Duration {
	return time.Duration(mulDiv(k, r.Seconds*int64(time.Second), r.Claims, false))
}

// before returns how many claims arrive in [0, d).
func (r Rate) before(d time.Duration) int64 {
	if d <= 0 || r.IsZero() {
		return 0
	}
	return mulDiv(int64(d), r.Claims, r.Seconds*int64(time.Second), true)
}

// upTo returns how many claims arrive in [0, d].
func (r Rate) upTo(d time.Duration) int64 {
	if d == math.MaxInt64 {
		return r.before(d)
	}
	return r.before(d + 1)
}

// less reports whether r is slower than o.
func (r Rate) less(o Rate) bool {
	h1, l1 := bits.Mul64(uint64(r.Claims), uint64(o.Seconds))
	h2, l2 := bits.Mul64(uint64(o.Claims), uint64(r.Seconds))
	return h1 < h2 || h1 == h2 && l1 < l2
}

// minus returns r-o, the zero Rate where nothing is left or the fraction becomes
// too fine to be worth anything.
func (r Rate) minus(o Rate) Rate {
	if !o.less(r) {
		return Rate{}
	}
	a, b := r.reduced(), o.reduced()
	d := mulDiv(a.Claims, b.Seconds, 1, false) - mulDiv(b.Claims, a.Seconds, 1, false)
	return coarse(Rate{d, mulDiv(a.Seconds, b.Seconds, 1, false)})
}

// coarse makes a rate that is too fine for a Rate coarser, and rather slower: the
// zero Rate where nothing is left.
func coarse(r Rate) Rate {
	r = r.reduced()
	for r.Claims > maxClaims || r.Seconds > maxSeconds {
		r = Rate{r.Claims / 2, (r.Seconds + 1) / 2}
	}
	if !r.valid() {
		return Rate{}
	}
	return r
}

// times returns n times the rate, at most what a Rate can hold.
func (r Rate) times(n int64) Rate {
	return Rate{min(mulDiv(r.Claims, n, 1, false), maxClaims), r.Seconds}.reduced()
}

// String returns the rate in the largest unit in which it is whole: 400/s, 90/h.
func (r Rate) String() string {
	for _, u := range []struct {
		name    string
		seconds int64
	}{{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}} {
		if r.Seconds > 0 && r.Claims*u.seconds%r.Seconds == 0 {
			return Count(r.Claims*u.seconds/r.Seconds) + "/" + u.name
		}
	}
	return Count(r.Claims) + " in " + Count(r.Seconds) + " s"
}

// mulDiv returns a*b/c, rounded down or up, for a, b >= 0 and c > 0. What is
// larger than an int64 is the largest int64.
func mulDiv(a, b, c int64, up bool) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	q, rem := bits.Div64(hi, lo, uint64(c))
	if up && rem > 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}
