package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/loopback"
	"claimdlq/internal/payersim"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	listen, console string
	once            bool
}

func newDemo(s *session) *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the life of claims, with generated ones and a simulated payer",
		Long: `Demo starts a simulated payer on this machine and sends it generated claims through the
commands of this program: bad claims are held, an outage is ridden out, a lost answer is
resolved, a rejected claim is corrected and replayed, and one that keeps failing is parked.
Then claimdlq serve takes pharmacy claims in: the breaker holds them through an outage, a
final reject is final, an unreadable claim is corrected, a lost payment is recovered.
Each step is checked; the exit code is 1 if one does not come out as told.

After the story the web console stays up, with work left in it, until it is interrupted;
--once ends after the story, and so does --json.

It works in a directory of its own and removes it, unless --data names a new one to keep.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.demo(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "`address` of the simulated payer")
	c.Flags().StringVar(&f.console, "console", "127.0.0.1:8837", "`address` of the console; another port is taken where this one is in use")
	c.Flags().BoolVar(&f.once, "once", false, "end after the story")
	return c
}

func (s *session) demo(ctx context.Context, f demoFlags) error {
	if !loopback.Address(f.console) {
		return usagef("--console is an address of this machine alone, such as 127.0.0.1:8837")
	}
	root, err := os.MkdirTemp("", "claimdlq-demo-")
	if err != nil {
		return inputError("make a temporary folder", "", err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	dir := filepath.Join(root, "data")
	if s.data != "" {
		if dir, err = filepath.Abs(s.data); err != nil {
			return inputError("find --data", "", err)
		}
		if es, err := os.ReadDir(dir); err == nil && len(es) > 0 {
			return usagef("demo needs a new directory for --data")
		}
	}
	payer, err := payersim.New(payersim.Options{Now: s.env.Now})
	if err != nil {
		return err
	}
	address, stop, err := serveUntil(ctx, f.listen, payer)
	if err != nil {
		return err
	}
	defer stop()

	base := "http://" + address
	d := &stage{
		s: s, ctx: ctx, w: s.env.Stdout, payer: base, dir: dir, files: root, play: demoJSON{OK: true},
		paint: paint(isTerminal(s.env.Stdout) && s.env.Getenv("NO_COLOR") == ""),
		env: map[string]string{
			"CLAIMDLQ_TARGET": base + "/v1/interchanges",
			"CLAIMDLQ_STATUS": base + "/v1/interchanges/{isa13}?sender={sender}&receiver={receiver}",
		},
	}
	if s.json {
		d.w = io.Discard
	}
	d.tell(payer)
	if s.json {
		if err := s.printJSON(d.play); err != nil {
			return err
		}
	}
	if !d.play.OK {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "demo", Hint: "a step did not come out as told"}
	}
	if f.once || s.json || ctx.Err() != nil {
		return ctx.Err()
	}
	return d.stay(payer, f.console)
}

// serveUntil runs a handler until stop.
func serveUntil(ctx context.Context, listen string, h http.Handler) (address string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return "", nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "listen", On: listen, Err: err}
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			_ = l.Close()
		}
	}()
	return l.Addr().String(), func() {
		_ = srv.Close()
		<-done
	}, nil
}
