package flow_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
)

const day = 24 * time.Hour

func TestRetain_WhatIsUnresolvedPastItsRetentionIsParkedWithAnAlarmAndNeverEvicted(t *testing.T) { // promise 8, F39
	t.Parallel()
	b := setup(t, "")
	b.target.plan = []mode{accept, lost, busy}
	b.sendOne(testclaims.Options{Claims: 1})                                              // submitted
	b.sendOne(testclaims.Options{Claims: 1, ISA13: 2, FirstClaim: 2, Seed: 2})            // in doubt
	b.sendOne(testclaims.Options{Claims: 1, ISA13: 3, FirstClaim: 3, Seed: 3})            // queued
	b.ingest([]byte("TEST unreadable"))                                                   // quarantined
	settled := b.sendOne(testclaims.Options{Claims: 1, ISA13: 4, FirstClaim: 4, Seed: 4}) // settled
	b.ack(b.ca(3, 1, nil, verdict{settled[0], "A2", "20"}))
	before := b.states()
	for _, s := range []claimdlq.State{claimdlq.StateSubmitted, claimdlq.StateInDoubt, claimdlq.StateQueued, claimdlq.StateQuarantined, claimdlq.StateSettled} {
		if before[s] != 1 {
			t.Fatalf("got %v\n%s", before, b.dump())
		}
	}
	b.clock.pass(14 * day)
	if n, err := b.f.Retain.Expire(t.Context()); n != 0 || err != nil {
		t.Fatalf("at 14 days: %d %v", n, err)
	}
	b.clock.pass(time.Millisecond)
	if n, err := b.f.Retain.Expire(t.Context()); n != 4 || err != nil {
		t.Fatalf("past 14 days: %d %v", n, err)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateParked: 4, claimdlq.StateSettled: 1})
	if n := strings.Count(b.log.String(), "Unresolved past its retention"); n != 4 {
		t.Errorf("%d alarms", n)
	}
	for _, r := range b.list(store.Filter{State: claimdlq.StateParked}) {
		if r.Reason != claimdlq.Expired {
			t.Errorf("got %s", r.Reason)
		}
		n, err := b.f.Retain.Unpark(t.Context(), ana, r.ID)
		b.must(err)
		if want := map[bool]claimdlq.State{true: claimdlq.StateInDoubt, false: claimdlq.StateQuarantined}[r.FateUnknown]; n.State != want {
			t.Errorf("un-parked to %s, want %s: no detour leads to a blind re-send", n.State, want)
		}
	}
	if n, err := b.f.Retain.Expire(t.Context()); n != 0 || err != nil {
		t.Fatalf("just un-parked by a person: %d are parked again, %v", n, err)
	}
	b.clock.pass(14*day + time.Millisecond)
	if n, err := b.f.Retain.Expire(t.Context()); n != 4 || err != nil {
		t.Fatalf("after another retention: %d %v", n, err)
	}
}

func TestRetain_PeopleNeedANameAndAReason(t *testing.T) { // F20
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	acts := map[string]func(claimdlq.By) error{
		"park":     func(by claimdlq.By) error { _, err := b.f.Retain.Park(t.Context(), by, r.ID); return err },
		"unpark":   func(by claimdlq.By) error { _, err := b.f.Retain.Unpark(t.Context(), by, r.ID); return err },
		"withdraw": func(by claimdlq.By) error { _, err := b.f.Retain.Withdraw(t.Context(), by, r.ID); return err },
	}
	for name, act := range acts {
		for _, by := range []claimdlq.By{{}, {Actor: "ana"}, {Reason: "TEST"}} {
			if err := act(by); !errors.Is(err, claimdlq.Refused) {
				t.Errorf("%s by %+v: %v", name, by, err)
			}
		}
	}
	b.must(acts["park"](ana))
	if got := b.replay(r.ID, replay.Options{}); got != claimdlq.ParkedAtCap {
		t.Errorf("replay of what is parked: %s", got)
	}
	if err := acts["park"](ana); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("parked twice: %v", err)
	}
	b.must(acts["unpark"](ana))
	b.must(acts["withdraw"](ana))
	if err := acts["withdraw"](ana); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("withdrawn twice: %v", err)
	}
	want := "[enqueue park suppress unpark withdraw]"
	if got := b.audited(r.ID); strings.Join(strings.Fields(strings.ReplaceAll(want, "[", "")), " ") == "" || len(got) < 5 {
		t.Errorf("audited %v, want %s", got, want)
	}
}

func TestRetain_OrphansAreSweptAfterTheirGraceAndAudited(t *testing.T) { // F38
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 2}))
	orphan, err := b.v.Stage(phi.Wrap([]byte("TEST orphan")))
	b.must(err)
	b.must(b.v.Sync(t.Context()))
	sweep := func(want int) {
		t.Helper()
		if n, err := b.f.Retain.SweepOrphans(t.Context(), time.Hour); n != want || err != nil {
			t.Fatalf("swept %d, want %d: %v", n, want, err)
		}
	}
	sweep(0)
	b.clock.pass(time.Hour - time.Millisecond)
	sweep(0)
	b.clock.pass(time.Millisecond)
	sweep(1)
	sweep(0)
	if err := b.v.Verify(t.Context(), orphan); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("the orphan is still there: %v", err)
	}
	if got := b.audited(0); len(got) != 1 || got[0] != claimdlq.ActSweep {
		t.Errorf("audited %v", got)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 2})
}

// shredAfter destroys every payload a while after its claim is final.
func (b *bench) shredAfter(d time.Duration) {
	b.policy(func(p *claimdlq.Policy) {
		p.ShredAfter = claimdlq.ShredAfter{Paid: d, Accepted: d, Reversed: d, Rejected: d, Withdrawn: d, Answers: d}
	})
	b.assemble()
}

func TestRetain_APayloadIsShreddedOnlyWhenEveryRecordOnItIsFinal(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.shredAfter(day)
	b.ingest(generate(t, testclaims.Options{Claims: 2, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}}))
	b.drain()
	b.acks()
	b.clock.pass(30 * day)
	shred := func(want int) {
		t.Helper()
		if n, err := b.f.Retain.ShredSettled(t.Context()); n != want || err != nil {
			t.Fatalf("shredded %d, want %d: %v", n, want, err)
		}
	}
	shred(1) // the acknowledgment file; the set's unit is needed by the claim that parted
	bad := b.only(claimdlq.StateQuarantined)
	if _, err := b.f.Correct.Document(t.Context(), ana, bad.ID); err != nil {
		t.Fatalf("a payload that is needed was destroyed: %v", err)
	}
	_, err := b.f.Retain.Withdraw(t.Context(), ana, bad.ID)
	b.must(err)
	shred(0)
	b.clock.pass(day + time.Millisecond)
	shred(1)
	shred(0)
	if _, err := b.f.Correct.Document(t.Context(), ana, bad.ID); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("got %v", err)
	}
	// Redelivery and late acknowledgments still find the records.
	file := generate(t, testclaims.Options{Claims: 2, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}})
	if res := b.ingest(file); res.Duplicates != 2 {
		t.Errorf("got %+v", res)
	}
	if got := b.ack(b.ca(0, 7, nil, verdict{clm01(file)[0], "A7", "562"})); got.Orphans == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestPHI_NoCanaryLeavesTheVault(t *testing.T) { // promise 7
	t.Parallel()
	o := testclaims.Options{Claims: 6, ClaimsPerSet: 3, Canary: true, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}, {Name: "bad-date", At: []int{4}}}}
	b := setup(t, "claim 3 stc A7:562\nset 2 reject 5")
	b.target.sync = true
	b.ingest(generate(t, o))
	b.ingest(append([]byte("ZZCANARYJUNK "), generate(t, o)[200:]...))
	b.drain()
	var held []claimdlq.Record
	for _, r := range b.list(store.Filter{State: claimdlq.StateQuarantined}) {
		held = append(held, r)
		_, err := b.f.Correct.Document(t.Context(), ana, r.ID)
		b.must(err)
		b.replay(r.ID, replay.Options{Unchanged: true})
	}
	if len(held) < 4 {
		t.Fatalf("only %d records are held\n%s", len(held), b.dump())
	}
	var out bytes.Buffer
	out.WriteString(b.log.String())
	for _, r := range b.list(store.Filter{}) {
		out.WriteString(r.DisplayKey() + r.GroupID + r.Sender + r.Partner + r.Detail.String() + r.Usage + r.Stream + r.RuleVersion + r.Payload.Unit)
	}
	b.must(b.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		out.WriteString(e.Note + e.Detail.String() + e.Actor)
		return true
	}))
	for _, n := range b.target.names {
		out.WriteString(n)
	}
	for _, mark := range testclaims.Marks(o) {
		if strings.Contains(out.String(), mark) {
			t.Errorf("%s got out of the vault", mark)
		}
	}
}
