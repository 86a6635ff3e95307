package filestore

import (
	"encoding/binary"
	"errors"
	"io"
)

// sector is what a disk writes whole or not at all.
const sector = 512

// judgeTail decides whether what stands at the end of the last chunk is a group
// that a crash cut short. It returns what is wrong where it is not: then bytes that
// were durable have changed. off is where the tail begins in its file, position in
// the journal; group is the last flush that is whole.
//
// A group is written into zeros with one write, and the next one only after the
// flush. So in a frame that was cut short some sector is still zero, and no frame
// of a later group stands behind it.
func judgeTail(tail []byte, position, off int64, group uint64) (wrong string) {
	extent := frameHeader
	if h, ok := parseHeader(tail, position); ok {
		extent = padded(h.length)
	}
	if extent <= len(tail) && !hasZeroSector(tail[:extent], off) {
		return "frame"
	}
	for i := 0; i+frameHeader <= len(tail); i += frameAlign {
		if binary.LittleEndian.Uint32(tail[i:]) != frameMagic {
			continue
		}
		h, ok := parseHeader(tail[i:], position+int64(i))
		if !ok || h.length > len(tail)-i || h.group <= group+1 {
			continue
		}
		if f := tail[i : i+h.length]; frameCRC(f) == binary.LittleEndian.Uint32(f[offCRC:]) {
			return "frame, with whole frames behind it"
		}
	}
	return ""
}

// hasZeroSector reports whether b, which stands at off in its file, has nothing in
// one of the sectors it touches.
func hasZeroSector(b []byte, off int64) bool {
	for len(b) > 0 {
		n := min(int(sector-off%sector), len(b))
		if allZero(b[:n]) {
			return true
		}
		b, off = b[n:], off+int64(n)
	}
	return false
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
