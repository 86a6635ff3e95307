package attempt

import (
	"time"

	"claimdlq"
	"claimdlq/retry"
	"claimdlq/target"
)

// laneID is one partner of a stream.
type laneID struct{ stream, partner string }

// lane is what all who deliver to one partner share: its breakers, and how many
// deliveries are under way. It lives as long as the process: what must outlive it is
// in the submissions.
type lane struct {
	busy  int
	main  retry.Breaker
	spare *retry.Breaker // of the fallback, once it was needed
	since time.Time      // when main last left the closed state
}

// maxLanes is how many partners are remembered that nothing is to be remembered of.
const maxLanes = 4096

// permit is the leave to deliver once, to the lane's target or to its fallback.
type permit struct {
	lane            laneID
	probe, fallback bool
}

// refusal says why nothing of a queue may be delivered now. Without a hold its lane is
// busy, which its own deliveries end.
type refusal struct {
	hold  claimdlq.Hold
	until time.Time // zero for as long as a person wants
}

// lane returns the lane, made if need be. The caller holds mu.
func (a *Attempt) lane(id laneID) *lane {
	l := a.lanes[id]
	if l == nil {
		if len(a.lanes) >= maxLanes {
			a.forget()
		}
		l = &lane{main: retry.New(a.breaker(id))}
		a.lanes[id] = l
	}
	return l
}

// forget drops the lanes of which nothing would be lost but a few samples.
func (a *Attempt) forget() {
	for id, l := range a.lanes {
		if l.busy == 0 && l.since.IsZero() && l.spare == nil {
			delete(a.lanes, id)
		}
	}
}

func (a *Attempt) breaker(id laneID) retry.Options {
	if a.o.Breakers != nil {
		return a.o.Breakers(id.stream, id.partner)
	}
	return a.o.Breaker
}

// probeLease is how long a probe has until its place is given to another.
func (a *Attempt) probeLease() time.Duration { return 2 * a.o.Timeout }

// admit asks for the leave to deliver one submission of the queue. Where it is given,
// leave or done must give it back.
func (a *Attempt) admit(q claimdlq.Queue, now time.Time) (target.Route, permit, *refusal) {
	route, no := a.route(q, now)
	if no != nil {
		return route, permit{}, no
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	id := laneID{q.Stream, q.Partner}
	l := a.lane(id)
	if l.busy >= a.width(q.Stream, route) {
		return route, permit{}, &refusal{}
	}
	p := permit{lane: id}
	again, ok, probe := l.main.Allow(now, a.probeLease())
	if !ok && route.Fallback != nil {
		var later time.Time
		p.fallback = true
		if later, ok, probe = l.fallback(a.breaker(id)).Allow(now, a.probeLease()); later.Before(again) {
			again = later
		}
	}
	if !ok {
		return route, permit{}, &refusal{claimdlq.HoldBreaker, again}
	}
	p.probe = probe
	l.busy++
	return route, p, nil
}

// route finds where the queue's claims go, unless a person has stopped them.
func (a *Attempt) route(q claimdlq.Queue, now time.Time) (target.Route, *refusal) {
	if a.stopped(q.Stream, q.Partner) {
		return target.Route{}, &refusal{hold: claimdlq.HoldStopped}
	}
	route, ok := a.o.Routes(q.Stream, q.Partner)
	if !ok {
		return route, &refusal{claimdlq.HoldTarget, now.Add(a.o.HoldFor)}
	}
	return route, nil
}

// width is how many deliveries to a partner may be under way.
func (a *Attempt) width(stream string, r target.Route) int {
	switch {
	case r.Workers > 0:
		return r.Workers
	case stream == claimdlq.StreamX12:
		return 1
	}
	return a.o.Workers
}

func (l *lane) fallback(o retry.Options) *retry.Breaker {
	if l.spare == nil {
		b := retry.New(o)
		l.spare = &b
	}
	return l.spare
}

func (l *lane) breaker(fallback bool) *retry.Breaker {
	if fallback && l.spare != nil {
		return l.spare
	}
	return &l.main
}

// gate says whether the queue would be admitted but for how many are under way, and
// takes nothing.
func (a *Attempt) gate(q claimdlq.Queue, now time.Time) *refusal {
	route, no := a.route(q, now)
	if no != nil {
		return no
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lanes[laneID{q.Stream, q.Partner}]
	if l == nil {
		return nil
	}
	again, ok := peek(&l.main, now)
	if !ok && route.Fallback != nil {
		if l.spare == nil {
			return nil
		}
		var later time.Time
		if later, ok = peek(l.spare, now); later.Before(again) {
			again = later
		}
	}
	if ok {
		return nil
	}
	return &refusal{claimdlq.HoldBreaker, again}
}

func peek(b *retry.Breaker, now time.Time) (again time.Time, ok bool) {
	again, ok, probe := b.Allow(now, time.Nanosecond)
	b.Release(probe)
	return again, ok
}

// switchOver changes which of the lane's two targets the permit is for: bytes that may
// be with the one must not go to the other. It returns when to ask again where that is
// not allowed now; the permit is the old one then.
func (a *Attempt) switchOver(p *permit, now time.Time) (again time.Time, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lane(p.lane)
	other := &l.main
	if !p.fallback {
		other = l.fallback(a.breaker(p.lane))
	}
	again, ok, probe := other.Allow(now, a.probeLease())
	if !ok {
		return again, false
	}
	l.breaker(p.fallback).Release(p.probe)
	p.fallback, p.probe = !p.fallback, probe
	return time.Time{}, true
}

// report tells the breaker how a delivery ended. The permit is no probe any more.
func (a *Attempt) report(p *permit, r retry.Result, now time.Time) {
	a.mu.Lock()
	l := a.lane(p.lane)
	b := l.breaker(p.fallback)
	was := b.State(now)
	r.Probe = p.probe
	b.Done(r, now)
	p.probe = false
	is := l.main.State(now)
	switch {
	case is == retry.Closed:
		l.since = time.Time{}
	case l.since.IsZero():
		l.since = now
	}
	changed := was != b.State(now)
	a.mu.Unlock()
	if changed || r.Probe {
		a.changed()
	}
}

// leave gives the permit back: another may take its place.
func (a *Attempt) leave(p permit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.lanes[p.lane]; l != nil {
		l.busy--
		l.breaker(p.fallback).Release(p.probe)
	}
}
