package filestore

import (
	"slices"
	"time"
)

// columns hold what the index knows of some rows, 24 bytes a row: where the
// journal has the record, its age, revision, cause and claims. 48-bit numbers are
// kept as 32 and 16 bits.
type columns struct {
	mem    memory
	locLo  []uint32
	ageLo  []uint32
	rev    []uint32 // 0: no such row
	cause  []uint32
	claims []uint32
	locHi  []uint16
	ageHi  []uint16
}

const columnBytes = 24

func newColumns(n int) (c columns) {
	c.mem = newMemory(n * columnBytes)
	c.carve(n)
	return c
}

func (c *columns) carve(n int) {
	off := 0
	c.locLo, off = carve[uint32](c.mem, off, n)
	c.ageLo, off = carve[uint32](c.mem, off, n)
	c.rev, off = carve[uint32](c.mem, off, n)
	c.cause, off = carve[uint32](c.mem, off, n)
	c.claims, off = carve[uint32](c.mem, off, n)
	c.locHi, off = carve[uint16](c.mem, off, n)
	c.ageHi, _ = carve[uint16](c.mem, off, n)
}

// row is one row of columns, unpacked.
type row struct {
	loc    int64 // position of its item in the journal
	age    age
	rev    uint32
	cause  uint32
	claims uint32
}

func (c *columns) get(i int) row {
	return row{
		loc: int64(c.locHi[i])<<32 | int64(c.locLo[i]),
		age: age(c.ageHi[i])<<32 | age(c.ageLo[i]),
		rev: c.rev[i], cause: c.cause[i], claims: c.claims[i],
	}
}

func (c *columns) put(i int, r row) {
	c.locLo[i], c.locHi[i] = uint32(r.loc), uint16(r.loc>>32)
	c.ageLo[i], c.ageHi[i] = uint32(r.age), uint16(r.age>>32)
	c.rev[i], c.cause[i], c.claims[i] = r.rev, r.cause, r.claims
}

// age is when a record first failed, or came where it never did: milliseconds
// since year 1, shifted by one; the low bit says that it failed.
type age uint64

const (
	yearOne = 62135596800000 // milliseconds from year 1 to 1970
	ageMost = 1<<47 - 1
)

func ageOf(created, failed time.Time) age {
	if failed.IsZero() {
		return age(ageMillis(created)) << 1
	}
	return age(ageMillis(failed))<<1 | 1
}

func ageMillis(t time.Time) uint64 { return uint64(min(max(t.UnixMilli()+yearOne, 0), ageMost)) }

func (a age) failed() bool { return a&1 == 1 }

// time returns the time again; the zero time is no time.
func (a age) time() time.Time {
	if a>>1 == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(a>>1) - yearOne).UTC()
}

// olderThan returns the first age that is not before t.
func olderThan(t time.Time) age {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return age(min(max(ms+yearOne, 0), ageMost)) << 1
}

// block is 65,536 rows. While most of them are in memory it has a slot for each;
// when most have been evicted, only for those that are left.
type block struct {
	columns
	n    int      // rows that exist
	offs []uint16 // ascending; nil: slot i is row i
	zone [blockRows / zoneRows]zone
}

// zoneRows is how many rows share what is known about the oldest of them.
const zoneRows = 4096

// zone says how old the oldest of 4,096 rows are. Bounds may be too low, never
// too high.
type zone struct {
	since age // oldest row; 0 where there is none or it has no date
	minima
}

func newBlock() *block { return &block{columns: newColumns(blockRows)} }

// slot returns where the row is kept, or -1.
func (b *block) slot(off uint16) int {
	i := int(off)
	if b.offs != nil {
		j, ok := slices.BinarySearch(b.offs, off)
		if !ok {
			return -1
		}
		i = j
	}
	if b.rev[i] == 0 {
		return -1
	}
	return i
}

// make returns a slot for the row, which does not exist yet.
func (b *block) make(off uint16) int {
	if b.offs == nil {
		return int(off)
	}
	i, ok := slices.BinarySearch(b.offs, off)
	if ok {
		return i
	}
	if len(b.offs)*2 > blockRows {
		b.widen()
		return int(off)
	}
	b.repack(slices.Insert(slices.Clone(b.offs), i, off))
	return i
}

// widen gives the block a slot for every row.
func (b *block) widen() {
	if b.offs == nil {
		return
	}
	next := newColumns(blockRows)
	b.each(func(off uint16, i int) { next.put(int(off), b.get(i)) })
	b.mem.free()
	b.columns, b.offs = next, nil
}

// thin drops the slots of rows that do not exist, once they are most.
func (b *block) thin() {
	if b.n*4 > len(b.rev) || len(b.rev) < 64 {
		return
	}
	offs := make([]uint16, 0, b.n)
	b.each(func(off uint16, _ int) { offs = append(offs, off) })
	b.repack(offs)
}

// repack gives the block slots for exactly the given rows.
func (b *block) repack(offs []uint16) {
	next := newColumns(len(offs))
	for i, off := range offs {
		if j := b.slot(off); j >= 0 {
			next.put(i, b.get(j))
		}
	}
	b.mem.free()
	b.columns, b.offs = next, offs
}

// each calls f for every row that exists, in ascending order.
func (b *block) each(f func(off uint16, slot int)) {
	for i, rev := range b.rev {
		if rev == 0 {
			continue
		}
		f(b.off(i), i)
	}
}

// append encodes the rows as a snapshot has them: all slots, or, where most of them
// are empty, only those that are not.
func (b *block) append(buf []byte) []byte {
	if b.n*2 > len(b.rev) {
		buf = put32(put32(buf, uint32(len(b.rev))), uint32(len(b.offs)))
		buf = append(buf, bytesOf(b.offs)...)
		return append(buf, b.mem.b[:len(b.rev)*columnBytes]...)
	}
	packed := block{columns: newColumns(b.n), offs: make([]uint16, 0, b.n)}
	defer packed.mem.free()
	b.each(func(off uint16, i int) {
		packed.put(len(packed.offs), b.get(i))
		packed.offs = append(packed.offs, off)
	})
	buf = put32(put32(buf, uint32(b.n)), uint32(b.n))
	buf = append(buf, bytesOf(packed.offs)...)
	return append(buf, packed.mem.b[:b.n*columnBytes]...)
}
