package control

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/user"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"claimdlq"
)

const (
	// maxCommands is how many commands run at the same time.
	maxCommands = 64
	// handshake is how long a client may take to say what it wants.
	handshake = 10 * time.Second
	// grace is how long a stopped command may still wait for its client to read.
	grace = 5 * time.Second
	// pause is the wait after the system could not accept a connection.
	pause = 100 * time.Millisecond
)

// Listener is the socket of a data directory. Its caller holds the directory's lock
// as long as the Listener is open.
type Listener struct {
	l    *net.UnixListener
	path string
	file os.FileInfo // of the socket, to know it again
	once sync.Once
	err  error

	peer func(net.Conn) (uid uint32, err error)
	self uint32 // who serves
}

// Close ends listening and removes the socket, unless another one has taken its
// place. Serve closes the listener; a second call does nothing.
func (l *Listener) Close() error {
	l.once.Do(func() {
		if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.file) {
			_ = os.Remove(l.path)
		}
		l.err = l.l.Close()
	})
	return l.err
}

// Serve runs the commands that clients ask for, at most 64 at the same time, until
// ctx is cancelled: then it closes l, cancels every command, and returns when the
// last has ended. The error is nil, or why nobody can connect any more.
func Serve(ctx context.Context, l *Listener, run RunFunc) error {
	s := &server{l: l, run: run, slots: make(chan struct{}, maxCommands)}
	all, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(ErrStopping)
	defer context.AfterFunc(ctx, func() {
		stop(ErrStopping)
		_ = l.Close()
	})()
	err := s.accept(ctx, all)
	stop(ErrStopping)
	s.clients.Wait()
	return errors.Join(err, ignoreClosed(l.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

type server struct {
	l       *Listener
	run     RunFunc
	slots   chan struct{}
	clients sync.WaitGroup
}

func (s *server) accept(ctx, all context.Context) error {
	for {
		conn, err := s.l.l.Accept()
		if err == nil {
			s.clients.Go(func() { s.client(all, conn) })
			continue
		}
		switch {
		case errors.Is(err, net.ErrClosed) && ctx.Err() != nil: // as it should be
			return nil //nolint:nilerr // the listener was closed because ctx ended
		case errors.Is(err, net.ErrClosed):
			return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "accept control connections", Err: err}
		default: // out of files: that passes
			t := time.NewTimer(pause)
			select {
			case <-ctx.Done():
			case <-t.C:
			}
			t.Stop()
		}
	}
}

// client serves one connection.
func (s *server) client(all context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	w := &wire{conn: conn}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		w.refuse(claimdlq.Unavailable, "too many commands run at the same time: try again")
		return
	}
	uid, err := s.l.peer(conn)
	if err != nil || uid != s.l.self && uid != 0 {
		w.refuse(claimdlq.Refused, "only the user whose process serves, and root, may command it")
		return
	}
	f := &frames{r: conn}
	r, err := s.hear(all, conn, f)
	if err != nil {
		if errors.Is(err, errVersion) {
			w.refuse(claimdlq.Unavailable, "another version of the program serves: use that one, or start this one anew")
		}
		return
	}
	r.UID, r.Actor = uid, login(uid)
	command(all, w, f, r, s.run)
}

// refuse says why nothing is run, if the other side still listens.
func (w *wire) refuse(code claimdlq.Code, why string) {
	t := time.AfterFunc(grace, func() { _ = w.conn.Close() })
	defer t.Stop()
	_ = w.send(kindRefuse, []byte(string(code)+"\n"+why))
}

// hear reads the request. A client that says nothing is cut off.
func (s *server) hear(all context.Context, conn net.Conn, f *frames) (Request, error) {
	t := time.AfterFunc(handshake, func() { _ = conn.Close() })
	defer t.Stop()
	defer context.AfterFunc(all, func() { _ = conn.Close() })()
	kind, b, err := f.next(MaxRequest)
	if err != nil {
		return Request{}, err
	}
	if kind != kindRequest {
		return Request{}, errFrame
	}
	defer func() { f.buf = nil }() // the frames that follow are small
	return decodeRequest(b)
}

// login returns a user's login name.
func login(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid:" + id
}

// command runs one command for a client.
func command(all context.Context, w *wire, f *frames, r Request, run RunFunc) {
	ctx, cancel := context.WithCancelCause(all)
	c := &client{wire: w, ctx: ctx, cancel: cancel, input: make(chan piece, 1)}
	var cut atomic.Pointer[time.Timer]
	unstop := context.AfterFunc(all, func() {
		cut.Store(time.AfterFunc(grace, func() { _ = w.conn.Close() }))
	})
	var listening sync.WaitGroup
	listening.Go(func() { c.listen(f) })

	code := run(ctx, r, Streams{Stdin: &stdin{c: c}, Stdout: output{c, kindOutput}, Stderr: output{c, kindErrors}})
	c.ended.Store(true)
	if code < 0 || code > 255 {
		code = 1
	}
	_ = w.send(kindExit, []byte{byte(code)})
	_ = w.conn.Close()
	listening.Wait()
	cancel(nil)
	unstop()
	if t := cut.Load(); t != nil {
		t.Stop()
	}
}

// client is the other side of a command.
type client struct {
	wire   *wire
	ctx    context.Context
	cancel context.CancelCauseFunc
	input  chan piece
	wanted atomic.Bool // input was asked for and has not come
	ended  atomic.Bool // the command has returned
}

// piece is some standard input.
type piece struct {
	b   []byte
	err error
}

// listen takes what the client sends, until it is gone. What it was not asked for
// ends the connection: nothing piles up.
func (c *client) listen(f *frames) {
	for {
		kind, b, err := f.next(MaxFrame)
		switch {
		case err == nil && kind == kindCancel:
			c.cancel(ErrInterrupted)
		case err == nil && kind == kindInput && c.wanted.CompareAndSwap(true, false):
			p := piece{b: append([]byte(nil), b...)}
			if len(b) == 0 {
				p.err = io.EOF
			}
			c.input <- p
		case err == nil && kind == kindBroken && c.wanted.CompareAndSwap(true, false):
			c.input <- piece{err: errInput}
		default:
			c.gone()
			return
		}
	}
}

var errInput error = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read standard input", Hint: "the client could not read it to its end"}

func (c *client) gone() {
	c.cancel(ErrGone)
	_ = c.wire.conn.Close()
}

// stdin is the command's standard input.
type stdin struct {
	c    *client
	mu   sync.Mutex
	rest []byte
	err  error // the end
}

// Read implements io.Reader. It ends when the command is cancelled.
func (s *stdin) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if len(s.rest) == 0 && s.err == nil {
		if err := s.fetch(); err != nil {
			return 0, err
		}
	}
	if len(s.rest) == 0 {
		return 0, s.err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stdin) fetch() error {
	if s.c.ended.Load() {
		return os.ErrClosed
	}
	if err := context.Cause(s.c.ctx); err != nil {
		return err
	}
	if s.c.wanted.CompareAndSwap(false, true) {
		if err := s.c.wire.send(kindWant, nil); err != nil {
			s.c.gone()
			return context.Cause(s.c.ctx)
		}
	}
	select {
	case got := <-s.c.input:
		s.rest, s.err = got.b, got.err
		return nil
	case <-s.c.ctx.Done():
		return context.Cause(s.c.ctx)
	}
}

// output is the command's standard output or standard error.
type output struct {
	c    *client
	kind byte
}

// Write implements io.Writer.
func (o output) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if o.c.ended.Load() {
			return n, os.ErrClosed
		}
		piece := p[n:min(n+MaxFrame, len(p))]
		if err := o.c.wire.send(o.kind, piece); err != nil {
			o.c.gone()
			return n, ErrGone
		}
		n += len(piece)
	}
	return n, nil
}
