package cli_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"claimdlq/internal/app"
	"claimdlq/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"claimdlq": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			code := cli.Main(ctx, os.Args[1:], cli.System())
			stop()
			os.Exit(code)
		},
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("CLAIMDLQ_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("NO_COLOR", "1")
			p, err := newPayer()
			e.Values[payerKey{}] = p
			e.Values[heldKey{}] = new(*app.App)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "payer": payerCmd, "hold": hold, "release": release, "damage": damage, "await": await},
	})
}

// await waits for a file that another command of the script makes.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		if _, err := os.Lstat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s does not appear", args[0])
}

// exits runs a command and wants an exit code: exits 3 claimdlq check bad.x12.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

type heldKey struct{}

// hold keeps a data directory open in this process: hold DIR, until release.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	a, err := app.Open(context.Background(), app.Options{Dir: ts.MkAbs(args[0]), Now: time.Now})
	ts.Check(err)
	*ts.Value(heldKey{}).(**app.App) = a
}

func release(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check((*ts.Value(heldKey{}).(**app.App)).Close())
}

// damage flips a byte in the middle of the largest file of a folder.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	es, err := os.ReadDir(dir)
	ts.Check(err)
	var largest string
	var size int64
	for _, e := range es {
		if fi, err := e.Info(); err == nil && fi.Size() > size {
			largest, size = filepath.Join(dir, e.Name()), fi.Size()
		}
	}
	b, err := os.ReadFile(largest)
	ts.Check(err)
	b[min(len(b)/2, 300)] ^= 1
	ts.Check(os.WriteFile(largest, b, 0o600))
}
