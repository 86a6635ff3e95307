package flow_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
	"claimdlq/vault"
	"claimdlq/wire/x12ack"
)

func TestIntake_TwoSendersWithTheSameNumbersAreTwoRecords(t *testing.T) { // F5
	t.Parallel()
	b := setup(t, "")
	one := generate(t, testclaims.Options{Seed: 1, Claims: 2, Sender: "TESTSENDERA"})
	two := generate(t, testclaims.Options{Seed: 2, Claims: 2, Sender: "TESTSENDERB", FirstClaim: 100})
	if a, c := b.ingest(one), b.ingest(two); a.Accepted != 2 || c.Accepted != 2 {
		t.Fatalf("got %+v and %+v", a, c)
	}
	found, err := b.st.Lookup(t.Context(), claimdlq.DisplayRef("000000001:0001"), 10)
	b.must(err)
	if len(found) != 2 {
		t.Errorf("%d records under the display key, want 2", len(found))
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4})
}

func TestIntake_TwoGroupsWithTheSameST02AreTwoRecords(t *testing.T) { // RFI 33
	t.Parallel()
	b := setup(t, "")
	res := b.ingest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 2, SetsPerGroup: 1, GroupsPerInterchange: 2}))
	if res.Accepted != 4 || res.Conflicts != 0 {
		t.Fatalf("got %+v", res)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4})
}

func TestIntake_ARedeliveredFileIsANoOp(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 6, ClaimsPerSet: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}})
	b.ingest(file)
	before := len(b.list(store.Filter{}))
	for _, step := range []func(){func() {}, func() { b.drain() }, func() { b.acks() }} {
		step()
		if res := b.ingest(file); res.Duplicates != 6 || res.Accepted+res.Quarantined+res.Conflicts != 0 {
			t.Fatalf("got %+v", res)
		}
	}
	if s := b.drain(); s.Sent != 0 {
		t.Errorf("a redelivery was sent: %+v", s)
	}
	if got := len(b.list(store.Filter{Stream: "837"})); got != before {
		t.Errorf("%d records, want %d", got, before)
	}
	b.noDouble()
}

func TestIntake_ARedeliveryAfterKeyRotationIsRecognised(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 3})
	junk := []byte("TEST no interchange")
	b.ingest(file)
	b.ingest(junk)
	b.drain()
	b.deps.Identities = []*claimdlq.Identity{identity(2), identity(1)}
	b.assemble()
	if res := b.ingest(file); res.Duplicates != 3 {
		t.Errorf("got %+v", res)
	}
	if res := b.ingest(junk); res.Duplicates != 1 {
		t.Errorf("got %+v", res)
	}
	// The same claims under other numbers are found under the old term too.
	if res := b.ingest(generate(t, testclaims.Options{Claims: 3, ISA13: 2})); res.Quarantined != 3 {
		t.Errorf("got %+v", res)
	}
	if got := b.acks(); got.Accepted != 3 { // batch numbers keyed under the old term
		t.Errorf("got %+v", got)
	}
}

func TestIntake_AChangedFileUnderTheSameNumbersIsKeptAndParked(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Seed: 1, Claims: 2}))
	changed := generate(t, testclaims.Options{Seed: 9, Claims: 2, FirstClaim: 50})
	if res := b.ingest(changed); res.Conflicts != 2 || res.Accepted != 0 {
		t.Fatalf("got %+v", res)
	}
	if res := b.ingest(changed); res.Duplicates != 2 || res.Conflicts != 0 {
		t.Fatalf("the changed file again: %+v", res)
	}
	parked := b.only(claimdlq.StateParked)
	if parked.Detail.String() != "KEY_CONFLICT" || parked.Claims != 2 {
		t.Errorf("got %s", b.dump())
	}
	// A person decides that the changed one is meant as well: it goes out under new numbers.
	_, err := b.f.Retain.Unpark(t.Context(), ana, parked.ID)
	b.must(err)
	if got := b.replay(parked.ID, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("got %s", got)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4})
	b.noDouble()
}

func TestIntake_OfFiveThousandClaimsInOneSetThreeBadOnesAreHeldAndTheRestGoesOn(t *testing.T) { // F6, promise 6
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 5000, ClaimsPerSet: 5000, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{7, 2500, 4999}}}})
	if res := b.ingest(file); res.Accepted != 4997 || res.Quarantined != 3 {
		t.Fatalf("got %+v", res)
	}
	b.drain()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSubmitted: 4997, claimdlq.StateQuarantined: 3})
	if got := b.acks(); got.Accepted != 4997 || got.Orphans != 0 {
		t.Fatalf("got %+v", got)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 4997, claimdlq.StateQuarantined: 3})
	var ordinals []uint32
	for _, r := range b.list(store.Filter{State: claimdlq.StateQuarantined}) {
		ordinals = append([]uint32{r.Ordinal}, ordinals...)
	}
	if len(ordinals) != 3 || ordinals[0] != 7 || ordinals[1] != 2500 || ordinals[2] != 4999 {
		t.Errorf("held %v", ordinals)
	}
	if b.accepted() != 4997 {
		t.Errorf("the payer has %d", b.accepted())
	}
}

func TestIntake_FaultsOfAWholeSetGroupOrInterchangeHoldWhatTheyMust(t *testing.T) {
	t.Parallel()
	cases := []struct {
		fault             string
		held, sent        int64 // of 8 claims: two groups of two sets of two
		detail            string
		wholeFileIsFaulty bool
	}{
		{fault: "se01-low", held: 2, sent: 6, detail: "IK5:R:4"},
		{fault: "se02", held: 2, sent: 6, detail: "IK5:R:3"},
		{fault: "ge02", held: 4, sent: 4, detail: "AK9:R:4"},
		{fault: "ge01", held: 4, sent: 4, detail: "AK9:R:5"},
		{fault: "iea02", held: 8, detail: "TA1:001", wholeFileIsFaulty: true},
		{fault: "iea01", held: 8, detail: "TA1:021", wholeFileIsFaulty: true},
		{fault: "iea-missing", held: 8, detail: "TA1:023", wholeFileIsFaulty: true},
		{fault: "isa15", held: 8, detail: "TA1:020", wholeFileIsFaulty: true},
	}
	for _, c := range cases {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "")
			file := generate(t, testclaims.Options{
				Claims: 8, ClaimsPerSet: 2, SetsPerGroup: 2, GroupsPerInterchange: 2,
				Faults: []testclaims.Fault{{Name: c.fault, At: []int{1}}},
			})
			res := b.ingest(file)
			if res.Quarantined != c.held || res.Accepted != c.sent || (res.Error != "") != c.wholeFileIsFaulty {
				t.Fatalf("got %+v\n%s", res, b.dump())
			}
			for _, r := range b.list(store.Filter{State: claimdlq.StateQuarantined}) {
				if r.Detail.String() != c.detail || r.Reason != claimdlq.FatalSyntax || r.Class != claimdlq.Poison {
					t.Errorf("got %s %s %s", r.Detail, r.Reason, r.Class)
				}
			}
			b.drain()
			b.acks()
			if int64(b.accepted()) != c.sent {
				t.Errorf("the payer has %d", b.accepted())
			}
		})
	}
}

func TestIntake_WhatCannotBeReadIsKept(t *testing.T) { // F7
	t.Parallel()
	good := string(generate(t, testclaims.Options{Claims: 1}))
	cases := map[string]struct {
		file              string
		detail            string
		accepted, refused int64
	}{
		"empty":                     {"", "EMPTY_FILE", 0, 1},
		"blank":                     {"\r\n \n", "EMPTY_FILE", 0, 1},
		"another protocol":          {"MSH|^~\\&|TEST|TEST", "NO_INTERCHANGE", 0, 1},
		"an ISA cut short":          {good[:60], "TA1:023", 0, 1},
		"an ISA that is none":       {"ISA*00*TEST~" + strings.Repeat("X*", 300), "TA1:022", 0, 1},
		"junk after an interchange": {good + "TEST JUNK", "", 1, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "")
			res := b.ingest([]byte(c.file))
			if res.Quarantined != c.refused || res.Accepted != c.accepted || res.Error == "" {
				t.Fatalf("got %+v", res)
			}
			r := b.only(claimdlq.StateQuarantined)
			if c.detail != "" && r.Detail.String() != c.detail {
				t.Errorf("detail %s, want %s", r.Detail, c.detail)
			}
			if r.Class != claimdlq.Poison || r.Reason != claimdlq.FatalSyntax || r.Scope != claimdlq.ScopeFile {
				t.Errorf("got %s %s %s", r.Class, r.Reason, r.Scope)
			}
			doc, err := b.f.Correct.Document(t.Context(), ana, r.ID)
			b.must(err)
			if name != "blank" && !strings.HasSuffix(c.file, string(doc.Reveal())) {
				t.Error("the bytes were not kept")
			}
			again := b.ingest([]byte(c.file))
			if again.Duplicates != c.refused+c.accepted {
				t.Errorf("again: %+v", again)
			}
			if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.NotCorrected {
				t.Errorf("replay of unreadable bytes: %s", got)
			}
		})
	}
}

func TestIntake_AFileOfAcknowledgmentsIsRefusedAndNothingKept(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	before := len(b.list(store.Filter{}))
	for _, file := range b.target.take() {
		_, err := b.f.Intake.File(t.Context(), source, "TEST", bytes.NewReader(file))
		e, ok := errors.AsType[*claimdlq.Error](err)
		if !ok || e.Code != claimdlq.Refused || !strings.Contains(e.Hint, "claimdlq acks") {
			t.Fatalf("got %v", err)
		}
	}
	if got := len(b.list(store.Filter{})); got != before {
		t.Errorf("%d records, want %d", got, before)
	}
}

func TestIntake_TheSameClaimUnderOtherNumbersIsHeld(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 3}))
	// The same three and a new one, in one set.
	res := b.ingest(generate(t, testclaims.Options{Claims: 4, ISA13: 77}))
	if res.Accepted != 1 || res.Quarantined != 3 {
		t.Fatalf("got %+v", res)
	}
	held := b.list(store.Filter{State: claimdlq.StateQuarantined})
	for _, r := range held {
		if r.Detail.String() != "RULE:DUPLICATE_CLAIM" || r.Reason != claimdlq.SemanticReject || r.Class != claimdlq.Terminal {
			t.Errorf("got %s %s %s", r.Detail, r.Reason, r.Class)
		}
		// Not even a named person sends it while the first is under way.
		if got := b.replay(r.ID, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
			t.Errorf("replay: %s", got)
		}
	}
	b.drain()
	b.acks()
	if b.accepted() != 4 {
		t.Errorf("the payer has %d", b.accepted())
	}
	b.noDouble()
}

func TestIntake_TheSameClaimTwiceInOneFileIsHeldOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	one := generate(t, testclaims.Options{Claims: 2})
	two := generate(t, testclaims.Options{Claims: 2, ISA13: 2})
	if res := b.ingest(append(one, two...)); res.Accepted != 2 || res.Quarantined != 2 || res.Interchanges != 2 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
}

func TestIntake_AClaimThatCameToNothingMayComeAgain(t *testing.T) {
	t.Parallel()
	after := map[string]func(*bench, claimdlq.Record){
		"rejected by the payer": func(b *bench, _ claimdlq.Record) {
			b.drain()
			b.acks()
		},
		"withdrawn": func(b *bench, r claimdlq.Record) {
			_, err := b.f.Retain.Withdraw(b.t.Context(), ana, r.ID)
			b.must(err)
		},
		"refused by the target": func(b *bench, _ claimdlq.Record) {
			b.target.plan = []mode{notFound}
			b.drain()
		},
	}
	for name, come := range after {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "interchange 1 acks late 1h\n")
			if name == "rejected by the payer" {
				b = setup(t, "claim 1 stc A7:562")
			}
			b.ingest(generate(t, testclaims.Options{Claims: 1}))
			first := b.list(store.Filter{Stream: "837"})[0]
			come(b, first)
			res := b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 5}))
			if res.Accepted != 1 {
				t.Fatalf("got %+v\n%s", res, b.dump())
			}
			// From now on the first one is the duplicate.
			if got := b.replay(first.ID, replay.Options{Unchanged: true}); got != claimdlq.DuplicateSuppressed {
				t.Errorf("replay of the first: %s", got)
			}
			// And a third is held, however often the claim came.
			if res := b.ingest(generate(t, testclaims.Options{Claims: 1, ISA13: 6})); res.Quarantined != 1 {
				t.Errorf("got %+v", res)
			}
		})
	}
}

// brokenReader fails after n bytes.
type brokenReader struct {
	r io.Reader
	n int
}

func (b *brokenReader) Read(p []byte) (int, error) {
	if b.n == 0 {
		return 0, errors.New("TEST line dropped")
	}
	n, err := b.r.Read(p[:min(len(p), b.n)])
	b.n -= n
	return n, err
}

func TestIntake_AnInterruptedIntakeIsFinishedByTheNextDelivery(t *testing.T) {
	t.Parallel()
	file := generate(t, testclaims.Options{Claims: 600, ClaimsPerSet: 10, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{15, 595}}}})
	for _, part := range []int{1, 3, 7, 9} {
		b := setup(t, "")
		small := intake.New(intake.Options{
			Store: b.st, Vault: b.v, Identities: b.deps.Identities, Rules: b.deps.Rules, Now: b.clock.now, BatchClaims: 50,
		})
		_, err := small.File(t.Context(), source, "TEST", &brokenReader{bytes.NewReader(file), len(file) * part / 10})
		if !errors.Is(err, claimdlq.Unavailable) {
			t.Fatalf("got %v", err)
		}
		b.restart()
		if s := b.drain(); s.Sent != 0 {
			t.Fatalf("half an interchange was sent: %+v", s)
		}
		b.conserved()
		res := b.ingest(file)
		if res.Accepted != 598 || res.Quarantined != 2 || res.Duplicates != 0 {
			t.Fatalf("after %d tenths: %+v", part, res)
		}
		if res := b.ingest(file); res.Duplicates != 600 {
			t.Fatalf("again: %+v", res)
		}
		b.drain()
		b.acks()
		if b.accepted() != 598 {
			t.Fatalf("the payer has %d", b.accepted())
		}
		b.noDouble()
	}
}

func TestIntake_AFileThatWasCutOffIsFinishedByTheWholeOne(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 6, ClaimsPerSet: 2})
	cut := bytes.Index(file, []byte("ST*837*0003"))
	if res := b.ingest(file[:cut]); res.Accepted != 0 || res.Quarantined != 4 {
		t.Fatalf("got %+v", res)
	}
	if res := b.ingest(file); res.Accepted != 6 || res.Duplicates != 0 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 6})
	b.noDouble()
}

func TestIntake_AnISA13UsedBeforeGoesOutUnderANewNumber(t *testing.T) { // 47
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 1}))
	b.drain()
	// The next day the submitter starts at 1 again.
	b.ingest(generate(t, testclaims.Options{Claims: 1, FirstClaim: 9, Seed: 4, Date: b.clock.at.AddDate(0, 0, 1)}))
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 2})
	if s := b.payer.Stats(); s.DuplicateInterchanges != 0 || s.Accepted != 2 {
		t.Errorf("got %+v", s)
	}
}

func TestIntake_AVeryLargeSetStreamsToTheVault(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Bytes: 9 << 20, ClaimsPerSet: 1 << 20, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{3}}}})
	res := b.ingest(file)
	if res.TransactionSets != 1 || res.Quarantined != 1 || res.Accepted != res.Claims-1 {
		t.Fatalf("got %+v", res)
	}
	if res := b.ingest(file); res.Duplicates != res.Claims {
		t.Fatalf("again: %+v", res)
	}
	b.drain()
	if got := b.acks(); got.Accepted != res.Claims-1 {
		t.Fatalf("got %+v", got)
	}
}

func TestIntake_ManySetsGoOutInInterchangesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.f.Intake = intake.New(intake.Options{
		Store: b.st, Vault: b.v, Identities: b.deps.Identities, Rules: b.deps.Rules, Now: b.clock.now, MaxMembers: 20,
	})
	// Three groups of fifteen: 20 under the numbers they came with, 10 and 15 under others.
	res := b.ingest(generate(t, testclaims.Options{Claims: 45, ClaimsPerSet: 1, SetsPerGroup: 15, GroupsPerInterchange: 3}))
	if res.Accepted != 45 {
		t.Fatalf("got %+v", res)
	}
	if s := b.drain(); s.Sent != 3 {
		t.Fatalf("got %+v", s)
	}
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 45})
	if s := b.payer.Stats(); s.DuplicateInterchanges != 0 {
		t.Errorf("got %+v", s)
	}
	b.noDouble()
}

func TestIntake_TwoDeliveriesAtTheSameMomentAreOne(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 40, ClaimsPerSet: 2})
	results := make(chan int64, 4)
	for range cap(results) {
		go func() {
			res, err := b.f.Intake.File(context.Background(), source, "TEST", bytes.NewReader(file))
			if err != nil {
				t.Error(err)
			}
			results <- res.Accepted
		}()
	}
	var accepted int64
	for range cap(results) {
		accepted += <-results
	}
	if accepted != 40 {
		t.Errorf("accepted %d, want 40", accepted)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 40})
	b.noDouble()
}

func TestIntake_AcknowledgmentsAmongClaimsAreKeptAndAlarmedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 1})
	isa := file[:bytes.Index(file, []byte("GS*"))]
	with := append(append(bytes.Clone(isa), "TA1*000000009*260717*1200*A*000~"...), file[len(isa):]...)
	res := b.ingest(with)
	if res.Accepted != 1 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	st, err := b.st.Stats(t.Context())
	b.must(err)
	if st.Orphans != 1 {
		t.Errorf("got %+v", st)
	}
	if _, err := x12ack.Read(bytes.NewReader(with)); err != nil {
		t.Error(err)
	}
}

func TestIntake_NoElementOfABrokenEnvelopeReachesARecord(t *testing.T) { // promise 7
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 1})
	file = bytes.Replace(file, []byte("ST*837*0001*"), []byte("ST*837*DOE JANE CANARY 19110917*"), 1)
	b.ingest(file)
	for _, r := range b.list(store.Filter{}) {
		if strings.Contains(r.DisplayKey()+r.GroupID+r.Sender+r.Partner, "CANARY") {
			t.Errorf("a value reached the record %s", r.ID)
		}
	}
	if strings.Contains(b.log.String(), "CANARY") {
		t.Error("a value reached the log")
	}
}

// fullVault is a vault on a disk that takes so many flushes and no more.
type fullVault struct {
	vault.Vault
	flushes int
}

func (v *fullVault) Sync(ctx context.Context) error {
	if v.flushes--; v.flushes < 0 {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "TEST disk full"}
	}
	return v.Vault.Sync(ctx)
}

func TestIntake_AFullDiskRefusesAndNothingIsLost(t *testing.T) { // promise 8
	t.Parallel()
	b := setup(t, "")
	full := &fullVault{Vault: b.v, flushes: 2}
	in := intake.New(intake.Options{
		Store: b.st, Vault: full, Identities: b.deps.Identities, Rules: b.deps.Rules, Now: b.clock.now, BatchClaims: 20,
	})
	file := generate(t, testclaims.Options{Claims: 100, ClaimsPerSet: 10})
	if _, err := in.File(t.Context(), source, "TEST", bytes.NewReader(file)); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
	if s := b.drain(); s.Sent != 0 {
		t.Fatalf("got %+v", s)
	}
	full.flushes = 1 << 30
	if res, err := in.File(t.Context(), source, "TEST", bytes.NewReader(file)); err != nil || res.Accepted != 100 {
		t.Fatalf("got %+v %v", res, err)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 100})
}
