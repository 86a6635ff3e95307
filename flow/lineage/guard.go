package lineage

import (
	"context"
	"encoding/binary"
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
	held    map[claimdlq.Key]struct{}
	changed chan struct{} // closed when something is let go; nil while nobody waits
}

// NewGuard returns a Guard that holds nothing.
func NewGuard() *Guard {
	return &Guard{held: map[claimdlq.Key]struct{}{}}
}

// RefKey returns what a Guard holds for a pharmacy fill, given its lineage
// (ncpdp.Claim.Lineage) under the current term.
func RefKey(ref claimdlq.Ref) (k claimdlq.Key) {
	binary.LittleEndian.PutUint64(k[:], uint64(ref))
	k[len(k)-1] = 1 // never the zero Key, which is nobody's
	return k
}

// Try holds each fingerprint that nobody else holds and reports which. Zero
// fingerprints are nobody's.
func (g *Guard) Try(fps []claimdlq.Key, got []bool) []bool {
	got = got[:0]
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, fp := range fps {
		_, taken := g.held[fp]
		ok := fp != (claimdlq.Key{}) && !taken
		if ok {
			g.held[fp] = struct{}{}
		}
		got = append(got, ok)
	}
	return got
}

// Hold waits until nobody holds any of the fingerprints, and holds them all. The
// same one may be among them twice. Errors: Unavailable, where ctx ends first.
func (g *Guard) Hold(ctx context.Context, fps []claimdlq.Key) error {
	for {
		changed := g.take(fps)
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "hold claim", Err: ctx.Err()}
		}
	}
}

// take holds all of the fingerprints and returns nil, or none of them and what
// tells that another try is worth it.
func (g *Guard) take(fps []claimdlq.Key) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, fp := range fps {
		if _, taken := g.held[fp]; !taken {
			continue
		}
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		return g.changed
	}
	for _, fp := range fps {
		g.held[fp] = struct{}{}
	}
	return nil
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
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
