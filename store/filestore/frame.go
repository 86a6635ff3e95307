package filestore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"
)

// A frame is one commit in the journal: a header and items, padded with zeros to
// a multiple of 8 bytes. All numbers are little-endian.
//
//	 0  magic     4
//	 4  length    4  of header and body, without padding
//	 8  crc       4  CRC-32C of everything else
//	12  format    1  of the frame
//	13  check     3  of the CRC-32C of the header without crc and check: so that a
//	                 damaged length is told from a frame that was not written whole
//	16  group     8  number of the flush it was made durable by
//	24  position  8  of the frame in the journal, counted from the beginning of time
//	32  firstSeq  8  number of its first audit entry, or of the next one to come
//	40  chain    32  SHA-256 of the chain of the frame before, and of length, group,
//	                 position, firstSeq and body of this one
//	72  body
//
// An item is its kind (1), the length of its content (4), the CRC-32C of its
// content (4), and the content: so a record is read and checked without its frame.
const (
	frameMagic  = 0x514c4443 // "CDLQ"
	frameFormat = 1
	frameHeader = 72
	itemHeader  = 9
	frameAlign  = 8
	// frameMost bounds a frame, and so what a damaged length can make us read.
	frameMost = 64 << 20

	offLength, offCRC, offFormat, offGroup, offPosition, offFirstSeq, offChain = 4, 8, 12, 16, 24, 32, 40
)

// The kinds of items. The numbers are part of the format.
const (
	itemRecord       = 1 // a record after a step
	itemSubmission   = 2 // a submission after a change
	itemEntry        = 3 // an audit entry
	itemFingerprints = 4 // fingerprints and who carried them
	itemControl      = 5 // the last control number of a lane
	itemAudited      = 6 // the audit log holds the entries up to here
	itemBase         = 7 // totals, at the start of each chunk
	itemEvicted      = 8 // records that from here on only sorted runs hold
	itemRevived      = 9 // a record comes back from a sorted run
	itemMovedRecord  = 10
	itemMovedSub     = 11
	itemEvictedSubs  = 12 // submissions that from here on only sorted runs hold
	itemRelease      = 13 // many records are queued again, with new submissions
	itemKinds        = 14
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chain is the hash that links a frame to all before it.
type chain [sha256.Size]byte

// chainer computes chains; it is for one goroutine.
type chainer struct {
	h   hash.Hash
	buf [sha256.Size]byte // the chain before, then the chain
}

func newChainer() *chainer { return &chainer{h: sha256.New()} }

// next returns the chain of the frame f that follows prev.
func (c *chainer) next(prev chain, f []byte) chain {
	c.h.Reset()
	c.buf = prev
	c.h.Write(c.buf[:])
	c.h.Write(f[offLength:offCRC])
	c.h.Write(f[offGroup:offChain])
	c.h.Write(f[frameHeader:])
	c.h.Sum(c.buf[:0])
	return c.buf
}

// seal fills in the header of a frame whose body is in place.
func (c *chainer) seal(f []byte, h header) chain {
	binary.LittleEndian.PutUint32(f[0:], frameMagic)
	binary.LittleEndian.PutUint32(f[offLength:], uint32(len(f)))
	f[offFormat] = frameFormat
	binary.LittleEndian.PutUint64(f[offGroup:], h.group)
	binary.LittleEndian.PutUint64(f[offPosition:], uint64(h.position))
	binary.LittleEndian.PutUint64(f[offFirstSeq:], h.firstSeq)
	next := c.next(h.chain, f)
	copy(f[offChain:frameHeader], next[:])
	check := headerCheck(f)
	copy(f[offFormat+1:offGroup], check[:])
	binary.LittleEndian.PutUint32(f[offCRC:], frameCRC(f))
	return next
}

func headerCheck(f []byte) [3]byte {
	c := crc32.Update(0, castagnoli, f[:offCRC])
	c = crc32.Update(c, castagnoli, f[offGroup:frameHeader])
	return [3]byte{byte(c), byte(c >> 8), byte(c >> 16)}
}

func frameCRC(f []byte) uint32 {
	c := crc32.Update(0, castagnoli, f[:offCRC])
	return crc32.Update(c, castagnoli, f[offFormat:])
}

// header is what a frame says about itself.
type header struct {
	length   int
	group    uint64
	position int64
	firstSeq uint64
	chain    chain // of the frame; to seal, of the frame before
}

// parseHeader reads a header; ok is false if there is none at this position. The
// checksum is not looked at.
func parseHeader(b []byte, position int64) (h header, ok bool) {
	if len(b) < frameHeader || binary.LittleEndian.Uint32(b) != frameMagic {
		return h, false
	}
	h = header{
		length:   int(binary.LittleEndian.Uint32(b[offLength:])),
		group:    binary.LittleEndian.Uint64(b[offGroup:]),
		position: int64(binary.LittleEndian.Uint64(b[offPosition:])),
		firstSeq: binary.LittleEndian.Uint64(b[offFirstSeq:]),
	}
	copy(h.chain[:], b[offChain:frameHeader])
	ok = h.length >= frameHeader && h.length <= frameMost && h.position == position &&
		b[offFormat] == frameFormat && [3]byte(b[offFormat+1:offGroup]) == headerCheck(b)
	return h, ok
}

func padded(n int) int { return (n + frameAlign - 1) &^ (frameAlign - 1) }

// openItem starts an item; closeItem ends it.
func openItem(b []byte, kind byte) []byte {
	return append(b, kind, 0, 0, 0, 0, 0, 0, 0, 0)
}

// closeItem fills in the length of the item that starts at off and is the last of b.
func closeItem(b []byte, off int) []byte {
	binary.LittleEndian.PutUint32(b[off+1:], uint32(len(b)-off-itemHeader))
	return b
}

// sumItem fills in the checksum of the item at the start of b.
func sumItem(b []byte) {
	n := binary.LittleEndian.Uint32(b[1:])
	binary.LittleEndian.PutUint32(b[5:], crc32.Checksum(b[itemHeader:itemHeader+n], castagnoli))
}

// item is one item of a body.
type item struct {
	kind    byte
	off     int // from the start of the frame
	content []byte
}

// parseItem reads the item at the start of b and checks its checksum.
func parseItem(b []byte) (it item, ok bool) {
	if len(b) < itemHeader {
		return it, false
	}
	n := binary.LittleEndian.Uint32(b[1:])
	if b[0] == 0 || b[0] >= itemKinds || uint64(n) > uint64(len(b)-itemHeader) {
		return it, false
	}
	c := b[itemHeader : itemHeader+n]
	return item{kind: b[0], content: c}, binary.LittleEndian.Uint32(b[5:]) == crc32.Checksum(c, castagnoli)
}

// eachItem calls f for the items of a frame; it returns errCodec if they do not
// fill the body exactly.
func eachItem(frame []byte, f func(item) error) error {
	for off := frameHeader; off < len(frame); {
		it, ok := parseItem(frame[off:])
		if !ok {
			return errCodec
		}
		it.off = off
		if err := f(it); err != nil {
			return err
		}
		off += itemHeader + len(it.content)
	}
	return nil
}

// allZero reports whether b holds nothing.
func allZero(b []byte) bool {
	for len(b) >= len(zeros) {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
		b = b[len(zeros):]
	}
	return bytes.Equal(b, zeros[:len(b)])
}

var zeros [64 << 10]byte
