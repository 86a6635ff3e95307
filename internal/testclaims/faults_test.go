package testclaims_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/testclaims"
)

// shape has several of everything, so that each fault has a second place.
var shape = testclaims.Options{Claims: 24, ClaimsPerSet: 3, SetsPerGroup: 2, GroupsPerInterchange: 2, DependentEvery: 5}

func TestFaults_EachChangesOnlyItsOwnPlace(t *testing.T) {
	t.Parallel()
	for _, k := range testclaims.Catalog() {
		for _, f := range formats {
			if !k.AppliesTo(f) {
				continue
			}
			t.Run(k.Name+" "+f.String(), func(t *testing.T) {
				t.Parallel()
				o := shape
				o.Format = f
				clean, _ := generate(t, o)
				place := 2
				if k.Scope == testclaims.InFile {
					place = 1
				}
				o.Faults = []testclaims.Fault{{Name: k.Name, At: []int{place}}}
				bad, stats := generate(t, o)
				if len(stats.Made) != 1 || stats.Made[0].Fault != k.Name {
					t.Fatalf("made %+v", stats.Made)
				}
				if (stats.BadClaims == 1) != (k.Scope == testclaims.InClaim) {
					t.Fatalf("%d bad claims", stats.BadClaims)
				}
				if clean == bad {
					t.Fatal("the file is clean")
				}
				a, b := strings.Split(clean, "~"), strings.Split(bad, "~")
				if k.Name == "truncated" {
					if !strings.HasPrefix(clean, bad) || strings.Contains(b[len(b)-1], "IEA") {
						t.Fatal("a truncated file must be the start of the clean one")
					}
					return
				}
				if n := changed(a, b); n > 12 { // a number shows in the header, the trailer and each BHT03
					t.Fatalf("%d segments differ from the clean file", n)
				}
			})
		}
	}
}

// changed counts the segments that only one of the two files has.
func changed(a, b []string) (n int) {
	has := map[string]int{}
	for _, s := range a {
		has[s]++
	}
	for _, s := range b {
		has[s]--
	}
	for _, d := range has {
		n += max(d, -d)
	}
	return n
}

func TestFaults_RateAndPlaces(t *testing.T) {
	t.Parallel()
	o := testclaims.Options{Claims: 20, Faults: []testclaims.Fault{{Name: "bad-date", Every: 5}, {Name: "bad-date", At: []int{3}}, {Name: "lx-restart", At: []int{5}}}}
	bad := map[int][]string{}
	o.OnClaim = func(c testclaims.Claim) {
		if c.Faults != nil {
			bad[c.Claim] = c.Faults
		}
	}
	_, stats := generate(t, o)
	if len(bad) != 5 || stats.BadClaims != 5 || len(stats.Made) != 6 {
		t.Fatalf("bad %v, stats %+v", bad, stats)
	}
	if !slices.Equal(bad[5], []string{"bad-date", "lx-restart"}) || bad[3] == nil || bad[20] == nil || bad[4] != nil {
		t.Fatalf("bad %v", bad)
	}
}

func TestFaults_OfAPatientSpoilAllItsClaims(t *testing.T) {
	t.Parallel()
	o := testclaims.Options{Claims: 12, ClaimsPerSet: 12, ClaimsPerPatient: 4, Faults: []testclaims.Fault{{Name: "sbr01-bad", At: []int{5, 6}}}}
	_, stats := generate(t, o)
	if stats.BadClaims != 4 || len(stats.Made) != 1 {
		t.Fatalf("stats %+v", stats)
	}
}

func TestFaults_DuplicateOfNothingIsNotMade(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"st02-duplicate", "gs06-duplicate", "isa13-duplicate"} {
		clean, _ := generate(t, testclaims.Options{})
		same, stats := generate(t, testclaims.Options{Faults: []testclaims.Fault{{Name: name, Every: 1}}})
		if clean != same || len(stats.Made) != 0 {
			t.Errorf("%s: made %+v", name, stats.Made)
		}
	}
}

func TestParseFault(t *testing.T) {
	t.Parallel()
	good := map[string]testclaims.Fault{
		"missing-hi":      {Name: "missing-hi", At: []int{1}},
		"missing-hi@3,17": {Name: "missing-hi", At: []int{3, 17}},
		"ge02/100":        {Name: "ge02", Every: 100},
	}
	for s, want := range good {
		f, err := testclaims.ParseFault(s)
		if err != nil || f.Name != want.Name || !slices.Equal(f.At, want.At) || f.Every != want.Every {
			t.Errorf("%q: got %+v, %v", s, f, err)
		}
	}
	for _, s := range []string{"", "no-such", "ge02@", "ge02@0", "ge02@1,x", "ge02/0", "ge02/", "ge02/-1"} {
		if _, err := testclaims.ParseFault(s); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%q: got %v, want Invalid", s, err)
		}
	}
}
