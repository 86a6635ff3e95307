package flow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// propose proposes the record's document with fields set.
func (b *rxBench) propose(id claimdlq.ID, assignments ...string) correct.Proposal {
	b.t.Helper()
	doc, err := b.f.Correct.Document(b.t.Context(), ana, id)
	b.must(err)
	p, err := b.f.Correct.Propose(b.t.Context(), ana, id, phi.Wrap(rxSet(b.t, doc.Reveal(), assignments...)))
	b.must(err)
	return p
}

func TestRxCorrect_TheNextRevisionIsOneTransactionBehindAllEarlierOnes(t *testing.T) { // 41, F19
	t.Parallel()
	b := rxSetup(t, "claim all reject R8 tries 2")
	raw := rxMessages(t, testclaims.RxOptions{TransactionsPer: 3, Claims: 3, PartialEvery: -1, COBEvery: -1})[0]
	ids := b.takes(raw, intake.TakenIn, intake.TakenIn, intake.TakenIn).Records
	b.drain()
	id, other := ids[1].ID, ids[2].ID
	before := b.record(id)
	doc, err := b.f.Correct.Document(t.Context(), ana, id)
	b.must(err)
	if !bytes.Equal(doc.Reveal(), mustCut(t, raw, 2)) {
		t.Fatal("the document is not the transaction alone")
	}
	p := b.propose(id, "07-D5=017")
	want := ncpdp.Change{Transaction: 1, Segment: "07", Field: "D5", Occurrence: 1, Kind: ncpdp.Changed, OldLen: 3, NewLen: 3}
	if !p.Clean || len(p.RxChanges) != 1 || p.RxChanges[0] != want || len(p.Changes) != 0 {
		t.Fatalf("proposal %+v", p)
	}
	if b.record(id).Revision != before.Revision {
		t.Error("a proposal changes something")
	}
	n, err := b.f.Correct.Apply(t.Context(), ana, p)
	b.must(err)
	if n.PayloadRevision != 2 || n.Payload.Unit == before.Payload.Unit || n.AmountCents != before.AmountCents || n.State != claimdlq.StateQuarantined || n.Partner != before.Partner {
		t.Errorf("got %+v", n)
	}
	if b.record(other).Payload != before.Payload {
		t.Error("the others of the transmission have moved")
	}
	b.rxCorrect(id, "07-D5=018")
	all, err := b.f.Correct.History(t.Context(), ana, id)
	b.must(err)
	got, err := io.ReadAll(all)
	b.must(errors.Join(err, all.Close()))
	first := mustCut(t, raw, 2)
	second := rxSet(t, first, "07-D5=017")
	if want := bytes.Join([][]byte{first, second, rxSet(t, first, "07-D5=018")}, []byte{'\n'}); !bytes.Equal(got, want) {
		t.Errorf("the history has %d bytes, want %d", len(got), len(want))
	}
	b.replay(id, replay.Options{})
	b.drain()
	if r := b.record(id); r.State != claimdlq.StateQuarantined || r.RefusedRevision != 3 {
		t.Fatalf("the second refusal: %s", b.dump())
	}
	b.rxCorrect(id, "07-D5=019")
	b.replay(id, replay.Options{})
	b.drain()
	b.ends(id, claimdlq.StateSettled, claimdlq.Paid)
	opens := 0
	for _, a := range b.audited(id) {
		if a == claimdlq.ActOpen || a == claimdlq.ActReveal {
			opens++
		}
	}
	if opens < 8 {
		t.Errorf("looked at %d times, says the audit log: %v", opens, b.audited(id))
	}
}

func TestRxCorrect_WhoseFillItIsCannotBeChanged(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim all reject R8 tries 1")
	id := b.take(rxOne(t, "B1", 1)).ID
	b.drain()
	doc, err := b.f.Correct.Document(t.Context(), ana, id)
	b.must(err)
	for _, a := range []string{"07-D2=999", "07-EM=2", "B1=1999999984", "B2=07", "D1=20260701", "A3=B3"} {
		p := b.propose(id, a)
		if p.Clean || !strings.Contains(fmt.Sprint(p.Codes), "RULE:IDENTITY_LOCKED") {
			t.Errorf("%s: %v", a, p.Codes)
		}
		if _, err := b.f.Correct.Apply(t.Context(), ana, p); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s was applied: %v", a, err)
		}
	}
	m := ncpdp.Parse(doc.Reveal())
	if p := b.propose(id, "07-D2="+strings.TrimLeft(string(m.RxOf(1)), "0")); !p.Clean {
		t.Errorf("another spelling of the same number: %v", p.Codes)
	}
	for a, code := range map[string]string{
		"11-D9=12X":     "NCPDP:11-D9:MONEY",
		"04-C2=":        "NCPDP:04-C2:FIELD_MISSING",
		"07-D7=":        "NCPDP:07-D7:FIELD_MISSING",
		"07-E7=1.0":     "NCPDP:07-E7:QUANTITY",
		"01-C4=2026013": "NCPDP:01-C4:DATE",
	} {
		if p := b.propose(id, a); p.Clean || !strings.Contains(fmt.Sprint(p.Codes), code) {
			t.Errorf("%s: %v, want %s", a, p.Codes, code)
		}
	}
	p := b.propose(id, "07-D5="+string(mustGet(t, m, "07", "D5")))
	if _, err := b.f.Correct.Apply(t.Context(), ana, p); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("nothing is changed: %v", err)
	}
	two := append(append(bytes.Clone(doc.Reveal()), 0x1d), "\x1e\x1cAM07\x1cEM1\x1cD21\x1cE103\x1cD799999000101"...)
	if p, err := b.f.Correct.Propose(t.Context(), ana, id, phi.Wrap(two)); err != nil || p.Clean {
		t.Errorf("two transactions: %+v %v", p, err)
	}
	for _, junk := range [][]byte{nil, []byte("TEST"), answerTo(t, doc.Reveal(), ncpdp.Verdict{Status: "P"})} {
		p, err := b.f.Correct.Propose(t.Context(), ana, id, phi.Wrap(junk))
		if err == nil && p.Clean || err != nil && !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%d bytes of something else: %+v %v", len(junk), p, err)
		}
	}
}

func mustGet(t *testing.T, m *ncpdp.Message, segment, field string) []byte {
	t.Helper()
	v, ok := m.Get(1, ncpdp.IDOf(segment), ncpdp.IDOf(field))
	if !ok {
		t.Fatalf("no %s-%s", segment, field)
	}
	return v
}

func TestRxCorrect_WhereItGoesMayBeCorrectedAndTheRecordFollows(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim bin=999999 reject 04")
	id := b.take(rxOne(t, "B1", 1)).ID
	b.drain()
	if r := b.record(id); r.State != claimdlq.StateQuarantined || r.Partner != "999999:TESTPCN" {
		t.Fatalf("got %s", b.dump())
	}
	n := b.rxCorrect(id, "A1=999998", "A4=OTHERPCN")
	if n.Partner != "999998:OTHERPCN" {
		t.Errorf("partner %s", n.Partner)
	}
	b.replay(id, replay.Options{})
	if s := b.waiting(id); s.Partner != "999998:OTHERPCN" {
		t.Errorf("its submission goes to %s", s.Partner)
	}
	b.drain()
	b.ends(id, claimdlq.StateSettled, claimdlq.Paid)
	if got := b.payer.Fills(); len(got) != 1 || got[0].BIN != "999998" {
		t.Errorf("paid %+v", got)
	}
}

func TestRxCorrect_TheDocumentIsForNamedPeopleAndRefusedWhereNothingCanBeCorrected(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	id := b.take(rxOne(t, "B1", 1)).ID
	for _, by := range []claimdlq.By{{}, {Actor: "ana"}, {Reason: "TEST"}} {
		if _, err := b.f.Correct.Document(t.Context(), by, id); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("shown to %+v: %v", by, err)
		}
	}
	if _, err := b.f.Correct.Propose(t.Context(), ana, id, phi.Wrap(rxOne(t, "B1", 1))); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("what is queued: %v", err)
	}
	junk := b.take([]byte("999999D0B1 TEST JUNK")).ID
	if _, err := b.f.Correct.Propose(t.Context(), ana, junk, phi.Wrap(rxOne(t, "B1", 1))); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("what cannot be read: %v", err)
	}
	doc, err := b.f.Correct.Document(t.Context(), ana, junk)
	b.must(err)
	if string(doc.Reveal()) != "999999D0B1 TEST JUNK" {
		t.Error("a person may see what cannot be read, as it came")
	}
}

func TestRxCorrect_TheJSONOfAnX12ProposalIsAsItWas(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(correct.Proposal{ID: 7})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":7,"revision":0,"changes":null,"faults":null,"codes":null,"clean":false,"rule_version":"","amount_cents":0}`
	if string(got) != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestRxCorrect_OneOfABatchLeavesTheOthersWhereTheyAre(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "claim 7 reject R8 tries 1\nclaim 9 reject R8 tries 1")
	const n = 20
	b.rxIngest(rxFile(t, testclaims.RxOptions{Batch: true, Claims: n, PartialEvery: -1}))
	b.drain()
	bad := b.list(store.Filter{State: claimdlq.StateQuarantined, Stream: claimdlq.StreamNCPDP})
	if len(bad) != 2 {
		t.Fatalf("%d are held\n%s", len(bad), b.dump())
	}
	id, other := bad[0].ID, bad[1]
	if r, shares, err := b.f.Retain.SharesUnit(t.Context(), b.record(id)); err != nil || !shares || r.ID != other.ID {
		t.Fatalf("shares its unit with %d: %v %v", r.ID, shares, err)
	}
	b.rxCorrect(id, "07-D5=017")
	if got := b.record(other.ID); got.Payload != other.Payload {
		t.Error("the other has moved")
	}
	got, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP, State: claimdlq.StateQuarantined}, replay.Options{})
	b.must(err)
	if got != (replay.Summary{Requeued: 1, NotCorrected: 1}) {
		t.Errorf("got %+v", got)
	}
	b.drain()
	b.ends(id, claimdlq.StateSettled, claimdlq.Paid)
	b.replay(other.ID, replay.Options{Unchanged: true})
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: n})
	b.paidTwice()
	b.clock.pass(30 * day)
	// Answers are sealed as they come: the two that were replaced since may have a unit of
	// their own, which is swept, or share one that stays.
	if _, err := b.f.Retain.SweepOrphans(t.Context(), 0); err != nil {
		t.Error(err)
	}
	b.allThere()
}
