package flow_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// ackNumber gives each acknowledgment of a test its own interchange.
var numbers = x12.Numbers{ISA13: 900, GS06: 900, Date: "20260718", Time: "1000"}

// submitted returns what an acknowledgment must know of the nth parcel sent.
func (b *bench) submitted(n int) x12ack.Submitted {
	b.t.Helper()
	h, ta1 := x12.ParseISA(b.target.sent[n])
	if ta1 != "" {
		b.t.Fatal(ta1)
	}
	return x12ack.Submitted{Delims: h.Delims, Envelope: h.Envelope, ISA13: h.ISA13}
}

func (b *bench) ta1(n int, status, note string) []byte {
	b.t.Helper()
	var out bytes.Buffer
	b.must(x12ack.TA1{Submitted: b.submitted(n), Status: status, Note: note}.Write(&out, numbers))
	return out.Bytes()
}

// verdict is what a 277CA of a test says about one claim.
type verdict struct {
	clm01, category, code string
}

// ca writes a 277CA about the batch of the nth parcel.
func (b *bench) ca(n int, isa13 uint32, batch *classify.Status, vs ...verdict) []byte {
	b.t.Helper()
	sent := string(b.target.sent[n])
	bht := strings.Split(sent[strings.Index(sent, "BHT*"):], "*")[3]
	out := x12ack.Batch{
		Submitted: b.submitted(n), GroupSender: "TESTSENDER", GroupReceiver: "TESTPAYER", Payer: "TESTPAYER", PayerID: "1",
		Submitter: "TESTSENDER", SubmitterID: "1", Provider: "TEST", ProviderNPI: testclaims.NPI(1), Reference: "TESTREF",
		BHT03: []byte(bht), Status: classify.Status{Category: "A1", Code: "19", Action: "WQ"},
	}
	if batch != nil {
		out.Status = *batch
	}
	for _, v := range vs {
		action := "U"
		if v.category == "A2" || v.category == "A1" {
			action = "WQ"
		}
		out.Claims = append(out.Claims, x12ack.Claim{
			CLM01: []byte(v.clm01), AmountCents: 100, Status: classify.Status{Category: v.category, Code: v.code, Action: action},
			Last: []byte("TEST"), First: []byte("TEST"), MemberID: []byte("TEST1"),
		})
	}
	var file bytes.Buffer
	num := numbers
	num.ISA13 = isa13
	b.must(x12ack.Write277CA(&file, out, num))
	return file.Bytes()
}

// clm01 returns the CLM01 of every claim in a file, in order.
func clm01(file []byte) (out []string) {
	for _, seg := range strings.Split(string(file), "~") {
		if el := strings.Split(seg, "*"); el[0] == "CLM" {
			out = append(out, el[1])
		}
	}
	return out
}

// sendOne sends one interchange whose payer answers nothing by itself.
func (b *bench) sendOne(o testclaims.Options) (names []string) {
	b.t.Helper()
	file := generate(b.t, o)
	b.ingest(file)
	b.drain()
	b.target.take()
	return clm01(file)
}

func TestSettle_ClaimsOfOneSetPartByTheirVerdicts(t *testing.T) { // F6
	t.Parallel()
	b := setup(t, "")
	c := b.sendOne(testclaims.Options{Claims: 4, ClaimsPerSet: 4})
	// First word about three of the four.
	got := b.ack(b.ca(0, 1, nil, verdict{c[0], "A2", "20"}, verdict{c[1], "A7", "562"}, verdict{c[2], "A1", "19"}))
	if got.Accepted != 0 || got.Rejected != 1 || got.Pending != 1 || got.Orphans != 0 {
		t.Fatalf("got %+v\n%s", got, b.dump())
	}
	bad := b.only(claimdlq.StateQuarantined)
	if bad.Ordinal != 2 || bad.Detail.String() != "STC:A7:562" || bad.Reason != claimdlq.SemanticReject || bad.AttemptCount != 1 {
		t.Fatalf("got %s", b.dump())
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSubmitted: 3, claimdlq.StateQuarantined: 1})
	// Then about the rest.
	if got = b.ack(b.ca(0, 2, nil, verdict{c[2], "A2", "20"}, verdict{c[3], "A5", "20"})); got.Accepted != 3 {
		t.Fatalf("got %+v\n%s", got, b.dump())
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3, claimdlq.StateQuarantined: 1})
	// The one that parted is corrected alone.
	b.correct(bad.ID, goodNPI(3))
	b.replay(bad.ID, replay.Options{})
	b.drain()
	if n := clm01(b.target.sent[1]); len(n) != 1 || n[0] != c[1] {
		t.Fatalf("the replay carries %d claims", len(n))
	}
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4})
}

func TestSettle_ALaterRejectReopensWhatWasAccepted(t *testing.T) { // B.7
	t.Parallel()
	b := setup(t, "")
	c := b.sendOne(testclaims.Options{Claims: 3, ClaimsPerSet: 2})
	b.ack(b.ca(0, 1, nil, verdict{c[0], "A2", "20"}, verdict{c[1], "A2", "20"}))
	b.ack(b.ca(0, 2, nil, verdict{c[1], "A3", "21"}))
	bad := b.only(claimdlq.StateQuarantined)
	if bad.Ordinal != 2 || bad.Parent == 0 {
		t.Fatalf("got %s", b.dump())
	}
	// A late acceptance settles it after all.
	b.ack(b.ca(0, 3, nil, verdict{c[1], "A2", "20"}))
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 2, claimdlq.StateSubmitted: 1})
	if got := b.replay(bad.ID, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
		t.Errorf("got %s", got)
	}
}

func TestSettle_TheSameAcknowledgmentAgainIsANoOp(t *testing.T) {
	t.Parallel()
	b := setup(t, "claim 2 stc A7:562")
	b.ingest(generate(t, testclaims.Options{Claims: 5, ClaimsPerSet: 5}))
	b.drain()
	files := b.target.take()
	for _, f := range files {
		b.ack(f)
	}
	before := b.dump()
	for _, f := range files {
		if got := b.ack(f); !got.Duplicate {
			t.Errorf("got %+v", got)
		}
		// The same verdicts in another file, as a clearinghouse passes them on.
		if got := b.ack(append([]byte("\n"), f...)); got.Accepted+got.Rejected+got.Requeued != 0 || got.Orphans != 0 {
			t.Errorf("got %+v", got)
		}
	}
	if after := b.dump(); len(strings.Split(after, "\n")) != len(strings.Split(before, "\n"))+len(files) {
		t.Errorf("records changed:\n%s\n%s", before, after)
	}
}

func TestSettle_AcknowledgmentsThatAnswerNothingAreKeptAndAlarmedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t, "interchange 1 acks unknown")
	b.ingest(generate(t, testclaims.Options{Claims: 2}))
	b.drain()
	got := b.acks()
	if got.Orphans == 0 || got.Accepted != 2 {
		t.Fatalf("got %+v", got)
	}
	st, err := b.st.Stats(t.Context())
	b.must(err)
	if st.Orphans == 0 || !strings.Contains(b.log.String(), "Acknowledgment answers nothing that was sent") {
		t.Errorf("no alarm: %+v", st)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 2})
}

func TestSettle_AnOrphanIsMatchedWhenItComesAgainLater(t *testing.T) {
	t.Parallel()
	file := generate(t, testclaims.Options{Claims: 1})
	other := setup(t, "")
	other.ingest(file)
	other.drain()
	answer := other.target.take()[0]
	b := setup(t, "")
	if got := b.ack(answer); got.Orphans == 0 {
		t.Fatalf("got %+v", got)
	}
	b.ingest(file)
	b.drain()
	if got := b.ack(answer); got.Accepted != 1 || got.Orphans != 0 {
		t.Fatalf("got %+v", got)
	}
	for _, r := range b.list(store.Filter{Stream: "acks"}) {
		if r.State != claimdlq.StateSettled {
			t.Errorf("the file is %s", r.State)
		}
	}
}

func TestSettle_TwoClaimsWithOneCLM01AreNotGuessed(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2})
	names := clm01(file)
	file = bytes.Replace(file, []byte("CLM*"+names[1]+"*"), []byte("CLM*"+names[0]+"*"), 1)
	b.ingest(file)
	b.drain()
	b.target.take()
	if got := b.ack(b.ca(0, 1, nil, verdict{names[0], "A7", "562"})); got.Orphans != 1 || got.Rejected != 0 {
		t.Fatalf("got %+v\n%s", got, b.dump())
	}
	// Where both get the same word it does not matter which is which.
	if got := b.ack(b.ca(0, 2, nil, verdict{names[0], "A2", "20"}, verdict{names[0], "A2", "20"})); got.Orphans != 0 || got.Accepted != 2 {
		t.Fatalf("got %+v\n%s", got, b.dump())
	}
}

func TestSettle_ABatchRejectWithoutClaimsIsForAllOfThem(t *testing.T) { // B.7
	t.Parallel()
	b := setup(t, "")
	b.sendOne(testclaims.Options{Claims: 3, ClaimsPerSet: 3})
	b.ack(b.ca(0, 1, &classify.Status{Category: "A3", Code: "24", Entity: "41", Action: "U"}))
	r := b.only(claimdlq.StateQuarantined)
	if r.Claims != 3 || r.Scope != claimdlq.ScopeTransaction || r.Detail.String() != "STC:A3:24:41" {
		t.Errorf("got %s", b.dump())
	}
}

func TestSettle_NotNowIsSentAgainUnderNewNumbersWithinTheBudget(t *testing.T) { // E1, E2
	t.Parallel()
	for _, claims := range []int{1, 3} {
		b := setup(t, "")
		c := b.sendOne(testclaims.Options{Claims: claims, ClaimsPerSet: claims})
		verdicts := []verdict{{c[0], "E2", "0"}}
		for _, name := range c[1:] {
			verdicts = append(verdicts, verdict{name, "A2", "20"})
		}
		if got := b.ack(b.ca(0, 1, nil, verdicts...)); got.Requeued != 1 {
			t.Fatalf("got %+v\n%s", got, b.dump())
		}
		if s := b.drain(); s.Sent != 0 {
			t.Fatal("no back-off")
		}
		b.drainFor(time.Minute)
		if len(b.target.sent) != 2 {
			t.Fatalf("sent %d times\n%s", len(b.target.sent), b.dump())
		}
		if n := clm01(b.target.sent[1]); len(n) != 1 || n[0] != c[0] {
			t.Fatalf("%d claims went out again", len(n))
		}
		b.acks()
		b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: int64(claims)})
	}
}

func TestSettle_NotNowForEverSpendsTheBudget(t *testing.T) {
	t.Parallel()
	b := setup(t, "claim all stc E2:0")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	for range 10 {
		b.drainFor(time.Hour)
		b.acks()
	}
	r := b.only(claimdlq.StateQuarantined)
	if r.Reason != claimdlq.RetriesExhausted || len(b.target.sent) != 5 || r.ReceiveCount != 5 {
		t.Errorf("sent %d: %s", len(b.target.sent), b.dump())
	}
}

func TestSettle_DuplicatesEndAsWhatTheyMean(t *testing.T) {
	t.Parallel()
	for _, doubt := range []bool{false, true} {
		b := setup(t, "")
		if doubt {
			b.target.plan = []mode{drop}
		}
		c := b.sendOne(testclaims.Options{Claims: 1})
		b.ack(b.ca(0, 1, nil, verdict{c[0], "A3", "54"}))
		want := claimdlq.Rejected
		if doubt {
			want = claimdlq.DuplicateOfPaid
		}
		if r := b.only(claimdlq.StateSettled); r.Disposition != want {
			t.Errorf("doubt %v: got %s", doubt, r.Disposition)
		}
	}
}

func TestSettle_TA1(t *testing.T) { // B.5
	t.Parallel()
	cases := []struct {
		name, status, note string
		before             mode
		state              claimdlq.State
		reason             claimdlq.Reason
		class              claimdlq.Class
	}{
		{"accepted", "A", "000", accept, claimdlq.StateSubmitted, claimdlq.ReasonNone, claimdlq.ClassNone},
		{"accepted ends doubt", "A", "000", lost, claimdlq.StateSubmitted, claimdlq.OutcomeUnknown, claimdlq.ClassNone},
		{"with errors must not be sent again", "E", "014", accept, claimdlq.StateSubmitted, claimdlq.ReasonNone, claimdlq.ClassNone},
		{"rejected for its form", "R", "022", accept, claimdlq.StateQuarantined, claimdlq.FatalSyntax, claimdlq.Poison},
		{"rejected for configuration", "R", "006", accept, claimdlq.StateQuarantined, claimdlq.FatalSyntax, claimdlq.Terminal},
		{"rejected ends doubt", "R", "022", lost, claimdlq.StateQuarantined, claimdlq.FatalSyntax, claimdlq.Poison},
		{"duplicate after doubt is a proof of arrival", "R", "025", lost, claimdlq.StateSubmitted, claimdlq.OutcomeUnknown, claimdlq.ClassNone},
		{"duplicate of somebody else's is doubt", "R", "025", accept, claimdlq.StateInDoubt, claimdlq.OutcomeUnknown, claimdlq.ClassNone},
		{"cut off on the way is sent again", "R", "023", accept, claimdlq.StateQueued, claimdlq.ReasonNone, claimdlq.Transient},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "")
			b.target.plan = []mode{c.before}
			b.sendOne(testclaims.Options{Claims: 2, ClaimsPerSet: 1})
			answer := b.ta1(0, c.status, c.note)
			if got := b.ack(answer); got.Orphans != 0 {
				t.Fatalf("got %+v", got)
			}
			for _, r := range b.list(store.Filter{Stream: "837"}) {
				if r.State != c.state || r.Reason != c.reason || r.Class != c.class {
					t.Errorf("got %s %s %s", r.State, r.Reason, r.Class)
				}
			}
			if c.state != claimdlq.StateQueued {
				return
			}
			b.drainFor(time.Hour)
			b.acks()
			b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 2})
			if s := b.payer.Stats(); s.DuplicateInterchanges != 0 {
				t.Error("it went out under the same number")
			}
		})
	}
}

func TestSettle_A999RejectsOnlyWhatItNames(t *testing.T) { // AK901 P
	t.Parallel()
	b := setup(t, "set 2 reject 5")
	b.ingest(generate(t, testclaims.Options{Claims: 6, ClaimsPerSet: 2}))
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4, claimdlq.StateQuarantined: 2})
	r := b.only(claimdlq.StateQuarantined)
	if r.TransactionID != "0002" || r.Reason != claimdlq.FatalSyntax || r.RefusedRevision != 1 {
		t.Errorf("got %s", b.dump())
	}
}

func TestSettle_TheSameGS06InTwoInterchangesIsToldApartByTheSets(t *testing.T) { // RFI 1220
	t.Parallel()
	b := setup(t, "set 2 reject 5")
	b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 1, GS06: 7, ST02: 1}))
	b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 2, GS06: 7, ST02: 2, FirstClaim: 5, Seed: 5}))
	b.drain()
	got := b.acks()
	if got.Orphans != 0 {
		t.Fatalf("got %+v\n%s", got, b.dump())
	}
	if r := b.only(claimdlq.StateQuarantined); r.TransactionID != "0002" {
		t.Errorf("got %s", b.dump())
	}
}

func TestSettle_AFileOfClaimsIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	_, err := b.f.Settle.Acks(t.Context(), source, "TEST", bytes.NewReader(generate(t, testclaims.Options{Claims: 1})))
	e, ok := errors.AsType[*claimdlq.Error](err)
	if !ok || e.Code != claimdlq.Refused || !strings.Contains(e.Hint, "claimdlq ingest") {
		t.Fatalf("got %v", err)
	}
	if n := len(b.list(store.Filter{})); n != 0 {
		t.Errorf("%d records", n)
	}
}

func TestSettle_WhatCannotBeReadIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	got := b.ack([]byte("TEST no acknowledgment"))
	if got.Error == "" {
		t.Errorf("got %+v", got)
	}
	r := b.list(store.Filter{Stream: "acks"})
	if len(r) != 1 || r[0].State != claimdlq.StateQuarantined || r[0].Payload.IsZero() {
		t.Errorf("got %s", b.dump())
	}
}

func TestSettle_ASubmissionThatNobodyAcknowledgesComesIntoDoubt(t *testing.T) { // F21
	t.Parallel()
	b := setup(t, "")
	b.sendOne(testclaims.Options{Claims: 2})
	b.clock.pass(48*time.Hour - time.Millisecond)
	if n, err := b.f.Settle.Overdue(t.Context()); n != 0 || err != nil {
		t.Fatalf("before the deadline: %d %v", n, err)
	}
	b.clock.pass(time.Millisecond)
	if n, err := b.f.Settle.Overdue(t.Context()); n != 1 || err != nil {
		t.Fatalf("at the deadline: %d %v", n, err)
	}
	if r := b.only(claimdlq.StateInDoubt); r.Detail.String() != "ACK_OVERDUE" {
		t.Errorf("got %s", b.dump())
	}
	if !strings.Contains(b.log.String(), "Acknowledgment is overdue") {
		t.Error("no alarm")
	}
	if n, err := b.f.Settle.Overdue(t.Context()); n != 0 || err != nil {
		t.Fatalf("again: %d %v", n, err)
	}
}

func TestSettle_AnAnswerToAnEarlierSendingOnlySettles(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	c := b.sendOne(testclaims.Options{Claims: 1})
	b.ack(b.ca(0, 1, nil, verdict{c[0], "A7", "562"}))
	r := b.only(claimdlq.StateQuarantined)
	b.correct(r.ID, goodNPI(3))
	b.replay(r.ID, replay.Options{})
	// Released and not sent yet, the first sending turns out to be accepted.
	b.ack(b.ca(0, 2, nil, verdict{c[0], "A2", "20"}))
	if r = b.record(r.ID); r.State != claimdlq.StateSettled || r.Disposition != claimdlq.Accepted {
		t.Fatalf("got %s", b.dump())
	}
	if s := b.drain(); s.Sent != 0 || len(b.target.sent) != 1 {
		t.Errorf("it was sent all the same: %+v", s)
	}
}
