package lineage

import (
	"cmp"
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
// reversal before it, and both for any earlier reversal that is under way, which may
// yet take back what is billed after it. Where the reversal before it was refused or
// written off and what it should have taken back stands, the billing stops: it would
// be paid twice. A record that is not held goes; intake has looked. Keep the hold until
// it goes: it is what remembers that there is something to wait for. Errors: those of
// the store.
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
	p := pastOf(r, mates)
	if reverses(r) || rebills(r) {
		if v := p.billed(); v.Move != Goes {
			return v
		}
	}
	if reverses(r) {
		return Verdict{}
	}
	return p.undone(rebills(r))
}

// billed says whether what a reversal takes back, and who else would, is decided.
func (p past) billed() Verdict {
	switch {
	case p.billFlies != 0:
		return Verdict{Move: Waits, For: p.billFlies}
	case p.backFlies != 0:
		return Verdict{Move: Waits, For: p.backFlies}
	case p.bill != nil && p.bill.State.Unresolved() && !p.standing:
		return Verdict{Move: Waits, For: p.bill.ID}
	}
	return Verdict{}
}

// undone says whether what stood before a billing is taken back. A rebill needs no
// more than that the reversal before it is decided.
func (p past) undone(rebill bool) Verdict {
	switch {
	case p.backFlies != 0:
		return Verdict{Move: Waits, For: p.backFlies}
	case p.reversal == nil:
		return Verdict{}
	case p.reversal.State.Unresolved():
		return Verdict{Move: Waits, For: p.reversal.ID}
	case rebill || p.reversal.Disposition == claimdlq.Reversed:
		return Verdict{}
	case p.standing:
		return Verdict{Move: Stops, Code: notReversed, For: p.reversal.ID}
	case p.billFlies != 0: // only its end says whether it stands
		return Verdict{Move: Waits, For: p.billFlies}
	}
	return Verdict{}
}

// past is what came before a record of the same claim.
type past struct {
	bill, reversal       *claimdlq.Record // the latest of each
	standing             bool             // a billing was accepted, or may have been, and not taken back
	billFlies, backFlies claimdlq.ID      // one that is under way
}

func pastOf(r claimdlq.Record, mates []claimdlq.Record) (p past) {
	root := Root(r)
	for i := range mates {
		m := &mates[i]
		if m.ID >= r.ID || Root(*m) != root || isCopy(*m) {
			continue
		}
		if reverses(*m) {
			p.reversal = m
			p.standing = p.standing && m.Disposition != claimdlq.Reversed
			if underWay(*m) {
				p.backFlies = cmp.Or(p.backFlies, m.ID)
			}
			continue
		}
		p.bill = m
		p.standing = p.standing || accepted(*m) || WrittenOff(*m)
		if underWay(*m) {
			p.billFlies = cmp.Or(p.billFlies, m.ID)
		}
	}
	return p
}

// isCopy reports that the record is a conflicting copy that was never sent: it waits for a
// person, or was written off.
func isCopy(r claimdlq.Record) bool {
	return (waitsForPerson(r) || r.State == claimdlq.StateWithdrawn) && r.AttemptCount == 0 &&
		(r.Detail == KeyConflict || r.Detail == EarlierInDoubt)
}
