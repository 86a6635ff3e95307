package flow_test

import (
	"testing"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

func TestLife_CleanClaimsAreDeliveredAndSettled(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	res := b.ingest(generate(t, testclaims.Options{Claims: 10, ClaimsPerSet: 5}))
	if res.Accepted != 10 || res.TransactionSets != 2 || res.Interchanges != 1 {
		t.Fatalf("got %+v", res)
	}
	if s := b.drain(); s.Sent != 1 {
		t.Fatalf("got %+v", s)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSubmitted: 10})
	if got := b.acks(); got.Accepted != 10 || got.Orphans != 0 {
		t.Fatalf("got %+v", got)
	}
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 10})
	if b.accepted() != 10 {
		t.Errorf("the payer accepted %d", b.accepted())
	}
	for _, s := range b.list(store.Filter{Stream: "acks"}) {
		if s.State != claimdlq.StateSettled || s.Disposition != claimdlq.Processed {
			t.Errorf("acknowledgment file is %s %s", s.State, s.Detail)
		}
	}
}

func TestLife_WhatGoesOutUntouchedIsByteForByteWhatCameIn(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 12, ClaimsPerSet: 3, SetsPerGroup: 2, GroupsPerInterchange: 2})
	b.ingest(file)
	b.drain()
	if string(b.target.sent[0]) != string(file) {
		t.Error("what went out differs from what came in")
	}
}

func TestLife_AFailedClaimIsCorrectedReplayedAndSettledAndASecondReplayIsSuppressed(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	res := b.ingest(generate(t, testclaims.Options{Claims: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}}))
	if res.Accepted != 2 || res.Quarantined != 1 {
		t.Fatalf("got %+v", res)
	}
	b.drain()
	b.acks()
	bad := b.only(claimdlq.StateQuarantined)
	if bad.Scope != claimdlq.ScopeClaim || bad.Ordinal != 2 || bad.Claims != 1 {
		t.Fatalf("got %+v", bad)
	}
	if got := b.replay(bad.ID, replay.Options{}); got != claimdlq.NotCorrected {
		t.Fatalf("replay before correction: %s", got)
	}
	bad = b.correct(bad.ID, "NM1[6]-09="+testclaims.NPI(7))
	if bad.PayloadRevision != 2 || bad.RuleVersion != b.deps.Rules.Version() {
		t.Errorf("got revision %d under %s", bad.PayloadRevision, bad.RuleVersion)
	}
	if got := b.replay(bad.ID, replay.Options{}); got != claimdlq.Replayed {
		t.Fatalf("replay: %s", got)
	}
	if got := b.replay(bad.ID, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("second replay: %s", got)
	}
	b.drain()
	b.acks()
	b.claimsAre(map[claimdlq.State]int64{claimdlq.StateSettled: 3})
	if got := b.replay(bad.ID, replay.Options{}); got != claimdlq.DuplicateSuppressed {
		t.Fatalf("replay of a settled claim: %s", got)
	}
	if b.accepted() != 3 || len(b.target.sent) != 2 {
		t.Errorf("accepted %d in %d interchanges", b.accepted(), len(b.target.sent))
	}
	b.noDouble()
}
