package settle

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Options join a Settle to what it works with. All but Rx, Log and RxLog are required.
type Options struct {
	Store      store.Store
	Vault      vault.Vault
	Identities []*claimdlq.Identity
	Routes     target.Routes
	Policies   claimdlq.Policies
	Rules      *x12.Rules
	// Rx are the overrides by which answers to pharmacy claims are classified; nil is
	// none.
	Rx  *classify.NCPDPRules
	Log *slog.Logger
	// RxLog takes the lines of logger pbm.dlq; see dlqlog.NamedRx.
	RxLog *slog.Logger
	Now   func() time.Time
}

// Settle matches acknowledgments to what was sent. It is safe for concurrent use.
type Settle struct {
	o    Options
	asks asks
}

// New returns a Settle.
func New(o Options) *Settle {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.RxLog = cmp.Or(o.RxLog, slog.New(slog.DiscardHandler))
	return &Settle{o: o}
}

// Result says what an acknowledgment file did.
type Result struct {
	File         string      `json:"file"`
	Record       claimdlq.ID `json:"record,omitempty"`
	Interchanges int         `json:"interchanges"`
	Answers      int         `json:"answers"`
	Duplicate    bool        `json:"duplicate"` // the file was read before: nothing was done
	Accepted     int64       `json:"accepted"`  // claims settled as accepted
	Rejected     int64       `json:"rejected"`  // claims quarantined, or settled as rejected
	Requeued     int64       `json:"requeued"`  // claims to be sent again under new numbers
	Pending      int         `json:"pending"`   // answers that leave their claims waiting
	Orphans      int         `json:"orphans"`   // answers that match nothing: kept, and alarmed about
	Error        string      `json:"error,omitempty"`
}

// job is one caller's work: it has identities of its own.
type job struct {
	*Options
	asks   *asks
	ctx    context.Context
	by     claimdlq.By
	ids    []*claimdlq.Identity
	result Result
	orphan claimdlq.Detail                // of the first orphan
	closed map[claimdlq.SubmissionID]bool // submissions that may have no open member left
}

func (t *Settle) job(ctx context.Context, by claimdlq.By) *job {
	j := &job{Options: &t.o, asks: &t.asks, ctx: ctx, by: by, closed: map[claimdlq.SubmissionID]bool{}}
	for _, id := range t.o.Identities {
		j.ids = append(j.ids, id.Clone())
	}
	return j
}

func (j *job) now() time.Time { return j.Now().UTC() }

// maxRounds bounds how often a piece of work is done anew because somebody else
// moved what it is about.
const maxRounds = 16

// retried does the work again from its reading on while it meets a conflict.
func retried(work func() error) error {
	var err error
	for range maxRounds {
		if err = work(); !errors.Is(err, claimdlq.Conflict) {
			return err
		}
	}
	return err
}
