// Package targettest holds a target for tests: it answers as scripted and keeps
// what it was given.
package targettest

import (
	"context"
	"io"
	"sync"

	"claimdlq"
	"claimdlq/target"
)

// Delivered is one parcel that a Fake was given.
type Delivered struct {
	Name    string
	ISA13   uint32
	Env     claimdlq.Envelope
	Bytes   []byte
	Outcome claimdlq.Outcome // as answered
}

// Fake is a target.Target that answers with its scripted deliveries in order and,
// when they are used up, with OutcomeSubmitted. It is safe for concurrent use.
type Fake struct {
	mu        sync.Mutex
	script    []target.Delivery
	inquiries map[string]claimdlq.Outcome
	got       []Delivered
	asked     []string
	hook      func(ctx context.Context, p target.Parcel)
}

var _ target.Target = (*Fake)(nil)

// New returns a Fake that first answers with the given deliveries.
func New(script ...target.Delivery) *Fake { return &Fake{script: script} }

// Outcomes returns a Fake that first answers with the given outcomes.
func Outcomes(script ...claimdlq.Outcome) *Fake {
	f := New()
	for _, o := range script {
		f.script = append(f.script, target.Delivery{Outcome: o})
	}
	return f
}

// Then adds deliveries to the script.
func (f *Fake) Then(script ...target.Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = append(f.script, script...)
}

// OnDeliver sets a function that each delivery calls before it answers, such as
// one that blocks until a test lets it go.
func (f *Fake) OnDeliver(hook func(ctx context.Context, p target.Parcel)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}

// Knows makes inquiries about the parcel answer with o. Others are not known.
func (f *Fake) Knows(name string, o claimdlq.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inquiries == nil {
		f.inquiries = make(map[string]claimdlq.Outcome)
	}
	f.inquiries[name] = o
}

// Deliver implements target.Target.
func (f *Fake) Deliver(ctx context.Context, p target.Parcel) target.Delivery {
	f.mu.Lock()
	hook := f.hook
	f.mu.Unlock()
	if hook != nil {
		hook(ctx, p)
	}
	b, err := read(p)
	if err != nil {
		return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail("CONTENT")}}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d := target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted, Code: claimdlq.NewDetail("FAKE_WRITTEN")}}
	if len(f.script) > 0 {
		d, f.script = f.script[0], f.script[1:]
	}
	f.got = append(f.got, Delivered{Name: p.Name, ISA13: p.ISA13, Env: p.Env, Bytes: b, Outcome: d.Outcome})
	return d
}

func read(p target.Parcel) ([]byte, error) {
	r, err := p.Content()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// Inquire implements target.Target.
func (f *Fake) Inquire(_ context.Context, p target.Parcel) (claimdlq.Outcome, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, p.Name)
	o, known := f.inquiries[p.Name]
	return o, known
}

// Name implements target.Target.
func (f *Fake) Name() string { return "fake" }

// Delivered returns every parcel so far, in order.
func (f *Fake) Delivered() []Delivered {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Delivered(nil), f.got...)
}

// Asked returns the names of every inquiry so far, in order.
func (f *Fake) Asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}
