package attempt

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// session is one Drain or Run: a dispatcher that looks what is due and leases it, a
// fixed number of workers that deliver, and a committer that makes outcomes durable.
//
//	store ──look──► queues ──lease──► jobs ──► workers ──► outcomes ──► committer ──► store
//
// The dispatcher leases for workers that are free and for no others, so that a crash
// wastes no more deliveries than there are workers; a worker is free again as soon as
// its delivery has ended, and only so many outcomes may wait to be durable.
type session struct {
	a    *Attempt
	once bool
	ctx  context.Context // ends when nothing more may be leased
	work context.Context // ends when deliveries are cut off
	keep context.Context // never ends: what was sent was sent, and must be said
	cut  context.CancelFunc

	queues
	leases         store.Batch             // used again for each lease
	plans          []plan                  // likewise, one for each worker; they never move
	leased, came   acts                    // and what is audited of a lease, and of outcomes
	ended          store.Batch             // and for each commit of outcomes, by the committer
	answers        []byte                  // likewise; wiped after each
	landing        []claimdlq.SubmissionID // likewise
	woken, changes uint64                  // what of them was looked at
	next           time.Time               // when something more may be due
	planned        time.Time               // when next was found out
	stale          bool                    // it must be found out again
	swept          time.Time               // when lapsed leases were looked for
	quiet          bool                    // the turn before found nothing to do

	soonest   atomic.Int64 // when something is due that was queued since, in Unix milliseconds
	kicked    chan struct{}
	jobs      chan *job
	outcomes  chan *outcome
	workers   sync.WaitGroup
	committer sync.WaitGroup
	free      atomic.Int32
	pending   atomic.Int32 // leased, the outcome not durable
	settling  atomic.Int32 // of those, the answers are sealed and the outcome is being committed

	mu    sync.Mutex
	first error
	total Summary
}

// maxOutcomes is how many outcomes may wait to be durable, in times the workers, and
// how many go into one commit.
const maxOutcomes = 4

// poll is how often a Run looks although nobody has said that it should.
const poll = time.Minute

// pause is how long a Run waits for a store that cannot be used, and how soon it
// finds out again when the next of many waiting submissions is due.
const (
	pause  = time.Second
	replan = 250 * time.Millisecond
)

func newSession(ctx context.Context, a *Attempt, once bool) *session {
	s := &session{
		a: a, once: once, ctx: ctx, queues: newQueues(),
		kicked: make(chan struct{}, 1), jobs: make(chan *job, a.o.Workers), outcomes: make(chan *outcome, maxOutcomes*a.o.Workers),
	}
	s.keep = context.WithoutCancel(ctx)
	s.work, s.cut = context.WithCancel(s.keep)
	s.plans = make([]plan, 0, a.o.Workers)
	s.free.Store(int32(a.o.Workers))
	for range a.o.Workers {
		s.workers.Go(newWorker(s).loop)
	}
	s.committer.Go(s.commitAll)
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []*session
	if old := a.sessions.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = append(list, s)
	a.sessions.Store(&list)
	return s
}

// end lets what is under way end, and cuts it off after the grace.
func (s *session) end() {
	s.a.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(*s.a.sessions.Load()), func(o *session) bool { return o == s })
	s.a.sessions.Store(&list)
	s.a.mu.Unlock()
	close(s.jobs)
	late := time.AfterFunc(s.a.o.Grace, s.cut)
	s.workers.Wait()
	late.Stop()
	close(s.outcomes)
	s.committer.Wait()
	s.cut()
}

// kick makes the dispatcher look up; it never waits.
func (s *session) kick() {
	select {
	case s.kicked <- struct{}{}:
	default:
	}
}

// fail ends the session with the error, unless one came before.
func (s *session) fail(err error) {
	s.mu.Lock()
	if s.first == nil {
		s.first = err
	}
	s.mu.Unlock()
	s.kick()
}

func (s *session) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// trouble takes an error of store or vault. A Run waits where that may mend it.
func (s *session) trouble(err error) {
	if err == nil || errors.Is(err, claimdlq.Conflict) {
		return
	}
	if !s.once && errors.Is(err, claimdlq.Unavailable) {
		if s.ctx.Err() == nil {
			s.a.log().LogAttrs(s.ctx, slog.LevelWarn, "Delivery waits for the store", slog.Any("error", err))
		}
		return
	}
	s.fail(err)
}

// run is the dispatcher.
func (s *session) run() error {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	s.look, s.stale = true, true
	for s.ctx.Err() == nil && s.failure() == nil {
		n, err := s.turn()
		if err != nil {
			if s.once || !errors.Is(err, claimdlq.Unavailable) {
				return err
			}
			s.trouble(err)
			s.next, s.look = s.a.now().Add(pause), false
		} else if again, done := s.after(n); done {
			return s.failure()
		} else if again {
			continue
		}
		timer.Reset(s.wait())
		select {
		case <-s.kicked:
		case <-timer.C:
		case <-s.ctx.Done():
		}
	}
	if err := s.failure(); err != nil || !s.once {
		return err
	}
	return s.given()
}

// after says what follows a turn that took n submissions in hand: another at once, or
// for a Drain the end. It ends when nothing is under way, and one more look finds
// nothing: what has just ended may have made something due.
func (s *session) after(n int) (again, done bool) {
	switch {
	case n > 0:
		s.quiet = false
		return s.free.Load() > 0, false
	case !s.once || s.pending.Load() > 0 || int(s.free.Load()) < s.a.o.Workers:
		return false, false
	case s.quiet:
		return false, true
	}
	s.quiet, s.look = true, true
	return true, false
}

// given is the error of a Drain whose caller has given up.
func (s *session) given() error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "deliver", Err: s.ctx.Err()}
}

// turn looks what is due, if need be, and leases for the workers that are free. It
// returns how many submissions it took in hand.
func (s *session) turn() (int, error) {
	now := s.a.now()
	if err := s.sweep(now); err != nil {
		return 0, err
	}
	s.notice(now)
	free := s.idle()
	if free == 0 {
		return 0, nil
	}
	if s.look {
		if err := s.fill(now); err != nil {
			return 0, err
		}
	}
	s.a.leasing.RLock()
	picks, held := s.choose(free, now)
	n, err := s.lease(picks, now)
	s.a.leasing.RUnlock()
	if err != nil {
		return n, err
	}
	return n, s.mark(held, now)
}

// idle returns how many workers are free, after giving way to those that will be in a
// moment: one lease for many costs little more than one for one.
func (s *session) idle() int {
	free := int(s.free.Load())
	for range patience {
		if free == 0 || free == s.a.o.Workers {
			break
		}
		runtime.Gosched()
		now := int(s.free.Load())
		if now == free {
			break
		}
		free = now
	}
	return free
}

// patience is how often somebody gives way before a commit.
const patience = 16

// notice takes up what has happened since the last turn.
func (s *session) notice(now time.Time) {
	if w := s.a.woken.Load(); w != s.woken {
		s.woken, s.look, s.stale = w, true, true
		s.renew()
	}
	if ms := s.soonest.Swap(0); ms != 0 {
		s.due(time.UnixMilli(ms))
	}
	if !s.next.IsZero() && !now.Before(s.next) {
		s.next, s.look, s.stale = time.Time{}, true, true
		s.renew()
	}
	if c := s.a.changes.Load(); c != s.changes || s.blockedUntil(now) {
		s.changes = c
		s.unblock(now)
	}
}

// sweep takes back leases that lapsed, now and then.
func (s *session) sweep(now time.Time) error {
	if !s.swept.IsZero() && now.Sub(s.swept) < poll && !now.Before(s.swept) {
		return nil
	}
	first := s.swept.IsZero()
	s.swept = now
	if s.once && !first {
		return nil
	}
	s.look, s.stale = true, true
	s.renew()
	return s.a.recover(s.ctx, now)
}

// wait returns how long the dispatcher may sleep.
func (s *session) wait() time.Duration {
	if s.once {
		return poll // what ends kicks it
	}
	now := s.a.now()
	if s.stale && s.free.Load() > 0 {
		s.plan(now)
	}
	d := poll
	if ms := s.soonest.Swap(0); ms != 0 {
		s.due(time.UnixMilli(ms))
	}
	for _, t := range []time.Time{s.next, s.until} {
		if !t.IsZero() {
			d = min(d, t.Sub(now))
		}
	}
	if s.stale {
		d = min(d, replan)
	}
	return max(d, time.Millisecond)
}

// plan finds out when the next waiting submission is due.
func (s *session) plan(now time.Time) {
	if since := now.Sub(s.planned); since >= 0 && since < replan {
		return
	}
	s.planned, s.stale = now, false
	t, full, err := s.earliest(now)
	switch {
	case err != nil:
		t = now.Add(pause)
	case full: // of so many nobody knows which is the first
		if soon := now.Add(replan); t.IsZero() || t.After(soon) {
			t = soon
		}
	case t.IsZero():
		return
	}
	s.due(t)
}

// due says that something is due then.
func (s *session) due(t time.Time) {
	if s.next.IsZero() || t.Before(s.next) {
		s.next = t
	}
}

// soon says that something was queued that is due then.
func (a *Attempt) soon(t time.Time) {
	list := a.sessions.Load()
	if t.IsZero() || list == nil {
		return
	}
	ms := t.UnixMilli()
	for _, s := range *list {
		for {
			old := s.soonest.Load()
			if old != 0 && old <= ms {
				break
			}
			if s.soonest.CompareAndSwap(old, ms) {
				s.kick()
				break
			}
		}
	}
}
