package filevault

import (
	"encoding/binary"
	"hash/crc32"
	"os"

	"claimdlq"
)

// SetDisk replaces the system calls whose failure tests bring about. It must be
// called before the vault is used.
func (v *Vault) SetDisk(writeAt func(f *os.File, b []byte, off int64) error, sync func(f *os.File) error) {
	v.disk = disk{writeAt, sync}
}

// SlotSum returns the checksum of a slot's first 124 bytes.
func SlotSum(b []byte) (sum [4]byte) {
	binary.LittleEndian.PutUint32(sum[:], crc32.Checksum(b, castagnoli))
	return sum
}

// StageAsBefore stages p in frames of 1 MiB, as every unit was before there were
// smaller ones.
func (v *Vault) StageAsBefore(p []byte) (claimdlq.PayloadRef, error) { return v.stageLarge(p, nil) }

// BoundTo returns what the wrapped key of a unit is bound to beside its term.
func BoundTo(attrs uint32) []byte {
	u := unit{place: place{single: true, small: true, file: 2, offset: 3, size: 4, attrs: attrs}}
	for i := range u.name {
		u.name[i] = 'n'
	}
	var room aadRoom
	return u.wrapAAD(&room)
}
