package flow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/replay"
	"claimdlq/store"
	"claimdlq/target"
)

// scene is where a walk happens: acts beside each other, and a process of ours that may
// die. The seed decides everything. Both worlds, of 837 and of pharmacy claims, are on one.
type scene struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	g       *gates
	p       *process
	world   world
	trace   []string
	term    uint32 // of the key
	started int
}

// world is what a walk is about.
type world interface {
	live()               // begins a process over what is durable
	something(asks bool) // begins an act, or does what needs no time
	finish()             // brings every claim to its end
	judge() string       // says what is wrong then
	story() string
}

func newScene(t *testing.T, seed uint64) *scene {
	return &scene{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), g: &gates{}, term: 1}
}

// identities are the terms of the key, the current first.
func (w *scene) identities() (ids []*claimdlq.Identity) {
	for n := w.term; n > 0; n-- {
		ids = append(ids, identity(n))
	}
	return ids
}

// walkSeeds lets every seed decide a walk, from 1 to last or as CLAIMDLQ_WALK_SEEDS=1-5000
// says; CLAIMDLQ_WALK_SEED=7 tells the story of one.
func walkSeeds(t *testing.T, last uint64, begin func(t *testing.T, seed uint64) (*scene, world)) {
	t.Helper()
	first := uint64(1)
	if from, to, ok := strings.Cut(os.Getenv("CLAIMDLQ_WALK_SEEDS"), "-"); ok {
		first, _ = strconv.ParseUint(from, 10, 64)
		last, _ = strconv.ParseUint(to, 10, 64)
	}
	if n, err := strconv.ParseUint(os.Getenv("CLAIMDLQ_WALK_SEED"), 10, 64); err == nil {
		first, last = n, n
	}
	var wrong []string
	for seed := first; seed <= last; seed++ {
		synctest.Test(t, func(t *testing.T) {
			sc, w := begin(t, seed)
			sc.walk(30 + sc.rng.IntN(200))
			w.finish()
			if s := w.judge(); s != "" { // the bubble's end would end the test
				wrong = append(wrong, s)
			}
		})
	}
	for _, s := range wrong[:min(len(wrong), 40)] {
		t.Error(s)
	}
	if len(wrong) > 0 {
		t.Errorf("%d of %d seeds", len(wrong), last-first+1)
	}
}

// told is the trace, where the story of one seed is asked for.
func (w *scene) told() string {
	if os.Getenv("CLAIMDLQ_WALK_SEED") == "" {
		return ""
	}
	return strings.Join(w.trace, "\n") + "\n"
}

func (w *scene) say(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// begin starts an act beside the others.
func (w *scene) begin(name string, do func(context.Context) error) {
	w.started++
	a := &act{id: w.started, name: name}
	w.say("%d begins: %s", a.id, name)
	w.g.running++
	p := w.p
	ctx := context.WithValue(w.t.Context(), actKey{}, a)
	go func() {
		err := do(ctx)
		w.g.mu.Lock()
		defer w.g.mu.Unlock()
		w.g.running--
		if err != nil {
			w.say("   %d: %v", a.id, err)
		}
		if !allowed(err) && !p.died() {
			w.g.errs = append(w.g.errs, fmt.Sprintf("%s: %v", name, err))
		}
	}()
}

func allowed(err error) bool {
	for _, c := range []claimdlq.Code{claimdlq.Refused, claimdlq.Invalid, claimdlq.Conflict, claimdlq.NotFound, claimdlq.Unavailable} {
		if errors.Is(err, c) {
			return true
		}
	}
	return err == nil
}

// walk does so many steps: an act begins, or one that waits goes on.
func (w *scene) walk(steps int) {
	for range steps {
		synctest.Wait()
		open, asks := w.g.choosable()
		if w.g.running < 4 && (len(open) == 0 || w.rng.IntN(3) == 0) {
			w.world.something(asks)
			continue
		}
		if len(open) == 0 {
			w.t.Fatalf("seed %d: nothing moves\n%s", w.seed, w.world.story())
		}
		w.open(open[w.rng.IntN(len(open))])
	}
}

func (w *scene) open(o *gate) {
	var s step
	if o.wire {
		s.mode = []mode{accept, accept, accept, drop, drop, lost, refused, notFound}[w.rng.IntN(8)]
		s.ruling = []ruling{allow, allow, allow, allow, keep, refuse, blame, notNow}[w.rng.IntN(8)]
	}
	w.say("%d goes on: %s %v", o.act.id, o.label, s)
	w.g.release(o, s)
}

// wind lets every act that has begun come to its end.
func (w *scene) wind() {
	for {
		synctest.Wait()
		open, _ := w.g.choosable()
		if len(open) == 0 {
			break
		}
		w.open(open[w.rng.IntN(len(open))])
	}
	if w.g.running > 0 {
		w.t.Fatalf("seed %d: %d acts never end\n%s", w.seed, w.g.running, w.world.story())
	}
}

// crash ends the process between two steps of whatever it does. What is on the wire may
// arrive.
func (w *scene) crash() {
	w.say("the process dies")
	w.p.die()
	for {
		synctest.Wait()
		open, _ := w.g.choosable()
		if len(open) == 0 {
			break
		}
		s := step{mode: refused}
		if open[0].wire {
			s.mode = []mode{drop, lost}[w.rng.IntN(2)]
		}
		w.say("dead: %s %v", open[0].label, s)
		w.g.release(open[0], s)
	}
	if w.rng.IntN(4) == 0 && w.term < 3 {
		w.term++
		w.say("the key is rotated")
	}
	w.world.live()
}

// note is say, beside other acts.
func (w *scene) note(format string, args ...any) {
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	w.say(format, args...)
}

// wire is the way of one process to a payer: arrive is what becomes of what gets there.
type wire struct {
	p      *process
	arrive func(name string, b []byte, s step) target.Delivery
}

func (l *wire) Name() string { return "wire" }

func (l *wire) Inquire(context.Context, target.Parcel) (claimdlq.Outcome, bool) {
	return claimdlq.Outcome{}, false
}

func (l *wire) Deliver(ctx context.Context, p target.Parcel) target.Delivery {
	b, err := content(p)
	if err != nil {
		return transient("TEST_CONTENT", false)
	}
	s, _ := l.p.g.pass(ctx, "wire "+p.Name, true)
	if l.p.died() && s.mode == accept {
		s.mode = refused // it died before anything went out
	}
	d := l.reach(p.Name, b, s)
	l.p.g.pass(ctx, "answer "+p.Name, false)
	return d
}

// content is what a parcel carries.
func content(p target.Parcel) ([]byte, error) {
	in, err := p.Content()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(in)
}

// reach says what comes of it where nothing gets to the payer, or seems not to.
func (l *wire) reach(name string, b []byte, s step) target.Delivery {
	switch s.mode {
	case refused:
		return transient("CONNECT_REFUSED", false)
	case notFound:
		return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeRejected, Code: claimdlq.NewDetail("HTTP_404")}}
	case busy, lost:
		return transient("TIMEOUT", true)
	case accept, drop:
	}
	return l.arrive(name, b, s)
}

// replaying has somebody release one record.
func (w *scene) replaying(f *flow.Flow, r claimdlq.Record, o replay.Options) {
	w.begin(fmt.Sprintf("replay %d %+v", r.ID, o), func(ctx context.Context) error {
		got, _, err := f.Replay.One(ctx, ana, r.ID, o)
		w.note("   replay of %d: %s", r.ID, got)
		return err
	})
}

// replayingAll has somebody release whatever is in quarantine.
func (w *scene) replayingAll(f *flow.Flow, o replay.Options) {
	w.begin("replay all", func(ctx context.Context) error {
		_, err := f.Replay.Select(ctx, ana, store.Filter{State: claimdlq.StateQuarantined}, o)
		return err
	})
}

// stepping has somebody take one step with a record: park, unpark, withdraw.
func (w *scene) stepping(name string, f func(context.Context, claimdlq.By, claimdlq.ID) (claimdlq.Record, error), r claimdlq.Record) {
	w.begin(fmt.Sprint(name, " ", r.ID), func(ctx context.Context) error { _, err := f(ctx, ana, r.ID); return err })
}
