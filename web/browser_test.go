package web_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/internal/testtool"
)

// TestConsole_WalkedThroughInABrowser runs each walk of ui/e2e/walks: people who work
// with the built program in Chromium. It needs Node, Chromium and `npm ci` in web/ui.
// The pictures of a failure are kept, and where they are is said.
func TestConsole_WalkedThroughInABrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("walks take minutes")
	}
	chromium := browser(t)
	walks, err := filepath.Glob("ui/e2e/walks/*.mjs")
	if err != nil || len(walks) == 0 {
		t.Fatalf("no walks: %v", err)
	}
	program := filepath.Join(t.TempDir(), "claimdlq")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "claimdlq/cmd/claimdlq").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	marks, err := json.Marshal(claimMarks())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range walks {
		name := strings.TrimSuffix(filepath.Base(path), ".mjs")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pictures, err := os.MkdirTemp("", "claimdlq-"+name+"-") //nolint:usetesting // it outlives a failure
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			walk := exec.CommandContext(ctx, "node", filepath.Join("e2e", "walks", name+".mjs"))
			walk.Dir = "ui"
			walk.Env = append(os.Environ(), "PROGRAM="+program, "CHROMIUM="+chromium, "SCRATCH="+t.TempDir(), "ARTIFACTS="+pictures, "MARKS="+string(marks))
			// A walk that is given up takes its browser and its processes with it.
			walk.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			walk.Cancel = func() error { return syscall.Kill(-walk.Process.Pid, syscall.SIGKILL) }
			walk.WaitDelay = 10 * time.Second
			out, err := walk.CombinedOutput()
			if err != nil {
				t.Fatalf("%v; pictures are in %s\n%s", err, pictures, out)
			}
			t.Logf("%s", out)
			if err := os.RemoveAll(pictures); err != nil {
				t.Error(err)
			}
		})
	}
}

// claimMarks are what canary claims of every kind hold.
func claimMarks() (all []string) {
	for _, f := range []claimdlq.Format{claimdlq.Format837P, claimdlq.Format837I, claimdlq.Format837D} {
		all = append(all, testclaims.Marks(testclaims.Options{Format: f, Canary: true})...)
	}
	all = append(all, testclaims.RxMarks(testclaims.RxOptions{Canary: true})...)
	slices.Sort(all)
	return slices.Compact(all)
}

// browser returns the path of Chromium. Without it, Node or the packages of the walks
// the test is skipped, or fails where nothing may be skipped.
func browser(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	if err != nil {
		testtool.Missing(t, "node is missing (%v)", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		testtool.Missing(t, "node is %s, at least 20 is needed", strings.TrimSpace(string(out)))
	}
	for _, name := range []string{"playwright-core", "axe-core"} {
		if _, err := os.Stat(filepath.Join("ui", "node_modules", name)); err != nil {
			testtool.Missing(t, "%s is missing", name)
		}
	}
	return testtool.Path(t, "chromium", "chromium-browser", "google-chrome")
}
