package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq/internal/serve"
	"claimdlq/internal/testclaims"
)

// lockedBuffer is a log that many write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// spoiled makes another thing of a message: cut, repeated, with other bytes and
// separators in wrong places.
func spoiled(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + r.IntN(4) {
		if len(b) < 4 {
			return b
		}
		i := r.IntN(len(b))
		j := min(len(b), i+1+r.IntN(60))
		switch r.IntN(6) {
		case 0:
			b = b[:i]
		case 1:
			b[i] = byte(r.IntN(256))
		case 2:
			b = append(b[:i], b[j:]...)
		case 3:
			b = append(b[:j:j], b[i:]...)
		case 4:
			b = append(b[:i:i], append([]byte{"\x02\x03\x1c\x1d\x1e\x00\n"[r.IntN(7)]}, b[i:]...)...)
		case 5:
			b = append(b, b[:i]...)
		}
	}
	return b
}

// Whatever comes in through whichever door, the answer is no server error, and no value
// of a claim is in an answer, a log line, a figure, or a file outside of the vault.
func TestIntake_NothingThatComesInIsAServerErrorOrShowsAClaim(t *testing.T) { // 7, 34, 36
	t.Parallel()
	log := &lockedBuffer{}
	w := start(t, func(s *serve.Setup) {
		s.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	o := testclaims.RxOptions{Claims: 6, Seed: 3, Canary: true}
	sources := make([][]byte, 0, 8)
	if _, err := testclaims.EachRx(o, func(_ int, b []byte) error { sources = append(sources, bytes.Clone(b)); return nil }); err != nil {
		t.Fatal(err)
	}
	var batch, x12 bytes.Buffer
	asBatch := o
	asBatch.Batch = true
	if _, err := testclaims.GenerateRx(&batch, asBatch); err != nil {
		t.Fatal(err)
	}
	if _, err := testclaims.Generate(&x12, testclaims.Options{Claims: 3, Canary: true}); err != nil {
		t.Fatal(err)
	}
	sources = append(sources, batch.Bytes(), x12.Bytes())
	doors := []string{
		"/v1/claims", "/v1/claims?bulk", "/v1/claims/batch", "/v1/claims/stream", "/v1/acknowledgments",
		"/v1/dead-letters?detail=HTTP_503&attempts=2", "/v1/dead-letters?ambiguous=true&detail=TIMEOUT",
	}
	var said strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 700 {
		door := doors[r.IntN(len(doors))]
		status, body, ok := w.post(door, spoiled(r, sources[r.IntN(len(sources))]))
		if ok && status >= 500 || strings.Contains(body, `"status":500`) {
			t.Errorf("input %d to %s: %d %s", i, door, status, body)
		}
		said.WriteString(body)
	}
	_, figures := w.do(http.MethodGet, "/metrics", nil)
	said.WriteString(figures)
	said.WriteString(log.String())
	for _, mark := range testclaims.RxMarks(o) {
		if strings.Contains(said.String(), mark) {
			t.Errorf("%s is in an answer, a figure or the log", mark)
		}
		w.nowhere(mark)
	}
}

// post sends a body. ok is false where the connection was closed over a stream that
// cannot be followed, before all of it was read.
func (w *world) post(path string, body []byte) (status int, answer string, ok bool) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+path, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err == nil
}

// nowhere fails if the mark is in the name or the content of a file of the data
// directory.
func (w *world) nowhere(mark string) {
	w.t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(mark)) || strings.Contains(path, mark) {
			w.t.Errorf("%s is in %s", mark, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}

// Requests that are broken off, whatever of them came, leave no goroutine behind.
func TestIntake_WhatIsBrokenOffLeavesNothingBehind(t *testing.T) {
	w := start(t, nil)
	if status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(claims(t, 1, 1)[0])); status != http.StatusAccepted {
		t.Fatal(status, body)
	}
	w.settled(1)
	before := runtime.NumGoroutine() + 20 // connections to the payer, and one more of ours
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 300 {
		msg := claims(t, 1+i%5, 1)[0]
		half := msg[:r.IntN(len(msg))]
		w.breakOff([]string{
			fmt.Sprintf("POST /v1/claims/stream HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(msg), half),
			fmt.Sprintf("POST /v1/claims HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(msg), half),
			fmt.Sprintf("POST /v1/claims/stream HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n%s", msg),
			fmt.Sprintf("POST /v1/claims HTTP/1.1\r\nHost: x\r\nPrefer: wait=60\r\nContent-Length: %d\r\n\r\n%s", len(msg), msg),
			"GET / HTTP/1.1\r\nX: " + strings.Repeat("h", 100_000) + "\r\n\r\n",
			"\x02\x03garbage" + string(msg),
		}[i%6], i%6 == 2)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		<-tick.C
	}
	b := make([]byte, 1<<16)
	t.Fatalf("%d goroutines, were %d\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
}

// breakOff writes what it can, may wait for a line of the answer, and hangs up.
func (w *world) breakOff(request string, hear bool) {
	w.t.Helper()
	c, err := new(net.Dialer).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err == nil && hear {
		_, _ = bufio.NewReader(c).ReadString('\n')
	}
}

// A client that gives up at any moment, between the vault's flush and the commit too,
// may give the claim again: it is taken in once.
func TestIntake_WhatIsCancelledAtAnyMomentMayBeGivenAgain(t *testing.T) { // 1, 2
	t.Parallel()
	w := start(t, nil)
	all := claims(t, 1, 60)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(n)))
			for range 150 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(6000))*time.Microsecond)
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/claims", bytes.NewReader(all[r.IntN(len(all))]))
				if err != nil {
					t.Error(err)
				} else if resp, err := http.DefaultClient.Do(req); err == nil {
					_ = resp.Body.Close()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	for _, b := range all {
		if status, body := w.do(http.MethodPost, "/v1/claims", bytes.NewReader(b)); status != http.StatusAccepted {
			t.Errorf("%d %s", status, body)
		}
	}
	w.settled(int64(len(all)))
	if s := w.payer.Stats().Pharmacy; s.Paid != len(all) || s.DoublePaid != 0 {
		t.Errorf("%d claims were paid, %d of them twice, want %d", s.Paid, s.DoublePaid, len(all))
	}
}
