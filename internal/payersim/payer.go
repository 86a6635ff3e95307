package payersim

import (
	"sync"
	"sync/atomic"
	"time"

	"claimdlq"
)

// Options configure a Payer. Now is required.
type Options struct {
	// Script says how it behaves. Default: a payer that works.
	Script *Script
	// Journal is a file in which what was accepted survives the payer, fsynced
	// before each answer. Default: none.
	Journal string
	// Now is the clock.
	Now func() time.Time
	// FirstNumber is the ISA13 of its first acknowledgment; it rises by one. Default:
	// from the clock, so that a payer that starts again does not repeat numbers.
	FirstNumber uint32
	// AckDir is a folder that acknowledgments of what comes over HTTP go to, instead
	// of into the answer. Default: none.
	AckDir string
	// MaxBody bounds one file, in bytes. Default: 1 GiB.
	MaxBody int64
	// MaxClaims bounds how many claims, and how many pharmacy claims, it remembers; it
	// then answers 507. Default: 5,000,000.
	MaxClaims int
	// CountDeliveries keeps how often each pharmacy claim came, for Deliveries.
	CountDeliveries bool
	// MaxBox bounds the acknowledgments that wait to be collected, in bytes. When
	// they do not fit it answers 507. Default: 256 MiB.
	MaxBox int64
}

// Stats counts what the payer did.
type Stats struct {
	Requests              int `json:"requests"`
	Interchanges          int `json:"interchanges"`
	RejectedInterchanges  int `json:"rejected_interchanges"`
	DuplicateInterchanges int `json:"duplicate_interchanges"`
	Sets                  int `json:"transaction_sets"`
	RejectedSets          int `json:"rejected_sets"`
	Claims                int `json:"claims"` // that came in sets it did not reject
	RejectedClaims        int `json:"rejected_claims"`
	DuplicateClaims       int `json:"duplicate_claims"` // rejected as such
	Accepted              int `json:"accepted"`         // acceptances, doubles among them
	// DoubleAccepted counts acceptances of a claim that was accepted already: each
	// one is a claim billed twice.
	DoubleAccepted int `json:"double_accepted"`
	// RepeatedCLM01 counts acceptances of an original claim under a provider's,
	// member's and patient control number accepted before, whatever else it says.
	RepeatedCLM01 int `json:"repeated_clm01"`
	// Unanswered counts requests whose answer the script lost after they were taken.
	Unanswered  int   `json:"unanswered"`
	AcksWaiting int   `json:"acks_waiting"`
	BoxBytes    int64 `json:"box_bytes"`
	// Pharmacy counts what came as pharmacy claims.
	Pharmacy RxStats `json:"pharmacy"`
}

// Payer is a payer of claims. It is safe for concurrent use.
type Payer struct {
	o        Options
	started  time.Time
	requests atomic.Int64
	unheard  atomic.Int64  // requests that were taken and not answered
	underWay atomic.Int64  // files that are being received
	changed  chan struct{} // a new script; capacity 1

	script   atomic.Pointer[Script]
	journal  *journal
	pharmacy *pharmacy

	mu     sync.Mutex
	ledger *ledger
	box    box
	number uint32
	broken error // the journal failed: nothing is taken any more
}

// New returns a Payer, with what its journal remembers. Errors: Invalid without a
// clock; Unavailable or Corrupt for the journal. The caller ends it with Close.
func New(o Options) (*Payer, error) {
	if o.Now == nil {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "make a payer", Hint: "give it a clock"}
	}
	if o.Script == nil {
		o.Script, _ = ParseScript("")
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 1 << 30
	}
	if o.MaxClaims <= 0 {
		o.MaxClaims = 5_000_000
	}
	if o.MaxBox <= 0 {
		o.MaxBox = 256 << 20
	}
	p := &Payer{
		o: o, started: o.Now(), ledger: newLedger(), pharmacy: newPharmacy(),
		number: o.FirstNumber, changed: make(chan struct{}, 1),
	}
	p.script.Store(o.Script)
	var err error
	p.journal, err = openJournal(o.Journal, func(l journalLine) {
		if l.Status != "" {
			p.ledger.apply(l.entry)
			return
		}
		p.pharmacy.load(l.rxLine)
	})
	if err != nil {
		return nil, err
	}
	p.ledger.journal = p.journal
	if p.number == 0 {
		p.number = uint32(p.started.Unix()%900_000_000) + 1
	}
	return p, nil
}

// Close ends the payer's journal.
func (p *Payer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pharmacy.mu.Lock()
	defer p.pharmacy.mu.Unlock()
	return p.journal.close()
}

// SetScript changes how the payer behaves from the next request on. Counts go on.
func (p *Payer) SetScript(s *Script) {
	p.script.Store(s)
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// Stats returns the counts.
func (p *Payer) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.ledger.stats
	s.Requests, s.Unanswered = int(p.requests.Load()), int(p.unheard.Load())
	s.AcksWaiting, s.BoxBytes = len(p.box.files), p.box.bytes
	s.Pharmacy = p.pharmacy.counts()
	return s
}

// Accepted returns every claim accepted, in the order of first acceptance.
func (p *Payer) Accepted() []AcceptedClaim {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]AcceptedClaim(nil), p.ledger.list...)
}

// Duplicates returns the claims accepted more than once.
func (p *Payer) Duplicates() []AcceptedClaim {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ledger.duplicates()
}

func (p *Payer) currentScript() *Script { return p.script.Load() }

func (p *Payer) elapsed() time.Duration { return p.o.Now().Sub(p.started) }
