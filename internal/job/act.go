package job

import (
	"context"

	"claimdlq"
)

// Act is what a job does to each of its records. The zero Act is a replay; what the
// others do is over with the item's turn: they have no canaries, no ramp and nothing to
// watch afterwards.
type Act string

// The acts.
const (
	Replay   Act = ""
	Park     Act = "park"
	Unpark   Act = "unpark"
	Withdraw Act = "withdraw"
	Inquire  Act = "inquire"
)

// Acts lists those that are no replay.
var Acts = []Act{Park, Unpark, Withdraw, Inquire}

// Paces: what only the store hears of, and what a payer is asked.
const (
	actRate = 500
	askRate = 10
)

func (a Act) rate() float64 {
	if a == Inquire {
		return askRate
	}
	return actRate
}

// from is the state that a filter without one selects.
func (a Act) from() claimdlq.State {
	switch a {
	case Unpark:
		return claimdlq.StateParked
	case Inquire:
		return claimdlq.StateInDoubt
	case Replay, Park, Withdraw:
	}
	return claimdlq.StateQuarantined
}

// second reports that the act always needs a second person, as it does for one record.
// Parking takes a record out of reach until two people give it back, and an inquiry says
// what the payer says: neither needs one, however many they are.
func (a Act) second() bool { return a == Unpark || a == Withdraw }

// verdict says what would become of a record in the state: Acted, NotAllowed, NotFound.
func (a Act) verdict(s claimdlq.State) Result {
	ok := false
	switch a {
	case Park:
		ok = s != claimdlq.StateParked && claimdlq.CanMove(s, claimdlq.StateParked)
	case Unpark:
		ok = s == claimdlq.StateParked
	case Withdraw:
		ok = claimdlq.CanMove(s, claimdlq.StateWithdrawn)
	case Inquire:
		ok = s == claimdlq.StateInDoubt
	case Replay:
		return NotYet
	}
	switch {
	case s == 0:
		return NotFound
	case ok:
		return Acted
	}
	return NotAllowed
}

// did reports whether a record in the state may be one to which it was done.
func (a Act) did(s claimdlq.State) bool {
	switch a {
	case Park:
		return s == claimdlq.StateParked
	case Unpark:
		return s == claimdlq.StateQuarantined || s == claimdlq.StateInDoubt
	case Withdraw:
		return s == claimdlq.StateWithdrawn
	case Replay, Inquire:
	}
	return false
}

// Verdicts counts the items of a plan that is no replay by what would become of them.
// Nothing need be tried for it: it follows from their states.
func (p *Plan) Verdicts() map[string]int {
	out := map[string]int{}
	for i := range p.Causes {
		if p.Act == Replay {
			break
		}
		s, err := claimdlq.ParseState(p.Causes[i].State)
		if err != nil {
			s = 0 // there was no such record
		}
		out[p.Act.verdict(s).String()] += p.Causes[i].Items
	}
	return out
}

// PlanAct freezes an act to what the selection names now; so many items a second have
// their turn, 0 for the default. Otherwise as Plan, and: Refused where nothing of it can
// be done; Invalid for a rate that is none, and for a replay; Unavailable where nobody
// can be asked.
func (s *Jobs) PlanAct(ctx context.Context, by claimdlq.By, a Act, sel Selection, perSecond float64) (Plan, error) {
	switch {
	case a.verdict(a.from()) != Acted:
		return Plan{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: opPlan, On: "what is to be done"}
	case a == Inquire && s.c.Inquire == nil:
		return Plan{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: opPlan, On: "nobody can be asked", Hint: "configure a target"}
	}
	or(&perSecond, a.rate())
	or(&sel.Filter.State, a.from())
	return s.freeze(ctx, by, a, sel, Policy{Canary: -1, StartRate: perSecond, MaxRate: perSecond})
}
