package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/cli"
)

// spans are the command lines of a page: what stands in backquotes and begins with the
// program's name, or is one command of it.
var spans = regexp.MustCompile("`claimdlq ([^`]+)`")

// TestRunbooks_EveryCommandExists asks the program about each command that a page for
// those on duty names, and each flag.
func TestRunbooks_EveryCommandExists(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/runbooks/*.md")
	if err != nil || len(pages) < 8 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	seen := 0
	for _, page := range append(pages, "../../docs/alarms.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range spans.FindAllStringSubmatch(string(text), -1) {
			seen++
			if fault := wrong(t, m[1]); fault != "" {
				t.Errorf("%s: claimdlq %s: %s", filepath.Base(page), m[1], fault)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d commands: the test does not see them", seen)
	}
}

var flag = regexp.MustCompile(`--[a-z-]+`)

// wrong says what the program knows nothing of.
func wrong(t *testing.T, line string) string {
	t.Helper()
	before, _, _ := strings.Cut(line, " --")
	words := strings.Fields(before)
	// The names of commands are those words that help knows.
	n := 1
	if len(words) > 1 && strings.Contains(help(t, words[0]), "claimdlq "+words[0]+" [command]") {
		n = 2
	}
	command := strings.Join(words[:n], " ")
	text := help(t, words[:n]...)
	if !strings.Contains(text, "claimdlq "+command) {
		return "there is no such command"
	}
	for _, f := range flag.FindAllString(line, -1) {
		if !regexp.MustCompile(`(^|\s)` + f + `(\s|$)`).MatchString(text) {
			return "it has no " + f
		}
	}
	return ""
}

func help(t *testing.T, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Now: time.Now, Getenv: func(string) string { return "" }}
	cli.Main(t.Context(), append(words, "--help"), env)
	return out.String()
}
