package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// queue is one durable queue of claims under test, with its server running. Every
// method that changes something returns when the change is durable by the queue's own
// account; one that returns what was spent measured its work and nothing else.
type queue interface {
	// EndToEnd accepts one message for each of the payer's claims, while workers take
	// them, ask the payer, who pays, and acknowledge.
	EndToEnd(ctx context.Context, p *payer) (spent, error)
	// Fill puts n messages into the live queue.
	Fill(ctx context.Context, n int) error
	// Fail delivers what Fill put there; every delivery fails, and without a delay the
	// fifth makes a dead letter.
	Fail(ctx context.Context, p *payer) (spent, error)
	// Replay moves the n dead letters back to the live queue. No worker runs.
	Replay(ctx context.Context, n int) (spent, error)
	// Reset empties the queues.
	Reset(ctx context.Context) error
	Facts() facts
	Close() error
}

// deliveries is the budget in Fail.
const deliveries = 5

// facts are what a reader must know beside a rate.
type facts struct {
	Version    string `json:"version"`
	Durability string `json:"durability"`
}

// load is what every queue is given.
type load struct {
	workers int // concurrent workers, and producers where each waits for its own answer
	size    int // bytes of a message
}

// contender is a queue to measure.
type contender struct {
	name string
	// scale multiplies the claims, so that the fast are measured for seconds too.
	scale int
	open  func(ctx context.Context, dir string, l load) (queue, error)
	// ours says that it is claimdlq itself.
	ours bool
	// goals are the ratios claimdlq is to reach against it, by work.
	goals map[string]float64
}

const (
	workEnd    = "end to end"
	workFail   = "fail five times"
	workReplay = "replay"
)

var works = []string{workEnd, workFail, workReplay}

const oursName = "claimdlq"

var contenders = []contender{
	{name: oursName, scale: 5, open: openOurQueue, ours: true},
	{name: oursName + ", batches", scale: 5, open: openOurBatches, ours: true},
	{name: "RabbitMQ", scale: 5, open: openRabbit, goals: map[string]float64{workEnd: 2, workFail: 3, workReplay: 25}},
	{name: "River", scale: 1, open: openRiver, goals: map[string]float64{workEnd: 16, workFail: 11, workReplay: 100}},
	{name: "River, batches", scale: 1, open: openRiverBatches},
	{name: "asynq", scale: 1, open: openAsynq},
}

func contenderNames() string {
	var names []string
	for _, c := range contenders {
		names = append(names, strconv.Quote(c.name))
	}
	return strings.Join(names, ", ")
}

// queueOptions are the flags of the scenario.
type queueOptions struct {
	dir              string
	claims, failures int
	rounds           int
	load             load
	limit            time.Duration
	only             string
	json             bool
}

func queuesMain(args []string) error {
	var o queueOptions
	fs := flag.NewFlagSet("peers queues", flag.ContinueOnError)
	fs.StringVar(&o.dir, "dir", "", "scratch folder on the disk to measure (default: a temporary one)")
	fs.IntVar(&o.claims, "claims", 10_000, "claims end to end; RabbitMQ and claimdlq get 5 times as many")
	fs.IntVar(&o.failures, "failures", 4_000, "claims that fail, and are replayed; scaled likewise; asynq keeps no more than 10,000")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds; the queues take turns and the median is shown")
	fs.IntVar(&o.load.workers, "workers", 64, "concurrent workers")
	fs.IntVar(&o.load.size, "message", 100, "bytes of a message: a reference to a sealed payload; at least 16, at most 1,048,576")
	fs.DurationVar(&o.limit, "limit", 5*time.Minute, "longest time for one measurement")
	fs.StringVar(&o.only, "only", "", "measure this queue alone: "+contenderNames())
	fs.BoolVar(&o.json, "json", false, "print JSON")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if o.load.size < 16 || o.load.size > 1<<20 || o.load.workers < 1 || o.rounds < 1 || o.claims < 1 || o.failures < 1 || o.failures > 10_000 {
		return errors.New("want --message of 16 to 1,048,576, --failures 1 to 10,000, and the other numbers >= 1")
	}
	if o.only != "" && !slices.ContainsFunc(contenders, func(c contender) bool { return c.name == o.only }) {
		return fmt.Errorf("no queue %q: one of %s", o.only, contenderNames())
	}
	debug.SetGCPercent(400) // as the program does; for every client alike
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runQueues(ctx, o)
}

// running is a contender that could be opened.
type running struct {
	contender
	queue
}

func runQueues(ctx context.Context, o queueOptions) (err error) {
	dir, err := os.MkdirTemp(o.dir, "claimdlq-peers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { // a server with an account of its own passes through
		return err
	}
	var t tally
	open, err := openAll(ctx, dir, o, &t)
	defer func() {
		for _, q := range open {
			err = errors.Join(err, q.Close())
		}
	}()
	if err != nil {
		return err
	}
	for round := range o.rounds {
		for _, q := range open {
			if err := t.measure(ctx, q, o, round); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	return t.print(os.Stdout, open, o.json)
}

// openAll starts every contender's server; one that is not installed is noted in t.
func openAll(ctx context.Context, dir string, o queueOptions, t *tally) ([]running, error) {
	var open []running
	for i, c := range contenders {
		if o.only != "" && o.only != c.name {
			continue
		}
		d := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(d, 0o711); err != nil {
			return open, err
		}
		q, err := c.open(ctx, d, o.load)
		switch {
		case errors.Is(err, errNotInstalled):
			t.absent = append(t.absent, fmt.Sprintf("%s: %v", c.name, err))
		case err != nil:
			return open, fmt.Errorf("%s: %w", c.name, err)
		default:
			open = append(open, running{c, q})
		}
	}
	if len(open) == 0 {
		return open, fmt.Errorf("nothing to measure: %s", strings.Join(t.absent, "; "))
	}
	return open, nil
}

// measure gives q each work once.
func (t *tally) measure(ctx context.Context, q running, o queueOptions, round int) error {
	n, fails := o.claims*q.scale, o.failures*q.scale
	if err := q.Reset(ctx); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	paid := newPayer(n, 1)
	failed := newPayer(fails, deliveries)
	steps := []struct {
		work string
		n    int
		do   func(context.Context) (spent, error)
	}{
		{workEnd, n, func(ctx context.Context) (spent, error) {
			d, err := q.EndToEnd(ctx, paid)
			return d, cmp.Or(err, paid.exactly(1))
		}},
		{workFail, fails, func(ctx context.Context) (spent, error) {
			if err := q.Fill(ctx, fails); err != nil {
				return spent{}, fmt.Errorf("fill: %w", err)
			}
			d, err := q.Fail(ctx, failed)
			return d, cmp.Or(err, failed.exactly(deliveries))
		}},
		{workReplay, fails, func(ctx context.Context) (spent, error) { return q.Replay(ctx, fails) }},
	}
	for _, s := range steps {
		took, err := bounded(ctx, o.limit, s.do)
		if err != nil {
			return fmt.Errorf("%s: %w", s.work, err)
		}
		f := t.add(q.name, s.work, s.n, took)
		fmt.Fprintf(os.Stderr, "round %d  %-17s %-16s %10.0f/s %8.1f µs of processor  %7d claims in %v\n", round+1, q.name, s.work, f.perSecond, f.micros, s.n, took.wall.Round(time.Millisecond))
	}
	return nil
}

func bounded(ctx context.Context, limit time.Duration, do func(context.Context) (spent, error)) (spent, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx)
}
