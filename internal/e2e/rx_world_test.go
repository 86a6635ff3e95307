package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/vault/keyring"
	"claimdlq/wire/ncpdp"
)

// rxWorld is an installation for pharmacy claims: a payer that counts what comes, and
// a process that serves and is killed.
type rxWorld struct {
	*world

	conf string
}

// newRxWorld makes one. settings are lines of the stream's configuration, without
// their indent.
func newRxWorld(t *testing.T, script, settings string, workers int) *rxWorld {
	t.Helper()
	s, err := payersim.ParseScript(script)
	if err != nil {
		t.Fatal(err)
	}
	p, err := payersim.New(payersim.Options{Script: s, Now: time.Now, CountDeliveries: true})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(p)
	t.Cleanup(func() {
		srv.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	w := &rxWorld{
		world: &world{t: t, dir: dir, data: filepath.Join(dir, "data"), payer: p, url: srv.URL, timeout: 2 * time.Minute},
		conf:  filepath.Join(dir, "claimdlq.yaml"),
	}
	lines := []string{
		"data: " + w.data, "listen: 127.0.0.1:0", fmt.Sprintf("workers: %d", workers), "streams:", "  ncpdp:", "    target: " + w.url + "/v1/ncpdp",
	}
	for line := range strings.Lines(settings) {
		lines = append(lines, "    "+strings.TrimRight(line, "\n"))
	}
	if err := os.WriteFile(w.conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// rx runs the program with targets for both streams.
func (w *rxWorld) rx(args ...string) result {
	w.t.Helper()
	return w.run([]string{"env", "CLAIMDLQ_TARGET=" + w.url + "/v1/interchanges ncpdp=" + w.url + "/v1/ncpdp"}, args...)
}

// served is a process that serves.
type served struct {
	w    *rxWorld
	c    *exec.Cmd
	url  string
	said *said
	done chan error
}

// said keeps what a process prints.
type said struct {
	mu  sync.Mutex
	b   bytes.Buffer
	has chan struct{} // closed once it says where it listens
	at  string
}

var listens = regexp.MustCompile(`http://[0-9.:]+/v1/claims`)

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(p)
	if s.at == "" {
		if s.at = listens.FindString(s.b.String()); s.at != "" {
			close(s.has)
		}
	}
	return len(p), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// serve starts the program and returns once it takes claims in.
func (w *rxWorld) serve() *served {
	w.t.Helper()
	s := &served{w: w, said: &said{has: make(chan struct{})}, done: make(chan error, 1)}
	s.c = exec.CommandContext(w.t.Context(), program, "serve", "--config", w.conf)
	s.c.Dir, s.c.Stdout, s.c.Stderr = w.dir, s.said, s.said
	// It refuses variables that it does not know, and the tests have some.
	s.c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CLAIMDLQ_") })
	if err := s.c.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { s.done <- s.c.Wait() }()
	select {
	case <-s.said.has:
	case err := <-s.done:
		w.t.Fatalf("serve ended: %v\n%s", err, s.said)
	case <-time.After(time.Minute):
		w.t.Fatalf("serve does not begin\n%s", s.said)
	}
	s.url = s.said.at
	return s
}

// kill ends the process as a power cut does.
func (s *served) kill() {
	s.w.t.Helper()
	_ = s.c.Process.Kill()
	<-s.done
	s.w.spoken.WriteString(s.said.String())
}

// stop ends the process as its operator does.
func (s *served) stop() {
	s.w.t.Helper()
	_ = s.c.Process.Signal(os.Interrupt)
	select {
	case err := <-s.done:
		if err != nil {
			s.w.t.Errorf("serve ended with %v\n%s", err, s.said)
		}
	case <-time.After(time.Minute):
		_ = s.c.Process.Kill()
		s.w.t.Fatalf("serve does not end\n%s", s.said)
	}
	s.w.spoken.WriteString(s.said.String())
}

// post hands a file of transmissions in and reports whether it was acknowledged; an
// error is a connection that broke.
func (s *served) post(ctx context.Context, path string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/x-ncpdp")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}

// until waits for an event, looking every few milliseconds; it fails the test after
// the world's time-out.
func (w *rxWorld) until(what string, is func() bool) {
	w.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(w.timeout)
	defer end.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end.C:
			w.t.Fatalf("%s does not happen; the payer: %+v", what, w.payer.Stats())
		}
	}
}

// rest waits until nothing is queued, leased or submitted and returns the figures.
func (w *rxWorld) rest(received int) (f figures) {
	w.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(w.timeout); ; <-tick.C {
		f = w.figures()
		if f.Received >= int64(received) && f.Claims["queued"]+f.Claims["leased"]+f.Claims["submitted"] == 0 {
			return f
		}
		if time.Now().After(end) {
			w.t.Fatalf("claims do not come to rest: %+v", f)
		}
	}
}

// rxClaims makes n transmissions of one claim each, framed.
func rxClaims(t *testing.T, o testclaims.RxOptions) (all [][]byte) {
	t.Helper()
	o.Framed = true
	if o.PartialEvery == 0 {
		o.PartialEvery = -1 // a partial fill and its completion share a number
	}
	if _, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		all = append(all, bytes.Clone(b))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// rxRecord is what these tests read of a record's JSON.
type rxRecord struct {
	record

	AttemptCount int `json:"attempt_count"`
}

// allRecords lists every record that the flags select.
func (w *rxWorld) allRecords(flags ...string) (all []rxRecord) {
	w.t.Helper()
	before := "0"
	for {
		var l struct {
			Records []rxRecord
			Before  uint64
		}
		args := append([]string{"list", "--limit", "10000"}, flags...)
		if before != "0" {
			args = append(args, "--before", before)
		}
		w.into(&l, args...)
		all = append(all, l.Records...)
		if l.Before == 0 {
			return all
		}
		before = fmt.Sprint(l.Before)
	}
}

// keys returns for each claim's record key the number of its prescription, without
// leading zeros, by the secret in the data directory. Nothing else could tell from a
// record which claim it is.
func (w *rxWorld) keys(messages [][]byte) map[string]string {
	w.t.Helper()
	kr, err := keyring.Open(filepath.Join(w.data, "keys"))
	if err != nil {
		w.t.Fatal(err)
	}
	id := kr.Identities()[0]
	out := make(map[string]string, len(messages))
	m := ncpdp.Parse(nil)
	for _, b := range messages {
		m.Reset(b)
		c, fault := m.Claim(1)
		if fault != nil {
			w.t.Fatal(fault)
		}
		out[ncpdp.Display(c.Key(id, 0))] = string(c.Rx)
	}
	return out
}

// again is how long a pharmacy waits before it sends what was not acknowledged.
const again = 20 * time.Millisecond

func pauseFor(d time.Duration) <-chan time.Time { return time.After(d) }
