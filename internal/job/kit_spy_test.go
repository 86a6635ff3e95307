package job_test

import (
	"context"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/target"
)

// till stands before the payer and answers in its place where say wants to.
type till struct {
	target.Target

	mu    sync.Mutex
	say   func() (target.Delivery, bool)
	times []time.Time
}

func (t *till) Deliver(ctx context.Context, p target.Parcel) target.Delivery {
	t.mu.Lock()
	say := t.say
	t.times = append(t.times, time.Now())
	t.mu.Unlock()
	if say != nil {
		if d, ok := say(); ok {
			return d
		}
	}
	return t.Target.Deliver(ctx, p)
}

// always answers every delivery with a transient code until it is given "".
func (t *till) always(code string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say = nil
	if code != "" {
		d := target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail(code)}}
		t.say = func() (target.Delivery, bool) { return d, true }
	}
}

// spy notes what is released, and may come between.
type spy struct {
	store.Store

	mu      sync.Mutex
	release []released
	before  func(b *store.Batch) error // of a commit
	after   func(b *store.Batch) error
	reading func(id claimdlq.ID) error
}

type released struct {
	at   time.Time
	id   claimdlq.ID
	bulk bool
}

func (s *spy) Get(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	r, err := s.Store.Get(ctx, id)
	s.mu.Lock()
	f := s.reading
	s.mu.Unlock()
	if f != nil && err == nil {
		err = f(id)
	}
	return r, err
}

func (s *spy) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	s.mu.Lock()
	before, after := s.before, s.after
	s.mu.Unlock()
	if before != nil {
		if err := before(&b); err != nil {
			return store.Receipt{}, err
		}
	}
	got, err := s.Store.Commit(ctx, b)
	if err != nil {
		return got, err
	}
	s.mu.Lock()
	for _, sub := range b.NewSubmissions {
		if sub.Replay {
			s.release = append(s.release, released{time.Now(), sub.Members[0].First, sub.Bulk})
		}
	}
	s.mu.Unlock()
	if after != nil {
		if err := after(&b); err != nil {
			return store.Receipt{}, err
		}
	}
	return got, nil
}

func (s *spy) set(before, after func(*store.Batch) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

// replays returns what was released so far.
func (s *spy) replays() []released {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]released(nil), s.release...)
}
