package sizing

import (
	"math/big"
	"strconv"
	"strings"
)

// Share is a part of a whole, in millionths: 1,000 is 0.1 %.
type Share int64

// All is the whole.
const All Share = 1_000_000

// ParseShare reads "0.1%", "5%" or "0.001", to a millionth. The error has code
// Invalid.
func ParseShare(s string) (Share, error) {
	num, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	places := 6
	if percent {
		places = 4
	}
	whole, frac, _ := strings.Cut(strings.TrimSpace(num), ".")
	if len(frac) > places || whole == "" {
		return 0, invalid("read share", "say 0.1%, or 0.001; a millionth is the smallest")
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", places-len(frac)), 10, 32)
	if err != nil || Share(n) > All {
		return 0, invalid("read share", "it is between 0% and 100%")
	}
	return Share(n), nil
}

// ShareOf returns part of whole, rounded up to a millionth.
func ShareOf(part, whole int64) Share {
	if part <= 0 || whole <= 0 {
		return 0
	}
	return min(Share(mulDiv(part, int64(All), whole, true)), All)
}

// String returns the share in percent: 0.1 %.
func (s Share) String() string {
	t := strconv.FormatInt(int64(s)/10_000, 10)
	if r := int64(s) % 10_000; r != 0 {
		t += "." + strings.TrimRight(strconv.FormatInt(10_000+r, 10)[1:], "0")
	}
	return t + " %"
}

// of returns the share of n, rounded up.
func (s Share) of(n int64) int64 { return mulDiv(n, int64(s), int64(All), true) }

// power returns s^n as a fraction.
func (s Share) power(n uint32) *big.Rat {
	e := big.NewInt(int64(n))
	return new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(int64(s)), e, nil), new(big.Int).Exp(big.NewInt(int64(All)), e, nil))
}
