package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/payersim"
	"claimdlq/store"
)

// together is how many messages a batch has: what a busy stream takes in at once.
const together = 256

// rxAccept times intake: cut, judged, keyed, placed in its lineage, sealed, recorded,
// audited, and flushed before the answer.
func rxAccept(ctx context.Context, o Options, emit func(Result)) error {
	const name, senders = "rx-accept", 4
	r, err := openRx(o, name, "", claimdlq.DefaultPolicy())
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	if err := probe(o, name, emit); err != nil {
		return err
	}
	all, err := rxSupplies(max(senders, o.Producers))
	if err != nil {
		return err
	}
	take := func(k int) error {
		s := <-all
		defer func() { all <- s }()
		rs, err := r.flow.Intake.Messages(ctx, rxBy, s.messages(k), intake.MessageOptions{})
		return accepted(rs, err)
	}
	l, err := drive(senders, o.For, func(*rand.Rand) error { return take(together) })
	if err != nil {
		return err
	}
	emit(Result{name, "batches of 256, 4 senders", l.rate * together, "claims per second"})
	emit(Result{name, "batches of 256, p99", ms(l.p99), "ms"})
	emit(Result{name, "batches of 256, cpu", float64(l.cpu.Nanoseconds()) / 1000 / together, "us per claim"})
	if l, err = drive(o.Producers, o.For, func(*rand.Rand) error { return take(1) }); err != nil {
		return err
	}
	emit(Result{name, fmt.Sprintf("one by one, %d senders", o.Producers), l.rate, "claims per second"})
	emit(Result{name, "one by one, p50", ms(l.p50), "ms"})
	emit(Result{name, "one by one, p99", ms(l.p99), "ms"})
	emit(Result{name, "one by one, cpu", float64(l.cpu.Nanoseconds()) / 1000, "us per claim"})
	return nil
}

func accepted(rs []intake.Receipt, err error) error {
	if err != nil {
		return err
	}
	for _, r := range rs {
		for _, t := range r.Records {
			if t.Status != intake.TakenIn {
				return errors.New("a good claim was not accepted: " + string(t.Status))
			}
		}
	}
	return nil
}

// load takes n claims in.
func (r *rxRig) load(ctx context.Context, s *rxSupply, n int) error {
	for n > 0 {
		k := min(together, n)
		n -= k
		rs, err := r.flow.Intake.Messages(ctx, rxBy, s.messages(k), intake.MessageOptions{Bulk: true})
		if err := accepted(rs, err); err != nil {
			return err
		}
		r.flow.Attempt.Wake()
	}
	return nil
}

// loadAll takes in n claims that will fail so many times, for as many partners as it
// takes for none to be left alone for it.
func (r *rxRig) loadAll(ctx context.Context, n, times int) error {
	each := rxFailures / times
	all, err := rxSupplies((n + each - 1) / each)
	if err != nil {
		return err
	}
	for ; n > 0 && err == nil; n -= each {
		err = r.load(ctx, <-all, min(n, each))
	}
	return err
}

// phase times a part of a scenario with n claims.
func phase(name, what string, n int, emit func(Result), f func() error) error {
	t, c := time.Now(), cpuTime()
	if err := f(); err != nil {
		return err
	}
	el, cpu := time.Since(t), cpuTime()-c
	emit(Result{name, what, float64(n) / el.Seconds(), "claims per second"})
	emit(Result{name, what + ", cpu", float64(cpu.Nanoseconds()) / 1000 / float64(n), "us per claim"})
	return nil
}

// rxEndToEnd times claims from the door to the payer's answer, settled: first a
// backlog, then everything at once.
func rxEndToEnd(ctx context.Context, o Options, emit func(Result)) error {
	const name = "rx-e2e"
	r, err := openRx(o, name, "", claimdlq.DefaultPolicy())
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	if err := probe(o, name, emit); err != nil {
		return err
	}
	resetPeak()
	all, err := rxSupplies(2)
	if err != nil {
		return err
	}
	n := max(o.Records/10, 500)
	supply := <-all
	if err := phase(name, "take a backlog in", n, emit, func() error { return r.load(ctx, supply, n) }); err != nil {
		return err
	}
	if err := phase(name, "deliver and settle a backlog", n, emit, func() error { return r.drain(ctx) }); err != nil {
		return err
	}
	if err := r.settled(ctx, n); err != nil {
		return err
	}
	if err := phase(name, "take in, deliver and settle", n, emit, func() error { return r.atOnce(ctx, <-all, n, 2*n) }); err != nil {
		return err
	}
	if d := r.payer.DoubleFills(); len(d) > 0 || len(r.payer.Fills()) != 2*n {
		return fmt.Errorf("the payer has %d claims, %d of them paid twice", len(r.payer.Fills()), len(d))
	}
	if err := payerCost(name, "", emit); err != nil {
		return err
	}
	emit(Result{name, "peak resident memory", rssMB("VmHWM"), "MB"})
	return nil
}

func (r *rxRig) drain(ctx context.Context) error {
	_, err := r.flow.Attempt.Drain(ctx)
	return err
}

// settled checks that so many are, and nothing else is anywhere.
func (r *rxRig) settled(ctx context.Context, want int) error {
	st, err := r.store.Stats(ctx)
	if err == nil && (st.Records[claimdlq.StateSettled] != int64(want) || st.Received != int64(want)) {
		err = fmt.Errorf("%d of %d claims are settled: %v", st.Records[claimdlq.StateSettled], want, st.Records)
	}
	return err
}

// atOnce takes n claims in while others are delivered, and ends when want are settled.
func (r *rxRig) atOnce(ctx context.Context, s *rxSupply, n, want int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg   sync.WaitGroup
		ran  error
		done = make(chan struct{})
	)
	wg.Go(func() { ran = r.flow.Attempt.Run(ctx); close(done) })
	err := r.load(ctx, s, n)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for err == nil {
		var got int64
		if got, err = r.in(ctx, claimdlq.StateSettled); err != nil || got >= int64(want) {
			break
		}
		select {
		case <-tick.C:
		case <-done:
			err = errors.Join(ran, errors.New("deliveries ended"))
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	cancel()
	wg.Wait()
	return errors.Join(err, ran)
}

// rxFail times claims through their whole budget into the dead-letter queue: five
// deliveries, each refused for now. The clock is put forward between them.
func rxFail(ctx context.Context, o Options, emit func(Result)) error {
	const name, script = "rx-fail", "claim all reject 92"
	p := claimdlq.DefaultPolicy()
	r, err := openRx(o, name, script, p)
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	if err := probe(o, name, emit); err != nil {
		return err
	}
	n := max(o.Records/20, 200)
	if err := r.loadAll(ctx, n, int(p.MaxReceive)); err != nil {
		return err
	}
	t, c := time.Now(), cpuTime()
	if err := r.spend(ctx, p); err != nil {
		return err
	}
	el, cpu := time.Since(t), cpuTime()-c
	deliveries := float64(r.payer.Stats().Pharmacy.Transactions)
	dead, err := r.in(ctx, claimdlq.StateQuarantined)
	if err != nil || dead != int64(n) || deliveries != float64(n)*float64(p.MaxReceive) {
		return errors.Join(err, fmt.Errorf("%d of %d claims are dead letters after %.0f deliveries", dead, n, deliveries))
	}
	emit(Result{name, "failed deliveries", deliveries / el.Seconds(), "per second"})
	emit(Result{name, "five failures and dead-lettered", float64(n) / el.Seconds(), "claims per second"})
	emit(Result{name, "failed deliveries, cpu", float64(cpu.Nanoseconds()) / 1000 / deliveries, "us each"})
	return payerCost(name, script, emit)
}

// spend delivers until nothing waits, without waiting for the back-off.
func (r *rxRig) spend(ctx context.Context, p claimdlq.Policy) error {
	for {
		if err := r.drain(ctx); err != nil {
			return err
		}
		if _, waits := r.flow.Attempt.NextDue(ctx); !waits {
			return nil
		}
		r.ahead.Add(int64(p.Cap + time.Second))
	}
}

// rxReplay times the way back out of the dead-letter queue after an outage: selected,
// guarded, audited and requeued; and then opened, delivered and settled.
func rxReplay(ctx context.Context, o Options, emit func(Result)) error {
	const name = "rx-replay"
	p := claimdlq.DefaultPolicy()
	p.MaxReceive = 1
	// A few pass, so that the breaker lets the others fail.
	r, err := openRx(o, name, "claim 5% pay\nclaim all reject 92", p)
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	if err := probe(o, name, emit); err != nil {
		return err
	}
	all, err := rxSupplies(1)
	if err != nil {
		return err
	}
	taken := max(o.Records/10, 200)
	if err := r.load(ctx, <-all, taken); err != nil {
		return err
	}
	if err := r.spend(ctx, p); err != nil {
		return err
	}
	clean, err := payersim.ParseScript("")
	if err != nil {
		return err
	}
	r.payer.SetScript(clean)
	dead, err := r.in(ctx, claimdlq.StateQuarantined)
	if err != nil {
		return err
	}
	n := int(dead)
	start, cpu := time.Now(), cpuTime()
	if err := phase(name, "select, guard, audit, requeue", n, emit, func() error { return r.replay(ctx, n) }); err != nil {
		return err
	}
	if err := phase(name, "open, deliver, settle", n, emit, func() error { return r.drain(ctx) }); err != nil {
		return err
	}
	el, used := time.Since(start), cpuTime()-cpu
	emit(Result{name, "both", float64(n) / el.Seconds(), "claims per second"})
	emit(Result{name, "both, cpu", float64(used.Nanoseconds()) / 1000 / float64(n), "us per claim"})
	return r.settled(ctx, taken)
}

// replay releases everything in the dead-letter queue: n records.
func (r *rxRig) replay(ctx context.Context, n int) error {
	by := claimdlq.By{Actor: "bench", Reason: "the payer is back"}
	sum, err := r.flow.Replay.Select(ctx, by, store.Filter{State: claimdlq.StateQuarantined}, replay.Options{})
	if err == nil && sum.Requeued != n {
		err = fmt.Errorf("%d of %d were requeued: %+v", sum.Requeued, n, sum)
	}
	return err
}
