package api

import (
	"context"

	"claimdlq"
)

// held says what a record waits for and what ends it.
func (s *server) held(ctx context.Context, r claimdlq.Record) (string, error) {
	if r.Hold != claimdlq.HoldLineage {
		return heldOutlook(r), nil
	}
	id, stops, err := s.o.App.WaitsFor(ctx, r)
	if err != nil {
		return "", err
	}
	if id == 0 {
		return "What it waited for is decided: it is delivered as soon as its turn comes.", nil
	}
	other, err := s.o.App.Store.Get(ctx, id)
	if err != nil {
		return "", err
	}
	what := "another record of the same fill"
	if who(ctx).Covers(other.Partner) {
		what = "record " + id.String() + " of the same fill, which is " + other.State.String()
	}
	if !stops.IsZero() {
		return "It came after " + what + ", and what that should have taken back stands: it goes into quarantine (" + stops.String() + ") as soon as its turn comes.", nil
	}
	return "It waits for " + what + ": sent before that is decided it could be paid twice, or reverse what is not there. It is delivered by itself once that one is settled or written off. It spends no budget.", nil
}

// heldOutlook is what can be said of a hold by the record alone.
func heldOutlook(r claimdlq.Record) string {
	partner := r.Partner
	if partner == "" {
		partner = "its partner"
	}
	switch r.Hold {
	case claimdlq.HoldTarget:
		return "It waits: no target is configured for " + partner + " of stream " + r.Stream + ". Name one in the configuration and start again: it is delivered by itself. It spends no budget."
	case claimdlq.HoldStopped:
		return "It waits: a person has stopped deliveries to " + partner + " or all of stream " + r.Stream + ". It is delivered by itself once they are started again. It spends no budget."
	case claimdlq.HoldBreaker:
		return "It waits: the circuit breaker of " + partner + " is open, since calls failed. One claim asks from time to time; it is delivered by itself once the payer answers. It spends no budget."
	case claimdlq.HoldLineage:
		return "It waits for an earlier record of the same fill, and is delivered by itself once that is decided. It spends no budget."
	case claimdlq.HoldApproval:
		return "It waits for a second person, and spends no budget."
	case claimdlq.HoldIntake: // also of what a submission carries already
		return "It is delivered as soon as its turn comes; where its file was cut off while it was taken in, once the same file is given again."
	case claimdlq.HoldNone:
	}
	return ""
}
