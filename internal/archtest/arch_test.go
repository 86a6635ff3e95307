package archtest_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"claimdlq/internal/archtest"
)

type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
	GoFiles    []string
	Module     *struct{ Path string }
}

func (p pkg) name() string { return short(p.ImportPath) }

// short returns the name of a package of ours as the table spells it, "" for others.
func short(path string) string {
	if path == archtest.Module {
		return "."
	}
	rest, ours := strings.CutPrefix(path, archtest.Module+"/")
	if !ours {
		return ""
	}
	return rest
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Doc,Imports,GoFiles,Module"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var ps []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return ps
		}
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}

var (
	once sync.Once
	ours []pkg
)

func packages(t *testing.T) []pkg {
	t.Helper()
	once.Do(func() { ours = list(t, archtest.Module+"/...") })
	if len(ours) == 0 {
		t.Fatal("no packages were found")
	}
	return ours
}

func TestImports_EveryPackageKeepsToItsLineOfTheTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range packages(t) {
		seen[p.name()] = true
		line, ok := archtest.May[p.name()]
		if !ok {
			t.Errorf("package %s is not in the table: add it with what it may import", p.name())
			continue
		}
		allowed := strings.Fields(line)
		for _, imp := range p.Imports {
			if s := short(imp); s != "" && !slices.Contains(allowed, s) {
				t.Errorf("%s must not import %s", p.name(), s)
			}
		}
	}
	for name, line := range archtest.May {
		if !seen[name] {
			t.Errorf("the table names package %s, which does not exist", name)
		}
		for imp := range strings.FieldsSeq(line) {
			if !seen[imp] {
				t.Errorf("the line of %s names package %s, which does not exist", name, imp)
			}
		}
	}
}

func TestImports_PHIIsSeenOnlyWhereTheTableSaysWhy(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range packages(t) {
		if !slices.Contains(p.Imports, archtest.Module+"/phi") {
			continue
		}
		seen[p.name()] = true
		if archtest.PHI[p.name()] == "" {
			t.Errorf("%s imports phi without a reason in the table", p.name())
		}
	}
	for name := range archtest.PHI {
		if !seen[name] {
			t.Errorf("the table lets %s import phi, which it does not need", name)
		}
	}
}

func TestImports_TestKitsStayInTests(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if slices.Contains(archtest.Kits, p.name()) {
			continue
		}
		for _, imp := range p.Imports {
			if slices.Contains(archtest.Kits, short(imp)) || imp == "testing" {
				t.Errorf("%s imports %s outside its tests", p.name(), imp)
			}
		}
	}
}

func TestImports_PurePackagesDoNoIO(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if !slices.Contains(archtest.Pure, p.name()) {
			continue
		}
		for _, imp := range p.Imports {
			if slices.Contains(archtest.Impure, imp) {
				t.Errorf("%s is pure and must not import %s", p.name(), imp)
			}
		}
	}
}

func TestPackages_EachHasADocComment(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		want := "Package "
		if strings.HasPrefix(p.name(), "cmd/") {
			want = "Command "
		}
		if !strings.HasPrefix(p.Doc, want) {
			t.Errorf("%s has no package comment that begins with %q", p.name(), want)
		}
	}
}

func TestModules_TheProgramLinksFew(t *testing.T) {
	t.Parallel()
	linked := map[string]bool{}
	for _, p := range list(t, "-deps", archtest.Module+"/cmd/claimdlq") {
		if p.Module != nil && p.Module.Path != archtest.Module {
			linked[p.Module.Path] = true
		}
	}
	if len(linked) > archtest.MaxModules {
		t.Errorf("the program links %d modules, more than %d", len(linked), archtest.MaxModules)
	}
}
