package sizing

import (
	"time"

	"claimdlq/retry"
)

// drain releases dead letters.
type drain struct {
	r     *Replay
	next  time.Duration // nothing is released before
	out   int64         // released, the first delivery not ended
	proof int64         // canaries in a row that succeeded

	canary  bool // one is out
	ramping bool
	stage   time.Duration // when the speed began
	rate    Rate
	sent    int64 // at this speed
}

func newDrain(r *Replay) drain {
	if r == nil {
		return drain{}
	}
	return drain{r: r, next: r.At}
}

// due returns when the next claim is to be released.
func (d *drain) due(m *sim) (time.Duration, bool) {
	return d.next, d.r != nil && !d.canary && m.out.Drained < 0 && m.dead.len() > 0
}

// release puts the next dead letter among what is ready.
func (d *drain) release(m *sim) {
	if m.Breaker != nil && m.breaker.State(epoch.Add(m.now)) != retry.Closed {
		d.again(m)
		return
	}
	if !d.ramping && d.proof >= d.r.Canary {
		d.ramping, d.stage, d.sent, d.rate = true, m.now, 0, slower(d.r.From, d.r.Limit)
	}
	to := &m.replays
	if !d.ramping {
		d.canary, to = true, &m.canaries
	}
	to.push(m.dead.pop())
	d.out++
	m.live++
	m.out.DeadLettered--
	m.out.Replayed++
	if m.out.DrainBegan < 0 {
		m.out.DrainBegan = m.now
	}
	if d.ramping {
		d.sent++
		d.pace()
	}
}

// pace sets when the next claim goes.
func (d *drain) pace() {
	if d.rate.less(d.r.Limit) && d.sent >= d.rate.before(d.r.Step) {
		d.stage += d.r.Step
		d.rate, d.sent = slower(d.rate.times(2), d.r.Limit), 0
	}
	d.next = d.stage + d.rate.at(d.sent)
}

// again waits for a step and begins with canaries.
func (d *drain) again(m *sim) {
	d.ramping, d.proof, d.next = false, 0, m.now+d.r.Step
}

// ended takes the end of a replay's first delivery.
func (d *drain) ended(m *sim, e event, ok bool) {
	d.out--
	if e.call&callCanary != 0 {
		d.canary, d.next = false, m.now
		if d.proof++; !ok {
			d.again(m)
		}
	}
	if d.out == 0 && m.dead.len() == 0 && m.out.Drained < 0 {
		m.out.Drained = m.now
	}
}

func slower(a, b Rate) Rate {
	if b.less(a) {
		return b
	}
	return a
}
