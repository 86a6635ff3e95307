package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// The parts of a data directory.
const (
	dirJournal = "journal"
	dirVault   = "vault"
	dirKeys    = "keys"
	dirAuth    = "auth" // users, tokens, approvals
	dirJobs    = "jobs" // replay jobs
	dirAudit   = "audit"
	fileLock   = "LOCK"
)

// makeDir checks that dir is a data directory, or makes it one: a directory that is
// not there, or an empty one, if create is set. In a directory of other things
// nothing is ever made.
func makeDir(dir string, create bool) error {
	const op = "open data directory"
	fi, err := os.Stat(dir)
	switch {
	case err == nil && !fi.IsDir():
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: "it is a file: name a directory with --data"}
	case err == nil:
		ours, empty, err := inspect(dir)
		switch {
		case err != nil:
			return fsError(op, err)
		case ours, empty && create:
			return nil
		case create:
			return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: "it holds other files: name a new or an empty directory with --data"}
		}
		return noneHere(op)
	case errors.Is(err, os.ErrNotExist) && create:
		if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
			return fsError("make data directory", err)
		}
		return nil
	case errors.Is(err, os.ErrNotExist):
		return noneHere(op)
	}
	return fsError(op, err)
}

func noneHere(op string) error {
	return &claimdlq.Error{
		Code: claimdlq.NotFound, Op: op,
		Hint: "there is none here yet: claimdlq ingest FILE makes it; or name another with --data",
	}
}

// inspect says whether dir holds a data directory, or nothing at all.
func inspect(dir string) (ours, empty bool, err error) {
	entries, err := os.ReadDir(dir)
	empty = true
	for _, e := range entries {
		switch e.Name() {
		case dirJournal, dirVault, dirKeys, dirAudit, fileLock:
			ours = true
		case "lost+found": // the root of a file system
		default:
			empty = false
		}
	}
	return ours, empty && !ours, err
}

// checkParts refuses a data directory that has been used and of which a part is
// gone, before another is made in its place. New keys would open no payload; with
// either new keys or a new journal every file taken in before would look new.
func checkParts(dir string) error {
	has := map[string]bool{}
	for _, part := range []string{dirJournal, dirVault, dirKeys, dirAudit} {
		names, err := os.ReadDir(filepath.Join(dir, part))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fsError("open data directory", err)
		}
		has[part] = len(names) > 0
	}
	var missing string
	switch {
	case !has[dirKeys] && (has[dirJournal] || has[dirVault] || has[dirAudit]):
		missing = dirKeys
	case !has[dirJournal] && (has[dirVault] || has[dirAudit]):
		missing = dirJournal
	default:
		return nil
	}
	return &claimdlq.Error{
		Code: claimdlq.Corrupt, Op: "open data directory", On: missing,
		Hint: "it is missing: restore " + missing + "/ from its backup; nothing was changed",
	}
}

// checkTogether refuses a journal and an audit log that do not belong together. The
// log holds only what was durable in the journal before, and the journal lets go of
// only what the log holds: whichever knows more, the other was lost or rolled back.
// Going on would take in, and send, files that were sent before.
func (a *App) checkTogether() error {
	committed, audited := a.Store.LastEntry()
	logged := a.Audit.Size()
	switch {
	case logged > committed:
		return &claimdlq.Error{
			Code: claimdlq.Corrupt, Op: "open data directory", On: fmt.Sprintf("journal, which ends at entry %d of %d", committed, logged),
			Hint: "the journal is missing or older than the audit log: restore both from one backup",
		}
	case audited > logged:
		return &claimdlq.Error{
			Code: claimdlq.Corrupt, Op: "open data directory", On: fmt.Sprintf("audit log, which ends at entry %d of %d", logged, audited),
			Hint: "the audit log is missing or older than the journal: restore both from one backup",
		}
	}
	return nil
}
