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

// entriesOf reads a whole block; ok is false unless it is entries in ascending
// order and nothing else.
func entriesOf(b []byte, into []entry) (es []entry, ok bool) {
	es = into[:0]
	for len(b) > 0 {
		e, rest, whole := nextEntry(b)
		if !whole || len(es) > 0 && !less(es[len(es)-1].key, e.key) {
			return nil, false
		}
		es, b = append(es, e), rest
	}
	return es, len(es) > 0
}

func less(a, b Key) bool {
	ah, bh := binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(b[:8])
	if ah != bh {
		return ah < bh
	}
	return binary.BigEndian.Uint64(a[8:]) < binary.BigEndian.Uint64(b[8:])
}
