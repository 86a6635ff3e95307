package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/app"
	"claimdlq/phi"
	"claimdlq/retry"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/x12"
)

// ourQueue is the pharmacy flow in a data directory of its own. It does more than the
// peers: it takes in whole claims of some 400 bytes, judges, identifies and seals them,
// keeps an audit entry of each step, reads each answer and seals it.
type ourQueue struct {
	load  load
	batch int // claims in one call of intake
	dir   string
	reset int // data directories so far
	app   *app.App
	flow  *flow.Flow
	payer pharmacyPayer
}

// openOurQueue has each producer wait for its own claim, which is sealed alone.
func openOurQueue(_ context.Context, dir string, l load) (queue, error) {
	return &ourQueue{load: l, batch: 1, dir: dir}, nil
}

// openOurBatches takes claims in by the hundred, sealed together.
func openOurBatches(_ context.Context, dir string, l load) (queue, error) {
	return &ourQueue{load: l, batch: 256, dir: dir}, nil
}

func (q *ourQueue) Facts() facts {
	how := "one claim a call"
	if q.batch > 1 {
		how = fmt.Sprintf("%d claims a call", q.batch)
	}
	return facts{"claimdlq", "each step flushed before it counts, grouped; claims, answers and audit entries kept, sealed; accepted with " + how}
}

// Reset begins a new data directory: the same claims again would be duplicates.
func (q *ourQueue) Reset(ctx context.Context) error {
	if err := q.Close(); err != nil {
		return err
	}
	q.reset++
	a, err := app.Open(ctx, app.Options{Dir: filepath.Join(q.dir, fmt.Sprint(q.reset)), Create: true, Now: time.Now})
	if err != nil {
		return err
	}
	policy := claimdlq.DefaultPolicy()
	policy.MaxReceive, policy.Base, policy.Cap = deliveries, 0, 0
	q.app = a
	q.flow = flow.Assemble(flow.Deps{
		Store: a.Store, Vault: a.Vault, Identities: a.Keys.Identities(), Rules: x12.LatestRules(), Now: time.Now, Workers: q.load.workers,
		Policies: claimdlq.Policies{"": policy}, Routes: func(string, string) (target.Route, bool) { return target.Route{Target: &q.payer}, true },
		Breaker: retry.Options{Consecutive: retry.MaxWindow, Window: retry.MaxWindow, MinSamples: retry.MaxWindow, FailurePercent: 100},
	})
	return nil
}

// take accepts the claims.
func (q *ourQueue) take(ctx context.Context, claims []phi.Bytes, batch int) error {
	producers := q.load.workers
	if batch > 1 {
		producers = 4 // as RabbitMQ has publishers
	}
	by := claimdlq.System("intake")
	return parallel(producers, (len(claims)+batch-1)/batch, func(b int) error {
		part := claims[b*batch : min(len(claims), (b+1)*batch)]
		receipts, err := q.flow.Intake.Messages(ctx, by, part, intake.MessageOptions{})
		if err != nil {
			return err
		}
		q.flow.Attempt.Wake() // as serve does
		for _, r := range receipts {
			if r.Refused != nil || len(r.Records) != 1 || r.Records[0].State != claimdlq.StateQueued {
				return fmt.Errorf("a claim was not accepted: %+v", r)
			}
		}
		return nil
	})
}

// run delivers while load is called and until n records are in the state.
func (q *ourQueue) run(ctx context.Context, p *payer, down bool, state claimdlq.State, load func() error) (took spent, err error) {
	q.payer.payer.Store(p)
	q.payer.down.Store(down)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	m := startMeter()
	go func() { ended <- q.flow.Attempt.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	if err := load(); err != nil {
		return spent{}, err
	}
	err = q.until(ctx, state, len(p.asked))
	return m.spent(), err
}

// until polls the store's counters.
func (q *ourQueue) until(ctx context.Context, state claimdlq.State, n int) error {
	var s store.Stats
	err := poll(ctx, func() (done bool, err error) {
		if bad := q.payer.bad.Load(); bad != nil {
			return false, *bad
		}
		s, err = q.app.Store.Stats(ctx)
		return s.Records[state] >= int64(n), err
	})
	if err != nil {
		err = fmt.Errorf("%w: %v of %d are %s", err, s.Records, n, state)
	}
	return err
}

func (q *ourQueue) EndToEnd(ctx context.Context, p *payer) (spent, error) {
	claims, err := pharmacyClaims(len(p.asked))
	if err != nil {
		return spent{}, err
	}
	return q.run(ctx, p, false, claimdlq.StateSettled, func() error { return q.take(ctx, claims, q.batch) })
}

// Fill begins a new data directory, so that what is counted is what fails.
func (q *ourQueue) Fill(ctx context.Context, n int) error {
	claims, err := pharmacyClaims(n)
	if err != nil {
		return err
	}
	if err := q.Reset(ctx); err != nil {
		return err
	}
	return q.take(ctx, claims, q.batch)
}

func (q *ourQueue) Fail(ctx context.Context, p *payer) (spent, error) {
	return q.run(ctx, p, true, claimdlq.StateQuarantined, func() error { return nil })
}

// Replay selects the dead letters by a filter; each passes the guard.
func (q *ourQueue) Replay(ctx context.Context, n int) (spent, error) {
	m := startMeter()
	s, err := q.flow.Replay.Select(ctx, claimdlq.By{Actor: "bench", Reason: "the payer is back"},
		store.Filter{State: claimdlq.StateQuarantined, Reason: claimdlq.RetriesExhausted}, replay.Options{})
	took := m.spent()
	if err == nil && s.Requeued != n {
		err = fmt.Errorf("%d of %d were replayed: %+v", s.Requeued, n, s)
	}
	if err != nil {
		return spent{}, err
	}
	return took, q.until(ctx, claimdlq.StateQueued, n)
}

func (q *ourQueue) Close() error {
	if q.app == nil {
		return nil
	}
	err := q.app.Close()
	q.app = nil
	return errors.Join(err, os.RemoveAll(filepath.Join(q.dir, fmt.Sprint(q.reset))))
}
