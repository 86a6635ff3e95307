package filestore

import (
	"context"
	"slices"

	"claimdlq/store"
)

// Groups implements store.Store. Groups of one size come in the order of state,
// reason, detail, partner and stream.
func (s *Store) Groups(_ context.Context, f store.Filter, limit int) ([]store.Group, error) {
	if limit <= 0 {
		return nil, nil
	}
	var list []*group
	if f.Older.IsZero() {
		list = s.index.groups(&f)
	} else {
		list = s.index.groupsOlder(&f)
	}
	list = largest(list, limit)
	if f.Older.IsZero() {
		s.index.findOldest(list)
	}
	out := make([]store.Group, len(list))
	for i, g := range list {
		out[i] = g.Group
		out[i].OldestAt = g.oldest.time()
	}
	return out, s.answer(nil)
}

// group is a store.Group and the causes it is made of.
type group struct {
	store.Group
	oldest age
	causes []uint32
}

func groupKey(k *causeKey) store.Group {
	return store.Group{State: k.state, Reason: k.reason, Detail: k.detail, Partner: k.partner, Stream: k.stream}
}

// largest returns the first n groups in order. It sorts only those that are large
// enough to be among them.
func largest(list []*group, n int) []*group {
	if len(list) > 4*n {
		sizes := make([]int64, len(list))
		for i, g := range list {
			sizes[i] = g.Records
		}
		slices.Sort(sizes)
		least := sizes[len(sizes)-n]
		list = slices.DeleteFunc(list, func(g *group) bool { return g.Records < least })
	}
	slices.SortFunc(list, func(a, b *group) int { return compareGroups(&a.Group, &b.Group) })
	return list[:min(len(list), n)]
}

// grouping collects groups by their number.
type grouping struct {
	byNumber []*group
	list     []*group
}

func (g *grouping) of(c *cause) *group {
	if n := int(c.group); n >= len(g.byNumber) {
		g.byNumber = append(g.byNumber, make([]*group, n+1-len(g.byNumber))...)
	}
	found := g.byNumber[c.group]
	if found == nil {
		found = &group{Group: groupKey(&c.causeKey)}
		g.byNumber[c.group] = found
		g.list = append(g.list, found)
	}
	return found
}

// groups adds up the counters of the causes that match.
func (x *index) groups(f *store.Filter) []*group {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found grouping
	for id, c := range x.causes.list {
		if c.records == 0 || !c.state.Unresolved() || !c.matches(f) {
			continue
		}
		g := found.of(c)
		g.Records += c.records
		g.Claims += c.claims
		g.causes = append(g.causes, uint32(id))
	}
	return found.list
}

// groupsOlder counts rows, because no counter knows ages. It lets writers in
// between blocks.
func (x *index) groupsOlder(f *store.Filter) []*group {
	older := olderThan(f.Older)
	var found grouping
	x.eachBlock(func(b *block) {
		if !b.mayHold(older) {
			return
		}
		b.each(func(_ uint16, i int) {
			r := b.get(i)
			if r.age >= older {
				return
			}
			c := x.causes.list[r.cause]
			if !c.state.Unresolved() || !c.matches(f) {
				return
			}
			g := found.of(c)
			g.Records++
			g.Claims += int64(r.claims)
			g.oldest = earlier(g.oldest, r.age)
		})
	})
	return found.list
}

// eachBlock calls f for each block, under a lock of its own.
func (x *index) eachBlock(f func(*block)) {
	for n := 0; ; n++ {
		x.mu.RLock()
		if n >= len(x.blocks) {
			x.mu.RUnlock()
			return
		}
		if b := x.blocks[n]; b != nil {
			f(b)
		}
		x.mu.RUnlock()
	}
}

// earlier returns the smaller age; none is no age.
func earlier(a, b age) age {
	if a>>1 == 0 || (b>>1 != 0 && b < a) {
		return b
	}
	return a
}

// findOldest fills in how old the groups are. Causes whose oldest record has gone
// are searched for the next one, all in one pass over the rows.
func (x *index) findOldest(groups []*group) {
	type search struct {
		min     age
		changes uint64
	}
	stale := map[uint32]*search{}
	x.mu.RLock()
	x.lazy.Lock()
	for _, g := range groups {
		for _, id := range g.causes {
			c := x.causes.list[id]
			if c.oldest.stale {
				stale[id] = &search{changes: c.changes}
			} else {
				g.oldest = earlier(g.oldest, c.oldest.age)
			}
		}
	}
	x.lazy.Unlock()
	x.mu.RUnlock()
	if len(stale) == 0 {
		return
	}
	x.eachBlock(func(b *block) {
		for i, rev := range b.rev {
			if rev == 0 {
				continue
			}
			if s := stale[b.cause[i]]; s != nil {
				s.min = earlier(s.min, b.get(i).age)
			}
		}
	})
	x.mu.RLock()
	x.lazy.Lock()
	defer x.mu.RUnlock()
	defer x.lazy.Unlock()
	for _, g := range groups {
		for _, id := range g.causes {
			s, c := stale[id], x.causes.list[id]
			if s == nil {
				continue
			}
			if c.changes == s.changes { // nothing came or went meanwhile
				c.oldest = oldest{age: s.min}
			}
			g.oldest = earlier(g.oldest, s.min)
		}
	}
}
