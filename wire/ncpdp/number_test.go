package ncpdp_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claimdlq/wire/ncpdp"
)

func TestParseAmount_EveryLastCharacter(t *testing.T) {
	t.Parallel()
	for i := range 256 {
		c := byte(i)
		d, signed, ok := ncpdp.ParseAmount([]byte{'1', c}, 2)
		plus, minus := strings.IndexByte("{ABCDEFGHI", c), strings.IndexByte("}JKLMNOPQR", c)
		switch {
		case plus >= 0:
			if !ok || !signed || d.Units != int64(10+plus) {
				t.Errorf("%q: %v %v %v", c, d, signed, ok)
			}
		case minus >= 0:
			if !ok || !signed || d.Units != -int64(10+minus) {
				t.Errorf("%q: %v %v %v", c, d, signed, ok)
			}
		case c >= '0' && c <= '9':
			if !ok || signed || d.Units != int64(10+c-'0') {
				t.Errorf("%q: %v %v %v", c, d, signed, ok)
			}
		default:
			if ok {
				t.Errorf("%q was read as %v", c, d)
			}
		}
	}
}

func TestParseAmount_ExactlyAndNothingElse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0000123D": "12.34", "557{": "55.70", "500{": "50.00", "0000001}": "-0.10", "0000135N": "-13.55", "9999999I": "999999.99",
		"9999999R": "-999999.99", "{": "0.00", "}": "0.00", "A": "0.01", "J": "-0.01", "0000000}": "0.00", "1234": "12.34",
		"00000000000000001A": "0.11",
	} {
		if d, _, ok := ncpdp.ParseAmount([]byte(in), 2); !ok || d.String() != want {
			t.Errorf("%q: %v %v, want %s", in, d, ok, want)
		}
	}
	for _, in := range []string{"", " ", "-", "-1.0", "12.3D", "+1", "1{2", "{{", "0000123Z", "0000123d", "1 D", "1\x00", "0000000000000000001"} {
		if d, _, ok := ncpdp.ParseAmount([]byte(in), 2); ok {
			t.Errorf("%q was read as %v", in, d)
		}
	}
	if d, _, _ := ncpdp.ParseAmount([]byte("012345{"), 4); d.String() != "12.3450" { // 483-HE has four decimals
		t.Error(d)
	}
}

func TestParseQuantity_DigitsOnly(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"0000030000": "30.000", "30000": "30.000", "0": "0.000", "1": "0.001", "9999999999": "9999999.999"} {
		if d, ok := ncpdp.ParseQuantity([]byte(in), 3); !ok || d.String() != want {
			t.Errorf("%q: %v %v", in, d, ok)
		}
	}
	for _, in := range []string{"", "30.5", "3000{", "-1", " 1", "1234567890123456789"} {
		if _, ok := ncpdp.ParseQuantity([]byte(in), 3); ok {
			t.Errorf("%q was read", in)
		}
	}
}

func TestDecimal_StringHasAllItsDecimals(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]ncpdp.Decimal{
		"0.05": {Units: 5, Scale: 2}, "-0.05": {Units: -5, Scale: 2}, "7": {Units: 7}, "-1.000": {Units: -1000, Scale: 3},
		"-9223372036854775808": {Units: math.MinInt64}, "-92233720368547758.08": {Units: math.MinInt64, Scale: 2},
	} {
		if d.String() != want {
			t.Errorf("%s, want %s", d, want)
		}
	}
}

func TestAppendAmount_WhatFitsComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(-99999999, 99999999).Draw(t, "n")
		b, ok := ncpdp.AppendAmount(nil, n, 8)
		if !ok || len(b) != 8 {
			t.Fatalf("%d: %q %v", n, b, ok)
		}
		d, signed, ok := ncpdp.ParseAmount(b, 2)
		if !ok || !signed || d.Units != n {
			t.Fatalf("%d: %q is %v", n, b, d)
		}
	})
	for _, n := range []int64{100000000, -100000000, math.MaxInt64, math.MinInt64} {
		if b, ok := ncpdp.AppendAmount(nil, n, 8); ok || len(b) > 0 {
			t.Errorf("%d: %q", n, b)
		}
	}
}

func TestAppendQuantity_WhatFitsComesBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, 30000, 9999999999} {
		b, ok := ncpdp.AppendQuantity(nil, n, 10)
		if d, good := ncpdp.ParseQuantity(b, 3); !ok || !good || len(b) != 10 || d.Units != n {
			t.Errorf("%d: %q", n, b)
		}
	}
	for _, n := range []int64{-1, 10000000000} {
		if _, ok := ncpdp.AppendQuantity(nil, n, 10); ok {
			t.Errorf("%d fits", n)
		}
	}
}

func TestDictionary_IsWellFormed(t *testing.T) {
	t.Parallel()
	all := ncpdp.Dictionary()
	if len(all) != 497 {
		t.Errorf("%d fields", len(all))
	}
	kinds := map[ncpdp.FieldKind]int{}
	for _, d := range all {
		kinds[d.Kind]++
		if got, ok := ncpdp.Lookup(d.ID); !ok || got != d {
			t.Errorf("%s is not found", d.ID)
		}
		if d.Kind == ncpdp.Date && d.LenD0 != 8 || d.Kind == ncpdp.Quantity && d.LenD0 != 10 || d.LenD0 < 0 {
			t.Errorf("%s: %+v", d.ID, d)
		}
	}
	if len(kinds) != 6 {
		t.Errorf("kinds %v", kinds)
	}
	for id, want := range map[string]string{"D9": "D", "HE": "R", "E7": "Q", "D2": "N", "C4": "T", "C2": "A"} {
		if d, _ := ncpdp.Lookup(ncpdp.IDOf(id)); string(d.Kind) != want {
			t.Errorf("%s is %c", id, d.Kind)
		}
	}
	for _, id := range []string{"", "D", "d2", "??", "ZZ", "&B", "D22"} {
		if _, ok := ncpdp.Lookup(ncpdp.IDOf(id)); ok {
			t.Errorf("%q is known", id)
		}
	}
}
