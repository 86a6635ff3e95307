package attempt

import (
	"context"

	"claimdlq"
	"claimdlq/flow/envelope"
)

// members returns the submission's records for which is holds, in order.
func (a *Attempt) members(ctx context.Context, s claimdlq.Submission, is func(claimdlq.Record) bool) ([]claimdlq.Record, error) {
	var out []claimdlq.Record
	for _, run := range s.Members {
		for id := run.First; id <= run.Last; id++ {
			r, err := a.o.Store.Get(ctx, id)
			if err != nil {
				return nil, err
			}
			if is(r) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// deliverable: whatever was settled, withdrawn or parked since is left out.
func deliverable(r claimdlq.Record) bool { return r.State == claimdlq.StateQueued }

// leasedBy is for members of a submission whose delivery has not ended.
func leasedBy(s claimdlq.Submission) func(claimdlq.Record) bool {
	return func(r claimdlq.Record) bool { return r.State == claimdlq.StateLeased && r.Submission == s.ID }
}

// parts adds to each record which claims to leave out.
func (a *Attempt) parts(ctx context.Context, members []claimdlq.Record) ([]envelope.Part, error) {
	out := make([]envelope.Part, len(members))
	for i, r := range members {
		p, err := envelope.PartOf(ctx, a.o.Store, r)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}
