package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/api"
	"claimdlq/internal/app"
	"claimdlq/internal/control"
	"claimdlq/internal/metrics"
)

// Setup is what a serving process does beside answering requests. Listener, Log and
// Now are required.
type Setup struct {
	Listener net.Listener
	// Dir is the data directory, Version the program's.
	Dir, Version string
	// Payload is a listener of their own for the operations that carry content of claims.
	// Default: they are with all others.
	Payload net.Listener
	// Cert and Key are PEM files; they are read again when they change. Default: plain
	// HTTP.
	Cert, Key string
	// Certificate takes the place of the files, such as one that SelfSigned made.
	Certificate *tls.Certificate
	// HTTP tunes the handlers and has the console; Flow, Store, API, Metrics and Ready
	// are filled in.
	HTTP Options
	// MaxUnresolved is how many unresolved records make the process refuse more;
	// 0 is no bound.
	MaxUnresolved int64
	// Folders are watched for files.
	Folders []string
	// Every is how often the alarms' rules are looked at. Default: 15 s.
	Every time.Duration
	Rules []alert.Rule
	// Receivers are told of alarms. Default: nobody; they are logged.
	Receivers []Receiver
	// Socket is where other processes' commands come in and Commands runs them.
	Socket   string
	Commands control.RunFunc
	Log      *slog.Logger
	Now      func() time.Time
	// Started, if not nil, is called once claims can come in.
	Started func(net.Addr)
}

// The times of a serving process.
const (
	lookAfterEvery = time.Minute      // what falls due with time
	sweepEvery     = 6 * time.Hour    // payloads that no record points at
	stopWithin     = 30 * time.Second // requests and deliveries under way may end
)

// Run serves until ctx ends, or something that cannot go on fails. Then it takes no
// more in, lets what is under way end, and returns. What was acknowledged is durable.
func Run(ctx context.Context, a *app.App, s Setup) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &process{a: a, s: s, refused: newRefusals(s.Log, s.Now)}
	var wg sync.WaitGroup
	start := func(f func(context.Context) error) {
		wg.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	var err error
	if p.evaluator, err = alert.New(s.Rules); err != nil {
		return err
	}
	if p.meter, err = newMeter(s.Rules); err != nil {
		return err
	}
	if p.cert, err = openCertificate(s); err != nil {
		return err
	}
	if err = p.operate(start); err != nil {
		return err
	}
	p.alarms(start)
	if s.Commands != nil {
		l, err := control.Listen(s.Socket)
		if err != nil {
			return err
		}
		start(func(ctx context.Context) error { return control.Serve(ctx, l, s.Commands) })
	}
	start(a.Flow.Attempt.Run)
	start(p.lookAfter)
	for _, f := range s.Folders {
		start(func(ctx context.Context) error { return p.watch(ctx, f) })
	}
	handler, err := p.handler()
	if err != nil {
		return err
	}
	start(func(ctx context.Context) error { return p.listen(ctx, s.Listener, handler) })
	if s.Payload != nil {
		start(func(ctx context.Context) error { return p.listen(ctx, s.Payload, Secured(p.payload)) })
	}
	if s.Started != nil {
		s.Started(s.Listener.Addr())
	}
	<-ctx.Done()
	s.Log.LogAttrs(ctx, slog.LevelInfo, "Stopping: nothing more is taken in, what is under way may end")
	wg.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// process is one run.
type process struct {
	a *app.App
	s Setup

	evaluator *alert.Evaluator
	meter     *meter
	silences  *api.Silences
	// api are the operations; payload those with content of claims, where they have a
	// listener of their own.
	api, payload http.Handler
	cert         *certificate // nil: plain HTTP

	refused *refusals

	mu      sync.Mutex
	looked  time.Time // when full was worked out
	why     alert.Cause
	full    error
	trouble error // why the latest claim could not be kept; nil where it was
}

// handler returns what answers at the listener for all.
func (p *process) handler() (http.Handler, error) {
	o := p.s.HTTP
	o.API, o.Now = p.api, p.s.Now
	o.Porter = api.NewPorter(p.a.Desk, p.a.Note, p.s.Now)
	o.Flow, o.Store, o.Admit, o.Ready, o.Ended, o.Refused = p.a.Flow, p.a.Store, p.admit, p.ready, p.ended, p.refused.add
	reg := prometheus.NewRegistry()
	if err := reg.Register(metrics.New(p.a.Store, figures{p}, p.s.Now)); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "register metrics", Err: err}
	}
	o.Metrics = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	return New(o), nil
}

// listen answers requests until ctx ends, and lets those under way end.
func (p *process) listen(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(p.s.Log.Handler(), slog.LevelDebug),
	}
	done := make(chan error, 1)
	go func() {
		if p.cert != nil {
			srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.cert.get}
			done <- srv.ServeTLS(l, "", "")
			return
		}
		done <- srv.Serve(l)
	}()
	select {
	case err := <-done:
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "serve", Err: err}
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := srv.Shutdown(last); err != nil {
		_ = srv.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		p.s.Log.LogAttrs(ctx, slog.LevelWarn, "The listener ended", slog.Any("error", err))
	}
	return nil
}

// ended takes how taking something in ended. That nothing can be kept counts as refused.
func (p *process) ended(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled): // says nothing about this machine
	case err == nil:
		if p.trouble != nil {
			p.s.Log.LogAttrs(context.Background(), slog.LevelWarn, "Claims can be kept again")
		}
		p.trouble = nil
	case errors.Is(err, claimdlq.Unavailable):
		p.trouble = err
		p.refused.add(alert.CauseDisk, err)
	}
}

// ready says why no claims can be taken in, or the latest could not be kept.
func (p *process) ready() error {
	if _, err := p.admit(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trouble
}

// admit says why no claims can be taken in. Every request asks: the figures are looked
// at once a second.
func (p *process) admit() (alert.Cause, error) {
	if p.s.MaxUnresolved <= 0 {
		return "", nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.s.Now(); now.Sub(p.looked).Abs() >= time.Second {
		p.looked = now
		p.why, p.full = p.tooMany()
	}
	return p.why, p.full
}

// tooMany is an error where more records are unresolved than is allowed.
func (p *process) tooMany() (alert.Cause, error) {
	n, err := p.unresolved(context.Background())
	if err != nil {
		return alert.CauseDisk, err
	}
	if n < p.s.MaxUnresolved {
		return "", nil
	}
	return alert.CauseBacklog, &claimdlq.Error{
		Code: claimdlq.Unavailable, Op: "take in", On: "too many unresolved records",
		Hint: "nothing of it was kept: send it again later. See why nothing leaves (claimdlq groups), or raise intake.max_waiting",
	}
}

// unresolved counts the records that are unresolved.
func (p *process) unresolved(ctx context.Context) (n int64, err error) {
	st, err := p.a.Store.Stats(ctx)
	for state, records := range st.Records {
		if state.Unresolved() {
			n += records
		}
	}
	return n, err
}

// lookAfter does what falls due with time.
func (p *process) lookAfter(ctx context.Context) error {
	swept := p.s.Now()
	if err := p.a.Watch(ctx); err != nil && ctx.Err() == nil { // the figures are there from the beginning
		return err
	}
	for range ticks(ctx, lookAfterEvery) {
		if now := p.s.Now(); now.Sub(swept).Abs() >= sweepEvery {
			swept = now
			if _, err := p.a.ShredSettled(ctx); err != nil {
				p.s.Log.LogAttrs(ctx, slog.LevelWarn, "Payloads of settled claims could not be destroyed", slog.Any("error", err))
			}
			if n, err := p.a.SweepOlder(ctx, time.Hour); err != nil {
				p.s.Log.LogAttrs(ctx, slog.LevelWarn, "Payloads that no record points at could not be destroyed", slog.Any("error", err))
			} else if n > 0 {
				p.s.Log.LogAttrs(ctx, slog.LevelInfo, "Payloads that no record points at are destroyed", slog.Int("units", n))
			}
		}
		if _, _, err := p.a.LookAfter(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		p.cert.renew(ctx, p.s.Now(), p.s.Log)
		if err := p.a.Desk.Flush(); err != nil {
			p.s.Log.LogAttrs(ctx, slog.LevelWarn, "When tokens were used last could not be kept", slog.Any("error", err))
		}
	}
	return nil
}

// ticks yields once every d until ctx ends.
func ticks(ctx context.Context, d time.Duration) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		t := time.NewTicker(d)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-t.C:
				if !yield(now) {
					return
				}
			}
		}
	}
}
