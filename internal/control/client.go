package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"claimdlq"
)

const op = "command the serving process"

// Run has the process that serves at the socket run a command line, with the given
// streams, and returns its exit code. Cancelling ctx interrupts the command, whose
// output is still passed on until it ends, for at most 15 s. A Read of stdin that is
// under way when Run returns goes on alone; a nil stdin is an empty one.
//
// Errors, with no exit code: NotFound (nobody serves there), Refused (the server is
// another user's), Unavailable (the server ended before the command did, has too much
// to do, or is of another version), Invalid (a request that cannot be sent: too long,
// or no absolute Dir), and what writing to stdout and stderr returns.
func Run(ctx context.Context, path string, r Request, stdin io.Reader, stdout, stderr io.Writer) (exit int, err error) {
	b, err := encodeRequest(r)
	if err != nil {
		return 0, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: "the command line is too long, or the working directory is unknown"}
	}
	conn, err := dial(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	return talk(ctx, conn, b, stdin, stdout, stderr)
}

// patience is how long an interrupted command may take to end.
const patience = 15 * time.Second

func talk(ctx context.Context, conn net.Conn, request []byte, in io.Reader, stdout, stderr io.Writer) (int, error) {
	w := &wire{conn: conn}
	// A refusal comes before the request is read: a send that fails is no reason yet.
	_ = w.send(kindRequest, request)
	var cut atomic.Pointer[time.Timer]
	defer func() {
		if t := cut.Load(); t != nil {
			t.Stop()
		}
	}()
	defer context.AfterFunc(ctx, func() {
		cut.Store(time.AfterFunc(patience, func() { _ = conn.Close() }))
		_ = w.send(kindCancel, nil)
	})()
	wants := make(chan struct{}, 1)
	defer close(wants)
	go feed(w, in, wants)
	f := &frames{r: conn}
	for {
		kind, b, err := f.next(MaxFrame)
		if err != nil {
			return 0, ended(ctx, err)
		}
		switch {
		case kind == kindOutput:
			_, err = stdout.Write(b)
		case kind == kindErrors:
			_, err = stderr.Write(b)
		case kind == kindWant && len(wants) == 0:
			wants <- struct{}{}
		case kind == kindExit && len(b) == 1:
			return int(b[0]), nil
		case kind == kindRefuse:
			return 0, refusal(b)
		default:
			return 0, ended(ctx, errFrame)
		}
		if err != nil {
			return 0, err
		}
	}
}

// feed answers wants, until there are no more.
func feed(w *wire, in io.Reader, wants <-chan struct{}) {
	var b []byte
	for range wants {
		if b == nil {
			b = make([]byte, MaxFrame/2)
		}
		n, err := read(in, b)
		switch {
		case n > 0:
			_ = w.send(kindInput, b[:n]) // an error comes again with the next read
		case errors.Is(err, io.EOF):
			_ = w.send(kindInput, nil)
		default:
			_ = w.send(kindBroken, nil)
		}
	}
}

// read reads something, or why there is nothing.
func read(in io.Reader, b []byte) (n int, err error) {
	if in == nil {
		return 0, io.EOF
	}
	for n == 0 && err == nil {
		n, err = in.Read(b)
	}
	return n, err
}

// ended is the error of a connection that ended without an exit code.
func ended(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		err = cause
	}
	return &claimdlq.Error{
		Code: claimdlq.Unavailable, Op: op, Err: err,
		Hint: "the serving process ended first; what was acknowledged is kept: look, then give the same command again",
	}
}

// refusal reads why the server runs nothing.
func refusal(b []byte) error {
	code, why, _ := bytes.Cut(b[:min(len(b), maxText)], []byte("\n"))
	e := &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Hint: strings.ToValidUTF8(string(why), "?")}
	if claimdlq.Code(code) == claimdlq.Refused {
		e.Code = claimdlq.Refused
	}
	return e
}
