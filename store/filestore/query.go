package filestore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore/sortedrun"
)

// List implements store.Store. Records that have left memory are settled or
// withdrawn; where the filter lets those through, they are read in order of their
// ids, which takes longer the fewer of them match.
func (s *Store) List(_ context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error) {
	if limit <= 0 {
		return nil, nil
	}
	for {
		epoch := s.epoch.Load()
		out, err := s.listMemory(&f, before, limit)
		if err != nil {
			return nil, err
		}
		if out, err = s.listRuns(&f, before, limit, out); err != nil {
			return nil, err
		}
		if epoch == s.epoch.Load() { // else a record may have come or gone between the two
			return out, nil
		}
	}
}

func (s *Store) listMemory(f *store.Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error) {
	var out []claimdlq.Record
	top := uint32(maxRows)
	if before > 0 && before <= maxRows {
		top = uint32(before)
	}
	for len(out) < limit && top > 0 {
		s.index.mu.RLock()
		places := s.index.list(f, top, limit-len(out))
		s.index.mu.RUnlock()
		all := len(places) < limit-len(out)
		for _, p := range places {
			r, err := s.recordAt(p)
			if errors.Is(err, errMoved) { // compaction came in between: look again from here
				all = false
				break
			}
			if err != nil {
				return nil, err
			}
			out = append(out, r)
			top = p.id
		}
		if all {
			break
		}
	}
	return out, nil
}

// listRuns adds records that have left memory to a page, where they belong on it.
func (s *Store) listRuns(f *store.Filter, before claimdlq.ID, limit int, page []claimdlq.Record) ([]claimdlq.Record, error) {
	runs := s.runs.Load()
	if runs == nil || (f.State != 0 && f.State.Unresolved()) {
		return page, nil
	}
	if before == 0 {
		before = maxRows + 1
	}
	var wrong error
	n := len(page)
	err := runs.byID.Descend(pair(0, uint64(before)), func(k sortedrun.Key, v []byte) bool {
		id := uint32(binary.BigEndian.Uint64(k[8:]))
		if len(page)-n >= limit || (n >= limit && claimdlq.ID(id) < page[n-1].ID) {
			return false
		}
		s.index.mu.RLock()
		_, ram := s.index.at(id)
		s.index.mu.RUnlock()
		if ram {
			return true
		}
		r, err := decodeRecord(v)
		if err != nil {
			wrong = failure(claimdlq.Corrupt, "read run of records", decimal(uint64(id)))
			return false
		}
		if k := causeOf(&r); k.matches(f) && (f.Older.IsZero() || ageOf(r.CreatedAt, r.FirstFailedAt) < olderThan(f.Older)) {
			page = append(page, r)
		}
		return true
	})
	if err == nil {
		err = wrong
	}
	slices.SortFunc(page, func(a, b claimdlq.Record) int { return cmp.Compare(b.ID, a.ID) })
	return page[:min(limit, len(page))], err
}

// list returns the places of up to limit records below top that pass the filter,
// newest first.
func (x *index) list(f *store.Filter, top uint32, limit int) []place {
	sets, ok := x.causes.wanted(f)
	if !ok {
		return nil
	}
	older := age(0)
	if !f.Older.IsZero() {
		older = olderThan(f.Older)
	}
	out := make([]place, 0, min(limit, 1024))
	found := func(id uint32) bool {
		if older > 0 {
			if r, _ := x.at(id); r.age >= older {
				return true
			}
		}
		if p, ok := x.place(id); ok {
			out = append(out, p)
		}
		return len(out) < limit
	}
	in := make([]*container, len(sets))
	for n := min(len(x.blocks)-1, int((top-1)>>blockBits)); n >= 0; n-- {
		b := x.blocks[n]
		if b == nil || !collect(sets, uint32(n), in) {
			continue
		}
		most := blockRows
		if rest := int(top) - n<<blockBits; rest < most {
			most = rest
		}
		var zone func(int) bool
		if older > 0 {
			if !b.mayHold(older) {
				continue
			}
			zone = func(w int) bool { since := b.zone[w*64/zoneRows].since; return since > 0 && since < older }
		}
		row := func(off uint16) bool { return found(uint32(n)<<blockBits | uint32(off)) }
		if len(sets) == 0 {
			if !b.descend(most, zone, row) {
				break
			}
		} else if !descend(in, most, zone, row) {
			break
		}
	}
	return out
}

// collect fetches each set's container of the block; it reports false if one has none.
func collect(sets []*bitmap, block uint32, in []*container) bool {
	for i, s := range sets {
		if in[i] = s.set(block); in[i] == nil {
			return false
		}
	}
	return true
}

// mayHold reports whether a row of the block may be older than the age given.
func (b *block) mayHold(older age) bool {
	for i := range b.zone {
		if since := b.zone[i].since; since > 0 && since < older {
			return true
		}
	}
	return false
}

// descend calls f for every row below most, from the highest downwards.
func (b *block) descend(most int, zone func(int) bool, f func(uint16) bool) bool {
	for i := len(b.rev) - 1; i >= 0; i-- {
		off := i
		if b.offs != nil {
			off = int(b.offs[i])
		}
		if off >= most || b.rev[i] == 0 || (zone != nil && !zone(off/64)) {
			continue
		}
		if !f(uint16(off)) {
			return false
		}
	}
	return true
}

// Groups implements store.Store. Groups of one size come in the order of state,
// reason, detail, partner and stream.
func (s *Store) Groups(_ context.Context, f store.Filter, limit int) ([]store.Group, error) {
	if limit <= 0 {
		return nil, nil
	}
	var groups map[store.Group]*group
	if f.Older.IsZero() {
		groups = s.index.groups(&f)
	} else {
		groups = s.index.groupsOlder(&f)
	}
	list := make([]*group, 0, len(groups))
	for _, g := range groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int { return compareGroups(&a.Group, &b.Group) })
	list = list[:min(len(list), limit)]
	if f.Older.IsZero() {
		s.index.findOldest(list)
	}
	out := make([]store.Group, len(list))
	for i, g := range list {
		out[i] = g.Group
		out[i].OldestAt = g.oldest.time()
	}
	return out, nil
}

// group is a store.Group and the causes it is made of: those differ in format and
// disposition.
type group struct {
	store.Group
	oldest age
	causes []uint32
}

func groupKey(k *causeKey) store.Group {
	return store.Group{State: k.state, Reason: k.reason, Detail: k.detail, Partner: k.partner, Stream: k.stream}
}

// groups adds up the counters of the causes that match.
func (x *index) groups(f *store.Filter) map[store.Group]*group {
	x.mu.RLock()
	defer x.mu.RUnlock()
	found := map[store.Group]*group{}
	for id, c := range x.causes.list {
		if c.records == 0 || !c.state.Unresolved() || !c.matches(f) {
			continue
		}
		g := grouped(found, &c.causeKey)
		g.Records += c.records
		g.Claims += c.claims
		g.causes = append(g.causes, uint32(id))
	}
	return found
}

func grouped(found map[store.Group]*group, k *causeKey) *group {
	key := groupKey(k)
	g := found[key]
	if g == nil {
		g = &group{Group: key}
		found[key] = g
	}
	return g
}

// groupsOlder counts rows, because no counter knows ages. It lets writers in
// between blocks.
func (x *index) groupsOlder(f *store.Filter) map[store.Group]*group {
	older := olderThan(f.Older)
	found := map[store.Group]*group{}
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
			g := grouped(found, &c.causeKey)
			g.Records++
			g.Claims += int64(r.claims)
			g.oldest = earlier(g.oldest, r.age)
		})
	})
	return found
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

// Stats implements store.Store.
func (s *Store) Stats(context.Context) (store.Stats, error) {
	x := s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := x.counts.plus(x.gone)
	st := store.Stats{
		Received: x.totals.received, Rejected: n.rejected, Orphans: n.orphans,
		ByState:     make(map[claimdlq.State]int64, len(claimdlq.States)),
		Records:     make(map[claimdlq.State]int64, len(claimdlq.States)),
		Quarantined: make(map[claimdlq.Reason]int64, len(claimdlq.Reasons)),
	}
	for _, state := range claimdlq.States {
		st.ByState[state], st.Records[state] = n.claims[state], n.records[state]
	}
	for _, reason := range claimdlq.Reasons {
		st.Quarantined[reason] = n.quarantined[reason]
	}
	if k := n.quarantined[claimdlq.ReasonNone]; k != 0 {
		st.Quarantined[claimdlq.ReasonNone] = k
	}
	st.OldestAt = x.oldest(claimdlq.StateQuarantined).time()
	st.OldestParkedAt = x.oldest(claimdlq.StateParked).time()
	return st, nil
}

// oldest returns the earliest first failure of the records in a watched state. It
// looks again at the rows of those zones only whose oldest may be the one.
func (x *index) oldest(s claimdlq.State) age {
	w := watched(s)
	x.lazy.Lock()
	defer x.lazy.Unlock()
	best := age(0)
	for _, b := range x.blocks {
		if b == nil {
			continue
		}
		for z := range b.zone {
			if o := b.zone[z].oldest[w]; !o.stale {
				best = earlier(best, o.age)
			}
		}
	}
	for _, b := range x.blocks {
		if b == nil {
			continue
		}
		for z := range b.zone {
			o := &b.zone[z].oldest[w]
			if o.stale && (best == 0 || o.age < best) {
				*o = oldest{age: x.oldestIn(b, z, s)}
				best = earlier(best, o.age)
			}
		}
	}
	return best
}

// oldestIn looks at the rows of one zone.
func (x *index) oldestIn(b *block, zone int, s claimdlq.State) (least age) {
	first, last := zone*zoneRows, (zone+1)*zoneRows
	if b.offs != nil {
		i, _ := slices.BinarySearch(b.offs, uint16(first))
		j := len(b.offs)
		if last < blockRows {
			j, _ = slices.BinarySearch(b.offs, uint16(last))
		}
		first, last = i, j
	}
	for i := first; i < last; i++ {
		if b.rev[i] == 0 || x.causes.list[b.cause[i]].state != s {
			continue
		}
		if r := b.get(i); r.age.failed() {
			least = earlier(least, r.age)
		}
	}
	return least
}
