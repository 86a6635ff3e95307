package claimdlq

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strconv"
)

// ID is a record's number, given by its store, from 1, never reused.
type ID uint64

// String returns the id in decimal.
func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// Key identifies a claim or transaction for idempotency: the first 128 bits of
// an HMAC-SHA-256 over its source identity. It is never an unkeyed hash.
type Key [16]byte

// String returns the key as 32 hex characters.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Digest is a keyed digest (first 128 bits of HMAC-SHA-256) of payload bytes:
// it tells a redelivery from a conflict without saying anything about content.
type Digest [16]byte

// String returns the digest as 32 hex characters.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Ref is a 64-bit look-up value: a keyed hash of a display key, batch number or
// control number. It is a hint: whoever finds a record by it checks the record.
type Ref uint64

// Scope says how much of an interchange a record stands for.
type Scope uint8

// The scopes.
const (
	ScopeTransaction Scope = iota // one ST..SE, or one NCPDP transaction
	ScopeClaim                    // one CLM that parted from its transaction set
	ScopeGroup                    // a functional group without a readable set
	ScopeInterchange              // an interchange without a readable group, or an acknowledgment
	ScopeFile                     // bytes with no readable envelope at all
)

var scopeNames = [...]string{"transaction", "claim", "group", "interchange", "file"}

// String returns the scope's name.
func (s Scope) String() string { return nameOf(scopeNames[:], int(s), "scope") }

// MarshalText implements encoding.TextMarshaler.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Identity makes keys, digests and refs under one term of the secret HMAC key.
// It is not safe for concurrent use; Clone it per goroutine.
type Identity struct {
	Term   uint32
	mac    hash.Hash
	key    []byte
	buf    [sha256.Size]byte
	joined []byte // scratch, wiped after each use: what is hashed is PHI
}

// NewIdentity returns an Identity that uses the given secret (32 bytes).
func NewIdentity(term uint32, secret []byte) *Identity {
	return &Identity{Term: term, key: secret, mac: hmac.New(sha256.New, secret)}
}

// Clone returns an independent Identity with the same secret.
func (i *Identity) Clone() *Identity { return NewIdentity(i.Term, i.key) }

// sum hashes a domain tag and length-prefixed parts: "1"+"2:3" and "1:2"+"3"
// must never be one key. The parts are joined first, in memory that is used again:
// they are short, and many small writes cost more than the hash.
func (i *Identity) sum(kind, domain string, parts ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint32(i.joined[:0], uint32(len(kind)+len(domain)))
	b = append(append(b, kind...), domain...)
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	i.joined = b
	i.mac.Reset()
	_, _ = i.mac.Write(b)
	clear(b)
	return i.mac.Sum(i.buf[:0])
}

// Key returns the key of the given identity tuple.
func (i *Identity) Key(domain string, parts ...[]byte) (k Key) {
	copy(k[:], i.sum("key/", domain, parts...))
	return k
}

// Digest returns the keyed digest of the payload in one or more pieces; how it
// is cut into pieces does not matter.
func (i *Identity) Digest(pieces ...[]byte) Digest {
	w := i.NewDigest()
	for _, p := range pieces {
		_, _ = w.Write(p)
	}
	return w.Sum()
}

// DigestWriter digests a payload that arrives in pieces.
type DigestWriter struct {
	mac hash.Hash
	buf [sha256.Size]byte
}

var digestTag = []byte("digest\x00")

// NewDigest returns a DigestWriter under the identity's term.
func (i *Identity) NewDigest() *DigestWriter {
	w := &DigestWriter{mac: hmac.New(sha256.New, i.key)}
	_, _ = w.mac.Write(digestTag)
	return w
}

// Reset begins another payload.
func (w *DigestWriter) Reset() {
	w.mac.Reset()
	_, _ = w.mac.Write(digestTag)
}

// Write implements io.Writer; it never fails.
func (w *DigestWriter) Write(p []byte) (int, error) { return w.mac.Write(p) }

// Sum returns the digest of everything written.
func (w *DigestWriter) Sum() (d Digest) {
	copy(d[:], w.mac.Sum(w.buf[:0]))
	return d
}

// Ref returns a 64-bit look-up value in the given domain.
func (i *Identity) Ref(domain string, parts ...[]byte) Ref {
	return Ref(binary.LittleEndian.Uint64(i.sum("ref/", domain, parts...)))
}

// DisplayRef returns the look-up value of a display key. It is not secret (a
// display key holds control numbers only), so every term can find it.
func DisplayRef(display string) Ref {
	h := sha256.Sum256([]byte("display/" + display))
	return Ref(binary.LittleEndian.Uint64(h[:]))
}
