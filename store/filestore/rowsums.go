package filestore

import (
	"slices"
)

// What a block adds to the rest of the index is counted when it is read: counters
// and bitmaps are not in a snapshot, because parts of it are of different moments
// and only counting the rows makes them agree.

type causeSum struct {
	id              uint32
	records, claims int64
	oldest          age
}

type setSum struct {
	set *bitmap
	c   *container
}

// summer sums blocks, one after the other; what it allocates is used again.
type summer struct {
	x       *index
	local   []int32 // by cause, its place in causes, plus 1
	causes  []causeSum
	sets    []setSum
	targets []*container // by place in causes
	all     container    // every row of the block
}

func (x *index) newSummer() *summer {
	s := &summer{x: x, local: make([]int32, len(x.causes.list))}
	s.all.bits = new([blockRows / 64]uint64)
	return s
}

// sum counts the rows of a block that has been read. It changes only the block, so
// that blocks can be summed in parallel.
func (s *summer) sum(b *block) error {
	for i := range s.causes {
		s.local[s.causes[i].id] = 0
	}
	s.causes, s.sets = s.causes[:0], s.sets[:0]
	clear(s.all.bits[:])
	for i, rev := range b.rev {
		if rev == 0 {
			continue
		}
		r := b.get(i)
		if int(r.cause) >= len(s.local) {
			return errSnapshot
		}
		if s.local[r.cause] == 0 {
			s.causes = append(s.causes, causeSum{id: r.cause})
			s.local[r.cause] = int32(len(s.causes))
		}
		c := &s.causes[s.local[r.cause]-1]
		c.records++
		c.claims += int64(r.claims)
		c.oldest = earlier(c.oldest, r.age)
		off := b.off(i)
		s.all.bits[off>>6] |= 1 << (off & 63)
		z := &b.zone[off/zoneRows]
		if z.since == 0 || r.age < z.since {
			z.since = max(r.age, 1)
		}
		z.join(s.x.causes.list[r.cause], r.age)
		b.n++
	}
	s.all.n = b.n
	for d := range dimCount {
		s.dimension(b, d)
	}
	return nil
}

// off returns which row a slot is.
func (b *block) off(slot int) uint16 {
	if b.offs != nil {
		return b.offs[slot]
	}
	return uint16(slot)
}

// dimension makes the containers of one dimension's bitmaps. How many rows each will
// have is known by now, so none of them grows; and one that has every row is a copy.
func (s *summer) dimension(b *block, d int) {
	made := map[*bitmap]*container{}
	for i := range s.causes {
		if set := s.x.causes.list[s.causes[i].id].dims[d]; set != nil {
			c := made[set]
			if c == nil {
				c = &container{}
				made[set] = c
				s.sets = append(s.sets, setSum{set, c})
			}
			c.n += int(s.causes[i].records)
		}
	}
	some := false // rows are to be looked at
	for _, c := range made {
		switch {
		case c.n > arrayMost && c.n == s.all.n:
			all := *s.all.bits
			c.bits = &all
			continue
		case c.n > arrayMost:
			c.bits = new([blockRows / 64]uint64)
		default:
			c.arr = make([]uint16, 0, c.n)
		}
		some = true
	}
	if !some {
		return
	}
	s.targets = s.targets[:0]
	for i := range s.causes {
		s.targets = append(s.targets, made[s.x.causes.list[s.causes[i].id].dims[d]])
	}
	for i, rev := range b.rev {
		if rev == 0 {
			continue
		}
		c, off := s.targets[s.local[b.cause[i]]-1], b.off(i)
		switch {
		case c == nil:
		case c.bits != nil:
			c.bits[off>>6] |= 1 << (off & 63)
		default:
			c.arr = append(c.arr, off)
		}
	}
}

// addTo adds the sums of block n to the index's counters and bitmaps.
func (s *summer) addTo(x *index, b *block, n int) {
	x.live += int64(b.n)
	for _, k := range s.causes {
		c := x.causes.list[k.id]
		c.records += k.records
		c.claims += k.claims
		c.oldest.join(k.oldest)
		x.counts.add(&c.causeKey, k.records, k.claims)
		if !c.state.Unresolved() {
			x.final += k.records
		}
	}
	for _, k := range s.sets {
		i, _ := k.set.find(uint32(n))
		k.set.blocks = slices.Insert(k.set.blocks, i, uint32(n))
		k.set.sets = slices.Insert(k.set.sets, i, k.c)
	}
}

// addPart puts a block in its place, also one that is of no use, so that its memory
// is freed with the index. It reports false if the place is taken.
func (x *index) addPart(p *part) bool {
	if p.rows != nil {
		if p.n >= len(x.blocks) {
			x.blocks = append(x.blocks, make([]*block, p.n+1-len(x.blocks))...)
		}
		if x.blocks[p.n] != nil {
			p.rows.mem.free()
			return false
		}
		x.blocks[p.n] = p.rows
	}
	if p.subs != nil {
		if p.n >= len(x.subs.blocks) {
			x.subs.blocks = append(x.subs.blocks, make([]*subBlock, p.n+1-len(x.subs.blocks))...)
		}
		x.subs.blocks[p.n] = p.subs
	}
	return true
}

// addUp counts submissions and fingerprints.
func (x *index) addUp() {
	x.subs.rows = make([]int32, len(x.subs.blocks))
	for n, b := range x.subs.blocks {
		if b == nil {
			continue
		}
		for i, rev := range b.rev {
			if id := uint32(n*subRows + i); rev > 0 {
				r, _ := x.subs.at(id)
				x.subs.set(r.state, r.queue).add(id)
				x.subs.count(n, &r, 1)
			}
		}
	}
	x.seen.n = 0
	for i := range x.seen.shards {
		x.seen.n += x.seen.shards[i].n
	}
}

// recount counts the live items of every chunk; it reports false if one is in none.
func (x *index) recount() bool {
	for _, c := range x.chunks {
		c.live = 0
	}
	whole := true
	var c *chunk // of the item before: most are neighbours
	count := func(loc int64) {
		if c == nil || loc < c.base || loc >= c.base+c.end {
			c = x.chunkOf(loc)
		}
		if c == nil || loc >= c.base+c.end {
			whole = false
			return
		}
		c.live++
	}
	for _, b := range x.blocks {
		if b == nil {
			continue
		}
		for i, rev := range b.rev {
			if rev > 0 {
				count(int64(b.locHi[i])<<32 | int64(b.locLo[i]))
			}
		}
	}
	for _, b := range x.subs.blocks {
		if b == nil {
			continue
		}
		for i, rev := range b.rev {
			if rev > 0 {
				count(b.loc[i])
			}
		}
	}
	return whole
}
