package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbit is RabbitMQ with two quorum queues: live, which dead-letters at the fifth failed
// delivery with the at-least-once strategy, and dead.
type rabbit struct {
	load   load
	server *rabbitServer
	// Publishers and consumers have connections of their own, so that back-pressure on
	// one does not hold acknowledgments on the other.
	pub, sub, ctl *amqp.Connection
	ch            *amqp.Channel
	version       string
}

const (
	rabbitLive, rabbitDead = "live", "dead"
	rabbitConsumer         = "worker"
	rabbitChannels         = 4    // publishing and consuming channels
	rabbitInFlight         = 1000 // published and not confirmed, a channel
	rabbitPrefetch         = 500  // delivered and not acknowledged, a channel
)

func openRabbit(ctx context.Context, dir string, l load) (queue, error) {
	server, err := startRabbit(ctx, dir)
	if err != nil {
		return nil, err
	}
	q := &rabbit{load: l, server: server}
	for _, c := range []**amqp.Connection{&q.pub, &q.sub, &q.ctl} {
		if *c, err = amqp.Dial(server.url); err != nil {
			return nil, errors.Join(err, q.Close())
		}
	}
	if q.ch, err = q.ctl.Channel(); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	q.version = fmt.Sprint(q.ctl.Properties["version"])
	return q, nil
}

func (q *rabbit) Facts() facts {
	return facts{"RabbitMQ " + q.version, fmt.Sprintf("quorum queues of one node: flushed before each confirm, %d publishers with %d in flight; at-least-once dead-lettering", rabbitChannels, rabbitInFlight)}
}

func (q *rabbit) Reset(context.Context) error {
	for _, name := range []string{rabbitLive, rabbitDead} {
		if _, err := q.ch.QueueDelete(name, false, false, false); err != nil {
			return err
		}
	}
	if _, err := q.ch.QueueDeclare(rabbitDead, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		return err
	}
	_, err := q.ch.QueueDeclare(rabbitLive, true, false, false, false, amqp.Table{
		"x-queue-type": "quorum", "x-delivery-limit": int32(deliveries - 1), // it counts redeliveries
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": rabbitDead,
		"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
	})
	return err
}

// Fill publishes n messages and returns when each is confirmed.
func (q *rabbit) Fill(ctx context.Context, n int) error {
	return parallel(rabbitChannels, rabbitChannels, func(c int) error {
		p, err := q.publisher()
		if err != nil {
			return err
		}
		defer p.ch.Close()
		waiting := 0
		for i := c; i < n; i += rabbitChannels {
			if err := p.publish(ctx, []byte(reference(i, q.load.size))); err != nil {
				return err
			}
			if waiting++; waiting < rabbitInFlight {
				continue
			}
			if err := p.confirmed(ctx); err != nil {
				return err
			}
			waiting--
		}
		for ; waiting > 0; waiting-- {
			if err := p.confirmed(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// publisher is a channel in confirm mode. Confirms arrive in the order of publishing: the
// client library puts them in order.
type publisher struct {
	ch       *amqp.Channel
	confirms chan amqp.Confirmation
}

func (q *rabbit) publisher() (*publisher, error) {
	ch, err := q.pub.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.Confirm(false); err != nil {
		return nil, err
	}
	return &publisher{ch, ch.NotifyPublish(make(chan amqp.Confirmation, 2*rabbitInFlight))}, nil
}

func (p *publisher) publish(ctx context.Context, body []byte) error {
	return p.ch.PublishWithContext(ctx, "", rabbitLive, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: body})
}

// confirmed waits for the next confirm.
func (p *publisher) confirmed(ctx context.Context) error {
	select {
	case c, ok := <-p.confirms:
		if !ok || !c.Ack {
			return errors.New("a message was not confirmed")
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// crew is the workers on the live queue.
type crew struct {
	channels []*amqp.Channel
	wg       sync.WaitGroup
	answered atomic.Int64
	fail     atomic.Pointer[error]
}

// consume starts the workers; each delivery is given to work, which answers it.
func (q *rabbit) consume(work func(amqp.Delivery) error) (*crew, error) {
	c := &crew{}
	for i := range min(rabbitChannels, q.load.workers) {
		ch, ds, err := q.subscribe(rabbitLive)
		if err != nil {
			return nil, errors.Join(err, c.stop())
		}
		c.channels = append(c.channels, ch)
		for w := i; w < q.load.workers; w += rabbitChannels {
			c.wg.Go(func() {
				for d := range ds {
					if err := work(d); err != nil {
						c.fail.CompareAndSwap(nil, &err)
					}
					c.answered.Add(1)
				}
			})
		}
	}
	return c, nil
}

// wait returns when n deliveries were answered.
func (c *crew) wait(ctx context.Context, n int) error {
	return poll(ctx, func() (bool, error) {
		if err := c.fail.Load(); err != nil {
			return false, *err
		}
		return c.answered.Load() >= int64(n), nil
	})
}

// stop ends the consumers. A quorum queue answers the cancelling only after it has
// applied what was answered on that channel before.
func (c *crew) stop() error {
	var err error
	for _, ch := range c.channels {
		err = errors.Join(err, ch.Cancel(rabbitConsumer, false))
	}
	c.wg.Wait()
	for _, ch := range c.channels {
		err = errors.Join(err, ch.Close())
	}
	return err
}

func (q *rabbit) subscribe(name string) (*amqp.Channel, <-chan amqp.Delivery, error) {
	ch, err := q.sub.Channel()
	if err != nil {
		return nil, nil, err
	}
	if err := ch.Qos(rabbitPrefetch, 0, false); err != nil {
		return nil, nil, err
	}
	ds, err := ch.Consume(name, rabbitConsumer, false, false, false, false, nil)
	return ch, ds, err
}

func (q *rabbit) EndToEnd(ctx context.Context, p *payer) (spent, error) {
	m := startMeter(q.server.svc)
	c, err := q.consume(func(d amqp.Delivery) error {
		if err := p.ask(string(d.Body)); err != nil {
			return err
		}
		return d.Ack(false)
	})
	if err != nil {
		return spent{}, err
	}
	err = q.Fill(ctx, len(p.asked))
	if err == nil {
		err = c.wait(ctx, len(p.asked))
	}
	err = errors.Join(err, c.stop())
	return m.spent(), err
}

func (q *rabbit) Fail(ctx context.Context, p *payer) (spent, error) {
	m := startMeter(q.server.svc)
	c, err := q.consume(func(d amqp.Delivery) error {
		if err := p.ask(string(d.Body)); err != nil {
			return err
		}
		return d.Nack(false, true)
	})
	if err != nil {
		return spent{}, err
	}
	err = c.wait(ctx, deliveries*len(p.asked))
	if err == nil {
		err = q.until(ctx, rabbitDead, len(p.asked))
	}
	took := m.spent()
	return took, errors.Join(err, c.stop())
}

// until polls until the queue holds n messages.
func (q *rabbit) until(ctx context.Context, name string, n int) error {
	return poll(ctx, func() (bool, error) {
		i, err := q.ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return i.Messages == n, err
	})
}

// Replay is the way without a plugin: consume the dead letters, publish each to the live
// queue, acknowledge it once the publishing is confirmed.
func (q *rabbit) Replay(ctx context.Context, n int) (spent, error) {
	m := startMeter(q.server.svc)
	shares := make(chan struct{}, n) // a token for each message still to be moved
	for range n {
		shares <- struct{}{}
	}
	close(shares)
	err := parallel(rabbitChannels, rabbitChannels, func(int) error { return q.move(ctx, shares) })
	if err == nil {
		err = q.until(ctx, rabbitLive, n)
	}
	took := m.spent()
	if err == nil {
		err = q.until(ctx, rabbitDead, 0)
	}
	return took, err
}

// move moves messages on one channel while there are shares. Confirms come in the order
// of publishing, which is the order of delivery, so one acknowledgment covers several.
func (q *rabbit) move(ctx context.Context, shares <-chan struct{}) (err error) {
	p, err := q.publisher()
	if err != nil {
		return err
	}
	defer p.ch.Close()
	ch, ds, err := q.subscribe(rabbitDead)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ch.Close()) }()
	pending := make(chan uint64, 2*rabbitInFlight) // delivery tags, published and not yet confirmed
	acks := make(chan error, 1)
	go func() { acks <- q.acknowledge(ctx, ch, p, pending) }()
	err = q.forward(ctx, ds, p, shares, pending)
	close(pending)
	return errors.Join(err, <-acks)
}

// forward publishes what is delivered, one for each share.
func (q *rabbit) forward(ctx context.Context, ds <-chan amqp.Delivery, p *publisher, shares <-chan struct{}, pending chan<- uint64) error {
	for range shares {
		select {
		case d, ok := <-ds:
			if !ok {
				return amqp.ErrClosed
			}
			if err := p.publish(ctx, d.Body); err != nil {
				return err
			}
			pending <- d.DeliveryTag
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// acknowledge takes a dead letter away once its copy is confirmed, up to 100 at a time.
func (q *rabbit) acknowledge(ctx context.Context, ch *amqp.Channel, p *publisher, pending <-chan uint64) error {
	for n, tag := 0, uint64(0); ; {
		next, ok := <-pending
		if !ok {
			if n == 0 {
				return nil
			}
			return ch.Ack(tag, true)
		}
		if err := p.confirmed(ctx); err != nil {
			return err
		}
		tag, n = next, n+1
		if n < 100 && len(p.confirms) > 0 {
			continue
		}
		if err := ch.Ack(tag, true); err != nil {
			return err
		}
		n = 0
	}
}

func (q *rabbit) Close() error {
	var err error
	for _, c := range []*amqp.Connection{q.pub, q.sub, q.ctl} {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return errors.Join(err, q.server.stop())
}
