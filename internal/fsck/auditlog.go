package fsck

import (
	"context"
	"errors"
	"fmt"

	"claimdlq"
	"claimdlq/audit"
)

// readAudit verifies the audit log and checks that it and the store together
// hold every entry.
func (f *run) readAudit(ctx context.Context) error {
	if f.AuditDir == "" {
		return nil
	}
	rep, err := audit.Verify(ctx, f.AuditDir, f.Verifier, f.Kept)
	if err != nil && !errors.Is(err, claimdlq.NotFound) { // none yet is an empty one
		return err
	}
	f.r.Entries = rep.Entries
	for _, p := range rep.Problems {
		f.r.add(Finding{Code: AuditDamaged, Detail: p.String()})
	}
	f.r.More += int64(rep.More)
	due := rep.Entries + 1
	err = f.Store.Entries(ctx, due, func(e claimdlq.Entry) bool {
		if e.Seq != due {
			f.r.add(Finding{Code: AuditGap, Detail: fmt.Sprintf("entries %d to %d", due, e.Seq-1)})
		}
		due = e.Seq + 1
		f.r.Unaudited++
		return ctx.Err() == nil
	})
	return err
}
