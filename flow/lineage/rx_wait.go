package lineage

import (
	"context"

	"claimdlq"
	"claimdlq/store"
)

// Move is what a held record may do.
type Move uint8

// The moves.
const (
	// Goes: nothing stands in its way.
	Goes Move = iota
	// Waits: a record before it is not decided yet.
	Waits
	// Stops: what it waited for did not come about; it must not be sent.
	Stops
)

// Verdict is the answer of Wait.
type Verdict struct {
	Move Move
	// Code says why it stops.
	Code claimdlq.Detail
	// For is the record that it waits for, or that stopped it.
	For claimdlq.ID
}

var notReversed = claimdlq.NewDetail("LINEAGE:NOT_REVERSED")

// Wait says whether a pharmacy record that is held for its lineage (HoldLineage)
// may be delivered: a reversal waits for the billing before it, a billing for the
// reversal before it. Where that reversal was refused or written off and what it
// should have taken back stands, the billing stops: it would be paid twice. A
// record that is not held goes; intake has looked. Keep the hold until it goes: it
// is what remembers that there is something to wait for. Errors: those of the store.
func Wait(ctx context.Context, s store.Store, r claimdlq.Record) (Verdict, error) {
	if r.Hold != claimdlq.HoldLineage || r.Batch == 0 {
		return Verdict{}, nil
	}
	mates, err := s.Lookup(ctx, r.Batch, MaxMates)
	if err != nil {
		return Verdict{}, err
	}
	return WaitAmong(r, mates), nil
}

// WaitAmong is Wait over the mates, oldest first, whatever holds the record.
func WaitAmong(r claimdlq.Record, mates []claimdlq.Record) Verdict {
	var bill, reversal, standing *claimdlq.Record
	for i := range mates {
		m := &mates[i]
		if m.ID >= r.ID || Root(*m) != Root(r) || isCopy(*m) {
			continue
		}
		back := reverses(*m)
		if underWay(*m) && (back != reverses(r) || rebills(r)) {
			return Verdict{Move: Waits, For: m.ID}
		}
		switch {
		case back && m.State == claimdlq.StateSettled && m.Disposition == claimdlq.Reversed:
			reversal, standing = m, nil
		case back:
			reversal = m
		case accepted(*m):
			bill, standing = m, m
		default:
			bill = m
		}
	}
	if bill != nil && bill.State.Unresolved() && standing == nil && (reverses(r) || rebills(r)) {
		return Verdict{Move: Waits, For: bill.ID}
	}
	if reversal == nil || reverses(r) {
		return Verdict{}
	}
	switch {
	case reversal.State.Unresolved():
		return Verdict{Move: Waits, For: reversal.ID}
	case reversal.Disposition == claimdlq.Reversed || standing == nil || rebills(r):
		return blockedByFlight(r, mates, reversal)
	}
	return Verdict{Move: Stops, Code: notReversed, For: reversal.ID}
}

// isCopy reports that the record is a conflicting copy that nobody has chosen.
func isCopy(r claimdlq.Record) bool {
	return waitsForPerson(r) && r.AttemptCount == 0 && r.Detail.String() == "KEY_CONFLICT"
}

// blockedByFlight lets a billing go, unless what the failed reversal should have
// taken back is still under way: only its end says whether it stands.
func blockedByFlight(r claimdlq.Record, mates []claimdlq.Record, reversal *claimdlq.Record) Verdict {
	if reversal.Disposition == claimdlq.Reversed {
		return Verdict{}
	}
	for _, m := range mates {
		if Root(m) == Root(r) && m.ID < reversal.ID && underWay(m) {
			return Verdict{Move: Waits, For: m.ID}
		}
	}
	return Verdict{}
}
