package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// named is an operation, or a path of one, inside a sentence.
var named = regexp.MustCompile(`(?:\b(GET|POST|PUT|PATCH|DELETE) )?(/v1/[a-z{}:/_-]*[a-z}])`)

// What a hint or a description tells somebody to ask for is there: every "METHOD /v1/…"
// in a text of the program is an operation of the document, and every path in a text
// of this package is one of its paths.
func TestHints_NameOperationsThatAreThere(t *testing.T) {
	t.Parallel()
	w := setup(t)
	d, _ := w.document()
	found := 0
	texts(t, "../..", func(file, text string) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			method, path := strings.ToLower(m[1]), m[2]
			switch {
			case method != "" && (d.Paths[path] == nil || d.Paths[path][method] == nil):
				t.Errorf("%s: %q is no operation", file, m[0])
			case method == "" && strings.Contains(file, "internal/api/") && strings.Contains(text, " ") && d.Paths[path] == nil:
				t.Errorf("%s: %q is no path", file, m[0])
			case method != "":
				found++
			}
		}
	})
	if found < 5 {
		t.Errorf("only %d texts name an operation: are they looked at?", found)
	}
}

// texts calls f for the texts in the source below dir, but for its tests and the payer of
// tests, which has operations of its own.
func texts(t *testing.T, dir string, f func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "node_modules" || e.Name() == "testdata" || e.Name() == ".git") {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "payersim") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					f(filepath.ToSlash(path), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
