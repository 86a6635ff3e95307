package serve

import (
	"context"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"claimdlq/alert"
)

// gate bounds intake: so many requests are worked on, so many more may wait for a
// short time, and none is let in while memory is short. What is not let in has not
// been read.
type gate struct {
	slots    chan struct{}
	waiting  atomic.Int64
	most     int64
	patience time.Duration

	limit uint64        // bytes of memory in use at which intake pauses; 0 is never
	used  func() uint64 // bytes of memory in use
}

// newGate returns a gate for so many requests at a time and so many that wait.
// percent is of the memory that the process may use.
func newGate(atOnce, waiting, percent int, patience time.Duration) *gate {
	return &gate{
		slots: make(chan struct{}, atOnce), most: int64(waiting), patience: patience,
		limit: memoryLimit("/") / 100 * uint64(percent), used: inUse,
	}
}

// enter waits for a place. Where there is none to be had in time it says why; nothing
// where who asked has gone.
func (g *gate) enter(ctx context.Context) (in bool, why alert.Cause) {
	if g.limit > 0 && g.used() > g.limit {
		return false, alert.CauseMemory
	}
	select {
	case g.slots <- struct{}{}:
		return true, ""
	default:
	}
	if g.waiting.Add(1) > g.most {
		g.waiting.Add(-1)
		return false, alert.CauseBusy
	}
	defer g.waiting.Add(-1)
	t := time.NewTimer(g.patience)
	defer t.Stop()
	select {
	case g.slots <- struct{}{}:
		return true, ""
	case <-t.C:
		return false, alert.CauseBusy
	case <-ctx.Done():
		return false, ""
	}
}

func (g *gate) leave() { <-g.slots }

// inUse returns what the process has of memory that it cannot give back at once.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}
