package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/internal/logging"
	"claimdlq/internal/payersim"
	"claimdlq/internal/serve"
	"claimdlq/internal/testclaims"
)

// world is a serving process with a payer behind it.
type world struct {
	t     *testing.T
	dir   string
	app   *app.App
	payer *payersim.Payer
	at    string // of the payer
	url   string
	stop  func() error

	token    string // of the account
	commands int    // for Idempotency-Key
}

func start(t *testing.T, change func(*serve.Setup)) *world {
	t.Helper()
	p, err := payersim.New(payersim.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	w := &world{t: t, payer: p, at: srv.URL, dir: filepath.Join(t.TempDir(), "data")}
	w.serve(change)
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// serve opens the data directory and serves it.
func (w *world) serve(change func(*serve.Setup)) {
	w.t.Helper()
	policy := claimdlq.DefaultPolicy()
	policy.Base, policy.Cap = 10*time.Millisecond, 20*time.Millisecond
	a, err := app.Open(w.t.Context(), app.Options{
		Dir: w.dir, Create: true, Now: time.Now, Policies: claimdlq.Policies{"": policy}, SignIn: auth.Options{LoopbackHTTP: true},
		Targets: []string{"ncpdp=" + w.at + "/v1/ncpdp", "837=" + w.at + "/v1/interchanges"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.app = a
	l, err := new(net.ListenConfig).Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	rules, err := alert.Rules(alert.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	set := serve.Setup{Listener: l, Dir: w.dir, Rules: rules, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	if change != nil {
		change(&set)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- serve.Run(ctx, a, set) }()
	w.url = "http://" + l.Addr().String()
	w.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-done, a.Close())
	})
}

func (w *world) do(method, path string, body io.Reader, header ...string) (int, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.Header.Get("Cache-Control") != "no-store" {
		w.t.Errorf("%s %s may be cached", method, path)
	}
	return resp.StatusCode, string(b)
}

// claims returns n pharmacy claims from the given one on, each framed.
func claims(t *testing.T, first, n int) [][]byte {
	t.Helper()
	var out [][]byte
	o := testclaims.RxOptions{Claims: n, FirstClaim: first, Seed: uint64(first), Framed: true, Canary: true}
	if _, err := testclaims.EachRx(o, func(_ int, b []byte) error { out = append(out, bytes.Clone(b)); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) settled(n int64) {
	w.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		st, err := w.app.Store.Stats(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if st.ByState[claimdlq.StateSettled] == n {
			return
		}
	}
	st, _ := w.app.Store.Stats(w.t.Context())
	w.t.Fatalf("%v, want %d settled", st.ByState, n)
}

type receipt struct {
	Records []struct {
		ID          uint64 `json:"id"`
		Key         string `json:"key"`
		Status      string `json:"status"`
		State       string `json:"state"`
		Disposition string `json:"disposition"`
	} `json:"records"`
}

func decode[T any](t *testing.T, s string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return v
}

func TestClaims_OneIsTakenInDeliveredAndSettled(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	raw := claims(t, 1, 1)[0]
	status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(raw))
	got := decode[receipt](t, body)
	if status != http.StatusAccepted || len(got.Records) != 1 || got.Records[0].Status != "accepted" || len(got.Records[0].Key) != 24 {
		t.Fatalf("%d %s", status, body)
	}
	w.settled(1)
	if status, body = w.do(http.MethodPost, "/v1/claims", bytes.NewReader(raw)); decode[receipt](t, body).Records[0].Status != "duplicate" {
		t.Errorf("again: %d %s", status, body)
	}
	token := w.account(auth.Viewer, auth.RecordsRead)
	status, body = w.do(http.MethodGet, fmt.Sprintf("/v1/records/%d", got.Records[0].ID), nil, "Authorization", token)
	if status != http.StatusOK || !strings.Contains(body, `"disposition":"PAID"`) || !strings.Contains(body, got.Records[0].Key) {
		t.Errorf("%d %s", status, body)
	}
	for _, mark := range testclaims.RxMarks(testclaims.RxOptions{}) {
		if strings.Contains(body, mark) {
			t.Error("a value of the claim is in the record")
		}
	}
	if n := w.payer.Stats().Pharmacy.Paid; n != 1 {
		t.Errorf("the payer has paid %d", n)
	}
}

func TestClaims_PreferWaitStaysUntilItIsAtRest(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 1, 1)[0]), "Prefer", "respond-async, wait=30")
	if got := decode[receipt](t, body); status != http.StatusOK || got.Records[0].Disposition != "PAID" {
		t.Errorf("%d %s", status, body)
	}
}

func TestClaims_WhatCannotBeReadIsHeldAndTheAnswerSaysSo(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	for name, body := range map[string]string{"junk": "not a claim at all", "a claim cut off": string(claims(t, 1, 1)[0][:80])} {
		status, got := w.do(http.MethodPost, "/v1/claims", strings.NewReader(body))
		if status != http.StatusAccepted || !strings.Contains(got, "quarantined") {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	if status, body := w.do(http.MethodPost, "/v1/claims", strings.NewReader(strings.Repeat("x", 2<<20))); status != http.StatusRequestEntityTooLarge {
		t.Errorf("too long: %d %s", status, body)
	}
}

func TestClaims_SeveralTransmissionsInOneBodyAreSentToTheDoorForFiles(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	two := claims(t, 1, 2)
	bare := func(b []byte) []byte { return bytes.Trim(b, "\x02\x03") }
	for name, body := range map[string][]byte{
		"framed": slices.Concat(two...), "with line breaks": append([]byte("\r\n"), bytes.Join(two, []byte("\r\n"))...),
		"the first without its ETX": slices.Concat(bytes.TrimRight(two[0], "\x03"), two[1]), "the first without a frame": slices.Concat(bare(two[0]), two[1]),
	} {
		status, got := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(body))
		if status != http.StatusUnprocessableEntity || !strings.Contains(got, `"code":"refused"`) || !strings.Contains(got, "/v1/claims/batch") {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	if r, err := w.app.Store.Get(t.Context(), 1); !errors.Is(err, claimdlq.NotFound) {
		t.Fatalf("something was kept: %+v, %v", r, err)
	}
	// One that was damaged is one, and is held.
	for _, damaged := range [][]byte{
		slices.Concat(two[0][:200], []byte("\x03"), two[0][200:]), slices.Concat(two[0][:200], []byte("\x03\x02"), two[0][200:]), slices.Concat(two[0], []byte("\x02"), two[0][150:]),
	} {
		if status, got := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(damaged)); status != http.StatusAccepted || !strings.Contains(got, "quarantined") {
			t.Errorf("damaged: %d %s", status, got)
		}
	}
	if status, got := w.do(http.MethodPost, "/v1/claims/batch", bytes.NewReader(slices.Concat(two...))); status != http.StatusAccepted || !strings.Contains(got, `"accepted":2`) {
		t.Errorf("a file of them: %d %s", status, got)
	}
}

func TestBatch_TakesPharmacyBatchesAndX12Files(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	var rx, x12 bytes.Buffer
	if _, err := testclaims.GenerateRx(&rx, testclaims.RxOptions{Claims: 30, Batch: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := testclaims.Generate(&x12, testclaims.Options{Claims: 5}); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*bytes.Buffer{"batch": &rx, "x12": &x12} {
		status, body := w.do(http.MethodPost, "/v1/claims/batch", b)
		got := decode[struct {
			Claims, Accepted int64
		}](t, body)
		if status != http.StatusAccepted || got.Accepted == 0 || got.Accepted != got.Claims {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	w.settled(35)
}

func TestStream_EachMessageIsAnsweredInOrderWhileTheStreamGoesOn(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	r, in := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/claims/stream", r)
	if err != nil {
		t.Fatal(err)
	}
	all := claims(t, 1, 50)
	go func() { _, _ = in.Write(all[0]) }()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() receipt {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
		return decode[receipt](t, lines.Text())
	}
	first := next() // while the client still writes
	go func() {
		for _, b := range all[1:] {
			_, _ = in.Write(b)
		}
		_, _ = in.Write([]byte("this is no message"))
		_ = in.Close()
	}()
	last := first.Records[0].ID
	for range all[1:] {
		got := next()
		if len(got.Records) != 1 || got.Records[0].ID <= last {
			t.Fatalf("after record %d came %+v", last, got)
		}
		last = got.Records[0].ID
	}
	if !lines.Scan() || !strings.Contains(lines.Text(), `"code":"invalid"`) || !strings.Contains(lines.Text(), "at byte ") {
		t.Errorf("the end is not said: %s", lines.Text())
	}
	w.settled(50)
}

func TestDeadLetters_OfAnotherPipelineAreHeldWithTheirHistory(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	status, body := w.do(http.MethodPost, "/v1/dead-letters?reason=RETRIES_EXHAUSTED&detail=HTTP_503&attempts=5", bytes.NewReader(claims(t, 1, 1)[0]))
	if status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	rec, err := w.app.Store.Get(t.Context(), 1)
	if err != nil || rec.State != claimdlq.StateQuarantined || rec.Reason != claimdlq.RetriesExhausted || rec.Detail.String() != "HTTP_503" || rec.AttemptCount != 5 {
		t.Fatalf("%+v, %v", rec, err)
	}
	for _, q := range []string{"", "?detail=lower", "?reason=NONE&detail=A", "?detail=A&attempts=many", "?detail=A&ambiguous=perhaps"} {
		if status, body := w.do(http.MethodPost, "/v1/dead-letters"+q, strings.NewReader("x")); status != http.StatusBadRequest || !strings.Contains(body, "hint") {
			t.Errorf("%q: %d %s", q, status, body)
		}
	}
	if n := w.payer.Stats().Pharmacy.Transmissions; n != 0 {
		t.Errorf("the payer got %d", n)
	}
}

func TestSwitches_StopAtOnceAndStayStopped(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	turn := func(method, stream, body string) (int, string) {
		w.commands++
		return w.do(method, "/v1/switches/"+stream, strings.NewReader(body), "Authorization", w.account(auth.Operator, auth.SwitchesSet, auth.MetricsRead),
			"Content-Type", "application/json", "Idempotency-Key", fmt.Sprint(w.commands))
	}
	if status, body := turn(http.MethodPut, "ncpdp", `{"partner":"999999:TESTPCN"}`); status != http.StatusBadRequest {
		t.Errorf("without a reason: %d %s", status, body)
	}
	status, body := turn(http.MethodPut, "ncpdp", `{"partner":"999999:TESTPCN","reason":"fee dispute","unseen":true}`)
	if status != http.StatusOK || !strings.Contains(body, "999999:TESTPCN") {
		t.Fatalf("%d %s", status, body)
	}
	w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 1, 1)[0]))
	if b, err := os.ReadFile(filepath.Join(w.dir, "switches.json")); err != nil || !strings.Contains(string(b), "999999:TESTPCN") {
		t.Errorf("not kept: %s, %v", b, err)
	}
	if n := w.payer.Stats().Pharmacy.Transmissions; n != 0 {
		t.Errorf("the payer got %d", n)
	}
	if status, body := turn(http.MethodDelete, "ncpdp", `{"partner":"999999:TESTPCN","reason":"settled"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	w.settled(1)
}

func TestToken_GuardsAllButHealth(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *serve.Setup) { s.HTTP.Token = []byte("test-token-0123456789") })
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := w.do(http.MethodGet, path, nil); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for method, paths := range map[string][]string{
		http.MethodGet:  {"/metrics", "/v1/records/1", "/v1/switches"},
		http.MethodPost: {"/v1/claims", "/v1/claims/batch", "/v1/claims/stream", "/v1/dead-letters", "/v1/acknowledgments"},
	} {
		for _, path := range paths {
			for _, token := range []string{"", "Bearer ", "Bearer test-token-012345678", "Basic test-token-0123456789"} {
				if status, _ := w.do(method, path, nil, "Authorization", token); status != http.StatusUnauthorized {
					t.Errorf("%s %s with %q: %d", method, path, token, status)
				}
			}
		}
	}
	if status, body := w.do(http.MethodGet, "/metrics", nil, "Authorization", "Bearer test-token-0123456789"); status != http.StatusOK || !strings.Contains(body, "dlq_depth") {
		t.Errorf("with the token: %d", status)
	}
}

// account makes a machine account while the process serves, and returns the header
// with its token.
func (w *world) account(role auth.Role, perms ...auth.Permission) string {
	w.t.Helper()
	if w.token != "" {
		return w.token
	}
	by := auth.Local("test.officer", "a test")
	_, err := w.app.Desk.CreateUser(w.t.Context(), by, auth.NewUser{
		Login: "watcher", Machine: true, Access: auth.Access{Roles: []auth.Role{role}, Partners: []string{auth.AllPartners}},
	}).Do(w.t.Context(), w.app.Note)
	if err != nil {
		w.t.Fatal(err)
	}
	issued, err := w.app.Desk.CreateToken(by, auth.NewToken{
		Owner: "watcher", Name: "test", Permissions: perms, Partners: []string{auth.AllPartners},
	}).Do(w.t.Context(), w.app.Note)
	if err != nil {
		w.t.Fatal(err)
	}
	w.token = "Bearer " + issued.Text.Reveal()
	return w.token
}

func TestAPI_IsThereBeforeThereIsAnAccountAndKnowsTheFirstAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	status, body := w.do(http.MethodGet, "/v1/session", nil)
	if p := decode[struct{ Hint string }](t, body); status != http.StatusUnauthorized || p.Hint != auth.FirstAccount {
		t.Errorf("%d %s", status, body)
	}
	token := w.account(auth.Viewer, auth.RecordsRead)
	w.do(http.MethodPost, "/v1/claims", strings.NewReader("not a claim"))
	for _, path := range []string{"/v1/records", "/v1/records/1", "/v1/switches", "/v1/groups", "/v1/overview"} {
		if status, body := w.do(http.MethodGet, path, nil); status != http.StatusUnauthorized {
			t.Errorf("%s without a name: %d %s", path, status, body)
		}
	}
	if status, body := w.do(http.MethodGet, "/v1/records?state=quarantined", nil, "Authorization", token); status != http.StatusOK || !strings.Contains(body, "FATAL_SYNTAX") {
		t.Errorf("with a token: %d %s", status, body)
	}
	if status, body := w.do(http.MethodPost, "/v1/records/1/withdraw", strings.NewReader(`{"reason":"TEST"}`), "Authorization", token,
		"Content-Type", "application/json", "Idempotency-Key", "1", "If-Match", `"1"`); status != http.StatusForbidden {
		t.Errorf("beyond its permissions: %d %s", status, body)
	}
	if status, _ := w.do(http.MethodPost, "/v1/records/1/reveal", strings.NewReader(`{"reason":"TEST"}`), "Authorization", token, "Content-Type", "application/json"); status != http.StatusForbidden {
		t.Errorf("a payload: %d", status)
	}
	if status, body := w.do(http.MethodGet, "/openapi.json", nil); status != http.StatusOK || !strings.Contains(body, `"3.1`) {
		t.Errorf("the document: %d", status)
	}
}

func TestRun_RefusesIntakeWhileTooMuchIsUnresolved(t *testing.T) { // promise 8
	t.Parallel()
	var log logged
	w := start(t, func(s *serve.Setup) {
		s.MaxUnresolved, s.Every, s.Log = 1, 2*time.Millisecond, slog.New(logging.New(&log, logging.Options{}))
	})
	w.do(http.MethodPost, "/v1/claims", strings.NewReader("not a claim")) // quarantined
	w.until(func() bool {                                                 // the figure is looked at once a second
		status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 1, 1)[0]))
		return status == http.StatusServiceUnavailable && strings.Contains(body, "nothing of it was kept")
	})
	if status, _ := w.do(http.MethodGet, "/readyz", nil); status != http.StatusServiceUnavailable {
		t.Errorf("ready is %d", status)
	}
	w.until(func() bool {
		return slices.ContainsFunc(w.activeAlarms(), func(a alarmJSON) bool { return a.Alarm == alert.AlarmRefused && a.Cause == string(alert.CauseBacklog) })
	})
	for range 3 {
		w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 1, 1)[0]))
	}
	_, figures := w.do(http.MethodGet, "/metrics", nil)
	for _, want := range []string{
		`claimdlq_intake_refused_total{cause="backlog"} 4`, `claimdlq_intake_refused_total{cause="disk"} 0`, `claimdlq_intake_refusing{cause="backlog"} 1`,
		"claimdlq_intake_waiting 1", "claimdlq_intake_waiting_limit 1", "claimdlq_intake_fill_ratio 1",
	} {
		if !strings.Contains(figures, want+"\n") {
			t.Errorf("no %s in %s", want, figures)
		}
	}
	if n := strings.Count(log.String(), "Claims are refused"); n != 1 || !strings.Contains(log.String(), "cause=backlog") {
		t.Errorf("said %d times: %s", n, log.String())
	}
}

// until waits until it is so.
func (w *world) until(so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !so(); <-tick.C {
		if time.Now().After(end) {
			w.t.Fatal("it is not so after a minute")
		}
	}
}

func TestFolder_FilesAreTakenInAndMovedAway(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var rx bytes.Buffer
	if _, err := testclaims.GenerateRx(&rx, testclaims.RxOptions{Claims: 4}); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"a.ncpdp": rx.Bytes(), "b.part": rx.Bytes(), ".hidden": rx.Bytes()} {
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := start(t, func(s *serve.Setup) { s.Folders = []string{folder} })
	w.settled(4)
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"taken/a.ncpdp": true, "a.ncpdp": false, "b.part": true, ".hidden": true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
