package filestore

import (
	"context"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

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
	return st, s.answer(nil)
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
