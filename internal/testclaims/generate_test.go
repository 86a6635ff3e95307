package testclaims_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12"
)

var formats = []claimdlq.Format{claimdlq.Format837P, claimdlq.Format837I, claimdlq.Format837D}

func generate(t *testing.T, o testclaims.Options) (string, testclaims.Stats) {
	t.Helper()
	var b bytes.Buffer
	s, err := testclaims.Generate(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Bytes != int64(b.Len()) {
		t.Fatalf("stats say %d bytes, the file has %d", s.Bytes, b.Len())
	}
	return b.String(), s
}

func TestGenerate_EveryShapeIsBalancedAndCounted(t *testing.T) {
	t.Parallel()
	shapes := map[string]testclaims.Options{
		"one claim":           {},
		"several of each":     {Claims: 40, ClaimsPerSet: 3, SetsPerGroup: 2, GroupsPerInterchange: 2, ISA13: 999999999, GS06: 77},
		"dependents":          {Claims: 12, DependentEvery: 2},
		"claims per patient":  {Claims: 12, ClaimsPerPatient: 5, DependentEvery: 1},
		"canaries":            {Claims: 12, Canary: true, DependentEvery: 3},
		"limited by bytes":    {Bytes: 20000, ClaimsPerSet: 7},
		"control-code delims": {Claims: 5, Delims: x12.Delims{Element: 0x1d, Component: 0x1f, Segment: 0x1c, Repetition: 0x1e}},
		"printable delims":    {Claims: 5, Delims: x12.Delims{Element: '|', Component: '>', Segment: '\r', Repetition: '!', Suffix: "\n"}},
	}
	for name, o := range shapes {
		for _, f := range formats {
			t.Run(name+" "+f.String(), func(t *testing.T) {
				t.Parallel()
				o := o
				o.Format = f
				var claims []testclaims.Claim
				o.OnClaim = func(c testclaims.Claim) { claims = append(claims, c) }
				file, stats := generate(t, o)
				got := judge(t, file)
				if got.claims != stats.Claims || got.sets != stats.Sets || got.groups != stats.Groups ||
					got.interchanges != stats.Interchanges || got.cents != stats.AmountCents || int64(got.segments) != stats.Segments {
					t.Fatalf("the file has %+v, stats say %+v", got, stats)
				}
				for i, c := range claims {
					if c.CLM01 != got.clm01[i] {
						t.Fatalf("OnClaim said another CLM01 than claim %d has", i+1)
					}
				}
			})
		}
	}
}

func TestGenerate_SameSeedSameBytesOtherSeedOthers(t *testing.T) {
	t.Parallel()
	o := testclaims.Options{Claims: 200, Seed: 7}
	first, _ := generate(t, o)
	again, _ := generate(t, o)
	o.Seed = 8
	other, _ := generate(t, o)
	if first != again || first == other {
		t.Fatal("the seed alone must decide the bytes")
	}
}

func TestGenerate_OtherNumbersKeepTheClaims(t *testing.T) {
	t.Parallel()
	o := testclaims.Options{Claims: 3, Seed: 7}
	a, _ := generate(t, o)
	o.ISA13, o.GS06, o.ST02 = 500, 600, 700
	b, _ := generate(t, o)
	claims := func(s string) string { return s[strings.Index(s, "HL*1*"):strings.Index(s, "~SE*")] }
	if a == b || claims(a) != claims(b) {
		t.Fatal("control numbers must not change the claims")
	}
}

func TestGenerate_EndsWithTheFirstClaimPastTheBytes(t *testing.T) {
	t.Parallel()
	_, all := generate(t, testclaims.Options{Claims: 30})
	_, s := generate(t, testclaims.Options{Bytes: all.Bytes / 2})
	if s.Bytes < all.Bytes/2 || s.Bytes > all.Bytes/2+1500 {
		t.Fatalf("asked for %d bytes, got %d", all.Bytes/2, s.Bytes)
	}
}

func TestGenerate_CanaryMarksEveryPHIField(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		o := testclaims.Options{Format: f, Claims: 6, Canary: true, DependentEvery: 2}
		file, _ := generate(t, o)
		for _, prefix := range []string{
			"BHT*0019*00*", "SBR*P*18*", "NM1*IL*1*", "N3*", "NM1*QC*1*", "CLM*", "REF*D9*", "REF*EA*", "REF*G1*", "REF*6R*", "K3*", "NTE*ADD*",
		} {
			marked := 0
			for s := range strings.SplitSeq(file, "~") {
				if v, ok := strings.CutPrefix(s, prefix); ok && strings.HasPrefix(v, "ZZCANARY") {
					marked++
				}
			}
			if marked == 0 && (f != claimdlq.Format837D || prefix != "REF*EA*") {
				t.Errorf("%s: no %s segment has a mark", f, prefix)
			}
		}
		for _, m := range testclaims.Marks(o) {
			if !strings.Contains(file, m) && (f != claimdlq.Format837D || !strings.ContainsAny(m[:1], "STO")) {
				t.Errorf("%s: mark %s is not in the file", f, m)
			}
		}
		plain, _ := generate(t, testclaims.Options{Format: f, Claims: 6})
		for _, m := range []string{"ZZCANARY", "998887777", "19110917"} {
			if strings.Contains(plain, m) {
				t.Errorf("%s: a plain file holds mark %s", f, m)
			}
		}
	}
}

func TestGenerate_RefusesWhatItCannotMake(t *testing.T) {
	t.Parallel()
	bad := map[string]testclaims.Options{
		"format":           {Format: claimdlq.FormatNCPDP},
		"negative claims":  {Claims: -1},
		"long sender":      {Sender: "SENDERWITHSIXTEEN"},
		"lower case":       {Receiver: "payer"},
		"separator in id":  {Receiver: "A*B"},
		"letter delimiter": {Delims: x12.Delims{Element: 'A'}},
		"twin delimiters":  {Delims: x12.Delims{Element: ':'}},
		"suffix":           {Delims: x12.Delims{Suffix: "\t"}},
		"unknown fault":    {Faults: []testclaims.Fault{{Name: "no-such", At: []int{1}}}},
		"HI in dental":     {Format: claimdlq.Format837D, Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{1}}}},
		"control number":   {ISA13: 1000000000},
		"year":             {Date: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	for name, o := range bad {
		if _, err := testclaims.Generate(io.Discard, o); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: got %v, want Invalid", name, err)
		}
	}
}

type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestGenerate_ReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	for _, left := range []int{0, 1 << 19} {
		if _, err := testclaims.Generate(&failing{left}, testclaims.Options{Claims: 5000}); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("got %v", err)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		s, err := testclaims.Generate(io.Discard, testclaims.Options{Claims: 37750})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(s.Bytes)
	}
}
