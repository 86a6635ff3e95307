package flow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/correct"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/payersim"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

// rxWalk is a pharmacy flow whose source, payer, network and people do anything in
// any order. People do not lie: what is in doubt they write off, but do not resolve.
type rxWalk struct {
	*rxBench
	rt      *rapid.T
	line    *line
	seen    map[claimdlq.ID]claimdlq.Record
	overdue map[claimdlq.ID]uint32 // replays of a billing when its reversal was accepted
}

// line is the network before the payer. It fails as planned, and knows what the payer
// has: new bytes for a claim that the payer has paid are a claim billed twice.
type line struct {
	payer *payersim.Payer

	mu     sync.Mutex
	plan   []mode
	sent   map[string]bool
	lost   [][]byte // answers that nobody has seen
	broken []string
}

func (l *line) Name() string { return "line" }

func (l *line) Inquire(context.Context, target.Parcel) (claimdlq.Outcome, bool) {
	return claimdlq.Outcome{}, false
}

func (l *line) Deliver(_ context.Context, p target.Parcel) target.Delivery {
	b, err := content(p)
	if err != nil {
		return transient("TEST_CONTENT", false)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := accept
	if len(l.plan) > 0 {
		m, l.plan = l.plan[0], l.plan[1:]
	}
	if msg := ncpdp.Parse(b); string(msg.TransactionCode()) == "B1" && !l.sent[string(b)] {
		refill, _ := msg.Get(1, ncpdp.IDOf("07"), ncpdp.IDOf("D3"))
		for _, f := range l.payer.Fills() {
			if f.State != "reversed" && number(f.Rx) == number(string(msg.RxOf(1))) && number(f.Fill) == number(string(refill)) {
				l.broken = append(l.broken, "a claim that the payer has was billed anew")
			}
		}
	}
	l.sent[string(b)] = true
	switch m {
	case refused:
		return transient("CONNECT_REFUSED", false)
	case lost:
		return transient("TIMEOUT", true)
	case drop:
		l.lost = append(l.lost, l.payer.Adjudicate(b))
		return transient("TIMEOUT", true)
	case accept, busy, notFound:
	}
	return paid(l.payer.Adjudicate(b))
}

// TestRxWalk_WhateverHappensNoClaimIsLostOrBilledTwice checks promises 2, 3, 4 and 9 and
// the guard (F10-F18) after every step of a random walk.
func TestRxWalk_WhateverHappensNoClaimIsLostOrBilledTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		// What it says of a claim it says again, until it takes it: a payer that refuses
		// what it has paid is nobody's guard's business.
		var script string
		for n := 1; n <= 2; n++ {
			if says := rapid.SampledFrom([]string{"", "reject R8", "reject 70", "reject 92", "capture"}).Draw(rt, "says"); says != "" {
				script += fmt.Sprintf("claim rx=%d %s tries %d\n", n, says, rapid.IntRange(1, 7).Draw(rt, "tries"))
			}
		}
		w := &rxWalk{rt: rt, line: &line{sent: map[string]bool{}}, seen: map[claimdlq.ID]claimdlq.Record{}, overdue: map[claimdlq.ID]uint32{}}
		w.rxBench = rxSetup(t, script, func(d *flow.Deps) {
			d.Routes = func(string, string) (target.Route, bool) {
				return target.Route{Target: w.line, IdempotentResend: true}, true
			}
			d.Workers = 1
		})
		w.line.payer = w.payer
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			w.step()
			w.check()
		}
	})
}

func (w *rxWalk) step() {
	steps := []struct {
		name string
		do   func() error
	}{
		{"claim", w.claim},
		{"claim", w.claim},
		{"deliver", w.deliver},
		{"deliver", w.deliver},
		{"late answer", w.late},
		{"inquire", w.ask},
		{"correct", w.correct},
		{"replay", w.replayOne},
		{"replay", w.replayOne},
		{"select", w.selectAll},
		{"park", w.act(func(id claimdlq.ID) error { _, err := w.f.Retain.Park(w.t.Context(), ana, id); return err })},
		{"unpark", w.act(func(id claimdlq.ID) error { _, err := w.f.Retain.Unpark(w.t.Context(), ana, id); return err })},
		{"withdraw", w.withdraw},
		{"restart", func() error { w.restart(); return nil }},
	}
	i := rapid.IntRange(0, len(steps)-1).Draw(w.rt, "step")
	err := steps[i].do()
	if err != nil && !errors.Is(err, claimdlq.Refused) && !errors.Is(err, claimdlq.Invalid) {
		w.rt.Fatalf("%s: %v\n%s", steps[i].name, err, w.dump())
	}
}

// claim brings a billing, one of two spellings, or its reversal.
func (w *rxWalk) claim() error {
	n := rapid.IntRange(1, 2).Draw(w.rt, "fill")
	raw := rxOne(w.t, "B1", n)
	switch rapid.IntRange(0, 3).Draw(w.rt, "what") {
	case 0:
		raw = rxOne(w.t, "B2", n)
	case 1:
		raw = rxSet(w.t, raw, "07-D5=017")
	}
	_, err := w.f.Intake.Message(w.t.Context(), source, phi.Wrap(raw), intake.MessageOptions{})
	return err
}

func (w *rxWalk) deliver() error {
	modes := []mode{accept, accept, accept, refused, lost, drop}
	w.line.plan = nil
	for range rapid.IntRange(0, 4).Draw(w.rt, "faults") {
		w.line.plan = append(w.line.plan, modes[rapid.IntRange(0, len(modes)-1).Draw(w.rt, "fault")])
	}
	w.clock.pass(time.Duration(rapid.IntRange(0, 200).Draw(w.rt, "wait")) * time.Second)
	_, err := w.f.Attempt.Drain(w.t.Context())
	return err
}

// late gives one of the answers that were lost, maybe for the second time.
func (w *rxWalk) late() error {
	if len(w.line.lost) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(w.line.lost)-1).Draw(w.rt, "answer")
	if w.line.lost[i] == nil {
		return nil
	}
	_, err := w.f.Settle.Acks(w.t.Context(), source, "", bytes.NewReader(w.line.lost[i]))
	return err
}

func (w *rxWalk) ask() error {
	_, err := w.f.Settle.InquireAll(w.t.Context(), ana, store.Filter{})
	return err
}

// any draws a claim's record.
func (w *rxWalk) any() (claimdlq.Record, bool) {
	rs := w.list(store.Filter{Stream: claimdlq.StreamNCPDP})
	if len(rs) == 0 {
		return claimdlq.Record{}, false
	}
	return rs[rapid.IntRange(0, len(rs)-1).Draw(w.rt, "record")], true
}

func (w *rxWalk) act(do func(claimdlq.ID) error) func() error {
	return func() error {
		r, ok := w.any()
		if !ok {
			return nil
		}
		return do(r.ID)
	}
}

func (w *rxWalk) withdraw() error {
	r, ok := w.any()
	if !ok || r.FateUnknown && ncpdp.IsReversal([]byte(r.TransactionID)) {
		return nil // a reversal that the payer of this test has captured looks like a claim there
	}
	_, err := w.f.Retain.Withdraw(w.t.Context(), ana, r.ID)
	return err
}

func (w *rxWalk) correct() error {
	r, ok := w.any()
	if !ok {
		return nil
	}
	doc, err := w.f.Correct.Document(w.t.Context(), ana, r.ID)
	if err != nil {
		return err
	}
	days := fmt.Sprintf("07-D3=%02d", rapid.IntRange(1, 3).Draw(w.rt, "refill")) // the claim's own identity
	if rapid.Bool().Draw(w.rt, "days") || ncpdp.IsReversal([]byte(r.TransactionID)) {
		days = fmt.Sprintf("04-C1=GRP%d", rapid.IntRange(1, 3).Draw(w.rt, "group"))
	}
	var p correct.Proposal
	if p, err = w.f.Correct.Propose(w.t.Context(), ana, r.ID, phi.Wrap(rxSet(w.t, doc.Reveal(), days))); err != nil {
		return err
	}
	_, err = w.f.Correct.Apply(w.t.Context(), ana, p)
	return err
}

// replayOne replays a record and checks the guard's answer against what it was.
func (w *rxWalk) replayOne() error {
	r, ok := w.any()
	if !ok {
		return nil
	}
	o := replay.Options{Unchanged: rapid.Bool().Draw(w.rt, "unchanged")}
	got, n, err := w.f.Replay.One(w.t.Context(), ana, r.ID, o)
	if err != nil {
		return err
	}
	limit := w.deps.Policies.For(r.Stream).ReplayCap + r.Unparked
	switch got {
	case claimdlq.Replayed:
		needless := r.Reason == claimdlq.RetriesExhausted || r.PayloadRevision > r.RefusedRevision || o.Unchanged || r.Submission == 0
		if r.State != claimdlq.StateQuarantined || r.FateUnknown || r.ReplayCount >= limit || !needless || n.ReplayCount != r.ReplayCount+1 {
			w.rt.Fatalf("released although it is %+v", r)
		}
	case claimdlq.DuplicateSuppressed, claimdlq.NotCorrected:
		if n.State != r.State || n.ReplayCount != r.ReplayCount {
			w.rt.Fatalf("a refusal moved it to %s", n.State)
		}
	case claimdlq.ParkedAtCap:
		if n.State != claimdlq.StateParked || r.State != claimdlq.StateParked && r.ReplayCount < limit {
			w.rt.Fatalf("parked at %d of %d: %s", r.ReplayCount, limit, n.State)
		}
	case claimdlq.InDoubtFirst, claimdlq.ReplayNotFound:
	}
	return nil
}

func (w *rxWalk) selectAll() error {
	_, err := w.f.Replay.Select(w.t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP, State: claimdlq.StateQuarantined}, replay.Options{
		Unchanged: rapid.Bool().Draw(w.rt, "unchanged"), DryRun: rapid.IntRange(0, 3).Draw(w.rt, "dry") == 0,
	})
	return err
}

func (w *rxWalk) check() {
	w.conserved()
	if len(w.line.broken) > 0 {
		w.rt.Fatalf("%v\n%s", w.line.broken, w.dump())
	}
	if d := w.payer.DoubleFills(); len(d) > 0 {
		w.rt.Fatalf("the payer paid %d fills twice\n%s", len(d), w.dump())
	}
	policy := w.deps.Policies.For(claimdlq.StreamNCPDP)
	rs := w.list(store.Filter{Stream: claimdlq.StreamNCPDP})
	for _, r := range rs {
		was := w.seen[r.ID]
		w.seen[r.ID] = r
		if r.ReceiveCount > policy.MaxReceive || r.ReplayCount > policy.ReplayCap+r.Unparked || r.AttemptCount < was.AttemptCount || r.ReplayCount < was.ReplayCount {
			w.rt.Fatalf("counts of %d: %+v", r.ID, r)
		}
		if r.State.Unresolved() && w.v.Verify(w.t.Context(), r.Payload) != nil {
			w.rt.Fatalf("record %d has no payload", r.ID)
		}
		if n, ok := w.overdue[r.ID]; ok && r.ReplayCount != n {
			w.rt.Fatalf("record %d was replayed after its reversal had been accepted\n%s", r.ID, w.dump())
		}
	}
	for _, back := range rs {
		if back.TransactionID != "B2" || back.State != claimdlq.StateSettled || back.Disposition != claimdlq.Reversed {
			continue
		}
		for _, r := range rs {
			if r.TransactionID == "B1" && r.Batch == back.Batch && r.ID < back.ID {
				if _, ok := w.overdue[r.ID]; !ok {
					w.overdue[r.ID] = r.ReplayCount
				}
			}
		}
	}
}

// number takes the leading zeros off.
func number(s string) string { return strings.TrimLeft(s, "0") }
