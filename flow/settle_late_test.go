package flow_test

import (
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// again makes the record one that a person says has not arrived, sends it again under new
// numbers, and returns what the payer answered to both: the first answer has not been read
// meanwhile.
func (b *bench) again(id claimdlq.ID) (first, second [][]byte) {
	b.t.Helper()
	first = b.target.take()
	if b.record(id).State == claimdlq.StateSubmitted {
		b.clock.pass(30 * 24 * time.Hour)
		_, err := b.f.Settle.Overdue(b.t.Context())
		b.must(err)
	}
	_, err := b.f.Settle.Resolve(b.t.Context(), ana, id, false)
	b.must(err)
	if got := b.replay(id, replay.Options{Unchanged: true}); got != claimdlq.Replayed {
		b.t.Fatalf("a replay is %s\n%s", got, b.dump())
	}
	b.drain()
	return first, b.target.take()
}

func (b *bench) ackAll(files [][]byte) {
	b.t.Helper()
	for _, f := range files {
		b.ack(f)
	}
}

// It had arrived after all, and its acceptance comes while it is on its way again under
// new numbers, which the payer rejects: it has the claim, and no replay sends it a third
// time.
func TestAcks_ALateAcceptanceOfAnEarlierSendingIsNotUndoneByTheRejectOfALater(t *testing.T) { // promise 2
	t.Parallel()
	for name, between := range map[string]func(*bench){
		"it waits":        func(*bench) {},
		"after a restart": func(b *bench) { b.restart() },
		"it is in doubt": func(b *bench) {
			b.clock.pass(30 * 24 * time.Hour)
			_, err := b.f.Settle.Overdue(b.t.Context())
			b.must(err)
		},
		"both sent once more": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "claim 2-3 stc A7:562:85")
			b.ingest(generate(t, testclaims.Options{Claims: 1}))
			b.drain()
			first, second := b.again(1)
			if between == nil { // the acceptance is that of the first of three
				var third [][]byte
				_, third = b.again(1)
				second = append(second, third...)
			} else {
				between(b)
			}
			b.ackAll(first)
			if r := b.record(1); r.State != claimdlq.StateSettled || r.Disposition != claimdlq.Accepted {
				t.Fatal(b.dump())
			}
			b.ackAll(second)
			if r := b.record(1); r.State != claimdlq.StateSettled || r.Disposition != claimdlq.Accepted {
				t.Fatal(b.dump())
			}
			if got := b.replay(1, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
				t.Errorf("a replay is %s", got)
			}
			if res := b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 9, GS06: 9})); res.Quarantined != 1 {
				t.Errorf("in a new file: %+v", res)
			}
			b.drain()
			b.noDouble()
		})
	}
}

// The acceptance comes while the later sending is being delivered.
func TestAcks_ALateAcceptanceDuringTheNextDeliveryStands(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "claim 2 stc A7:562:85")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	first := b.target.take()
	b.target.early = func([]byte) { b.ackAll(first) }
	_, second := b.again(1)
	b.restart()
	b.ackAll(second)
	b.clock.pass(30 * 24 * time.Hour)
	if n, err := b.f.Settle.Overdue(t.Context()); n != 0 || err != nil {
		t.Errorf("%d are overdue: %v", n, err)
	}
	if r := b.record(1); r.State != claimdlq.StateSettled || r.Disposition != claimdlq.Accepted {
		t.Fatal(b.dump())
	}
	b.drain()
	b.noDouble()
}

// The acceptance is that of the second of three sendings: a replay's, by its own number.
func TestAcks_ALateAcceptanceOfAReplayIsNotUndoneByTheNext(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "claim 1 stc A7:562:85\nclaim 3 stc A7:562:85")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	first, second := b.again(1)
	_, third := b.again(1)
	b.ackAll(first)
	b.ackAll(second)
	b.ackAll(third)
	if r := b.record(1); r.State != claimdlq.StateSettled || r.Disposition != claimdlq.Accepted {
		t.Fatal(b.dump())
	}
	b.noDouble()
}

// What the payer has of a set parts from it; the rest waits for the answer to the later
// sending.
func TestAcks_ALateAcceptanceOfSomeClaimsOfASetPartsThem(t *testing.T) { // promise 2, 6
	t.Parallel()
	b := setup(t, "claim 2-4 stc A7:562:85")
	b.ingest(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2}))
	b.drain()
	first, second := b.again(1)
	b.ackAll(first)
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1, claimdlq.StateSubmitted: 1})
	b.ackAll(second)
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1, claimdlq.StateQuarantined: 1})
	for _, r := range b.list(store.Filter{}) {
		want := claimdlq.DuplicateSuppressed
		if r.State == claimdlq.StateQuarantined {
			want = claimdlq.Replayed
		}
		if r.Stream != claimdlq.StreamX12 {
			continue
		}
		if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != want {
			t.Errorf("a replay of %d is %s, want %s\n%s", r.ID, got, want, b.dump())
		}
	}
	b.drain()
	b.acks()
	b.noDouble()
}

// Nothing parts from what is in doubt: the answer is taken, and changes nothing.
func TestAcks_ALateAnswerToASetThatIsInDoubtAgainIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t, "claim 2 stc A7:562:85")
	b.ingest(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2}))
	b.drain()
	first, _ := b.again(1)
	b.clock.pass(30 * 24 * time.Hour)
	_, err := b.f.Settle.Overdue(t.Context())
	b.must(err)
	b.ackAll(first)
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateInDoubt: 2})
}

// Ours did not arrive, a person says, and another number of it was rejected: the late
// acceptance of ours is what counts, whichever comes first.
func TestAcks_ALateAcceptanceOfOursCountsWhereAnotherNumberWasRejected(t *testing.T) { // promise 2
	t.Parallel()
	for name, replayed := range map[string]bool{"held": false, "sent again, which is rejected": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "claim 2-3 stc A7:562:85")
			b.ingest(generate(t, testclaims.Options{Claims: 1}))
			b.drain()
			late := b.target.take()
			other := generate(t, testclaims.Options{Claims: 1, ISA13: 2, GS06: 2})
			b.gives(other)
			b.ack(b.target.post(other))
			_, err := b.f.Settle.Resolve(t.Context(), ana, 1, false)
			b.must(err)
			if b.record(1).State != claimdlq.StateQuarantined || b.record(2).State != claimdlq.StateQuarantined {
				t.Fatal(b.dump())
			}
			if replayed {
				if got := b.replay(1, replay.Options{Unchanged: true}); got != claimdlq.Replayed {
					t.Fatalf("a replay is %s\n%s", got, b.dump())
				}
				b.drain()
			}
			b.ackAll(late)
			b.acks()
			if r := b.record(1); r.State != claimdlq.StateSettled || r.Disposition != claimdlq.Accepted {
				t.Fatal(b.dump())
			}
			for id := range claimdlq.ID(2) {
				if got := b.replay(id+1, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
					t.Errorf("a replay of %d is %s", id+1, got)
				}
			}
			b.drain()
			b.noDouble()
		})
	}
}
