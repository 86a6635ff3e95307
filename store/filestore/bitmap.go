package filestore

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// bitmap is a set of rows, in containers of 65,536: a sorted array where few are
// in it, a bitset where many are. It is guarded by the index's lock.
type bitmap struct {
	blocks []uint32 // block numbers, ascending; parallel to sets
	sets   []*container
}

const (
	blockBits = 16
	blockRows = 1 << blockBits
	// arrayMost is how many members an array has at most. It bounds the work of
	// intersecting two arrays that share nothing to a few microseconds a block.
	arrayMost = 2048
)

type container struct {
	n    int
	arr  []uint16
	bits *[blockRows / 64]uint64
	// soonest is, where the rows are submissions, when the first of them may be due: it may
	// be too early, never too late. Who has looked at all of them corrects it, under the
	// index's lock for reading.
	soonest atomic.Int64
}

func (b *bitmap) find(block uint32) (int, bool) {
	if n := len(b.blocks); n > 0 && b.blocks[n-1] == block {
		return n - 1, true
	}
	return slices.BinarySearch(b.blocks, block)
}

// set returns the container of the block, or nil.
func (b *bitmap) set(block uint32) *container {
	if i, ok := b.find(block); ok {
		return b.sets[i]
	}
	return nil
}

func (b *bitmap) add(row uint32) {
	i, ok := b.find(row >> blockBits)
	if !ok {
		b.blocks = slices.Insert(b.blocks, i, row>>blockBits)
		b.sets = slices.Insert(b.sets, i, &container{})
	}
	b.sets[i].add(uint16(row))
}

func (b *bitmap) remove(row uint32) {
	i, ok := b.find(row >> blockBits)
	if !ok {
		return
	}
	if b.sets[i].remove(uint16(row)); b.sets[i].n == 0 {
		b.blocks = slices.Delete(b.blocks, i, i+1)
		b.sets = slices.Delete(b.sets, i, i+1)
	}
}

func (b *bitmap) count() (n int) {
	for _, c := range b.sets {
		n += c.n
	}
	return n
}

func (c *container) has(x uint16) bool {
	if c.bits != nil {
		return c.bits[x>>6]>>(x&63)&1 == 1
	}
	_, ok := slices.BinarySearch(c.arr, x)
	return ok
}

func (c *container) add(x uint16) {
	if c.bits != nil {
		if c.bits[x>>6]>>(x&63)&1 == 0 {
			c.bits[x>>6] |= 1 << (x & 63)
			c.n++
		}
		return
	}
	if n := len(c.arr); n == 0 || c.arr[n-1] < x { // rows come in order
		c.arr = append(c.arr, x)
	} else if i, ok := slices.BinarySearch(c.arr, x); !ok {
		c.arr = slices.Insert(c.arr, i, x)
	}
	if c.n = len(c.arr); c.n > arrayMost {
		c.bits = new([blockRows / 64]uint64)
		for _, y := range c.arr {
			c.bits[y>>6] |= 1 << (y & 63)
		}
		c.arr = nil
	}
}

func (c *container) remove(x uint16) {
	if c.bits == nil {
		if i, ok := slices.BinarySearch(c.arr, x); ok {
			c.arr = slices.Delete(c.arr, i, i+1)
			c.n--
		}
		return
	}
	if c.bits[x>>6]>>(x&63)&1 == 0 {
		return
	}
	c.bits[x>>6] &^= 1 << (x & 63)
	if c.n--; c.n < arrayMost/2 {
		c.arr = make([]uint16, 0, c.n)
		for w, v := range c.bits {
			for ; v != 0; v &= v - 1 {
				c.arr = append(c.arr, uint16(w<<6+bits.TrailingZeros64(v)))
			}
		}
		c.bits = nil
	}
}

// ascend calls f for the members, from the lowest that is not below from upwards,
// until f returns false.
func (c *container) ascend(from uint16, f func(x uint16) bool) {
	if c.bits == nil {
		i, _ := slices.BinarySearch(c.arr, from)
		for _, x := range c.arr[i:] {
			if !f(x) {
				return
			}
		}
		return
	}
	mask := ^uint64(0) << (from & 63)
	for w := int(from >> 6); w < len(c.bits); w++ {
		for v := c.bits[w] & mask; v != 0; v &= v - 1 {
			if !f(uint16(w<<6 + bits.TrailingZeros64(v))) {
				return
			}
		}
		mask = ^uint64(0)
	}
}

// descend calls f for the rows of the block that are in every set, from the
// highest below limit (65,536: all) downwards, until f returns false. zone, where
// not nil, says whether a run of 64 rows is worth looking at.
func descend(sets []*container, limit int, zone func(word int) bool, f func(x uint16) bool) bool {
	least := -1 // the smallest array leads
	for i, c := range sets {
		if c.bits == nil && (least < 0 || c.n < sets[least].n) {
			least = i
		}
	}
	if least >= 0 {
		return descendArray(sets, least, limit, f)
	}
	for w := (limit - 1) >> 6; w >= 0; w-- {
		v := ^uint64(0)
		for _, c := range sets {
			v &= c.bits[w]
		}
		if rest := limit - w<<6; rest < 64 {
			v &= 1<<rest - 1
		}
		if v == 0 || (zone != nil && !zone(w)) {
			continue
		}
		for v != 0 {
			top := 63 - bits.LeadingZeros64(v)
			v &^= 1 << top
			if !f(uint16(w<<6 + top)) {
				return false
			}
		}
	}
	return true
}

func descendArray(sets []*container, least, limit int, f func(x uint16) bool) bool {
	var at [8]int // per set, where in its array the merge stands
	for i, c := range sets {
		at[i] = len(c.arr) - 1
	}
next:
	for _, x := range slices.Backward(sets[least].arr) {
		if int(x) >= limit {
			continue
		}
		for i, c := range sets {
			if i == least {
				continue
			}
			if c.bits != nil {
				if c.bits[x>>6]>>(x&63)&1 == 0 {
					continue next
				}
				continue
			}
			j := at[i]
			for j >= 0 && c.arr[j] > x {
				j--
			}
			at[i] = j
			if j < 0 {
				return true
			}
			if c.arr[j] != x {
				continue next
			}
		}
		if !f(x) {
			return false
		}
	}
	return true
}
