package intake

import (
	"context"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
)

// MessageOptions say how pharmacy messages are taken in.
type MessageOptions struct {
	// Bulk lets urgent ones pass. Default: urgent.
	Bulk bool
}

// Status is what became of one transaction.
type Status string

// The statuses.
const (
	// TakenIn: it is queued and goes out, now or when what it waits for is decided.
	TakenIn Status = "accepted"
	// Quarantined: it is kept and does not go out until a person has looked.
	Quarantined Status = "quarantined"
	// Duplicate: it is there already; State and Disposition are those of the record.
	Duplicate Status = "duplicate"
	// Conflict: the same claim is under way or with the payer with other content.
	// Both are kept; this one is parked.
	Conflict Status = "conflict"
)

// Taken is the answer for one transaction. It holds no PHI.
type Taken struct {
	ID          claimdlq.ID          `json:"id"`
	Status      Status               `json:"status"`
	State       claimdlq.State       `json:"state"`
	Disposition claimdlq.Disposition `json:"disposition,omitempty"`
	Detail      claimdlq.Detail      `json:"error_detail,omitzero"`
	Display     string               `json:"key"` // first 24 hex characters of the claim key
}

// Receipt is the answer for one transmission, one Taken for each transaction in
// order; one for all of them where it could not be told apart. It is proof that all
// it names is durable.
type Receipt struct {
	Records []Taken `json:"records"`
	// Refused says why nothing of the transmission was kept, where Messages went on
	// with the others: it is an answer, not a claim.
	Refused error `json:"-"`
}

// A chunk ends with so many messages or bytes, whichever comes first.
const (
	chunkMessages = 256
	chunkBytes    = 1 << 20
)

// Message takes in one pharmacy transmission. When it returns, all of it is durable:
// what is whole is queued, what cannot be read or breaks the rules is quarantined,
// what was taken in before is answered with its state. raw must not change
// meanwhile. Errors: Refused (it is a response, or several transmissions), Unavailable and
// Conflict (nothing is lost by giving it again).
func (in *Intake) Message(ctx context.Context, by claimdlq.By, raw phi.Bytes, o MessageOptions) (Receipt, error) {
	if ncpdp.Several(raw.Reveal()) {
		return Receipt{}, severalGiven()
	}
	rs, err := in.Messages(ctx, by, []phi.Bytes{raw}, o)
	if err == nil && rs[0].Refused != nil {
		err = rs[0].Refused
	}
	if len(rs) == 0 {
		return Receipt{}, err
	}
	return rs[0], err
}

// Messages takes in many transmissions, in order: it shares a sealed unit, a flush
// and a commit between them, in chunks of 256 messages or 1 MiB. It returns one
// Receipt for each. With an error, those that have records are durable and the others
// are to be given again. Errors: Unavailable, Conflict.
func (in *Intake) Messages(ctx context.Context, by claimdlq.By, raws []phi.Bytes, o MessageOptions) ([]Receipt, error) {
	d := in.desk(ctx, by)
	defer in.leaveDesk(d)
	d.bulk = o.Bulk
	out := make([]Receipt, len(raws))
	done := 0
	flush := func() error {
		err := d.flush()
		if err == nil {
			d.receipts(out[done : done+len(d.messages)])
			done += len(d.messages)
		}
		d.clear()
		return err
	}
	for _, raw := range raws {
		d.add(raw.Reveal(), nil)
		if d.full() {
			if err := flush(); err != nil {
				return out, err
			}
		}
	}
	return out, flush()
}

// responseGiven refuses an answer in the place of a claim.
func responseGiven() error {
	return &claimdlq.Error{
		Code: claimdlq.Refused, Op: "take in message", On: "it is a response",
		Hint: "give it to: claimdlq acks FILE",
	}
}

// severalGiven refuses a file in the place of one transmission: as one it would be held,
// good claims and all, for what stands behind the first.
func severalGiven() error {
	return &claimdlq.Error{
		Code: claimdlq.Refused, Op: "take in message", On: "it is several transmissions",
		Hint: "nothing of it was kept: give it to POST /v1/claims/batch, or to: claimdlq ingest FILE",
	}
}
