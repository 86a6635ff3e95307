package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
)

// program is the path of the built program, the same for all tests.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "claimdlq-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "claimdlq")
		build := exec.Command("go", "build", "-o", program, "claimdlq/cmd/claimdlq")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build the program:", err)
			return 1
		}
		return m.Run()
	}())
}

// world is one installation: a data directory, files, and a payer that outlives
// every crash of the program.
type world struct {
	t       *testing.T
	dir     string // scratch: files in and out
	data    string // the program's data directory
	payer   *payersim.Payer
	url     string
	spoken  bytes.Buffer // everything the program has printed
	acks    bytes.Buffer // everything the payer has answered
	timeout time.Duration
}

func newWorld(t *testing.T, script string) *world {
	t.Helper()
	s, err := payersim.ParseScript(script)
	if err != nil {
		t.Fatal(err)
	}
	p, err := payersim.New(payersim.Options{Script: s, Now: time.Now})
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
	return &world{t: t, dir: dir, data: filepath.Join(dir, "data"), payer: p, url: srv.URL, timeout: 2 * time.Minute}
}

// result is how one run of the program ended.
type result struct {
	stdout, stderr string
	code           int
	killed         bool
}

// run runs the program to its end, with wrap before its path (a tracer) if given.
func (w *world) run(wrap []string, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), w.timeout)
	defer cancel()
	line := append(append(append([]string(nil), wrap...), program), args...)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Env = append(os.Environ(),
		"CLAIMDLQ_DATA="+w.data,
		"CLAIMDLQ_TARGET="+w.url+"/v1/interchanges",
		"CLAIMDLQ_STATUS="+w.url+"/v1/interchanges/{isa13}?sender={sender}&receiver={receiver}")
	c.Dir = w.dir
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	r := result{stdout: out.String(), stderr: errs.String(), code: c.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("run %v: %v", args, err)
	}
	// The tracer ends as its child does: by the signal, or with 128+9.
	r.killed = r.code == -1 || r.code == 137
	w.spoken.WriteString(r.stdout)
	w.spoken.WriteString(r.stderr)
	return r
}

// do runs the program and expects the exit code.
func (w *world) do(code int, args ...string) result {
	w.t.Helper()
	r := w.run(nil, args...)
	if r.code != code {
		w.t.Fatalf("claimdlq %s: exit %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
	}
	return r
}

// into runs the program with --json, expects exit 0, and decodes the result.
func (w *world) into(v any, args ...string) {
	w.t.Helper()
	r := w.do(0, append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.stdout), v); err != nil {
		w.t.Fatalf("claimdlq %s: %v\n%s", strings.Join(args, " "), err, r.stdout)
	}
}

// claims writes a generated file and returns its path.
func (w *world) claims(name string, o testclaims.Options) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	f, err := os.Create(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := testclaims.Generate(f, o); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// record is what the tests read of a record's JSON.
type record struct {
	ID            uint64 `json:"id"`
	Key           string `json:"key"`
	Scope         string `json:"scope"`
	State         string `json:"state"`
	Disposition   string `json:"disposition"`
	Reason        string `json:"reason_code"`
	Detail        string `json:"error_detail"`
	Claims        int    `json:"claims"`
	ReplayCount   int    `json:"replay_count"`
	FateUnknown   bool   `json:"fate_unknown"`
	Stream        string `json:"stream"`
	TransactionID string `json:"transaction_id"`
}

// records lists up to 1,000 records that the flags select.
func (w *world) records(flags ...string) []record {
	w.t.Helper()
	var l struct{ Records []record }
	w.into(&l, append([]string{"list", "--limit", "1000"}, flags...)...)
	return l.Records
}

// figures is what `metrics --json` prints.
type figures struct {
	Received   int64            `json:"received"`
	Claims     map[string]int64 `json:"claims"`
	Rejected   int64            `json:"rejected"`
	Difference int64            `json:"difference"`
	Orphans    int64            `json:"orphans"`
}

func (w *world) figures() (f figures) {
	w.t.Helper()
	w.into(&f, "metrics")
	return f
}

// sound checks what must hold after anything: records, payloads and audit log
// agree, and every claim taken in is accounted for.
func (w *world) sound(when string) {
	w.t.Helper()
	if r := w.run(nil, "fsck"); r.code != 0 {
		w.t.Fatalf("%s: fsck exit %d\n%s%s", when, r.code, r.stdout, r.stderr)
	}
}

// once checks that the payer accepted no claim twice.
func (w *world) once(when string) {
	w.t.Helper()
	if d := w.payer.Duplicates(); len(d) != 0 {
		w.t.Fatalf("%s: the payer accepted %d claims more than once", when, len(d))
	}
}

// box returns the path of a file with everything the payer has answered so far.
// Giving an answer twice must change nothing, so it is never emptied.
func (w *world) box() string {
	w.t.Helper()
	for _, f := range w.payer.Collect() {
		w.acks.Write(f.Body)
	}
	path := filepath.Join(w.dir, "acks.x12")
	if err := os.WriteFile(path, w.acks.Bytes(), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}
