package flow_test

import (
	"fmt"
	"testing"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// A claim whose payload has gone, or is damaged, stops nobody else's replay, alone or as
// one of a set that parted; it stays where it is.
func TestReplay_AClaimWhosePayloadHasGoneStopsNoOther(t *testing.T) { // promise 6
	t.Parallel()
	for _, refused := range []int{1, 4} { // from 4 on a set is read ahead
		script := ""
		for n := range 3 {
			for i := range refused {
				script += fmt.Sprintf("claim %d stc A7:562:85\n", n*(refused+1)+i+1)
			}
		}
		b := setup(t, script)
		for n := range 3 {
			b.ingest(generate(t, testclaims.Options{Claims: refused + 1, ISA13: uint32(n + 1), GS06: uint32(n + 1), FirstClaim: 10*n + 1, Seed: uint64(n)}))
		}
		b.drain()
		b.acks()
		all := store.Filter{State: claimdlq.StateQuarantined}
		rs := b.list(all)
		if len(rs) != 3*refused {
			t.Fatalf("%d are refused\n%s", len(rs), b.dump())
		}
		b.must(b.v.Shred(t.Context(), rs[len(rs)/2].Payload))
		sum, err := b.f.Replay.Select(t.Context(), ana, all, replay.Options{Unchanged: true})
		b.must(err)
		if sum.Requeued != 2*refused || sum.NotCorrected != refused {
			t.Errorf("%+v", sum)
		}
		if left := b.list(all); len(left) != refused || left[0].Payload != rs[len(rs)/2].Payload {
			t.Errorf("%d are left\n%s", len(left), b.dump())
		}
	}
}
