package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/cli"
	"claimdlq/internal/testclaims"
)

func TestPayersim_TakesClaimsUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	in, acks, rules := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "rules")
	if err := os.WriteFile(rules, []byte("claim 1 stc A7:562:85"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	said, stderr := io.Pipe()
	var stdout bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(ctx, []string{
			"payersim", "--listen", "127.0.0.1:0", "--in", in, "--acks", acks, "--script", rules, "--rule", "acks ta1", "--poll", "1h", "--json",
		}, cli.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: stderr, Now: time.Now, Getenv: os.Getenv})
		_ = stderr.Close()
	}()
	line := make([]byte, 200)
	n, err := said.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://[^ ,]+`).FindString(string(line[:n]))
	var file bytes.Buffer
	if _, err := testclaims.Generate(&file, testclaims.Options{Claims: 3}); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, &file)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("status %d", resp.StatusCode)
	}
	if ta1, err := filepath.Glob(filepath.Join(acks, "ta1-*.x12")); err != nil || len(ta1) != 1 {
		t.Fatalf("acknowledgments %v, %v", ta1, err)
	}
	var rx bytes.Buffer
	if _, err := testclaims.GenerateRx(&rx, testclaims.RxOptions{}); err != nil {
		t.Fatal(err)
	}
	req, err = http.NewRequestWithContext(t.Context(), http.MethodPost, strings.Replace(url, "interchanges", "ncpdp", 1), &rx)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err = http.DefaultClient.Do(req); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	interrupt()
	if c := <-code; c != 0 {
		t.Fatalf("exit code %d", c)
	}
	for _, want := range []string{`"claims": 3`, `"accepted": 2`, `"rejected_claims": 1`, `"double_accepted": 0`, `"paid": 1`, `"double_paid": 0`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("standard output lacks %s", want)
		}
	}
}
