package auth

import (
	"slices"
	"sync"
	"time"
)

const (
	// maxSessions bounds them all, maxOfOne those of one person; the one that was used
	// longest ago makes room.
	maxSessions = 10000
	maxOfOne    = 10
)

// session is one browser that signed in.
type session struct {
	actor string
	// Of a local account; roles and partners are looked up there with each request.
	local bool
	epoch uint64
	// Of OpenID Connect: what the provider said when he signed in.
	roles    []Role
	partners []string

	began, seen time.Time
	elevated    time.Time // until when; zero if not
}

// sessions are in memory only. It is safe for concurrent use.
type sessions struct {
	idle, absolute time.Duration

	mu sync.Mutex
	m  map[digest]session
}

// over reports whether the session has ended by itself.
func (ss *sessions) over(s session, now time.Time) bool {
	return now.Sub(s.seen) >= ss.idle || now.Sub(s.began) >= ss.absolute
}

// create begins a session and returns its id, which is kept nowhere else.
func (ss *sessions) create(now time.Time, s session) (id string, d digest) {
	id = random()
	d, _ = digestOf(id)
	s.began, s.seen = now, now
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.room(now, s.actor)
	ss.m[d] = s
	return id, d
}

// room takes out what is over, and then what was used longest ago where there are too
// many.
func (ss *sessions) room(now time.Time, actor string) {
	var all, his oldest
	for d, s := range ss.m {
		if ss.over(s, now) {
			delete(ss.m, d)
			continue
		}
		all.see(d, s)
		if s.actor == actor {
			his.see(d, s)
		}
	}
	if his.n >= maxOfOne {
		delete(ss.m, his.d)
		return
	}
	if all.n >= maxSessions {
		delete(ss.m, all.d)
	}
}

type oldest struct {
	n    int
	d    digest
	seen time.Time
}

func (o *oldest) see(d digest, s session) {
	if o.n == 0 || s.seen.Before(o.seen) {
		o.d, o.seen = d, s.seen
	}
	o.n++
}

// look returns a session that is not over. Touch says that a person is there.
func (ss *sessions) look(now time.Time, d digest, touch bool) (session, bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s, ok := ss.m[d]
	switch {
	case !ok:
		return s, false
	case ss.over(s, now):
		delete(ss.m, d)
		return session{}, false
	case touch:
		s.seen = now
		ss.m[d] = s
	}
	return s, true
}

// rotate gives a session another id and lets fn change it; the old id is nobody's from
// then on. It goes on from where it began: rotating prolongs nothing.
func (ss *sessions) rotate(now time.Time, old digest, fn func(*session)) (id string, d digest, ok bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s, ok := ss.m[old]
	if !ok || ss.over(s, now) {
		delete(ss.m, old)
		return "", d, false
	}
	fn(&s)
	s.seen = now
	id = random()
	d, _ = digestOf(id)
	delete(ss.m, old)
	ss.m[d] = s
	return id, d, true
}

func (ss *sessions) drop(d digest) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.m, d)
}

// dropAll ends every session of somebody and returns how many there were.
func (ss *sessions) dropAll(actor string) (n int) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for d, s := range ss.m {
		if s.actor == actor {
			delete(ss.m, d)
			n++
		}
	}
	return n
}

// principal returns what a session of a provider's user may do.
func (s session) principal(d digest) Principal {
	return Principal{
		Actor: s.actor, Source: FromSession, Roles: slices.Clone(s.roles), Partners: slices.Clone(s.partners),
		grants: grantsOf(s.roles), session: d,
	}
}
