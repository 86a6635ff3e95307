package filestore

import (
	"claimdlq"
	"claimdlq/store"
)

// streamSlot is a stream as the index counts by it.
type streamSlot uint8

const (
	slotX12 streamSlot = iota
	slotNCPDP
	slotOther // acknowledgments
	streamSlots
)

// countedStreams are those that store.Stats.Streams tells of, by slot.
var countedStreams = [slotOther]string{claimdlq.StreamX12, claimdlq.StreamNCPDP}

var slotNames = [streamSlots]string{claimdlq.StreamX12, claimdlq.StreamNCPDP, claimdlq.StreamAcks}

func slotOf(stream string) streamSlot {
	switch stream {
	case claimdlq.StreamX12:
		return slotX12
	case claimdlq.StreamNCPDP:
		return slotNCPDP
	}
	return slotOther
}

// streamCounts are the counters of store.StreamStats.
type streamCounts struct {
	records     [stateCount]int64
	quarantined [reasonCount]int64
}

func (c *streamCounts) add(k *causeKey, records int64) {
	c.records[k.state] += records
	if k.state == claimdlq.StateQuarantined && int(k.reason) < reasonCount {
		c.quarantined[k.reason] += records
	}
}

func (c *streamCounts) plus(o *streamCounts) {
	for i := range c.records {
		c.records[i] += o.records[i]
	}
	for i := range c.quarantined {
		c.quarantined[i] += o.quarantined[i]
	}
}

// any reports whether there is a record.
func (c *streamCounts) any() bool {
	for _, n := range c.records {
		if n != 0 {
			return true
		}
	}
	return false
}

func (c *streamCounts) append(b []byte) []byte {
	for _, n := range c.records {
		b = putInt(b, n)
	}
	for _, n := range c.quarantined {
		b = putInt(b, n)
	}
	return b
}

func (d *decoder) streamCounts() (c streamCounts) {
	for i := range c.records {
		c.records[i] = d.int()
	}
	for i := range c.quarantined {
		c.quarantined[i] = d.int()
	}
	return c
}

// stats are the counters with how old the oldest in each watched state is.
func (c *streamCounts) stats(oldest *[watchedStates]counted) store.StreamStats {
	st := store.StreamStats{
		Records:         make(map[claimdlq.State]int64, len(claimdlq.States)),
		Quarantined:     make(map[claimdlq.Reason]int64, len(claimdlq.Reasons)),
		OldestAt:        oldest[watchQuarantined].age.time(),
		OldestParkedAt:  oldest[watchParked].age.time(),
		OldestInDoubtAt: oldest[watchInDoubt].age.time(),
	}
	for _, state := range claimdlq.States {
		st.Records[state] = c.records[state]
	}
	for _, reason := range claimdlq.Reasons {
		st.Quarantined[reason] = c.quarantined[reason]
	}
	if n := c.quarantined[claimdlq.ReasonNone]; n != 0 {
		st.Quarantined[claimdlq.ReasonNone] = n
	}
	return st
}
