package fsck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

// maxControl is the largest control number (ISA13, nine digits).
const maxControl = 999_999_999

// readSubmissions reads every submission: ids are given in order from 1.
func (f *run) readSubmissions(ctx context.Context) error {
	f.recent = map[claimdlq.SubmissionID]claimdlq.Submission{}
	for id := claimdlq.SubmissionID(1); ctx.Err() == nil; id++ {
		s, err := f.Store.Submission(ctx, id)
		if errors.Is(err, claimdlq.NotFound) {
			break
		}
		if err != nil {
			return err
		}
		f.r.Submissions++
		if why := f.impossible(s); why != "" {
			f.r.submission(s.ID, SubmissionInvalid, why)
		}
		if err := f.reused(ctx, s); err != nil {
			return err
		}
		switch s.State {
		case claimdlq.SubmissionReady, claimdlq.SubmissionLeased, claimdlq.SubmissionSending:
			f.waiting = append(f.waiting, s.Members...)
		case claimdlq.SubmissionSent, claimdlq.SubmissionInDoubt, claimdlq.SubmissionAnswered, claimdlq.SubmissionDead:
		}
	}
	f.waiting = merged(f.waiting)
	return nil
}

func (f *run) impossible(s claimdlq.Submission) string {
	switch {
	case s.State < claimdlq.SubmissionReady || s.State > claimdlq.SubmissionDead:
		return "state"
	case len(s.Members) == 0:
		return "no members"
	case (s.ISA13 == 0) != (s.Stream == claimdlq.StreamNCPDP) || s.ISA13 > maxControl:
		return "isa13" // a pharmacy transmission has none
	}
	for _, m := range s.Members {
		if m.First == 0 || m.Last < m.First || m.Last > f.newest {
			return "members that are not there"
		}
	}
	return ""
}

// reused looks for another submission under the same number of the same lane.
func (f *run) reused(ctx context.Context, s claimdlq.Submission) error {
	if len(store.SubmissionRefs(s)) == 0 {
		return nil
	}
	same, err := f.Store.FindSubmissions(ctx, store.InterchangeRef(s.Envelope, s.ISA13), page)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(same, func(o claimdlq.Submission) bool { return o.ID == s.ID }) {
		f.r.submission(s.ID, SubmissionInvalid, "its own number does not find it")
	}
	for _, o := range same {
		if o.ID < s.ID && o.ISA13 == s.ISA13 && o.Envelope.Lane() == s.Envelope.Lane() {
			f.r.submission(s.ID, NumberReused, fmt.Sprintf("number %09d, also of submission %d", s.ISA13, o.ID))
		}
	}
	return nil
}

// carried checks a record against the submission that carried it last, and that a
// queued one is carried by one that will be delivered.
func (f *run) carried(ctx context.Context, r claimdlq.Record) error {
	if r.State == claimdlq.StateQueued && !in(f.waiting, r.ID) {
		if r.Hold == claimdlq.HoldIntake {
			f.r.Unfinished++
		} else {
			f.r.record(r.ID, Stranded, "")
		}
	}
	if r.Submission == 0 {
		if r.State == claimdlq.StateLeased || r.State == claimdlq.StateSubmitted {
			f.r.record(r.ID, SubmissionMissing, "none is named")
		}
		return nil
	}
	s, err := f.submission(ctx, r.Submission)
	switch {
	case errors.Is(err, claimdlq.NotFound):
		f.r.record(r.ID, SubmissionMissing, "")
		return nil
	case err != nil:
		return err
	case !in(s.Members, r.ID) && (r.Parent == 0 || !in(s.Members, r.Parent)):
		f.r.record(r.ID, NotAMember, "")
	case contradicts(r.State, s.State):
		f.r.record(r.ID, SubmissionState, "record "+r.State.String()+", submission "+s.State.String())
	}
	return nil
}

// contradicts reports whether a record in the one state cannot have a submission
// in the other. It is pure.
func contradicts(r claimdlq.State, s claimdlq.SubmissionState) bool {
	switch r {
	case claimdlq.StateLeased: // somebody is delivering it
		return s != claimdlq.SubmissionLeased && s != claimdlq.SubmissionSending
	case claimdlq.StateSubmitted: // somebody waits for its acknowledgment
		return s == claimdlq.SubmissionAnswered || s == claimdlq.SubmissionDead
	case claimdlq.StateQueued, claimdlq.StateInDoubt, claimdlq.StateQuarantined, claimdlq.StateParked,
		claimdlq.StateSettled, claimdlq.StateWithdrawn:
	}
	return false
}

// maxRecent is how many submissions are kept while records are read: neighbours
// share theirs.
const maxRecent = 256

func (f *run) submission(ctx context.Context, id claimdlq.SubmissionID) (claimdlq.Submission, error) {
	if s, ok := f.recent[id]; ok {
		return s, nil
	}
	s, err := f.Store.Submission(ctx, id)
	if err != nil {
		return s, err
	}
	s.Members = merged(s.Members)
	if len(f.recent) == maxRecent {
		clear(f.recent)
	}
	f.recent[id] = s
	return s, nil
}

// merged returns the ranges sorted and apart, as the fewest.
func merged(ranges []claimdlq.IDRange) []claimdlq.IDRange {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b claimdlq.IDRange) int { return cmp.Compare(a.First, b.First) })
	out := ranges[:0]
	for _, r := range ranges {
		if n := len(out); n > 0 && r.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}

// in reports whether one of the ranges, sorted and apart, holds the id.
func in(ranges []claimdlq.IDRange, id claimdlq.ID) bool {
	i, found := slices.BinarySearchFunc(ranges, id, func(r claimdlq.IDRange, id claimdlq.ID) int { return cmp.Compare(r.First, id) })
	return found || i > 0 && id <= ranges[i-1].Last
}
