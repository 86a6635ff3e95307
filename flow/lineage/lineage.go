// Package lineage finds the same claim sent again under other control numbers,
// by its keyed fingerprint, and says whether an earlier one stands in its way.
//
// A store remembers for each fingerprint some record that carried it. Because a
// claim may rightly come again after its first record came to nothing, a
// fingerprint has generations: each rightful successor registers the next one,
// and the latest is the one that counts.
//
// A claim that another pipeline may have sent under other numbers, while an earlier record
// stands in its way, is no successor: it registers as one more sending (Besides), and
// counts for as long as that may be with the payer.
//
// # Pharmacy claims
//
// All records of one fill share a look-up value (ncpdp.Claim.Lineage). The claims of a
// fill are told apart by their keys, and their records by the root that they share
// (Root); a payload is opened only where neither tells. Read in the order in which they
// came, the records of a claim add up: each accepted reversal, and each that is not
// decided yet, makes what is billed next another claim. A reversal waits for what it
// takes back, and a billing for the reversal before it (Wait).
//
// # What was put away in doubt
//
// A record that was parked or written off while nobody knew its fate (FateUnknown) may
// be with the payer as much as one in doubt. The same claim again, of either stream, is
// kept as a copy that a person decides about (EarlierInDoubt), and no replay sends it.
// A parked one goes back to in_doubt, where an answer, an inquiry or a person settles
// it; then the copy may be un-parked and replayed. One that was written off is final: an
// accepted reversal makes what is billed next another claim, or a named person says, of
// one record, that the payer does not have it (replay.Options.WrittenOff).
package lineage

import (
	"context"
	"encoding/binary"

	"claimdlq"
	"claimdlq/store"
)

// maxGenerations bounds how many successors of one claim are followed.
const maxGenerations = 1024

// Fingerprint returns the keyed fingerprint of a claim's parts, or the zero Key
// if there are none. scratch is reused and returned.
func Fingerprint(id *claimdlq.Identity, parts [][]byte, scratch []byte) (claimdlq.Key, []byte) {
	if len(parts) == 0 {
		return claimdlq.Key{}, scratch
	}
	scratch = scratch[:0]
	for _, p := range parts {
		scratch = binary.LittleEndian.AppendUint32(scratch, uint32(len(p)))
		scratch = append(scratch, p...)
	}
	return id.Key("claim", scratch), scratch
}

// ClaimKey returns the key of the claim that parts from the set with the given key.
func ClaimKey(id *claimdlq.Identity, set claimdlq.Key, ordinal uint32) claimdlq.Key {
	return id.Key("x12/claim", set[:], binary.LittleEndian.AppendUint32(nil, ordinal))
}

// Owner is the latest record that carried a fingerprint; ID 0 if none did. Next
// is the key under which a rightful successor registers itself.
type Owner struct {
	ID   claimdlq.ID
	Next claimdlq.Key
}

// Owners returns the owner of each claim by its fingerprints under the current
// term (fps) and under each older one (older[t][i] belongs to ids[t+1] and
// fps[i]). It returns nil where no claim has an owner. Zero fingerprints have none.
func Owners(ctx context.Context, s store.Store, ids []*claimdlq.Identity, fps []claimdlq.Key, older [][]claimdlq.Key) ([]Owner, error) {
	var out []Owner
	for t := range ids {
		keys := fps
		if t > 0 {
			if t > len(older) {
				break
			}
			keys = older[t-1]
		}
		if err := owners(ctx, s, ids[t], t == 0, fps, keys, &out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// owners adds the owners under one term to out. A successor registers under the
// current term, so an owner found there is later than those of older terms.
func owners(ctx context.Context, s store.Store, id *claimdlq.Identity, current bool, fps, keys []claimdlq.Key, out *[]Owner) error {
	if len(keys) == 0 {
		return nil
	}
	seen, err := s.Seen(ctx, keys)
	if err != nil {
		return err
	}
	for i, first := range seen {
		if first == 0 || keys[i] == (claimdlq.Key{}) {
			continue
		}
		if *out == nil {
			*out = make([]Owner, len(fps))
			for n, fp := range fps {
				(*out)[n].Next = fp
			}
		}
		if (*out)[i].ID != 0 {
			continue
		}
		o, err := follow(ctx, s, id, keys[i], first)
		if err != nil {
			return err
		}
		if !current {
			o.Next = fps[i]
		}
		(*out)[i] = o
	}
	return nil
}

// follow goes through the generations of a fingerprint to the latest.
func follow(ctx context.Context, s store.Store, id *claimdlq.Identity, fp claimdlq.Key, first claimdlq.ID) (Owner, error) {
	o := Owner{ID: first}
	for n := uint32(1); n < maxGenerations; n++ {
		o.Next = generation(id, fp, n)
		ids, err := s.Seen(ctx, []claimdlq.Key{o.Next})
		if err != nil || ids[0] == 0 {
			return o, err
		}
		o.ID = ids[0]
	}
	return o, nil
}

func generation(id *claimdlq.Identity, fp claimdlq.Key, n uint32) claimdlq.Key {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], n)
	return id.Key("claim again", fp[:], b[:])
}

// KeyConflict is the detail of a copy of a claim that is under way or with the payer
// with other content.
var KeyConflict = claimdlq.NewDetail("KEY_CONFLICT")

// EarlierInDoubt is the detail of a copy of a claim of which an earlier sending was put
// away and its fate never learned.
var EarlierInDoubt = claimdlq.NewDetail("LINEAGE:EARLIER_IN_DOUBT")

// PutAway reports that the record was parked or written off while nobody knew whether
// the payer has it: no answer is waited for, and it may have been paid.
func PutAway(r claimdlq.Record) bool {
	switch r.State {
	case claimdlq.StateParked, claimdlq.StateQuarantined, claimdlq.StateWithdrawn:
		return r.FateUnknown
	case claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateInDoubt, claimdlq.StateSettled:
	}
	return false
}

// WrittenOff reports that the record is PutAway for good: nothing settles its doubt.
func WrittenOff(r claimdlq.Record) bool {
	return r.State == claimdlq.StateWithdrawn && r.FateUnknown
}

// Blocks reports whether an earlier record of the same claim stands in the way of
// sending it: it is under way, in doubt, or with the payer, or was put away while it may
// have been. One that was rejected, or withdrawn or quarantined and certainly not
// accepted, does not: then the claim comes again rightly.
func Blocks(earlier claimdlq.Record) bool {
	switch earlier.State {
	case claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateInDoubt:
		return true
	case claimdlq.StateSettled:
		return earlier.Disposition != claimdlq.Rejected && earlier.Disposition != claimdlq.Reversed
	case claimdlq.StateParked, claimdlq.StateQuarantined, claimdlq.StateWithdrawn:
		return PutAway(earlier)
	}
	return false
}
