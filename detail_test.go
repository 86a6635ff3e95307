package claimdlq_test

import (
	"regexp"
	"strings"
	"testing"

	"claimdlq"
)

var grammar = regexp.MustCompile(`\A[A-Z0-9_:.-]{1,64}\z`)

func TestDetail_ObeysItsGrammarExactly(t *testing.T) {
	t.Parallel()
	const invalid = "DETAIL_INVALID"
	for in, want := range map[string]string{
		"": "", "IK4:SV102": "IK4:SV102", "IK4:CLM05-3:7": "IK4:CLM05-3:7", "RULE:NPI_1.2": "RULE:NPI_1.2",
		strings.Repeat("A", 64): strings.Repeat("A", 64), strings.Repeat("A", 65): invalid,
		"ik4": invalid, "POS MISMATCH": invalid, "A*B": invalid, "A~": invalid, "A\n": invalid, "É": invalid, "A/B": invalid, "A[": invalid, "A@": invalid, "A;": invalid,
	} {
		d := claimdlq.NewDetail(in)
		if d.String() != want || d.IsZero() != (want == "") {
			t.Errorf("%q is %q, want %q", in, d, want)
		}
	}
}

func FuzzDetail(f *testing.F) {
	for _, s := range []string{"", "IK4:SV102", "DOE^JANE", "a", "A\x00", strings.Repeat("Z", 65)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := claimdlq.NewDetail(s)
		switch {
		case s == "" && d.IsZero():
		case grammar.MatchString(s) && d.String() == s:
		case !grammar.MatchString(s) && d.String() == "DETAIL_INVALID":
		default:
			t.Fatalf("%q is %q", s, d)
		}
		var u claimdlq.Detail
		if text, _ := d.MarshalText(); u.UnmarshalText(text) != nil || u != d {
			t.Fatalf("%q does not round trip", d)
		}
	})
}
