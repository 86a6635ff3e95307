package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// maxQuery bounds a query, maxPath a path, in bytes.
const (
	maxQuery = 4096
	maxPath  = 1024
)

// A body comes within bodyWithin and as long as a line of slowest bytes a second takes
// for the longest: who sends more slowly keeps others from being heard.
const (
	bodyWithin = 10 * time.Second
	slowest    = 256 << 10
)

// rooms are how many requests are worked on at a time, by what they cost and who can
// make them: nobody who has not signed in takes a place of those who have.
type rooms struct{ strangers, payloads, streams, others chan struct{} }

func newRooms(atOnce, streams int) rooms {
	return rooms{
		strangers: make(chan struct{}, 16), payloads: make(chan struct{}, 4), // documents are long
		streams: make(chan struct{}, streams), others: make(chan struct{}, atOnce),
	}
}

func (r *rooms) of(op operation) chan struct{} {
	switch {
	case op.perm == permNone:
		return r.strangers
	case op.payload:
		return r.payloads
	case op.stream:
		return r.streams
	}
	return r.others
}

// patience is how long a request that is no stream may take.
const patience = time.Minute

// asked is who asks, and with what.
type asked struct {
	who auth.Principal
	r   *http.Request
}

type askedKey struct{}

// who returns who makes the request. Without the guard it is nobody.
func who(ctx context.Context) auth.Principal {
	a, _ := ctx.Value(askedKey{}).(asked)
	return a.who
}

// request returns the request itself, for package auth.
func request(ctx context.Context) *http.Request {
	a, _ := ctx.Value(askedKey{}).(asked)
	return a.r
}

// outer refuses an address that is too long, whatever is behind it. The headers of every
// answer are set by who serves it.
func (s *server) outer(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.RawQuery) > maxQuery || len(r.URL.Path) > maxPath {
			writeProblem(w, withStatus(http.StatusRequestURITooLong, claimdlq.Invalid, "read request", "its address", "an address is at most 5,120 bytes long"))
			return
		}
		h.ServeHTTP(w, r)
	})
}

// guard lets a request through to its operation: there is room, somebody may do this
// somewhere, its body is not too long, and it was not answered before.
func (s *server) guard(op operation, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		room := s.rooms.of(op)
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		default:
			writeProblem(w, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "take request", On: "too many at a time", Hint: "try again"})
			return
		}
		defer s.rescue(w, r, op)
		p, err := s.admit(op, r)
		if err != nil {
			no := problemOf(err)
			no.SingleSignOn = no.Status == http.StatusUnauthorized && s.o.Desk.SingleSignOn()
			no.Write(w)
			return
		}
		body, err := s.readBody(w, r, op)
		if err != nil {
			writeProblem(w, err)
			return
		}
		ctx := r.Context()
		if !op.stream {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, cmp.Or(op.patience, patience))
			defer cancel()
		}
		ctx = context.WithValue(ctx, askedKey{}, asked{p, r})
		next := r.WithContext(ctx)
		next.Body = io.NopCloser(bytes.NewReader(body))
		next.ContentLength = int64(len(body))
		if !op.command || op.may && r.Header.Get("Idempotency-Key") == "" {
			h.ServeHTTP(w, next)
			return
		}
		s.once(w, next, p, body, h)
	})
}

// rescue answers for an operation that has panicked, so that nobody waits for nothing.
// What it panicked with may hold a value and is not logged.
func (s *server) rescue(w http.ResponseWriter, r *http.Request, op operation) {
	if recover() == nil {
		return
	}
	s.o.Log.ErrorContext(r.Context(), "Operation has panicked", slog.String("operation", op.id))
	writeProblem(w, &claimdlq.Error{Code: claimdlq.Internal, Op: op.id, Hint: "it is a defect: report the operation"})
}

// admit says who asks, and whether he may do this at all; for whom is the operation's
// to ask. A refused command is in the audit log.
func (s *server) admit(op operation, r *http.Request) (auth.Principal, error) {
	if op.perm == permNone {
		return auth.Principal{}, nil
	}
	p, err := s.o.Desk.Authenticate(r)
	if err == nil {
		err = s.pace.take(p.Actor)
	}
	if err != nil || op.perm == permSelf {
		return p, err
	}
	err = p.MaySome(op.perm)
	for _, other := range op.or {
		if err != nil {
			err = p.MaySome(other)
		}
	}
	if errors.Is(err, auth.ErrForbidden) && r.Method != http.MethodGet {
		if rerr := s.audit(r.Context(), p.Denied(s.o.Now(), op.perm)); rerr != nil {
			return p, rerr
		}
	}
	return p, err
}

// audit makes an event durable. It is the Recorder of every Act.
func (s *server) audit(ctx context.Context, e auth.Event) error {
	_, err := s.o.App.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{e.Entry()}})
	return err
}

// readBody reads what an operation takes, so that nothing behind it meets a body that
// is cut off or has no end. Content of claims is read only where the operation is
// about it.
func (s *server) readBody(w http.ResponseWriter, r *http.Request, op operation) ([]byte, error) {
	if r.Body == nil || r.Method == http.MethodGet {
		return nil, nil
	}
	c := http.NewResponseController(w)
	// A recorder in a test has no deadlines.
	_ = c.SetReadDeadline(s.o.Now().Add(bodyWithin + time.Duration(op.body/slowest)*time.Second))
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, op.body))
	_ = c.SetReadDeadline(time.Time{})
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, withStatus(http.StatusRequestEntityTooLarge, claimdlq.Invalid, "read request", "its body", "it is longer than this operation takes")
	}
	if err != nil {
		return nil, invalid("read request", "its body", "it is cut off")
	}
	return b, nil
}

// keyForm is what an Idempotency-Key looks like.
var keyForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// once runs a command unless it was run before.
func (s *server) once(w http.ResponseWriter, r *http.Request, p auth.Principal, body []byte, h http.Handler) {
	key := r.Header.Get("Idempotency-Key")
	if !keyForm.MatchString(key) {
		writeProblem(w, invalid("read request", "header Idempotency-Key", "a command needs one: 1 to 64 letters, digits and . _ -, new for each command"))
		return
	}
	slot, print := s.replies.names(p.Actor, r, key, body)
	seal := s.replies.sum("seal", p.Actor, key)
	kept, err := s.replies.begin(slot, print)
	if err != nil {
		writeProblem(w, err)
		return
	}
	if kept != nil {
		kept.write(w, seal)
		return
	}
	rec := &recorder{ResponseWriter: w}
	defer func() { s.replies.end(slot, seal, rec) }()
	h.ServeHTTP(rec, r)
}
