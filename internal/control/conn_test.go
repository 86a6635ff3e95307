package control_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/internal/control"
)

// request is a good one with the given arguments.
func request(args ...string) control.Request { return control.Request{Args: args, Dir: "/"} }

// connect returns both ends of a connection in memory.
func connect(t testing.TB) (client, server net.Conn) {
	t.Helper()
	client, server = net.Pipe()
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}

func TestServe_ASilentClientIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		begin := time.Now()
		go control.ServeConn(t.Context(), server, nil)
		if _, err := client.Read(make([]byte, 1)); err == nil {
			t.Error("it is answered")
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestServe_AStoppedCommandWaitsOnlySoLongForItsReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		all, stop := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go control.ServeConn(all, server, func(_ context.Context, _ control.Request, s control.Streams) int {
			_, err := io.WriteString(s.Stdout, "nobody reads this")
			done <- err
			return 0
		})
		_, _ = io.WriteString(client, control.RequestFrame(request()))
		synctest.Wait()
		begin := time.Now()
		stop(control.ErrStopping)
		if err := <-done; !errors.Is(err, control.ErrGone) || time.Since(begin) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestServe_InputThatNobodyAskedForEndsTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		why := make(chan error, 1)
		go control.ServeConn(t.Context(), server, func(ctx context.Context, _ control.Request, _ control.Streams) int {
			<-ctx.Done()
			why <- context.Cause(ctx)
			return 0
		})
		_, _ = io.WriteString(client, control.RequestFrame(request())+control.Frame('I', "unasked"))
		if err := <-why; !errors.Is(err, control.ErrGone) {
			t.Error(err)
		}
	})
}

func TestServe_StreamsAreClosedOnceTheCommandHasReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		kept := make(chan control.Streams, 1)
		go control.ServeConn(t.Context(), server, func(_ context.Context, _ control.Request, s control.Streams) int {
			kept <- s
			return 0
		})
		if exit, err := control.Talk(t.Context(), client, request(), nil, nil, nil); exit != 0 || err != nil {
			t.Error(exit, err)
		}
		s := <-kept
		synctest.Wait()
		if _, err := s.Stdout.Write([]byte("late")); err == nil {
			t.Error("output after the end")
		}
		if _, err := s.Stdin.Read(make([]byte, 1)); err == nil {
			t.Error("input after the end")
		}
	})
}

func TestServe_AnotherVersionIsToldSo(t *testing.T) {
	t.Parallel()
	client, server := connect(t)
	go control.ServeConn(t.Context(), server, nil)
	_, _ = io.WriteString(client, control.Frame('R', "\x02{}"))
	if got, _ := io.ReadAll(client); !strings.Contains(string(got), "another version") {
		t.Errorf("%q", got)
	}
}

func TestRun_GivesUpOnAServerThatDoesNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		go func() { _, _ = io.Copy(io.Discard, server) }()
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		begin := time.Now()
		_, err := control.Talk(ctx, client, request(), nil, io.Discard, io.Discard)
		if !errors.Is(err, claimdlq.Unavailable) || !errors.Is(err, context.Canceled) || time.Since(begin) != 15*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestRun_AServerThatEndsFirstIsNoSuccess(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing": "", "some output": control.Frame('O', "half"), "cut off": control.Frame('X', "\x00")[:5], "two exits in one": control.Frame('X', "\x00\x00"),
		"no frame": "HTTP/1.1 200 OK\r\n\r\n", "too long a frame": "O\x00\x01\x00\x01", "two wants at once": control.Frame('W', "") + control.Frame('W', "") + control.Frame('W', ""),
	} {
		client, server := connect(t)
		go func() {
			_, _ = server.Read(make([]byte, control.MaxFrame))
			_, _ = io.WriteString(server, answer)
			_ = server.Close()
		}()
		var out bytes.Buffer
		if _, err := control.Talk(t.Context(), client, request(), nil, &out, &out); !errors.Is(err, claimdlq.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzServer(f *testing.F) {
	for _, s := range []string{
		"", control.RequestFrame(request("list", "--json")), control.RequestFrame(request()) + control.Frame('C', ""),
		control.RequestFrame(request()) + control.Frame('I', "data") + control.Frame('I', ""), control.Frame('R', "\x01{}"), "R\x00\x40\x00\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		client, server := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			control.ServeConn(context.Background(), server, func(_ context.Context, r control.Request, s control.Streams) int {
				if !strings.HasPrefix(r.Dir, "/") {
					t.Error("a directory that is not absolute")
				}
				_, _ = io.Copy(s.Stdout, io.LimitReader(s.Stdin, 1<<20))
				return 0
			})
		}()
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, client)
		}()
		_, _ = client.Write(in)
		_ = client.Close()
		<-done
		<-read
	})
}

func FuzzClient(f *testing.F) {
	for _, s := range []string{
		"", control.Frame('O', "out") + control.Frame('E', "err") + control.Frame('X', "\x07"), control.Frame('W', "") + control.Frame('X', "\x00"),
		control.Frame('N', "refused\nno"), control.Frame('N', "\xff"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		client, server := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, server) }()
		go func() {
			_, _ = server.Write(in)
			_ = server.Close()
		}()
		exit, err := control.Talk(context.Background(), client, request(), strings.NewReader("input"), io.Discard, io.Discard)
		if err != nil && exit != 0 || exit < 0 || exit > 255 {
			t.Error(exit, err)
		}
	})
}
