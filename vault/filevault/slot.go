package filevault

import (
	"encoding/binary"
	"hash/crc32"

	"claimdlq/vault/keyring"
)

const (
	slotSize     = 128
	slotsPerFile = 1 << 16 // the first of them is the file's header
	wrappedSize  = keySize + keyring.WrapOverhead
)

// slotState says what a slot holds.
type slotState byte

const (
	slotEmpty slotState = iota
	slotLive
	slotShredded
	slotDamaged slotState = 255 // in memory only: the checksum does not fit
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// slot is one entry of a slot file:
//
//	0 state  1 version: the size of its frames  2 single  4 term  8 file  16 offset  24 size
//	32 random part of the name  44 wrapped key  104 length of its attributes  124 CRC-32C of the rest
type slot struct {
	state   slotState
	term    uint32
	random  [randomSize]byte
	place   place
	wrapped [wrappedSize]byte
}

const (
	slotLarge = 1 // frames of frameSize
	slotSmall = 2 // frames of smallFrame
)

// encode writes the slot to b, which has slotSize bytes.
func (s *slot) encode(b []byte) {
	clear(b)
	b[0], b[1] = byte(s.state), slotLarge
	if s.place.small {
		b[1] = slotSmall
	}
	if s.place.single {
		b[2] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], s.term)
	binary.LittleEndian.PutUint32(b[8:], s.place.file)
	binary.LittleEndian.PutUint64(b[16:], uint64(s.place.offset))
	binary.LittleEndian.PutUint64(b[24:], uint64(s.place.size))
	copy(b[32:], s.random[:])
	copy(b[44:], s.wrapped[:])
	binary.LittleEndian.PutUint32(b[104:], s.place.attrs)
	binary.LittleEndian.PutUint32(b[124:], crc32.Checksum(b[:124], castagnoli))
}

// decodeSlot reads the slot from b. A slot of zeros is empty: it was reserved and
// never written, or a crash cut it off.
func decodeSlot(b []byte) (s slot) {
	if [slotSize]byte(b) == ([slotSize]byte{}) {
		return s
	}
	s.state = slotState(b[0])
	s.term = binary.LittleEndian.Uint32(b[4:])
	s.place = place{
		single: b[2] == 1,
		small:  b[1] == slotSmall,
		file:   binary.LittleEndian.Uint32(b[8:]),
		offset: int64(binary.LittleEndian.Uint64(b[16:])),
		size:   int64(binary.LittleEndian.Uint64(b[24:])),
		attrs:  binary.LittleEndian.Uint32(b[104:]),
	}
	copy(s.random[:], b[32:])
	copy(s.wrapped[:], b[44:])
	known := (b[1] == slotLarge || b[1] == slotSmall) && (s.state == slotLive || s.state == slotShredded)
	if !known || crc32.Checksum(b[:124], castagnoli) != binary.LittleEndian.Uint32(b[124:]) {
		s.state = slotDamaged
	}
	return s
}

// shred forgets the key.
func (s *slot) shred() {
	s.state, s.term = slotShredded, 0
	clear(s.wrapped[:])
}

// aadRoom has room for what wrapAAD makes and for the term that the keyring appends.
type aadRoom [nameSize + 25 + 4]byte

// wrapAAD is what a wrapped key is bound to beside its term. That of a unit without
// attributes is what it was before there were any.
func (u *unit) wrapAAD(buf *aadRoom) []byte {
	copy(buf[:], u.name[:])
	b := buf[nameSize:]
	b[0] = 0
	if u.single {
		b[0] |= 1
	}
	if u.small {
		b[0] |= 2
	}
	binary.LittleEndian.PutUint32(b[1:], u.file)
	binary.LittleEndian.PutUint64(b[5:], uint64(u.offset))
	binary.LittleEndian.PutUint64(b[13:], uint64(u.size))
	if u.attrs == 0 {
		return buf[:nameSize+21]
	}
	b[0] |= 4
	binary.LittleEndian.PutUint32(b[21:], u.attrs)
	return buf[:nameSize+25]
}

// wrap makes the live slot of the unit under the primary term.
func (u *unit) wrap(k *keyring.Keyring) slot {
	var aad aadRoom
	s := slot{state: slotLive, random: u.random, place: u.place}
	s.term, _ = k.WrapKey(s.wrapped[:0], u.key[:], u.wrapAAD(&aad))
	return s
}

// unwrap reads place and key of the unit from its slot.
func (u *unit) unwrap(k *keyring.Keyring, s *slot) error {
	var aad aadRoom
	u.place = s.place
	_, err := k.UnwrapKey(u.key[:0], s.term, s.wrapped[:], u.wrapAAD(&aad))
	return err
}
