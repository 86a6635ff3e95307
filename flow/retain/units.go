package retain

import (
	"context"
	"hash/maphash"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

// units are the live units of a vault while records are held against them, without
// their names: 17 bytes for each, so that ten million take 170 MB and not a
// gigabyte. Two units in about 10^19 look alike; then both are kept for the other's
// sake, which is the safe side.
type units struct {
	seed  maphash.Seed
	sums  []uint64 // sorted
	owner []claimdlq.ID
	use   []use
}

// use is what the records say of a unit.
type use uint8

const (
	orphan use = iota // no record points at it
	owned             // some do, and none needs it
	needed            // one does
	gone              // it was destroyed by this pass
)

// liveUnits reads which units have a key now.
func (t *Retain) liveUnits(ctx context.Context) (*units, error) {
	u := &units{seed: maphash.MakeSeed()}
	err := t.o.Vault.Units(ctx, func(unit string, _ int64) bool {
		u.sums = append(u.sums, maphash.String(u.seed, unit))
		return true
	})
	slices.Sort(u.sums)
	u.sums = slices.Compact(u.sums)
	u.owner, u.use = make([]claimdlq.ID, len(u.sums)), make([]use, len(u.sums))
	return u, err
}

// place returns where the unit stands, and false where it was not live.
func (u *units) place(unit string) (int, bool) {
	if unit == "" {
		return 0, false
	}
	return slices.BinarySearch(u.sums, maphash.String(u.seed, unit))
}

// holds reports whether the payload or the answer of the record is in a live unit.
func (u *units) holds(r claimdlq.Record) bool {
	_, payload := u.place(r.Payload.Unit)
	_, answer := u.place(r.Response.Unit)
	return payload || answer
}

// mark notes that the record points at its payload's unit and its answer's, and
// whether it needs them.
func (u *units) mark(r claimdlq.Record, needs bool) {
	for _, unit := range [...]string{r.Payload.Unit, r.Response.Unit} {
		i, live := u.place(unit)
		if !live || u.use[i] == gone {
			continue
		}
		u.owner[i] = r.ID
		if needs {
			u.use[i] = needed
		} else {
			u.use[i] = max(u.use[i], owned)
		}
	}
}

// maxNames bounds how many names of units are held at a time.
const maxNames = 1 << 20

// named returns up to maxNames live units of the given use, and whether there may
// be more.
func (t *Retain) named(ctx context.Context, u *units, of use) (names []string, more bool, err error) {
	err = t.o.Vault.Units(ctx, func(unit string, _ int64) bool {
		if i, was := u.place(unit); was && u.use[i] == of {
			names = append(names, unit)
		}
		more = len(names) == maxNames
		return !more
	})
	return names, more, err
}

// unresolved are the states in which a record needs its payload.
var unresolved = []claimdlq.State{
	claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateInDoubt,
	claimdlq.StateQuarantined, claimdlq.StateParked,
}

// eachUnresolved calls do for every unresolved record.
func (t *Retain) eachUnresolved(ctx context.Context, do func(claimdlq.Record) error) error {
	for _, s := range unresolved {
		if err := t.each(ctx, store.Filter{State: s}, do); err != nil {
			return err
		}
	}
	return nil
}

// SharesUnit finds another record that is unresolved and whose payload or answer
// lies in a sealed unit of the given one's: whoever destroys that unit would take
// it from a claim that still needs it. It looks at every unresolved record (some
// seconds at a million) because any may: a transmission's claims, a batch's, a claim
// that parted from its set, the answers of one commit. Errors: those of the store.
func (t *Retain) SharesUnit(ctx context.Context, rec claimdlq.Record) (other claimdlq.Record, shares bool, err error) {
	mine := func(unit string) bool {
		return unit != "" && (unit == rec.Payload.Unit || unit == rec.Response.Unit)
	}
	err = t.eachUnresolved(ctx, func(r claimdlq.Record) error {
		if r.ID != rec.ID && (mine(r.Payload.Unit) || mine(r.Response.Unit)) {
			other, shares = r, true
			return errFound
		}
		return nil
	})
	if shares {
		return other, true, nil
	}
	return claimdlq.Record{}, false, err
}
