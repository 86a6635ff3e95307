package attempt

import (
	"context"
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/vault"
)

// Options join an Attempt to what it works with. Store, Vault, Identities,
// Targets, Policy and Now are required.
type Options struct {
	Store      store.Store
	Vault      vault.Vault
	Identities []*claimdlq.Identity
	// Targets returns where claims for a partner go; false where nothing is
	// configured for it: its claims are held.
	Targets func(partner string) (target.Target, bool)
	Policy  claimdlq.Policy
	Log     *slog.Logger
	Now     func() time.Time
	// Answer takes acknowledgments that came back with a delivery. Nil drops none:
	// then a target's answer is an error of its configuration and only logged.
	Answer func(ctx context.Context, b phi.Bytes) error
	// Partners is how many partners are delivered to at the same time. Default: 8.
	Partners int
	// Timeout bounds one delivery. Default: 5 minutes.
	Timeout time.Duration
	// Buffer is how large an interchange is held in memory between its intent and
	// its delivery; a larger one is composed again. Default: 8 MiB.
	Buffer int
	// Breaker tunes the circuit breaker of each partner.
	Breaker BreakerOptions
}

// Summary says what a Drain did, in submissions.
type Summary struct {
	Sent      int `json:"sent"`      // handed to the payer
	Requeued  int `json:"requeued"`  // failed, to be tried again
	InDoubt   int `json:"in_doubt"`  // nobody knows
	Dead      int `json:"dead"`      // refused, or the budget is spent
	Held      int `json:"held"`      // no target, or an open breaker: no budget spent
	Exhausted int `json:"exhausted"` // records whose budget is spent
}
