package flow_test

import (
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/store"
)

// TestRxReplay_OneEntryOfADrainNamesEveryRecord pins what the audit log promises of a
// drain: each record's timeline has the replay, by whom and why, and no entry names what
// was not released, or records of two partners.
func TestRxReplay_OneEntryOfADrainNamesEveryRecord(t *testing.T) {
	t.Parallel()
	b := rxSetup(t, "")
	ids := b.failed(30)
	out := ids[7]
	b.must(func() error { _, err := b.f.Retain.Park(t.Context(), ana, out); return err }())
	got, err := b.f.Replay.Select(t.Context(), ana, store.Filter{Stream: claimdlq.StreamNCPDP, State: claimdlq.StateQuarantined}, replay.Options{})
	b.must(err)
	if got.Requeued != len(ids)-1 {
		t.Fatalf("%+v", got)
	}
	var all []claimdlq.Entry
	b.must(b.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActReplay {
			all = append(all, e)
		}
		return true
	}))
	if len(all) >= len(ids)-1 {
		t.Errorf("%d entries for %d records", len(all), len(ids)-1)
	}
	for _, id := range ids {
		n := 0
		for _, e := range all {
			if !e.About(id) {
				continue
			}
			n++
			r := b.record(id)
			if e.Actor != ana.Actor || e.Note != ana.Reason || e.Detail != r.Detail || e.PayloadRevision != r.PayloadRevision ||
				e.From != claimdlq.StateQuarantined || e.To != claimdlq.StateQueued {
				t.Errorf("the entry about %d is %+v", id, e)
			}
		}
		if want := 1; (id == out && n != 0) || (id != out && n != want) {
			t.Errorf("record %d is in %d entries", id, n)
		}
	}
	for _, e := range all {
		partners := map[string]bool{}
		for r := range e.Records.Runs() {
			for id := r.First; id <= r.Last; id++ {
				partners[b.record(id).Partner] = true
			}
		}
		if len(partners) > 1 {
			t.Errorf("entry %d is about %d partners", e.Seq, len(partners))
		}
	}
	acts := b.audited(ids[0])
	if i := slices.Index(acts, claimdlq.ActReplay); i < 0 || strings.Contains(string(acts[len(acts)-1]), "suppress") {
		t.Errorf("record %d was audited as %v", ids[0], acts)
	}
}
