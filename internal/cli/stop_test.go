package cli_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/cli"
)

// TestMain_ASignalIsSaidInWords: whoever stops a command wants to know what became
// of the rest, not what a cancelled context is.
func TestMain_ASignalIsSaidInWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.x12")
	var out, errs bytes.Buffer
	env := cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: func() time.Time { return time.Unix(0, 0) },
		Getenv: func(string) string { return "" },
	}
	data := filepath.Join(dir, "data")
	if code := cli.Main(t.Context(), []string{"generate", "--output", file}, env); code != 0 {
		t.Fatalf("generate: exit %d\n%s", code, errs.String())
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	code := cli.Main(stopped, []string{"ingest", "--data", data, file}, env)
	if code != 7 || !strings.Contains(errs.String(), "give the same command again") || strings.Contains(errs.String(), "context") {
		t.Errorf("exit %d, said %q", code, errs.String())
	}
}
