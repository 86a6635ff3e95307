package serve

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
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
		limit: memoryLimit() / 100 * uint64(percent), used: inUse,
	}
}

// enter waits for a place; false where there is none to be had in time.
func (g *gate) enter(ctx context.Context) bool {
	if g.limit > 0 && g.used() > g.limit {
		return false
	}
	select {
	case g.slots <- struct{}{}:
		return true
	default:
	}
	if g.waiting.Add(1) > g.most {
		g.waiting.Add(-1)
		return false
	}
	defer g.waiting.Add(-1)
	t := time.NewTimer(g.patience)
	defer t.Stop()
	select {
	case g.slots <- struct{}{}:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

func (g *gate) leave() { <-g.slots }

// inUse returns what the process has of memory that it cannot give back at once.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}

// memoryLimit returns how much memory the process may use: the soft limit of the
// runtime, that of the control group, or what the machine has; 0 if nobody knows.
func memoryLimit() uint64 {
	if soft := debug.SetMemoryLimit(-1); soft < math.MaxInt64 {
		return uint64(soft)
	}
	limit := machineMemory()
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil && (limit == 0 || n < limit) {
			limit = n
		}
	}
	return limit
}

// machineMemory reads MemTotal; 0 where there is no such file.
func machineMemory() uint64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}
