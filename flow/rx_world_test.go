package flow_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/flow/intake"
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/target"
	"claimdlq/vault/memvault"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// rxWorld is pharmacies, another pipeline, people, a payer and a process of ours that may
// die, all at once. The seed decides everything.
type rxWorld struct {
	*rxBench
	*scene
	books  *books
	texts  []text
	others []*handover
	links  map[claimdlq.ID][]*handover
}

// text is a transmission that somebody may send.
type text struct {
	name  string
	raw   []byte
	fills []int
}

// handover is a transmission that another pipeline may have sent and gives up in doubt.
type handover struct {
	tag    string
	raw    []byte
	answer []byte // which it hands on after its claim, or never
	done   bool
}

// worldFills are the transmissions of five fills: two that travel together or alone, a
// partial one and its completion, and one of another partner with the same numbers.
func worldTexts(t *testing.T) (texts []text, bills [][]byte) {
	t.Helper()
	plain := testclaims.RxOptions{Seed: 1, Claims: 2, TransactionsPer: 2, CompoundEvery: -1, COBEvery: -1, PartialEvery: -1}
	of := func(o testclaims.RxOptions, code string) [][]byte {
		o.Code = code
		return rxMessages(t, o)
	}
	add := func(name string, raw []byte, fills ...int) {
		texts = append(texts, text{name, raw, fills})
	}
	cut := func(raw []byte, n int) []byte {
		b, err := ncpdp.Cut(ncpdp.Parse(bytes.Clone(raw)), n)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	both := of(plain, "B1")[0]
	again := of(plain, "B3")[0]
	back := of(plain, "B2")
	add("B1 0+1", both, 0, 1)
	for n := range 2 {
		one := cut(both, n+1)
		add(fmt.Sprint("B1 ", n), one, n)
		add(fmt.Sprint("B1' ", n), rxSet(t, one, "07-E7=90000"), n)
		c, fault := ncpdp.Parse(one).Claim(1)
		if fault != nil {
			t.Fatal(fault)
		}
		add(fmt.Sprint("B2 ", n), rxSet(t, bytes.Replace(back[n], ncpdp.Parse(back[n]).ServiceDate(), c.Date, 1), "04-C1="+string(c.Group), "04-C2="+string(c.Cardholder), "04-C3="+string(c.Person)), n)
		add(fmt.Sprint("B3 ", n), cut(again, n+1), n)
		bills = append(bills, one)
	}
	alone := plain
	alone.TransactionsPer, alone.Claims, alone.FirstClaim = 1, 1, 3
	for n, status := range []string{"P", "C"} {
		b1 := rxSet(t, of(alone, "B1")[0], "07-HD="+status)
		add(fmt.Sprint("B1 ", n+2), b1, n+2)
		add(fmt.Sprint("B2 ", n+2), rxSet(t, of(alone, "B2")[0], "07-HD="+status), n+2)
		bills = append(bills, b1)
	}
	alone.FirstClaim, alone.BIN = 1, "888888"
	b1 := of(alone, "B1")[0]
	add("B1 4", b1, 4)
	add("B2 4", of(alone, "B2")[0], 4)
	return texts, append(bills, b1)
}

func newRxWorld(t *testing.T, seed uint64, texts []text, bills [][]byte) *rxWorld {
	t.Helper()
	w := &rxWorld{scene: newScene(t, seed), links: map[claimdlq.ID][]*handover{}}
	w.world = w
	rng := w.rng
	w.books = newBooks(t, bills, []string{"84", "31"}[rng.IntN(2)])
	w.rxBench = &rxBench{&bench{t: t, log: &syncBuffer{}, clock: &clock{at: time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)}}}
	w.st, w.v = memstore.New(), memvault.New()
	for _, x := range texts {
		m := ncpdp.Parse(bytes.Clone(x.raw))
		for n, fill := range x.fills {
			if c, fault := m.Claim(n + 1); fault != nil || w.books.fillOf(&c) != fill {
				t.Fatalf("%s is about fill %d: %+v", x.name, w.books.fillOf(&c), c)
			}
		}
	}
	picked := map[int]bool{}
	for range 1 + rng.IntN(3) {
		picked[rng.IntN(len(bills))] = true
	}
	for _, x := range texts {
		if !slices.ContainsFunc(x.fills, func(f int) bool { return !picked[f] }) {
			w.texts = append(w.texts, x)
		}
	}
	w.live()
	return w
}

// live begins a process over what is durable.
func (w *rxWorld) live() {
	w.p = &process{Store: w.st, g: w.g}
	route := target.Route{Target: &wire{w.p, w.arrive}, IdempotentResend: w.seed%4 != 0}
	w.deps = flow.Deps{
		Store: w.p, Vault: w.v, Identities: w.identities(), Now: w.clock.now, Workers: 2, Rules: x12.LatestRules(), Log: slog.New(slog.DiscardHandler),
		Routes: func(string, string) (target.Route, bool) { return route, true },
	}
	w.assemble()
	w.must(w.f.Recover(w.t.Context()))
}

// something begins an act, or does what needs no time.
func (w *rxWorld) something(asks bool) {
	switch n := w.rng.IntN(40); {
	case n < 8:
		w.claim()
	case n < 11:
		w.otherSends()
	case n < 14:
		w.handOver()
	case n < 15:
		w.deadLetter()
	case n < 21:
		w.begin("drain", func(ctx context.Context) error {
			_, err := w.f.Attempt.Drain(ctx)
			return err
		})
	case n < 24:
		w.late()
	case n < 27:
		w.clock.pass([]time.Duration{time.Second, 10 * time.Second, time.Minute, time.Minute, time.Hour, 3 * day}[w.rng.IntN(6)])
	case n < 28:
		w.decide()
	case n < 29 && w.rng.IntN(2) == 0:
		w.crash()
	case n < 30:
		w.begin("overdue", func(ctx context.Context) error {
			_, err := w.f.Settle.Overdue(ctx)
			return err
		})
	default:
		w.person(asks)
	}
}

func (w *rxWorld) claim() {
	x := w.texts[w.rng.IntN(len(w.texts))]
	raws := []phi.Bytes{phi.Wrap(bytes.Clone(x.raw))}
	name := x.name
	if w.rng.IntN(4) == 0 {
		y := w.texts[w.rng.IntN(len(w.texts))]
		name, raws = name+", "+y.name, append(raws, phi.Wrap(bytes.Clone(y.raw)))
	}
	f := w.f
	w.begin("claim "+name, func(ctx context.Context) error {
		rs, err := f.Intake.Messages(ctx, source, raws, intake.MessageOptions{})
		for _, r := range rs {
			for _, r := range r.Records {
				w.note("   %s is %d, %s", name, r.ID, r.Status)
			}
		}
		return err
	})
}

// otherSends is another pipeline that sends a claim and does not learn what became of it.
func (w *rxWorld) otherSends() {
	x := w.texts[w.rng.IntN(len(w.texts))]
	h := &handover{tag: fmt.Sprint("other-", len(w.others)+1), raw: x.raw}
	w.others = append(w.others, h)
	arrives := w.rng.IntN(3) > 0
	w.say("another pipeline: %s %s, arrives %t", h.tag, x.name, arrives)
	if arrives {
		r := []ruling{allow, allow, allow, keep, refuse}[w.rng.IntN(5)]
		w.arrive(h.tag, bytes.Clone(x.raw), step{mode: drop, ruling: r})
		n := len(w.books.mail) - 1
		h.answer, w.books.mail = w.books.mail[n], w.books.mail[:n]
	}
	if w.rng.IntN(2) == 0 {
		w.handOver()
	}
}

func (w *rxWorld) handOver() {
	if len(w.others) == 0 {
		return
	}
	h := w.others[w.rng.IntN(len(w.others))]
	w.begin("handover "+h.tag, w.giving(h))
}

func (w *rxWorld) giving(h *handover) func(context.Context) error {
	f, attempts, handsOn := w.f, uint32(w.rng.IntN(4)), w.rng.IntN(3) == 0
	return func(ctx context.Context) error {
		res, err := f.Intake.DeadLetter(ctx, source, bytes.NewReader(h.raw), intake.DeadLetter{
			Class: claimdlq.Transient, Detail: claimdlq.NewDetail("TIMEOUT"), Attempts: attempts, Ambiguous: true,
		})
		w.g.mu.Lock()
		defer w.g.mu.Unlock()
		if err == nil && !h.done && h.answer != nil && handsOn { // an answer does not say which payer it is from
			w.books.mail = append(w.books.mail, h.answer)
		}
		h.done = h.done || err == nil
		for _, r := range res.Held {
			w.say("   %s is %d, %s %s", h.tag, r.ID, r.Status, r.State)
			if !slices.Contains(w.links[r.ID], h) {
				w.links[r.ID] = append(w.links[r.ID], h)
			}
		}
		return err
	}
}

// deadLetter is what another pipeline has certainly not sent.
func (w *rxWorld) deadLetter() {
	x := w.texts[w.rng.IntN(len(w.texts))]
	f, d := w.f, givenUp
	if w.rng.IntN(2) == 0 {
		d.Reason, d.Class, d.Detail = claimdlq.SemanticReject, claimdlq.Terminal, claimdlq.NewDetail("FB_70")
	}
	w.begin("dead letter "+x.name, func(ctx context.Context) error {
		_, err := f.Intake.DeadLetter(ctx, source, bytes.NewReader(x.raw), d)
		return err
	})
}

// late brings an answer that was lost, or one that has come before.
func (w *rxWorld) late() {
	from := w.books.mail
	if w.rng.IntN(4) == 0 {
		from = w.books.said
	}
	if len(from) == 0 {
		return
	}
	i := w.rng.IntN(len(from))
	w.give(i, from[i])
}

func (w *rxWorld) give(i int, answer []byte) {
	f := w.f
	w.begin(fmt.Sprint("late answer ", i), func(ctx context.Context) error {
		res, err := f.Settle.Acks(ctx, source, "", bytes.NewReader(answer))
		w.note("   answer %d: %+v", i, res)
		return err
	})
}

// decide is the payer that decides what it has captured.
func (w *rxWorld) decide() {
	i := w.rng.IntN(len(w.books.fills))
	w.books.settle(i, w.rng.IntN(3) > 0)
}

// claims returns the records of claims, oldest first.
func (w *rxWorld) claims() []claimdlq.Record {
	rs := w.list(store.Filter{})
	slices.Reverse(rs)
	return slices.DeleteFunc(rs, func(r claimdlq.Record) bool { return r.Batch == 0 || r.Format != claimdlq.FormatNCPDP })
}

// person picks a record and does something about it.
func (w *rxWorld) person(asks bool) {
	rs := w.claims()
	if len(rs) == 0 {
		return
	}
	r, f := rs[w.rng.IntN(len(rs))], w.f
	switch n := w.rng.IntN(20); {
	case n < 5 && !asks:
		w.begin(fmt.Sprint("inquire ", r.ID), func(ctx context.Context) error {
			_, _, err := f.Settle.Inquire(ctx, ana, r.ID)
			return err
		})
	case n < 8:
		w.resolve(r)
	case n < 12:
		o := replay.Options{Unchanged: w.rng.IntN(3) > 0, WrittenOff: w.rng.IntN(2) == 0 && !w.payerHolds(r)}
		w.replaying(f, r, o)
	case n < 13:
		o := replay.Options{Unchanged: w.rng.IntN(2) == 0}
		w.replayingAll(f, o)
	case n < 15:
		w.correcting(r)
	case n < 16:
		w.stepping("park", f.Retain.Park, r)
	case n < 18:
		w.stepping("unpark", f.Retain.Unpark, r)
	case n < 19:
		w.stepping("withdraw", f.Retain.Withdraw, r)
	}
}

func (w *rxWorld) correcting(r claimdlq.Record) {
	f, days := w.f, fmt.Sprintf("07-D5=%03d", 10+w.rng.IntN(3))
	w.begin(fmt.Sprint("correct ", r.ID), func(ctx context.Context) error {
		doc, err := f.Correct.Document(ctx, ana, r.ID)
		if err != nil {
			return err
		}
		as, err := ncpdp.ParseAssignment(days)
		if err != nil {
			return err
		}
		edited, err := ncpdp.Edit(doc.Reveal(), 1, []ncpdp.Assignment{as})
		if err != nil {
			return err
		}
		p, err := f.Correct.Propose(ctx, ana, r.ID, phi.Wrap(edited))
		if err != nil {
			return err
		}
		_, err = f.Correct.Apply(ctx, ana, p)
		return err
	})
}

func (w *rxWorld) resolve(r claimdlq.Record) {
	if r.State != claimdlq.StateInDoubt {
		return
	}
	f, truth := w.f, w.truth(r)
	w.begin(fmt.Sprintf("resolve %d %t", r.ID, truth), func(ctx context.Context) error {
		_, err := f.Settle.Resolve(ctx, ana, r.ID, truth)
		return err
	})
}

// tags are the transmissions that carried the record to the payer, or may have.
func (w *rxWorld) tags(r claimdlq.Record) (out []string) {
	if r.Submission != 0 {
		s, err := w.st.Submission(w.t.Context(), r.Submission)
		w.must(err)
		out = append(out, envelope.ParcelName(s))
	}
	for _, h := range w.links[r.ID] {
		out = append(out, h.tag)
	}
	return out
}

// truth is what the payer says of a transmission in doubt: that it has it, and that what
// it did stands.
func (w *rxWorld) truth(r claimdlq.Record) bool {
	w.books.mu.Lock()
	defer w.books.mu.Unlock()
	c, doc := w.claimOf(r)
	fill := w.books.fillOf(&c)
	has := slices.ContainsFunc(w.tags(r), func(tag string) bool { return w.books.has(tag, r, fill) })
	return has && w.books.fills[fill].stands(r.TransactionID, doc)
}

// payerHolds reports whether the payer has paid the fill, or may yet.
func (w *rxWorld) payerHolds(r claimdlq.Record) bool {
	b := w.books.fills[w.fill(r)]
	return b.paid || b.captured != nil
}

// fill returns which fill a record is about.
func (w *rxWorld) fill(r claimdlq.Record) int {
	c, _ := w.claimOf(r)
	return w.books.fillOf(&c)
}

// claimOf returns the record's claim and transaction.
func (w *rxWorld) claimOf(r claimdlq.Record) (ncpdp.Claim, []byte) {
	proof, err := audited.Open(w.t.Context(), w.st, ana, claimdlq.ActOpen, w.clock.now(), r)
	w.must(err)
	raw, err := w.v.Open(w.t.Context(), r.Payload, proof)
	w.must(err)
	doc, err := envelope.RxDocument(raw, r)
	w.must(err)
	c, fault := ncpdp.Parse(doc.Reveal()).Claim(1)
	if fault != nil {
		w.t.Fatal(fault)
	}
	return c, doc.Reveal()
}

// finish is the end of the day: everything is handed over, delivered, asked and answered.
func (w *rxWorld) finish() {
	w.wind()
	w.say("the end of the day")
	ctx := w.t.Context()
	for _, h := range w.others {
		if !h.done {
			if err := w.giving(h)(ctx); err != nil {
				w.t.Fatalf("seed %d: %s: %v\n%s", w.seed, h.tag, err, w.story())
			}
		}
	}
	for round := 0; round < 60 && (round < 8 || w.unfinished()); round++ {
		w.clock.pass(time.Hour)
		w.drain()
		w.tidyUp(round)
		w.decisions()
		for _, r := range w.list(store.Filter{State: claimdlq.StateParked}) {
			if r.FateUnknown {
				_, err := w.f.Retain.Unpark(ctx, ana, r.ID)
				w.mayFail(err)
			}
		}
		w.asking(round)
	}
}

// unfinished reports whether a record still moves or waits.
func (w *rxWorld) unfinished() bool {
	return slices.ContainsFunc(w.claims(), func(r claimdlq.Record) bool { return r.State.Unresolved() })
}

// tidyUp is a person who looks at what waits for one: it goes again, or is written off.
func (w *rxWorld) tidyUp(round int) {
	ctx := w.t.Context()
	for _, r := range w.claims() {
		if r.FateUnknown || w.rng.IntN(2) == 0 {
			continue
		}
		switch {
		case r.State == claimdlq.StateParked && round < 6:
			_, err := w.f.Retain.Unpark(ctx, ana, r.ID)
			w.mayFail(err)
		case r.State == claimdlq.StateQuarantined && round < 6:
			got, _, err := w.f.Replay.One(ctx, ana, r.ID, replay.Options{Unchanged: true})
			w.say("replays %d: %s %v", r.ID, got, err)
			w.mayFail(err)
		case r.State == claimdlq.StateParked || r.State == claimdlq.StateQuarantined:
			_, err := w.f.Retain.Withdraw(ctx, ana, r.ID)
			w.say("withdraws %d: %v", r.ID, err)
			w.mayFail(err)
		}
	}
}

// decisions lets the payer decide whatever it has captured, and say so.
func (w *rxWorld) decisions() {
	for i := range w.books.fills {
		n := len(w.books.mail)
		w.books.settle(i, w.rng.IntN(3) > 0)
		for _, answer := range w.books.mail[n:] {
			_, err := w.f.Settle.Acks(w.t.Context(), source, "", bytes.NewReader(answer))
			w.mayFail(err)
		}
	}
}

// asking asks about what is in doubt, and lets a person say of the rest what is true.
func (w *rxWorld) asking(round int) {
	ctx := w.t.Context()
	rs := w.list(store.Filter{State: claimdlq.StateInDoubt})
	slices.Reverse(rs)
	for _, r := range rs {
		_, known, err := w.f.Settle.Inquire(ctx, ana, r.ID)
		w.say("asks about %d: %t %v", r.ID, known, err)
		w.mayFail(err)
	}
	for _, r := range rs {
		switch r = w.record(r.ID); {
		case r.State == claimdlq.StateInDoubt && round > 20: // nothing tells any more
			_, err := w.f.Retain.Withdraw(ctx, ana, r.ID)
			w.mayFail(err)
		case r.State == claimdlq.StateInDoubt:
			truth := w.truth(r)
			got, err := w.f.Settle.Resolve(ctx, ana, r.ID, truth)
			w.say("resolves %d: %t, %s %v", r.ID, truth, got.State, err)
			w.mayFail(err)
		}
	}
	for _, r := range w.list(store.Filter{State: claimdlq.StateSubmitted}) {
		for _, tag := range w.tags(r) {
			if answer := w.books.answers[tag]; answer != nil {
				res, err := w.f.Settle.Acks(ctx, source, "", bytes.NewReader(answer))
				w.say("the answer to %s about %d: %+v %v", tag, r.ID, res, err)
				w.mayFail(err)
			}
		}
	}
	w.clock.pass(3 * day)
	_, err := w.f.Settle.Overdue(ctx)
	w.mayFail(err)
}

func (w *rxWorld) mayFail(err error) {
	if !allowed(err) {
		w.t.Fatalf("seed %d: %v\n%s", w.seed, err, w.story())
	}
}

// judge compares our books with the payer's.
func (w *rxWorld) judge() string {
	w.conserved()
	wrong := append(slices.Clone(w.books.wrong), w.g.errs...)
	rs := w.claims()
	may := map[int][2]bool{} // may not be paid, may be paid
	for i := range w.books.fills {
		may[i] = [2]bool{true, false}
	}
	for _, r := range rs {
		i := w.fill(r)
		back := ncpdp.IsReversal([]byte(r.TransactionID))
		switch {
		case r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Reversed:
			may[i] = [2]bool{true, false}
		case r.State == claimdlq.StateSettled && r.Disposition != claimdlq.Rejected:
			may[i] = [2]bool{false, true}
		case lineage.WrittenOff(r):
			m := may[i]
			m[1], m[0] = m[1] || !back, m[0] || back
			may[i] = m
		case r.State != claimdlq.StateSettled && r.State != claimdlq.StateWithdrawn && r.State != claimdlq.StateQuarantined && r.State != claimdlq.StateParked:
			wrong = append(wrong, fmt.Sprintf("record %d is %s", r.ID, r.State))
		}
	}
	for i, b := range w.books.fills {
		n := 0
		if b.paid {
			n = 1
		}
		if !may[i][n] {
			wrong = append(wrong, fmt.Sprintf("fill %d: the payer's books say paid %t, ours do not", i, b.paid))
		}
	}
	if len(wrong) > 0 {
		return fmt.Sprintf("seed %d: %s\n%s", w.seed, strings.Join(wrong, "\n"), w.story())
	}
	return ""
}

func (w *rxWorld) story() string {
	var s strings.Builder
	s.WriteString(w.told())
	for i, b := range w.books.fills {
		for _, l := range b.lines {
			fmt.Fprintf(&s, "fill %d: %s\n", i, l)
		}
	}
	rs := w.claims()
	for _, r := range rs {
		fmt.Fprintf(&s, "%d fill=%d %s root=%d %s %s %s disp=%s unknown=%t pay=%d att=%d rep=%d sub=%d hold=%s\n", r.ID, w.fill(r), r.TransactionID, lineage.Root(r), r.State, r.Reason, r.Detail,
			r.Disposition, r.FateUnknown, r.PayloadRevision, r.AttemptCount, r.ReplayCount, r.Submission, r.Hold)
	}
	return s.String()
}

// Whatever happens at once, our books and the payer's agree in the end. Promises 1, 2, 6
// and 9. See walkSeeds.
func TestRxWorld_WhateverHappensAtOnceOurBooksAndThePayersAgree(t *testing.T) {
	t.Parallel()
	texts, bills := worldTexts(t)
	walkSeeds(t, 200, func(t *testing.T, seed uint64) (*scene, world) {
		w := newRxWorld(t, seed, texts, bills)
		return w.scene, w
	})
}
