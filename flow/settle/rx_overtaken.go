package settle

import (
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/wire/ncpdp"
)

// errOvertaken is the cause of the error of an inquiry that must not be sent.
var errOvertaken = errors.New("overtaken")

// current takes out of what is asked about the records that were overtaken, and returns
// an error where there are any: their bytes would not ask, but bill anew what was
// reversed since, or take back what was billed since.
func (j *job) current(q *question) error {
	var stale error
	var kept []claimdlq.Record
	for _, r := range q.doubtful {
		over, err := j.overtaken(r)
		switch {
		case err != nil:
			return err
		case over:
			stale = &claimdlq.Error{
				Code: claimdlq.Refused, Op: "inquire about record " + r.ID.String(), On: "a later claim of its fill is decided",
				Hint: "ask the payer, then: claimdlq resolve", Err: errOvertaken,
			}
		default:
			kept = append(kept, r)
		}
	}
	q.doubtful = kept
	return stale
}

// overtaken reports whether a later record of the same claim has undone what this one
// would do once more.
func (j *job) overtaken(r claimdlq.Record) (bool, error) {
	if r.Batch == 0 {
		return false, nil
	}
	mates, err := j.Store.Lookup(j.ctx, r.Batch, lineage.MaxMates)
	back := ncpdp.IsReversal([]byte(r.TransactionID))
	return slices.ContainsFunc(mates, func(m claimdlq.Record) bool {
		if m.ID <= r.ID || lineage.Root(m) != lineage.Root(r) || m.State != claimdlq.StateSettled {
			return false
		}
		raises := ncpdp.RaisesGeneration([]byte(m.TransactionID))
		switch m.Disposition {
		case claimdlq.Reversed:
			return !back
		case claimdlq.Paid, claimdlq.Accepted, claimdlq.DuplicateOfPaid:
			return back || raises
		case claimdlq.DispositionNone, claimdlq.Rejected, claimdlq.Processed:
		}
		return false
	}), err
}

// paidBesides reports whether a payment of another record of the same claim stands.
func (j *job) paidBesides(r claimdlq.Record) (stands bool, err error) {
	if r.Batch == 0 {
		return false, nil
	}
	mates, err := j.Store.Lookup(j.ctx, r.Batch, lineage.MaxMates)
	for _, m := range mates {
		if m.ID == r.ID || lineage.Root(m) != lineage.Root(r) || m.State != claimdlq.StateSettled {
			continue
		}
		switch m.Disposition {
		case claimdlq.Paid, claimdlq.Accepted, claimdlq.DuplicateOfPaid:
			stands = stands || !ncpdp.IsReversal([]byte(m.TransactionID))
		case claimdlq.Reversed:
			stands = false
		case claimdlq.DispositionNone, claimdlq.Rejected, claimdlq.Processed:
		}
	}
	return stands, err
}
