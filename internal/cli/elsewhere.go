package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"claimdlq"
	"claimdlq/internal/app"
	"claimdlq/internal/control"
)

// errElsewhere: another process serves the data directory and takes commands.
var errElsewhere = errors.New("the data directory is served by another process")

// served reports whether the error is that of a directory that another process
// serves and takes commands for.
func served(err error, dir string) bool {
	if !errors.Is(err, claimdlq.Unavailable) || !app.Locked(dir) {
		return false
	}
	fi, serr := os.Lstat(control.Path(dir))
	return serr == nil && fi.Mode()&os.ModeSocket != 0
}

// elsewhere has the process that serves the data directory run the command line,
// with this one's standard streams.
func (s *session) elsewhere(ctx context.Context, args []string) int {
	r := control.Request{Args: args, Env: map[string]string{}, TTY: isTerminal(s.env.Stderr)}
	if f, ok := s.env.Stderr.(*os.File); ok && r.TTY {
		r.Width, _, _ = term.GetSize(int(f.Fd()))
	}
	for _, name := range control.Allowed {
		if v := s.env.Getenv(name); v != "" {
			r.Env[name] = v
		}
	}
	var err error
	if r.Dir, err = os.Getwd(); err == nil {
		var code int
		if code, err = control.Run(ctx, control.Path(s.dataDir()), r, s.env.Stdin, s.env.Stdout, s.env.Stderr); err == nil {
			return code
		}
	}
	_, _ = fmt.Fprintln(s.env.Stderr, "claimdlq:", message(err))
	return exitCode(err)
}

// commands returns what runs command lines of other processes in this one, which
// serves the data directory of a.
func (s *session) commands(a *app.App) control.RunFunc {
	return func(ctx context.Context, r control.Request, std control.Streams) int {
		return Main(ctx, r.Args, Env{
			Stdin: std.Stdin, Stdout: std.Stdout, Stderr: std.Stderr, Now: s.env.Now,
			Getenv: func(name string) string { return r.Env[name] },
			Dir:    r.Dir, User: r.Actor, Terminal: r.TTY, shared: a,
		})
	}
}
