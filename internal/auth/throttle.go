package auth

import (
	"math"
	"sync"
	"time"
)

const (
	// After so many failures the next attempt has to wait: 1 s, 2 s, 4 s, up to 15 min.
	freeLogin   = 5
	freeAddress = 30
	firstWait   = time.Second
	longestWait = 15 * time.Minute
	// forgetAfter is when failures are forgotten, counted from the last one.
	forgetAfter = time.Hour
	// leakAddress is how often one failure of an address is forgotten before that: a
	// clinic behind one address mistypes all day.
	leakAddress = time.Minute
	// maxWatched bounds the memory: about 1 MiB.
	maxWatched = 8192
)

// throttle slows down those who guess. It counts an attempt before its outcome is
// known, so that many at once gain nothing, and takes it back on success. It is safe
// for concurrent use.
type throttle struct {
	mu sync.Mutex
	m  map[string]watched
}

type watched struct {
	failures int
	last     time.Time // the last attempt that was let through
	leaked   time.Time // until when failures were forgotten one by one
}

// at returns what is left of it now.
func (w watched) at(now time.Time, leak time.Duration) watched {
	if now.Sub(w.last) >= forgetAfter {
		return watched{leaked: now}
	}
	if leak > 0 {
		since := max(0, now.Sub(w.leaked))
		w.failures = max(0, w.failures-int(since/leak))
		w.leaked = now.Add(-(since % leak))
	}
	return w
}

// until is when the next attempt may come.
func (w watched) until(free int) time.Time {
	over := w.failures - free
	if over < 0 {
		return time.Time{}
	}
	wait := longestWait
	if over < 20 {
		wait = min(firstWait<<over, longestWait)
	}
	return w.last.Add(wait)
}

// key is something that attempts are counted by.
type key struct {
	name string
	free int           // failures without a wait
	leak time.Duration // how often one is forgotten; 0 for never
}

// enter counts an attempt under each key, or returns how long to wait and counts
// nothing. Attempts while one has to wait change nothing: hammering does not prolong it.
func (t *throttle) enter(now time.Time, keys ...key) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		if w, known := t.m[k.name]; known {
			wait = max(wait, w.at(now, k.leak).until(k.free).Sub(now))
		}
	}
	if wait > 0 {
		return wait, false
	}
	for _, k := range keys {
		w, known := t.m[k.name]
		if !known {
			t.room(now)
		}
		w = w.at(now, k.leak)
		w.failures, w.last = w.failures+1, now
		t.m[k.name] = w
	}
	return 0, true
}

// forgive takes the attempt back: wholly under the first key, whose owner has shown
// who he is, and by one under the others, which he may share with a guesser.
func (t *throttle) forgive(keys ...key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, k := range keys {
		w, known := t.m[k.name]
		switch {
		case !known:
		case i == 0 || w.failures <= 1:
			delete(t.m, k.name)
		default:
			w.failures--
			t.m[k.name] = w
		}
	}
}

// room makes room for one more: what is forgotten anyway goes first, then whatever
// has the fewest failures, so that a guesser cannot push out his own count by trying
// many others once.
func (t *throttle) room(now time.Time) {
	if len(t.m) < maxWatched {
		return
	}
	least, victim := watched{failures: math.MaxInt}, ""
	for name, w := range t.m {
		if now.Sub(w.last) >= forgetAfter {
			delete(t.m, name)
			continue
		}
		if w.failures < least.failures || w.failures == least.failures && w.last.Before(least.last) {
			least, victim = w, name
		}
	}
	if len(t.m) >= maxWatched {
		delete(t.m, victim)
	}
}
