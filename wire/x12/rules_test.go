package x12_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"claimdlq"
	"claimdlq/wire/x12"
)

func TestRules_EveryEmbeddedVersionCompiles(t *testing.T) {
	t.Parallel()
	vs := x12.RuleVersions()
	if len(vs) < 2 || vs[len(vs)-1] != x12.LatestRules().Version() {
		t.Fatalf("%v, latest %s", vs, x12.LatestRules().Version())
	}
	for _, v := range vs {
		r, err := x12.LoadRules(v)
		if err != nil || r.Version() != v {
			t.Errorf("%s: %v", v, err)
		}
		if again, _ := x12.LoadRules(v); again != r {
			t.Errorf("%s is compiled twice", v)
		}
	}
}

func TestRules_UnknownVersionIsNotFound(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"", "v1", "../v2026.11", "v2026.11/..", "."} {
		if _, err := x12.LoadRules(v); !errors.Is(err, claimdlq.NotFound) {
			t.Errorf("%q: %v", v, err)
		}
	}
}

func TestRules_VersionsJudgeDifferently(t *testing.T) {
	t.Parallel()
	old, err := x12.LoadRules("v2026.07")
	if err != nil {
		t.Fatal(err)
	}
	in := change(t, base, "*PCN0001*125*", "*PCN0001*126*")
	if n := len(scan(t, in, x12.Options{Rules: old}).sets[0].BadClaims); n != 0 {
		t.Errorf("v2026.07 does not know balancing, and holds %d", n)
	}
	if n := len(scan(t, in, x12.Options{}).sets[0].BadClaims); n != 1 {
		t.Errorf("the latest rules hold %d", n)
	}
}

// sources returns the embedded rule files, to be changed by a test.
func sources(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	for _, name := range []string{"segments.txt", "rules.txt", "837p.txt", "837i.txt", "837d.txt"} {
		b, err := os.ReadFile("guides/v2026.11/" + name)
		if err != nil {
			t.Fatal(err)
		}
		m["v1/"+name] = &fstest.MapFile{Data: b}
	}
	return m
}

func TestRules_AFileOfALaterVersionReplacesThatOfItsBase(t *testing.T) {
	t.Parallel()
	m := sources(t)
	guide := string(m["v1/837p.txt"].Data)
	m["v2/rules.txt"] = &fstest.MapFile{Data: []byte("base v1\nnpi_check_digit off\ntimely_filing 2\ncharges_balance on\nreplacement_has_f8 on\n")}
	m["v2/837p.txt"] = &fstest.MapFile{Data: []byte(change(t, guide, "PER R2 01=IC", "PER R1 01=IC"))}
	r1, err := x12.LoadRulesFS(m, "v1")
	if err != nil {
		t.Fatal(err)
	}
	r2, err := x12.LoadRulesFS(m, "v2")
	if err != nil {
		t.Fatal(err)
	}
	twoDesks := recounted(change(t, base, "PER*IC*TEST DESK*TE*5555550100~", "PER*IC*TEST DESK*TE*5555550100~PER*IC*TEST DESK*TE*5555550101~"))
	badNPI := strings.Replace(base, "1234567893", "1234567890", 1)
	twoYears := strings.ReplaceAll(base, "20260210", "20240301")
	for _, c := range []struct {
		name, in string
		r        *x12.Rules
		faults   int
	}{
		{"two desks by the base", twoDesks, r1, 0},
		{"two desks by the later", twoDesks, r2, 1},
		{"check digit by the base", badNPI, r1, 1},
		{"check digit by the later", badNPI, r2, 0},
		{"two years by the base", twoYears, r1, 2},
		{"two years by the later", twoYears, r2, 0},
	} {
		if set := scan(t, c.in, x12.Options{Rules: c.r}).sets[0]; len(set.Faults) != c.faults {
			t.Errorf("%s: %+v", c.name, set.Faults)
		}
	}
}

func TestRules_MistakesNameFileAndLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, old, with, where string }{
		{"837p.txt", "guide 837P", "guide 837X", "v1/837p.txt"},
		{"837p.txt", "BHT R1", "BHT X1", "v1/837p.txt:"},
		{"837p.txt", "BHT R1 01=0019", "BHT R1 99=0019", "v1/837p.txt:"},
		{"837p.txt", "BHT R1 01=0019", "QQQ R1 01=0019", "v1/837p.txt:"},
		{"837p.txt", "BHT R1 01=0019", "BHT R1 01=@nolist", "v1/837p.txt:"},
		{"837p.txt", "BHT R1 01=0019", "BHT R1 01+0019", "v1/837p.txt:"},
		{"837p.txt", "BHT R1 01=0019", "BHT R1 05..04!", "v1/837p.txt:"},
		{"837p.txt", "BHT R1 01=0019", "  BHT R1 01=0019", "v1/837p.txt:"},
		{"837p.txt", "loop 1000B R1", "loop 1000B", "v1/837p.txt:"},
		{"837i.txt", "SE  R1 01! 02!", "SE  R1 01! 02!\nloop 9999 R1", "v1/837i.txt:"},
		{"segments.txt", "BHT ID4-4", "BHT XX4-4", "v1/segments.txt:"},
		{"segments.txt", "BHT ID4-4", "BHT ID5-4", "v1/segments.txt:"},
		{"segments.txt", "{C022}x11", "{C999}x11", "v1/segments.txt:"},
		{"segments.txt", "; R0203\nPRV", "; Q0203\nPRV", "v1/segments.txt:"},
		{"rules.txt", "timely_filing      1", "timely_filing      x", "v1/rules.txt:"},
		{"rules.txt", "timely_filing      1", "timely_filing", "v1/rules.txt:"},
	} {
		m := sources(t)
		m["v1/"+c.file] = &fstest.MapFile{Data: []byte(change(t, string(m["v1/"+c.file].Data), c.old, c.with))}
		_, err := x12.LoadRulesFS(m, "v1")
		if !errors.Is(err, claimdlq.Invalid) || !strings.Contains(err.Error(), c.where) {
			t.Errorf("%s: %v", c.with, err)
		}
	}
	m := sources(t)
	delete(m, "v1/837d.txt")
	if _, err := x12.LoadRulesFS(m, "v1"); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("a file that is missing: %v", err)
	}
	m = fstest.MapFS{"v1/rules.txt": {Data: []byte("base v1\n")}}
	if _, err := x12.LoadRulesFS(m, "v1"); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("a version that is its own base: %v", err)
	}
}
