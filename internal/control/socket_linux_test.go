package control_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/control"
)

func okay(context.Context, control.Request, control.Streams) int { return 0 }

// privateDir returns a directory that nobody else can write.
func privateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestListen_TheSocketIsTheUsersAlone(t *testing.T) {
	t.Parallel()
	dir := privateDir(t)
	l, err := control.Listen(control.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "serve.sock" {
		t.Fatal(entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestListen_RefusesADirectoryThatOthersCanWrite(t *testing.T) {
	t.Parallel()
	dir := privateDir(t)
	for _, mode := range []fs.FileMode{0o770, 0o702, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := control.Listen(control.Path(dir)); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

func TestListen_ReplacesTheSocketOfADeadProcess(t *testing.T) {
	t.Parallel()
	path := control.Path(privateDir(t))
	for _, name := range []string{path, path + ".new"} {
		dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		dead.SetUnlinkOnClose(false)
		_ = dead.Close()
	}
	if _, err := control.Run(t.Context(), path, request(), nil, nil, nil); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("a dead one serves: %v", err)
	}
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l, okay)
	if exit, err := control.Run(t.Context(), path, request(), nil, nil, nil); exit != 0 || err != nil {
		t.Error(exit, err)
	}
}

func TestListen_RefusesWhereAnotherServes(t *testing.T) {
	t.Parallel()
	path, _ := setup(t, okay)
	if _, err := control.Listen(path); !errors.Is(err, claimdlq.Unavailable) {
		t.Errorf("%v", err)
	}
	if exit, err := control.Run(t.Context(), path, request(), nil, nil, nil); exit != 0 || err != nil {
		t.Errorf("the first no longer serves: %d, %v", exit, err)
	}
}

func TestListen_LeavesAFileThatIsNoSocket(t *testing.T) {
	t.Parallel()
	path := control.Path(privateDir(t))
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(path); !errors.Is(err, claimdlq.Refused) {
		t.Error(err)
	}
	if _, err := control.Run(t.Context(), path, request(), nil, nil, nil); err == nil {
		t.Error("a file serves")
	}
	if b, err := os.ReadFile(path); string(b) != "x" {
		t.Error("the file is gone", err)
	}
}

func TestListener_CloseLeavesASocketThatTookItsPlace(t *testing.T) {
	t.Parallel()
	path := control.Path(privateDir(t))
	first, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_ = first.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

// A path to a socket has 107 bytes at most; data directories are where they are.
func TestListen_InADirectoryOfAnyLength(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(privateDir(t), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := control.Path(dir)
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, l, okay)
	if exit, err := control.Run(t.Context(), path, request(), nil, nil, nil); exit != 0 || err != nil {
		t.Error(exit, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 {
		t.Error(entries, err)
	}
}

func TestServe_OnlyTheServingUserAndRootMayConnect(t *testing.T) {
	t.Parallel()
	self := uint32(os.Geteuid())
	for name, tt := range map[string]struct {
		uid uint32
		err error
		ok  bool
	}{
		"the same": {self, nil, true}, "root": {0, nil, true}, "another": {self + 1, nil, false}, "nobody knows": {self, errors.New("no"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := control.Path(privateDir(t))
			l, err := control.Listen(path)
			if err != nil {
				t.Fatal(err)
			}
			control.SetPeer(l, func(net.Conn) (uint32, error) { return tt.uid, tt.err })
			serve(t, l, func(context.Context, control.Request, control.Streams) int {
				if !tt.ok {
					t.Error("a stranger's command runs")
				}
				return 0
			})
			_, err = control.Run(t.Context(), path, request(), nil, nil, nil)
			if tt.ok && err != nil || !tt.ok && !errors.Is(err, claimdlq.Refused) {
				t.Error(err)
			}
		})
	}
}

func TestServe_AClientThatDiesCancelsItsCommand(t *testing.T) {
	t.Parallel()
	why := make(chan error, 1)
	path, _ := setup(t, func(ctx context.Context, _ control.Request, s control.Streams) int {
		_, _ = io.WriteString(s.Stdout, "begun")
		<-ctx.Done()
		if _, err := s.Stdout.Write(make([]byte, 1<<20)); !errors.Is(err, control.ErrGone) {
			t.Errorf("writing to a dead client: %v", err)
		}
		if _, err := s.Stdin.Read(make([]byte, 1)); !errors.Is(err, control.ErrGone) {
			t.Errorf("reading from a dead client: %v", err)
		}
		why <- context.Cause(ctx)
		return 0
	})
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, control.RequestFrame(request()))
	if _, err := io.ReadFull(conn, make([]byte, 5+len("begun"))); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := <-why; !errors.Is(err, control.ErrGone) {
		t.Error(err)
	}
}

func TestServe_GarbageHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	path, _ := setup(t, okay)
	for name, in := range map[string]string{
		"text": "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "zeros": strings.Repeat("\x00", 100), "a length of 4 GiB": "R\xff\xff\xff\xff",
		"no JSON": control.Frame('R', "\x01{"), "empty request": control.Frame('R', ""), "wrong kind": control.Frame('X', "\x00"),
		"relative directory": control.Frame('R', "\x01"+`{"args":[],"dir":"eA=="}`),
	} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, in)
		// The end may come as a reset, for not everything was read.
		if got, _ := io.ReadAll(conn); len(got) > 0 {
			t.Errorf("%s: answered %q", name, got)
		}
		_ = conn.Close()
	}
	if exit, err := control.Run(t.Context(), path, request(), nil, nil, nil); exit != 0 || err != nil {
		t.Error(exit, err)
	}
}
