package app

import (
	"context"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq/audit"
	"claimdlq/internal/fsck"
)

// Fsck compares records, submissions, counters, payloads and the audit log with
// each other, and tells progress how many records it has read. With seals it
// decrypts every payload to check its seal; nothing of it is shown or kept.
func (a *App) Fsck(ctx context.Context, seals bool, progress func(records int64)) (fsck.Report, error) {
	// What waits in the store would only be counted.
	if _, err := audit.Drain(ctx, a.Store, a.Audit); err != nil {
		return fsck.Report{}, err
	}
	key, err := a.Keys.VerifierKey()
	if err != nil {
		return fsck.Report{}, err
	}
	v, err := note.NewVerifier(key)
	if err != nil {
		return fsck.Report{}, err
	}
	return fsck.Run(ctx, fsck.Deps{
		Store: a.Store, Vault: a.Vault, AuditDir: a.auditDir, Verifier: v, Policies: a.policies, Seals: seals, Progress: progress,
	})
}

// Sweep destroys the keys of payloads that no record points at: what a crash
// left, and revisions that a correction has replaced. The lock on the data
// directory keeps everybody out who could be between sealing and committing.
func (a *App) Sweep(ctx context.Context) (units int, err error) { return a.SweepOlder(ctx, 0) }

// SweepOlder is Sweep for a process that takes claims in meanwhile: only what this
// process has known as an orphan for the grace is destroyed, so that it takes a second
// call.
func (a *App) SweepOlder(ctx context.Context, grace time.Duration) (units int, err error) {
	units, err = a.Flow.Retain.SweepOrphans(ctx, grace)
	if err != nil || units == 0 {
		return units, err
	}
	_, err = a.Vault.Reclaim(ctx)
	return units, err
}
