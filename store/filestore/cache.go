package filestore

import (
	"slices"
	"sync"

	"claimdlq"
	"claimdlq/store"
)

// A cache keeps what was written or read lately: a step is a Get, a decision and a
// Commit that holds the step against the same revision again, and what was taken in
// is soon delivered and settled. A record or submission is known by its place in the
// journal, where nothing ever changes.
type cache[T any] struct{ slots []cacheSlot[T] }

// cacheSlots is how many neighbouring ids a cache holds: a page, or what is under way.
const cacheSlots = 4096

type cacheSlot[T any] struct {
	mu  sync.Mutex
	loc int64 // 0: empty; no item is there
	id  uint32
	v   T
}

func newCache[T any]() cache[T] { return cache[T]{make([]cacheSlot[T], cacheSlots)} }

func (c *cache[T]) get(id uint32, loc int64) (v T, ok bool) {
	s := &c.slots[id%cacheSlots]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loc != loc || s.id != id {
		return v, false
	}
	return s.v, true
}

// has reports whether get would find it.
func (c *cache[T]) has(id uint32, loc int64) bool {
	s := &c.slots[id%cacheSlots]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loc == loc && s.id == id
}

func (c *cache[T]) put(id uint32, loc int64, v *T) {
	s := &c.slots[id%cacheSlots]
	s.mu.Lock()
	s.loc, s.id, s.v = loc, id, *v
	s.mu.Unlock()
}

// remember keeps what a commit has written, as reading it would give it: the first
// to ask for it need not read it again. pos is where the commit's frame is.
func (s *Store) remember(p *plan, pos int64) {
	for i := range p.records {
		c := &p.records[i]
		r := &c.record
		r.CreatedAt, r.FirstFailedAt = millis(r.CreatedAt), millis(r.FirstFailedAt)
		r.UpdatedAt, r.NotBefore = millis(r.UpdatedAt), millis(r.NotBefore)
		if r.Response.IsZero() {
			r.Response = claimdlq.PayloadRef{}
		}
		s.records.put(uint32(r.ID), pos+int64(c.off), r)
	}
	for i := range p.subs {
		c := &p.subs[i]
		if v := &c.sub; v.State == claimdlq.SubmissionReady && len(v.Members) <= cachedMembers && len(v.Groups) <= cachedMembers {
			v.Members, v.Groups = p.realMembers(v.Members), ownGroups(v.Groups)
			v.NotBefore, v.LeaseUntil = millis(v.NotBefore), millis(v.LeaseUntil)
			v.CreatedAt, v.SentAt = millis(v.CreatedAt), millis(v.SentAt)
			s.submissions.put(uint32(v.ID), pos+int64(c.off), v)
		}
	}
}

// cachedMembers bounds what a submission in the cache holds.
const cachedMembers = 16

// realMembers returns a copy of members with ids in the place of indexes.
func (p *plan) realMembers(members []claimdlq.IDRange) []claimdlq.IDRange {
	out := slices.Clone(members)
	for i := range out {
		for _, id := range [...]*claimdlq.ID{&out[i].First, &out[i].Last} {
			if n, ok := store.IsParentIndex(*id); ok {
				*id = p.records[0].record.ID + claimdlq.ID(n)
			}
		}
	}
	return out
}

// ownGroups returns a copy, as decoding would give it.
func ownGroups(groups []claimdlq.GroupControl) []claimdlq.GroupControl {
	if len(groups) == 0 {
		return nil
	}
	return slices.Clone(groups)
}
