package cli_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq/internal/cli"
)

// lines hands on what a command prints, as it does.
type lines struct {
	mu   sync.Mutex
	all  bytes.Buffer
	want *regexp.Regexp
	seen chan []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.all.Write(b)
	if m := l.want.FindStringSubmatch(l.all.String()); m != nil && l.seen != nil {
		l.seen <- m
		l.seen = nil
	}
	return len(b), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func TestDemo_TheConsoleStaysUpUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it tells the whole story")
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	seen := make(chan []string, 1)
	out := &lines{want: regexp.MustCompile(`(?s)The console is at (https://\S+)\n.*with the password (\S+)\n.*Ctrl-C`), seen: seen}
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(ctx, []string{"demo", "--console", "127.0.0.1:0"}, cli.Env{
			Stdin: strings.NewReader(""), Stdout: out, Stderr: out, Now: time.Now, Getenv: func(string) string { return "" },
		})
	}()
	var said []string
	select {
	case said = <-seen:
	case code := <-done:
		t.Fatalf("it ended: exit %d\n%s", code, out)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if page := browse(t, client, http.MethodGet, said[1]+"/", ""); !strings.Contains(page, `<div id="root">`) {
		t.Errorf("the console's page is %q", page)
	}
	for _, login := range []string{"ana", "olga", "abe", "vic", "ada"} {
		session := browse(t, client, http.MethodPost, said[1]+"/v1/session", `{"login":"`+login+`","password":"`+said[2]+`"}`)
		if !strings.Contains(session, `"actor":"`+login+`"`) || strings.Contains(session, `"must"`) {
			t.Errorf("%s signs in: %s", login, session)
		}
	}
	interrupt()
	if code := <-done; code != 0 {
		t.Errorf("interrupted: exit %d\n%s", code, out)
	}
}

func browse(t *testing.T, c *http.Client, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", strings.TrimSuffix(url, "/v1/session"))
	r, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
