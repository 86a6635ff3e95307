package app

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/vault/keyring"
)

// followEvery is how often audit entries move from the store to the audit log.
const followEvery = time.Second

// openAudit opens the audit log and starts its follower.
func (a *App) openAudit(o Options) error {
	signer, err := a.Keys.Signer()
	if err != nil {
		return err
	}
	a.auditDir = AuditDir(o.Dir)
	if a.Audit, err = audit.Open(a.auditDir, signer); err != nil {
		return err
	}
	a.onClose(a.Audit.Close)
	if err := a.checkTogether(); err != nil {
		return err
	}

	// The follower outlives the caller's context: entries that are durable in the
	// store are moved before it is closed.
	ctx, cancel := context.WithCancel(context.Background())
	tick := time.NewTicker(followEvery)
	done := make(chan error, 1)
	go func() { done <- audit.Follow(ctx, a.Store, a.Audit, tick.C) }()
	a.onClose(func() error {
		cancel()
		tick.Stop()
		return <-done
	})
	return nil
}

// Checkpoint moves every entry into the audit log, signs it, and returns the
// signed checkpoint for an auditor to keep.
func (a *App) Checkpoint(ctx context.Context) ([]byte, error) {
	if _, err := audit.Drain(ctx, a.Store, a.Audit); err != nil {
		return nil, err
	}
	return a.Audit.Checkpoint()
}

// Export writes the audit entries that match to w and returns how many. The
// export is itself an entry, the newest.
func (a *App) Export(ctx context.Context, by claimdlq.By, w io.Writer, f audit.Filter) (int, error) {
	if err := a.note(ctx, by, claimdlq.Entry{Action: claimdlq.ActExport}); err != nil {
		return 0, err
	}
	if _, err := a.Checkpoint(ctx); err != nil {
		return 0, err
	}
	return audit.Export(ctx, w, a.auditDir, f)
}

// Verifier returns what checks the audit log's signatures: from its text form if
// given, else from the keyring of the data directory, which is not locked for it.
func Verifier(dir, text string) (note.Verifier, error) {
	const op = "read the audit log's verifier key"
	if text == "" {
		keys := filepath.Join(dir, dirKeys)
		if _, err := os.Stat(keys); err != nil {
			return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: op, Hint: "give it with --key; claimdlq audit key prints it"}
		}
		kr, err := keyring.Open(keys)
		if err != nil {
			return nil, err
		}
		if text, err = kr.VerifierKey(); err != nil {
			return nil, err
		}
	}
	v, err := note.NewVerifier(text)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: "claimdlq audit key prints it"}
	}
	return v, nil
}

// AuditDir returns where the audit log of a data directory lies.
func AuditDir(dir string) string { return filepath.Join(dir, dirAudit) }

// Timeline returns the audit entries about a record and about the submissions that
// carried it, the newest included.
func (a *App) Timeline(ctx context.Context, rec claimdlq.Record, b audit.Bound) (audit.History, error) {
	if _, err := audit.Drain(ctx, a.Store, a.Audit); err != nil {
		return audit.History{}, err
	}
	return audit.About(ctx, a.auditDir, rec, b)
}

// CorrectedBy returns the records to which somebody has made a correction since a time,
// by himself or by a recipe that he wrote or applied. Whose an actor is, is says.
func (a *App) CorrectedBy(ctx context.Context, since time.Time, is func(actor string) bool) (map[claimdlq.ID]bool, error) {
	if _, err := audit.Drain(ctx, a.Store, a.Audit); err != nil {
		return nil, err
	}
	his, others := map[claimdlq.ID]bool{}, map[string][]claimdlq.ID{} // others' by their recipe
	stamp := []byte(since.UTC().Format(`,"at":"2006-01-02T15:04:05`))
	_, _, err := audit.Backwards(ctx, a.auditDir, math.MaxUint64, math.MaxInt64, func(line []byte) (bool, error) {
		at := bytes.Index(line, stamp[:len(`,"at":"`)])
		if at >= 0 && bytes.Compare(line[at:min(at+len(stamp), len(line))], stamp) < 0 {
			return false, nil
		}
		if !bytes.Contains(line, []byte(`,"action":"correct"`)) && !bytes.Contains(line, []byte(`,"action":"recipe"`)) {
			return true, nil
		}
		e, err := audit.Decode(line)
		if err != nil {
			return false, err
		}
		recipe, byRecipe := strings.CutPrefix(e.Note, "recipe ")
		switch {
		case e.Action == claimdlq.ActCorrect && is(e.Actor):
			his[e.Record] = true
		case e.Action == claimdlq.ActCorrect && byRecipe:
			others[recipe] = append(others[recipe], e.Record)
		case e.Action == "recipe" && is(e.Actor): // it was written before it was applied
			detail := e.Detail.String()
			for _, id := range others[detail[strings.LastIndexByte(detail, ':')+1:]] {
				his[id] = true
			}
		}
		return true, nil
	})
	return his, err
}
