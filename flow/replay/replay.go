package replay

import (
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Config joins a Replay to what it works with. All but Log are required.
type Config struct {
	Store      store.Store
	Vault      vault.Vault
	Identities []*claimdlq.Identity
	Policy     claimdlq.Policy
	Rules      *x12.Rules
	Log        *slog.Logger
	Now        func() time.Time
}

// Replay releases quarantined records for delivery. It is safe for concurrent use.
type Replay struct{ c Config }

// New returns a Replay.
func New(c Config) *Replay {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Replay{c}
}

// Options say how to replay.
type Options struct {
	// Unchanged releases a payload that was refused as it is: a named person says,
	// with a reason, that the cause lies outside the payload and is gone. The
	// current rules must pass it all the same.
	Unchanged bool
	// DryRun decides and changes nothing. Payloads are opened, and that is audited.
	DryRun bool
}

// Summary counts what a bulk replay decided, in records.
type Summary struct {
	Requeued         int `json:"requeued"`
	SkippedDuplicate int `json:"skipped_duplicate"`
	Parked           int `json:"parked"`
	NotCorrected     int `json:"not_corrected"`
	InDoubt          int `json:"in_doubt"`
	NotFound         int `json:"not_found"`
}
