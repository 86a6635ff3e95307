package serve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq/alert"
)

func admits(ctx context.Context, g *gate) bool {
	in, _ := g.enter(ctx)
	return in
}

func TestGate_LetsSoManyInAndSoManyWaitForAWhile(t *testing.T) { // 51
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, 1, 0, time.Second)
		ctx := context.Background()
		for range 2 {
			if !admits(ctx, g) {
				t.Fatal("the first two are not let in")
			}
		}
		waits := make(chan bool, 1)
		go func() { waits <- admits(ctx, g) }()
		synctest.Wait()
		began := time.Now()
		if in, why := g.enter(ctx); in || why != alert.CauseBusy || time.Since(began) != 0 {
			t.Fatal("a second one waits: the bound is one")
		}
		g.leave()
		if !<-waits {
			t.Fatal("a place that became free is not given to who waits")
		}
		began = time.Now()
		if in, why := g.enter(ctx); in || why != alert.CauseBusy || time.Since(began) != time.Second {
			t.Fatalf("it waited %v, want the patience of 1 s", time.Since(began))
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if in, why := g.enter(gone); in || why != "" {
			t.Fatal("who has gone is let in, or counts as refused: " + why)
		}
		g.leave()
		if !admits(ctx, g) {
			t.Fatal("a free place is not given")
		}
	})
}

func TestGate_PausesWhileMemoryIsShort(t *testing.T) { // 51
	t.Parallel()
	g := newGate(1, 1, 75, time.Second)
	used := uint64(0)
	g.limit, g.used = 75, func() uint64 { return used }
	for _, n := range []uint64{0, 75, 76, 1000, 10} {
		used = n
		in, why := g.enter(t.Context())
		if in != (n <= 75) || !in && why != alert.CauseMemory {
			t.Errorf("%d of 100 in use: let in is %t (%s)", n, in, why)
		}
		if in {
			g.leave()
		}
	}
	if newGate(1, 1, 75, time.Second).limit == 0 {
		t.Error("this machine's memory is not known")
	}
}
