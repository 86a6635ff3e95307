package lineage

import (
	"context"
	"encoding/binary"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

// Besides returns the records of a claim that another pipeline may have sent besides its
// owner, given its fingerprint under each term, the current first, and the key under which
// one more registers itself. A set from which the claim has parted since is not among
// them: the claim is. It is worth asking only where the claim has an owner.
func Besides(ctx context.Context, s store.Store, ids []*claimdlq.Identity, fps []claimdlq.Key) (rs []claimdlq.Record, next claimdlq.Key, err error) {
	for t, id := range ids[:min(len(ids), len(fps))] {
		for n := range uint32(maxGenerations) {
			k := besides(id, fps[t], n)
			if t == 0 {
				next = k
			}
			seen, err := s.Seen(ctx, []claimdlq.Key{k})
			if err != nil {
				return nil, next, err
			}
			if seen[0] == 0 {
				break
			}
			r, err := s.Get(ctx, seen[0])
			if err != nil {
				return nil, next, err
			}
			rs = append(rs, r)
		}
	}
	parted := map[claimdlq.ID]bool{} // registered after its set
	var out []claimdlq.Record
	for _, r := range slices.Backward(rs) {
		if !parted[r.ID] {
			out = append(out, r)
		}
		parted[r.Parent] = true
	}
	return out, next, nil
}

func besides(id *claimdlq.Identity, fp claimdlq.Key, n uint32) claimdlq.Key {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], n)
	return id.Key("claim besides", fp[:], b[:])
}

// Of returns the fingerprints of the ith claim under each term, the current first.
func Of(i int, fps []claimdlq.Key, older [][]claimdlq.Key) []claimdlq.Key {
	out := []claimdlq.Key{fps[i]}
	for _, o := range older {
		if i < len(o) {
			out = append(out, o[i])
		}
	}
	return out
}
