package flow_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/lineage"
	"claimdlq/phi"
	"claimdlq/store"
)

// pharmacyWorld is a payer of two claims of one fill, a partial one and its completion, which share
// their lineage, and what the pharmacy wants of each.
type pharmacyWorld struct {
	t      *rapid.T
	b      *rxBench
	msgs   map[string][]byte
	claim  map[claimdlq.ID]string // which claim a record is about: P or C
	paid   map[string]claimdlq.ID // the record whose payment stands
	wanted map[string]string      // the last message of each: B1 or B2
	reject bool                   // the payer refuses some
	queue  []claimdlq.ID
}

// Any sequence of billings, reversals, resubmissions, answers in any order: no claim
// is paid twice, and when all is answered what stands is what was wanted last.
func TestRxIntake_AnySequenceBillsNothingTwiceAndDropsNothing(t *testing.T) { // 2, 48, F1, F18
	t.Parallel()
	b1, b2 := rxOne(t, "B1", 1), rxOne(t, "B2", 1)
	msgs := map[string][]byte{}
	for _, claim := range []string{"P", "C"} {
		msgs["B1"+claim], msgs["B2"+claim] = rxSet(t, b1, "07-HD="+claim), rxSet(t, b2, "07-HD="+claim)
		msgs["B1"+claim+"other"] = rxSet(t, msgs["B1"+claim], "07-E7=90000")
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := &pharmacyWorld{
			t: rt, b: rxSetup(t, ""), msgs: msgs, claim: map[claimdlq.ID]string{}, paid: map[string]claimdlq.ID{}, wanted: map[string]string{},
			reject: rapid.Bool().Draw(rt, "reject"),
		}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "send") {
				w.send()
			} else {
				w.deliver()
			}
		}
		w.finish()
	})
}

func (w *pharmacyWorld) send() {
	claim := rapid.SampledFrom([]string{"P", "C"}).Draw(w.t, "claim")
	code := rapid.SampledFrom([]string{"B1", "B1", "B2"}).Draw(w.t, "code")
	if code == "B2" && w.wanted[claim] == "" {
		return // a pharmacy reverses what it has billed
	}
	name := code + claim
	if code == "B1" && w.reject && rapid.IntRange(0, 3).Draw(w.t, "other") == 0 {
		name += "other"
	}
	raw := bytes.Clone(w.msgs[name])
	var got intake.Taken
	if rapid.Bool().Draw(w.t, "in a batch") {
		rs, err := w.b.f.Intake.Messages(w.b.t.Context(), source, []phi.Bytes{phi.Wrap(raw), phi.Wrap(raw)}, intake.MessageOptions{})
		w.must(err)
		got = rs[0].Records[0]
		if second := rs[1].Records[0]; second.ID != got.ID || second.Status != dup {
			w.t.Fatalf("%s twice at once is %+v and %+v", name, got, second)
		}
	} else {
		r, err := w.b.f.Intake.Message(w.b.t.Context(), source, phi.Wrap(raw), intake.MessageOptions{})
		w.must(err)
		got = r.Records[0]
	}
	switch got.Status {
	case in:
		w.claim[got.ID] = claim
		w.queue = append(w.queue, got.ID)
	case dup:
		if w.claim[got.ID] != claim {
			w.t.Fatalf("%s is a duplicate of record %d, of another claim\n%s", name, got.ID, w.b.dump())
		}
	case conf:
		w.claim[got.ID] = claim
		if rapid.Bool().Draw(w.t, "written off") {
			w.b.step(got.ID, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(w.b.clock.now()) })
		}
		return // a person decides; the pharmacy is told
	case bad:
		w.t.Fatalf("%s is quarantined: %s", name, got.Detail)
	}
	w.wanted[claim] = code
}

func (w *pharmacyWorld) must(err error) {
	if err != nil {
		w.t.Fatal(err)
	}
}

// deliver hands one queued record to the payer, if its lineage lets it.
func (w *pharmacyWorld) deliver() {
	if len(w.queue) == 0 {
		return
	}
	w.try(rapid.IntRange(0, len(w.queue)-1).Draw(w.t, "which"))
}

// try delivers the ith record of the queue, and reports whether it went.
func (w *pharmacyWorld) try(i int) bool {
	r := w.b.record(w.queue[i])
	v, err := lineage.Wait(w.b.t.Context(), w.b.st, r)
	w.must(err)
	if v.Move == lineage.Waits {
		return false
	}
	w.queue = append(w.queue[:i], w.queue[i+1:]...)
	claim := w.claim[r.ID]
	no := w.reject && rapid.IntRange(0, 2).Draw(w.t, "no") == 0
	switch {
	case v.Move == lineage.Stops:
		if !w.reject {
			w.t.Fatalf("record %d stops, and nothing was refused: %+v\n%s", r.ID, v, w.b.dump())
		}
		w.b.step(r.ID, func(r claimdlq.Record) (claimdlq.Record, error) {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: v.Code}, w.b.clock.now())
		})
	case no:
		w.b.force(r.ID, claimdlq.Rejected)
	case r.TransactionID == "B2":
		delete(w.paid, claim)
		w.b.force(r.ID, claimdlq.Reversed)
	default:
		if other := w.paid[claim]; other != 0 {
			w.t.Fatalf("record %d bills claim %s again, which record %d has\n%s", r.ID, claim, other, w.b.dump())
		}
		w.paid[claim] = r.ID
		w.b.force(r.ID, claimdlq.Paid)
	}
	return true
}

// writeOff is the person who looks at what was stopped.
func (w *pharmacyWorld) writeOff() bool {
	for _, r := range w.b.list(store.Filter{State: claimdlq.StateQuarantined}) {
		w.b.step(r.ID, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(w.b.clock.now()) })
		return w.reject
	}
	return false
}

// finish answers all that is left and compares what stands with what was wanted.
func (w *pharmacyWorld) finish() {
	for len(w.queue) > 0 {
		went := false
		for i := 0; i < len(w.queue) && !went; i++ {
			went = w.try(i)
		}
		if !went && !w.writeOff() {
			w.t.Fatalf("%d records wait for ever\n%s", len(w.queue), w.b.dump())
		}
	}
	w.b.conserved()
	if w.reject {
		return
	}
	for claim, code := range w.wanted {
		if (code == "B1") != (w.paid[claim] != 0) {
			w.t.Fatalf("the last message of claim %s is %s, and paid is record %d\n%s", claim, code, w.paid[claim], w.b.dump())
		}
	}
}
