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

// current takes out of what is asked about the records that were overtaken, and those
// that would overtake, and returns an error where there are any. The bytes of the former
// would not ask, but bill anew what was reversed since, or take back what was billed
// since; those of the latter are another pipeline's, which did not wait for an earlier
// claim of ours: what that does when it goes would be done to them.
func (j *job) current(q *question) error {
	var stale error
	var kept []claimdlq.Record
	for _, r := range q.doubtful {
		var mates []claimdlq.Record
		if r.Batch != 0 {
			var err error
			if mates, err = j.Store.Lookup(j.ctx, r.Batch, lineage.MaxMates); err != nil {
				return err
			}
		}
		e := &claimdlq.Error{Code: claimdlq.Refused, Op: "inquire about record " + r.ID.String(), Err: errOvertaken}
		v := lineage.WaitAmong(r, mates)
		switch {
		case overtaken(r, mates):
			e.On, e.Hint = "a later claim of its fill is decided", "ask the payer, then: claimdlq resolve"
			stale = e
		case v.Move == lineage.Waits && mayGo(mates, v.For):
			e.On, e.Hint = "record "+v.For.String()+" before it is not decided", "inquire about that one first"
			stale = e
		default:
			kept = append(kept, r)
		}
	}
	q.doubtful = kept
	return stale
}

// overtaken reports whether a later record of the same claim has undone what this one
// would do once more.
func overtaken(r claimdlq.Record, mates []claimdlq.Record) bool {
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
	})
}

// mayGo reports whether the record may reach the payer, or has, without a person's doing.
func mayGo(mates []claimdlq.Record, id claimdlq.ID) bool {
	return slices.ContainsFunc(mates, func(m claimdlq.Record) bool {
		put := m.State == claimdlq.StateQuarantined || m.State == claimdlq.StateParked
		return m.ID == id && m.State.Unresolved() && (!put || m.FateUnknown)
	})
}

// paidBesides reports whether a payment of another record of the same claim stands.
func (j *job) paidBesides(r claimdlq.Record) (stands bool, err error) {
	if r.Batch == 0 {
		return false, nil
	}
	mates, err := j.Store.Lookup(j.ctx, r.Batch, lineage.MaxMates)
	return lineage.PaidBesides(mates, r), err
}
