package sortedrun

import "encoding/binary"

// magic starts a footer; its last byte is the version of the format.
const magic = "cdlqrun\x01"

// footer ends a run's file and says where everything is.
type footer struct {
	number, count            uint64
	indexOffset, indexLength uint64
	filterLength             uint64 // the filter follows the index, the footer the filter
	indexSum, filterSum      uint32
	first, last              Key
}

const footerSize = len(magic) + 5*8 + 2*4 + 2*keySize + 4

func (f footer) encode(offset uint64) []byte {
	b := append(make([]byte, 0, footerSize), magic...)
	for _, n := range []uint64{f.number, f.count, f.indexOffset, f.indexLength, f.filterLength} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint32(b, f.indexSum)
	b = binary.LittleEndian.AppendUint32(b, f.filterSum)
	b = append(append(b, f.first[:]...), f.last[:]...)
	return binary.LittleEndian.AppendUint32(b, checksum(f.number, offset, b))
}

// decodeFooter reads the footer of run number, which lies at offset; ok is false
// unless it passes its checksum and its places add up to the file's size.
func decodeFooter(b []byte, number, offset uint64) (f footer, ok bool) {
	if len(b) != footerSize || string(b[:len(magic)]) != magic {
		return footer{}, false
	}
	if binary.LittleEndian.Uint32(b[footerSize-4:]) != checksum(number, offset, b[:footerSize-4]) {
		return footer{}, false
	}
	b = b[len(magic):]
	for _, n := range []*uint64{&f.number, &f.count, &f.indexOffset, &f.indexLength, &f.filterLength} {
		*n, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	f.indexSum, f.filterSum = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	b = b[8:]
	copy(f.first[:], b)
	copy(f.last[:], b[keySize:])
	fits := f.number == number && f.indexOffset <= offset && f.indexLength <= offset && f.filterLength <= offset &&
		f.indexOffset+f.indexLength+f.filterLength == offset
	whole := f.count > 0 && f.indexLength > 0 && f.indexLength%indexSize == 0 && f.filterLength > 0 && f.filterLength%(lineWords*8) == 0
	return f, fits && whole
}
