package filestore

import (
	"context"

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
		Streams:     make(map[string]store.StreamStats, len(countedStreams)),
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
	oldest := x.oldest()
	st.OldestAt = oldest.failed[watchQuarantined].age.time()
	st.OldestParkedAt = oldest.failed[watchParked].age.time()
	for i := range n.streams {
		if n.streams[i].any() {
			st.Streams[countedStreams[i]] = n.streams[i].stats(&oldest.streams[i])
		}
	}
	return st, s.answer(nil)
}
