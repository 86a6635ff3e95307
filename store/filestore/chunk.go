package filestore

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// A chunk is one file of the journal: a header, then frames, then zeros. Chunk
// files are numbered without a gap, and each begins where the one before ends.
//
//	 0  magic    8
//	 8  format   4
//	12  crc      4  CRC-32C of the rest of the header
//	16  number   8
//	24  base     8  position in the journal of the file's first byte
//	32  group    8  number of the last flush before this chunk
//	40  lastSeq  8  number of the last audit entry before this chunk
//	48  chain   32  chain of the last frame before this chunk
//	80          48  zero
const (
	chunkMagic  = "CDLQCHNK"
	chunkFormat = 1
	chunkHeader = 128
	chunkPrefix = "chunk-"
	spareName   = "spare" // a file of zeros that becomes the next chunk
)

// chunk is an open chunk file. The writer owns started and changes used; room
// changes size; what readers may read is published in end and below, under the
// index's lock.
type chunk struct {
	num  uint64
	base int64
	f    File
	head chunkHead

	used    atomic.Int64 // bytes of whole frames and header
	size    atomic.Int64 // bytes that are known to be on disk: used and zeros
	started bool         // the header is written

	end     int64  // bytes that are durable and visible
	lastSeq uint64 // of the newest audit entry in it or before it
	live    int64  // items that are the newest of their record or submission
	items   int64  // records and submissions in it, old or new
	prints  bool   // it holds fingerprints that no sorted run has
	marks   []mark // where audit entries are, sparsely
}

// mark says that the frame at off is the first of those after it whose audit
// entries begin at seq.
type mark struct {
	seq uint64
	off int64
}

// markEvery is how many bytes of a chunk may pass between two marks.
const markEvery = 64 << 10

// chunkHead is what a chunk's header says.
type chunkHead struct {
	num     uint64
	base    int64
	group   uint64
	lastSeq uint64
	chain   chain
}

func (h chunkHead) encode() []byte {
	b := make([]byte, 0, chunkHeader)
	b = append(b, chunkMagic...)
	b = put32(b, chunkFormat)
	b = put32(b, 0)
	b = put64(b, h.num)
	b = put64(b, uint64(h.base))
	b = put64(b, h.group)
	b = put64(b, h.lastSeq)
	b = append(b, h.chain[:]...)
	b = b[:chunkHeader]
	binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	return b
}

func decodeChunkHead(b []byte) (h chunkHead, ok bool) {
	if len(b) < chunkHeader || string(b[:8]) != chunkMagic || binary.LittleEndian.Uint32(b[8:]) != chunkFormat ||
		binary.LittleEndian.Uint32(b[12:]) != crc32.Checksum(b[16:chunkHeader], castagnoli) {
		return h, false
	}
	h = chunkHead{
		num:     binary.LittleEndian.Uint64(b[16:]),
		base:    int64(binary.LittleEndian.Uint64(b[24:])),
		group:   binary.LittleEndian.Uint64(b[32:]),
		lastSeq: binary.LittleEndian.Uint64(b[40:]),
	}
	copy(h.chain[:], b[48:])
	return h, true
}

func chunkName(dir string, num uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%s%012d", chunkPrefix, num))
}

// chunkNumber returns the number in a chunk's file name.
func chunkNumber(name string) (uint64, bool) {
	s, ok := strings.CutPrefix(name, chunkPrefix)
	if !ok || len(s) != 12 {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

const filePerm os.FileMode = 0o600

// fill writes zeros to f from one offset to another, and makes them durable.
func fill(f File, from, to int64) error {
	for from < to {
		n, err := f.WriteAt(zeros[:min(to-from, int64(len(zeros)))], from)
		if err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}
