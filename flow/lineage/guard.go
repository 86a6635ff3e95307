package lineage

import (
	"context"
	"sync"

	"claimdlq"
)

// Guard keeps two records of one claim from being released at the same moment:
// looking an owner up and becoming it are two steps, and whoever takes them holds
// the claim's fingerprint meanwhile. One Guard is shared by all that release
// claims in a process, which owns its store. The zero Guard is not usable; use
// NewGuard. It is safe for concurrent use.
type Guard struct {
	mu      sync.Mutex
	held    map[claimdlq.Key]bool
	changed chan struct{} // closed, and made anew, when something is let go
}

// NewGuard returns a Guard that holds nothing.
func NewGuard() *Guard {
	return &Guard{held: map[claimdlq.Key]bool{}, changed: make(chan struct{})}
}

// Try holds each fingerprint that nobody else holds and reports which. Zero
// fingerprints are nobody's.
func (g *Guard) Try(fps []claimdlq.Key, got []bool) []bool {
	got = got[:0]
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, fp := range fps {
		ok := fp != (claimdlq.Key{}) && !g.held[fp]
		if ok {
			g.held[fp] = true
		}
		got = append(got, ok)
	}
	return got
}

// Hold waits until nobody holds any of the fingerprints, and holds them all. The
// same one may be among them twice. Errors: Unavailable, where ctx ends first.
func (g *Guard) Hold(ctx context.Context, fps []claimdlq.Key) error {
	for {
		g.mu.Lock()
		busy := false
		for _, fp := range fps {
			busy = busy || g.held[fp]
		}
		if !busy {
			for _, fp := range fps {
				g.held[fp] = true
			}
			g.mu.Unlock()
			return nil
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "hold claim", Err: ctx.Err()}
		}
	}
}

// Free lets fingerprints go that the caller holds.
func (g *Guard) Free(fps []claimdlq.Key) {
	if len(fps) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, fp := range fps {
		delete(g.held, fp)
	}
	close(g.changed)
	g.changed = make(chan struct{})
}
