package serve_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/internal/app"
	"claimdlq/internal/serve"
	"claimdlq/internal/testclaims"
)

// dial opens a connection of the test's own.
func (w *world) dial() net.Conn {
	w.t.Helper()
	c, err := new(net.Dialer).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// received waits until so many claims were taken in.
func (w *world) received(n int64) {
	w.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var got int64
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		st, err := w.app.Store.Stats(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if got = st.Received; got >= n {
			break
		}
	}
	if got != n {
		w.t.Fatalf("%d claims were received, want %d", got, n)
	}
}

func tight(s *serve.Setup) {
	s.HTTP.AtOnce, s.HTTP.MaxWaiting, s.HTTP.Patience = 4, 1, time.Millisecond
}

func TestClaims_WhoSendsSlowlyHoldsNoPlace(t *testing.T) { // promise 6
	t.Parallel()
	w := start(t, tight)
	for range 8 {
		if _, err := fmt.Fprint(w.dial(), "POST /v1/claims HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n9"); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20 { // whichever of the slow ones has come to be read by then
		if status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 1+n, 1)[0])); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
	}
}

func TestClaims_WhoWaitsForOnePartnerHoldsNoPlace(t *testing.T) { // promise 6
	t.Parallel()
	w := start(t, tight)
	if err := w.app.Switch(t.Context(), claimdlq.By{Actor: "test.officer", Reason: "TEST"}, app.Turn{Switch: attempt.Switch{Stream: "ncpdp", Partner: "999999:TESTPCN"}, Stop: true, Unseen: true}); err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		msg := claims(t, 1+n, 1)[0]
		if _, err := fmt.Fprintf(w.dial(), "POST /v1/claims HTTP/1.1\r\nHost: x\r\nPrefer: wait=60\r\nContent-Length: %d\r\n\r\n%s", len(msg), msg); err != nil {
			t.Fatal(err)
		}
		w.received(int64(n + 1)) // it waits now, or is about to
	}
	if status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 9, 1)[0])); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
}

func TestFolder_WhatIsPutInTheFilesPlaceWhileItIsReadIsNotLost(t *testing.T) { // promise 1
	t.Parallel()
	folder := t.TempDir()
	w := start(t, func(s *serve.Setup) { s.Folders = []string{folder} })
	var big bytes.Buffer
	if _, err := testclaims.GenerateRx(&big, testclaims.RxOptions{Claims: 6000, Seed: 9, Batch: true}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "claims.ncpdp")
	put := func(b []byte) {
		if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			t.Fatal(err)
		}
	}
	put(big.Bytes())
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C { // until it is being read
		if st, err := w.app.Store.Stats(t.Context()); err != nil || st.Received > 0 {
			break
		}
	}
	put(claims(t, 7001, 1)[0]) // the next export, under the same name
	w.received(6001)
}

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A stream that is refused before its end leaves a connection in order: nobody reads the
// rest twice.
func TestStream_ARefusedOneLeavesItsConnectionInOrder(t *testing.T) {
	t.Parallel()
	var log logged
	w := start(t, func(s *serve.Setup) {
		s.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for range 50 {
		if status, body := w.do(http.MethodPost, "/v1/claims/stream", strings.NewReader(strings.Repeat("TEST", 20_000))); status != http.StatusBadRequest {
			t.Fatalf("%d %s", status, body)
		}
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "panic") {
		t.Error(log.String()[:min(2000, len(log.String()))])
	}
}
