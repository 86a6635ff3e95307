package settle

import (
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Options join a Settle to what it works with. All but Log are required.
type Options struct {
	Store      store.Store
	Vault      vault.Vault
	Identities []*claimdlq.Identity
	Targets    func(partner string) (target.Target, bool)
	Policy     claimdlq.Policy
	Rules      *x12.Rules
	Log        *slog.Logger
	Now        func() time.Time
}

// Settle matches acknowledgments to what was sent. It is safe for concurrent use.
type Settle struct{ o Options }

// New returns a Settle.
func New(o Options) *Settle {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Settle{o}
}

// Result says what an acknowledgment file did. Claims and sets are counted where
// a verdict changed something.
type Result struct {
	File         string      `json:"file"`
	Record       claimdlq.ID `json:"record"`
	Interchanges int         `json:"interchanges"`
	Answers      int         `json:"answers"`
	Duplicate    bool        `json:"duplicate"` // the file was read before: nothing was done
	Accepted     int64       `json:"accepted"`  // claims settled
	Rejected     int64       `json:"rejected"`  // claims quarantined or settled as rejected
	Requeued     int64       `json:"requeued"`  // claims to be sent again
	Pending      int         `json:"pending"`   // answers that leave the claim waiting
	Orphans      int         `json:"orphans"`   // answers that match nothing: kept, and alarmed
	Error        string      `json:"error,omitempty"`
}
