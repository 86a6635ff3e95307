package app

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

// Problem is one thing that fsck found wrong.
type Problem struct {
	Record claimdlq.ID `json:"record,omitempty"`
	// What names it: payload_missing, payload_corrupt, payload_shredded, parent_missing,
	// parted_count, submission_missing, not_a_member, conservation, counters, audit,
	// audit_behind, journal.
	What string `json:"what"`
	// Err is the error behind it, if any; it holds no value.
	Err string `json:"error,omitempty"`
}

// maxProblems is how many problems a report lists.
const maxProblems = 1000

// Report is what fsck found.
type Report struct {
	Records     int64 `json:"records"`
	Claims      int64 `json:"claims"`
	Submissions int64 `json:"submissions"`
	Units       int64 `json:"units"`        // sealed payloads with a live key
	Unreferred  int64 `json:"unreferenced"` // of them, those no record points at: earlier revisions, and orphans of a crash
	// Unfinished counts records of interchanges whose intake was interrupted: give
	// their file again.
	Unfinished int64     `json:"unfinished"`
	Entries    uint64    `json:"audit_entries"`
	Problems   []Problem `json:"problems"`
	More       int64     `json:"more_problems,omitempty"` // beyond those listed
}

func (r *Report) found(id claimdlq.ID, what string, err error) {
	if len(r.Problems) == maxProblems {
		r.More++
		return
	}
	p := Problem{Record: id, What: what}
	if err != nil {
		p.Err = err.Error()
	}
	r.Problems = append(r.Problems, p)
}

// fsck is one run.
type fsck struct {
	a       *App
	r       Report
	seals   bool
	units   map[string]bool // referred to; true: its seal holds
	claims  map[claimdlq.State]int64
	records map[claimdlq.State]int64
	subs    map[claimdlq.SubmissionID]claimdlq.Submission
	waiting []claimdlq.IDRange // members of submissions that are not delivered yet
}

// Fsck compares records, submissions, counters, payloads and the audit log with
// each other, and tells progress how many records it has seen. With seals it
// decrypts every payload to check its seal; nothing of it is shown or kept.
func (a *App) Fsck(ctx context.Context, seals bool, progress func(records int64)) (Report, error) {
	f := &fsck{
		a: a, seals: seals, units: map[string]bool{}, claims: map[claimdlq.State]int64{},
		records: map[claimdlq.State]int64{}, subs: map[claimdlq.SubmissionID]claimdlq.Submission{},
		r: Report{Problems: []Problem{}},
	}
	if err := f.undelivered(ctx); err != nil {
		return f.r, err
	}
	var before claimdlq.ID
	for {
		rs, err := a.Store.List(ctx, store.Filter{}, before, 1000)
		if err != nil {
			return f.r, err
		}
		for _, r := range rs {
			if err := f.record(ctx, r); err != nil {
				return f.r, err
			}
		}
		progress(f.r.Records)
		if len(rs) == 0 {
			break
		}
		before = rs[len(rs)-1].ID
	}
	if err := f.counters(ctx); err != nil {
		return f.r, err
	}
	if err := f.orphans(ctx); err != nil {
		return f.r, err
	}
	return f.r, f.audit(ctx)
}

func (f *fsck) record(ctx context.Context, r claimdlq.Record) error {
	f.r.Records++
	f.r.Claims += int64(r.Claims)
	f.claims[r.State] += int64(r.Claims)
	if r.Format != claimdlq.FormatAck {
		f.records[r.State]++
	}
	if r.State == claimdlq.StateQueued && r.Hold == claimdlq.HoldIntake && !in(f.waiting, r.ID) {
		f.r.Unfinished++
	}
	if err := f.payload(ctx, r); err != nil {
		return err
	}
	if r.Parent != 0 {
		if _, err := f.a.Store.Get(ctx, r.Parent); err != nil {
			f.r.found(r.ID, "parent_missing", err)
		}
	}
	if r.Parted > 0 {
		kids, err := f.a.Store.Lookup(ctx, claimdlq.ParentRef(r.ID), int(r.Parted)+1)
		if err != nil {
			return err
		}
		var n uint32
		for _, k := range kids {
			if k.Parent == r.ID {
				n++
			}
		}
		if n != r.Parted {
			f.r.found(r.ID, "parted_count", nil)
		}
	}
	return f.submission(ctx, r)
}

// payload checks that the record's bytes are there. Those of a resolved record
// may have been shredded.
func (f *fsck) payload(ctx context.Context, r claimdlq.Record) error {
	if r.Payload.IsZero() {
		f.r.found(r.ID, "payload_missing", nil)
		return nil
	}
	if _, seen := f.units[r.Payload.Unit]; seen {
		return nil
	}
	f.units[r.Payload.Unit] = true
	if !f.seals {
		return nil
	}
	switch err := f.a.Vault.Verify(ctx, r.Payload); {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, claimdlq.NotFound) && !r.State.Unresolved():
	case errors.Is(err, claimdlq.NotFound):
		f.r.found(r.ID, "payload_missing", err)
	default:
		f.r.found(r.ID, "payload_corrupt", err)
	}
	return nil
}

func (f *fsck) submission(ctx context.Context, r claimdlq.Record) error {
	if r.Submission == 0 {
		return nil
	}
	sub, seen := f.subs[r.Submission]
	if !seen {
		var err error
		sub, err = f.a.Store.Submission(ctx, r.Submission)
		if errors.Is(err, claimdlq.NotFound) {
			f.r.found(r.ID, "submission_missing", err)
			return nil
		}
		if err != nil {
			return err
		}
		sortRanges(sub.Members)
		f.subs[r.Submission] = sub
		f.r.Submissions++
	}
	if !in(sub.Members, r.ID) && !in(sub.Members, r.Parent) {
		f.r.found(r.ID, "not_a_member", nil)
	}
	return nil
}

// undelivered notes the members of submissions that wait for their delivery.
func (f *fsck) undelivered(ctx context.Context) error {
	const many = 1 << 20
	late := f.a.now().AddDate(100, 0, 0)
	for _, st := range []claimdlq.SubmissionState{claimdlq.SubmissionReady, claimdlq.SubmissionLeased, claimdlq.SubmissionSending} {
		subs, err := f.a.Store.Due(ctx, st, late, many)
		if err != nil {
			return err
		}
		for _, s := range subs {
			f.waiting = append(f.waiting, s.Members...)
		}
	}
	sortRanges(f.waiting)
	return nil
}

func sortRanges(rs []claimdlq.IDRange) {
	slices.SortFunc(rs, func(a, b claimdlq.IDRange) int { return cmp.Compare(a.First, b.First) })
}

// in reports whether one of the ranges, sorted and apart, holds the id.
func in(ranges []claimdlq.IDRange, id claimdlq.ID) bool {
	i, found := slices.BinarySearchFunc(ranges, id, func(r claimdlq.IDRange, id claimdlq.ID) int { return cmp.Compare(r.First, id) })
	return found || i > 0 && id <= ranges[i-1].Last
}

// counters compares the store's counters with what was counted here, and with
// each other.
func (f *fsck) counters(ctx context.Context) error {
	st, err := f.a.Store.Stats(ctx)
	if err != nil {
		return err
	}
	var sum int64
	for _, s := range claimdlq.States {
		sum += st.ByState[s]
		if st.ByState[s] != f.claims[s] || st.Records[s] != f.records[s] {
			f.r.found(0, "counters", nil)
		}
	}
	if sum != st.Received {
		f.r.found(0, "conservation", nil)
	}
	return nil
}

// orphans counts the payloads that no record points at, and finds records whose
// payload has no key any more.
func (f *fsck) orphans(ctx context.Context) error {
	return f.a.Vault.Units(ctx, func(unit string, _ int64) bool {
		f.r.Units++
		if _, ok := f.units[unit]; !ok {
			f.r.Unreferred++
		}
		return ctx.Err() == nil
	})
}
