package flow_test

import (
	"fmt"
	"testing"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// holds checks that the result names the records that are held, and nothing else.
func (b *rxBench) holds(res intake.Result, status intake.Status) {
	b.t.Helper()
	want := map[claimdlq.ID]bool{}
	for _, r := range b.list(store.Filter{}) {
		switch r.State {
		case claimdlq.StateQuarantined, claimdlq.StateParked, claimdlq.StateInDoubt:
			want[r.ID] = true
		case claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateSettled, claimdlq.StateWithdrawn:
		}
	}
	if len(res.Held) != len(want) || len(want) == 0 {
		b.t.Fatalf("%d held, want %d: %+v\n%s", len(res.Held), len(want), res, b.dump())
	}
	for _, h := range res.Held {
		r := b.record(h.ID)
		if !want[h.ID] || h.Status != status || h.State != r.State || h.Detail != r.Detail || h.Display != r.DisplayKey() {
			b.t.Errorf("got %+v of %+v", h, r)
		}
		delete(want, h.ID)
	}
}

func TestResult_NamesWhatWasHeld(t *testing.T) {
	t.Parallel()
	broken := batchOf(5)
	broken.Faults = []testclaims.Fault{{Name: "batch-count", At: []int{1}}}
	oneBad := batchOf(5)
	oneBad.Faults = []testclaims.Fault{{Name: "bad-money", At: []int{2}}}
	for name, file := range map[string][]byte{
		"one claim of a set":  generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}}),
		"a whole set":         generate(t, testclaims.Options{Claims: 1, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{1}}}}),
		"a cut interchange":   generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 1})[:1500],
		"junk":                []byte("this is no claim at all"),
		"nothing":             nil,
		"a pharmacy message":  rxMessages(t, testclaims.RxOptions{Faults: []testclaims.Fault{{Name: "bad-money", At: []int{1}}}})[0],
		"a batch":             rxFile(t, broken),
		"one of a batch":      rxFile(t, oneBad),
		"junk of a pharmacy":  append(rxFile(t, testclaims.RxOptions{Claims: 2, Framed: true}), "rubbish"...),
		"a message cut short": rxOne(t, "B1", 1)[:120],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			b.holds(b.rxIngest(file), intake.Quarantined)
		})
	}
}

func TestResult_NamesDeadLettersAndTheirRepetition(t *testing.T) { // 13
	t.Parallel()
	for name, file := range map[string][]byte{
		"837": generate(t, testclaims.Options{Claims: 3}), "message": rxOne(t, "B1", 1), "batch": rxFile(t, batchOf(3)),
		"framed": rxFile(t, testclaims.RxOptions{Claims: 3, Framed: true}), "junk": []byte("no claim"), "nothing": nil,
	} {
		for _, d := range []intake.DeadLetter{givenUp, timedOut} {
			t.Run(fmt.Sprint(name, d.Ambiguous), func(t *testing.T) {
				t.Parallel()
				b := rxSetup(t, "")
				b.holds(b.deadLetter(file, d), intake.Quarantined)
				b.holds(b.deadLetter(file, d), intake.Duplicate)
			})
		}
	}
}

func TestResult_NamesCopies(t *testing.T) { // 8
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	b.takes(raw, in)
	b.holds(b.rxIngest(rxSet(t, raw, "07-E7=90000")), intake.Conflict)
	b = rxSetup(t, "")
	b.rxIngest(generate(t, testclaims.Options{Claims: 1, Seed: 1}))
	b.holds(b.rxIngest(generate(t, testclaims.Options{Claims: 1, Seed: 2})), intake.Conflict)
}

func TestResult_NamesAHundredAtMost(t *testing.T) {
	t.Parallel()
	for _, file := range [][]byte{rxFile(t, batchOf(150)), generate(t, testclaims.Options{Claims: 150, ClaimsPerSet: 1})} {
		b := rxSetup(t, "")
		res := b.deadLetter(file, givenUp)
		if res.Quarantined != 150 || len(res.Held) != 100 {
			t.Fatalf("%d held", len(res.Held))
		}
		for i, h := range res.Held {
			if h.ID != claimdlq.ID(i+1) {
				t.Errorf("%d is record %d", i, h.ID)
			}
		}
	}
}
