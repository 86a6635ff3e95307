package flow_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// gives hands a file over that another pipeline may have sent.
func (b *bench) gives(file []byte) intake.Result {
	b.t.Helper()
	res, err := b.f.Intake.DeadLetter(b.t.Context(), source, bytes.NewReader(file), timedOut)
	b.must(err)
	b.conserved()
	if res.Claims != res.Quarantined+res.Duplicates+res.InDoubt || res.Accepted+res.Conflicts != 0 {
		b.t.Errorf("result does not add up: %+v", res)
	}
	return res
}

// stays fails where something goes out, or may be made to, of what is in doubt.
func (b *bench) stays() {
	b.t.Helper()
	n := len(b.target.sent)
	b.drain()
	for _, r := range b.list(store.Filter{State: claimdlq.StateInDoubt}) {
		if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
			b.t.Errorf("record %d: a replay is %s", r.ID, got)
		}
		if s, err := b.st.Submission(b.t.Context(), r.Submission); err != nil || s.State != claimdlq.SubmissionInDoubt {
			b.t.Errorf("record %d: submission %+v: %v", r.ID, s, err)
		}
	}
	b.drain()
	if len(b.target.sent) != n {
		b.t.Fatalf("it was sent again\n%s", b.dump())
	}
}

// oneBad is a set of three claims of which our rules refuse the second.
func oneBad(t *testing.T) []byte {
	t.Helper()
	return generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}})
}

// What waits, or is held, or has parted, is in doubt as soon as another pipeline says that
// it may have sent it: its acknowledgment settles it, and nothing goes out.
func TestDeadLetter_AnAmbiguousSetThatIsHereIsInDoubt(t *testing.T) { // F13, promise 2
	t.Parallel()
	three := testclaims.Options{Claims: 3, ClaimsPerSet: 1}
	for name, c := range map[string]struct {
		file    func(*testing.T) []byte
		before  func(*bench)
		inDoubt int64
	}{
		"queued":  {before: func(*bench) {}, inDoubt: 3},
		"retried": {before: func(b *bench) { b.target.plan = []mode{refused}; b.drain() }, inDoubt: 3},
		"to be sent again as its own inquiry": {before: func(b *bench) {
			b.target.idempotent, b.target.plan = true, []mode{lost}
			b.drain()
		}, inDoubt: 0},
		"spent": {before: func(b *bench) {
			b.target.plan = []mode{refused, refused, refused, refused, refused}
			for range 5 {
				b.drain()
				b.clock.pass(time.Minute)
			}
		}, inDoubt: 3},
		"parked": {before: func(b *bench) {
			for id := range claimdlq.ID(3) {
				_, err := b.f.Retain.Park(b.t.Context(), ana, id+1)
				b.must(err)
			}
		}, inDoubt: 3},
		"one has parted": {file: oneBad, before: func(*bench) {}, inDoubt: 3},
		"one has parted and is corrected": {file: oneBad, before: func(b *bench) {
			b.correct(2, goodNPI(7))
		}, inDoubt: 3},
		"one has parted and is replayed": {file: oneBad, before: func(b *bench) {
			b.correct(2, goodNPI(7))
			if got := b.replay(2, replay.Options{}); got != claimdlq.Replayed {
				b.t.Fatalf("a replay is %s", got)
			}
		}, inDoubt: 3},
		"one has parted and the others are sent": {file: oneBad, before: func(b *bench) {
			b.target.plan = []mode{lost}
			b.drain()
		}, inDoubt: 1},
		"withdrawn": {before: func(b *bench) {
			for id := range claimdlq.ID(3) {
				_, err := b.f.Retain.Withdraw(b.t.Context(), ana, id+1)
				b.must(err)
			}
		}, inDoubt: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "")
			file := generate(t, three)
			if c.file != nil {
				file = c.file(t)
			}
			b.ingest(file)
			c.before(b)
			answer := b.target.post(file) // by the other pipeline
			took := b.accepted()
			if res := b.gives(file); res.InDoubt != c.inDoubt {
				t.Fatalf("got %+v\n%s", res, b.dump())
			}
			if got := b.states()[claimdlq.StateInDoubt]; got != 3 {
				t.Fatalf("%d claims are in doubt\n%s", got, b.dump())
			}
			b.stays()
			if again := b.gives(file); again.Duplicates != 3 {
				t.Errorf("again: %+v\n%s", again, b.dump())
			}
			b.restart()
			b.stays()
			b.ack(answer)
			if got := b.states()[claimdlq.StateSettled]; got != int64(took) {
				t.Errorf("the payer took %d: %s", took, b.dump())
			}
			if got := b.states()[claimdlq.StateInDoubt]; got != 0 {
				t.Errorf("%d claims are in doubt still: %s", got, b.dump())
			}
			b.gives(file)
			b.noDouble()
		})
	}
}

// What did not arrive after all is as it was, and may go.
func TestDeadLetter_AnAmbiguousSetThatDidNotArriveGoesOnce(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "")
	file := oneBad(t)
	b.ingest(file)
	b.gives(file)
	r, err := b.f.Settle.Resolve(t.Context(), ana, 1, false)
	b.must(err)
	if r.State != claimdlq.StateQuarantined || b.record(2).State != claimdlq.StateQuarantined {
		t.Fatal(b.dump())
	}
	if got := b.replay(2, replay.Options{}); got != claimdlq.NotCorrected {
		t.Errorf("a replay of what our rules refuse is %s", got)
	}
	b.correct(2, goodNPI(7))
	for id := range claimdlq.ID(2) {
		if got := b.replay(id+1, replay.Options{}); got != claimdlq.Replayed {
			t.Errorf("a replay of %d is %s", id+1, got)
		}
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3})
	b.noDouble()
}

// Of a file of several sets those that are handed over stay, and the others go.
func TestDeadLetter_SomeSetsOfAFileAreInDoubtAndTheOthersGo(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 1}))
	some := generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 1})
	if res := b.gives(some); res.InDoubt != 2 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateInDoubt: 2, claimdlq.StateSettled: 2})
	_, err := b.f.Settle.Resolve(t.Context(), ana, 1, false)
	b.must(err)
	for id := range claimdlq.ID(2) {
		if got := b.replay(id+1, replay.Options{}); got != claimdlq.Replayed {
			t.Errorf("a replay of %d is %s", id+1, got)
		}
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4})
	b.noDouble()
}

// A delivery under way cannot be called back, and its end says how the set stands: whoever
// gives it up keeps it until then.
func TestDeadLetter_AnAmbiguousSetThatIsBeingDeliveredIsNotTaken(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 1})
	b.ingest(file)
	var got error
	b.target.early = func([]byte) {
		_, got = b.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(file), timedOut)
	}
	b.drain()
	if !errors.Is(got, claimdlq.Unavailable) {
		t.Fatalf("got %v", got)
	}
	b.gives(file)
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3})
}

// What the payer has, it has: nothing is in doubt about that.
func TestDeadLetter_AnAmbiguousSetThatIsSettledIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 1})
	b.ingest(file)
	b.drain()
	b.acks()
	if res := b.gives(file); res.Duplicates != 3 {
		t.Errorf("got %+v", res)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3})
}

// The same claims under other numbers, in any sets: ours wait no longer to be sent.
func TestDeadLetter_AnAmbiguousClaimThatWaitsUnderOtherNumbersStays(t *testing.T) { // promise 2
	t.Parallel()
	for name, arrived := range map[string]bool{"arrived": true, "not arrived": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "")
			b.ingest(generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 1}))
			other := generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2, ISA13: 2, GS06: 2})
			if res := b.gives(other); res.InDoubt != 2 {
				t.Fatalf("got %+v\n%s", res, b.dump())
			}
			b.drain()
			b.acks()
			b.claimsAre(map[claimdlq.State]int64{claimdlq.StateParked: 2, claimdlq.StateInDoubt: 2, claimdlq.StateSettled: 1})
			for id := range claimdlq.ID(2) {
				_, err := b.f.Retain.Unpark(t.Context(), ana, id+1)
				b.must(err)
				if got := b.replay(id+1, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
					t.Errorf("a replay of %d is %s", id+1, got)
				}
			}
			if arrived {
				b.ack(b.target.post(other))
			} else {
				_, err := b.f.Settle.Resolve(t.Context(), ana, 4, false)
				b.must(err)
			}
			for id := range claimdlq.ID(4) {
				b.replay(id+1, replay.Options{Unchanged: true})
			}
			b.drain()
			b.acks()
			if b.accepted() != 3 {
				t.Errorf("the payer has %d claims\n%s", b.accepted(), b.dump())
			}
			b.noDouble()
		})
	}
}

// Other content under the numbers of what waits: the doubt is kept, and neither goes.
func TestDeadLetter_AnAmbiguousConflictWithWhatWaitsKeepsItsDoubt(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3}))
	if res := b.gives(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2})); res.InDoubt != 2 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	b.stays()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateParked: 3, claimdlq.StateInDoubt: 2})
	if r, err := b.f.Settle.Resolve(t.Context(), ana, 2, true); err != nil || r.State != claimdlq.StateSubmitted {
		t.Errorf("got %+v: %v", r, err)
	}
}

// "Not now" to one of two sendings says nothing of the other.
func TestAcks_NotNowToOneOfTwoSendingsSendsNothingAgain(t *testing.T) { // promise 2
	t.Parallel()
	for _, script := range []string{"interchange 1 ta1 R 023", "claim 2 stc E2:0"} {
		t.Run(fmt.Sprint(script), func(t *testing.T) {
			t.Parallel()
			b := setup(t, script)
			file := generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3})
			b.ingest(file)
			b.drain()
			b.gives(file) // and it has arrived
			b.acks()
			n := len(b.target.sent)
			b.clock.pass(time.Hour)
			b.drain()
			if len(b.target.sent) != n {
				t.Errorf("it was sent again\n%s", b.dump())
			}
			if b.states()[claimdlq.StateInDoubt] == 0 {
				t.Errorf("nothing is in doubt\n%s", b.dump())
			}
		})
	}
}

// The handing over may end at any commit: what follows finishes it.
func TestDeadLetter_ACrashWhileWhatIsHereBecomesInDoubt(t *testing.T) { // F38, promise 2
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			b := setup(t, "")
			file := oneBad(t)
			b.ingest(file)
			d := &dying{Store: b.st, left: n, after: after}
			b.deps.Store = d
			b.assemble()
			_, err := b.f.Intake.DeadLetter(t.Context(), source, bytes.NewReader(file), timedOut)
			b.deps.Store = b.st
			b.restart()
			if err == nil && !d.dead {
				if n < 4 {
					t.Fatalf("%d commits", n)
				}
				break
			}
			b.gives(file)
			b.claimsAre(map[claimdlq.State]int64{claimdlq.StateInDoubt: 3})
			b.stays()
			b.ack(b.target.post(file))
			if got := b.states()[claimdlq.StateInDoubt]; got != 0 {
				t.Fatalf("crash at %d: %s", n, b.dump())
			}
			b.noDouble()
		}
	}
}

// One claim under two numbers: ours, and what another pipeline may have sent. While either
// may be with the payer the other stays, whoever the claim belongs to.
func TestDeadLetter_AnAmbiguousClaimUnderOtherNumbersKeepsARejectedOneBack(t *testing.T) { // promise 2
	t.Parallel()
	for name, before := range map[string]func(*bench){
		"submitted": func(*bench) {},
		"in doubt": func(b *bench) {
			b.clock.pass(30 * 24 * time.Hour)
			if n, err := b.f.Settle.Overdue(b.t.Context()); n != 1 || err != nil {
				b.t.Fatalf("%d are in doubt: %v", n, err)
			}
		},
	} {
		for _, arrived := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", it arrived: ", arrived), func(t *testing.T) {
				t.Parallel()
				b := setup(t, "claim 1 stc A7:562:85")
				b.ingest(generate(t, testclaims.Options{Claims: 1}))
				b.drain()
				before(b)
				other := generate(t, testclaims.Options{Claims: 1, ISA13: 2, GS06: 2})
				if res := b.gives(other); res.InDoubt != 1 {
					t.Fatalf("got %+v\n%s", res, b.dump())
				}
				b.acks() // ours is rejected
				if r := b.record(1); r.State != claimdlq.StateQuarantined || b.record(2).State != claimdlq.StateInDoubt {
					t.Fatal(b.dump())
				}
				if res := b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 3, GS06: 3})); res.Quarantined != 1 {
					t.Errorf("in a new file: %+v\n%s", res, b.dump())
				}
				_, err := b.f.Retain.Park(t.Context(), ana, 2)
				b.must(err)
				b.deps.Identities = []*claimdlq.Identity{identity(2), identity(1)}
				for range 2 {
					b.restart()
					if got := b.replay(1, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
						t.Errorf("a replay is %s", got)
					}
					if b.record(2).State == claimdlq.StateParked {
						_, err = b.f.Retain.Unpark(t.Context(), ana, 2)
						b.must(err)
					}
				}
				want := claimdlq.Replayed
				if arrived {
					want = claimdlq.DuplicateSuppressed
					b.ack(b.target.post(other))
				} else {
					_, err := b.f.Settle.Resolve(t.Context(), ana, 2, false)
					b.must(err)
				}
				if got := b.replay(1, replay.Options{Unchanged: true}); got != want {
					t.Errorf("a replay is %s, want %s\n%s", got, want, b.dump())
				}
				if got := b.replay(2, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
					t.Errorf("a replay of the other is %s\n%s", got, b.dump())
				}
				b.drain()
				b.noDouble()
			})
		}
	}
}

// The other pipeline's set is decided claim by claim: what it says of one does not stand
// for another.
func TestDeadLetter_AnAmbiguousSetUnderOtherNumbersThatIsDividedFreesWhatWasRejected(t *testing.T) {
	t.Parallel()
	b := setup(t, "claim 1-2 stc A7:562:85")
	b.ingest(generate(t, testclaims.Options{Claims: 1, ClaimsPerSet: 1}))
	b.drain()
	other := generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3, ISA13: 2, GS06: 2})
	b.gives(other)
	b.acks()
	if got := b.replay(1, replay.Options{Unchanged: true}); got != claimdlq.InDoubtFirst {
		t.Errorf("a replay is %s\n%s", got, b.dump())
	}
	b.ack(b.target.post(other)) // its first claim is rejected
	if b.record(4).State != claimdlq.StateQuarantined || b.record(2).State != claimdlq.StateSettled {
		t.Fatal(b.dump())
	}
	if got := b.replay(1, replay.Options{Unchanged: true}); got != claimdlq.Replayed {
		t.Errorf("a replay is %s\n%s", got, b.dump())
	}
	if got := b.replay(4, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
		t.Errorf("a replay of the other is %s\n%s", got, b.dump())
	}
	b.drain()
	b.acks()
	if b.accepted() != 3 {
		t.Errorf("the payer has %d claims\n%s", b.accepted(), b.dump())
	}
	b.noDouble()
}

// "Not now" to one of two numbers says nothing of the other.
func TestAcks_NotNowToOneOfTwoNumbersSendsNothingAgain(t *testing.T) { // promise 2
	t.Parallel()
	for _, script := range []string{"claim 1 stc E2:0", "claim 2 stc E2:0", "interchange 1 ta1 R 023", "interchange 2 ta1 R 023"} {
		for _, overdue := range []bool{false, true} {
			t.Run(fmt.Sprint(script, ", overdue: ", overdue), func(t *testing.T) {
				t.Parallel()
				b := setup(t, script)
				b.ingest(generate(t, testclaims.Options{Claims: 1}))
				b.drain()
				if overdue {
					b.clock.pass(30 * 24 * time.Hour)
					_, err := b.f.Settle.Overdue(t.Context())
					b.must(err)
				}
				other := generate(t, testclaims.Options{Claims: 1, ISA13: 2, GS06: 2})
				b.gives(other)
				answer := b.target.post(other)
				b.acks()
				b.ack(answer)
				n := len(b.target.sent)
				b.clock.pass(time.Hour)
				b.drain()
				if len(b.target.sent) != n {
					t.Errorf("it was sent again\n%s", b.dump())
				}
				for id := range claimdlq.ID(2) {
					if r := b.record(id + 1); r.State != claimdlq.StateSettled {
						if got := b.replay(id+1, replay.Options{Unchanged: true}); got == claimdlq.Replayed {
							t.Errorf("record %d is replayed", id+1)
						}
					}
				}
				b.drain()
				b.noDouble()
			})
		}
	}
}

// A claim that parted and is final cannot keep the doubt that another pipeline may have
// sent it with its set: the set does.
func TestDeadLetter_AnAmbiguousSetKeepsTheDoubtOfAClaimThatPartedAndIsFinal(t *testing.T) { // promise 2
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		file   func(*testing.T) []byte
		before func(*bench)
	}{
		"held at intake": {file: oneBad, before: func(*bench) {}},
		"rejected by the payer": {
			script: "claim 2 stc A7:562:85\nclaim 1 stc A1:19\nclaim 3 stc A1:19",
			file:   func(t *testing.T) []byte { return generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3}) },
			before: func(b *bench) { b.drain(); b.acks() },
		},
	} {
		for _, arrived := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", it arrived: ", arrived), func(t *testing.T) {
				t.Parallel()
				b := setup(t, c.script)
				file := c.file(t)
				b.ingest(file)
				c.before(b)
				var parted claimdlq.Record
				for _, r := range b.list(store.Filter{State: claimdlq.StateQuarantined}) {
					parted = r
				}
				if parted.Scope != claimdlq.ScopeClaim || parted.Ordinal != 2 {
					t.Fatal(b.dump())
				}
				_, err := b.f.Retain.Withdraw(t.Context(), ana, parted.ID)
				b.must(err)
				for range 2 {
					b.gives(file)
					b.restart()
				}
				if b.record(1).State != claimdlq.StateInDoubt {
					t.Fatal(b.dump())
				}
				again := generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 1, ISA13: 5, GS06: 5})
				if res := b.ingest(again); res.Quarantined != 3 {
					t.Errorf("in a new file: %+v\n%s", res, b.dump())
				}
				if !arrived {
					_, err := b.f.Settle.Resolve(t.Context(), ana, 1, false)
					b.must(err)
					again = generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 1, ISA13: 6, GS06: 6})
					if res := b.ingest(again); res.Accepted != 3 {
						t.Errorf("in a new file after all: %+v\n%s", res, b.dump())
					}
				}
			})
		}
	}
}

// What would be sent again as its own inquiry waits too: the payer may not know it, and
// have the other.
func TestDeadLetter_AnAmbiguousClaimUnderOtherNumbersStopsAnIdenticalReSend(t *testing.T) { // promise 2
	t.Parallel()
	b := setup(t, "")
	b.target.idempotent, b.target.plan = true, []mode{lost}
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	if r := b.record(1); r.State != claimdlq.StateQueued || !r.FateUnknown {
		t.Fatal(b.dump())
	}
	other := generate(t, testclaims.Options{Claims: 1, ISA13: 2, GS06: 2})
	b.gives(other)
	answer := b.target.post(other)
	b.clock.pass(time.Hour)
	b.stays()
	b.ack(answer)
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateInDoubt: 1, claimdlq.StateSettled: 1})
	_, err := b.f.Settle.Resolve(t.Context(), ana, 1, false)
	b.must(err)
	if got := b.replay(1, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Errorf("a replay is %s\n%s", got, b.dump())
	}
	b.drain()
	b.noDouble()
}
