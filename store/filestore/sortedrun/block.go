package sortedrun

import (
	"encoding/binary"
	"hash/crc32"
)

// A run's file is its blocks, its index, its filter and its footer:
//
//	block   u32 length of the entries | u32 checksum | entries
//	entry   key (16 bytes) | uvarint length | value
//	index   per block: first key (16 bytes) | u64 offset
//	filter  u64 words
//	footer  see footer.go
//
// Integers are little-endian. A checksum is CRC-32C over the run's number, the
// offset of what it covers, and its bytes: what lands in the wrong place fails.
const (
	blockHead = 8
	keySize   = 16
	indexSize = keySize + 8
	// maxBlock bounds what a reader allocates for one block.
	maxBlock = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(number, offset uint64, b []byte) uint32 {
	var where [16]byte
	binary.LittleEndian.PutUint64(where[:8], number)
	binary.LittleEndian.PutUint64(where[8:], offset)
	return crc32.Update(crc32.Checksum(where[:], castagnoli), castagnoli, b)
}

func appendEntry(b []byte, k Key, v []byte) []byte {
	b = append(b, k[:]...)
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}

// entry is one entry of a block in memory; value points into the block.
type entry struct {
	key   Key
	value []byte
}

// nextEntry reads the entry at the start of b; ok is false if there is none that
// is whole.
func nextEntry(b []byte) (e entry, rest []byte, ok bool) {
	if len(b) <= keySize {
		return entry{}, nil, false
	}
	copy(e.key[:], b)
	n, w := binary.Uvarint(b[keySize:])
	if w <= 0 || n > MaxValue || n > uint64(len(b)-keySize-w) {
		return entry{}, nil, false
	}
	b = b[keySize+w:]
	e.value = b[:n:n]
	return e, b[n:], true
}

// startsOf returns where each entry of a block starts, in memory that is used
// again; ok is false unless the block is entries in ascending order and nothing
// else.
func startsOf(b []byte, into []uint32) (starts []uint32, ok bool) {
	starts = into[:0]
	var last Key
	for rest := b; len(rest) > 0; {
		e, after, whole := nextEntry(rest)
		if !whole || len(starts) > 0 && !less(last, e.key) {
			return nil, false
		}
		starts = append(starts, uint32(len(b)-len(rest)))
		last, rest = e.key, after
	}
	return starts, len(starts) > 0
}

// entryAt returns the entry that starts at one of startsOf.
func entryAt(b []byte, start uint32) entry {
	e, _, _ := nextEntry(b[start:])
	return e
}

func less(a, b Key) bool {
	ah, bh := binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(b[:8])
	if ah != bh {
		return ah < bh
	}
	return binary.BigEndian.Uint64(a[8:]) < binary.BigEndian.Uint64(b[8:])
}
