package sizing

import (
	"time"

	"claimdlq/retry"
)

// end is the end of a delivery: the production code decides what comes of it.
func (m *sim) end(e event) {
	failed := e.call&callFails != 0
	f := retry.Failure{}
	if e.outage > 0 {
		o := m.Outages[e.outage-1]
		f = retry.Failure{RetryAfter: o.RetryAfter, Window: o.Window}
	}
	m.report(e, failed, f)
	switch {
	case failed:
		m.failed(e, f)
	case e.call&callBad != 0:
		m.live--
		m.out.Bad++
		m.rang(m.depth, &m.out.DepthRang)
	default:
		m.out.Settled++
		m.live--
	}
	if e.call&callReplay != 0 {
		m.drain.ended(m, e, !failed)
	}
	m.catchUp()
}

// catchUp notes since when no claim waits, and that after the last outage none does:
// it may have been so since before the call that has just ended began.
func (m *sim) catchUp() {
	clear := m.live <= m.busy && m.waiting == 0
	if clear && !m.clear {
		m.since = m.now
	}
	m.clear = clear
	if last := len(m.Outages) - 1; clear && m.out.CaughtUp < 0 && last >= 0 && m.now >= m.Outages[last].To {
		m.out.CaughtUp = max(m.since, m.Outages[last].To)
	}
}

// report tells the breaker.
func (m *sim) report(e event, failed bool, f retry.Failure) {
	if m.Breaker == nil {
		return
	}
	now := epoch.Add(m.now)
	was := m.breaker.State(now)
	m.breaker.Done(retry.Result{
		Failed: failed, Latency: m.takes(e), Hold: retry.Hold(m.Policy, f), Probe: e.call&callProbe != 0,
	}, now)
	switch is := m.breaker.State(now); {
	case was == retry.Closed && is != retry.Closed && m.out.Opened < 0:
		m.out.Opened = m.now
	case was != retry.Closed && is == retry.Closed:
		m.out.Closed = m.now
	}
}

// failed does what package retry says.
func (m *sim) failed(e event, f retry.Failure) {
	m.out.FailedCalls++
	m.rang(m.retries, &m.out.RetryRang)
	next := retry.After(m.Policy, uint32(e.receive), f, m.chance)
	if next.Free {
		e.receive--
	}
	if !next.Spent {
		m.events.push(event{at: m.now + next.Wait, kind: retryDue, claim: e.claim, receive: e.receive}, 2+int(e.receive))
		return
	}
	m.out.DeadLetters++
	if m.out.FirstDead < 0 {
		m.out.FirstDead = m.now
		if m.AgeAlarm > 0 {
			m.out.AgeRang = m.now + m.AgeAlarm
		}
	}
	m.live--
	m.dead.push(e.claim)
	m.out.DeadLettered++
	m.out.PeakDead = max(m.out.PeakDead, int64(m.dead.len()))
	m.rang(m.depth, &m.out.DepthRang)
}

// leave takes a claim out of those that wait.
func (m *sim) rang(r *recent, at *time.Duration) {
	if r.add(m.now) && *at < 0 {
		*at = m.now
	}
}

// sampleUntil takes the samples that are due before t, and at t if nothing follows.
func (m *sim) sampleUntil(t time.Duration) {
	if m.SampleEvery <= 0 {
		return
	}
	for ; m.sampled <= t; m.sampled += m.SampleEvery {
		m.out.Series = append(m.out.Series, Sample{
			At: Span(m.sampled), Waiting: m.live, Dead: int64(m.dead.len()), Calls: m.out.Calls, FailedCalls: m.out.FailedCalls,
			Open: m.Breaker != nil && m.breaker.State(epoch.Add(m.sampled)) != retry.Closed,
		})
	}
}
