package serve

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/flow"
	"claimdlq/internal/api"
	"claimdlq/internal/loopback"
	"claimdlq/store"
)

// Options join the handlers to what they work with. Flow, Store and Now are required.
type Options struct {
	Flow  *flow.Flow
	Store store.Store
	// API answers everything else under /v1, and /openapi.json: it asks who somebody is
	// by itself. Default: not found.
	API http.Handler
	// Console answers GET and HEAD of every path that is nobody else's: the pages of the
	// web console. It sets a Content-Security-Policy of its own. Default: not found.
	Console http.Handler
	// Now is the clock.
	Now func() time.Time
	// Metrics answers /metrics. Default: not found.
	Metrics http.Handler
	// Admit returns why nothing may be taken in now; nil where it may. Ready is asked by
	// /readyz: it also says that the latest could not be kept.
	Admit func() (alert.Cause, error)
	Ready func() error
	// Refused is told of each request with claims that was refused for want of room.
	// Default: nobody is.
	Refused func(alert.Cause, error)
	// Ended is told how each attempt to take something in ended.
	Ended func(error)
	// Token must be sent by whoever wants more than health: Authorization: Bearer.
	// Default: none is asked for, which is for loopback only.
	Token []byte
	// Porter knows who else may: API tokens and sessions. Default: nobody.
	Porter *api.Porter
	// MaxBody bounds one claim or stream message's request. Default: 1 MiB.
	MaxBody int64
	// MaxFile bounds a file: a batch, an interchange. Default: 1 GiB.
	MaxFile int64
	// AtOnce is how many requests are worked on at a time, MaxWaiting how many more
	// wait, for at most Patience. Default: 96 (64 workers and half as many), 1024, 2 s.
	AtOnce, MaxWaiting int
	Patience           time.Duration
	// MemoryPercent of what the process may use pauses intake. Default: 75.
	MemoryPercent int
}

// server is the handlers.
type server struct {
	o Options
	// gate is for single claims and streams, files for what takes longer: neither
	// stands in the other's way.
	gate, files *gate
}

// New returns the handler of everything under /v1, /metrics, /healthz and /readyz, and
// of the console.
func New(o Options) http.Handler {
	o.MaxBody, o.MaxFile = cmp.Or(o.MaxBody, 1<<20), cmp.Or(o.MaxFile, 1<<30)
	o.AtOnce, o.MaxWaiting = cmp.Or(o.AtOnce, 96), cmp.Or(o.MaxWaiting, 1024)
	o.Patience, o.MemoryPercent = cmp.Or(o.Patience, 2*time.Second), cmp.Or(o.MemoryPercent, 75)
	if o.Refused == nil {
		o.Refused = func(alert.Cause, error) {}
	}
	s := &server{
		o:     o,
		gate:  newGate(o.AtOnce, o.MaxWaiting, o.MemoryPercent, o.Patience),
		files: newGate(filesAtOnce, o.MaxWaiting, o.MemoryPercent, o.Patience),
	}
	mux := http.NewServeMux()
	for _, d := range api.Doors() {
		if h := s.behind(d.ID); h != nil {
			mux.Handle(d.Method+" "+d.Path, s.guarded(d, h))
		}
	}
	others := o.API
	if others == nil {
		others = http.HandlerFunc(nothing)
	}
	for _, path := range []string{"/v1", "/v1/", "/openapi.json", "/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, others)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if o.Console != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			o.Console.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
	return Secured(mux)
}

// behind returns what is behind a door; nil where this process has nothing there.
func (s *server) behind(id string) http.Handler {
	switch id {
	case "take-claim":
		return http.HandlerFunc(s.claim)
	case "take-batch":
		return s.gated(s.batch)
	case "take-stream":
		return http.HandlerFunc(s.stream)
	case "take-dead-letter":
		return s.gated(s.deadLetter)
	case "take-acknowledgments":
		return s.gated(s.acknowledge)
	case "get-metrics":
		return s.o.Metrics
	case "get-health":
		return http.HandlerFunc(s.health)
	case "get-readiness":
		return http.HandlerFunc(s.ready)
	}
	return nil
}

func nothing(w http.ResponseWriter, _ *http.Request) {
	fail(w, &claimdlq.Error{Code: claimdlq.NotFound, Op: "find path"})
}

// Secured keeps answers out of caches, browsers from guessing, and pages of other sites
// from showing or reading them: on every listener, of whatever is behind it, and nowhere
// else. What a page needs beyond it the console allows itself.
func Secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		for _, kv := range securing {
			head.Set(kv[0], kv[1])
		}
		if r.TLS != nil && !loopbackHost(r.Host) {
			head.Set("Strict-Transport-Security", "max-age=31536000")
		}
		h.ServeHTTP(w, r)
	})
}

// securing are the headers of every answer.
var securing = [][2]string{
	{"Cache-Control", "no-store"},
	{"Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
}

// loopbackHost reports whether a Host header names this machine. A browser keeps what
// it is told of localhost for whatever else listens there.
func loopbackHost(host string) bool {
	u := url.URL{Host: host}
	return loopback.Host(u.Hostname())
}

// filesAtOnce is how many files are taken in at a time.
const filesAtOnce = 16

// gated lets a request with a file in when there is a place for it.
func (s *server) gated(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.enter(r.Context(), s.files); err != nil {
			fail(w, err)
			return
		}
		defer s.files.leave()
		h(w, r)
	}
}

// enter waits for a place at the gate; the caller gives it back.
func (s *server) enter(ctx context.Context, g *gate) error {
	if s.o.Admit != nil {
		if why, err := s.o.Admit(); err != nil {
			s.o.Refused(why, err)
			return err
		}
	}
	in, why := g.enter(ctx)
	if !in {
		err := turnedAway(why)
		s.o.Refused(why, err)
		return err
	}
	return nil
}

// ended passes on how taking something in ended, and returns it. A body that its sender
// cut off says nothing about this machine.
func (s *server) ended(err error) error {
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	cutOff := tooLarge || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled)
	if s.o.Ended != nil && !cutOff {
		s.o.Ended(err)
	}
	return err
}

func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.o.Ready != nil {
		if err := s.o.Ready(); err != nil {
			fail(w, err)
			return
		}
	}
	answer(w, http.StatusOK, map[string]string{"status": "ready"})
}
