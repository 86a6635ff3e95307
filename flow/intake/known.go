package intake

import (
	"errors"
	"strings"

	"claimdlq"
	"claimdlq/store"
)

type status uint8

const (
	fresh   status = iota // never seen
	same                  // a redelivery
	differs               // the numbers are known, the bytes are not
)

type known struct {
	status status
	record claimdlq.Record
}

// known looks a thing up under every term of the key.
func (f *file) known(id identity) (known, error) {
	for n, k := range id.keys {
		r, err := f.o.Store.Find(f.ctx, k)
		switch {
		case errors.Is(err, claimdlq.NotFound):
		case err != nil:
			return known{}, err
		case r.Digest == id.digests[n]:
			return known{same, r}, nil
		default:
			return known{differs, r}, nil
		}
	}
	return known{}, nil
}

// again deals with a set that was taken in before. Mostly that is a redelivery,
// answered with the first result. But where the intake of its interchange was
// interrupted, or where it came in an interchange that was cut off or broken
// outside of it and never went anywhere, this is its second chance: it is
// adopted, and goes out if the interchange is good this time.
func (f *file) again(r claimdlq.Record, count int64) error {
	if f.dead.doubts() {
		return f.doubted(r, count)
	}
	adopt, err := f.adopts(r)
	if err != nil {
		return err
	}
	if !adopt {
		f.result.Duplicates += count
		f.result.repeat(&r)
		return f.note(r)
	}
	f.x.group.adopt(r)
	if interrupted(r) { // the first result for the claims that parted was never given
		f.result.Quarantined += int64(r.Parted)
	} else {
		f.result.Duplicates += int64(r.Parted)
	}
	return nil
}

// adopts reports whether the record goes out with the interchange being read, although
// it was taken in before.
func (f *file) adopts(r claimdlq.Record) (bool, error) {
	if f.dead != nil { // its intake was interrupted before it knew its submission
		return unfinished(f.ctx, f.o.Store, r, f.dead.Detail)
	}
	covered, err := f.x.covered(f, r)
	switch {
	case err != nil || covered:
		return false, err
	case brokenOutside(r):
		return f.revivable(r)
	}
	return interrupted(r), nil
}

// revivable reports whether none of the set's claims came in another file since
// and is under way or with the payer. If so the set becomes the owner of them all.
func (f *file) revivable(r claimdlq.Record) (bool, error) {
	d, err := f.duplicates(r.ID)
	if err != nil {
		return false, err
	}
	if len(d.blocked) > 0 {
		f.o.Guard.Free(d.held)
		return false, nil
	}
	f.batch.held = append(f.batch.held, d.held...)
	for _, k := range d.register {
		f.batch.fingerprints = append(f.batch.fingerprints, store.Fingerprint{Key: k, Record: r.ID})
	}
	return true, nil
}

func interrupted(r claimdlq.Record) bool {
	return r.State == claimdlq.StateQueued && r.Hold == claimdlq.HoldIntake
}

// brokenOutside reports that our own judgement of the group or interchange held
// the set back, and that nobody has touched it since.
func brokenOutside(r claimdlq.Record) bool {
	if r.State != claimdlq.StateQuarantined || r.Scope != claimdlq.ScopeTransaction {
		return false
	}
	if r.AttemptCount > 0 || r.ReplayCount > 0 || r.Submission != 0 || r.PayloadRevision > 1 {
		return false
	}
	d := r.Detail.String()
	return strings.HasPrefix(d, "TA1:") || strings.HasPrefix(d, "AK9:")
}

// note audits that a record that is there already came again.
func (f *file) note(r claimdlq.Record) error {
	f.batch.entries = append(f.batch.entries, claimdlq.Entry{
		At: f.now(), Actor: f.by.Actor, Action: claimdlq.ActDuplicate, Record: r.ID, PayloadRevision: r.PayloadRevision, From: r.State, To: r.State,
	})
	return f.flushIfFull()
}
