package app

import (
	"context"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/internal/backup"
	"claimdlq/store/filestore"
)

// BackupTo says where a backup goes.
type BackupTo struct {
	// Dir takes everything but the keys and accounts, Keys those.
	Dir, Keys string
	// Program is the version that makes it.
	Program string
	// Progress is told how many bytes were copied; nil: nobody is.
	Progress func(bytes int64)
}

// Backup copies the data directory as it is at one moment, while everything goes on:
// journal and audit log are cut to the same commit, and the vault has every payload of
// it. Nothing is compacted or reclaimed meanwhile; a shredding or a rotation waits until
// the keys are copied. The act is in the audit log, and in the backup. Errors: Refused
// without a name and a reason, Invalid where the two places are not apart, Unavailable.
func (a *App) Backup(ctx context.Context, by claimdlq.By, to BackupTo) (s backup.Summary, err error) {
	signer, err := a.Keys.Signer()
	if err != nil {
		return s, err
	}
	b, err := backup.New(backup.Options{
		Data: a.dir, To: to.Dir, Keys: to.Keys, Signer: signer, Now: a.now, Program: to.Program, Progress: to.Progress,
	})
	if err != nil {
		return s, err
	}
	defer b.Abort()
	if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActBackup, Detail: claimdlq.NewDetail("BACKUP:" + b.Name())}); err != nil {
		return s, err
	}
	if _, err := a.Checkpoint(ctx); err != nil { // so that what is copied is signed
		return s, err
	}
	// What is copied of the vault comes after the moment: it has every payload that was
	// durable then, and more, which no record points at.
	err = a.Store.Hold(ctx, func(at func() (filestore.Held, error)) error {
		var journal filestore.Held
		var log audit.Held
		err := a.Audit.Hold(func(h audit.Held) (err error) {
			log = h
			journal, err = at()
			return err
		})
		if err != nil {
			return err
		}
		b.Mark(journal.Position, journal.LastEntry, log.Size, log.Checkpoint)
		return a.copyParts(ctx, b, journal, log)
	})
	if err != nil {
		return s, err
	}
	if err := b.Data(ctx, dirJobs, backup.All); err != nil {
		return s, err
	}
	if err := b.Settings(ctx); err != nil {
		return s, err
	}
	return b.End()
}

// copyParts copies what belongs to the moment.
func (a *App) copyParts(ctx context.Context, b *backup.Set, journal filestore.Held, log audit.Held) error {
	return a.Vault.Hold(ctx, func(slots map[string]int64, done func()) error {
		keys := func(path string) (int64, bool) {
			if n, ok := slots[path]; ok {
				return n, true
			}
			return -1, !a.Vault.IsSlots(path) // a key file that is newer than the moment
		}
		if err := b.Keys(ctx, dirKeys, keys); err != nil {
			return err
		}
		done()
		if err := b.Keys(ctx, dirAuth, backup.All); err != nil {
			return err
		}
		chunks := func(path string) (int64, bool) {
			if n, ok := journal.Chunks[path]; ok {
				return n, true
			}
			return -1, journal.OfStore(path)
		}
		if err := b.Data(ctx, dirJournal, chunks); err != nil {
			return err
		}
		if err := b.Data(ctx, dirAudit, backup.Bounded(log.Files)); err != nil {
			return err
		}
		return b.Data(ctx, dirVault, backup.All)
	})
}
