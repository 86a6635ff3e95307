package flow_test

import (
	"bytes"
	"testing"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// day returns the day that is sealed for the record, as CCYYMMDD; "" for none.
func (b *bench) day(r claimdlq.Record) string {
	b.t.Helper()
	receipt, err := b.st.Commit(b.t.Context(), store.Batch{Entries: []claimdlq.Entry{{Actor: "TEST", Action: claimdlq.ActOpen, Record: r.ID}}})
	b.must(err)
	p, err := b.v.Attributes(b.t.Context(), r.Payload, receipt.Proof)
	b.must(err)
	basis, err := filing.Open(p)
	b.must(err)
	if d := basis.Of(r, nil); !d.IsZero() {
		return d.Start().Format("20060102")
	}
	return ""
}

func TestFiling_TheDayIsSealedWithEachClaimAndKeptByACorrection(t *testing.T) { // 46, F39
	t.Parallel()
	for _, parts := range []int{3, 6000} { // in memory, and as it streams
		b := setup(t, "")
		b.ingest(generate(t, testclaims.Options{Claims: parts, ClaimsPerSet: parts, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}}))
		bad := b.only(claimdlq.StateQuarantined)
		day := b.day(bad)
		if bad.Scope != claimdlq.ScopeClaim || len(day) != 8 || day < "20260501" || day > "20260717" {
			t.Fatalf("claim %d of its set: %q", bad.Ordinal, day)
		}
		if set := b.day(b.record(bad.Parent)); set == "" || set > day {
			t.Errorf("the set's is %q, and a claim's %q", set, day)
		}
	}
}

func TestFiling_APharmacyClaimHasTheDayOfItsTransmission(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	var raws [][]byte
	want := map[claimdlq.ID]string{}
	for n := range 4 {
		raws = append(raws, rxSetDate(rxOne(t, "B1", n+1), "2026071"+string(rune('0'+n%3))))
	}
	for n, raw := range raws {
		want[b.take(raw).ID] = "2026071" + string(rune('0'+n%3))
	}
	for id, day := range want {
		if got := b.day(b.record(id)); got != day {
			t.Errorf("record %d: %q, want %s", id, got, day)
		}
	}
}

// rxSetDate gives the message another 401-D1.
func rxSetDate(msg []byte, day string) []byte {
	m := ncpdp.Parse(msg)
	return bytes.Replace(msg, m.ServiceDate(), []byte(day), 1)
}

func TestFiling_ACorrectionSealsTheDayAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}}))
	r := b.only(claimdlq.StateQuarantined)
	day := b.day(r)
	n := b.correct(r.ID, goodNPI(4))
	if got := b.day(n); day == "" || got != day || n.Payload.Unit == r.Payload.Unit {
		t.Errorf("%q after the correction, %q before", got, day)
	}
	c := b.correct(r.ID, "DTP[2]-03=20260102")
	if got := b.day(c); got != "20260102" {
		t.Errorf("%q after the date was corrected", got)
	}
	rx := rxSetup(t, "claim 1 reject R8 tries 1")
	id := rx.take(rxSetDate(rxOne(t, "B1", 1), "20260711")).ID
	rx.drain()
	rx.ends(id, claimdlq.StateQuarantined, claimdlq.DispositionNone)
	if got := rx.day(rx.rxCorrect(id, "07-D5=017")); got != "20260711" {
		t.Errorf("%q after the correction of a pharmacy claim", got)
	}
}
