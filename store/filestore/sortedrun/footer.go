package sortedrun

import "encoding/binary"

// magic starts a footer, and the version of the format follows: 2 where the filter is
// of the first halves of keys.
const magic = "cdlqrun"

const (
	versionWhole  = 1
	versionPrefix = 2
)

// footer ends a run's file and says where everything is.
type footer struct {
	number, count            uint64
	indexOffset, indexLength uint64
	filterLength             uint64 // the filter follows the index, the footer the filter
	indexSum, filterSum      uint32
	first, last              Key
	prefix                   bool // the filter is of the first halves of keys
}

const footerSize = len(magic) + 1 + 5*8 + 2*4 + 2*keySize + 4

func (f footer) encode(offset uint64) []byte {
	version := byte(versionWhole)
	if f.prefix {
		version = versionPrefix
	}
	b := append(append(make([]byte, 0, footerSize), magic...), version)
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
	if f.prefix = b[len(magic)] == versionPrefix; !f.prefix && b[len(magic)] != versionWhole {
		return footer{}, false
	}
	b = b[len(magic)+1:]
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
