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
		mates, err := j.mates(r)
		if err != nil {
			return err
		}
		op := "inquire about record " + r.ID.String()
		early := tooEarly(r, mates, op)
		switch {
		case overtaken(r, mates):
			stale = &claimdlq.Error{
				Code: claimdlq.Refused, Op: op, On: "a later claim of its fill is decided", Hint: "ask the payer, then: claimdlq resolve",
				Err: errOvertaken,
			}
		case early != nil:
			stale = early
		default:
			kept = append(kept, r)
		}
	}
	q.doubtful = kept
	return stale
}

// tooEarly returns an error where a record before this one is not decided, and may be
// without a person's doing.
func tooEarly(r claimdlq.Record, mates []claimdlq.Record, op string) error {
	v := lineage.WaitAmong(r, mates)
	if v.Move != lineage.Waits || !mayGo(mates, v.For) {
		return nil
	}
	return &claimdlq.Error{
		Code: claimdlq.Refused, Op: op, On: "record " + v.For.String() + " before it is not decided", Hint: "inquire about that one first",
		Err: errOvertaken,
	}
}

// mayStand returns an error where nobody can say yet that what a pharmacy record in doubt
// did stands: a record before it is not decided, and what the payer shows may be what that
// one will take back.
func (j *job) mayStand(s claimdlq.Submission, id claimdlq.ID, op string) error {
	if s.Stream != claimdlq.StreamNCPDP {
		return nil
	}
	r, err := j.Store.Get(j.ctx, id)
	if err != nil {
		return err
	}
	mates, err := j.mates(r)
	if err != nil {
		return err
	}
	return tooEarly(r, mates, op)
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
	mates, err := j.mates(r)
	return lineage.PaidBesides(mates, r), err
}
