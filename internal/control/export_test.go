package control

import (
	"context"
	"io"
	"net"
	"sync"
)

// SetPeer makes the kernel say something else about who connects.
func SetPeer(l *Listener, f func(net.Conn) (uint32, error)) { l.peer = f }

// ServeConn serves one connection of the serving user, until all is cancelled.
func ServeConn(all context.Context, conn net.Conn, run RunFunc) {
	s := &server{
		l:   &Listener{peer: func(net.Conn) (uint32, error) { return 0, nil }},
		run: run, slots: make(chan struct{}, 1), clients: sync.WaitGroup{},
	}
	s.client(all, conn)
}

// Talk is Run on a connection that is there.
func Talk(ctx context.Context, conn net.Conn, r Request, in io.Reader, stdout, stderr io.Writer) (int, error) {
	b, err := encodeRequest(r)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return talk(ctx, conn, b, in, stdout, stderr)
}

// Frame is a frame as bytes.
func Frame(kind byte, payload string) string {
	n := len(payload)
	return string([]byte{kind, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + payload
}

// RequestFrame is the frame of a request.
func RequestFrame(r Request) string {
	b, err := encodeRequest(r)
	if err != nil {
		panic(err)
	}
	return Frame(kindRequest, string(b))
}

const MaxCommands = maxCommands
