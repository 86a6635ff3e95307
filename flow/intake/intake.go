package intake

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Options join an Intake to what it works with. Store, Vault, Identities, Rules
// and Now are required.
type Options struct {
	Store store.Store
	Vault vault.Vault
	// Identities are the terms of the HMAC key, current first.
	Identities []*claimdlq.Identity
	Rules      *x12.Rules
	// Guard is shared with all that release claims. Default: one of its own.
	Guard *lineage.Guard
	Log   *slog.Logger
	// RxLog takes the lines about pharmacy claims (dlqlog.NamedRx). Default: Log.
	RxLog *slog.Logger
	Now   func() time.Time
	// BatchClaims and BatchBytes end a batch, whichever comes first. Default: 1,000
	// claims or 4 MiB.
	BatchClaims int
	BatchBytes  int64
	// MaxMembers is how many sets go out in one interchange. Default: 20,000.
	MaxMembers int
}

// Intake takes files in. It is safe for concurrent use.
type Intake struct {
	o     Options
	lanes lanes
	desks sync.Pool // *desk
}

// New returns an Intake.
func New(o Options) *Intake {
	if o.BatchClaims <= 0 {
		o.BatchClaims = 1000
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = 4 << 20
	}
	if o.MaxMembers <= 0 {
		o.MaxMembers = 20_000
	}
	if o.Guard == nil {
		o.Guard = lineage.NewGuard()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RxLog == nil {
		o.RxLog = o.Log
	}
	return &Intake{o: o, lanes: lanes{busy: map[claimdlq.Ref]chan struct{}{}}}
}

// Result says what became of a file. What Claims is made of follows it, in claims; a thing without
// readable claims counts 1.
type Result struct {
	File            string `json:"file"`
	Interchanges    int    `json:"interchanges"`
	TransactionSets int    `json:"transaction_sets"`
	Batches         int    `json:"batches,omitempty"`       // of the NCPDP Batch standard
	Transmissions   int    `json:"transmissions,omitempty"` // pharmacy messages
	Claims          int64  `json:"claims"`
	Accepted        int64  `json:"accepted"`
	Quarantined     int64  `json:"quarantined"`
	Duplicates      int64  `json:"duplicates"`
	Conflicts       int64  `json:"conflicts"`
	// InDoubt counts claims of a DeadLetter that the payer may have.
	InDoubt int64 `json:"in_doubt,omitempty"`
	// Held are the first 100 records that do not go out: quarantined, parked as copies, in
	// doubt, and those of them that were there already (status duplicate). By them who gave
	// the file finds its claims again.
	Held []Taken `json:"held,omitempty"`
	// Error says what was wrong with the file as a whole: position and code.
	Error string `json:"error,omitempty"`
}

// File takes in one file, to its end: X12 interchanges, one pharmacy message, several
// of them each between STX and ETX, or batches of them, as its first bytes say. When
// it returns, all that the result counts is durable; only then may the source be
// acknowledged. A file that was taken in before is a no-op that counts under
// Duplicates, and one whose intake was interrupted is finished. name is for the
// result only: it may hold a patient's name and is not kept.
//
// Errors: Unavailable (reader, vault or store; nothing is lost by giving the file
// again), Refused (the file holds acknowledgments or answers: nothing of it was kept).
func (in *Intake) File(ctx context.Context, by claimdlq.By, name string, r io.Reader) (Result, error) {
	f := in.open(ctx, by, name)
	err := f.any(r)
	return f.result, err
}
