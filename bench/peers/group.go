package main

import "runtime"

// op is one durable change a producer waits for.
type op struct {
	n      int64
	sealed []byte // nil: a state change
	done   chan error
}

// grouper gives a peer what claimdlq has: one writer that commits everything
// that waits, so that no engine is punished with one flush per record.
type grouper struct {
	ch     chan *op
	closed chan struct{}
}

func newGrouper(commit func([]*op) error) *grouper {
	g := &grouper{ch: make(chan *op, 1024), closed: make(chan struct{})}
	go func() {
		defer close(g.closed)
		batch := make([]*op, 0, 256)
		for first := range g.ch {
			batch = append(batch[:0], first)
			runtime.Gosched()
		fill:
			for len(batch) < cap(batch) {
				select {
				case o, ok := <-g.ch:
					if !ok {
						break fill
					}
					batch = append(batch, o)
				default:
					break fill
				}
			}
			err := commit(batch)
			for _, o := range batch {
				o.done <- err
			}
		}
	}()
	return g
}

func (g *grouper) do(n int64, sealed []byte) error {
	o := &op{n: n, sealed: sealed, done: make(chan error, 1)}
	g.ch <- o
	return <-o.done
}

func (g *grouper) close() { close(g.ch); <-g.closed }
