package httptarget

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
)

// counted is a connection that knows whether a byte of the request left. The
// bytes of a TLS handshake or of a proxy's CONNECT come before and do not count.
type counted struct {
	net.Conn

	mu    sync.Mutex
	armed bool // the request comes next
	wrote bool
	shut  bool
}

func dialCounted(d *net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &counted{Conn: c}, nil
	}
}

// Write implements net.Conn. The mark is set before the bytes go, so that a
// delivery that is given up meanwhile counts them.
func (c *counted) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.shut {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	first := c.armed && !c.wrote
	c.wrote = c.wrote || c.armed
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	if first && n == 0 && err != nil {
		c.mu.Lock()
		c.wrote = c.shut // once stop has told, the answer stays
		c.mu.Unlock()
	}
	return n, err
}

func (c *counted) arm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = true
}

// stop makes sure that nothing more is written, and reports whether anything was.
func (c *counted) stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	return c.wrote
}

// watch arms the connection that a request gets.
type watch struct {
	mu   sync.Mutex
	conn *counted
	// strange: the request got a connection that is none of ours.
	strange bool
}

func (w *watch) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		w.mu.Lock()
		defer w.mu.Unlock()
		conn := info.Conn
		if t, ok := conn.(*tls.Conn); ok {
			conn = t.NetConn()
		}
		c, ok := conn.(*counted)
		if !ok {
			w.strange = true
			return
		}
		w.conn = c
		c.arm()
	}})
}

// stop ends the request's connection and reports whether a byte of it may have left.
func (w *watch) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil {
		return w.strange
	}
	return w.conn.stop()
}
