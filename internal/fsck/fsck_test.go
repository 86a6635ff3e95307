package fsck_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/fsck"
	"claimdlq/phi"
	"claimdlq/store"
)

func TestRun_ASoundDirectoryIsCleanAndCounted(t *testing.T) {
	t.Parallel()
	for _, seals := range []bool{false, true} {
		rep := check(t, &seen{}, newWorld(t), func(d *fsck.Deps) { d.Seals = seals })
		if !rep.OK() {
			t.Fatalf("found %+v", rep.Findings)
		}
		// Seven records of seven claims; the acknowledgment file has none.
		if rep.Records != 7 || rep.Claims != 7 || rep.Submissions != 2 || rep.Units != 6 || rep.Unfinished != 1 || rep.Shredded != 1 {
			t.Errorf("counted %+v", rep)
		}
	}
}

// on changes record id as it is seen.
func on(id claimdlq.ID, change func(*claimdlq.Record)) *seen {
	return &seen{record: func(r *claimdlq.Record) {
		if r.ID == id {
			change(r)
		}
	}}
}

func onSub(id claimdlq.SubmissionID, change func(*claimdlq.Submission)) *seen {
	return &seen{submission: func(s *claimdlq.Submission) {
		if s.ID == id {
			change(s)
		}
	}}
}

func TestRun_FindsAndNamesEachThingThatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		seen       *seen
		code       fsck.Code
		record     claimdlq.ID
		submission claimdlq.SubmissionID
	}{
		{"a record that its key does not find", &seen{lostKey: 5}, fsck.KeyLost, 5, 0},
		{"no payload", on(1, func(r *claimdlq.Record) { r.Payload = claimdlq.PayloadRef{} }), fsck.PayloadMissing, 1, 0},
		{"a payload that is not there", on(1, func(r *claimdlq.Record) { r.Payload.Unit = "gone" }), fsck.PayloadMissing, 1, 0},
		{"a key that is gone and was not destroyed", on(7, func(r *claimdlq.Record) { r.Payload.Unit = "gone" }), fsck.KeyMissing, 7, 0},
		{"a shredded payload that is needed", on(4, func(r *claimdlq.Record) {
			r.State, r.Disposition, r.Reason, r.FirstFailedAt = claimdlq.StateQuarantined, 0, claimdlq.FatalSyntax, t0
		}), fsck.PayloadMissing, 4, 0},
		{"a claim without its set", &seen{lost: 2}, fsck.ParentMissing, 3, 0},
		{"a claim of a claim", on(2, func(r *claimdlq.Record) { r.Parent = 1 }), fsck.ParentMissing, 3, 0},
		{"a set that misses a claim", on(2, func(r *claimdlq.Record) { r.Parted = 2 }), fsck.PartedCount, 2, 0},
		{"a claim that its set does not know", on(2, func(r *claimdlq.Record) { r.Parted = 0 }), fsck.PartedCount, 3, 0},
		{"a submission that is not there", &seen{lostSub: 2}, fsck.SubmissionMissing, 2, 0},
		{"sent with no submission", on(2, func(r *claimdlq.Record) { r.Submission = 0 }), fsck.SubmissionMissing, 2, 0},
		{"carried by a submission of others", on(2, func(r *claimdlq.Record) { r.Submission = 1 }), fsck.NotAMember, 2, 0},
		{"leased by a submission that was sent", on(2, func(r *claimdlq.Record) { r.State = claimdlq.StateLeased }), fsck.SubmissionState, 2, 0},
		{"submitted with one that is answered", onSub(2, func(s *claimdlq.Submission) { s.State = claimdlq.SubmissionAnswered }), fsck.SubmissionState, 2, 0},
		{"submitted with one that is dead", onSub(2, func(s *claimdlq.Submission) { s.State = claimdlq.SubmissionDead }), fsck.SubmissionState, 2, 0},
		{"queued and forgotten", onSub(1, func(s *claimdlq.Submission) { s.State = claimdlq.SubmissionDead }), fsck.Stranded, 1, 0},
		{"a submission without a state", onSub(1, func(s *claimdlq.Submission) { s.State = 8 }), fsck.SubmissionInvalid, 0, 1},
		{"a submission without members", onSub(1, func(s *claimdlq.Submission) { s.Members = nil }), fsck.SubmissionInvalid, 0, 1},
		{"a member beyond the newest", onSub(1, func(s *claimdlq.Submission) { s.Members[0].Last = 8 }), fsck.SubmissionInvalid, 0, 1},
		{"no ISA13", onSub(1, func(s *claimdlq.Submission) { s.ISA13 = 0 }), fsck.SubmissionInvalid, 0, 1},
		{"an ISA13 of ten digits", onSub(1, func(s *claimdlq.Submission) { s.ISA13 = 1_000_000_000 }), fsck.SubmissionInvalid, 0, 1},
		{"a submission that its number does not find", &seen{unlinked: 2}, fsck.SubmissionInvalid, 0, 2},
		{"a counter", &seen{stats: func(s *store.Stats) { s.Records[claimdlq.StateParked]++ }}, fsck.Counters, 0, 0},
		{"the rejected", &seen{stats: func(s *store.Stats) { s.Rejected++ }}, fsck.Counters, 0, 0},
		{"a reason", &seen{stats: func(s *store.Stats) { s.Quarantined[claimdlq.Expired]++ }}, fsck.Counters, 0, 0},
		{"the orphans", &seen{stats: func(s *store.Stats) { s.Orphans++ }}, fsck.Counters, 0, 0},
		{"the oldest", &seen{stats: func(s *store.Stats) { s.OldestAt = s.OldestAt.Add(time.Millisecond) }}, fsck.Counters, 0, 0},
		{"the oldest parked", &seen{stats: func(s *store.Stats) { s.OldestParkedAt = time.Time{} }}, fsck.Counters, 0, 0},
		{"conservation", &seen{stats: func(s *store.Stats) { s.Received++ }}, fsck.Conservation, 0, 0},
		{"a claim that vanished", on(5, func(r *claimdlq.Record) { r.Parted = 1 }), fsck.Conservation, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rep := check(t, c.seen, newWorld(t), nil)
			if !slices.ContainsFunc(rep.Findings, func(f fsck.Finding) bool {
				return f.Code == c.code && f.Record == c.record && f.Submission == c.submission && f.Next != ""
			}) {
				t.Errorf("found %+v, want %s of record %d, submission %d", rep.Findings, c.code, c.record, c.submission)
			}
		})
	}
}

func TestRun_FindsARecordThatNoStepLeavesSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record claimdlq.ID
		change func(*claimdlq.Record)
	}{
		"state":            {1, func(r *claimdlq.Record) { r.State = 0 }},
		"created_at":       {1, func(r *claimdlq.Record) { r.CreatedAt = time.Time{} }},
		"first_failed_at":  {3, func(r *claimdlq.Record) { r.FirstFailedAt = time.Time{} }},
		"reason_code":      {3, func(r *claimdlq.Record) { r.Reason = claimdlq.ReasonNone }},
		"disposition":      {4, func(r *claimdlq.Record) { r.Disposition = claimdlq.DispositionNone }},
		"hold":             {3, func(r *claimdlq.Record) { r.Hold = claimdlq.HoldBreaker }},
		"fate_unknown":     {2, func(r *claimdlq.Record) { r.FateUnknown = false }},
		"payload_revision": {3, func(r *claimdlq.Record) { r.RefusedRevision = 2 }},
		"receive_count":    {1, func(r *claimdlq.Record) { r.ReceiveCount = 1 }},
		"attempt_count":    {1, func(r *claimdlq.Record) { r.State = claimdlq.StateLeased }},
		"budget":           {1, func(r *claimdlq.Record) { r.AttemptCount, r.ReceiveCount = 6, 6 }},
		"cap":              {3, func(r *claimdlq.Record) { r.ReplayCount, r.Unparked = 5, 1 }},
		"scope":            {1, func(r *claimdlq.Record) { r.Scope = claimdlq.ScopeClaim }},
		"ordinal":          {3, func(r *claimdlq.Record) { r.Ordinal = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rep := check(t, on(c.record, c.change), newWorld(t), nil)
			if !slices.ContainsFunc(rep.Findings, func(f fsck.Finding) bool {
				return f.Code == fsck.RecordInvalid && f.Record == c.record && slices.Contains(strings.Fields(f.Detail), name)
			}) {
				t.Errorf("found %+v, want rule %s", rep.Findings, name)
			}
		})
	}
}

func TestRun_TheBudgetAndTheCapThemselvesAreAllowed(t *testing.T) {
	t.Parallel()
	full := on(1, func(r *claimdlq.Record) { r.AttemptCount, r.ReceiveCount, r.ReplayCount, r.Unparked = 5, 5, 4, 1 })
	if rep := check(t, full, newWorld(t), nil); !rep.OK() {
		t.Errorf("found %+v", rep.Findings)
	}
	over := on(1, func(r *claimdlq.Record) { r.AttemptCount, r.ReceiveCount, r.ReplayCount = 50, 50, 50 })
	if rep := check(t, over, newWorld(t), func(d *fsck.Deps) { d.Policies = claimdlq.Policies{"": {}} }); !rep.OK() {
		t.Errorf("without levers it found %+v", rep.Findings)
	}
}

func TestRun_TwoSubmissionsUnderOneNumberOfALaneAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := submission(1, 5)
	other.Envelope.Receiver = "OTHERPAYER" // another lane
	w.commit(store.Batch{NewSubmissions: []claimdlq.Submission{other}})
	if rep := check(t, &seen{}, w, nil); !rep.OK() {
		t.Fatalf("found %+v", rep.Findings)
	}
	w.commit(store.Batch{NewSubmissions: []claimdlq.Submission{submission(2, 5)}})
	rep := check(t, &seen{}, w, nil)
	if len(rep.Findings) != 1 || rep.Findings[0].Code != fsck.NumberReused || rep.Findings[0].Submission != 4 || !strings.Contains(rep.Findings[0].Detail, "000000002") {
		t.Errorf("found %+v", rep.Findings)
	}
}

func TestRun_ASealThatDoesNotHoldIsFoundOnlyIfAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, err := w.store.Get(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	rep := check(t, &seen{corrupt: r.Payload.Unit}, w, nil)
	if len(rep.Findings) != 1 || rep.Findings[0].Code != fsck.PayloadCorrupt {
		t.Errorf("found %+v", rep.Findings)
	}
	rep = check(t, &seen{corrupt: r.Payload.Unit}, w, func(d *fsck.Deps) { d.Seals = false })
	if !rep.OK() {
		t.Errorf("without looking at seals it found %+v", rep.Findings)
	}
}

func TestRun_OrphansAreNamedAndAreNoFinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref, err := w.vault.Stage(phi.Wrap([]byte("TEST orphan")))
	if err == nil {
		err = w.vault.Sync(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	rep := check(t, &seen{}, w, nil)
	if !rep.OK() || rep.Unreferenced != 2 || !slices.Contains(rep.Orphans, ref.Unit) {
		t.Errorf("found %+v, orphans %v of %d", rep.Findings, rep.Orphans, rep.Unreferenced)
	}
}

func TestRun_ListsAThousandFindingsAndCountsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := w.record(9)
	for n := range 1500 {
		r := shared
		r.Key = claimdlq.Key{9, byte(n), byte(n >> 8)}
		r.State, r.Disposition = claimdlq.StateSettled, claimdlq.Accepted
		w.commit(store.Batch{Insert: []claimdlq.Record{r}})
	}
	all := &seen{record: func(r *claimdlq.Record) {
		if r.ID > 7 {
			r.Disposition = claimdlq.DispositionNone
		}
	}}
	progress := int64(0)
	rep := check(t, all, w, func(d *fsck.Deps) { d.Progress = func(n int64) { progress = n } })
	if len(rep.Findings) != 1000 || rep.More != 500 || progress != 1507 {
		t.Errorf("%d findings and %d more, progress %d", len(rep.Findings), rep.More, progress)
	}
}

func TestRun_StopsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fsck.Run(ctx, fsck.Deps{Store: w.store, Vault: w.vault}); !errors.Is(err, claimdlq.Unavailable) {
		t.Errorf("error is %v", err)
	}
}
