package filestore

import (
	"sync"

	"claimdlq"
)

// recordCache keeps records that were read lately: a step is a Get, a decision and
// a Commit that holds the step against the same revision again. A record is known
// by its place in the journal, where nothing ever changes.
type recordCache struct{ slots [cacheSlots]cacheSlot }

const cacheSlots = 1024

type cacheSlot struct {
	mu  sync.Mutex
	loc int64 // 0: empty; no item is there
	r   claimdlq.Record
}

func (c *recordCache) slot(id uint32) *cacheSlot { return &c.slots[id%cacheSlots] }

func (c *recordCache) get(p place) (r claimdlq.Record, ok bool) {
	s := c.slot(p.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loc != p.loc {
		return r, false
	}
	return s.r, true
}

func (c *recordCache) put(p place, r claimdlq.Record) {
	s := c.slot(p.id)
	s.mu.Lock()
	s.loc, s.r = p.loc, r
	s.mu.Unlock()
}
