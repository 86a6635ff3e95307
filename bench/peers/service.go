package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// errNotInstalled says that a peer's program is not on this machine.
var errNotInstalled = errors.New("not installed")

const (
	startDeadline = 60 * time.Second
	stopDeadline  = 20 * time.Second
)

// service is one process of a peer, private to this run: its own folder, its own
// loopback port.
type service struct {
	name string
	cmd  *exec.Cmd
	log  string // file with what it printed
	done chan struct{}
}

// launch starts cmd; what it prints goes to a file in dir.
func launch(name, dir string, cmd *exec.Cmd) (*service, error) {
	s := &service{name: name, cmd: cmd, log: filepath.Join(dir, name+".out"), done: make(chan struct{})}
	out, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own descriptor
	cmd.Stdout, cmd.Stderr = out, out
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(s.done)
	}()
	return s, nil
}

// ready polls probe until it succeeds, the process ends or the deadline passes.
func (s *service) ready(ctx context.Context, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("%s ended at its start: %s", s.name, s.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %s", s.name, err, s.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop asks the process to end, then ends its whole group.
func (s *service) stop(sig os.Signal) error {
	if s == nil {
		return nil
	}
	defer endGroup(s.cmd)
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(stopDeadline):
		return fmt.Errorf("%s did not stop in %v", s.name, stopDeadline)
	}
}

// tail is the end of what the process printed.
func (s *service) tail() string {
	b, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-1000):])
}

// listening is the probe of a service whose protocol is tried later.
func listening(port int) func(context.Context) error {
	return func(ctx context.Context) error {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", loopback(port))
		if err != nil {
			return err
		}
		return c.Close()
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts returns n different ports that nothing listened on a moment ago.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // held to the end, so that the ports differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// program finds a server's binary: by the globs of where packages put it, newest
// last, then on the path.
func program(name string, globs ...string) (string, error) {
	for _, g := range globs {
		if found, err := filepath.Glob(g); err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	p, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, errNotInstalled)
	}
	return p, nil
}
