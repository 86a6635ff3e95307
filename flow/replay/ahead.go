package replay

import (
	"errors"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/wire/x12"
)

// ahead is what a look into the payload of one claim says, from reading the set that
// it is part of once for many.
type ahead struct {
	revision uint32 // of the record it is good for
	look     look
	keys     [][]claimdlq.Key // its fingerprint under each term
}

// together is from how many claims of one set on reading it once is the less work.
const together = 4

// readAhead looks into the sets of claims that parted from them and were never
// corrected, each once, where there are several of one: cutting each out by itself
// would read the whole set as often as it has claims. Records that it says nothing of
// are looked at by themselves.
func (j *job) readAhead(rs []claimdlq.Record) (map[claimdlq.ID]*ahead, error) {
	sets := map[claimdlq.PayloadRef][]claimdlq.Record{}
	for i := range rs {
		if isRx(&rs[i]) {
			continue
		}
		if r := rs[i]; envelope.Cut(r) && r.GuardReplay(j.Policies.For(r.Stream), true) == claimdlq.Replayed {
			sets[r.Payload] = append(sets[r.Payload], r)
		}
	}
	out := map[claimdlq.ID]*ahead{}
	for ref, claims := range sets {
		if len(claims) < together {
			continue
		}
		if err := j.readSet(ref, claims, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readSet judges one set and adds what it says of the claims to out. A set that has a
// fault of its own, or cannot be read, says nothing of them.
func (j *job) readSet(ref claimdlq.PayloadRef, claims []claimdlq.Record, out map[claimdlq.ID]*ahead) error {
	proof, err := audited.Open(j.ctx, j.Store, j.by, claimdlq.ActOpen, j.Now().UTC(), claims...)
	if err != nil {
		return err
	}
	in, err := j.Vault.OpenReader(j.ctx, ref, proof)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	byOrdinal := make(map[int]*ahead, len(claims))
	for _, r := range claims {
		byOrdinal[int(r.Ordinal)] = &ahead{revision: r.Revision}
	}
	found := 0
	var scratch []byte
	scan, err := envelope.Judge(in, j.Rules, true, func(c *x12.Claim) {
		a := byOrdinal[c.Ordinal]
		if a == nil {
			return
		}
		found++
		a.look.clean = true
		if len(c.Fingerprint) > 0 {
			a.keys, scratch = j.fingerprints(c, make([][]claimdlq.Key, len(j.ids)), scratch)
		}
	})
	if err = errors.Join(err, in.Close()); gone(err) {
		return nil
	}
	if err != nil || scan.Whole || scan.Sets != 1 || found != len(claims) {
		return err
	}
	for _, bad := range scan.Bad {
		if a := byOrdinal[bad.Ordinal]; a != nil {
			a.look.clean = false
		}
	}
	for _, r := range claims {
		a := byOrdinal[int(r.Ordinal)]
		a.look.envelope, a.look.group = scan.Envelope, scan.Group
		out[r.ID] = a
	}
	return nil
}

// fingerprints adds the claim's fingerprint under each term to keys.
func (j *job) fingerprints(c *x12.Claim, keys [][]claimdlq.Key, scratch []byte) ([][]claimdlq.Key, []byte) {
	for i, id := range j.ids {
		var k claimdlq.Key
		k, scratch = lineage.Fingerprint(id, c.Fingerprint, scratch)
		keys[i] = append(keys[i], k)
	}
	return keys, scratch
}
