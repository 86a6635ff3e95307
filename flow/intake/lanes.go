package intake

import (
	"context"
	"sync"

	"claimdlq"
)

// lanes lets one file at a time take in a given interchange: two deliveries of
// one file at the same moment must not both finish what an earlier one left.
type lanes struct {
	mu   sync.Mutex
	busy map[claimdlq.Ref]chan struct{}
}

// enter waits until the interchange is free and returns how to leave it.
func (l *lanes) enter(ctx context.Context, ref claimdlq.Ref) (leave func(), err error) {
	for {
		l.mu.Lock()
		other, taken := l.busy[ref]
		if !taken {
			mine := make(chan struct{})
			l.busy[ref] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				delete(l.busy, ref)
				l.mu.Unlock()
				close(mine)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "take in interchange", Err: ctx.Err()}
		}
	}
}
