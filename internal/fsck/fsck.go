package fsck

import (
	"context"
	"hash/maphash"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/vault"
)

// Deps are what is compared. Store and Vault are required.
type Deps struct {
	Store store.Store
	Vault vault.Vault
	// AuditDir is the directory of the audit log. Default: the log is left out.
	AuditDir string
	// Verifier checks the log's checkpoints; required with AuditDir. Kept is a
	// checkpoint that was kept elsewhere. Default: none.
	Verifier note.Verifier
	Kept     []byte
	// Policy gives the budget and the cap that no record may have passed. A zero
	// lever is not checked. Default: zero.
	Policies claimdlq.Policies
	// Seals decrypts every payload that a record points at. Default: only whether
	// its key is there.
	Seals bool
	// Progress is told now and then how many records were read. Default: nobody.
	Progress func(records int64)
}

// page is how many records are read at a time.
const page = 1000

// run is one comparison.
type run struct {
	Deps
	r Report

	newest  claimdlq.ID
	waiting []claimdlq.IDRange // members of submissions still to be delivered
	recent  map[claimdlq.SubmissionID]claimdlq.Submission

	seed  maphash.Seed
	units map[uint64]use // by the hash of the unit's name

	counted store.Stats
}

// Run compares everything. What is wrong is in the report; an error means that
// it could not be found out, and has the code of what failed.
func Run(ctx context.Context, d Deps) (Report, error) {
	if d.Progress == nil {
		d.Progress = func(int64) {}
	}
	f := &run{Deps: d, r: newReport(), seed: maphash.MakeSeed(), units: map[uint64]use{}, counted: newStats()}
	for _, step := range []func(context.Context) error{
		f.findNewest, f.readUnits, f.readSubmissions, f.readRecords, f.countUnits, f.compareCounters, f.readAudit,
	} {
		if err := step(ctx); err != nil {
			return f.r, err
		}
		if err := ctx.Err(); err != nil {
			return f.r, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "fsck", Err: err}
		}
	}
	return f.r, nil
}

func (f *run) findNewest(ctx context.Context) error {
	rs, err := f.Store.List(ctx, store.Filter{}, 0, 1)
	if len(rs) > 0 {
		f.newest = rs[0].ID
	}
	return err
}

// readRecords reads every record, the newest first.
func (f *run) readRecords(ctx context.Context) error {
	var before claimdlq.ID
	for {
		rs, err := f.Store.List(ctx, store.Filter{}, before, page)
		if err != nil {
			return err
		}
		for _, r := range rs {
			for _, check := range []func(context.Context, claimdlq.Record) error{
				f.alone, f.payload, f.family, f.carried,
			} {
				if err := check(ctx, r); err != nil {
					return err
				}
			}
			f.count(r)
		}
		f.Progress(f.r.Records)
		if len(rs) < page {
			return nil
		}
		before = rs[len(rs)-1].ID
	}
}
