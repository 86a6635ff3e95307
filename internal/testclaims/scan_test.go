package testclaims_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12"
)

// found is everything a scanner says about a file, in the terms of Expect.
type found struct {
	ta1, ak905, ik502 []string
	faults            []x12.Fault
	junk              bool
}

func scan(t *testing.T, file string) (f found) {
	t.Helper()
	s := x12.NewScanner(strings.NewReader(file), x12.Options{})
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return f
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *x12.Junk:
			f.junk = f.junk || !e.Harmless
			if e.TA1 != "" {
				f.ta1 = append(f.ta1, e.TA1)
			}
		case *x12.InterchangeEnd:
			if e.TA1 == "R" {
				f.ta1 = append(f.ta1, e.Note)
			}
		case *x12.GroupEnd:
			f.ak905 = append(f.ak905, e.AK905...)
		case *x12.Set:
			f.ik502 = append(f.ik502, e.IK502...)
			for _, x := range e.Faults {
				if x.Severity != x12.Note {
					f.faults = append(f.faults, x)
				}
			}
		}
	}
}

func TestGenerate_TheScannerFindsCleanFilesClean(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		for _, canary := range []bool{false, true} {
			o := testclaims.Options{Format: f, Claims: 40, ClaimsPerSet: 7, SetsPerGroup: 2, GroupsPerInterchange: 2, DependentEvery: 3, Canary: canary}
			file, _ := generate(t, o)
			got := scan(t, file)
			if len(got.ta1)+len(got.ak905)+len(got.ik502)+len(got.faults) > 0 || got.junk {
				t.Errorf("%s canary %v: %+v", f, canary, got)
			}
		}
	}
}

func TestFaults_TheScannerSaysWhatIsExpected(t *testing.T) {
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
				o.Faults = []testclaims.Fault{{Name: k.Name, At: []int{2}}}
				if k.Scope == testclaims.InFile {
					o.Faults[0].At = []int{1}
				}
				file, _ := generate(t, o)
				got, e := scan(t, file), k.Expect
				for code, list := range map[string][]string{e.TA1: got.ta1, e.AK905: got.ak905, e.IK502: got.ik502} {
					if code != "" && !slices.Contains(list, code) {
						t.Errorf("want %s, got %+v", code, got)
					}
				}
				if e == (testclaims.Expect{}) && !got.junk {
					t.Errorf("want junk, got %+v", got)
				}
				if e.IK304 == "" && e.IK403 == "" && !e.Business {
					return
				}
				if !slices.ContainsFunc(got.faults, func(x x12.Fault) bool { return matches(x, e) }) {
					t.Errorf("want %+v, got %+v", e, got)
				}
				for _, x := range got.faults {
					if !matches(x, e) {
						t.Errorf("also got %+v", x)
					}
				}
			})
		}
	}
}

func matches(x x12.Fault, e testclaims.Expect) bool {
	if e.Business {
		return x.Severity == x12.Business && (e.Segment == "" || x.Segment == e.Segment)
	}
	return x.Severity == x12.Error && x.IK304 == e.IK304 && x.IK403 == e.IK403 &&
		(e.Segment == "" || x.Segment == e.Segment) && (e.Element == "" || x.Element == e.Element)
}
