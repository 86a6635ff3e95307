package check_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimdlq/internal/check"
)

// fixtures returns the folder of the shared X12 cases, or skips the test.
func fixtures(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		p := filepath.Join(dir, "shared", "fixtures", "x12")
		if _, err := os.Stat(filepath.Join(p, "manifest.json")); err == nil {
			return p
		}
		if dir == filepath.Dir(dir) {
			t.Skip("the shared fixtures are not next to this repository")
		}
		dir = filepath.Dir(dir)
	}
}

type fixture struct {
	File   string         `json:"file"`
	Class  string         `json:"cls"`
	Expect map[string]any `json:"expect"`
	Why    string         `json:"why"`
}

func manifest(t *testing.T, dir string) (cases []fixture) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Cases []fixture }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Cases) < 95 {
		t.Fatalf("the manifest has %d cases", len(m.Cases))
	}
	return m.Cases
}

// found is what a report says, in the words of the manifest.
type found struct {
	ta1, ak9, ak905, ik5, ik502, ik304, ik403, stc, results []string
}

func collect(r check.Report) (f found) {
	for _, i := range r.Interchanges {
		f.ta1 = append(f.ta1, i.TA1.Code+"*"+i.TA1.Note)
		for _, g := range i.Groups {
			f.ak9 = append(f.ak9, g.AK9)
			f.ak905 = append(f.ak905, g.AK905...)
			for _, s := range g.Sets {
				f.ik5 = append(f.ik5, s.IK5)
				f.ik502 = append(f.ik502, s.IK502...)
				for _, e := range s.Errors {
					f.ik304 = append(f.ik304, e.IK304)
					f.ik403 = append(f.ik403, e.IK403)
					f.stc = append(f.stc, e.STC)
				}
			}
		}
	}
	for _, a := range r.Answers {
		f.results = append(f.results, a.Result)
	}
	return f
}

// oneOf reports whether one of the codes that "or" joins is in the list. What
// stands in brackets behind a code is a remark.
func oneOf(list []string, want string) bool {
	want, _, _ = strings.Cut(want, " (")
	for _, w := range strings.Split(want, " or ") {
		if slices.Contains(list, w) {
			return true
		}
	}
	return false
}

func TestManifest_EveryCaseHasItsVerdictAndCodes(t *testing.T) {
	t.Parallel()
	dir := fixtures(t)
	for _, c := range manifest(t, dir) {
		t.Run(filepath.Base(c.File), func(t *testing.T) {
			t.Parallel()
			r, err := check.File(t.Context(), filepath.Join(dir, c.File), check.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != c.Class {
				t.Errorf("verdict %s, want %s: %s", r.Verdict, c.Class, c.Why)
			}
			compare(t, c, collect(r))
			if t.Failed() {
				t.Log(r)
			}
		})
	}
}

func compare(t *testing.T, c fixture, f found) {
	t.Helper()
	for key, v := range c.Expect {
		want, _ := v.(string)
		switch key {
		case "ta1":
			compareTA1(t, v, f.ta1)
		case "ak9":
			if !oneOf(f.ak9, want) {
				t.Errorf("AK9 %v, want %s", f.ak9, want)
			}
		case "ak905":
			if !oneOf(f.ak905, want) {
				t.Errorf("AK905 %v, want %s", f.ak905, want)
			}
		case "ik5":
			compareIK5(t, v, f.ik5)
		case "ik502":
			if !oneOf(f.ik502, want) {
				t.Errorf("IK502 %v, want %s", f.ik502, want)
			}
		case "ik304":
			if !oneOf(f.ik304, want) {
				t.Errorf("IK304 %v, want %s", f.ik304, want)
			}
		case "ik403":
			if !oneOf(f.ik403, want) {
				t.Errorf("IK403 %v, want %s", f.ik403, want)
			}
		case "277ca":
			if !slices.ContainsFunc(f.stc, func(s string) bool { return strings.HasPrefix(s, "A7") || strings.HasPrefix(s, "A3") }) {
				t.Errorf("STC %v, want %s", f.stc, want)
			}
		case "result":
			compareResult(t, v, f.results)
		case "PCN0001", "PCN0002":
			word, _, _ := strings.Cut(want, " ")
			word, _, _ = strings.Cut(word, ",")
			if !slices.ContainsFunc(f.results, func(r string) bool { return strings.HasPrefix(r, word) || r == "duplicate" && word == "rejected" }) {
				t.Errorf("answers %v, want %s", f.results, want)
			}
		}
	}
}

func compareTA1(t *testing.T, v any, got []string) {
	t.Helper()
	want, ok := v.(string)
	switch {
	case !ok: // null: not turned down
		for _, g := range got {
			if g != "A*000" {
				t.Errorf("TA1 %v, want none that rejects", got)
			}
		}
	case strings.Contains(want, " then "):
		if w := strings.Split(want, " then "); !slices.Equal(got, w) {
			t.Errorf("TA1 %v, want %v", got, w)
		}
	case !oneOf(got, want):
		t.Errorf("TA1 %v, want %s", got, want)
	}
}

func compareIK5(t *testing.T, v any, got []string) {
	t.Helper()
	list, ok := v.([]any)
	if !ok {
		if !oneOf(got, v.(string)) {
			t.Errorf("IK5 %v, want %v", got, v)
		}
		return
	}
	for i, w := range list {
		if i >= len(got) || got[i] != w {
			t.Errorf("IK5 %v, want %v", got, list)
			return
		}
	}
	for _, g := range got[len(list):] { // the manifest lists one of several alike
		if g != list[len(list)-1] {
			t.Errorf("IK5 %v, want %v", got, list)
		}
	}
}

func compareResult(t *testing.T, v any, got []string) {
	t.Helper()
	words := map[string]string{"A": "accepted", "R": "rejected", "group R, no AK2": "rejected"}
	switch v := v.(type) {
	case map[string]any:
		if want := []string{words[v["0001"].(string)], words[v["0002"].(string)]}; len(got) < 2 || !slices.Equal(got[:2], want) {
			t.Errorf("answers %v, want %v", got, want)
		}
	case string:
		want := v
		if w := words[v]; w != "" {
			want = w
		}
		if !slices.Contains(got, want) {
			t.Errorf("answers %v, want %s", got, want)
		}
	}
}
