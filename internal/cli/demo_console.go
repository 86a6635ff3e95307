package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
)

// consoleConfig is the configuration of the console that stays up: two partners of the
// pharmacy stream, the second of which is down.
const consoleConfig = `data: %s
listen: %s
tls: {self_signed: true}
streams:
  ncpdp:
    target: %s/v1/ncpdp
    policy: {base: 500ms, cap: 10s}
    breaker: {consecutive: 5, open: 20s, max_open: 1m}
  "837":
    target: %s/v1/interchanges
partners:
  "888888":
    stream: ncpdp
    target: %s/v1/ncpdp
alarms:
  every: 1s
`

// people have accounts in the demonstration, one a role.
var people = []struct{ login, role string }{{"ana", "analyst"}, {"olga", "operator"}, {"abe", "approver"}, {"vic", "viewer"}, {"ada", "admin"}}

// stay serves the data directory of the story with work left in it, until ctx ends.
func (d *stage) stay(payer *payersim.Payer, at string) error {
	down, err := payersim.New(payersim.Options{Now: d.s.env.Now})
	if err != nil {
		return err
	}
	d.script(payer, "")
	d.script(down, "request all status 503")
	second, stop, err := serveUntil(d.ctx, "127.0.0.1:0", down)
	if err != nil {
		return err
	}
	defer stop()
	d.begin("A day's work", "The console, with two partners, an outage that goes on, three causes, a claim parked and one in doubt.")
	password, err := d.enrol()
	if err != nil {
		return err
	}
	cfg := fmt.Appendf(nil, consoleConfig, d.dir, d.free(at), d.payer, d.payer, "http://"+second)
	srv, said := d.start("console.yaml", cfg)
	if srv == nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "serve the console", Hint: "choose another address with --console"}
	}
	c := newBrowser(srv.address, d.s.env.Now)
	if err := d.work(c); err != nil {
		return err
	}
	if err := d.firstPasswords(c, password); err != nil {
		return err
	}
	if err := d.ask(c, password); err != nil {
		return err
	}
	d.printf("\n%s %s\n", d.paint.bold("The console is at"), d.paint.bold(srv.address))
	d.printf("   Its certificate was made for this run: the browser warns once. Sign in with the password %s\n", d.paint.bold(password))
	d.printf("   as ana (analyst), olga (operator), abe (approver), vic (viewer) or ada (admin).\n")
	d.printf("   Ctrl-C ends it and removes everything; demo --once ends after the story.\n")
	<-d.ctx.Done()
	code := <-srv.done
	said.mu.Lock()
	defer said.mu.Unlock()
	if code != exitOK {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "serve the console", Hint: oneLine(said.all.String())}
	}
	return nil
}

// free returns the address, or one with a free port where it is taken.
func (d *stage) free(at string) string {
	l, err := (&net.ListenConfig{}).Listen(d.ctx, "tcp", at)
	if err != nil {
		host, _, _ := net.SplitHostPort(at)
		return net.JoinHostPort(host, "0")
	}
	_ = l.Close()
	return at
}

// firsts are the passwords that the accounts were made with, by login.
type firsts map[string]string

// enrol makes the accounts and returns the password that all of them will have.
func (d *stage) enrol() (string, error) {
	d.first = firsts{}
	for _, p := range people {
		var out struct {
			Password string `json:"password"`
		}
		if d.run(&out, "users", "add", p.login, "--role", p.role, "--reason", "demonstration") != exitOK || out.Password == "" {
			return "", &claimdlq.Error{Code: claimdlq.Internal, Op: "make the accounts of the demonstration"}
		}
		d.first[p.login] = out.Password
	}
	return "try-" + strings.ToLower(rand.Text()[:12]), nil
}

// firstPasswords changes the passwords that the accounts were made with, as each person
// would at his first sign-in.
func (d *stage) firstPasswords(c *browser, password string) error {
	for _, p := range people {
		b := c.another()
		if err := b.signIn(d.ctx, p.login, d.first[p.login]); err != nil {
			return err
		}
		if err := b.call(d.ctx, http.MethodPut, "/v1/session/password", map[string]string{"old": d.first[p.login], "new": password}, nil); err != nil {
			return err
		}
	}
	return nil
}

// work hands in what gives every page something to show.
func (d *stage) work(c *browser) error {
	bad := []testclaims.Fault{{Name: "missing-hi", Every: 3}}
	var x12 bytes.Buffer
	o := d.options(20, 360, bad)
	o.ClaimsPerSet = 60
	if _, err := testclaims.Generate(&x12, o); err != nil {
		return err
	}
	money, err := d.transmissions(20_000, 600, "999999", testclaims.Fault{Name: "bad-money", Every: 2})
	if err != nil {
		return err
	}
	waiting, err := d.transmissions(30_000, 80, "888888")
	if err != nil {
		return err
	}
	for _, file := range [][]byte{x12.Bytes(), money, waiting} {
		if err := c.raw(d.ctx, "/v1/claims/batch", file); err != nil {
			return err
		}
	}
	return d.deadLetters(c)
}

// deadLetters hands in what another pipeline gave up on: a cause with the partner that
// is down, and a claim of which nobody knows whether it arrived.
func (d *stage) deadLetters(c *browser) error {
	for i := range 25 {
		if err := d.deadLetter(c, 40_000+i, "888888", "reason=RETRIES_EXHAUSTED&detail=HTTP_503&attempts=5"); err != nil {
			return err
		}
	}
	if err := d.deadLetter(c, 41_000, "999999", "reason=OUTCOME_UNKNOWN&detail=TIMEOUT&attempts=1&ambiguous=true"); err != nil {
		return err
	}
	var bad struct {
		Records []rec `json:"records"`
	}
	d.quietly(func() { d.run(&bad, "list", "--stream", "837", "--state", "quarantined", "--limit", "1") })
	if len(bad.Records) == 1 && d.run(nil, "park", bad.Records[0].Key, "--reason", "waits for the practice") == exitOK {
		d.parked = bad.Records[0].ID
	}
	return nil
}

func (d *stage) deadLetter(c *browser, first int, bin, query string) error {
	b, err := d.transmissions(first, 1, bin)
	if err != nil {
		return err
	}
	return c.raw(d.ctx, "/v1/dead-letters?"+query, bytes.Trim(b, "\x02\x03"))
}

// transmissions generates pharmacy claims, each between STX and ETX.
func (d *stage) transmissions(first, n int, bin string, faults ...testclaims.Fault) ([]byte, error) {
	o := d.rxOptions(first, n)
	o.BIN, o.Faults = bin, faults
	var out bytes.Buffer
	_, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		out.WriteByte(0x02)
		out.Write(b)
		return out.WriteByte(0x03)
	})
	return out.Bytes(), err
}

// ask leaves a request for a second person, and a plan with its dry run.
func (d *stage) ask(c *browser, password string) error {
	b := c.another()
	if err := b.signIn(d.ctx, "olga", password); err != nil {
		return err
	}
	var plan struct {
		Plan struct {
			ID string `json:"id"`
		} `json:"plan"`
	}
	filter := map[string]any{"state": "quarantined", "reason": "RETRIES_EXHAUSTED", "stream": "ncpdp"}
	if err := b.call(d.ctx, http.MethodPost, "/v1/replays", map[string]any{"reason": "the partner should be back by noon", "filter": filter}, &plan); err != nil {
		return err
	}
	if err := b.call(d.ctx, http.MethodPost, "/v1/replays/"+plan.Plan.ID+"/dry-run", map[string]string{"reason": "what would happen"}, nil); err != nil {
		return err
	}
	if d.parked == 0 {
		return nil
	}
	var got struct {
		Record struct {
			Revision uint32 `json:"revision"`
		} `json:"record"`
	}
	path := fmt.Sprintf("/v1/records/%d", d.parked)
	if err := b.call(d.ctx, http.MethodGet, path, nil, &got); err != nil {
		return err
	}
	b.match = fmt.Sprintf("%q", fmt.Sprint(got.Record.Revision))
	return b.call(d.ctx, http.MethodPost, path+"/unpark:ask", map[string]string{"reason": "the practice has answered"}, nil)
}

// start runs `claimdlq serve` with a configuration, beside the story.
func (d *stage) start(name string, cfg []byte) (*server, *ready) {
	file := filepath.Join(d.files, name)
	if err := os.WriteFile(file, cfg, 0o600); err != nil {
		d.expect(false, "a configuration can be written")
		return nil, nil
	}
	ctx, cancel := context.WithCancel(d.ctx)
	srv, address := &server{cancel: cancel, done: make(chan int, 1)}, make(chan string, 1)
	said := &ready{address: address}
	d.scene.Commands = append(d.scene.Commands, "claimdlq serve --config "+name)
	d.printf("   %s\n", d.paint.dim("$ claimdlq serve --config "+name+" &"))
	go func() {
		srv.done <- Main(ctx, []string{"serve", "--config", file}, Env{
			Stdin: strings.NewReader(""), Stdout: said, Stderr: said, Now: d.s.env.Now, Getenv: func(string) string { return "" },
		})
	}()
	select {
	case srv.address = <-address:
		return srv, said
	case <-srv.done:
	}
	cancel()
	said.mu.Lock()
	defer said.mu.Unlock()
	d.expect(false, "serve starts: %s", oneLine(said.all.String()))
	return nil, nil
}

// discard reads an answer to its end.
func discard(r *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
	_ = r.Body.Close()
}

// patient is how long the console may take for one answer.
const patient = 30 * time.Second
