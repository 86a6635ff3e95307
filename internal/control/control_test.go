//go:build linux

package control_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"claimdlq"
	"claimdlq/internal/control"
)

// setup serves run in a directory of its own until the test ends.
func setup(t *testing.T, run control.RunFunc) (path string, stop func() error) {
	t.Helper()
	path = control.Path(privateDir(t))
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, serve(t, l, run)
}

func serve(t *testing.T, l *control.Listener, run control.RunFunc) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- control.Serve(ctx, l, run) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-served
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

func TestRun_ReturnsTheExitCode(t *testing.T) {
	t.Parallel()
	path, _ := setup(t, func(_ context.Context, r control.Request, _ control.Streams) int {
		var n int
		_, _ = fmt.Sscan(r.Args[0], &n)
		return n
	})
	for in, want := range map[string]int{"0": 0, "1": 1, "7": 7, "70": 70, "255": 255, "256": 1, "-1": 1} {
		got, err := control.Run(t.Context(), path, request(in), nil, io.Discard, io.Discard)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
}

func TestRun_TheCommandSeesTheClientsWorldAndNoMore(t *testing.T) {
	t.Parallel()
	seen := make(chan control.Request, 1)
	path, _ := setup(t, func(_ context.Context, r control.Request, _ control.Streams) int {
		seen <- r
		return 0
	})
	want := control.Request{
		Args: []string{"ingest", "a b", "", "not\xffUTF-8", "--json"}, Dir: "/some/where", TTY: true, Width: 120,
		Env:   map[string]string{"TZ": "UTC", "SECRET": "canary", "CLAIMDLQ_AUTHORIZATION": "canary"},
		Actor: "mallory", UID: 12345,
	}
	if _, err := control.Run(t.Context(), path, want, nil, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	got := <-seen
	if !slices.Equal(got.Args, want.Args) || got.Dir != want.Dir || !got.TTY || got.Width != 120 {
		t.Errorf("%+v", got)
	}
	if !maps.Equal(got.Env, map[string]string{"TZ": "UTC"}) {
		t.Errorf("environment %v", got.Env)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if got.Actor != me.Username || int(got.UID) != os.Geteuid() {
		t.Errorf("actor %q, %d: the client is believed", got.Actor, got.UID)
	}
	if got.File("x/y") != "/some/where/x/y" || got.File("/x") != "/x" || got.File("-") != "-" || got.File("") != "" {
		t.Error("file arguments do not begin in the client's directory")
	}
}

func TestRun_BigOutputArrivesWhole(t *testing.T) {
	t.Parallel()
	big := make([]byte, 5<<20+17)
	_, _ = rand.Read(big)
	path, _ := setup(t, func(_ context.Context, _ control.Request, s control.Streams) int {
		var both sync.WaitGroup
		for _, w := range []io.Writer{s.Stdout, s.Stderr} {
			both.Go(func() {
				if n, err := w.Write(big); err != nil || n != len(big) {
					t.Errorf("wrote %d: %v", n, err)
				}
			})
		}
		both.Wait()
		return 0
	})
	var out, errs bytes.Buffer
	if _, err := control.Run(t.Context(), path, request(), nil, &out, &errs); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), big) || !bytes.Equal(errs.Bytes(), big) {
		t.Errorf("%d and %d bytes, not those that were written", out.Len(), errs.Len())
	}
}

func TestRun_StandardInputIsStreamed(t *testing.T) {
	t.Parallel()
	path, _ := setup(t, func(_ context.Context, _ control.Request, s control.Streams) int {
		n, err := io.Copy(s.Stdout, s.Stdin)
		if err != nil {
			t.Errorf("after %d bytes: %v", n, err)
		}
		return 0
	})
	big := make([]byte, 3<<20+5)
	_, _ = rand.Read(big)
	for name, in := range map[string]io.Reader{
		"whole": bytes.NewReader(big), "in bytes": iotest.OneByteReader(bytes.NewReader(big[:300])),
		"error with data": iotest.DataErrReader(bytes.NewReader(big)), "none": nil, "empty": strings.NewReader(""),
	} {
		var out bytes.Buffer
		if _, err := control.Run(t.Context(), path, request(), in, &out, io.Discard); err != nil {
			t.Fatal(name, err)
		}
		want := big
		switch name {
		case "in bytes":
			want = big[:300]
		case "none", "empty":
			want = nil
		}
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s: %d bytes came back", name, out.Len())
		}
	}
}

func TestRun_InputThatBreaksIsNoEnd(t *testing.T) {
	t.Parallel()
	path, _ := setup(t, func(_ context.Context, _ control.Request, s control.Streams) int {
		got, err := io.ReadAll(s.Stdin)
		if string(got) != "half a file" || !errors.Is(err, claimdlq.Unavailable) {
			t.Errorf("%q, %v: a file that was cut off looks whole", got, err)
		}
		return 3
	})
	in := io.MultiReader(strings.NewReader("half a file"), iotest.ErrReader(errors.New("disk")))
	if exit, err := control.Run(t.Context(), path, request(), in, io.Discard, io.Discard); exit != 3 || err != nil {
		t.Error(exit, err)
	}
}

func TestRun_InputIsLeftWhereTheCommandReadsNone(t *testing.T) {
	t.Parallel()
	path, _ := setup(t, func(context.Context, control.Request, control.Streams) int { return 0 })
	in := strings.NewReader("for the next command")
	if _, err := control.Run(t.Context(), path, request(), in, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if in.Len() != len("for the next command") {
		t.Error("input was taken that nobody asked for")
	}
}

func TestRun_InterruptedCommandStillSaysItsLastWords(t *testing.T) {
	t.Parallel()
	path, _ := setup(t, func(ctx context.Context, _ control.Request, s control.Streams) int {
		_, _ = io.WriteString(s.Stdout, "begun\n")
		_, err := s.Stdin.Read(make([]byte, 1)) // which never comes
		if !errors.Is(err, control.ErrInterrupted) || !errors.Is(context.Cause(ctx), control.ErrInterrupted) {
			t.Errorf("%v, %v", err, context.Cause(ctx))
		}
		_, _ = io.WriteString(s.Stderr, "stopped")
		return 7
	})
	ctx, interrupt := context.WithCancel(t.Context())
	never, keep := io.Pipe()
	defer keep.Close()
	var errs bytes.Buffer
	exit, err := control.Run(ctx, path, request(), never, onWrite(func([]byte) { interrupt() }), &errs)
	if exit != 7 || err != nil || errs.String() != "stopped" {
		t.Errorf("%d, %v, %q", exit, err, errs.String())
	}
}

// onWrite is a writer that tells.
type onWrite func([]byte)

func (f onWrite) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestRun_AWriterThatFailsEndsTheCommand(t *testing.T) {
	t.Parallel()
	why := make(chan error, 1)
	path, _ := setup(t, func(ctx context.Context, _ control.Request, s control.Streams) int {
		_, _ = io.WriteString(s.Stdout, "x")
		<-ctx.Done()
		why <- context.Cause(ctx)
		return 0
	})
	r, w := io.Pipe()
	_ = r.Close()
	if _, err := control.Run(t.Context(), path, request(), nil, w, io.Discard); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := <-why; !errors.Is(err, control.ErrGone) {
		t.Error(err)
	}
}

func TestServe_StopsEveryCommandAndLetsItEnd(t *testing.T) {
	t.Parallel()
	path, stop := setup(t, func(ctx context.Context, _ control.Request, s control.Streams) int {
		_, _ = io.WriteString(s.Stdout, "begun")
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), control.ErrStopping) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		_, _ = io.WriteString(s.Stderr, "stopped")
		return 7
	})
	const clients = 5
	begun := make(chan struct{}, clients)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			var errs bytes.Buffer
			exit, err := control.Run(t.Context(), path, request(), nil, onWrite(func([]byte) { begun <- struct{}{} }), &errs)
			if exit != 7 || err != nil || errs.String() != "stopped" {
				t.Errorf("%d, %v, %q", exit, err, errs.String())
			}
		})
	}
	for range clients {
		<-begun
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := control.Run(t.Context(), path, request(), nil, nil, nil); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("nobody serves: %v", err)
	}
}

func TestServe_RunsManyAtOnceAndRefusesTooMany(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	path, _ := setup(t, func(context.Context, control.Request, control.Streams) int {
		begun <- struct{}{}
		<-end
		return 0
	})
	var all sync.WaitGroup
	for range control.MaxCommands {
		all.Go(func() {
			if _, err := control.Run(t.Context(), path, request(), nil, nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for range control.MaxCommands {
		<-begun
	}
	_, err := control.Run(t.Context(), path, request(), nil, nil, nil)
	if e, ok := errors.AsType[*claimdlq.Error](err); !ok || e.Code != claimdlq.Unavailable || !strings.Contains(e.Hint, "too many") {
		t.Errorf("one more: %v", err)
	}
	close(end)
	all.Wait()
}

func TestRun_WhatCannotBeSentIsInvalid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), control.Name)
	for name, r := range map[string]control.Request{
		"relative directory": {Dir: "x"}, "no directory": {}, "a NUL": {Dir: "/", Args: []string{"a\x00b"}},
		"too wide": {Dir: "/", Width: 1 << 20}, "too many": {Dir: "/", Args: make([]string, 1<<17)},
		"too long": {Dir: "/", Args: []string{strings.Repeat("x", control.MaxRequest)}},
	} {
		if _, err := control.Run(t.Context(), path, r, nil, nil, nil); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := request(strings.Repeat("x", control.MaxRequest/2))
	if _, err := control.Run(t.Context(), path, r, nil, nil, nil); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("a long one: %v", err)
	}
}
