package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/flow"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/retry"
	"claimdlq/target"
	"claimdlq/vault/keyring"
	"claimdlq/wire/x12"
)

// rxRig is the whole pharmacy flow over a store, a vault and an audit log on the disk,
// as a serving process has it, and a payer in this process. Its clock can be put
// forward: no scenario waits for a back-off.
type rxRig struct {
	*rig

	flow    *flow.Flow
	payer   *payersim.Payer
	audit   *audit.Log
	ahead   atomic.Int64 // of the clock, in nanoseconds
	stopped chan error   // how the audit follower ended
	stop    context.CancelFunc
}

// rxBy is who hands claims in.
var rxBy = claimdlq.System("bench")

// rxBreaker looks at no fewer deliveries than rxFailures: what is measured is the work
// on claims that fail, not the breaker's pause.
var rxBreaker = retry.Options{Consecutive: 1 << 30, FailurePercent: 100, Window: retry.MaxWindow, MinSamples: retry.MaxWindow}

// rxFailures is how many failed deliveries to one partner its breaker bears.
const rxFailures = retry.MaxWindow - 1

// openRx makes one. script is the payer's.
func openRx(o Options, name, script string, p claimdlq.Policy) (*rxRig, error) {
	base, err := openRig(o, name)
	if err != nil {
		return nil, err
	}
	r := &rxRig{rig: base}
	kr, err := keyring.Open(filepath.Join(r.dir, "keys"))
	if err != nil {
		return nil, err
	}
	signer, err := kr.Signer()
	if err != nil {
		return nil, err
	}
	if r.audit, err = audit.Open(filepath.Join(r.dir, "audit"), signer); err != nil {
		return nil, err
	}
	s, err := payersim.ParseScript(script)
	if err != nil {
		return nil, err
	}
	if r.payer, err = payersim.New(payersim.Options{Script: s, Now: time.Now}); err != nil {
		return nil, err
	}
	route := target.Route{Target: r.payer.Target(), IdempotentResend: true}
	r.flow = flow.Assemble(flow.Deps{
		Store: r.store, Vault: r.vault, Identities: kr.Identities(), Rules: x12.LatestRules(),
		Routes:   func(_, _ string) (target.Route, bool) { return route, true },
		Policies: claimdlq.Policies{claimdlq.StreamNCPDP: p},
		Breaker:  rxBreaker,
		Workers:  o.Workers, Log: slog.New(slog.DiscardHandler), Now: r.now,
	})
	ctx, cancel := context.WithCancel(context.Background())
	tick := time.NewTicker(time.Second)
	r.stop, r.stopped = cancel, make(chan error, 1)
	go func() {
		defer tick.Stop()
		r.stopped <- audit.Follow(ctx, r.store, r.audit, tick.C)
	}()
	return r, nil
}

// payerCost emits what the payer takes of the processor for one claim. It is in this
// process, so every figure of deliveries includes it; a payer of the world is not.
func payerCost(name, script string, emit func(Result)) error {
	s, err := payersim.ParseScript(script)
	if err != nil {
		return err
	}
	p, err := payersim.New(payersim.Options{Script: s, Now: time.Now})
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	all, err := rxMessages(1, rxPool)
	if err != nil {
		return err
	}
	c := cpuTime()
	for _, b := range all {
		p.Adjudicate(b)
	}
	cpu := cpuTime() - c
	emit(Result{name, "of that the payer in this process, cpu", float64(cpu.Nanoseconds()) / 1000 / float64(len(all)), "us per claim"})
	return nil
}

func (r *rxRig) now() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }

func (r *rxRig) close() error {
	r.stop()
	return errors.Join(<-r.stopped, r.audit.Close(), r.payer.Close(), r.rig.close())
}

// in returns how many records are in a state.
func (r *rxRig) in(ctx context.Context, s claimdlq.State) (int64, error) {
	st, err := r.store.Stats(ctx)
	return st.Records[s], err
}

// rxSupply makes claims one after the other, all different from those of other
// supplies.
type rxSupply struct {
	g *testclaims.Rx
	n int
}

// rxSupplies makes so many, each for a partner of its own, handed around by a channel:
// who takes one has it alone.
func rxSupplies(n int) (chan *rxSupply, error) {
	const each = 50_000_000 // claims of one supply
	all := make(chan *rxSupply, n)
	for i := range n {
		g, err := testclaims.NewRx(testclaims.RxOptions{
			Seed: 511, FirstClaim: 1 + i*each, Claims: each, Framed: true, Pharmacies: 100, PCN: fmt.Sprintf("PCN%04d", i),
		})
		if err != nil {
			return nil, err
		}
		all <- &rxSupply{g: g}
	}
	return all, nil
}

func (s *rxSupply) next() phi.Bytes {
	s.n++
	return phi.Wrap(s.g.Append(make([]byte, 0, 512), s.n))
}

// messages returns the next k.
func (s *rxSupply) messages(k int) []phi.Bytes {
	all := make([]phi.Bytes, k)
	for i := range all {
		all[i] = s.next()
	}
	return all
}
