package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// riverQueue is River on a PostgreSQL of its own. A job's insert, its completion and its
// failure are transactions that PostgreSQL flushes.
type riverQueue struct {
	load    load
	batch   int // jobs in one insert, and in one transaction of a replay
	pg      *postgres
	driver  *riverpgxv5.Driver
	version string
}

// openRiver accepts and replays jobs one by one, each producer waiting for its own commit.
func openRiver(ctx context.Context, dir string, l load) (queue, error) {
	return openRiverWith(ctx, dir, l, 1)
}

// openRiverBatches does what River's documentation advises for many jobs at once: COPY,
// and several retries in one transaction.
func openRiverBatches(ctx context.Context, dir string, l load) (queue, error) {
	return openRiverWith(ctx, dir, l, 500)
}

func openRiverWith(ctx context.Context, dir string, l load, batch int) (queue, error) {
	pg, err := openPostgres(ctx, dir, max(l.workers, 40))
	if err != nil {
		return nil, err
	}
	q := &riverQueue{load: l, batch: batch, pg: pg, driver: riverpgxv5.New(pg.pool)}
	migrate, err := rivermigrate.New(q.driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		_, err = migrate.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err == nil {
		q.version, err = pg.version(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

func (q *riverQueue) Facts() facts {
	how := "one job a commit"
	if q.batch > 1 {
		how = fmt.Sprintf("%d jobs a commit", q.batch)
	}
	return facts{"River on PostgreSQL " + q.version, "synchronous_commit on: flushed at each commit; accepted and replayed with " + how}
}

// riverJob is a job's arguments.
type riverJob struct {
	Ref string `json:"ref"`
}

func (riverJob) Kind() string { return "claim" }

// riverWorker asks the payer and then returns answer.
type riverWorker struct {
	river.WorkerDefaults[riverJob]
	payer  *payer
	answer error
}

func (w *riverWorker) Work(_ context.Context, j *river.Job[riverJob]) error {
	if err := w.payer.ask(j.Args.Ref); err != nil {
		return err
	}
	return w.answer
}

// atOnce retries without a delay.
type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

// client returns a client; one with a worker runs jobs once it is started. The fetch
// intervals are the shortest it takes.
func (q *riverQueue) client(w *riverWorker) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	return river.NewClient(q.driver, &river.Config{
		Workers: workers, MaxAttempts: deliveries, RetryPolicy: atOnce{}, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]river.QueueConfig{river.QueueDefault: {
			MaxWorkers: q.load.workers, FetchCooldown: time.Millisecond, FetchPollInterval: 5 * time.Millisecond,
		}},
	})
}

// insert accepts n jobs.
func (q *riverQueue) insert(ctx context.Context, c *river.Client[pgx.Tx], n, batch int) error {
	if batch == 1 {
		return parallel(q.load.workers, n, func(i int) error {
			_, err := c.Insert(ctx, riverJob{reference(i, q.load.size)}, nil)
			return err
		})
	}
	const producers = 2
	return parallel(producers, (n+batch-1)/batch, func(b int) error {
		var jobs []river.InsertManyParams
		for i := b * batch; i < min(n, (b+1)*batch); i++ {
			jobs = append(jobs, river.InsertManyParams{Args: riverJob{reference(i, q.load.size)}})
		}
		_, err := c.InsertManyFast(ctx, jobs)
		return err
	})
}

// run starts a client that works for p, calls load, and times from there until p had
// every answer and n jobs are in the state.
func (q *riverQueue) run(ctx context.Context, p *payer, answer error, state rivertype.JobState, load func(*river.Client[pgx.Tx]) error) (took spent, err error) {
	c, err := q.client(&riverWorker{payer: p, answer: answer})
	if err != nil {
		return spent{}, err
	}
	m := startMeter(q.pg.svc)
	if err := c.Start(ctx); err != nil {
		return spent{}, err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	if err := load(c); err != nil {
		return spent{}, err
	}
	if err := p.wait(ctx); err != nil {
		return spent{}, err
	}
	err = q.until(ctx, state, len(p.asked))
	return m.spent(), err
}

func (q *riverQueue) EndToEnd(ctx context.Context, p *payer) (spent, error) {
	return q.run(ctx, p, nil, rivertype.JobStateCompleted, func(c *river.Client[pgx.Tx]) error {
		return q.insert(ctx, c, len(p.asked), q.batch)
	})
}

func (q *riverQueue) Fill(ctx context.Context, n int) error {
	c, err := q.client(&riverWorker{})
	if err != nil {
		return err
	}
	return q.insert(ctx, c, n, 500)
}

func (q *riverQueue) Fail(ctx context.Context, p *payer) (spent, error) {
	return q.run(ctx, p, errDeclined, rivertype.JobStateDiscarded, func(*river.Client[pgx.Tx]) error { return nil })
}

// Replay finds the dead jobs by their state, as a person would, and retries each.
func (q *riverQueue) Replay(ctx context.Context, n int) (spent, error) {
	c, err := q.client(&riverWorker{})
	if err != nil {
		return spent{}, err
	}
	m := startMeter(q.pg.svc)
	rows, err := q.pg.pool.Query(ctx, "SELECT id FROM river_job WHERE state = 'discarded' ORDER BY id")
	if err != nil {
		return spent{}, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return spent{}, err
	}
	err = parallel(q.load.workers, (len(ids)+q.batch-1)/q.batch, func(b int) error {
		return q.retry(ctx, c, ids[b*q.batch:min(len(ids), (b+1)*q.batch)])
	})
	took := m.spent()
	if err != nil {
		return spent{}, err
	}
	return took, q.until(ctx, rivertype.JobStateAvailable, n)
}

func (q *riverQueue) retry(ctx context.Context, c *river.Client[pgx.Tx], ids []int64) error {
	if len(ids) == 1 {
		_, err := c.JobRetry(ctx, ids[0])
		return err
	}
	return pgx.BeginFunc(ctx, q.pg.pool, func(tx pgx.Tx) error {
		for _, id := range ids {
			if _, err := c.JobRetryTx(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// until polls until n jobs are in the state.
func (q *riverQueue) until(ctx context.Context, state rivertype.JobState, n int) error {
	return poll(ctx, func() (bool, error) {
		var have int
		err := q.pg.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = $1", string(state)).Scan(&have)
		return have >= n, err
	})
}

func (q *riverQueue) Reset(ctx context.Context) error {
	_, err := q.pg.pool.Exec(ctx, "TRUNCATE river_job")
	return err
}

func (q *riverQueue) Close() error { return q.pg.close() }
