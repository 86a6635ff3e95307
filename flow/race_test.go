package flow_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// racing is a store in which somebody else is faster: before is called once,
// ahead of the first commit for which when is true.
type racing struct {
	store.Store
	mu     sync.Mutex
	when   func(store.Batch) bool
	before func()
}

func (r *racing) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	r.mu.Lock()
	before := r.before
	if before != nil && r.when(b) {
		r.before = nil
	} else {
		before = nil
	}
	r.mu.Unlock()
	if before != nil {
		before()
	}
	return r.Store.Commit(ctx, b)
}

func inserts(b store.Batch) bool { return len(b.Insert) > 0 }

func TestRace_AConflictThatComesUpAtTheCommitKeepsBothCopies(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}})
	// Another process, with locks of its own, takes in a changed file at the same moment.
	changed := generate(t, testclaims.Options{Claims: 3, Seed: 8, FirstClaim: 50})
	race := &racing{Store: b.st, when: inserts}
	other := setup(t, "")
	other.deps.Store, other.deps.Vault = b.st, b.v
	other.assemble()
	race.before = func() {
		if _, err := other.f.Intake.File(t.Context(), source, "TEST", bytes.NewReader(changed)); err != nil {
			t.Error(err)
		}
	}
	b.deps.Store = race
	b.assemble()
	res := b.ingest(file)
	if res.Conflicts != 3 || res.Accepted+res.Quarantined+res.Duplicates != 0 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	if r := b.only(claimdlq.StateParked); r.Claims != 3 || r.Parted != 0 || r.Detail.String() != "KEY_CONFLICT" {
		t.Errorf("got %s", b.dump())
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3, claimdlq.StateParked: 3})
}

func TestRace_ARedeliveryThatComesUpAtTheCommitIsOne(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 3})
	other := setup(t, "")
	other.deps.Store, other.deps.Vault = b.st, b.v
	other.assemble()
	b.deps.Store = &racing{Store: b.st, when: inserts, before: func() {
		if _, err := other.f.Intake.File(t.Context(), source, "TEST", bytes.NewReader(file)); err != nil {
			t.Error(err)
		}
	}}
	b.assemble()
	if res := b.ingest(file); res.Duplicates != 3 || res.Accepted != 0 {
		t.Fatalf("got %+v", res)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3})
	b.noDouble()
}

func TestRace_AnAnswerThatIsFasterThanTheOutcomeWins(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"", "claim 2 stc A7:562", "set 1 reject 5", "interchange 1 ta1 R 022"} {
		b := setup(t, script)
		b.ingest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 2}))
		b.target.early = func(answer []byte) { b.ack(answer) }
		b.drain()
		b.target.take()
		for _, r := range b.list(store.Filter{Stream: "837"}) {
			if r.State != claimdlq.StateSettled && r.State != claimdlq.StateQuarantined {
				t.Errorf("%q: record %s is %s\n%s", script, r.ID, r.State, b.dump())
			}
		}
		if len(b.target.sent) != 1 {
			t.Errorf("%q: sent %d times", script, len(b.target.sent))
		}
		if n, err := b.f.Settle.Overdue(t.Context()); n != 0 || err != nil {
			t.Errorf("overdue: %d %v", n, err)
		}
	}
}

func TestRace_ARecordThatMovesWhileItsAnswersAreAppliedIsJudgedAnew(t *testing.T) {
	t.Parallel()
	b := setup(t, "claim 3 stc A7:562")
	b.ingest(generate(t, testclaims.Options{Claims: 4, ClaimsPerSet: 2}))
	b.drain()
	good := b.st
	b.deps.Store = &racing{
		Store: good, when: func(c store.Batch) bool { return len(c.Update) == 2 },
		before: func() {
			r := b.record(1)
			n, err := r.Answer([]uint32{1}, claimdlq.NewDetail("STC:A2:20"), b.clock.now())
			b.must(err)
			_, err = good.Commit(t.Context(), store.Batch{Update: []claimdlq.Record{n}})
			b.must(err)
		},
	}
	b.assemble()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3, claimdlq.StateQuarantined: 1})
}

func TestIntake_ASetOutsideAnyGroupIsKept(t *testing.T) { // IK502 18
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 1})
	from, to := bytes.Index(file, []byte("GS*")), bytes.Index(file, []byte("ST*"))
	file = append(bytes.Clone(file[:from]), file[to:]...)
	res := b.ingest(file)
	if res.Quarantined == 0 || res.Accepted != 0 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	if again := b.ingest(file); again.Duplicates != res.Quarantined {
		t.Errorf("again: %+v", again)
	}
}

func TestIntake_AnInterchangeWithoutAnyClaimIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 1, Faults: []testclaims.Fault{{Name: "iea01", At: []int{1}}}})
	from, to := bytes.Index(file, []byte("GS*")), bytes.Index(file, []byte("IEA*"))
	file = append(bytes.Clone(file[:from]), file[to:]...)
	res := b.ingest(file)
	if res.Quarantined != 1 || res.Claims != 1 {
		t.Fatalf("got %+v", res)
	}
	if r := b.only(claimdlq.StateQuarantined); r.Scope != claimdlq.ScopeInterchange || r.InterchangeID != "000000001" {
		t.Errorf("got %s", b.dump())
	}
}

func TestRace_TheSameClaimsInTwoFilesAtTheSameMomentGoOutOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	var wg sync.WaitGroup
	for i := range 6 {
		file := generate(t, testclaims.Options{Claims: 30, ClaimsPerSet: 3, ISA13: uint32(i + 1), GS06: uint32(i + 1)})
		wg.Go(func() {
			if _, err := b.f.Intake.File(context.Background(), source, "TEST", bytes.NewReader(file)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 30, claimdlq.StateQuarantined: 150})
	b.noDouble()
}

func TestRace_TwoHeldCopiesOfOneClaimAreNotBothReleased(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	for i := range 4 { // each interchange is broken, so that none of its claims stands in another's way
		b.ingest(generate(t, testclaims.Options{Claims: 5, ClaimsPerSet: 1, ISA13: uint32(i + 1), Faults: []testclaims.Fault{{Name: "ge02", At: []int{1}}}}))
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateQuarantined: 20})
	sum, err := b.f.Replay.Select(t.Context(), ana, store.Filter{State: claimdlq.StateQuarantined}, replay.Options{Unchanged: true})
	b.must(err)
	if sum.Requeued != 5 || sum.SkippedDuplicate != 15 {
		t.Fatalf("got %+v", sum)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 5, claimdlq.StateQuarantined: 15})
	b.noDouble()
}

func TestRace_AWholeFileAfterItsCutOffOneDoesNotRepeatWhatCameAnotherWay(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 6, ClaimsPerSet: 2})
	b.ingest(file[:bytes.Index(file, []byte("ST*837*0003"))])
	// The submitter sends two of the four claims under other numbers, then the whole file.
	b.ingest(generate(t, testclaims.Options{Claims: 2, ClaimsPerSet: 2, ISA13: 9}))
	if res := b.ingest(file); res.Accepted != 4 || res.Duplicates != 2 {
		t.Fatalf("got %+v\n%s", res, b.dump())
	}
	b.drain()
	b.acks()
	if b.accepted() != 6 {
		t.Errorf("the payer has %d", b.accepted())
	}
	b.noDouble()
}
