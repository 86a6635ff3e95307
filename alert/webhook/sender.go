package webhook

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"claimdlq/alert"
)

// Sender posts events. Send and Counts may be called at any time by anybody; Run by
// one caller.
type Sender struct {
	o Options

	mu     sync.Mutex
	queue  []queued // without the one that is being posted
	counts Counts
	wake   chan struct{} // size 1: there is something new
}

type queued struct {
	event alert.Event
	print string
	since time.Time
}

// Counts are what became of the events since the start: each is sent, dropped or
// waits.
type Counts struct {
	Sent    int64 // taken by the receiver
	Dropped int64 // never taken
	Waiting int64 // now
	Retried int64 // posts that failed and were tried again
}

// New returns a Sender. It posts nothing before Run. Errors: Invalid, every fault at once.
func New(o Options) (*Sender, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Sender{o: o, wake: make(chan struct{}, 1)}, nil
}

// Send queues the events and returns at once. If the queue is full an event takes
// the place of an older one about the same alarm; if there is none the oldest is
// dropped.
func (s *Sender) Send(events []alert.Event) {
	now := s.o.Now()
	for _, e := range events {
		if old, full := s.push(queued{e, e.Fingerprint(), now}); full {
			s.logDropped(old, "QUEUE_FULL")
		}
	}
	select {
	case s.wake <- struct{}{}:
	default: // Run has not yet seen the last one
	}
}

// push queues q, and returns what had to give way.
func (s *Sender) push(q queued) (old alert.Event, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Waiting++
	if len(s.queue) >= s.o.Queue {
		i := max(slices.IndexFunc(s.queue, func(o queued) bool { return o.print == q.print }), 0)
		old, full = s.queue[i].event, true
		s.queue = slices.Delete(s.queue, i, i+1)
		s.counts.Waiting--
		s.counts.Dropped++
	}
	s.queue = append(s.queue, q)
	return old, full
}

// Counts returns the counts.
func (s *Sender) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Idle reports whether nothing waits.
func (s *Sender) Idle() bool { return s.Counts().Waiting == 0 }

// Run posts what is queued until ctx ends; then it tries what is left once more,
// within one Timeout, and drops the rest.
func (s *Sender) Run(ctx context.Context) {
	for ctx.Err() == nil {
		q, ok := s.pop()
		if !ok {
			select {
			case <-ctx.Done():
			case <-s.wake:
			}
			continue
		}
		if !s.deliver(ctx, q) {
			s.putBack(q)
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Timeout)
	defer cancel()
	for q, ok := s.pop(); ok; q, ok = s.pop() {
		s.settle(q, s.post(last, q.event))
	}
}

// deliver posts one event until it is taken, refused or too old; false if ctx ended
// before that.
func (s *Sender) deliver(ctx context.Context, q queued) bool {
	wait := s.o.FirstWait
	for first := true; ; first, wait = false, min(2*wait, s.o.MaxWait) {
		r := s.post(ctx, q.event)
		switch {
		case ctx.Err() != nil && !r.taken:
			return false
		case !r.again, s.o.Now().Sub(q.since) >= s.o.GiveUp:
			s.settle(q, r)
			return true
		}
		s.retried(r, first)
		if !sleep(ctx, min(max(wait, r.after), s.o.MaxWait)) {
			return false
		}
	}
}

// sleep waits for d; it is cut short, and false, when ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// pop takes the oldest event out of the queue. It waits still, until it is settled.
func (s *Sender) pop() (queued, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return queued{}, false
	}
	q := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return q, true
}

func (s *Sender) putBack(q queued) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.Insert(s.queue, 0, q)
}

// settle ends an event.
func (s *Sender) settle(q queued, r result) {
	s.mu.Lock()
	s.counts.Waiting--
	if r.taken {
		s.counts.Sent++
	} else {
		s.counts.Dropped++
	}
	s.mu.Unlock()
	if !r.taken {
		s.logDropped(q.event, r.code)
	}
}

// retried counts a post that failed, and logs the first of an event.
func (s *Sender) retried(r result, first bool) {
	s.mu.Lock()
	s.counts.Retried++
	s.mu.Unlock()
	if first {
		s.o.Log.LogAttrs(context.Background(), slog.LevelWarn, "Alarm receiver does not answer", slog.String("code", r.code))
	}
}

func (s *Sender) logDropped(e alert.Event, code string) {
	s.o.Log.LogAttrs(context.Background(), slog.LevelError, "Alarm was not delivered", slog.String("rule", e.Alarm), slog.String("state", string(e.Status)),
		slog.String("stream", e.Labels.Stream), slog.String("reason", e.Labels.Reason), slog.String("partner", e.Labels.Partner), slog.String("code", code))
}

// result is how a post ended.
type result struct {
	taken, again bool
	after        time.Duration // what the receiver asked to wait
	code         string        // HTTP_503, TIMEOUT, CONNECT: why it was not taken
}

// maxAnswer bounds what is read of an answer, in bytes; it is not looked at.
const maxAnswer = 64 << 10

// post sends the event once.
func (s *Sender) post(ctx context.Context, e alert.Event) result {
	body, err := newMessage(e, s.o.Receiver, s.o.ExternalURL).encode()
	if err != nil {
		return result{code: "INTERNAL"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.URL, bytes.NewReader(body))
	if err != nil {
		return result{code: "INTERNAL"}
	}
	for k, v := range s.o.Header {
		req.Header[k] = slices.Clone(v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "claimdlq")
	if len(s.o.Secret) > 0 {
		at := strconv.FormatInt(s.o.Now().Unix(), 10)
		req.Header.Set(HeaderTime, at)
		req.Header.Set(HeaderSignature, sign(s.o.Secret, at, body))
	}
	// Not http.Client: a redirect would carry the signature elsewhere.
	resp, err := s.o.Transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return result{again: true, code: "TIMEOUT"}
		}
		return result{again: true, code: "CONNECT"}
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // so that the connection can be used again
	return judge(resp)
}

// judge says what an answer means. A redirect is a refusal.
func judge(resp *http.Response) result {
	status := resp.StatusCode
	r := result{code: "HTTP_" + strconv.Itoa(status)}
	switch {
	case status >= 200 && status < 300:
		r.taken = true
	case status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		r.again = true
		if n, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 20); err == nil {
			r.after = time.Duration(n) * time.Second
		}
	}
	return r
}
