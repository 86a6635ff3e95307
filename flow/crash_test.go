package flow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/x12"
)

// dying is a store whose process dies at one of its commits: before it is durable,
// or after it and before anybody hears of it. From then on it does nothing.
type dying struct {
	store.Store
	left  int // commits until death
	after bool
	dead  bool
}

var errDead = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "TEST death"}

func (d *dying) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if d.dead {
		return store.Receipt{}, errDead
	}
	d.left--
	if d.left > 0 {
		return d.Store.Commit(ctx, b)
	}
	d.dead = true
	if d.after {
		if _, err := d.Store.Commit(ctx, b); err != nil {
			return store.Receipt{}, err
		}
	}
	return store.Receipt{}, errDead
}

func (d *dying) NextControl(ctx context.Context, lane string, n int) (uint32, error) {
	if d.dead {
		return 0, errDead
	}
	return d.Store.NextControl(ctx, lane, n)
}

// TestCrash_AtEveryCommitOfAClaimsLifeNothingIsLostAndNothingIsSentTwice kills
// the process before and after each commit of a whole life, restarts it, and
// lets people and sources do again what they were not told had worked.
func TestCrash_AtEveryCommitOfAClaimsLifeNothingIsLostAndNothingIsSentTwice(t *testing.T) { // promises 1, 2, 9; F44
	t.Parallel()
	points := 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			if !crashAt(t, n, after) {
				break
			}
			points++
		}
	}
	if points < 40 {
		t.Errorf("only %d points", points)
	}
}

// crashAt runs the life with a death at the nth commit and reports whether it
// came to that.
func crashAt(t *testing.T, n int, after bool) bool {
	t.Helper()
	b := setup(t, "claim 1 stc A7:562\nclaim 2 stc E2:0")
	good := b.st
	d := &dying{Store: good, left: n, after: after}
	b.deps.Store = d
	b.assemble()
	file := generate(t, testclaims.Options{Claims: 8, ClaimsPerSet: 4, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{3}}}})
	var answers [][]byte
	died := false
	for round := range 12 {
		alive := b.liveOnce(file, &answers)
		if d.dead { // restart
			died, d.dead, d.left = true, false, 1<<30
			b.restart()
			continue
		}
		if alive && b.states()[claimdlq.StateSettled] == 8 {
			break
		}
		if round == 11 {
			t.Errorf("death at commit %d (after %v): never settled\n%s", n, after, b.dump())
		}
	}
	b.conserved()
	if s := b.payer.Stats(); s.DoubleAccepted+s.RepeatedCLM01 > 0 || s.Accepted != 8 {
		t.Errorf("death at commit %d (after %v): %+v\n%s", n, after, s, b.dump())
	}
	return died
}

// liveOnce does everything there is to do once, stopping at the first failure.
func (b *bench) liveOnce(file []byte, answers *[][]byte) bool {
	b.t.Helper()
	ctx := b.t.Context()
	_, err := b.f.Intake.File(ctx, source, "TEST", bytes.NewReader(file))
	for range 4 {
		if err == nil {
			_, err = b.f.Attempt.Drain(ctx)
		}
		*answers = append(*answers, b.target.take()...)
		for _, a := range *answers {
			if err == nil {
				_, err = b.f.Settle.Acks(ctx, source, "TEST", bytes.NewReader(a))
			}
		}
		if err == nil {
			err = b.resolveAll()
		}
		if err == nil {
			err = b.correctAll()
		}
		b.clock.pass(time.Minute)
	}
	if err != nil && !errors.Is(err, claimdlq.Unavailable) {
		b.t.Fatal(err)
	}
	return err == nil
}

// resolveAll is a person who has asked the payer, after every acknowledgment there
// is, about what is still in doubt.
func (b *bench) resolveAll() error {
	for _, r := range b.list(store.Filter{State: claimdlq.StateInDoubt}) {
		if r = b.record(r.ID); r.State != claimdlq.StateInDoubt {
			continue // in the same interchange as one before
		}
		s, err := b.st.Submission(b.t.Context(), r.Submission)
		b.must(err)
		if _, err := b.f.Settle.Resolve(b.t.Context(), ana, r.ID, b.payerHas(s)); err != nil {
			return err
		}
	}
	return nil
}

// payerHas reports whether some delivery of the submission reached the payer.
func (b *bench) payerHas(s claimdlq.Submission) bool {
	b.target.mu.Lock()
	defer b.target.mu.Unlock()
	for _, file := range b.target.taken {
		if h, _ := x12.ParseISA(file); h.Number == s.ISA13 {
			return true
		}
	}
	return false
}

// correctAll corrects and replays whatever is quarantined, as a person would who
// is not told whether the last try worked.
func (b *bench) correctAll() error {
	ctx := b.t.Context()
	for _, r := range b.list(store.Filter{State: claimdlq.StateQuarantined, Stream: "837"}) {
		result, _, err := b.f.Replay.One(ctx, ana, r.ID, replay.Options{})
		if err != nil {
			return err
		}
		if result != claimdlq.NotCorrected {
			continue
		}
		doc, err := b.f.Correct.Document(ctx, ana, r.ID)
		if err != nil {
			return err
		}
		a, err := x12.ParseAssignment(goodNPI(uint64(r.PayloadRevision)*100 + uint64(r.ID)))
		if err != nil {
			return err
		}
		edited, err := x12.Edit(doc.Reveal(), []x12.Assignment{a})
		if err != nil {
			continue // nothing that this person knows how to correct
		}
		p, err := b.f.Correct.Propose(ctx, ana, r.ID, phi.Wrap(edited))
		if errors.Is(err, claimdlq.Refused) || err == nil && !p.Clean {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := b.f.Correct.Apply(ctx, ana, p); err != nil {
			return err
		}
		if _, _, err := b.f.Replay.One(ctx, ana, r.ID, replay.Options{}); err != nil {
			return err
		}
	}
	return nil
}

func TestCrash_DuringIntakeOfManyBatches(t *testing.T) { // promise 1
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; n < 8; n++ {
			t.Run(fmt.Sprintf("commit %d, after %v", n, after), func(t *testing.T) {
				t.Parallel()
				b := setup(t, "")
				d := &dying{Store: b.st, left: n, after: after}
				b.deps.Store = d
				b.assemble()
				file := generate(t, testclaims.Options{Claims: 240, ClaimsPerSet: 2, SetsPerGroup: 60, Faults: []testclaims.Fault{{Name: "ge02", At: []int{2}}}})
				for range 3 {
					if _, err := b.f.Intake.File(t.Context(), source, "TEST", bytes.NewReader(file)); err == nil {
						break
					}
					d.dead, d.left = false, 1<<30
					b.restart()
					b.drain()
				}
				d.left = 1 << 30
				b.drain()
				b.acks()
				b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 120, claimdlq.StateQuarantined: 120})
				b.noDouble()
			})
		}
	}
}
