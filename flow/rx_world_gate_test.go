package flow_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
)

// act is something that a source, a person, a payer's answer or a worker does, beside others.
type act struct {
	id   int
	name string
}

type actKey struct{}

// gate is where an act waits until the walk lets it go on.
type gate struct {
	act   *act
	label string
	wire  bool // a request is on its way to the payer
	asks  bool // it holds what no inquiry may begin under
	open  chan step
}

// step is how an act goes on.
type step struct {
	mode   mode
	ruling ruling
}

// gates are where the acts of a walk wait. One of them is opened at a time, so that the
// seed alone decides in which order things happen.
type gates struct {
	mu      sync.Mutex
	waiting []*gate
	running int
	errs    []string // acts that ended in a way that nothing allows
}

func (g *gates) pass(ctx context.Context, label string, wire bool) (step, bool) {
	a, _ := ctx.Value(actKey{}).(*act)
	if a == nil {
		return step{}, false
	}
	w := &gate{act: a, label: label, wire: wire, asks: a.asks(), open: make(chan step)}
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	return <-w.open, true
}

// asks reports whether the caller is inside what excludes the beginning and the end of
// inquiries, by a lock: who waits for that would wait for us, and we wait for the walk.
func (a *act) asks() bool {
	if !strings.HasPrefix(a.name, "late") && !strings.HasPrefix(a.name, "resolve") && !strings.HasPrefix(a.name, "inquire") {
		return false
	}
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, ".rxTogether") || strings.HasSuffix(f.Function, "(*Settle).Resolve") {
			return true
		}
		if !more {
			return false
		}
	}
}

// choosable returns the gates that may be opened now, in an order that depends on
// nothing but what happened.
func (g *gates) choosable() (out []*gate, asks bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.waiting {
		asks = asks || w.asks
	}
	for _, w := range g.waiting {
		if w.asks || !asks || !strings.HasPrefix(w.act.name, "inquire") {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b *gate) int { return cmp.Or(cmp.Compare(a.act.id, b.act.id), cmp.Compare(a.label, b.label)) })
	return out, asks
}

func (g *gates) release(w *gate, s step) {
	g.mu.Lock()
	g.waiting = slices.DeleteFunc(g.waiting, func(o *gate) bool { return o == w })
	g.mu.Unlock()
	w.open <- s
}

// process is a store as one process has it: it waits at the gates, and works no more once
// the process is dead.
type process struct {
	store.Store
	g    *gates
	mu   sync.Mutex
	dead bool
}

func (p *process) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
}

func (p *process) died() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *process) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	work := len(b.Update)+len(b.Insert)+len(b.NewSubmissions)+len(b.Submissions) > 0
	if work {
		p.g.pass(ctx, "commit "+labelOf(b), false)
	}
	if p.died() {
		return store.Receipt{}, errDead
	}
	r, err := p.Store.Commit(ctx, b)
	if work {
		p.g.pass(ctx, "durable "+labelOf(b), false)
	}
	if p.died() {
		return store.Receipt{}, errDead
	}
	return r, err
}

func labelOf(b store.Batch) string {
	var s strings.Builder
	for i := range b.Update {
		fmt.Fprintf(&s, "%d>%s ", b.Update[i].ID, b.Update[i].State)
	}
	for i := range b.Submissions {
		fmt.Fprintf(&s, "s%d>%d ", b.Submissions[i].ID, b.Submissions[i].State)
	}
	fmt.Fprintf(&s, "+%d +s%d", len(b.Insert), len(b.NewSubmissions))
	return s.String()
}

func (p *process) Lookup(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Record, error) {
	rs, err := p.Store.Lookup(ctx, ref, limit)
	p.g.pass(ctx, fmt.Sprintf("looked %d", ref), false)
	if p.died() {
		return nil, errDead
	}
	return rs, err
}

// arrive is the way of a request to the payer and back.
func (w *rxWorld) arrive(name string, b []byte, s step) target.Delivery {
	w.books.mu.Lock()
	defer w.books.mu.Unlock()
	answer := w.books.take(name, b, s.ruling)
	if s.mode == drop {
		w.books.mail = append(w.books.mail, answer)
		return transient("TIMEOUT", true)
	}
	w.books.said = append(w.books.said, answer)
	return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: claimdlq.NewDetail("HTTP_200")}, Answer: phi.Wrap(bytes.Clone(answer))}
}
