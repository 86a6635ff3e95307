package payersim

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"claimdlq"
)

// Serve answers HTTP at addr until ctx ends, then lets the requests under way
// finish. While the script says "down" nothing listens there, so that connections
// are refused. ready, if not nil, is called once with the address it listens at.
func (p *Payer) Serve(ctx context.Context, addr string, ready func(net.Addr)) error {
	for {
		if up, end, _ := p.currentScript().down(p.elapsed()); !up {
			if !p.sleep(ctx, end) {
				return nil
			}
			continue
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			return listenError(err)
		}
		addr = l.Addr().String()
		if ready != nil {
			ready(l.Addr())
			ready = nil
		}
		if err := p.serveWhileUp(ctx, l); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// down reports whether the payer is up, and how long that lasts; change is false
// where it lasts for good.
func (s *Script) down(elapsed time.Duration) (up bool, end time.Duration, change bool) {
	up = true
	for i := range s.rules {
		r := &s.rules[i]
		if r.subject != "time" || r.act.verb != "down" || elapsed >= r.to {
			continue
		}
		if elapsed >= r.from {
			return false, r.to - elapsed, true
		}
		if left := r.from - elapsed; !change || left < end {
			end, change = left, true
		}
	}
	return up, end, change
}

// serveWhileUp serves on l until ctx ends or the payer goes down.
func (p *Payer) serveWhileUp(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: p, ReadHeaderTimeout: 30 * time.Second}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	for {
		up, end, change := p.currentScript().down(p.elapsed())
		if !up {
			_ = srv.Close() // an outage does not wait for anybody
			return closed(<-done)
		}
		var timer *time.Timer
		var at <-chan time.Time
		if change {
			timer = time.NewTimer(end)
			at = timer.C
		}
		var err error
		ended := true
		select {
		case err = <-done:
		case <-ctx.Done():
			err = stop(srv, done)
		case <-at:
			ended = false
		case <-p.changed:
			ended = false
		}
		if timer != nil {
			timer.Stop()
		}
		if ended {
			return closed(err)
		}
	}
}

func closed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// stop lets requests under way finish, for ten seconds at most.
func stop(srv *http.Server, done <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		_ = srv.Close()
	}
	return <-done
}

// sleep waits for d or a new script; false when ctx ended.
func (p *Payer) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.changed:
	case <-ctx.Done():
		return false
	}
	return true
}

func listenError(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "listen", Hint: "choose another address with --listen", Err: err}
}
