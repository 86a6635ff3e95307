package serve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestGate_LetsSoManyInAndSoManyWaitForAWhile(t *testing.T) { // 51
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, 1, 0, time.Second)
		ctx := context.Background()
		for range 2 {
			if !g.enter(ctx) {
				t.Fatal("the first two are not let in")
			}
		}
		waits := make(chan bool, 1)
		go func() { waits <- g.enter(ctx) }()
		synctest.Wait()
		began := time.Now()
		if g.enter(ctx) || time.Since(began) != 0 {
			t.Fatal("a second one waits: the bound is one")
		}
		g.leave()
		if !<-waits {
			t.Fatal("a place that became free is not given to who waits")
		}
		began = time.Now()
		if g.enter(ctx) || time.Since(began) != time.Second {
			t.Fatalf("it waited %v, want the patience of 1 s", time.Since(began))
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if g.enter(gone) {
			t.Fatal("who has gone is let in")
		}
		g.leave()
		if !g.enter(ctx) {
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
		in := g.enter(t.Context())
		if in != (n <= 75) {
			t.Errorf("%d of 100 in use: let in is %t", n, in)
		}
		if in {
			g.leave()
		}
	}
	if newGate(1, 1, 75, time.Second).limit == 0 {
		t.Error("this machine's memory is not known")
	}
}
