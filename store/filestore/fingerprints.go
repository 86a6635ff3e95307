package filestore

import (
	"encoding/binary"

	"claimdlq"
	"claimdlq/store"
)

// seen is the fingerprints in memory: those that came lately, and, while they are
// written to a sorted run, those before.
type seen struct {
	fingerprints
	old *fingerprints // nil unless they are on their way to a run
}

func (s *seen) add(p store.Fingerprint) {
	if s.old == nil || s.old.get(p.Key) == 0 {
		s.fingerprints.add(p)
	}
}

func (s *seen) get(k claimdlq.Key) claimdlq.ID {
	if s.old != nil {
		if id := s.old.get(k); id != 0 {
			return id
		}
	}
	return s.fingerprints.get(k)
}

// fingerprints remembers, for each claim fingerprint, the first record that
// carried it: a table of 24-byte slots without pointers, in shards so that growing
// one takes microseconds. It is guarded by the index's lock.
type fingerprints struct {
	shards [fpShards]fpShard
	n      int
}

const fpShards = 256

type fpShard struct {
	slots []fpSlot
	n     int
}

type fpSlot struct{ a, b, id uint64 }

func fpParts(k claimdlq.Key) (a, b uint64) {
	return binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
}

// find returns the slot of the key, or the free one where it belongs.
func (s *fpShard) find(a, b uint64) *fpSlot {
	i := int(mix(a^b) % uint64(len(s.slots)))
	for {
		v := &s.slots[i]
		if v.id == 0 || (v.a == a && v.b == b) {
			return v
		}
		if i++; i == len(s.slots) {
			i = 0
		}
	}
}

// add remembers a fingerprint, unless it is known already.
func (f *fingerprints) add(p store.Fingerprint) {
	a, b := fpParts(p.Key)
	if f.shards[mix(a+b)%fpShards].put(fpSlot{a, b, uint64(p.Record)}) {
		f.n++
	}
}

// put adds v, unless there is one of its key already.
func (s *fpShard) put(v fpSlot) bool {
	if (s.n+1)*4 > len(s.slots)*3 {
		old := s.slots
		s.slots = make([]fpSlot, max(16, len(old)+len(old)/2))
		for _, v := range old {
			if v.id != 0 {
				*s.find(v.a, v.b) = v
			}
		}
	}
	at := s.find(v.a, v.b)
	if at.id != 0 || v.id == 0 {
		return false
	}
	*at = v
	s.n++
	return true
}

// append encodes what is in the shard.
func (s *fpShard) append(b []byte) []byte {
	for i := range s.slots {
		if v := &s.slots[i]; v.id != 0 {
			b = put64(put64(put64(b, v.a), v.b), v.id)
		}
	}
	return b
}

// get returns the record, or 0.
func (f *fingerprints) get(k claimdlq.Key) claimdlq.ID {
	a, b := fpParts(k)
	s := &f.shards[mix(a+b)%fpShards]
	if len(s.slots) == 0 {
		return 0
	}
	return claimdlq.ID(s.find(a, b).id)
}

// each calls g for every fingerprint.
func (f *fingerprints) each(g func(store.Fingerprint)) {
	for i := range f.shards {
		for _, v := range f.shards[i].slots {
			if v.id == 0 {
				continue
			}
			var p store.Fingerprint
			binary.LittleEndian.PutUint64(p.Key[:8], v.a)
			binary.LittleEndian.PutUint64(p.Key[8:], v.b)
			p.Record = claimdlq.ID(v.id)
			g(p)
		}
	}
}

// mix spreads x over 64 bits, so that no choice of keys fills one place.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashKey is the hash under which the index finds a record by its key.
func hashKey(k claimdlq.Key) uint64 {
	a, b := fpParts(k)
	return mix(a ^ mix(b))
}

// hashRef is the hash under which the index finds records by a look-up value.
func hashRef(r claimdlq.Ref) uint64 { return mix(uint64(r)) }
