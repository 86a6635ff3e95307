package fsck

import (
	"context"
	"errors"
	"strings"

	"claimdlq"
)

// alone checks what a record says by itself, and that its key finds it.
func (f *run) alone(ctx context.Context, r claimdlq.Record) error {
	if broken := faults(r, f.Policies.For(r.Stream)); len(broken) > 0 {
		f.r.record(r.ID, RecordInvalid, strings.Join(broken, " "))
	}
	switch found, err := f.Store.Find(ctx, r.Key); {
	case errors.Is(err, claimdlq.NotFound), err == nil && found.ID != r.ID:
		f.r.record(r.ID, KeyLost, "")
	case err != nil:
		return err
	}
	return nil
}

// faults returns the names of the rules that the record breaks. It is pure.
func faults(r claimdlq.Record, p claimdlq.Policy) (broken []string) {
	rule := func(name string, holds bool) {
		if !holds {
			broken = append(broken, name)
		}
	}
	sent := r.State == claimdlq.StateSubmitted || r.State == claimdlq.StateInDoubt
	failed := r.State == claimdlq.StateQuarantined || r.State == claimdlq.StateParked || r.State == claimdlq.StateInDoubt
	known := r.State == claimdlq.StateQuarantined || r.State == claimdlq.StateSettled
	rule("state", r.State >= claimdlq.StateQueued && r.State <= claimdlq.StateWithdrawn)
	rule("created_at", !r.CreatedAt.IsZero())
	rule("first_failed_at", !failed || !r.FirstFailedAt.IsZero())
	rule("reason_code", r.State != claimdlq.StateQuarantined || r.Reason != claimdlq.ReasonNone)
	rule("disposition", (r.State == claimdlq.StateSettled) == (r.Disposition != claimdlq.DispositionNone))
	rule("hold", r.Hold == claimdlq.HoldNone || r.State == claimdlq.StateQueued)
	rule("fate_unknown", !sent || r.FateUnknown)
	rule("fate_unknown", !known || !r.FateUnknown)
	rule("payload_revision", r.PayloadRevision > 0 && r.RefusedRevision <= r.PayloadRevision)
	rule("receive_count", r.ReceiveCount <= r.AttemptCount)
	rule("attempt_count", r.AttemptCount > 0 || r.State != claimdlq.StateLeased)
	rule("budget", p.MaxReceive == 0 || r.ReceiveCount <= p.MaxReceive)
	rule("cap", p.ReplayCap == 0 || r.ReplayCount <= p.ReplayCap+r.Unparked)
	rule("scope", (r.Scope == claimdlq.ScopeClaim) == (r.Parent != 0))
	rule("ordinal", r.Parent == 0 || r.Ordinal > 0 && r.Claims == 1 && r.Parted == 0)
	return broken
}
