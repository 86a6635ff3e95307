package sizing

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"claimdlq/retry"
)

// Simulate plays the scenario event by event and returns what it came to. The same
// scenario gives the same outcome. It stops when every claim is settled or
// dead-lettered (and the drain, if there is one, is over). The error has code
// Invalid: the scenario makes no sense, or takes more than MaxCalls.
func Simulate(s Scenario) (Outcome, error) {
	if err := s.check(); err != nil {
		return Outcome{}, err
	}
	m := newSim(s)
	for m.step() {
		if m.out.Calls > m.maxCalls {
			return Outcome{}, invalid("simulate", "it takes more calls than are allowed: simulate something shorter")
		}
	}
	m.sampleUntil(m.now)
	m.out.End = m.now
	return m.out, nil
}

func (s *Scenario) check() error {
	p := s.Policy
	arrive := int64(0)
	if s.Rate.valid() && s.For >= 0 {
		arrive = s.Rate.before(s.For)
	}
	last := time.Duration(math.MinInt64)
	if len(s.Outages) > math.MaxUint16-1 {
		return invalid("simulate", "there are too many outages")
	}
	for _, o := range s.Outages {
		if o.From < last || o.To < o.From || o.Latency < 0 {
			return invalid("simulate", "outages are in order and apart")
		}
		last = o.To
		if o.Window && retry.Hold(p, retry.Failure{RetryAfter: o.RetryAfter, Window: true}) <= 0 {
			return invalid("simulate", "an outage window needs a time to wait")
		}
	}
	switch {
	case !s.Rate.valid() || s.For < 0 || arrive > math.MaxUint32:
		return invalid("simulate", "the rate is out of range, or more than 4,294,967,295 claims arrive")
	case p.MaxReceive < 1 || p.MaxReceive > maxReceive:
		return invalid("simulate", "max_receive is 1 to 1000")
	case s.Latency < 0 || s.Workers < 0 || p.Base < 0 || p.Cap < 0:
		return invalid("simulate", "no time and no count is below 0")
	case s.Replay != nil && (!s.Replay.From.valid() || !s.Replay.Limit.valid() || s.Replay.Step <= 0):
		return invalid("simulate", "a drain needs its first speed, its limit and a step")
	}
	return nil
}

// sim is a simulation under way.
type sim struct {
	Scenario

	out      Outcome
	now      time.Duration
	events   lanes
	arrived  int64
	arrive   int64         // claims that will arrive
	nextAt   time.Duration // the next arrival
	ready    []fifo        // by deliveries so far: who was delivered least goes first
	waiting  int           // in ready
	replays  fifo          // ready, released by the drain; live claims go first
	canaries fifo          // likewise, before its others
	dead     fifo
	live     int64 // arrived, neither settled nor dead-lettered
	busy     int64
	clear    bool          // no claim waits,
	since    time.Duration // since then
	wake     time.Duration // when to try again what could not go
	quota    time.Duration // the next call may start then
	between  time.Duration // calls, under a quota
	outage   int           // the outage that is next or now
	breaker  retry.Breaker
	chance   *rand.PCG
	drain    drain
	depth    *recent
	retries  *recent
	sampled  time.Duration
	maxCalls int64
}

// epoch is the breaker's idea of time 0.
var epoch = time.Unix(0, 0).UTC()

func newSim(s Scenario) *sim {
	m := &sim{
		Scenario: s, arrive: s.Rate.before(s.For), ready: make([]fifo, s.Policy.MaxReceive),
		wake: never, chance: rand.NewPCG(s.Seed, 0x5129),
		depth: newRecent(s.DepthAlarm), retries: newRecent(s.RetryAlarm), maxCalls: cmp.Or(s.MaxCalls, 200_000_000),
	}
	m.out = Outcome{
		FirstDead: never, Opened: never, Closed: never, CaughtUp: never, DrainBegan: never, Drained: never,
		DepthRang: never, RetryRang: never, AgeRang: never,
	}
	if s.Breaker != nil {
		m.breaker = retry.New(*s.Breaker)
		for range m.breaker.Options().Window { // a quiet day
			m.breaker.Done(retry.Result{}, epoch)
		}
	}
	if !s.Quota.IsZero() {
		m.between = time.Duration(mulDiv(1, s.Quota.Seconds*int64(time.Second), s.Quota.Claims, true))
	}
	m.drain = newDrain(s.Replay)
	return m
}

// step lets the next thing happen; false if there is none.
func (m *sim) step() bool {
	const (
		nothing = iota
		anEvent
		anArrival
		aReplay
		aWake
	)
	what, at := nothing, time.Duration(math.MaxInt64)
	first := m.events.first()
	if first >= 0 {
		what, at = anEvent, m.events.ahead[first].at
	}
	if m.arrived < m.arrive && m.nextAt < at {
		what, at = anArrival, m.nextAt
	}
	if t, ok := m.drain.due(m); ok && t < at {
		what, at = aReplay, max(t, m.now)
	}
	if m.wake >= 0 && m.wake < at {
		what, at = aWake, m.wake
	}
	if what == nothing {
		return false
	}
	if at > m.now {
		m.sampleUntil(at)
		m.now = at
	}
	switch what {
	case anEvent:
		m.happen(m.events.pop(first))
	case anArrival:
		m.ready[0].push(uint32(m.arrived))
		m.waiting++
		m.live++
		m.arrived++
		m.out.Arrived++
		m.nextAt = m.Rate.at(m.arrived)
	case aReplay:
		m.drain.release(m)
	case aWake:
	}
	m.wake = never
	m.dispatch()
	m.out.PeakWaiting = max(m.out.PeakWaiting, m.live)
	return true
}

func (m *sim) happen(e event) {
	if e.kind == retryDue {
		m.ready[e.receive].push(e.claim)
		m.waiting++
		return
	}
	m.busy--
	m.end(e)
}

// dispatch starts what may start.
func (m *sim) dispatch() {
	for m.waiting > 0 || m.canaries.len() > 0 || m.replays.len() > 0 {
		if m.Workers > 0 && m.busy >= m.Workers {
			return // the call that ends will come here
		}
		if m.between > 0 && m.now < m.quota {
			m.wake = m.quota
			return
		}
		probe := false
		if m.Breaker != nil {
			again, ok, p := m.breaker.Allow(epoch.Add(m.now), farLease)
			if !ok {
				if again.Sub(epoch) < farLease { // else a probe is under way: its end comes here
					m.wake = again.Sub(epoch)
				}
				return
			}
			probe = p
		}
		m.start(m.take(), probe)
	}
}

// farLease is a lease that no call of a simulation outlives: its probes do not get lost.
const farLease = 100 * 365 * day

// take removes the claim that goes next.
func (m *sim) take() event {
	if m.waiting > 0 {
		for n := range m.ready {
			if m.ready[n].len() > 0 {
				m.waiting--
				return event{claim: m.ready[n].pop(), receive: uint16(n)}
			}
		}
	}
	if m.canaries.len() > 0 {
		return event{claim: m.canaries.pop(), call: callReplay | callCanary}
	}
	return event{claim: m.replays.pop(), call: callReplay}
}

// start begins a delivery: whether it will fail is decided now.
func (m *sim) start(e event, probe bool) {
	e.receive++
	m.out.Calls++
	m.out.MostReceives = max(m.out.MostReceives, int(e.receive))
	if m.between > 0 {
		m.quota = m.now + m.between
	}
	if probe {
		e.call |= callProbe
	}
	switch {
	case m.down() && m.happens(cmp.Or(m.Outages[m.outage].Fails, All)):
		e.outage = uint16(m.outage) + 1
		e.call |= callFails
	case m.Transient > 0 && m.happens(m.Transient):
		e.call |= callFails
	case e.receive == 1 && e.call&callReplay == 0 && m.Bad > 0 && m.happens(m.Bad):
		e.call |= callBad
	}
	takes := m.takes(e)
	e.at, e.kind = m.now+takes, callEnds
	if takes == 0 {
		m.out.PeakBusy = max(m.out.PeakBusy, m.busy+1)
		m.end(e)
		return
	}
	m.busy++
	m.out.PeakBusy = max(m.out.PeakBusy, m.busy)
	m.events.push(e, int(e.outage&1)) // calls that take equally long end in order
}

// down reports whether there is an outage now: m.outage is its index.
func (m *sim) down() bool {
	for m.outage < len(m.Outages) && m.now >= m.Outages[m.outage].To {
		m.outage++
	}
	return m.outage < len(m.Outages) && m.now >= m.Outages[m.outage].From
}

// takes returns how long the call takes.
func (m *sim) takes(e event) time.Duration {
	if e.outage > 0 {
		return m.Outages[e.outage-1].Latency
	}
	return m.Latency
}

func (m *sim) happens(s Share) bool {
	return s >= All || m.chance.Uint64() < uint64(s)*(math.MaxUint64/uint64(All))
}
