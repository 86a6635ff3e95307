package email

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wneessen/go-mail"

	"claimdlq/alert"
)

// Sender mails events. Send and Counts may be called at any time by anybody; Run by one
// caller.
type Sender struct {
	o     Options
	boxes []*box
}

// box is what waits for one recipient.
type box struct {
	o  *Options
	to string

	mu     sync.Mutex
	queue  []queued // without what is being mailed
	counts Counts
	wake   chan struct{} // size 1: there is something new
}

type queued struct {
	event alert.Event
	id    string
	since time.Time
}

// Counts are what became of the events since the start, counted for each recipient.
type Counts struct {
	Sent    int64 // taken by the mail server
	Dropped int64 // never taken, or overtaken by a later event of the same alarm
	Waiting int64 // now
	Mails   int64 // taken
	Retried int64 // mails that failed and were tried again
}

// New returns a Sender. It mails nothing before Run. Errors: Invalid, every fault at once.
func New(o Options) (*Sender, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Sender{o: o}
	for _, to := range o.To {
		s.boxes = append(s.boxes, &box{o: &s.o, to: to, wake: make(chan struct{}, 1)})
	}
	return s, nil
}

// Send queues the events and returns at once. An event takes the place of an older one
// about the same alarm; if too many wait the oldest is dropped.
func (s *Sender) Send(events []alert.Event) {
	for _, b := range s.boxes {
		b.push(events)
	}
}

// Counts returns the counts, of all recipients together.
func (s *Sender) Counts() Counts {
	var sum Counts
	for _, b := range s.boxes {
		b.mu.Lock()
		c := b.counts
		b.mu.Unlock()
		sum.Sent += c.Sent
		sum.Dropped += c.Dropped
		sum.Waiting += c.Waiting
		sum.Mails += c.Mails
		sum.Retried += c.Retried
	}
	return sum
}

// Idle reports whether nothing waits.
func (s *Sender) Idle() bool { return s.Counts().Waiting == 0 }

// Run mails what is queued until ctx ends; then it tries what is left once more, within
// one Timeout, and drops the rest.
func (s *Sender) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, b := range s.boxes {
		wg.Go(func() { b.run(ctx) })
	}
	wg.Wait()
}

func (b *box) push(events []alert.Event) {
	if len(events) == 0 {
		return
	}
	now := b.o.Now()
	b.mu.Lock()
	for _, e := range events {
		b.add(queued{e, e.Fingerprint(), now})
		b.counts.Waiting++
	}
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // Run has not yet seen the last one
	}
}

// add queues q in place of what it makes obsolete. The caller has the lock.
func (b *box) add(q queued) {
	i := slices.IndexFunc(b.queue, func(o queued) bool { return o.id == q.id })
	if i < 0 && len(b.queue) >= maxQueue {
		i = 0
		b.logDropped(b.queue[0].event, "QUEUE_FULL")
	}
	if i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
		b.counts.Waiting--
		b.counts.Dropped++
	}
	b.queue = append(b.queue, q)
}

func (b *box) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-b.wake:
			if sleep(ctx, b.o.Group) {
				b.drain(ctx)
			}
		}
	}
	if batch := b.take(); len(batch) > 0 {
		b.settle(batch, b.mail(ctx, batch))
	}
}

// drain mails until nothing waits, or ctx ends.
func (b *box) drain(ctx context.Context) {
	wait := b.o.FirstWait
	for ctx.Err() == nil {
		batch := b.take()
		if len(batch) == 0 {
			return
		}
		r := b.mail(ctx, batch)
		if r.taken || !r.again {
			b.settle(batch, r)
			continue
		}
		b.putBack(batch, r.code)
		if !sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, b.o.MaxWait)
	}
}

// take takes out all that waits; it waits still, until it is settled.
func (b *box) take() []queued {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch := b.queue
	b.queue = nil
	return batch
}

// putBack queues again what was not taken, but for what is too old or obsolete by now.
func (b *box) putBack(batch []queued, code string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Retried++
	newer := b.queue
	b.queue = nil
	for _, q := range batch {
		if b.o.Now().Sub(q.since) >= b.o.GiveUp {
			b.counts.Waiting--
			b.counts.Dropped++
			b.logDropped(q.event, code)
			continue
		}
		b.add(q)
	}
	for _, q := range newer {
		b.add(q)
	}
}

func (b *box) settle(batch []queued, r result) {
	b.mu.Lock()
	n := int64(len(batch))
	b.counts.Waiting -= n
	if r.taken {
		b.counts.Sent += n
		b.counts.Mails++
	} else {
		b.counts.Dropped += n
	}
	b.mu.Unlock()
	if r.taken {
		return
	}
	for _, q := range batch {
		b.logDropped(q.event, r.code)
	}
}

func (b *box) logDropped(e alert.Event, code string) {
	b.o.Log.LogAttrs(context.Background(), slog.LevelError, "Alarm was not delivered", slog.String("receiver", "email"), slog.String("rule", e.Alarm),
		slog.String("status", string(e.Status)), slog.String("code", code))
}

// result is what became of a mail.
type result struct {
	taken, again bool
	code         string // SMTP_550, CONNECT or TIMEOUT
}

// mail sends one mail with all events of the batch, by a connection of its own. What is
// under way when ctx ends may end: broken off nobody knows whether it was taken.
func (b *box) mail(ctx context.Context, batch []queued) result {
	events := make([]alert.Event, len(batch))
	for i, q := range batch {
		events[i] = q.event
	}
	m, err := b.o.message(b.to, events)
	if err != nil {
		return result{code: "ADDRESS"}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.o.Timeout)
	defer cancel()
	c, err := b.o.client(ctx)
	if err != nil {
		return result{code: "SETTING"}
	}
	err = c.DialAndSendWithContext(ctx, m)
	if m.IsDelivered() { // whatever became of saying goodbye
		return result{taken: true}
	}
	return outcome(err)
}

// outcome says what an error of the mail library means. A refusal for good is one of
// the mail itself; who cannot be reached or does not let us in may be mended.
func outcome(err error) result {
	if e, ok := errors.AsType[*mail.SendError](err); ok && e.ErrorCode() >= 400 {
		return result{again: e.IsTemp(), code: "SMTP_" + strconv.Itoa(e.ErrorCode())}
	}
	if e, ok := errors.AsType[*textproto.Error](err); ok {
		return result{again: true, code: "SMTP_" + strconv.Itoa(e.Code)}
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return result{again: true, code: "TIMEOUT"}
	}
	return result{again: true, code: "CONNECT"}
}

// client returns a mail client for one connection, which is closed when ctx ends: the
// library leaves one open where signing in fails, and waits as long as it likes.
func (o *Options) client(ctx context.Context) (*mail.Client, error) {
	host, port, err := net.SplitHostPort(o.Server)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	options := []mail.Option{
		mail.WithPort(n), mail.WithTimeout(o.Timeout), mail.WithTLSConfig(o.TLSConfig), mail.WithHELO("localhost"), mail.WithoutNoop(),
		mail.WithDialContextFunc(func(dial context.Context, network, addr string) (net.Conn, error) {
			conn, err := o.dial(dial, network, addr)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		}),
	}
	switch o.TLS {
	case Implicit:
		options = append(options, mail.WithSSL())
	case None:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if o.User != "" {
		how := mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover)
		if o.TLS != StartTLS { // the library does not know that the connection is encrypted, or stays here
			how = mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlainNoEnc, mail.SMTPAuthLoginNoEnc)
		}
		options = append(options, how, mail.WithUsername(o.User), mail.WithPassword(string(o.Password)))
	}
	return mail.NewClient(host, options...)
}

// dial connects to the mail server, by TLS where that is how it is spoken to.
func (o *Options) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if o.TLS == Implicit {
		return (&tls.Dialer{Config: o.TLSConfig}).DialContext(ctx, network, addr)
	}
	return new(net.Dialer).DialContext(ctx, network, addr)
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
