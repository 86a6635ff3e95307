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
	"claimdlq/flow/lineage"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/target"
	"claimdlq/vault/memvault"
	"claimdlq/wire/x12"
)

// claimWorld is submitters of 837 files, another pipeline, people, a payer and a process of
// ours that may die, all at once: what rxWorld is for pharmacy claims. The seed decides
// everything.
//
// What docs/guide.md says under Limits is left out, and named where it is.
type claimWorld struct {
	claimBench
	*scene
	ledger  *ledger
	files   []*claimFile
	others  []*givenUpFile
	words   int            // people who are about to say what became of a claim
	mistook map[string]int // acceptances that a person has denied, by claim
	read    map[string][]string
}

// claimBench keeps what bench and scene both have apart.
type claimBench struct{ *bench }

// claimFile is a file that somebody may send.
type claimFile struct {
	isa13   uint32
	raw     []byte
	claims  []string
	waiting bool // it was given, and we have not said that we have it
}

// givenUpFile is a file that another pipeline may have sent, and gives up. Whether it
// arrives is decided when we have taken it: until then what we send of it is not our fault.
type givenUpFile struct {
	*claimFile
	tag     string
	arrives bool
	open    bool // its handing over has begun, and we have not taken it yet
	done    bool // we have taken it
}

func newClaimWorld(t *testing.T, seed uint64) *claimWorld {
	t.Helper()
	w := &claimWorld{scene: newScene(t, seed), mistook: map[string]int{}, read: map[string][]string{}}
	w.world = w
	w.ledger = &ledger{t: t, rng: w.rng, accepted: map[string][]string{}}
	w.claimBench = claimBench{&bench{t: t, log: &syncBuffer{}, clock: &clock{at: time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)}}}
	w.st, w.v = memstore.New(), memvault.New()
	isa13 := uint32(500)
	for range 2 + w.rng.IntN(4) {
		if isa13 == 500 || w.rng.IntN(6) > 0 { // else in conflict with the last
			isa13++
		}
		n := 1 + w.rng.IntN(4)
		o := testclaims.Options{
			Claims: n, ClaimsPerSet: max(1+w.rng.IntN(n), (n+2)/3), FirstClaim: 1 + w.rng.IntN(4), DependentEvery: -1, ISA13: isa13, GS06: isa13, Seed: 1,
		}
		if w.rng.IntN(3) == 0 {
			o.Faults = []testclaims.Fault{{Name: "npi-check-digit", At: []int{1 + w.rng.IntN(n)}}}
		}
		raw := generate(t, o)
		w.files = append(w.files, &claimFile{isa13: isa13, raw: raw, claims: claimsOf(t, raw)})
	}
	w.live()
	return w
}

// live begins a process over what is durable.
func (w *claimWorld) live() {
	w.p = &process{Store: w.st, g: w.g}
	route := target.Route{Target: &wire{w.p, w.arrive}}
	w.deps = flow.Deps{
		Store: w.p, Vault: w.v, Identities: w.identities(), Now: w.clock.now, Workers: 2, Rules: x12.LatestRules(), Log: slog.New(slog.DiscardHandler),
		Routes: func(string, string) (target.Route, bool) { return route, true },
	}
	w.words = 0
	w.assemble()
	w.must(w.f.Recover(w.scene.t.Context()))
}

// arrive is the way of an interchange to the payer. Its answers come later, or with it.
func (w *claimWorld) arrive(name string, b []byte, s step) target.Delivery {
	n := len(w.ledger.mail)
	w.ledger.take(b, name, func(string) bool { return false })
	if s.mode == drop {
		return transient("TIMEOUT", true)
	}
	d := target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted}}
	if w.rng.IntN(4) == 0 {
		d.Answer = phi.Wrap(bytes.Join(w.ledger.mail[n:], nil))
		w.ledger.said, w.ledger.mail = append(w.ledger.said, w.ledger.mail[n:]...), w.ledger.mail[:n]
	}
	return d
}

// something begins an act, or does what needs no time.
func (w *claimWorld) something(bool) {
	switch n := w.rng.IntN(40); {
	case n < 7:
		w.file()
	case n < 10:
		w.givesUp()
	case n < 12:
		w.handOver()
	case n < 13:
		w.deadLetter()
	case n < 19:
		w.begin("drain", func(ctx context.Context) error {
			_, err := w.f.Attempt.Drain(ctx)
			return err
		})
	case n < 24:
		w.late()
	case n < 27:
		w.clock.pass([]time.Duration{time.Second, time.Minute, time.Minute, time.Hour, 3 * day, 5 * day}[w.rng.IntN(6)])
	case n < 28 && w.rng.IntN(2) == 0:
		w.crash()
	case n < 29 && w.rng.IntN(2) == 0:
		w.begin("expire", func(ctx context.Context) error { _, err := w.f.Retain.Expire(ctx); return err })
	case n < 30:
		w.begin("overdue", func(ctx context.Context) error { _, err := w.f.Settle.Overdue(ctx); return err })
	default:
		w.person()
	}
}

func (w *claimWorld) any() *claimFile { return w.files[w.rng.IntN(len(w.files))] }

func (w *claimWorld) file() {
	x := w.any()
	x.waiting = true
	w.begin(fmt.Sprint("file ", x.isa13, " ", len(x.claims)), w.sending(x))
}

func (w *claimWorld) sending(x *claimFile) func(context.Context) error {
	f := w.f
	return func(ctx context.Context) error {
		res, err := f.Intake.File(ctx, source, "", bytes.NewReader(x.raw))
		w.g.mu.Lock()
		defer w.g.mu.Unlock()
		x.waiting = x.waiting && err != nil
		w.say("   file %d: %+v", x.isa13, res)
		return err
	}
}

// givesUp is another pipeline that sends a file and does not learn what became of it.
func (w *claimWorld) givesUp() {
	h := &givenUpFile{claimFile: w.any(), tag: fmt.Sprint("other-", len(w.others)+1), arrives: w.rng.IntN(3) > 0}
	w.others = append(w.others, h)
	w.handOver()
}

// handOver hands a file over that another pipeline may have sent, or one of before again.
func (w *claimWorld) handOver() {
	if len(w.others) == 0 || w.words > 0 { // whoever speaks of it now does not know of this
		return
	}
	h := w.others[w.rng.IntN(len(w.others))]
	h.open = true
	w.begin(fmt.Sprint("handover ", h.tag, " of ", h.isa13), w.giving(h))
}

func (w *claimWorld) giving(h *givenUpFile) func(context.Context) error {
	f := w.f
	return func(ctx context.Context) error {
		res, err := f.Intake.DeadLetter(ctx, source, bytes.NewReader(h.raw), timedOut)
		w.g.mu.Lock()
		defer w.g.mu.Unlock()
		w.say("   %s: %+v", h.tag, res)
		h.open = h.open && err != nil
		if err != nil || h.done {
			return err
		}
		h.done = true
		if h.arrives && w.toldApart(h) {
			forgotten := w.forgotten(h)
			w.ledger.take(h.raw, h.tag, func(claim string) bool { // what it has, it has from us
				return len(w.ledger.accepted[claim]) > 0 || slices.Contains(forgotten, claim)
			})
		}
		return err
	}
}

// forgotten are claims whose doubt is not kept, as docs/guide.md says under Limits: they
// had parted from the set that is handed over, and are final.
func (w *claimWorld) forgotten(h *givenUpFile) (out []string) {
	for _, r := range w.claims() {
		if r.Scope == claimdlq.ScopeClaim && !r.State.Unresolved() && !lineage.Blocks(r) && h.numbers(r) {
			out = append(out, w.billed(r)...)
		}
	}
	return out
}

// toldApart reports whether what the payer says of the file cannot be about what we have
// sent of it. Under new numbers a set keeps its BHT03, by which a 277CA finds it
// (docs/guide.md, Limits).
func (w *claimWorld) toldApart(h *givenUpFile) bool {
	return !slices.ContainsFunc(w.claims(), func(r claimdlq.Record) bool {
		if r.Submission == 0 || !h.numbers(r) {
			return false
		}
		s, err := w.st.Submission(w.scene.t.Context(), r.Submission)
		w.must(err)
		return s.ISA13 != h.isa13 && !s.Replay
	})
}

// numbers reports whether the record came under the numbers of the file.
func (h *givenUpFile) numbers(r claimdlq.Record) bool {
	return r.InterchangeID == fmt.Sprintf("%09d", h.isa13)
}

// deadLetter is what another pipeline has certainly not sent.
func (w *claimWorld) deadLetter() {
	x, f := w.any(), w.f
	w.begin(fmt.Sprint("dead letter ", x.isa13), func(ctx context.Context) error {
		_, err := f.Intake.DeadLetter(ctx, source, bytes.NewReader(x.raw), givenUp)
		return err
	})
}

// late brings an answer, in any order, or one that has come before, or has the payer say
// again what it has said of an interchange.
func (w *claimWorld) late() {
	l := w.ledger
	switch n := w.rng.IntN(8); {
	case n == 0 && len(l.arrivals) > 0:
		l.mail = append(l.mail, l.answers(l.arrivals[w.rng.IntN(len(l.arrivals))])...)
	case n == 1 && len(l.said) > 0:
		w.give(l.said[w.rng.IntN(len(l.said))])
	case len(l.mail) > 0:
		i := w.rng.IntN(len(l.mail))
		answer := l.mail[i]
		l.mail = slices.Delete(l.mail, i, i+1)
		w.give(answer)
	}
}

func (w *claimWorld) give(answer []byte) {
	f := w.f
	w.ledger.said = append(w.ledger.said, answer)
	w.begin("late answer", func(ctx context.Context) error {
		res, err := f.Settle.Acks(ctx, source, "", bytes.NewReader(answer))
		w.note("   answer: %+v", res)
		return err
	})
}

// claims returns the records of claims, oldest first.
func (w *claimWorld) claims() []claimdlq.Record {
	rs := w.list(store.Filter{Stream: claimdlq.StreamX12})
	slices.Reverse(rs)
	return rs
}

// person picks a record and does something about it.
func (w *claimWorld) person() {
	rs := w.claims()
	if len(rs) == 0 {
		return
	}
	r, f := rs[w.rng.IntN(len(rs))], w.f
	switch n := w.rng.IntN(20); {
	case n < 5:
		w.resolve(r)
	case n < 10:
		o := replay.Options{Unchanged: w.rng.IntN(3) > 0, WrittenOff: w.rng.IntN(3) == 0 && !w.mayHave(r)}
		w.replaying(f, r, o)
	case n < 12:
		o := replay.Options{Unchanged: w.rng.IntN(2) == 0}
		w.replayingAll(f, o)
	case n < 15:
		w.correcting(r)
	case n < 16:
		w.stepping("park", f.Retain.Park, r)
	case n < 19:
		w.stepping("unpark", f.Retain.Unpark, r)
	default:
		w.stepping("withdraw", f.Retain.Withdraw, r)
	}
}

func (w *claimWorld) correcting(r claimdlq.Record) {
	f, npi := w.f, goodNPI(uint64(w.rng.IntN(50)))
	w.begin(fmt.Sprint("correct ", r.ID), func(ctx context.Context) error {
		doc, err := f.Correct.Document(ctx, ana, r.ID)
		if err != nil {
			return err
		}
		as, err := x12.ParseAssignment(npi)
		if err != nil {
			return err
		}
		edited, err := x12.Edit(doc.Reveal(), []x12.Assignment{as})
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

// resolve is a person who says what became of a claim: the truth, or, at times, that it
// has not arrived where it has.
//
// Of a set of several claims nobody is mistaken: from one that is in doubt or being
// delivered again nothing parts for mixed answers to an earlier sending (docs/guide.md,
// Limits).
func (w *claimWorld) resolve(r claimdlq.Record) {
	if r.State != claimdlq.StateInDoubt || r.Submission == 0 || w.beingHandedOver(r) {
		return
	}
	truth := w.arrived(r)
	wrong := truth && r.Claims == 1 && w.alone(r) && w.rng.IntN(4) == 0
	if wrong {
		for _, claim := range w.billed(r) {
			w.mistook[claim]++
		}
	}
	w.words++
	f, p := w.f, w.p
	w.begin(fmt.Sprintf("resolve %d %t, mistaken %t", r.ID, truth && !wrong, wrong), func(ctx context.Context) error {
		_, err := f.Settle.Resolve(ctx, ana, r.ID, truth && !wrong)
		w.g.mu.Lock()
		defer w.g.mu.Unlock()
		if p == w.p {
			w.words--
		}
		return err
	})
}

// alone reports whether the record's submission carries nothing else.
func (w *claimWorld) alone(r claimdlq.Record) bool {
	s, err := w.st.Submission(w.scene.t.Context(), r.Submission)
	w.must(err)
	return len(s.Members) == 1 && s.Members[0].First == s.Members[0].Last
}

// beingHandedOver reports whether another pipeline is giving up some of the record's
// claims, and we have not said that we have them.
func (w *claimWorld) beingHandedOver(r claimdlq.Record) bool {
	for _, claim := range w.billed(r) {
		if slices.ContainsFunc(w.others, func(h *givenUpFile) bool { return h.open && slices.Contains(h.claims, claim) }) {
			return true
		}
	}
	return false
}

// mayHave reports whether the payer has some claim of the record, or may yet get it from
// elsewhere.
func (w *claimWorld) mayHave(r claimdlq.Record) bool {
	return w.beingHandedOver(r) || slices.ContainsFunc(w.billed(r), func(claim string) bool { return len(w.ledger.accepted[claim]) > 0 })
}

// numbers are those under which the record may have gone to the payer last.
func (w *claimWorld) numbers(r claimdlq.Record) []uint32 {
	s, err := w.st.Submission(w.scene.t.Context(), r.Submission)
	w.must(err)
	received, _ := envelope.Number(r.InterchangeID)
	return []uint32{s.ISA13, received}
}

// arrived is what the payer says of a record in doubt: that the interchange came which
// carried it last, or that it has some of it from the other pipeline.
func (w *claimWorld) arrived(r claimdlq.Record) bool {
	ns := w.numbers(r)
	for _, a := range w.ledger.arrivals {
		if a.taken && a.start.Number == ns[0] && slices.ContainsFunc(w.billed(r), a.carries) {
			return true
		}
	}
	return w.has(r)
}

// has reports whether the payer has accepted some claim of the record under its numbers.
func (w *claimWorld) has(r claimdlq.Record) bool {
	ns := w.numbers(r)
	return slices.ContainsFunc(w.billed(r), func(claim string) bool {
		return slices.ContainsFunc(w.ledger.accepted[claim], func(n string) bool { return n == fmt.Sprint(ns[0]) || n == fmt.Sprint(ns[1]) })
	})
}

// hasAny is has of everything that went out with the record.
func (w *claimWorld) hasAny(r claimdlq.Record) bool {
	return slices.ContainsFunc(w.claims(), func(other claimdlq.Record) bool { return other.Submission == r.Submission && w.has(other) })
}

// billed are the claims that the record stands for, by what is billed for whom.
func (w *claimWorld) billed(r claimdlq.Record) []string {
	if r.Scope > claimdlq.ScopeClaim || r.Claims == 0 {
		return nil
	}
	key := fmt.Sprint(r.ID, r.PayloadRevision, r.Parted)
	if claims, ok := w.read[key]; ok {
		return claims
	}
	ctx := w.scene.t.Context()
	part, err := envelope.PartOf(ctx, w.st, r)
	w.must(err)
	proof, err := audited.Open(ctx, w.st, ana, claimdlq.ActOpen, w.clock.now(), r)
	w.must(err)
	in, unit, err := envelope.Reader(ctx, w.v, proof, r)
	w.must(err)
	claims := []string{}
	_, err = envelope.Judge(in, x12.LatestRules(), unit, func(c *x12.Claim) {
		if part.Drop == nil || !part.Drop(c.Ordinal) {
			claims = append(claims, billed(c))
		}
	})
	w.must(err)
	w.must(in.Close())
	w.read[key] = claims
	return claims
}

// finish is the end of the day: everything is handed over, delivered, answered and decided.
func (w *claimWorld) finish() {
	w.wind()
	w.say("the end of the day")
	ctx := w.scene.t.Context()
	for round := 0; round < 60 && (round < 5 || w.unfinished()); round++ {
		for _, x := range w.files {
			if x.waiting {
				w.mayFail(w.sending(x)(ctx))
			}
		}
		for _, h := range w.others {
			if h.open || !h.done {
				h.open = true
				w.mayFail(w.giving(h)(ctx))
			}
		}
		w.clock.pass(time.Hour)
		w.drain()
		if round%3 == 2 && round < 40 { // the payer says it all again; a doubt stands in between
			for _, a := range w.ledger.arrivals {
				w.ledger.mail = append(w.ledger.mail, w.ledger.answers(a)...)
			}
		}
		w.reading()
		for _, r := range w.claims() {
			w.tidy(w.record(r.ID), round)
		}
		w.clock.pass(3 * day)
		_, err := w.f.Settle.Overdue(ctx)
		w.mayFail(err)
	}
	for _, a := range w.ledger.arrivals {
		w.ledger.mail = append(w.ledger.mail, w.ledger.answers(a)...)
	}
	w.reading()
}

// reading reads all of the mail, in any order.
func (w *claimWorld) reading() {
	mail := w.ledger.mail
	w.ledger.mail = nil
	w.rng.Shuffle(len(mail), func(i, j int) { mail[i], mail[j] = mail[j], mail[i] })
	for _, answer := range mail {
		res, err := w.f.Settle.Acks(w.scene.t.Context(), source, "", bytes.NewReader(answer))
		w.say("reads %+v %v", res, err)
		w.mayFail(err)
	}
}

func (w *claimWorld) unfinished() bool {
	return slices.ContainsFunc(w.claims(), func(r claimdlq.Record) bool { return r.State.Unresolved() })
}

// tidy is a person who looks at what waits for one: it goes again, or is written off.
func (w *claimWorld) tidy(r claimdlq.Record, round int) {
	ctx := w.scene.t.Context()
	var err error
	var did string
	switch {
	case r.State == claimdlq.StateParked && (r.FateUnknown || round < 6):
		did = "unparks"
		_, err = w.f.Retain.Unpark(ctx, ana, r.ID)
	case r.State == claimdlq.StateQuarantined && round < 6 && r.Scope <= claimdlq.ScopeClaim:
		var got claimdlq.ReplayResult
		got, _, err = w.f.Replay.One(ctx, ana, r.ID, replay.Options{Unchanged: true})
		did = "replays, " + string(got) + ","
	case r.State == claimdlq.StateInDoubt && r.Submission == 0:
		return // nothing tells of it: that is wrong
	case r.State == claimdlq.StateInDoubt && round < 40:
		truth := w.hasAny(r) || round < 20 && w.arrived(r)
		did = fmt.Sprintf("resolves, %t,", truth)
		_, err = w.f.Settle.Resolve(ctx, ana, r.ID, truth)
	case r.State == claimdlq.StateParked, r.State == claimdlq.StateQuarantined, r.State == claimdlq.StateInDoubt:
		did = "withdraws"
		_, err = w.f.Retain.Withdraw(ctx, ana, r.ID)
	default:
		return
	}
	w.say("%s %d: %v", did, r.ID, err)
	w.mayFail(err)
}

func (w *claimWorld) mayFail(err error) {
	if !allowed(err) {
		w.scene.t.Fatalf("seed %d: %v\n%s", w.seed, err, w.story())
	}
}

// judge compares our books with the payer's.
func (w *claimWorld) judge() string {
	w.conserved()
	wrong := slices.Clone(w.g.errs)
	// Under which numbers our books have a claim as accepted: an answer does not tell files
	// in conflict, under the same numbers, apart.
	ours, writtenOff := map[string]map[string]bool{}, map[string]bool{}
	for _, r := range w.claims() {
		if r.State.Unresolved() {
			wrong = append(wrong, fmt.Sprintf("record %d is %s", r.ID, r.State))
		}
		for _, claim := range w.billed(r) {
			if r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Accepted {
				if ours[claim] == nil {
					ours[claim] = map[string]bool{}
				}
				ours[claim][r.InterchangeID] = true
			}
			writtenOff[claim] = writtenOff[claim] || lineage.WrittenOff(r)
		}
	}
	for _, claim := range w.everyClaim() {
		name, n := w.nameOf(claim), len(w.ledger.accepted[claim])
		if n > 1+w.mistook[claim] {
			wrong = append(wrong, fmt.Sprintf("%s was accepted %d times, and people were mistaken %d times", name, n, w.mistook[claim]))
		}
		if len(ours[claim]) > n || len(ours[claim]) == 0 && n > 0 && !writtenOff[claim] {
			wrong = append(wrong, fmt.Sprintf("%s was accepted %d times, our books say %d", name, n, len(ours[claim])))
		}
	}
	if len(wrong) > 0 {
		return fmt.Sprintf("seed %d: %s\n%s", w.seed, strings.Join(wrong, "\n"), w.story())
	}
	return ""
}

// everyClaim returns the claims of all files, each once.
func (w *claimWorld) everyClaim() (out []string) {
	for _, x := range w.files {
		out = append(out, x.claims...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nameOf is short for a claim, in what a failure says.
func (w *claimWorld) nameOf(claim string) string {
	return fmt.Sprint("claim ", slices.Index(w.everyClaim(), claim))
}

func (w *claimWorld) story() string {
	var s strings.Builder
	s.WriteString(w.told())
	for _, l := range w.ledger.lines {
		s.WriteString(l + "\n")
	}
	for _, r := range w.claims() {
		var names []string
		for _, claim := range w.billed(r) {
			names = append(names, w.nameOf(claim))
		}
		fmt.Fprintf(&s, "%d %v %s parent=%d claims=%d parted=%d isa=%s %s %s %s disp=%s unknown=%t rev=%d att=%d rep=%d sub=%d hold=%s\n", r.ID, names, r.Scope, r.Parent, r.Claims, r.Parted,
			r.InterchangeID, r.State, r.Reason, r.Detail, r.Disposition, r.FateUnknown, r.PayloadRevision, r.AttemptCount, r.ReplayCount, r.Submission, r.Hold)
	}
	return s.String()
}

// Whatever happens at once, our books and the payer's agree in the end. Promises 1, 2, 6
// and 9. See walkSeeds.
func TestClaimWorld_WhateverHappensAtOnceOurBooksAndThePayersAgree(t *testing.T) {
	t.Parallel()
	walkSeeds(t, 150, func(t *testing.T, seed uint64) (*scene, world) {
		w := newClaimWorld(t, seed)
		return w.scene, w
	})
}
