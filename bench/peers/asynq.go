package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// asynqQueue is asynq on a Redis of its own that flushes its log before it answers.
type asynqQueue struct {
	load    load
	svc     *service
	rdb     *redis.Client
	opt     asynq.RedisClientOpt
	client  *asynq.Client
	inspect *asynq.Inspector
	version string
}

const (
	asynqName = "default" // asynq's own name for its one queue
	asynqTask = "claim"
)

var errDeclined = errors.New("the payer is not there")

func openAsynq(ctx context.Context, dir string, l load) (queue, error) {
	bin, err := program("redis-server")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, "--port", fmt.Sprint(ports[0]), "--bind", "127.0.0.1", "--dir", dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always")
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	q := &asynqQueue{load: l, opt: asynq.RedisClientOpt{Addr: loopback(ports[0]), PoolSize: 2 * l.workers}}
	if q.svc, err = launch("redis", dir, cmd); err != nil {
		return nil, err
	}
	q.rdb = redis.NewClient(&redis.Options{Addr: loopback(ports[0]), MaxRetries: -1})
	q.client, q.inspect = asynq.NewClient(q.opt), asynq.NewInspector(q.opt)
	if err := q.svc.ready(ctx, func(ctx context.Context) error { return q.rdb.Ping(ctx).Err() }); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	info, err := q.rdb.InfoMap(ctx, "server").Result()
	if err != nil {
		return nil, errors.Join(err, q.Close())
	}
	q.version = info["Server"]["redis_version"]
	return q, nil
}

func (q *asynqQueue) Facts() facts {
	return facts{"asynq on Redis " + q.version, "appendfsync always: flushed before each answer, grouped by Redis; archives at most 10,000 dead tasks"}
}

// enqueue accepts n tasks from as many producers as there are workers; asynq has no call for several.
func (q *asynqQueue) enqueue(ctx context.Context, n int) error {
	return parallel(q.load.workers, n, func(i int) error {
		task := asynq.NewTask(asynqTask, []byte(reference(i, q.load.size)))
		_, err := q.client.EnqueueContext(ctx, task, asynq.MaxRetry(deliveries-1), asynq.Timeout(time.Minute))
		return err
	})
}

// work runs a server whose handler asks p and then returns answer. The intervals are
// far below asynq's defaults, which would wait a second between looks.
func (q *asynqQueue) work(p *payer, answer error) (stop func(), err error) {
	srv := asynq.NewServer(q.opt, asynq.Config{
		Concurrency: q.load.workers, LogLevel: asynq.FatalLevel,
		TaskCheckInterval: 5 * time.Millisecond, DelayedTaskCheckInterval: 5 * time.Millisecond,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 0 },
	})
	err = srv.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		if err := p.ask(string(t.Payload())); err != nil {
			return err
		}
		return answer
	}))
	return srv.Shutdown, err
}

func (q *asynqQueue) EndToEnd(ctx context.Context, p *payer) (spent, error) {
	m := startMeter(q.svc)
	stop, err := q.work(p, nil)
	if err != nil {
		return spent{}, err
	}
	defer stop()
	if err := q.enqueue(ctx, len(p.asked)); err != nil {
		return spent{}, err
	}
	if err := p.wait(ctx); err != nil {
		return spent{}, err
	}
	err = q.until(ctx, func(i *asynq.QueueInfo) bool { return i.Size == 0 }) // the last are acknowledged
	return m.spent(), err
}

func (q *asynqQueue) Fill(ctx context.Context, n int) error { return q.enqueue(ctx, n) }

func (q *asynqQueue) Fail(ctx context.Context, p *payer) (spent, error) {
	m := startMeter(q.svc)
	stop, err := q.work(p, errDeclined)
	if err != nil {
		return spent{}, err
	}
	defer stop()
	if err := p.wait(ctx); err != nil {
		return spent{}, err
	}
	err = q.until(ctx, func(i *asynq.QueueInfo) bool { return i.Archived == len(p.asked) })
	return m.spent(), err
}

func (q *asynqQueue) Replay(ctx context.Context, n int) (spent, error) {
	m := startMeter(q.svc)
	moved, err := q.inspect.RunAllArchivedTasks(asynqName)
	took := m.spent()
	if err == nil && moved != n {
		err = fmt.Errorf("%d of %d were replayed", moved, n)
	}
	if err != nil {
		return spent{}, err
	}
	return took, q.until(ctx, func(i *asynq.QueueInfo) bool { return i.Pending == n && i.Archived == 0 })
}

// until polls the queue's own counters.
func (q *asynqQueue) until(ctx context.Context, done func(*asynq.QueueInfo) bool) error {
	return poll(ctx, func() (bool, error) {
		i, err := q.inspect.GetQueueInfo(asynqName)
		return err == nil && done(i), err
	})
}

// Reset also takes a new client: a client announces its queue once.
func (q *asynqQueue) Reset(ctx context.Context) error {
	if err := errors.Join(q.client.Close(), q.rdb.FlushAll(ctx).Err()); err != nil {
		return err
	}
	q.client = asynq.NewClient(q.opt)
	return nil
}

func (q *asynqQueue) Close() error {
	return errors.Join(q.client.Close(), q.inspect.Close(), q.rdb.Close(), q.svc.stop(syscall.SIGTERM))
}

// parallel calls f for each i below n from p goroutines; the first error ends it.
func parallel(p, n int, f func(i int) error) error {
	var next atomic.Int64
	errs := make(chan error, p)
	for range p {
		go func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= n {
					errs <- nil
					return
				}
				if err := f(i); err != nil {
					next.Store(int64(n))
					errs <- err
					return
				}
			}
		}()
	}
	var all error
	for range p {
		all = errors.Join(all, <-errs)
	}
	return all
}

// poll looks every 2 ms until done, an error or the deadline.
func poll(ctx context.Context, look func() (bool, error)) error {
	for {
		done, err := look()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}
