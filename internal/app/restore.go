package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/flow/attempt"
	"claimdlq/flow/audited"
	"claimdlq/internal/atomicfile"
	"claimdlq/internal/backup"
	"claimdlq/internal/fsck"
)

// RestoreFrom says what is restored and where to. Dir and Now are required.
type RestoreFrom struct {
	// From and Keys are the two halves of a backup, or where they are kept.
	From, Keys string
	// Dir becomes the data directory: one that is not there, or an empty one.
	Dir string
	// Verifier is the audit log's public key as text. Default: that of the restored keys.
	Verifier string
	// Kept is a checkpoint of the audit log that was kept elsewhere, so that what is
	// missing can be said. Default: none.
	Kept []byte
	// Skip is how many control numbers of each lane are passed over. Default: 1,000,000.
	Skip int
	// Quick leaves out the check of every payload's seal.
	Quick    bool
	Progress func(bytes int64)
	Log      *slog.Logger
	Now      func() time.Time
}

// Restored says what a restore has made.
type Restored struct {
	Name string `json:"name"`
	// Began is when the backup was begun: of what came later the copy knows nothing.
	Began time.Time `json:"began"`
	// Entry is the newest audit entry of the backup. MissingTo is the newest one that a
	// kept checkpoint proves to have been there; 0 where none says more.
	Entry     uint64 `json:"entry"`
	MissingTo uint64 `json:"missing_to,omitempty"`
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`

	backup.Fenced

	Stopped []string    `json:"stopped"` // streams that deliver nothing until a person starts them
	Fsck    fsck.Report `json:"fsck"`
}

// stagingDir is where a copy is until it is whole. A data directory has no such name,
// so that no command takes an unfinished one for one.
const stagingDir = ".restoring"

// CheckBackup compares a backup with its manifests and changes nothing. Errors: Corrupt
// (On names the file), NotFound, Invalid.
func CheckBackup(ctx context.Context, from, keys, verifier string, progress func(int64)) (backup.Manifest, error) {
	src, err := backup.Open(from, keys)
	if err != nil {
		return backup.Manifest{}, err
	}
	m := src.Manifest()
	if err := src.ReadKeys(ctx); err != nil {
		return m, err
	}
	v, err := Verifier(src.KeysDir(), verifier)
	if err != nil {
		return m, err
	}
	if err := src.Check(v); err != nil {
		return m, err
	}
	return m, src.ReadData(ctx, progress)
}

// Restore makes a data directory of a backup. What it holds may have been sent since:
// everything that could go out is in doubt or parked (backup.Fence), deliveries of every
// stream are stopped until a named person starts them, and the audit log says so. The
// directory is there whole or not at all; nothing is ever restored over another. Errors:
// Refused (not empty; no name, no reason), Corrupt (On names the file that is not what
// the manifest says; or what fsck found is in the report), NotFound, Invalid, Unavailable.
func Restore(ctx context.Context, by claimdlq.By, f RestoreFrom) (r Restored, err error) {
	if err := audited.Named(by, "restore"); err != nil {
		return r, err
	}
	if f.Skip <= 0 {
		f.Skip = 1_000_000
	}
	src, err := backup.Open(f.From, f.Keys)
	if err != nil {
		return r, err
	}
	if err := backup.Empty(f.Dir); err != nil {
		return r, err
	}
	temp := filepath.Join(f.Dir, stagingDir)
	if err := atomicfile.MkdirAll(temp, 0o700); err != nil {
		return r, fsError("restore", err)
	}
	defer func() { _ = os.RemoveAll(temp) }() // nobody takes what stays for a data directory
	m := src.Manifest()
	r = Restored{Name: m.Name, Began: m.Began, Entry: m.LastEntry, Files: len(m.Files), Bytes: m.Bytes()}
	head, err := f.copy(ctx, src, temp)
	if err != nil {
		return r, err
	}
	if head.Size > m.LastEntry {
		r.MissingTo = head.Size
	}
	if err := f.fence(ctx, by, temp, &r); err != nil {
		return r, err
	}
	if !r.Fsck.OK() {
		return r, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "restore", On: "what was restored", Hint: "nothing was put back; restore another backup"}
	}
	return r, adopt(temp, f.Dir)
}

// copy copies the halves, each file compared with its manifest, and returns what the
// kept checkpoint signs.
func (f RestoreFrom) copy(ctx context.Context, src *backup.Source, temp string) (kept audit.Head, err error) {
	if err := src.RestoreKeys(ctx, temp); err != nil {
		return kept, err
	}
	v, err := Verifier(temp, f.Verifier)
	if err != nil {
		return kept, err
	}
	if err := src.Check(v); err != nil {
		return kept, err
	}
	if err := src.RestoreData(ctx, temp, f.Progress); err != nil || len(f.Kept) == 0 {
		return kept, err
	}
	if kept, err = audit.ParseCheckpoint(f.Kept, v); err != nil {
		return kept, err
	}
	if kept.Size <= src.Manifest().Audited {
		return kept, f.continues(ctx, temp, v)
	}
	return kept, nil
}

// continues makes sure that the backup's log goes on from the kept checkpoint.
func (f RestoreFrom) continues(ctx context.Context, temp string, v note.Verifier) error {
	rep, err := audit.Verify(ctx, AuditDir(temp), v, f.Kept)
	if err == nil && !rep.OK() {
		err = &claimdlq.Error{Code: claimdlq.Corrupt, Op: "restore", On: "the audit log: " + rep.Problems[0].String(), Hint: "the backup is not of the log that the checkpoint is of; nothing was put back"}
	}
	return err
}

// fence opens the copy, makes sure that nothing of it goes out, and checks all of it.
func (f RestoreFrom) fence(ctx context.Context, by claimdlq.By, temp string, r *Restored) (err error) {
	a, err := Open(ctx, Options{Dir: temp, Now: f.Now, Log: f.Log})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := a.Close(); err == nil {
			err = cerr
		}
	}()
	if err := a.sayRestored(ctx, by, *r); err != nil {
		return err
	}
	if r.Fenced, err = backup.Fence(ctx, a.Store, a.policies, by, a.now().UTC(), f.Skip); err != nil {
		return err
	}
	for _, stream := range []string{claimdlq.StreamX12, claimdlq.StreamNCPDP} {
		if err := a.Switch(ctx, by, Turn{Switch: attempt.Switch{Stream: stream}, Stop: true}); err != nil {
			return err
		}
		r.Stopped = append(r.Stopped, stream)
	}
	if _, err := a.Checkpoint(ctx); err != nil {
		return err
	}
	r.Fsck, err = a.Fsck(ctx, !f.Quick, nil)
	return err
}

// sayRestored writes into the audit log from which entry on it is another one, and
// which are known to be missing.
func (a *App) sayRestored(ctx context.Context, by claimdlq.By, r Restored) error {
	details := []string{fmt.Sprintf("RESTORED:%s:ENTRY:%d", r.Name, r.Entry), "MISSING:UNKNOWN"}
	if r.MissingTo > 0 {
		details[1] = fmt.Sprintf("MISSING:%d:%d", r.Entry+1, r.MissingTo)
	}
	for _, d := range details {
		if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActRestore, Detail: claimdlq.NewDetail(d)}); err != nil {
			return err
		}
	}
	return nil
}

// adopt moves what was restored to its place, the journal last: until it is there, no
// command takes the directory for a whole one.
func adopt(temp, dir string) error {
	es, err := os.ReadDir(temp)
	if err != nil {
		return fsError("restore", err)
	}
	names := []string{dirAudit} // first: with it there and no journal, nothing opens
	for _, e := range es {
		if n := e.Name(); n != dirAudit && n != dirJournal && n != fileLock {
			names = append(names, n)
		}
	}
	for _, n := range append(names, dirJournal) {
		if err := os.Rename(filepath.Join(temp, n), filepath.Join(dir, n)); err != nil {
			return fsError("restore", err)
		}
		if err := atomicfile.SyncDir(dir); err != nil {
			return fsError("restore", err)
		}
	}
	return nil
}
