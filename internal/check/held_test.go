package check_test

import (
	"strings"
	"testing"
)

// What is wrong with a group or an interchange holds every claim in it, and none
// beside it.
func TestFile_EnvelopeFaultHoldsItsClaims(t *testing.T) {
	t.Parallel()
	other := again("000000102", "202")
	other = strings.NewReplacer("CANARYPCN1", "CANARYPCN2", "CANARYMBR1", "CANARYMBR2").Replace(other)
	for name, c := range map[string]struct {
		in  string
		bad int
	}{
		"nothing":                     {claims, 0},
		"a group's count":             {strings.Replace(claims, "GE*1*201", "GE*2*201", 1), 1},
		"a group's number":            {strings.Replace(claims, "GE*1*201", "GE*1*999", 1), 1},
		"an interchange's number":     {strings.Replace(claims, "IEA*1*000000101", "IEA*1*000000999", 1), 1},
		"an interchange cut off":      {strings.Replace(claims, "IEA*1*000000101~", "", 1), 1},
		"the claim and its group":     {strings.NewReplacer("SBR*P", "SBR*Q", "GE*1*201", "GE*2*201").Replace(claims), 1},
		"the claim alone":             {strings.Replace(claims, "SBR*P", "SBR*Q", 1), 1},
		"the first of two":            {strings.Replace(claims, "IEA*1*000000101", "IEA*1*000000999", 1) + other, 1},
		"the second of two":           {claims + strings.Replace(other, "GE*1*202", "GE*2*202", 1), 1},
		"a redelivery of the first":   {claims + claims, 1},
		"both of two by their number": {strings.Replace(claims, "IEA*1*", "IEA*9*", 1) + strings.Replace(other, "IEA*1*", "IEA*9*", 1), 2},
	} {
		if r := run(t, c.in); r.BadClaims != c.bad || r.Claims < c.bad {
			t.Errorf("%s: %d of %d claims held, want %d", name, r.BadClaims, r.Claims, c.bad)
		}
	}
}
