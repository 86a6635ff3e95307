package filestore

import (
	"slices"
)

// rowSums is what a block adds to the rest of the index: counters and bitmaps are
// not in a snapshot, because parts of it are of different moments and only counting
// the rows makes them agree.
type rowSums struct {
	causes []causeSum
	sets   []setSum
}

type causeSum struct {
	id              uint32
	records, claims int64
	oldest          age
	sets            [dimCount]*container
}

type setSum struct {
	set *bitmap
	c   *container
}

// sum counts the rows of a block that has been read. It changes only the block, so
// that blocks can be summed in parallel.
func (x *index) sum(b *block) (*rowSums, error) {
	local := make([]int32, len(x.causes.list)) // place in the sums, plus 1
	s := &rowSums{}
	var all container // every row of the block
	all.bits = new([blockRows / 64]uint64)
	for i, rev := range b.rev {
		if rev == 0 {
			continue
		}
		r := b.get(i)
		if int(r.cause) >= len(local) {
			return nil, errSnapshot
		}
		if local[r.cause] == 0 {
			s.causes = append(s.causes, causeSum{id: r.cause})
			local[r.cause] = int32(len(s.causes))
		}
		c := &s.causes[local[r.cause]-1]
		c.records++
		c.claims += int64(r.claims)
		c.oldest = earlier(c.oldest, r.age)
		off := b.off(i)
		all.bits[off>>6] |= 1 << (off & 63)
		z := &b.zone[off/zoneRows]
		if z.since == 0 || r.age < z.since {
			z.since = max(r.age, 1)
		}
		if w := watched(x.causes.list[r.cause].state); w >= 0 && r.age.failed() {
			z.oldest[w].join(r.age)
		}
		b.n++
	}
	all.n = b.n
	x.sumSets(b, s, local, &all)
	return s, nil
}

// off returns which row a slot is.
func (b *block) off(slot int) uint16 {
	if b.offs != nil {
		return b.offs[slot]
	}
	return uint16(slot)
}

// sumSets makes the containers of a block's bitmaps. How many rows each will have
// is known by now, so none of them grows; and one that has every row is a copy.
func (x *index) sumSets(b *block, s *rowSums, local []int32, all *container) {
	size, sets := map[*bitmap]int{}, map[*bitmap]*container{}
	for i := range s.causes {
		for _, set := range x.causes.list[s.causes[i].id].dims {
			if set != nil {
				size[set] += int(s.causes[i].records)
			}
		}
	}
	for set, n := range size {
		c := &container{n: n}
		switch {
		case n > arrayMost && n == all.n:
			full := *all.bits
			c.bits = &full
		case n > arrayMost:
			c.bits = new([blockRows / 64]uint64)
		default:
			c.arr = make([]uint16, 0, n)
		}
		sets[set] = c
		s.sets = append(s.sets, setSum{set, c})
	}
	for i := range s.causes {
		for d, set := range x.causes.list[s.causes[i].id].dims {
			if c := sets[set]; c != nil && (c.bits == nil || c.n < all.n) {
				s.causes[i].sets[d] = c
			}
		}
	}
	for i, rev := range b.rev {
		if rev == 0 {
			continue
		}
		off := b.off(i)
		for _, c := range s.causes[local[b.cause[i]]-1].sets {
			switch {
			case c == nil:
			case c.bits != nil:
				c.bits[off>>6] |= 1 << (off & 63)
			default:
				c.arr = append(c.arr, off)
			}
		}
	}
}

// addPart puts a block in its place.
func (x *index) addPart(p *part) {
	if p.rows != nil {
		if p.n >= len(x.blocks) {
			x.blocks = append(x.blocks, make([]*block, p.n+1-len(x.blocks))...)
		}
		if x.blocks[p.n] != nil {
			x.blocks[p.n].mem.free()
		}
		x.blocks[p.n] = p.rows
	}
	if p.subs != nil {
		if p.n >= len(x.subs.blocks) {
			x.subs.blocks = append(x.subs.blocks, make([]*subBlock, p.n+1-len(x.subs.blocks))...)
		}
		x.subs.blocks[p.n] = p.subs
	}
}

// addUp brings counters and bitmaps to what the blocks say.
func (x *index) addUp(parts []part) {
	slices.SortFunc(parts, func(a, b part) int { return a.n - b.n })
	for i := range parts {
		p := &parts[i]
		if p.rows == nil {
			continue
		}
		x.live += int64(p.rows.n)
		for _, s := range p.sums.causes {
			c := x.causes.list[s.id]
			c.records += s.records
			c.claims += s.claims
			c.oldest.join(s.oldest)
			x.counts.add(&c.causeKey, s.records, s.claims)
			if !c.state.Unresolved() {
				x.final += s.records
			}
		}
		for _, s := range p.sums.sets {
			s.set.blocks = append(s.set.blocks, uint32(p.n))
			s.set.sets = append(s.set.sets, s.c)
		}
	}
	for n, b := range x.subs.blocks {
		if b == nil {
			continue
		}
		for i, rev := range b.rev {
			if rev > 0 {
				x.subs.states[b.state[i]].add(uint32(n*subRows + i))
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
