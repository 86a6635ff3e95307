package claimdlq

import (
	"fmt"
	"slices"
)

// State is where a record stands in its life.
type State uint8

// The states of a record. Every one has an exit or is final.
const (
	// StateQueued waits for delivery, or is held (see Hold).
	StateQueued State = iota + 1
	// StateLeased is being delivered; the delivery is already counted.
	StateLeased
	// StateSubmitted was handed to the payer and waits for its acknowledgment.
	StateSubmitted
	// StateInDoubt was sent, or may have been, and nobody knows whether it arrived.
	StateInDoubt
	// StateQuarantined is the dead-letter queue: it waits for a correction or a replay.
	StateQuarantined
	// StateParked is over the replay cap or past its retention and needs a named person.
	StateParked
	// StateSettled has a final disposition.
	StateSettled
	// StateWithdrawn was written off by a named person, with a reason.
	StateWithdrawn
)

// States lists every state in the order of a record's life.
var States = []State{
	StateQueued, StateLeased, StateSubmitted, StateInDoubt,
	StateQuarantined, StateParked, StateSettled, StateWithdrawn,
}

var stateNames = [...]string{
	StateQueued: "queued", StateLeased: "leased", StateSubmitted: "submitted", StateInDoubt: "in_doubt",
	StateQuarantined: "quarantined", StateParked: "parked", StateSettled: "settled", StateWithdrawn: "withdrawn",
}

// String returns the state as it is spelled in JSON, metrics and the command line.
func (s State) String() string { return nameOf(stateNames[:], int(s), "state") }

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *State) UnmarshalText(b []byte) error {
	v, err := ParseState(string(b))
	*s = v
	return err
}

// ParseState returns the state spelled s, or an error with code Invalid.
func ParseState(s string) (State, error) {
	i, err := indexOf(stateNames[:], s, "state")
	return State(i), err
}

// Unresolved reports whether a record in state s still needs something to
// happen. Unresolved records are never evicted: retention parks them.
func (s State) Unresolved() bool { return s != StateSettled && s != StateWithdrawn }

// legal is the one table of moves. A state that is not listed as a source is final.
var legal = map[State][]State{
	// A first step may queue (clean), quarantine (POISON at first sight), park (a
	// conflicting copy) or settle (an acknowledgment file, which has no claims). What
	// another pipeline hands over after it may have sent it comes in in doubt.
	0: {StateQueued, StateInDoubt, StateQuarantined, StateParked, StateSettled},
	// to in doubt: another pipeline says that it may have sent it.
	StateQueued:    {StateQueued, StateLeased, StateInDoubt, StateQuarantined, StateParked, StateSettled, StateWithdrawn},
	StateLeased:    {StateSubmitted, StateSettled, StateQueued, StateQuarantined, StateInDoubt},
	StateSubmitted: {StateSubmitted, StateSettled, StateQuarantined, StateQueued, StateInDoubt, StateParked, StateWithdrawn},
	StateInDoubt:   {StateSubmitted, StateSettled, StateQuarantined, StateQueued, StateParked, StateWithdrawn},
	// quarantined to quarantined is a correction; to settled, a late acknowledgment; to in
	// doubt, another pipeline that says it may have sent it too.
	StateQuarantined: {StateQuarantined, StateQueued, StateInDoubt, StateParked, StateSettled, StateWithdrawn},
	// to itself, where claims part from it.
	StateParked: {StateParked, StateQuarantined, StateInDoubt, StateSettled, StateWithdrawn},
	// A payer's later and more specific reject reopens what a clearinghouse accepted.
	// One claim of a settled set may part from it for the same cause.
	StateSettled: {StateSettled, StateQuarantined},
}

// CanMove reports whether a record may go from one state to the other; from is 0
// for a record that does not exist yet.
func CanMove(from, to State) bool {
	return slices.Contains(legal[from], to)
}

// Hold says why a queued record is not being delivered. Holding spends no budget.
type Hold uint8

// The holds.
const (
	// HoldNone is due, or waits for its back-off.
	HoldNone Hold = iota
	// HoldIntake belongs to an interchange whose trailer has not been read and
	// judged yet. After a crash during intake it is adopted by the redelivery.
	HoldIntake
	// HoldTarget has no target configured for its partner.
	HoldTarget
	// HoldBreaker waits for its partner's circuit breaker to close.
	HoldBreaker
	// HoldLineage waits for the claim it reverses or replaces.
	HoldLineage
	// HoldApproval waits for a second person.
	HoldApproval
	// HoldStopped waits because a person stopped its stream or partner.
	HoldStopped
)

var holdNames = [...]string{
	HoldNone: "", HoldIntake: "intake", HoldTarget: "target", HoldBreaker: "breaker",
	HoldLineage: "lineage", HoldApproval: "approval", HoldStopped: "stopped",
}

// ParseHold returns the hold spelled s, or an error with code Invalid.
func ParseHold(s string) (Hold, error) {
	i, err := indexOf(holdNames[:], s, "hold")
	return Hold(i), err
}

// String returns the hold as it is spelled in JSON; no hold is "".
func (h Hold) String() string { return nameOf(holdNames[:], int(h), "hold") }

// MarshalText implements encoding.TextMarshaler.
func (h Hold) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Disposition is how a settled record ended.
type Disposition uint8

// The dispositions.
const (
	DispositionNone Disposition = iota
	// Paid: the payer adjudicated and pays.
	Paid
	// Accepted: accepted into the payer's adjudication system (277CA A2 or A5).
	Accepted
	// DuplicateOfPaid: a recovered payment: the payer had it already after an
	// ambiguous failure of ours.
	DuplicateOfPaid
	// Reversed: an accepted reversal.
	Reversed
	// Rejected: the payer's final no.
	Rejected
	// Processed: an acknowledgment file whose every answer was matched.
	Processed
)

var dispositionNames = [...]string{
	DispositionNone: "", Paid: "PAID", Accepted: "ACCEPTED", DuplicateOfPaid: "DUPLICATE_OF_PAID",
	Reversed: "REVERSED", Rejected: "REJECTED", Processed: "PROCESSED",
}

// String returns the disposition as it is spelled in JSON; none is "".
func (d Disposition) String() string { return nameOf(dispositionNames[:], int(d), "disposition") }

// MarshalText implements encoding.TextMarshaler.
func (d Disposition) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func nameOf(names []string, i int, what string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

func indexOf(names []string, s, what string) (int, error) {
	for i, n := range names {
		if n == s && n != "" {
			return i, nil
		}
	}
	return 0, &Error{Code: Invalid, Op: "parse " + what, Hint: "use one of the names the documentation lists"}
}
