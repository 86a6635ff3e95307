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
func (v *Vault) StageAsBefore(p []byte) (claimdlq.PayloadRef, error) { return v.stageLarge(p) }
