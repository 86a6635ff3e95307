package flow_test

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/retain"
	"claimdlq/internal/testclaims"
)

// Held records are counted by why, with since when the oldest has been held for it: no
// hold is without an age (DESIGN 5).
func TestHeld_IsCountedByWhyWithTheOldest(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	held := func(stream string) map[claimdlq.Hold]retain.Held {
		t.Helper()
		b.must(b.f.Retain.Watch(t.Context()))
		all, _ := b.f.Retain.Figures()
		return all[stream].Held
	}
	if n := len(held("837")); n != 0 {
		t.Fatalf("%d holds of nothing", n)
	}
	b.ingest(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 1}))
	b.clock.pass(time.Hour)
	b.drain() // nobody delivers 837 here
	since := b.clock.now()
	b.takes(rxOne(t, "B1", 1), in)
	second := b.takes(rxOne(t, "B2", 1), in).Records[0] // waits for the first
	b.clock.pass(time.Hour)
	b.ingest(generate(t, testclaims.Options{Claims: 1, Seed: 7, ISA13: 4711}))
	b.drainFor(time.Minute)
	if got := held("837"); len(got) != 1 || got[claimdlq.HoldTarget].Records != 3 || !got[claimdlq.HoldTarget].Since.Equal(since) {
		t.Errorf("held for their target since %s: %+v", since, got)
	}
	if got := b.record(second.ID); got.Hold != claimdlq.HoldNone {
		t.Fatalf("the reversal is still held: %+v", got)
	}
	if got := held("ncpdp"); len(got) != 0 {
		t.Errorf("what has gone is held: %+v", got)
	}
	third := b.takes(rxOne(t, "B1", 2), in).Records[0]
	b.step(third.ID, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Held(claimdlq.HoldStopped, b.clock.now()) })
	fourth := b.takes(rxOne(t, "B2", 2), in).Records[0]
	if got := held("ncpdp"); len(got) != 2 || got[claimdlq.HoldStopped].Records != 1 || got[claimdlq.HoldLineage] != (retain.Held{Records: 1, Since: b.record(fourth.ID).UpdatedAt}) {
		t.Errorf("%+v", got)
	}
}
