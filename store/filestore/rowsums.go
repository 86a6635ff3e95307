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
	s := &rowSums{}
	local := make([]int32, len(x.causes.list)) // place in s.causes, plus 1
	sets := map[*bitmap]*container{}
	for i, rev := range b.rev {
		if rev == 0 {
			continue
		}
		r := b.get(i)
		if int(r.cause) >= len(local) {
			return nil, errSnapshot
		}
		if local[r.cause] == 0 {
			s.causes = append(s.causes, x.newSum(r.cause, sets))
			local[r.cause] = int32(len(s.causes))
		}
		off := uint16(i)
		if b.offs != nil {
			off = b.offs[i]
		}
		c := &s.causes[local[r.cause]-1]
		c.records++
		c.claims += int64(r.claims)
		c.oldest = earlier(c.oldest, r.age)
		for _, set := range c.sets {
			if set != nil {
				set.add(off)
			}
		}
		z := &b.zone[off/zoneRows]
		if z.since == 0 || r.age < z.since {
			z.since = max(r.age, 1)
		}
		if w := watched(x.causes.list[r.cause].state); w >= 0 && r.age.failed() {
			z.oldest[w].join(r.age)
		}
		b.n++
	}
	for set, c := range sets {
		s.sets = append(s.sets, setSum{set, c})
	}
	return s, nil
}

// newSum starts the sum of a cause; causes that share a bitmap share its container.
func (x *index) newSum(id uint32, sets map[*bitmap]*container) causeSum {
	c := causeSum{id: id}
	for d, set := range x.causes.list[id].dims {
		if set == nil {
			continue
		}
		if sets[set] == nil {
			sets[set] = &container{}
		}
		c.sets[d] = sets[set]
	}
	return c
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
