package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// row is what a peer stores for one record: the fields claimdlq's record has, as text and
// integers, about 400 bytes.
type row struct {
	key, isa13, st02, rule, detail, ref string
	reason, partner, state              int64
	created                             int64
	extra                               []byte
}

var pad [160]byte

// mkRow makes record n, always the same one.
func mkRow(n int64) row {
	h := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	return row{
		key: hex.EncodeToString(h[:]), isa13: fmt.Sprintf("%09d", n/5000), st02: fmt.Sprintf("%09d", n),
		rule: "v2026.11", detail: "IK4:SV102:7", ref: fmt.Sprintf("%08d.%012d", n/100000, n),
		reason: int64(h[0] % 6), partner: int64(h[1] % 200), created: 1_790_000_000_000 + n, extra: pad[:],
	}
}

// seal does for a peer what claimdlq's vault does: a fresh data key, AES-256-GCM, and
// the data key wrapped under a key-encryption key.
func seal(kek cipher.AEAD, payload []byte) []byte {
	dek := make([]byte, 32)
	_, _ = rand.Read(dek)
	b, err := aes.NewCipher(dek)
	if err != nil {
		panic(err)
	}
	g, err := cipher.NewGCMWithRandomNonce(b)
	if err != nil {
		panic(err)
	}
	return g.Seal(kek.Seal(nil, nil, dek, nil), nil, payload, nil)
}

func newKEK() cipher.AEAD {
	k := make([]byte, 32)
	_, _ = rand.Read(k)
	b, err := aes.NewCipher(k)
	if err != nil {
		panic(err)
	}
	g, err := cipher.NewGCMWithRandomNonce(b)
	if err != nil {
		panic(err)
	}
	return g
}

// chain is the audit chain of a peer: SHA-256 over the previous hash and the entry.
type chain struct{ prev [32]byte }

func (c *chain) next(action string, id int64) []byte {
	h := sha256.New()
	h.Write(c.prev[:])
	fmt.Fprintf(h, "%s|%d", action, id)
	h.Sum(c.prev[:0])
	return c.prev[:]
}
