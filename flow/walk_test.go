package flow_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// walk is a flow whose sources, payer, people and process do anything in any order.
type walk struct {
	*bench
	rt      *rapid.T
	files   [][]byte
	answers [][]byte
	dying   *dying
	others  bool // another pipeline has used a number of ours
}

// TestWalk_WhateverHappensClaimsAreConservedAndNoneIsAcceptedTwice checks
// promises 2, 3, 4 and 9 after every step of a random walk with crashes.
func TestWalk_WhateverHappensClaimsAreConservedAndNoneIsAcceptedTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		script := fmt.Sprintf("seed %d\nclaim 20%% stc A7:562\nclaim 8%% stc E2:0\nset 10%% reject 5\ninterchange 8%% ta1 R 022\ninterchange 8%% ta1 R 023",
			rapid.IntRange(1, 1000).Draw(rt, "seed"))
		w := &walk{bench: setup(t, script), rt: rt}
		w.dying = &dying{Store: w.st, left: 1 << 30}
		w.deps.Store = w.dying
		w.assemble()
		for range rapid.IntRange(5, 30).Draw(rt, "steps") {
			w.step()
			w.check()
		}
	})
}

func (w *walk) step() {
	steps := []struct {
		name string
		do   func() error
	}{
		{"new file", w.newFile},
		{"redelivery", w.redeliver},
		{"another pipeline", w.another},
		{"drain", w.deliver},
		{"drain", w.deliver},
		{"acknowledgment", w.acknowledge},
		{"acknowledgment", w.acknowledge},
		{"correct", w.correctAll},
		{"replay", w.replayAny},
		{"withdraw", w.person(func(id claimdlq.ID) error { _, err := w.f.Retain.Withdraw(w.t.Context(), ana, id); return err })},
		{"park", w.person(func(id claimdlq.ID) error { _, err := w.f.Retain.Park(w.t.Context(), ana, id); return err })},
		{"unpark", w.person(func(id claimdlq.ID) error { _, err := w.f.Retain.Unpark(w.t.Context(), ana, id); return err })},
		{"resolve", w.resolve},
		{"overdue", w.overdue},
		{"expire", w.expire},
	}
	i := rapid.IntRange(0, len(steps)-1).Draw(w.rt, "step")
	if rapid.IntRange(0, 5).Draw(w.rt, "dies") == 0 {
		w.dying.left, w.dying.after = rapid.IntRange(1, 6).Draw(w.rt, "commit"), rapid.Bool().Draw(w.rt, "after")
	}
	err := steps[i].do()
	w.answers = append(w.answers, w.target.take()...)
	if w.dying.dead {
		w.dying.dead = false
		w.dying.left = 1 << 30
		w.restart()
		return
	}
	w.dying.left = 1 << 30
	if err != nil && !errors.Is(err, claimdlq.Refused) {
		w.rt.Fatalf("%s: %v", steps[i].name, err)
	}
}

func (w *walk) newFile() error {
	n := len(w.files) + 1
	claims := rapid.IntRange(1, 9).Draw(w.rt, "claims")
	o := testclaims.Options{
		Claims: claims, ClaimsPerSet: rapid.IntRange(1, 3).Draw(w.rt, "per set"), SetsPerGroup: 2,
		GroupsPerInterchange: 2, ISA13: uint32(n * 10), GS06: uint32(n * 10), FirstClaim: n * 100, Seed: uint64(n),
	}
	if fault := rapid.SampledFrom([]string{"", "npi-check-digit", "se01-low", "ge02", "iea02", "truncated"}).Draw(w.rt, "fault"); fault != "" {
		o.Faults = []testclaims.Fault{{Name: fault, At: []int{1}}}
	}
	w.files = append(w.files, generate(w.t, o))
	return w.give(n - 1)
}

func (w *walk) redeliver() error {
	if len(w.files) == 0 {
		return nil
	}
	return w.give(rapid.IntRange(0, len(w.files)-1).Draw(w.rt, "file"))
}

// another is a pipeline that has sent a file, does not learn whether it arrived, and gives
// it up. It may arrive yet, unless the payer has some of it.
func (w *walk) another() error {
	if len(w.files) == 0 {
		return nil
	}
	file := w.files[rapid.IntRange(0, len(w.files)-1).Draw(w.rt, "given up")]
	arrives := rapid.Bool().Draw(w.rt, "arrives")
	if _, err := w.f.Intake.DeadLetter(w.t.Context(), source, reader(file), timedOut); err != nil {
		return err
	}
	if arrives && !w.payerHasSome(file) {
		w.others = true
		for _, interchange := range bytes.Split(file, []byte("ISA*"))[1:] {
			w.target.taken = append(w.target.taken, append([]byte("ISA*"), interchange...))
		}
		w.answers = append(w.answers, w.target.post(file))
	}
	return nil
}

// payerHasSome reports whether a claim of the file reached the payer, under any number.
func (w *walk) payerHasSome(file []byte) bool {
	for _, claim := range bytes.Split(file, []byte("CLM*"))[1:] {
		id := append([]byte("CLM*"), claim[:bytes.IndexByte(claim, '*')+1]...)
		if slices.ContainsFunc(w.target.taken, func(sent []byte) bool { return bytes.Contains(sent, id) }) {
			return true
		}
	}
	return false
}

func (w *walk) give(i int) error {
	_, err := w.f.Intake.File(w.t.Context(), source, "TEST", reader(w.files[i]))
	return err
}

func (w *walk) deliver() error {
	w.target.plan = rapid.SliceOfN(rapid.SampledFrom([]mode{accept, accept, drop, lost, busy, refused, notFound}), 0, 3).Draw(w.rt, "target")
	_, err := w.f.Attempt.Drain(w.t.Context())
	w.target.plan = nil
	w.clock.pass(time.Minute)
	return err
}

func (w *walk) acknowledge() error {
	if len(w.answers) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(w.answers)-1).Draw(w.rt, "answer")
	_, err := w.f.Settle.Acks(w.t.Context(), source, "TEST", reader(w.answers[i]))
	return err
}

func (w *walk) any() (claimdlq.Record, bool) {
	rs := w.list(store.Filter{Stream: "837"})
	if len(rs) == 0 {
		return claimdlq.Record{}, false
	}
	return rs[rapid.IntRange(0, len(rs)-1).Draw(w.rt, "record")], true
}

func (w *walk) person(act func(claimdlq.ID) error) func() error {
	return func() error {
		r, ok := w.any()
		if !ok {
			return nil
		}
		return act(r.ID)
	}
}

func (w *walk) replayAny() error {
	r, ok := w.any()
	if !ok {
		return nil
	}
	_, _, err := w.f.Replay.One(w.t.Context(), ana, r.ID, replay.Options{Unchanged: rapid.Bool().Draw(w.rt, "unchanged")})
	return err
}

// resolve says the truth: whether the payer has the interchange.
func (w *walk) resolve() error {
	rs := w.list(store.Filter{State: claimdlq.StateInDoubt})
	if len(rs) == 0 {
		return nil
	}
	r := rs[rapid.IntRange(0, len(rs)-1).Draw(w.rt, "doubt")]
	if r.Submission == 0 { // a crash has cut its handing over short: it comes again
		return nil
	}
	s, err := w.st.Submission(w.t.Context(), r.Submission)
	w.must(err)
	_, err = w.f.Settle.Resolve(w.t.Context(), ana, r.ID, w.payerHas(s))
	return err
}

func (w *walk) overdue() error {
	w.clock.pass(3 * day)
	_, err := w.f.Settle.Overdue(w.t.Context())
	return err
}

func (w *walk) expire() error {
	w.clock.pass(4 * day)
	_, err := w.f.Retain.Expire(w.t.Context())
	return err
}

// check is what must hold after every step.
func (w *walk) check() {
	st, err := w.st.Stats(w.t.Context())
	w.must(err)
	var sum int64
	for _, n := range st.ByState {
		sum += n
	}
	if sum != st.Received {
		w.rt.Fatalf("received %d claims, have %d", st.Received, sum)
	}
	if s := w.payer.Stats(); s.DoubleAccepted+s.RepeatedCLM01 > 0 || s.DuplicateInterchanges > 0 && !w.others {
		w.rt.Fatalf("the payer: %+v\n%s", s, w.dump())
	}
	p := w.deps.Policies.For("837")
	for _, r := range w.list(store.Filter{Stream: "837"}) {
		switch {
		case r.ReceiveCount > p.MaxReceive:
			w.rt.Fatalf("record %s was delivered %d times\n%s", r.ID, r.ReceiveCount, w.dump())
		case r.ReplayCount > p.ReplayCap+r.Unparked:
			w.rt.Fatalf("record %s was replayed %d times\n%s", r.ID, r.ReplayCount, w.dump())
		case r.State == claimdlq.StateLeased:
			w.rt.Fatalf("record %s is leased and nobody works on it", r.ID)
		}
	}
}
