package api

import (
	"time"

	"claimdlq"
)

// Limits are what the levers of a record's stream leave to it.
type Limits struct {
	MaxReceive uint32     `json:"max_receive" doc:"Deliveries in a budget; receive_count are spent."`
	Replays    uint32     `json:"replays" doc:"How many replays it may have in all; replay_count are spent."`
	ParksAt    *time.Time `json:"parks_at,omitempty" doc:"When retention parks it, if it is unresolved until then."`
}

// limits says how far a record is from being parked.
func limits(p claimdlq.Policy, r claimdlq.Record) Limits {
	out := Limits{MaxReceive: p.MaxReceive, Replays: p.ReplayCap + r.Unparked}
	switch r.State {
	case claimdlq.StateQueued, claimdlq.StateSubmitted, claimdlq.StateInDoubt, claimdlq.StateQuarantined:
	case claimdlq.StateLeased, claimdlq.StateParked, claimdlq.StateSettled, claimdlq.StateWithdrawn:
		return out
	}
	from := r.FirstFailedAt
	if from.IsZero() {
		from = r.CreatedAt
	}
	if r.Reason == claimdlq.Expired && r.UpdatedAt.After(from) { // un-parked: it counts anew
		from = r.UpdatedAt
	}
	out.ParksAt = moment(from.Add(p.Retention))
	return out
}
