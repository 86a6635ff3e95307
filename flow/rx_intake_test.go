package flow_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/flow/intake"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

const (
	in   = intake.TakenIn
	bad  = intake.Quarantined
	dup  = intake.Duplicate
	conf = intake.Conflict
)

func TestRxIntake_AClaimIsARecordAndASubmissionOfItsBytes(t *testing.T) { // 14, 29, 32, F9
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	taken := b.takes(raw, in).Records[0]
	r := b.record(taken.ID)
	switch {
	case r.State != claimdlq.StateQueued, r.Format != claimdlq.FormatNCPDP, r.Scope != claimdlq.ScopeTransaction, r.Stream != "ncpdp",
		r.Claims != 1, r.Ordinal != 1, r.TransactionID != "B1", r.Partner != "999999:TESTPCN", !strings.HasPrefix(r.Sender, "01:"),
		r.RuleVersion != envelope.RxRules, r.AmountCents == 0, r.Batch == 0, r.PayloadRevision != 1, r.AttemptCount != 0:
		t.Errorf("got %+v", r)
	case taken.Display != r.Key.String()[:24], taken.State != r.State:
		t.Errorf("got %+v", taken)
	}
	subs := b.submissions()
	if len(subs) != 1 {
		t.Fatalf("%d submissions", len(subs))
	}
	s := subs[0]
	if s.State != claimdlq.SubmissionReady || s.Stream != "ncpdp" || s.Partner != r.Partner || s.Bulk || s.ISA13 != 0 || len(s.Groups) > 0 ||
		s.Digest != identity(1).Digest(raw) || s.Bytes != int64(len(raw)) || !slices.Equal(s.Members, []claimdlq.IDRange{{First: r.ID, Last: r.ID}}) {
		t.Errorf("got %+v", s)
	}
	if got := b.sent(s); !bytes.Equal(got, raw) {
		t.Error("what goes out is not what came in")
	}
	if a := b.audited(r.ID); !slices.Contains(a, claimdlq.ActReceive) {
		t.Errorf("audited: %v", a)
	}
}

// sent composes what goes out for a submission, and checks it against the digest where
// the submission has one.
func (b *rxBench) sent(s claimdlq.Submission) []byte {
	b.t.Helper()
	var members []claimdlq.Record
	for _, run := range s.Members {
		for id := run.First; id <= run.Last; id++ {
			members = append(members, b.record(id))
		}
	}
	receipt, err := b.st.Commit(b.t.Context(), store.Batch{Entries: []claimdlq.Entry{{Action: claimdlq.ActOpen, Record: members[0].ID}}})
	b.must(err)
	out, err := envelope.RxBytes(b.t.Context(), b.v, receipt.Proof, s, members)
	b.must(err)
	raw := out.Reveal()
	if s.Digest != (claimdlq.Digest{}) && (s.Digest != b.deps.Identities[0].Digest(raw) || s.Bytes != int64(len(raw))) {
		b.t.Errorf("submission %d has another digest than its bytes", s.ID)
	}
	return raw
}

func TestRxIntake_TheSameAgainIsAnsweredWithTheStateOfTheFirst(t *testing.T) { // 16, F15
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	first := b.take(raw)
	framed := append(append([]byte{2}, raw...), 3)
	for _, again := range [][]byte{raw, framed} {
		got := b.takes(again, dup).Records[0]
		if got.ID != first.ID || got.State != claimdlq.StateQueued || got.Display != first.Display {
			t.Errorf("got %+v, want %+v", got, first)
		}
	}
	b.force(first.ID, claimdlq.Paid)
	if got := b.takes(raw, dup).Records[0]; got.State != claimdlq.StateSettled || got.Disposition != claimdlq.Paid {
		t.Errorf("got %+v", got)
	}
	if n := len(b.submissions()); n != 1 {
		t.Errorf("%d submissions", n)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 1})
}

func TestRxIntake_OtherContentUnderWayIsAConflict(t *testing.T) { // F5
	t.Parallel()
	b := rxSetup(t, "")
	raw := rxOne(t, "B1", 1)
	first := b.take(raw)
	other := rxSet(t, raw, "07-E7=90000")
	r := b.takes(other, conf).Records[0]
	if rec := b.record(r.ID); rec.State != claimdlq.StateParked || rec.Detail.String() != "KEY_CONFLICT" || rec.ID == first.ID {
		t.Errorf("got %+v", rec)
	}
	if again := b.takes(other, dup).Records[0]; again.ID != r.ID {
		t.Errorf("a second copy of the conflict is %+v", again)
	}
	b.takes(raw, dup)
	if n := len(b.submissions()); n != 1 {
		t.Errorf("%d submissions", n)
	}
}

// F1, F2, 18, 19: what differs in one part that identifies it is another claim.
func TestRxIntake_ClaimsThatDifferStayApart(t *testing.T) {
	t.Parallel()
	base := rxOne(t, "B1", 1)
	for name, as := range map[string][]string{
		"sibling on the card":    {"04-C3=2"},
		"another cardholder":     {"04-C2=TESTOTHER"},
		"a second prescription":  {"07-D2=9999"},
		"the next fill":          {"07-D3=9"},
		"another drug":           {"07-D7=99999000999"},
		"a partial fill":         {"07-HD=P"},
		"its completion":         {"07-HD=C"},
		"another group":          {"04-C1=TESTG2"},
		"another day":            {"D1=20260101"},
		"another payer":          {"A1=888888"},
		"another processor":      {"A4=TESTPCN2"},
		"another pharmacy":       {"B1=1999999984"},
		"parts cut at one place": {"04-C1=TESTGRPX", "04-C2=YZ"},
		"and at another":         {"04-C1=TESTGRP", "04-C2=XYZ"}, // F3
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			b.takes(base, in)
			b.takes(rxSet(t, base, as...), in)
			b.takes(rxSet(t, base, as...), dup)
			b.takes(base, dup)
			b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQueued: 2})
		})
	}
}

func TestRxIntake_GeneratedClaimsAreAllDistinct(t *testing.T) { // F1, F2: compounds, COB, partial fills and completions
	t.Parallel()
	for _, per := range []int{1, 4} {
		b := rxSetup(t, "")
		o := testclaims.RxOptions{Seed: 3, Claims: 240, CompoundEvery: 3, COBEvery: 5, PartialEvery: 7, TransactionsPer: per}
		var want int64
		for _, raw := range rxMessages(t, o) {
			for _, r := range b.message(raw).Records {
				want++
				if r.Status != in {
					t.Fatalf("transactions of %d: claim %d is %s: %s", per, want, r.Status, r.Detail)
				}
			}
		}
		b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQueued: want})
		for _, s := range b.submissions() {
			b.sent(s)
		}
	}
}

func TestRxIntake_TransactionsOfOneMessageShareTheirBytes(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	o := testclaims.RxOptions{Claims: 4, TransactionsPer: 4, Seed: 2}
	raw := rxMessages(t, o)[0]
	recs := b.takes(raw, in, in, in, in).Records
	for i, r := range recs {
		rec := b.record(r.ID)
		if rec.Ordinal != uint32(i+1) || rec.Payload != b.record(recs[0].ID).Payload {
			t.Errorf("record %d: %+v", i, rec)
		}
	}
	if s := b.submissions(); len(s) != 1 || !bytes.Equal(b.sent(s[0]), raw) {
		t.Errorf("%d submissions", len(s))
	}
	b.takes(raw, dup, dup, dup, dup)
}

func TestRxIntake_OneBadTransactionStopsNoOther(t *testing.T) { // 48, promise 6
	t.Parallel()
	b := rxSetup(t, "")
	o := testclaims.RxOptions{Claims: 4, TransactionsPer: 4, Seed: 2, Faults: []testclaims.Fault{{Name: "bad-money", At: []int{3}}}}
	raw := rxMessages(t, o)[0]
	b.takes(raw, in, in, bad, in)
	subs := b.submissions()
	if len(subs) != 3 {
		t.Fatalf("%d submissions", len(subs))
	}
	m := ncpdp.Parse(nil)
	for i, n := range []int{1, 2, 4} {
		m.Reset(raw)
		want, err := ncpdp.Cut(m, n)
		b.must(err)
		if got := b.sent(subs[i]); !bytes.Equal(got, want) {
			t.Errorf("submission %d is not transaction %d alone", i, n)
		}
	}
	// Each is the same claim when it comes alone.
	m.Reset(raw)
	one, err := ncpdp.Cut(m, 2)
	b.must(err)
	b.takes(one, dup)
}

func TestRxIntake_EveryFaultOfTheCatalogIsKept(t *testing.T) { // 8, 48
	t.Parallel()
	for _, k := range testclaims.RxCatalog() {
		if k.Scope == testclaims.InFile {
			continue
		}
		o := testclaims.RxOptions{Claims: 1, Seed: 5}
		if !k.AppliesTo(o) {
			continue
		}
		o.Faults = []testclaims.Fault{{Name: k.Name, At: []int{1}}}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			b := rxSetup(t, "")
			raw := rxMessages(t, o)[0]
			want := bad
			if k.Expect.Verdict == "OK" {
				want = in
			}
			first := b.takes(raw, want).Records[0]
			r := b.record(first.ID)
			switch {
			case want == in:
			case k.Expect.Verdict == "ROUTE_F6" && (r.Detail.String() != "NCPDP:F6:ROUTE" || r.Class != claimdlq.Terminal):
				t.Errorf("got %s %s", r.Class, r.Detail)
			case k.Expect.Verdict == "POISON" && (r.Reason != claimdlq.FatalSyntax || r.Class != claimdlq.Poison || !strings.Contains(r.Detail.String(), strings.ToUpper(k.Expect.Code))):
				t.Errorf("got %s %s %s, want %+v", r.Reason, r.Class, r.Detail, k.Expect)
			case !strings.Contains(b.log.String(), r.DisplayKey()):
				t.Error("no line in the log")
			}
			if again := b.takes(raw, dup).Records[0]; again.ID != first.ID {
				t.Errorf("again: %+v", again)
			}
			if want == bad && len(b.submissions()) > 0 {
				t.Error("it goes out")
			}
		})
	}
}

func TestRxIntake_AResponseIsRefused(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	answer := b.payer.Adjudicate(rxOne(t, "B1", 1))
	if _, err := b.f.Intake.Message(t.Context(), source, phi.Wrap(answer), intake.MessageOptions{}); !errors.Is(err, claimdlq.Refused) || !strings.Contains(err.Error(), "claimdlq acks") {
		t.Errorf("got %v", err)
	}
	rs, err := b.f.Intake.Messages(t.Context(), source, []phi.Bytes{phi.Wrap(rxOne(t, "B1", 1)), phi.Wrap(answer), phi.Wrap(rxOne(t, "B1", 2))}, intake.MessageOptions{})
	if err != nil || len(rs) != 3 || len(rs[0].Records) != 1 || !errors.Is(rs[1].Refused, claimdlq.Refused) || len(rs[2].Records) != 1 {
		t.Errorf("got %+v, %v", rs, err)
	}
	if _, err := b.f.Intake.File(t.Context(), source, "", bytes.NewReader(answer)); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("got %v", err)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQueued: 2})
}

func TestRxIntake_AnEligibilityQuestionMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	e1, other := rxOne(t, "E1", 1), rxOne(t, "E1", 2)
	first := b.takes(e1, in).Records[0].ID
	b.takes(other, in)
	b.takes(e1, dup)
	b.force(first, claimdlq.Accepted)
	b.takes(e1, in)
	for _, s := range b.submissions() {
		b.sent(s)
	}
}

func TestRxIntake_ManyAtOnce(t *testing.T) { // F14, F15, 17
	t.Parallel()
	b := rxSetup(t, "")
	const claims, copies = 40, 4
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[intake.Status]int{}
	for n := range claims {
		raw := rxOne(t, "B1", n+1)
		for range copies {
			wg.Go(func() {
				r, err := b.f.Intake.Message(t.Context(), source, phi.Wrap(raw), intake.MessageOptions{})
				mu.Lock()
				defer mu.Unlock()
				if err != nil || len(r.Records) != 1 {
					t.Errorf("got %+v, %v", r, err)
					return
				}
				got[r.Records[0].Status]++
			})
		}
	}
	wg.Wait()
	if got[in] != claims || got[dup] != claims*(copies-1) {
		t.Errorf("got %v", got)
	}
	if n := len(b.submissions()); n != claims {
		t.Errorf("%d submissions", n)
	}
}

func TestRxIntake_MessagesInOrderInOneUnit(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	b1, b2, other := rxOne(t, "B1", 1), rxOne(t, "B2", 1), rxOne(t, "B1", 2)
	poison := []byte("999999D0B1TESTPCN")
	var raws []phi.Bytes
	for _, raw := range [][]byte{b1, other, b1, b2, poison, b1, rxSet(t, other, "07-E7=90000"), b1} {
		raws = append(raws, phi.Wrap(raw))
	}
	rs, err := b.f.Intake.Messages(t.Context(), source, raws, intake.MessageOptions{Bulk: true})
	b.must(err)
	want := []intake.Status{in, in, dup, in, bad, in, conf, dup}
	for i, r := range rs {
		if len(r.Records) != 1 || r.Records[0].Status != want[i] || r.Records[0].ID == 0 {
			t.Errorf("message %d: %+v, want %s", i, r.Records, want[i])
		}
	}
	if rs[2].Records[0].ID != rs[0].Records[0].ID || rs[7].Records[0].ID != rs[5].Records[0].ID {
		t.Error("a duplicate is answered with another record")
	}
	units := map[string]bool{}
	for _, r := range b.list(store.Filter{}) {
		units[r.Payload.Unit] = true
	}
	if len(units) != 1 {
		t.Errorf("%d units", len(units))
	}
	for _, s := range b.submissions() {
		if !s.Bulk {
			t.Error("it is urgent")
		}
		b.sent(s)
	}
	b.conserved()
}

func TestRxIntake_NoClaimIsOutsideTheVault(t *testing.T) { // 15, 32, promise 7
	t.Parallel()
	b := rxSetup(t, "")
	o := testclaims.RxOptions{Claims: 60, Canary: true, Batch: true, TransactionsPer: 2, Faults: []testclaims.Fault{{Name: "bad-money", Every: 7}, {Name: "header-short", At: []int{3}}}}
	b.rxIngest(rxFile(t, o))
	o.Batch, o.Code, o.TransactionsPer = false, "B2", 0
	o.Faults = nil
	for _, raw := range rxMessages(t, o) {
		b.message(raw)
		b.message(append(bytes.Clone(raw), "\x03TESTCANARY\x1e"...))
	}
	o.Batch = true
	b.noMarks(append(testclaims.RxMarks(o), testclaims.RxMarks(testclaims.RxOptions{Canary: true})...))
}

func TestRxIntake_TheSharedCases(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"req_b1_basic": "accepted", "req_b1_cob": "accepted", "req_b1_compound": "accepted", "req_b1_f6_assumed": "NCPDP:F6:ROUTE",
		"req_b1_multi4": "accepted", "req_b1_padded_fields": "accepted", "req_b1_partial_C": "accepted", "req_b1_partial_P": "accepted",
		"req_b1_patient_first": "accepted", "req_b1_same_ndc_two_rx": "accepted", "req_b1_stx_etx": "accepted", "req_b1_zero_suppressed": "accepted",
		"req_b2_reversal": "accepted", "req_b3_rebill": "accepted", "req_e1_eligibility": "accepted", "req_b1_no_patient": "accepted",
		"bad_count_nondigit": "TRANSACTION_COUNT", "bad_header_short": "HEADER_SHORT", "bad_missing_rs": "AM_INSIDE_SEGMENT",
		"bad_newline_in_body": "CONTROL_CHAR", "bad_no_separators": "NO_SEPARATORS", "bad_nul": "CONTROL_CHAR", "bad_overpunch": "MONEY",
		"bad_quantity": "QUANTITY", "bad_short_token": "SHORT_FIELD", "bad_unknown_txcode": "TRANSACTION_CODE", "bad_unknown_version": "VERSION",
		"bad_lowercase": "VERSION",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := rxFixture(t, name+".ncpdp")
			b := rxSetup(t, "")
			b.rxIngest(raw)
			for _, r := range b.list(store.Filter{}) {
				if r.Format != claimdlq.FormatNCPDP || want == "accepted" && r.State != claimdlq.StateQueued || want != "accepted" && !strings.Contains(r.Detail.String(), want) {
					t.Errorf("got %s %s", r.State, r.Detail)
				}
			}
			one := rxSetup(t, "")
			one.message(raw)
			if got, file := one.states(), b.states(); len(got) != 1 || got[claimdlq.StateQueued] != file[claimdlq.StateQueued] {
				t.Errorf("as a file %v, as a message %v", file, got)
			}
		})
	}
}
