package correct

import (
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Options join a Correct to what it works with. Store, Vault, Rules and Now are
// required.
type Options struct {
	Store store.Store
	Vault vault.Vault
	Rules *x12.Rules
	Log   *slog.Logger
	Now   func() time.Time
}

// Correct gives quarantined records their next payload revision. It is safe for
// concurrent use.
type Correct struct{ o Options }

// New returns a Correct.
func New(o Options) *Correct { return &Correct{o} }

// Proposal is a corrected document and what is to be said about it. Apply takes
// it only if it is Clean.
type Proposal struct {
	ID       claimdlq.ID `json:"id"`
	Revision uint32      `json:"revision"` // of the record it was made from
	// Changes show where the document differs from the present one, without values.
	Changes []x12.Change `json:"changes"`
	// Faults stand in its way by the current rules.
	Faults []x12.Fault `json:"faults"`
	// Codes are faults that have no segment: envelope and structure.
	Codes       []claimdlq.Detail `json:"codes"`
	Clean       bool              `json:"clean"`
	RuleVersion string            `json:"rule_version"`
	AmountCents int64             `json:"amount_cents"`

	doc phi.Bytes
}
