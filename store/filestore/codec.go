package filestore

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"claimdlq"
)

// Numbers are unsigned varints, signed ones zigzag varints; what the writer fills
// in (ids) has a fixed width, little-endian. Strings carry their length. A time is
// milliseconds since 1970 and one more, 0 where there is none.

func putUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
func putInt(b []byte, v int64) []byte   { return binary.AppendVarint(b, v) }
func put64(b []byte, v uint64) []byte   { return binary.LittleEndian.AppendUint64(b, v) }
func put32(b []byte, v uint32) []byte   { return binary.LittleEndian.AppendUint32(b, v) }

func putString[S ~string](b []byte, s S) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func putTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	ms := t.UnixMilli()
	if ms >= 0 {
		ms++ // 0 is no time
	}
	return binary.AppendVarint(b, ms)
}

func putBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// errCodec is what a decoder that ran into nonsense reports; the caller adds where.
var errCodec = errors.New("encoded bytes do not parse")

// decoder reads what the put functions wrote. It never panics: what is wrong sets
// bad, and everything after it reads as zero.
type decoder struct {
	b     []byte
	s     string // b as a string, so that strings read are parts of one allocation
	words *words // where the strings are from, in its place
	off   int
	bad   bool
}

func newDecoder(b []byte) *decoder { return &decoder{b: b, s: string(b)} }

func (d *decoder) fail() { d.bad, d.off = true, len(d.b) }

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b[d.off:])
	if n <= 0 {
		d.fail()
		return 0
	}
	d.off += n
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b[d.off:])
	if n <= 0 {
		d.fail()
		return 0
	}
	d.off += n
	return v
}

// upTo reads a number that must not exceed most.
func (d *decoder) upTo(most uint64) uint64 {
	v := d.uint()
	if v > most {
		d.fail()
		return 0
	}
	return v
}

func (d *decoder) u32() uint32 { return uint32(d.upTo(math.MaxUint32)) }
func (d *decoder) u16() uint16 { return uint16(d.upTo(math.MaxUint16)) }

func (d *decoder) byte() byte {
	if d.off >= len(d.b) {
		d.fail()
		return 0
	}
	d.off++
	return d.b[d.off-1]
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.b)-d.off {
		d.fail()
		return make([]byte, max(0, min(n, 16))) // as long as a fixed field wants
	}
	d.off += n
	return d.b[d.off-n : d.off]
}

func (d *decoder) skip(n uint64) {
	if n > uint64(len(d.b)-d.off) {
		d.fail()
		return
	}
	d.off += int(n)
}

func (d *decoder) fixed64() uint64 {
	if len(d.b)-d.off < 8 {
		d.fail()
		return 0
	}
	d.off += 8
	return binary.LittleEndian.Uint64(d.b[d.off-8:])
}

func (d *decoder) fixed32() uint32 {
	if len(d.b)-d.off < 4 {
		d.fail()
		return 0
	}
	d.off += 4
	return binary.LittleEndian.Uint32(d.b[d.off-4:])
}

func (d *decoder) string() string { return d.like("") }

// like reads a string that is mostly the given one.
func (d *decoder) like(known string) string {
	n := d.uint()
	if n > uint64(len(d.b)-d.off) {
		d.fail()
		return ""
	}
	d.off += int(n)
	b := d.b[d.off-int(n) : d.off]
	switch {
	case string(b) == known:
		return known
	case d.words == nil:
		return d.s[d.off-int(n) : d.off]
	}
	return d.words.of(b)
}

func (d *decoder) detail() claimdlq.Detail { return d.detailLike(claimdlq.Detail{}) }

func (d *decoder) detailLike(known claimdlq.Detail) claimdlq.Detail {
	if s := d.like(known.String()); s != known.String() {
		return claimdlq.NewDetail(s)
	}
	return known
}

// words are strings that were read lately: neighbours have mostly the same. It is for one
// goroutine.
type words [256]string

func (w *words) of(b []byte) string {
	h := uint32(len(b))
	for _, c := range b[max(0, len(b)-8):] {
		h = h*31 + uint32(c)
	}
	known := &w[(h^h>>8)%uint32(len(w))]
	if string(b) == *known {
		return *known
	}
	s := string(b)
	if len(s) <= 64 { // else keeping it costs more than making it
		*known = s
	}
	return s
}

func (d *decoder) bool() bool { return d.upTo(1) == 1 }

func (d *decoder) time() time.Time {
	ms := d.int()
	if ms == 0 {
		return time.Time{}
	}
	if ms > 0 {
		ms--
	}
	return time.UnixMilli(ms).UTC()
}

// end returns errCodec unless everything was read, and nothing was missing.
func (d *decoder) end() error {
	if d.bad || d.off != len(d.b) {
		return errCodec
	}
	return nil
}
