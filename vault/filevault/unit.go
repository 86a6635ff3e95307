package filevault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"

	"claimdlq"
)

const (
	// frameSize is the plaintext of every frame but a unit's last.
	frameSize = 1 << 20
	// smallFrame is that of a unit over minSmall and of one frameSize at most. Many
	// payloads may lie in such a unit, and who opens one opens its frame and no more.
	smallFrame = 8 << 10
	// minSmall is how long a unit is at most that has one frame all the same: that of
	// one interchange, which is opened as a whole.
	minSmall = 32 << 10
	// sealOverhead is what AES-GCM adds to a frame: nonce and tag.
	sealOverhead = 12 + 16
	keySize      = 32
	randomSize   = 10
	nameSize     = 26 // of 16 bytes in base32
)

// unit is where one sealed unit is and what opens it.
type unit struct {
	slot   uint64
	random [randomSize]byte
	name   [nameSize]byte
	place
	key [keySize]byte
}

// place is where a unit's ciphertext is.
type place struct {
	single bool // in a file of its own
	small  bool // in frames of smallFrame
	file   uint32
	offset int64
	size   int64 // of the plaintext
	// attrs is how long the attributes are, 0 for none. They are one sealed frame behind
	// the others.
	attrs uint32
}

// names are the 32 characters of a unit's name: [a-z2-7].
var names = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// draw gives the unit its data key and the random part of its name.
func (u *unit) draw() {
	var b [keySize + randomSize]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	copy(u.key[:], b[:keySize])
	copy(u.random[:], b[keySize:])
	clear(b[:])
}

// setName makes the name from slot number and random part.
func (u *unit) setName(c cipher.Block) {
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:8], u.slot<<16)
	copy(b[6:], u.random[:])
	c.Encrypt(b[:], b[:])
	names.Encode(u.name[:], b[:])
}

// parseName is the inverse of setName. It reports false for text that is no
// name; that a name was ever given only its slot can tell.
func parseName(c cipher.Block, text string) (u unit, ok bool) {
	var b [aes.BlockSize]byte
	if len(text) != nameSize {
		return u, false
	}
	if n, err := names.Decode(b[:], []byte(text)); err != nil || n != len(b) {
		return u, false
	}
	c.Decrypt(b[:], b[:])
	u.slot = binary.BigEndian.Uint64(b[:8]) >> 16
	copy(u.random[:], b[6:])
	u.setName(c)
	return u, string(u.name[:]) == text // the last character has two spare bits
}

// ref returns a reference to the whole unit.
func (u *unit) ref() claimdlq.PayloadRef {
	return claimdlq.PayloadRef{Unit: string(u.name[:]), Length: u.size}
}

// frame returns the plaintext length of every frame but the last.
func (p *place) frame() int64 {
	if p.small {
		return smallFrame
	}
	return frameSize
}

// frames returns how many frames the unit has; at least one.
func (p *place) frames() int64 { return max(1, (p.size+p.frame()-1)/p.frame()) }

// payloadSize returns how many bytes of ciphertext the payload has.
func (p *place) payloadSize() int64 { return p.size + p.frames()*sealOverhead }

// sealedSize returns how many bytes of ciphertext the unit has, attributes included.
func (p *place) sealedSize() int64 {
	if p.attrs == 0 {
		return p.payloadSize()
	}
	return p.payloadSize() + int64(p.attrs) + sealOverhead
}

// sealer seals and opens the frames of one unit.
type sealer struct {
	aead cipher.AEAD
	aad  [nameSize + 5]byte
}

func newSealer(u *unit) (*sealer, error) {
	block, err := aes.NewCipher(u.key[:])
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "make cipher", Err: err}
	}
	s := &sealer{}
	if s.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "make cipher", Err: err}
	}
	copy(s.aad[:], u.name[:])
	return s, nil
}

// bind makes the additional data of one frame: unit, number, whether it is last.
func (s *sealer) bind(n int64, last bool) []byte {
	binary.BigEndian.PutUint32(s.aad[nameSize:], uint32(n))
	s.aad[nameSize+4] = 0
	if last {
		s.aad[nameSize+4] = 1
	}
	return s.aad[:]
}

// bindAttributes makes the additional data of the attributes, which no frame has.
func (s *sealer) bindAttributes() []byte {
	binary.BigEndian.PutUint32(s.aad[nameSize:], 0)
	s.aad[nameSize+4] = 2
	return s.aad[:]
}

// sealAttributes appends the sealed attributes to dst.
func (s *sealer) sealAttributes(dst, plain []byte) []byte {
	return s.aead.Seal(dst, nil, plain, s.bindAttributes()) //nolint:gosec // no nonce is passed: the cipher draws one
}

// openAttributes appends the attributes to dst.
func (s *sealer) openAttributes(dst, sealed []byte) ([]byte, error) {
	out, err := s.aead.Open(dst, nil, sealed, s.bindAttributes())
	if err != nil {
		return nil, s.broken()
	}
	return out, nil
}

// seal appends the sealed frame to dst.
func (s *sealer) seal(dst, plain []byte, n int64, last bool) []byte {
	return s.aead.Seal(dst, nil, plain, s.bind(n, last)) //nolint:gosec // no nonce is passed: the cipher draws one
}

// open appends the plaintext of the frame to dst.
func (s *sealer) open(dst, sealed []byte, n int64, last bool) ([]byte, error) {
	out, err := s.aead.Open(dst, nil, sealed, s.bind(n, last))
	if err != nil {
		return nil, s.broken()
	}
	return out, nil
}

func (s *sealer) broken() error {
	return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open payload", On: string(s.aad[:nameSize]), Hint: "its seal does not hold: run fsck"}
}
